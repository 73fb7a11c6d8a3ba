"""The sizes for which a kernel over register tiles is compiled.

In: such a kernel.  Out: a few instances, each with its ``weight``: how long it takes for a point when the device is
full, relative to the others.  The launcher takes the one with the least weight times points of the tiles that the
busiest multiprocessor gets.  Source: sweeps on one H200, `benchmarks/results/tiles-2026-11-21.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.codegen.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Instance:
    """``sizes`` are those of ``Kernel.constants``, in that order."""

    sizes: tuple[int, ...]
    weight: int


# Threads, values a thread; with a serial loop depth and stages; blocks of a multiprocessor.
_REDUCTIONS = {
    1: (Instance((128, 1, 64, 4, 1), 100), Instance((32, 1, 64, 4, 1), 104)),
    2: (
        Instance((16, 16, 8, 8, 8, 4, 2), 100),
        Instance((16, 8, 4, 8, 16, 3, 4), 125),
        Instance((8, 8, 4, 4, 16, 2, 8), 180),
    ),
}
_STREAMS = {
    1: (Instance((256, 4, 1), 100), Instance((128, 1, 1), 145)),
    2: (Instance((2, 128, 4, 1, 1), 100), Instance((4, 32, 2, 1, 1), 120)),
    3: (Instance((1, 8, 32, 2, 2, 2, 1), 100), Instance((1, 4, 32, 1, 1, 1, 1), 200)),
}
_TURNED = (Instance((16, 32, 4, 2, 1), 100), Instance((8, 32, 4, 1, 1), 112))


def instances(kernel: Kernel) -> tuple[Instance, ...]:
    """The instances of a kernel with constants, those for large data first."""
    threads = len(kernel.block)
    if len(kernel.constants) > 2 * threads + 1:
        return _REDUCTIONS[threads]
    return _TURNED if kernel.uses_shared_memory else _STREAMS[threads]
