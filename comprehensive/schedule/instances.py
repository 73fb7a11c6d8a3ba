"""The sizes for which a kernel over tiles is compiled.

In: such a kernel.  Out: a few instances, from the tables of `specs/instances.toml`; which of them runs is decided for
each launch, by what it costs there (`comprehensive/machine/cost.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import prod

from msgspec import Struct

from comprehensive.data import fact_table
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.kernel_ir.terms import size_of
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import RegisterTile
from comprehensive.metafork.ast import Assign, Declare, Expr, For, If, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import elements_in, statements_in, subexpressions
from comprehensive.records import replace

MANY_READS = 12
"""The reads of a point beyond which a stencil is bound by accesses."""
FEW_READS = 4
FEW_OWN_READS = 4
"""The elements that one point alone reads, beyond which points along a row are better than a block of them."""
REGISTERS = 65536
"""The registers of a multiprocessor, on every device since compute capability 3.0."""
MOST_REGISTERS = 255
SHARED_WORDS = 24576
"""The words of shared memory that a block may have on every device since compute capability 8.6, nearly."""
SLACK = Fraction(5, 4)
"""The factor by which the estimate of registers may exceed what a bound leaves before it is taken for too tight."""
USEFUL = Fraction(3, 5)
"""The least share of the points of a time tile that it is there for; the others are done for their neighbours' sake."""


class Instance(Struct, frozen=True):
    """An instance of a kernel over tiles; ``sizes`` are those of ``Kernel.constants``, in that order."""

    sizes: tuple[int, ...]


@cache
def table(name: str) -> tuple[Instance, ...]:
    """The instances of a table of `specs/instances.toml`."""
    return tuple(Instance(tuple(sizes)) for sizes in fact_table("instances.toml")[name])


def measured_on() -> str:
    """Return the architecture of the devices on which the sizes of all tables were measured."""
    return fact_table("instances.toml")["device"]


def time_instances(halo: Sequence[int]) -> tuple[Instance, ...]:
    """The instances of several sweeps that read so far away along each coordinate; the farther, the fewer sweeps."""
    found: list[Instance] = []
    for instance in table(f"overlapped_sweeps_{len(halo)}"):
        *extents, most, blocks = instance.sizes
        for sweeps in range(most, 1, -2):
            share = Fraction(1)
            for threads, each, away in zip(extents, extents[len(halo) :], halo, strict=False):
                share *= max(Fraction(0), 1 - Fraction(2 * away * (sweeps - 1), threads * each))
            if share >= USEFUL:
                found.append(Instance((*extents, sweeps, blocks)))
                break
    return tuple(found)


def has_wide_elements(kernel: Kernel) -> bool:
    """Whether a kernel is passed data of 8 bytes an element."""
    return any(p.type.size_bytes == 8 for p in kernel.parameters if p.pointer)


