"""Behind ``demo``: the whole job on one file, shown step by step.

In: a `.mf` file and an output directory.  Out: the tree, the list of outputs, and the generated kernels run against
the serial C, on the CPU and, where there are nvcc and a GPU, on the GPU too.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs, tree_text, write
from comprehensive.soundness.emulated import build, run_leaves
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.process import ToolError
from comprehensive.verification import run_lines

POINTS = 20


def show(source: Path, output: Path, options: Options, echo: Callable[[str], None]) -> bool:
    """Prints every step; False when some kernel differs from the serial C."""
    echo(f"$ comprehensive tree {source}")
    compilation = compile_file(source, options)
    echo(tree_text(compilation))
    echo(f"$ comprehensive gen {source} -o {output}")
    written = write(compilation, output, options)
    for name in written.files:
        echo(f"  {(output / name).stat().st_size:>8} bytes  {output / name}")
    echo("")
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        raise ToolError("running the kernels on the CPU needs a C and a C++ compiler")
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        built = build(compilation, outputs(compilation), Path(scratch), c=c, cxx=cxx)
        runs = run_leaves(compilation, built, POINTS)
    for line in run_lines(runs):
        echo(line)
    echo(gpu_line())
    states = [leaf.state for leaf in runs]
    echo(conclusion(states))
    return State.FAILS not in states


def conclusion(states: Sequence[State]) -> str:
    """One line about all leaves."""
    if State.FAILS in states:
        return "some results DIFFER from the serial C"
    unchecked = states.count(State.NOT_CHECKED)
    if unchecked:
        return f"no result differs from the serial C, but {unchecked} of {len(states)} leaves were not run"
    return "all results equal the serial C"


def gpu_line() -> str:
    """Whether the same comparison can run on a GPU here, and how."""
    if shutil.which("nvidia-smi") is None or shutil.which("nvcc") is None:
        return "no GPU here: `make gpu-test` runs the same comparison where there is one"
    answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return f"GPU found ({answer.stdout.strip()}): `make gpu-prepare gpu-test` runs the comparison on it"
