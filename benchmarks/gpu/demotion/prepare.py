"""Writes what :mod:`benchmarks.gpu.demotion` times on a machine with a GPU: cubins of all variants, and predictions.

    python -m benchmarks.gpu.demotion.prepare -o build/gpu/demotion

Needs nvcc and nvdisasm; no GPU.  Prints what is predicted, and whether demotion leaves spills to local memory.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TypeAlias

from benchmarks.gpu.demotion.kernels import Kernel, kernels
from benchmarks.gpu.demotion.making import Made, Maker, variants_of
from benchmarks.gpu.demotion.predicted import predictions
from benchmarks.gpu.demotion.variant import Plan, Planned, Variant, written_plan
from benchmarks.gpu.ptx_passes_prepare import ARCH, HERE, launch
from benchmarks.gpu.variants import traffic
from benchmarks.host import ROOT, commit
from comprehensive.machine.device import Device, load_device
from comprehensive.sass.errors import SassError
from comprehensive.sass.launch import Launch
from comprehensive.sass.paper import stalls_of_paper
from comprehensive.sass.predict import predict
from comprehensive.sass.read import read
from comprehensive.toolchain.assembler import Ptxas, find_assembler
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool

DEVICE = "h200"
Sameness: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Judge:
    """Says what is known of a variant without running it."""

    kernel: Kernel
    device: Device
    global_bytes: int

    def judged(self, name: str, made: Made, file: str, same_as: str) -> Variant:
        """SassError where the variant cannot be launched, or its loops are not the kernel's."""
        function = read(made.cubin, self.kernel.symbol)
        loops = [loop.name for loop in function.loops]
        if len(loops) != len(self.kernel.rounds):
            raise SassError("CF1205", f"{name} has loops {loops}, not {len(self.kernel.rounds)}", "")
        large = self.kernel.timed.large
        launched = Launch(
            prod(large.block),
            prod(large.grid),
            made.dynamic_bytes,
            dict(zip(loops, self.kernel.rounds, strict=True)),
            self.global_bytes,
        )
        found = predict(function, self.device, launched)
        return Variant(
            name,
            made.kind,
            made.target,
            made.strategy,
            file,
            made.usage.registers_per_thread,
            made.usage.spill_bytes,
            made.usage.shared_bytes + made.dynamic_bytes,
            made.dynamic_bytes,
            found.occupancy.blocks_per_sm,
            found.binds,
            {"issue": found.issue_cycles, "latency": found.latency_cycles, "memory": found.memory_cycles},
            found.cycles,
            stalls_of_paper(function, self.device, launched).cycles,
            same_as,
        )


def planned(kernel: Kernel, output: Path) -> Planned:
    """A kernel with all its variants, whose cubins go into ``output``."""
    device = load_device(DEVICE)
    ptxas = Ptxas(tool("ptxas"), Cache.default())
    made, missing, targets = variants_of(Maker(kernel, find_assembler(), ptxas, device))
    launched = launch(kernel.timed.large)
    judge = Judge(kernel, device, traffic(launched))
    return Planned(
        kernel.name,
        kernel.timed.about,
        launched,
        kernel.rounds,
        targets,
        device.optin_shared_bytes_per_block - kernel.timed.large.smem_bytes,
        tuple(_judged(judge, made, output)),
        missing,
    )


def _judged(judge: Judge, made: Mapping[str, Made], output: Path) -> Iterator[Variant]:
    seen: dict[Sameness, Variant] = {}
    for number, (name, each) in enumerate(made.items()):
        code = code_of(each.cubin)[judge.kernel.symbol]
        key: Sameness = (code, each.dynamic_bytes)
        if key in seen:
            yield judge.judged(name, each, seen[key].file, seen[key].name)
            continue
        file = f"{judge.kernel.name}.{number}.cubin"
        (output / file).write_bytes(each.cubin)
        seen[key] = judge.judged(name, each, file, "")
        yield seen[key]


def tool(name: str) -> Tool:
    found = find_tool(name)
    if not isinstance(found, Found):
        raise SystemExit(found.explain())
    return load_tool(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "gpu" / "demotion")
    parser.add_argument("--only", default="", help="beginnings of the names of kernels, with commas")
    parser.add_argument("--jobs", type=int, default=2, help="kernels at a time")
    chosen = parser.parse_args()
    output: Path = chosen.output
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    nvcc = tool("nvcc")
    (output / "helpers.ptx").write_bytes(compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output)
    wanted = [each for each in kernels(nvcc) if each.name.startswith(tuple(chosen.only.split(",")))]
    plan = Plan(commit(), nvcc.version, DEVICE, _all_planned(wanted, output, chosen.jobs))
    written_plan(plan, output)
    print(predictions(plan), end="")
    return 0


def _all_planned(wanted: Sequence[Kernel], output: Path, jobs: int) -> tuple[Planned, ...]:
    start = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(planned, kernel, output): kernel.name for kernel in wanted}
        for future in as_completed(futures):
            count = len(future.result().variants)
            words = f"{time.monotonic() - start:5.0f} s  {futures[future]}: {count} variants"
            print(words, file=sys.stderr, flush=True)
        return tuple(future.result() for future in futures)


if __name__ == "__main__":
    sys.exit(main())