def for_wide_elements(kernel: Kernel, found: Sequence[Instance]) -> tuple[Instance, ...]:
    """The instances; elements of 8 bytes take two registers: a multiprocessor then has room for half the blocks."""
    if not has_wide_elements(kernel):
        return tuple(found)
    return tuple(replace(i, sizes=(*i.sizes[:-1], max(1, i.sizes[-1] // 2))) for i in found)


def words_of_step(kernel: Kernel, tile: RegisterTile, sizes: Sequence[int]) -> Fraction:
    """The words of shared memory that a row of a block has for each of its elements or steps."""
    (c,) = tile.coordinates
    rows = sizes[kernel.constants.index(c.threads)]
    return kernel.shared_words.coefficient(tile.stages, 1).evaluate({c.threads: rows}) / rows


def with_room(
    kernel: Kernel, tile: RegisterTile, found: Sequence[Instance], registers: int
) -> tuple[Instance, ...]:
    """The instances, with fewer blocks on a multiprocessor where so many would leave threads too few registers.

    ``registers`` are those of a thread with one point, without arrays that the point declares.  Each further point
    takes a register, or one for each scalar of a point where that is more; arrays are there for one point at a time
    (`recipes/points.py`).  Compilers keep to the number of blocks, and spill where it is too large: cfd of Rodinia
    1,128 bytes a thread (measured with nvcc 13.0 for sm_90; 1.57 times as fast without the bound on one H200).
    """
    scalars = max(sum(isinstance(s, Declare) for s in statements_in(body)) for body in tile.bodies)
    words = max(map(_words_of_arrays, tile.bodies))
    return _with_fewer_blocks(
        kernel, tile, found, lambda points, _: registers + words + (points - 1) * max(1, scalars)
    )


def _with_fewer_blocks(
    kernel: Kernel, tile: RegisterTile, found: Sequence[Instance], wanted_of: Callable[[int, int], int]
) -> tuple[Instance, ...]:
    """The instances, with fewer blocks where so many leave threads far fewer registers than they want, which are a
    function of the points of a thread and of the registers that are left to it."""
    result: list[Instance] = []
    for instance in found:
        sizes = dict(zip(kernel.constants, instance.sizes, strict=True))
        threads, blocks = prod(size_of(extent, sizes) for extent in kernel.block), instance.sizes[-1]
        points, left = prod(sizes[c.each] for c in tile.coordinates), Fraction(REGISTERS, threads * blocks)
        wanted = min(MOST_REGISTERS, wanted_of(points, int(left)))
        if wanted > SLACK * left:
            blocks = max(1, REGISTERS // (threads * wanted))
        result.append(replace(instance, sizes=(*instance.sizes[:-1], blocks)))
    return tuple(dict.fromkeys(result))


def with_room_for_sums(kernel: Kernel, tile: RegisterTile, found: Sequence[Instance]) -> tuple[Instance, ...]:
    """The instances, with fewer blocks on a multiprocessor where points have several sums that their loops add to.

    The tables are for one of them. Measured on one H200: 128 x 128 points of a block with two sums each, in two loops,
    take 1.22 ms where two blocks leave 128 registers to a thread, which then spills.
    """
    sums = _sums_of(tile.alternatives[0].body)
    if sums < 2:
        return tuple(found)
    return _with_fewer_blocks(kernel, tile, found, lambda points, left: left + (sums - 1) * points)


def _sums_of(body: Sequence[Stmt]) -> int:
    """The number of scalars and of elements of a point that its loops assign."""
    inside = [s for loop in body if isinstance(loop, For) for s in statements_in(loop.body)]
    targets = {s.target for s in inside if isinstance(s, Assign)}
    return len(targets - {Name(s.name) for s in inside if isinstance(s, Declare)})


def _words_of_arrays(body: Sequence[Stmt]) -> int:
    """The 4-byte words of all arrays that a body declares, whose lengths are constant."""
    arrays = (s for s in statements_in(tuple(body)) if isinstance(s, Declare) and s.dims)
    return sum(prod(size_of(d, {}) for d in a.dims) * words_per_element(a.type) for a in arrays)


def in_pieces_with_room(
    kernel: Kernel, tile: RegisterTile, found: Sequence[Instance]
) -> tuple[Instance, ...]:
    """The instances, with pieces of fewer steps where those of the tables leave a multiprocessor no room for a block:
    a step may have many steps of the loops in it, each with its own elements (``a[i][32*g + l]`` for ``l < 32``)."""
    place = kernel.constants.index(tile.depth)
    result: list[Instance] = []
    for instance in found:
        best = instance
        while not _has_room(best, kernel) and best.sizes[place] > 1:
            sizes = (*best.sizes[:place], best.sizes[place] // 2, *best.sizes[place + 1 :])
            best = replace(best, sizes=sizes)
        result.append(best if _has_room(best, kernel) and _meets(best, kernel) else instance)
    return tuple(dict.fromkeys(result))


def _has_room(instance: Instance, kernel: Kernel) -> bool:
    sizes = dict(zip(kernel.constants, instance.sizes, strict=True))
    words = kernel.shared_words
    return not set(words.symbols) <= sizes.keys() or words.evaluate(sizes) <= SHARED_WORDS


def meeting_constraints(kernel: Kernel, found: Sequence[Instance]) -> tuple[Instance, ...]:
    """Return the instances whose sizes meet the kernel's constraints on its constants."""
    return tuple(instance for instance in found if _meets(instance, kernel))


def _meets(instance: Instance, kernel: Kernel) -> bool:
    return all(truth == IntLiteral(1) for truth in _of_sizes(instance, kernel, kernel.constraints))


def some_launch(
    kernel: Kernel, found: Sequence[Instance], conditions: Sequence[Expr]
) -> tuple[Instance, ...]:
    """Return the instances that some launch takes: their sizes alone do not say that a condition never holds."""
    return tuple(
        instance for instance in found if IntLiteral(0) not in _of_sizes(instance, kernel, conditions)
    )


def _of_sizes(instance: Instance, kernel: Kernel, conditions: Sequence[Expr]) -> list[Expr]:
    """Return what is left of conditions for the sizes of an instance."""
    sizes: dict[str, Expr] = {
        name: IntLiteral(size) for name, size in zip(kernel.constants, instance.sizes, strict=True)
    }
    return [fold(substitute(condition, sizes)) for condition in conditions]


def point_instances(kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
    """The instances of points without a serial loop, by what neighbouring points share."""
    coordinates = len(tile.coordinates)
    reads = max(reads_of(alternative.body) for alternative in tile.alternatives)
    if kernel.together:
        name = "streamed_rows" if coordinates == 2 and reads > MANY_READS else f"neighbours_{coordinates}"
        own = max(_own_reads(alternative.body, tile) for alternative in tile.alternatives)
        if coordinates == 3 and own > FEW_OWN_READS:
            name = "neighbours_3_of_own_elements"
    elif coordinates != 2:
        name = f"points_{coordinates}"
    else:
        name = f"points_2_{'few' if reads <= FEW_READS else 'some' if reads <= MANY_READS else 'many'}_reads"
    return for_wide_elements(kernel, table(name))


def _own_reads(body: Sequence[Stmt], tile: RegisterTile) -> int:
    """Elements that no other point reads by the same reference or by one that differs in constants alone."""
    points, ring = {c.name for c in tile.coordinates}, Ring()
    references = set(elements_in(body))

    def apart_from_constants(subscript: Expr) -> str:
        value = ring.read(subscript)
        return str(value - value.constant_term if points & ring.names_in(value) else value)

    places = [
        (e.array, tuple(map(apart_from_constants, e.subscripts)))
        for e in references
        if points <= {name for s in e.subscripts for name in names_read(s)}
    ]
    return sum(count == 1 for count in Counter(places).values())


def reads_of(body: Sequence[Stmt]) -> int:
    """Elements of data and of local arrays that assignments of a point read, in all turns of its loops."""
    total = 0
    for statement in body:
        match statement:
            case For(bound=IntLiteral(value=turns)):
                total += turns * reads_of(statement.body)
            case If():
                total += max(reads_of(statement.then), reads_of(statement.otherwise))
            case Assign():
                total += sum(isinstance(e, Index) for e in subexpressions(statement.value))
            case _:
                pass
    return total
