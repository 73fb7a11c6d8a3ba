"""The results that are right: a problem in, the file of a problem whose serial results are known out.

The serial C of the program, optimised, its outermost parallel loops on all processors, runs once for each problem, in a
process of its own.  Where it takes too long, sizes are halved until it does not: candidates are then compared with it
at those, and with each other at the sizes that were asked for.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from comprehensive.diagnostics import CommandLineError
from comprehensive.metafork.ast import Program
from comprehensive.runtime.serial import SerialBuildError, serial_unit
from comprehensive.runtime.worker_process import python_path
from comprehensive.soundness.difference import first_difference
from comprehensive.toolchain.cache import cache_key
from comprehensive.toolchain.host import Compiler, headers_on_cpu
from comprehensive.toolchain.process import ToolError, run

HALVINGS = 12
BUILD_TIMEOUT_S = 300.0
_FLAGS = (
    "-std=gnu99",
    "-O3",
    "-ffp-contract=off",
    "-DNDEBUG",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
)


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected results; ``smaller`` is a problem with a reference where ``problem`` has none."""

    problem: Path
    smaller: Path | None
    reference_sizes: Mapping[str, int]
    shown: str
    """The way in which results are verified, for the record."""

    @property
    def reference(self) -> Path:
        """The problem that has one."""
        return self.smaller or self.problem


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer that nothing is known of what is right."""

    reason: str


def expected(
    problem_at: Callable[[Mapping[str, int]], Path],
    sizes: Mapping[str, int],
    scaled: frozenset[str],
    library: Path,
    limit_s: float,
) -> Expected | Unknown:
    """Compute what is right at the sizes, or at smaller ones: ``scaled`` names those that are halved.

    ``problem_at`` writes the file of the problem at given sizes, ``library`` is the serial C.  Raises CommandLineError
    where there is no problem at the sizes.
    """
    place, first = problem_at(sizes), ""
    smaller: dict[str, int] = dict(sizes)
    for number in range(HALVINGS):
        if number:
            smaller = {k: max(1, v // 2) if k in scaled else v for k, v in smaller.items()}
            try:
                tried = problem_at(smaller)
            except CommandLineError:
                continue
        else:
            tried = place
        reason = _computed(tried, library, limit_s)
        if reason is None and number == 0:
            return Expected(place, None, smaller, "equal to the serial C")
        if reason is None:
            shown = ", ".join(f"{name} = {value}" for name, value in smaller.items())
            shown = (
                f"equal to the serial C at {shown}, and to the launcher's own choice at these sizes ({first})"
            )
            return Expected(place, tried, smaller, shown)
        first = first or reason
        if "did not end" not in reason:
            break  # it crashes: smaller sizes say nothing of these
    return Unknown(f"the serial C: {first}")


def same_meaning(problem: Path, other: Path, library: Path, limit_s: float) -> bool | None:
    """Whether the serial C computes the same in another problem; None where that is not known."""
    if _computed(other, library, limit_s) is not None:
        return None
    one, two = reference_of(problem), reference_of(other)
    names = sorted(path.stem for path in one.glob("*.npy"))
    arrays = [
        {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in names} for folder in (one, two)
    ]
    return first_difference(*arrays) is None


def _computed(problem: Path, library: Path, limit_s: float) -> str | None:
    """Runs the serial C, unless that has been done; why it has no results."""
    target = reference_of(problem)
    if target.is_dir():
        return None
    command = [
        sys.executable,
        "-m",
        "comprehensive.tuning.reference",
        str(problem),
        str(library),
        str(target),
    ]
    try:
        answer = run(command, timeout_s=limit_s, environment={"PYTHONPATH": python_path()})
    except ToolError as error:
        return f"it {str(error).partition(' ')[2]}"
    if answer.returncode != 0:
        lines = answer.stderr.strip().splitlines()
        return f"it ended with status {answer.returncode}: {lines[-1] if lines else 'no message'}"
    return None


def reference_of(problem: Path) -> Path:
    """Return the path of the file with the serial results of a problem."""
    return problem.with_name(problem.name.replace(".problem.json", ".reference"))


def build_serial(program: Program, directory: Path, compiler: Compiler) -> Path:
    """The serial program as a shared object. SerialBuildError where the compiler rejects it."""
    text = serial_unit(program, "serial", parallel=True)
    directory.mkdir(parents=True, exist_ok=True)
    flags = (*_FLAGS, *headers_on_cpu(), *program.configuration.flags, *program.include_flags)
    included = (file.text for file in program.included)
    target = directory / f"serial-{cache_key(text, *included, *compiler.command, *flags)[:24]}.so"
    if target.is_file():
        return target
    source, made = target.with_suffix(".c"), target.with_suffix(f".{os.getpid()}")
    source.write_text(text, encoding="utf-8")
    rejected = ""
    # Not every compiler has OpenMP; the directives are then comments.
    for parallel in (("-fopenmp",), ()):
        command = [*compiler.command, *flags, *parallel, "-x", "c", str(source), "-o", str(made), "-lm"]
        answer = run(command, timeout_s=BUILD_TIMEOUT_S)
        if answer.returncode == 0:
            os.replace(made, target)
            return target
        rejected = f"{' '.join(command)}\n{answer.stderr}"
    raise SerialBuildError(re.sub(r"^\S*?serial-\w+\.c", "serial", rejected))
