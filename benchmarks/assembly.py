"""The cost of assembling PTX in process and in a process of its own, and what the drop-in adds to a build.

Run by ``make assembly`` where nvcc and nvJitLink are.  Prints two Markdown tables; ``--write`` keeps them in
``benchmarks/results/``.  What is compared runs in turns, one of each kind after another, so that a machine that slows
down slows down all of them; CPU time is that of the process and of those it starts.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.host import commit
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.ptx.dropin.install import install, real_toolkit
from comprehensive.ptx.dropin.wrapper import PASSES as PASSES_VARIABLE
from comprehensive.toolchain.assembler import Ptxas, functions_called
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.find import Found, Missing, find_tool
from comprehensive.toolchain.jitlink import JitLink, find_jitlink, load_jitlink
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool

ROOT = Path(__file__).resolve().parent.parent
ARCH = "sm_90"
# Those that ptxas is done with in a second or two; a longer text tells less of the start of a process.
SPECS = ("reverse", "matadd", "transpose", "jacobi1d", "blur5x5")

SMALL = """\
extern "C" __global__ void scale(float *a, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= f;
}
"""

# Passes that do nothing, and one whose text is another one although its code is the same: the least that either costs.
PASSES = """\
import sys
sys.path.insert(0, {root!r})
from comprehensive.ptx.dropin.run import run
def rewrite(text, pipeline, *, name):
    return (text + "// same\\n" if pipeline == "comment" else text), ()
