"""Variants of kernels on the GPU: compared with the default one, then timed in turns.

In: a kernel of a plan.  Out: a :class:`Timed`, and the same through JSON from a process of its own::

    python3 -m benchmarks.gpu.demotion.timed build/gpu/demotion forces 11      # a line of JSON

A kernel is in a process of its own: what goes badly wrong costs that kernel.  The standard library only.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.gpu.demotion.variant import DEFAULT, Planned, read_plan
from benchmarks.gpu.driver import Device, DriverError
from benchmarks.gpu.variants import Bench

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Timed:
    """The findings about a kernel, by variant: times, blocks a multiprocessor holds by the driver, what went wrong.

    ``failed`` says why the kernel was not timed at all.
    """

    name: str
    milliseconds: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    blocks_per_sm: Mapping[str, int] = field(default_factory=dict[str, int])
    wrong: Mapping[str, str] = field(default_factory=dict[str, str])
    failed: str = ""

    def ms(self, variant: str) -> float:
        return statistics.median(self.milliseconds[variant])


def timed(device: Device, directory: Path, kernel: Planned, runs: int) -> Timed:
    """Compare and time the different variants of a kernel; what computes something else is not timed."""
    bench = Bench(device, directory)
    distinct = kernel.distinct
    cubins = {each.name: (directory / each.file).read_bytes() for each in distinct}
    smem = {each.name: each.dynamic_bytes for each in distinct}
    right: dict[str, bytes] = {}
    blocks: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for name, cubin in cubins.items():
        try:
            function = device.function(device.load_image(cubin), kernel.launch["kernel"])
            blocks[name] = device.blocks_per_sm(function, kernel.threads, smem[name])
            pair = {DEFAULT: cubins[DEFAULT], name: cubin}
            _, found = bench.measure(kernel.launch, pair, 0, smem)
            differ = found.get(name, 0)
        except DriverError as error:
            wrong[name] = str(error)
            continue
        if differ:
            wrong[name] = f"{differ} words differ"
        else:
            right[name] = cubin
    if DEFAULT not in right:
        return Timed(kernel.name, {}, blocks, wrong, f"the default variant: {wrong[DEFAULT]}")
    milliseconds, _ = bench.measure(kernel.launch, right, runs, smem)
    return Timed(kernel.name, milliseconds, blocks, wrong)


def timed_apart(directory: Path, name: str, runs: int, seconds: float) -> Timed:
    """The same in a process of its own that has so many seconds."""
    command = [sys.executable, "-m", "benchmarks.gpu.demotion.timed", str(directory), name, str(runs)]
    try:
        answer = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=max(seconds, 1)
        )
    except subprocess.TimeoutExpired:
        return Timed(name, failed=f"took longer than {seconds:.0f} s")
    if answer.returncode:
        said = (answer.stderr.strip().splitlines() or ["nothing said"])[-1]
        return Timed(name, failed=f"exit status {answer.returncode}: {said}")
    return Timed(**json.loads(answer.stdout))


def main() -> int:
    directory, name, runs = Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
    (kernel,) = (each for each in read_plan(directory).kernels if each.name == name)
    print(json.dumps(asdict(timed(Device(), directory, kernel, runs))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
