"""The sizes for which a kernel over tiles is compiled.

In: such a kernel.  Out: a few instances, each with its ``weight``: how long it takes for a point when the device is
full, relative to the others.  The launcher takes the one with the least weight times points of the tiles that the
busiest multiprocessor gets, but no less than what a block takes ``alone``; a serial loop counts with the steps that its
pieces have.  Source: sweeps by hand on one H200, `benchmarks/results/gpu-bench-2026-11-22.md`, and
`gpu-regret-2026-11-22.md` there, which says how good the choice is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from comprehensive.codegen.kernel import Kernel
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import RegisterTile
from comprehensive.loops.rewrite import subexpressions, substitute
from comprehensive.metafork.ast import Assign, Expr, For, Index, IntLiteral, Stmt


@dataclass(frozen=True, slots=True)
class Instance:
    """``sizes`` are those of ``Kernel.constants``, in that order."""

    sizes: tuple[int, ...]
    weight: int
    others: tuple[int, ...] = ()
    """The weights where fewer elements than four are accessed together, two and one or one, if they are others."""
    alone: int = 0
    """What a tile takes where nothing else is on the device: the weight of so many points."""

    def weights(self, counts: Sequence[int]) -> tuple[int, ...]:
        """By how many elements are accessed together."""
        return (self.weight, *(self.others or (self.weight,) * (len(counts) - 1)))


# Threads, values a thread; with a serial loop depth and stages; blocks of a multiprocessor.
_REDUCTIONS = {
    1: (
        Instance((64, 1, 128, 3, 2), 79),
        Instance((32, 1, 64, 4, 1), 102, alone=5800),
    ),
    2: (
        Instance((16, 16, 8, 8, 16, 3, 2), 100, (116,)),
        Instance((16, 16, 8, 8, 8, 4, 2), 109, (111,)),
        Instance((8, 16, 8, 8, 8, 4, 4), 104, (150,)),
        Instance((8, 32, 8, 4, 16, 4, 2), 121, (129,)),
        Instance((8, 16, 4, 4, 32, 3, 4), 155, (187,)),
        Instance((8, 8, 4, 4, 16, 2, 8), 260, (300,)),
    ),
}
_WIDE_ROWS = (
    Instance((128, 1, 32, 4, 1), 100),
    Instance((32, 1, 32, 4, 1), 104),
    Instance((64, 1, 128, 2, 1), 110),
)
MANY_READS = 12
"""Of a point: with more of them a stencil is bound by accesses."""
# Points, 1 each; threads that share one, vectors of a thread in flight; blocks of a multiprocessor.
_REASSOCIATED = (
    Instance((2, 1, 128, 4, 4), 100),
    Instance((8, 1, 32, 8, 4), 98),
    Instance((1, 1, 1024, 1, 2), 110),
)
# By coordinates, and for two of them by how many elements a point reads: what points share decides.
_LINE = (Instance((256, 4, 8), 100), Instance((128, 1, 16), 145))
_SPACE = (Instance((1, 4, 32, 2, 2, 2, 8), 100), Instance((1, 4, 32, 1, 1, 1, 8), 200))
_SMALL = Instance((4, 32, 2, 1, 8), 120)
_PLANES = (
    (4, (Instance((1, 256, 1, 4, 4), 100), _SMALL)),
    (MANY_READS, (Instance((4, 128, 8, 1, 4), 100), _SMALL)),
    (1 << 30, (Instance((4, 32, 8, 3, 8), 100), _SMALL)),
)
# Where neighbouring points share what they read, by coordinates: in vectors first.
_NEIGHBOURS = {
    1: (Instance((256, 4, 8), 100, (102, 114)), Instance((128, 1, 16), 165)),
    2: (
        Instance((8, 32, 2, 4, 6), 100, (102, 118)),
        Instance((4, 128, 8, 1, 4), 113),
        Instance((4, 32, 2, 1, 8), 136),
    ),
    3: (
        Instance((2, 4, 32, 2, 2, 4, 3), 100, (136, 180), alone=960_000),
        Instance((1, 4, 32, 2, 2, 2, 8), 121, alone=527_000),
        Instance((1, 4, 32, 1, 1, 1, 8), 242, alone=317_000),
    ),
}
# Where points march down many rows.
_MARCHED = (
    Instance((4, 32, 4, 4, 8), 100, (139, 151)),
    Instance((4, 32, 8, 3, 8), 132),
    Instance((4, 32, 2, 1, 8), 158),
)
# Of several sweeps, by coordinates: threads, values a thread, sweeps where neighbours are 1 away, blocks of a
# multiprocessor.  Weights are those of all sweeps, and compare with those of single ones.
_TIME = {
    1: (Instance((256, 4, 19, 6), 635, alone=2_650_000),),
    2: (
        Instance((4, 128, 24, 1, 7, 2), 312, alone=7_800_000),
        Instance((2, 128, 20, 1, 7, 4), 275, alone=5_900_000),
    ),
}
_TURNED = (Instance((16, 32, 4, 2, 2), 100), Instance((8, 32, 4, 1, 4), 112))


LAUNCH = 400_000
"""What it costs to launch a kernel, beside tiles of sweeps: on one H200 a microsecond."""
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
                weight, alone = (cost * sweeps // most for cost in (instance.weight, instance.alone))
                found.append(Instance((*extents, sweeps, blocks), weight, alone=alone))
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
    """Whether there is such a kernel."""
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
