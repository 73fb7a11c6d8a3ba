"""The sizes for which a kernel over tiles is compiled.

In: such a kernel.  Out: a few instances; which of them runs is decided for each launch, by what it costs there
(`comprehensive/machine/cost.py`).  Source: sweeps by hand on one H200; `benchmarks/results` has how good the choice
among them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import RegisterTile
from comprehensive.loops.rewrite import subexpressions, substitute
from comprehensive.metafork.ast import Assign, Expr, For, Index, IntLiteral, Stmt


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a kernel over tiles; ``sizes`` are those of ``Kernel.constants``, in that order."""

    sizes: tuple[int, ...]


# Threads, values a thread; with a serial loop depth and stages; blocks of a multiprocessor.
_REDUCTIONS = {
    1: (
        Instance((64, 1, 128, 3, 2)),
        Instance((32, 1, 64, 4, 1)),
    ),
    2: (
        Instance((16, 16, 8, 8, 16, 3, 2)),
        Instance((16, 16, 8, 8, 8, 4, 2)),
        Instance((8, 16, 8, 8, 8, 4, 4)),
        Instance((8, 32, 8, 4, 16, 4, 2)),
        Instance((8, 16, 4, 4, 32, 3, 4)),
        Instance((8, 8, 4, 4, 16, 2, 8)),
    ),
}
_WIDE_ROWS = (
    Instance((128, 1, 32, 4, 1)),
    Instance((32, 1, 32, 4, 1)),
    Instance((64, 1, 128, 2, 1)),
)
MANY_READS = 12
"""The reads of a point beyond which a stencil is bound by accesses."""
# Points, 1 each; threads that share one, vectors of a thread in flight; blocks of a multiprocessor.
_REASSOCIATED = (
    Instance((2, 1, 128, 4, 4)),
    Instance((8, 1, 32, 8, 4)),
    Instance((1, 1, 1024, 1, 2)),
    Instance((1, 1, 1024, 4, 1)),
)
# By coordinates, and for two of them by how many elements a point reads: what points share decides.
_LINE = (Instance((256, 4, 8)), Instance((128, 1, 16)))
_SPACE = (Instance((1, 4, 32, 2, 2, 2, 8)), Instance((1, 4, 32, 1, 1, 1, 8)))
_SMALL = Instance((4, 32, 2, 1, 8))
_PLANES = (
    (4, (Instance((1, 256, 1, 4, 4)), _SMALL)),
    (MANY_READS, (Instance((4, 128, 8, 1, 4)), _SMALL)),
    (1 << 30, (Instance((4, 32, 8, 3, 8)), _SMALL)),
)
# Where neighbouring points share what they read, by coordinates: in vectors first.
_NEIGHBOURS = {
    1: (Instance((256, 4, 8)), Instance((128, 1, 16))),
    2: (
        Instance((8, 32, 2, 4, 6)),
        Instance((4, 128, 8, 1, 4)),
        Instance((4, 32, 2, 1, 8)),
    ),
    3: (
        Instance((2, 4, 32, 2, 2, 4, 3)),
        Instance((1, 4, 32, 2, 2, 2, 8)),
        Instance((1, 4, 32, 1, 1, 1, 8)),
    ),
}
# Where points march down many rows.
_MARCHED = (
    Instance((4, 32, 4, 4, 8)),
    Instance((4, 32, 8, 3, 8)),
    Instance((4, 32, 2, 1, 8)),
)
# Of several sweeps, by coordinates: threads, values a thread, sweeps where neighbours are 1 away, blocks of a
# multiprocessor.
_TIME = {
    1: (Instance((256, 4, 19, 6)),),
    2: (
        Instance((4, 128, 24, 1, 7, 2)),
        Instance((2, 128, 20, 1, 7, 4)),
    ),
}
_TURNED = (Instance((16, 32, 4, 2, 2)), Instance((8, 32, 4, 1, 4)))


USEFUL = Fraction(3, 5)
"""The least share of the points of a time tile that it is there for; the others are done for their neighbours' sake."""


def time_instances(halo: Sequence[int]) -> tuple[Instance, ...]:
    """The instances of several sweeps that read so far away along each coordinate; the farther, the fewer sweeps."""
    found: list[Instance] = []
    for instance in _TIME[len(halo)]:
        *extents, most, blocks = instance.sizes
        for sweeps in range(most, 1, -2):
            share = Fraction(1)
            for threads, each, away in zip(extents, extents[len(halo) :], halo, strict=False):
                share *= max(Fraction(0), 1 - Fraction(2 * away * (sweeps - 1), threads * each))
            if share >= USEFUL:
                found.append(Instance((*extents, sweeps, blocks)))
                break
    return tuple(found)


def instances(kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
    """The instances of the kernel of a register tile, those for large data first.

    Elements of 8 bytes take two registers, so that a multiprocessor has room for half the blocks.
    """
    found = _instances(kernel, tile)
    if not tile.reassociated and any(p.type.size_bytes == 8 for p in kernel.parameters if p.pointer):
        if tile.depth in kernel.constants and len(tile.coordinates) == 1:
            found = _WIDE_ROWS
        found = tuple(replace(i, sizes=(*i.sizes[:-1], max(1, i.sizes[-1] // 2))) for i in found)
    return tuple(instance for instance in found if _meets(instance, kernel))


def _meets(instance: Instance, kernel: Kernel) -> bool:
    """Return whether the sizes of an instance meet the demands of the kernel."""
    sizes: dict[str, Expr] = {
        name: IntLiteral(size) for name, size in zip(kernel.constants, instance.sizes, strict=True)
    }
    return all(fold(substitute(demand, sizes)) == IntLiteral(1) for demand in kernel.demands)


def _instances(kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
    coordinates = len(tile.coordinates)
    if tile.sweeps is not None:
        return time_instances(tile.sweeps.halo)
    if tile.reassociated:
        return _REASSOCIATED
    if tile.depth in kernel.constants:
        return _REDUCTIONS[coordinates]
    if kernel.uses_shared_memory:
        return _TURNED
    reads = max(_reads(alternative.body) for alternative in tile.alternatives)
    if kernel.together:
        return _MARCHED if coordinates == 2 and reads > MANY_READS else _NEIGHBOURS[coordinates]
    if coordinates != 2:
        return _LINE if coordinates == 1 else _SPACE
    return next(planes for most, planes in _PLANES if reads <= most)


def _reads(body: Sequence[Stmt]) -> int:
    """Elements of data and of local arrays that assignments of a point read, in all turns of its loops."""
    total = 0
    for statement in body:
        match statement:
            case For(bound=IntLiteral(value=turns)):
                total += turns * _reads(statement.body)
            case Assign():
                total += sum(isinstance(e, Index) for e in subexpressions(statement.value))
            case _:
                pass
    return total
