"""Behind ``check``: everything that can be verified without a GPU, in one report.

In: a compilation.  Out: a :class:`Report`: the conditions of Definition 2 for each region, and the emitted code run
on the CPU against the serial C.  Legality of the annotation has been checked on the way to the compilation.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from comprehensive.driver import Compilation, Options, problem_of
from comprehensive.generate import outputs
from comprehensive.loops.arithmetic import EndlessLoopError
from comprehensive.loops.ir import Variant
from comprehensive.optimize.definition2 import (
    code_soundness,
    constraint_soundness,
    coverage,
    optimality,
)
from comprehensive.optimize.tree import Leaf
from comprehensive.soundness.emulated import LeafRuns, build, run_leaves
from comprehensive.soundness.interpreted import disagreement
from comprehensive.soundness.reach import NotEvaluableError
from comprehensive.soundness.sampling import random_data, samples
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.process import ToolError

SEED = 1


@dataclass(frozen=True, slots=True)
class Condition:
    """One statement that was checked; ``evidence`` says how far, ``failures`` what is wrong.

    What was not ``evaluated`` does not hold either: nothing is known of it.
    """

    name: str
    holds: bool
    evidence: str
    failures: tuple[str, ...] = ()
    evaluated: bool = True


@dataclass(frozen=True, slots=True)
class RegionReport:
    name: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``runs`` is empty where nothing was run; ``skipped`` then says why."""

    regions: tuple[RegionReport, ...]
    runs: tuple[LeafRuns, ...]
    skipped: str | None

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        conditions = all(c.holds for region in self.regions for c in region.conditions)
        return conditions and not any(r.failures for r in self.runs)


def verify(compilation: Compilation, *, points: int, run: bool, sanitize: bool = False) -> Report:
    """Checks Definition 2 and, with ``run``, the emitted code at ``points`` points a leaf.

    Raises ToolError when the code is to be run and there is no C or C++ compiler.
    """
    regions = tuple(_region(compilation, number, points) for number in range(len(compilation.nests)))
    if not run:
        return Report(regions, (), "not asked for")
    if not all(c.evaluated for region in regions for c in region.conditions):
        return Report(regions, (), "the source does not end under the interpreter")
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        raise ToolError(
            "running the kernels on the CPU needs a C and a C++ compiler; `--no-run` does without"
        )
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        built = build(compilation, outputs(compilation), Path(scratch), c=c, cxx=cxx, sanitize=sanitize)
        try:
            return Report(regions, run_leaves(compilation, built, points, SEED), None)
        except NotEvaluableError as error:
            return Report(regions, (), f"the size of a buffer depends on data: {error}")


def _region(compilation: Compilation, number: int, points: int) -> RegionReport:
    nest, tree = compilation.nests[number], compilation.trees[number]
    problem = problem_of(nest, Options(registers="estimate", performance=tree.performance))
    constraints = constraint_soundness(tree)
    filled = coverage(tree, problem)
    best = optimality(tree, problem)
    conditions = [
        Condition(
            "(i) constraint soundness",
            constraints.holds,
            f"{len(constraints.verified)} of {len(tree.leaves)} leaves have an exact sample point",
            tuple(f"leaf {index}: {'; '.join(atoms)}" for index, atoms in constraints.violated)
            + tuple(f"leaf {index}: undecided" for index in constraints.undecided),
        ),
        _code(compilation, number, points),
        Condition(
            "(iii) coverage",
            filled.holds,
            "leaves and dead ends fill the space and exclude each other",
            tuple(f"gap: {gap}" for gap in filled.gaps or ())
            + tuple(f"overlap: {o}" for o in filled.overlaps),
        ),
        Condition(
            "(iv) optimality",
            best.holds,
            "every counter is optimal on some leaf",
            () if best.holds else (str(best),),
        ),
    ]
    return RegionReport(nest.name, tuple(conditions))


def _code(compilation: Compilation, number: int, points: int) -> Condition:
    """Condition (ii) under the reference interpreter."""
    nest, tree = compilation.nests[number], compilation.trees[number]
    function = next(
        plan.function for plan in compilation.plan.functions if any(r.nest == nest for r in plan.regions)
    )
    name = "(ii) code soundness"
    try:
        drawn = list(islice(samples(function, (nest,), SEED), points))
    except NotEvaluableError as error:
        return Condition(name, True, f"not sampled: the size of a buffer depends on data ({error})")

    def agrees(source: Variant, leaf: Variant, _: Leaf[Variant]) -> tuple[int, tuple[str, ...]]:
        failures: list[str] = []
        for step, sample in enumerate(drawn):
            data = random_data(function, (nest,), sample, step)
            difference = disagreement(source.nest, leaf.nest, sample.arguments, data, step % 4)
            if difference is not None:
                failures.append(f"{difference} at {dict(sample.arguments)}")
        return len(drawn), tuple(failures)

    try:
        result = code_soundness(tree, agrees)
    except EndlessLoopError as error:
        return Condition(name, False, f"not evaluated: {error}", evaluated=False)
    executed = sum(leaf.executions for leaf in result.leaves)
    return Condition(
        name,
        result.holds,
        f"{executed} executions of the interpreter agree with the source",
        tuple(f"leaf {leaf.leaf}: {failure}" for leaf in result.leaves for failure in leaf.failures),
    )


def to_text(report: Report) -> str:
    """For a terminal."""
    lines: list[str] = []
    for region in report.regions:
        lines.append(region.name)
        for condition in region.conditions:
            verdict = "ok  " if condition.holds else "FAIL" if condition.evaluated else "?   "
            lines.append(f"  {verdict} {condition.name}: {condition.evidence}")
            lines += [f"       {failure}" for failure in condition.failures[:5]]
    lines += run_lines(report.runs)
    if report.skipped is not None:
        lines.append(f"emitted code on the CPU: not run ({report.skipped})")
    return "\n".join(lines) + "\n"


def run_lines(runs: tuple[LeafRuns, ...]) -> list[str]:
    """A line a leaf about the emitted code run on the CPU."""
    lines = ["emitted code on the CPU against the serial C, bit for bit"] if runs else []
    for leaf in runs:
        verdict = "FAIL" if leaf.failures else "ok  "
        passed = leaf.runs - len(leaf.failures)
        lines.append(f"  {verdict} {leaf.region} leaf {leaf.leaf}: {passed} of {leaf.runs} points equal")
        lines += [f"       {failure}" for failure in leaf.failures[:3]]
    return lines


def to_json(report: Report) -> dict[str, Any]:
    """The same as one JSON document."""
    return {
        "schema": 1,
        "holds": report.holds,
        "regions": [
            {
                "name": region.name,
                "conditions": [
                    {"name": c.name, "holds": c.holds, "evidence": c.evidence, "failures": list(c.failures)}
                    for c in region.conditions
                ],
            }
            for region in report.regions
        ],
        "runs": [
            {"region": r.region, "leaf": r.leaf, "runs": r.runs, "failures": list(r.failures)}
            for r in report.runs
        ],
        "skipped": report.skipped,
    }
