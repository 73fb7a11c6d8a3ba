"""The command ``demo``: the whole job on one file, shown step by step.

In: a `.mf` file and an output directory.  Out: the tree, the generated kernels run against the serial C on the CPU,
and what to do with the files that were written.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs, tree_text, write
from comprehensive.plan.interface import interface
from comprehensive.soundness.emulated import build, run_leaves
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.verification_report import run_lines

POINTS = 20


def show(source: Path, output: Path, options: Options, echo: Callable[[str], None]) -> bool:
    """Prints every step; False when some kernel differs from the serial C."""
    echo(f"$ comprehensive tree {source}")
    compilation = compile_file(source, options)
    echo(tree_text(compilation))
    echo(f"$ comprehensive gen {source} -o {output}")
    written = write(compilation, output, options)
    echo(f"{len(written.files)} files, listed below")
    echo("")
    states = _run(compilation, echo)
    if State.FAILS not in states:
        for line in ending(source, output, compilation):
            echo(line)
    return State.FAILS not in states


def _run(compilation: Compilation, echo: Callable[[str], None]) -> list[State]:
    """The kernels beside the serial C, where there are compilers for both."""
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        missing = " and ".join(name for name, found in (("gcc", c), ("g++", cxx)) if found is None)
        echo(f"the kernels were not run on the CPU: install {missing}, or set CC and CXX")
        return []
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        built = build(compilation, outputs(compilation), Path(scratch), c=c, cxx=cxx)
        runs = run_leaves(compilation, built, POINTS)
    for line in run_lines(runs):
        echo(line)
    echo(gpu_line())
    states = [leaf.state for leaf in runs]
    echo(conclusion(states))
    return states


def conclusion(states: Sequence[State]) -> str:
    """One line about all leaves."""
    if State.FAILS in states:
        return "some results DIFFER from the serial C"
    unchecked = states.count(State.NOT_CHECKED)
    if unchecked:
        return f"no result differs from the serial C, but {unchecked} of {len(states)} leaves were not run"
    return "all results equal the serial C"


def ending(source: Path, output: Path, compilation: Compilation) -> tuple[str, ...]:
    """Return lines on where everything is and how it is called, with two commands to try next."""
    plan = compilation.plan
    function = interface(plan.functions[0])
    arguments = ", ".join([*(argument.name for argument in function.arguments), "NULL", "NULL"])
    python, program = _commands()
    manifest = str(output / f"{plan.stem}.json")
    in_python = f'import comprehensive; print(comprehensive.load("{manifest}", device="cpu"))'
    leaves = sum(len(region.leaves) for function in plan.functions for region in function.regions)
    files = {
        f"{plan.stem}.h": "include this: it chooses the kernel, and declares the launchers",
        f"{plan.stem}.cu": "compile this with nvcc: the kernels and the launchers",
        "cf_*": "what the two include, the same for all programs",
        f"{plan.stem}.json": "for other programs: what is in the two",
        f"{plan.stem}.tree.json": "the decision tree",
        f"{plan.stem}*.leaf*.mf": f"the kernels as programs, {leaves} of them",
    }
    width = max(map(len, files))
    return (
        "",
        f"In {output}:",
        *(f"  {name:<{width}}  {meaning}" for name, meaning in files.items()),
        "",
        "In a C or C++ program, with arrays on the device:",
        f'  #include "{plan.stem}.h"',
        f"  int status = {function.name}_launch({arguments});",
        f"  /* CF_OK, or else {function.name}_strerror(status) says why not */",
        "",
        "To try next: which kernel runs on an H200, and why not another; and the same functions in Python",
        f"  {shlex.quote(program)} explain {shlex.quote(str(source))} --device h200",
        f"  {shlex.quote(python)} -c {shlex.quote(in_python)}",
    )


def _commands() -> tuple[str, str]:
    """Return what one types for this Python, and for this tool beside it."""
    python = Path(sys.executable)
    if os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return "python", "comprehensive"
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    return str(python), str(python.with_name("comprehensive"))


def gpu_line() -> str:
    """Return the line that says whether and how the same comparison can run on a GPU here."""
    if shutil.which("nvidia-smi") is None or shutil.which("nvcc") is None:
        return "no GPU here: `make gpu-test` runs the same comparison where there is one"
    answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return f"GPU found ({answer.stdout.strip()}): `make gpu-prepare gpu-test` runs the comparison on it"
