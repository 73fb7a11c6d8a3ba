"""The cost of PTX passes: on the kernels of the specs, and in builds through the drop-in for ptxas.

    python -m benchmarks.passes_cost [--write] [--specs matmul blur5x5] [--sources algorithms ...]

The benchmark needs nvcc, but no GPU.  It measures each pass over what nvcc makes of a spec's kernels, in one process,
and the processor time of all processes of ``nvcc -c``: with the real ptxas, with the drop-in whose cache is empty, and
once more with what that has left in it.  Times are those of one run, on a machine that may be shared.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.host import commit
from comprehensive.collection import seldom_collected
from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.ptx.dropin.install import install, real_toolkit
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool
from tests.ptx.corpus import sources

ROOT = Path(__file__).resolve().parent.parent
ARCH = "sm_90"
PASSES = "memory-space,vectorize-accesses,synthesize-shuffles,pre,dce,lower-version"
BUILDS = ("the real ptxas", "drop-in", "drop-in, once more")
SPECS = ("blur5x5", "gemm", "heat3d", "jacobi1d", "jacobi2d", "matmul", "matvec", "transpose")
SOURCES = ("algorithms", "cooperative_groups", "launch_bounds", "local_arrays", "loops", "saxpy", "stencils")


def kernels(spec: str, scratch: Path) -> Path:
    """Write the CUDA file that is generated of a spec into ``scratch``, with what it includes; return its path."""
    for name, text in outputs(compile_file(spec_directory() / f"{spec}.mf", Options("estimate"))).items():
        (scratch / name).write_text(text, encoding="utf-8")
    return scratch / f"{spec}.cu"


def pass_row(nvcc: Tool, path: Path) -> str:
    """Return the seconds that each pass takes over the PTX of a CUDA file, as a row of the table."""
    text = compile_ptx(nvcc, path, ARCH).output.decode()
    before = time.process_time()
    with seldom_collected():
        module = parse(SourceFile(path.name, text))
    stages = run(module, passes_of(PASSES))
    total = time.process_time() - before
    cells = [path.stem, f"{len(text) // 1000}", *(f"{each.seconds:.2f}" for each in stages), f"{total:.2f}"]
    return f"| {' | '.join(cells)} |"


def cpu_s(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> float:
    """Return the processor time of a command and all that it starts, in seconds. SystemExit where it fails."""
    process = subprocess.Popen(command, env=environment, cwd=directory, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def build_rows(paths: Sequence[Path], scratch: Path) -> Iterator[str]:
    """Yield a row with the seconds of ``nvcc -c`` for each CUDA file, and at last one with their sums."""
    toolkit = real_toolkit(find_tool("nvcc"))
    install(scratch / "mini", toolkit, PASSES)
    binaries = (toolkit.root / "bin", scratch / "mini" / "bin", scratch / "mini" / "bin")
    sums = [0.0] * len(BUILDS)
    # What another build has been answered must not help.
    environment = {**os.environ, "COMPREHENSIVE_CACHE": str(scratch / "cache")}
    for path in paths:
        times = [
            cpu_s([str(each / "nvcc"), f"-arch={ARCH}", "-c", str(path), "-o", "a.o"], environment, scratch)
            for each in binaries
        ]
        sums = [a + b for a, b in zip(sums, times, strict=True)]
        yield _build_row(path.stem, times)
    yield _build_row("all", sums)


def _build_row(name: str, times: Sequence[float]) -> str:
    shares = [f"{100 * (1 - times[0] / each):.0f} %" for each in times[1:]]
    return f"| {name} | {' | '.join(f'{each:.1f}' for each in times)} | {' | '.join(shares)} |"


def report(specs: Sequence[str], names: Sequence[str]) -> str:
    search = find_tool("nvcc")
    if isinstance(search, Missing):
        raise SystemExit(f"needs nvcc\n{search.explain()}")
    nvcc = load_tool(search)
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        paths = [kernels(spec, scratch) for spec in specs]
        ours = [pass_row(nvcc, path) for path in paths]
        theirs = [each.path for each in sources() if each.name in names]
        builds = [*build_rows([*paths, *theirs], scratch)]
    passes = [each.name for each in passes_of(PASSES)]
    lines = [
        f"What PTX passes cost, {datetime.date.today()}, commit {commit()}, nvcc {nvcc.version}, {ARCH}, "
        f"{os.cpu_count()} cores of a shared machine, one run. Seconds.",
        "",
        "Passes over the PTX of a spec's kernels: wall time of each (KB are 1000 bytes), processor time of all with "
        "parsing.",
        "",
        f"| kernels | KB | {' | '.join(passes)} | all, CPU |",
        f"|---|{'---|' * (len(passes) + 2)}",
        *ours,
        "",
        f"Processor time of `nvcc -c`, with the drop-in and `{PASSES}`, and the share that it is of such a build: with "
        "nothing remembered, and where it builds the same once more.",
        "",
        f"| source | {' | '.join(BUILDS)} | share | share, once more |",
        "|---|---|---|---|---|---|",
        *builds,
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", nargs="*", default=SPECS)
    parser.add_argument("--sources", nargs="*", default=SOURCES, help="files of tests/ptx/cuda")
    parser.add_argument("--write", action="store_true", help="keep the tables in benchmarks/results/")
    arguments = parser.parse_args()
    text = report(arguments.specs, arguments.sources)
    print(text, end="")
    if arguments.write:
        target = ROOT / "benchmarks" / "results" / f"passes-cost-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
