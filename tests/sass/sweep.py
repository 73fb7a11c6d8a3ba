"""All checks on much code: kernels of CUB and what this tool generates from `specs/`, for four architectures.

`python -m tests.sass.sweep` prints a row an architecture; `test_sweep.py` is the same as a slow test.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from comprehensive.machine.device import load_device
from comprehensive.sass.read import read_all
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_cubin, load_tool
from tests.compiled_specs import SPECS, texts
from tests.sass.checks import Findings, awaited_results, issue_distances, live_registers, reuse_marks

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")
CUB = Path(__file__).with_name("cub.cu")


@dataclass
class Swept:
    """The instructions that were looked at, and the findings, for one architecture."""

    instructions: int = 0
    reuse: Findings = field(default_factory=Findings)
    awaited: Findings = field(default_factory=Findings)
    distances: Findings = field(default_factory=Findings)
    live: Findings = field(default_factory=Findings)
    closest: dict[str, int] = field(default_factory=dict[str, int])
    """The least distance of each pair of mnemonics, in cycles."""

    @property
    def broken(self) -> list[str]:
        return [*self.reuse.broken, *self.awaited.broken, *self.distances.broken, *self.live.broken]

    def add(self, cubin: bytes) -> None:
        for function in read_all(cubin).values():
            self.instructions += len(function.instructions)
            reuse_marks(function, self.reuse)
            awaited_results(function, self.awaited)
            device = load_device(f"sm_{function.architecture}")
            issue_distances(function, device, self.distances, self.closest)
            live_registers(function, self.live)


def swept(nvcc: Tool, architecture: str) -> Swept:
    """All checks on all code for one architecture."""
    found = Swept()
    for source in chain((CUB,), _generated()):
        found.add(compile_cubin(nvcc, source, architecture, ("-std=c++17",)).output)
    return found


def _generated() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        for spec in SPECS:
            for name, text in texts(spec).items():
                (Path(scratch) / name).write_text(text, encoding="utf-8")
            yield Path(scratch) / f"{spec}.cu"


def _main() -> None:
    found = find_tool("nvcc")
    assert isinstance(found, Found), "needs nvcc"
    nvcc = load_tool(found)
    print(f"nvcc {nvcc.version}")
    print(
        f"{'':8} {'instructions':>12} {'first readers':>13} {'distances':>9} {'live sets':>9} {'broken':>6}"
    )
    for architecture in ARCHITECTURES:
        one = swept(nvcc, architecture)
        print(
            f"{architecture:8} {one.reuse.held:12} {one.awaited.held:13} {one.distances.held:9} "
            f"{one.live.held:9} {len(one.broken):6}  {one.closest}",
            flush=True,
        )


if __name__ == "__main__":
    _main()