run(sys.argv[1], sys.argv[3:], sys.argv[2], rewrite=rewrite)
"""
KINDS = {
    "the real ptxas": None,
    "drop-in without passes": "",
    "drop-in, a pass that changes nothing": "identity",
    "drop-in, a pass that adds a comment": "comment",
}


def cpu_s() -> float:
    """Return the processor time, in seconds, of this process and of those it has started that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def in_turns(jobs: Mapping[str, Callable[[int], object]], runs: int) -> dict[str, tuple[float, float]]:
    """Medians of wall and CPU milliseconds; jobs get the number of the turn, of which the first is not counted."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for turn in range(runs + 1):
        for name, job in jobs.items():
            wall, cpu = time.perf_counter(), cpu_s()
            job(turn)
            if turn:
                times[name].append((time.perf_counter() - wall, cpu_s() - cpu))
    return {
        name: (1e3 * statistics.median(w for w, _ in each), 1e3 * statistics.median(c for _, c in each))
        for name, each in times.items()
    }


def ptx_texts(nvcc: Tool, scratch: Path) -> dict[str, str]:
    """PTX by name: a small kernel, and all kernels of some specs."""
    sources = {"one small kernel": SMALL}
    for stem in SPECS:
        made = outputs(compile_file(spec_directory() / f"{stem}.mf", Options("estimate")))
        for name, text in made.items():
            (scratch / name).write_text(text, encoding="utf-8")
        sources[stem] = made[f"{stem}.cu"]
    found: dict[str, str] = {}
    for name, text in sources.items():
        source = scratch / f"{name.replace(' ', '_')}.cu"
        source.write_text(text, encoding="utf-8")
        found[name] = compile_ptx(nvcc, source, ARCH).output.decode()
    return found


def assembly_row(name: str, text: str, ptxas: Ptxas, jitlink: JitLink, runs: int) -> tuple[str, int, int]:
    """A row, how many kernels there are, and of how many the counts differ."""
    # Each turn has a text of its own: nothing is remembered, by whatever it may be.
    jobs: dict[str, Callable[[int], object]] = {
        "ptxas": lambda turn: ptxas.assemble(f"{text}// {turn}\n", ARCH),
        "nvJitLink": lambda turn: jitlink.assemble(f"{text}// {turn}\n", ARCH),
    }
    times = in_turns(jobs, runs)
    beside, inside = ptxas.assemble(text, ARCH), jitlink.assemble(text, ARCH)
    kernels = len(beside.usage)
    differing = sum(inside.usage[symbol] != usage for symbol, usage in beside.usage.items())
    (wall, cpu), (wall_inside, cpu_inside) = times["ptxas"], times["nvJitLink"]
    cells = [
        name,
        str(kernels),
        f"{len(text) // 1024}",
        f"{wall / kernels:.1f}",
        f"{wall_inside / kernels:.1f}",
        f"{wall_inside / wall:.2f}",
        f"{cpu / kernels:.1f}",
        f"{cpu_inside / kernels:.1f}",
        str(differing),
        ", ".join(f"`{function}`" for function in functions_called(inside)),
    ]
    return f"| {' | '.join(cells)} |", kernels, differing


def build_rows(nvcc: Found, scratch: Path, runs: int) -> list[str]:
    """Return the times of one call of ptxas and one of nvcc, of each kind, for the small kernel."""
    toolkit = real_toolkit(nvcc)
    script, mini = scratch / "passes.py", scratch / "mini"
    script.write_text(PASSES.format(root=str(ROOT)), encoding="utf-8")
    install(mini, toolkit, "", script=script)
    source, ptx = scratch / "small.cu", scratch / "small.ptx"
    source.write_text(SMALL, encoding="utf-8")
    ptx.write_bytes(compile_ptx(load_tool(nvcc), source, ARCH).output)
    binaries = {name: (toolkit.root if passes is None else mini) / "bin" for name, passes in KINDS.items()}
    environments = {name: {**os.environ, PASSES_VARIABLE: passes or ""} for name, passes in KINDS.items()}

    def job(name: str, *words: str) -> Callable[[int], object]:
        command = [str(binaries[name] / words[0]), f"-arch={ARCH}", *words[1:]]
        return lambda _: subprocess.run(
            command, cwd=scratch, env=environments[name], capture_output=True, check=True
        )

    calls = in_turns({name: job(name, "ptxas", "small.ptx", "-o", "small.cubin") for name in KINDS}, runs)
    builds = in_turns({name: job(name, "nvcc", "-c", "small.cu", "-o", "small.o") for name in KINDS}, runs)
    cells = [[name, *calls[name], *builds[name]] for name in KINDS]
    return [f"| {name} | {' | '.join(f'{value:.0f}' for value in values)} |" for name, *values in cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the tables in benchmarks/results/")
    arguments = parser.parse_args()
    nvcc, found, library = find_tool("nvcc"), find_tool("ptxas"), find_jitlink()
    if isinstance(nvcc, Missing) or isinstance(found, Missing) or isinstance(library, Missing):
        raise SystemExit("assembly: needs nvcc, ptxas and nvJitLink")
    ptxas, jitlink = Ptxas(load_tool(found), Cache(None)), load_jitlink(library, cache=Cache(None))
    lines = [
        f"Assembling PTX, {datetime.date.today()}, commit {commit()}, ptxas {ptxas.version}, nvJitLink "
        f"{jitlink.version}, {ARCH}, {os.cpu_count()} cores, medians of {arguments.runs} runs in turns on a shared "
        "machine.",
        "",
        "Milliseconds a kernel, all kernels of a text at once, nothing remembered. Kernels differ where registers, "
        "spills, stack or shared memory do; nvJitLink compiles for the linker, so that functions are called that "
        "ptxas puts into their kernels, and the tool then asks ptxas.",
        "",
        "| text | kernels | KiB | ptxas, wall | nvJitLink, wall | ratio | ptxas, CPU | nvJitLink, CPU "
        "| kernels that differ | functions called |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    kernels = differing = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for title, text in ptx_texts(load_tool(nvcc), scratch).items():
            row, more, other = assembly_row(title, text, ptxas, jitlink, arguments.runs)
            lines.append(row)
            kernels, differing = kernels + more, differing + other
        lines += [
            "",
            f"{differing} of {kernels} kernels differ.",
            "",
            "What the drop-in adds, milliseconds, for the small kernel: a call of ptxas, and nvcc from CUDA to an "
            "object.",
            "",
            "| | ptxas, wall | ptxas, CPU | nvcc, wall | nvcc, CPU |",
            "|---|---|---|---|---|",
            *build_rows(nvcc, scratch, 3 * arguments.runs),
        ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        target = ROOT / "benchmarks" / "results" / f"assembly-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
