"""The lowering of a variant of a nest to its kernel.

In: a :class:`Variant`.  Out: a :class:`Kernel` of the shape of the paper's figure 4::

    shared tiles
    grid iterators from blockIdx, thread iterators from threadIdx
      copy in, barrier, the threads' statements on the tiles, barrier, copy out

Only what must be copied is copied, once around a loop in which its tile stays where it is.  Barriers stand only where
tiles or a dependence between threads need them.  Conditions on launch constants are decided outside the bands, and
guards implied by the facts are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

from msgspec import Struct

from comprehensive.kernel_ir.axes import digits, on_axes
from comprehensive.kernel_ir.idle import folded, spliced, without_aliases, without_unused
from comprehensive.kernel_ir.kernel import (
    Barrier,
    Comment,
    Kernel,
    KernelParameter,
    KernelStmt,
    SharedTile,
    Source,
)
from comprehensive.kernel_ir.names import declared_names, names_in_kernel, types_in_kernel
from comprehensive.kernel_ir.parameters import Strides, flat, strides_of, used_parameters
from comprehensive.kernel_ir.terms import expression
from comprehensive.kernel_ir.verify import verify
from comprehensive.loops.access import Context, Mode, accesses, rewrite_references
from comprehensive.loops.ir import (
    AXES,
    BlockStmt,
    Loop,
    Nest,
    Role,
    Threads,
    Variant,
)
from comprehensive.loops.reading_order import reading_order
from comprehensive.loops.unswitch import unswitch
from comprehensive.loops.widths import computes_in_long
from comprehensive.lowering.copies import (
    Names,
    box_position,
    copy_in,
    copy_out,
    shared_index,
    thread_number,
)
from comprehensive.lowering.held import Pointers, with_held_elements
from comprehensive.lowering.interchange import with_updates_inside
from comprehensive.lowering.load_ahead import LoadAhead, walks_of
from comprehensive.lowering.placement import PlacedTile, Placement, place_tiles
from comprehensive.lowering.slanted import Slanted
from comprehensive.metafork.ast import (
    Binary,
    Block,
    Cast,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.terms import product
from comprehensive.metafork.walk import declared, statements_in
from comprehensive.poly.guards import drop_implied_guards
from comprehensive.poly.legality import threads_meet
from comprehensive.poly.model import Tile
from comprehensive.records import replace
from comprehensive.schedule.lower_tile import lower_tile


def lower(variant: Variant, name: str) -> Kernel:
    """The kernel ``name`` that computes the variant."""
    if variant.register_cap is None:
        return _lowered(variant, name)
    free = _lowered(replace(variant, register_cap=None), name)
    return replace(free, register_cap=variant.register_cap)


@lru_cache(maxsize=4096)
def _lowered(variant: Variant, name: str) -> Kernel:
    if variant.tile is not None:
        return lower_tile(variant, name)
    nest = with_updates_inside(drop_implied_guards(unswitch(variant.nest)))
    taken = declared_names(nest)
    placement = place_tiles(nest, taken)
    lowering = _Lowering.of(nest, placement, taken)
    body = without_unused(lowering.ahead(lowering.held(lowering.body())))
    body = without_aliases(body, {loop.iterator for loop in (*nest.grid, *nest.thread_loops)})
    parameters = lowering.parameters(body)
    body = spliced(folded(body, parameters), parameters)
    verify(body)
    return Kernel(
        name=name,
        parameters=parameters,
        grid=tuple((loop.iterator, loop.extent) for loop in nest.grid),
        block=tuple(loop.extent for loop in nest.thread_loops),
        shared_words=placement.words,
        order=reading_order(nest),
        body=body,
        demoted=variant.demoted,
        staircase=None if lowering.slanted is None else lowering.slanted.staircase,
    )


class _Lowering(Struct, frozen=True):
    nest: Nest
    placement: Placement
    order: tuple[str, ...]
    names: Names
    extents: Mapping[str, Expr]
    """Iterators of the grid, with what the kernel calls their extents."""
    parameters_of_extents: tuple[KernelParameter, ...]
    strides: Strides
    fresh: Namer
    slanted: Slanted | None
    """The launch without blocks outside of a slanted edge."""

    @staticmethod
    def of(nest: Nest, placement: Placement, taken: frozenset[str]) -> _Lowering:
        rank = max((len(p.tile.extent) for band in placement.bands for p in band), default=0)
        fresh = Namer({*taken, *(p.pointer for band in placement.bands for p in band)})
        block_rank = len(on_axes(nest.thread_loops))
        names = Names(
            counters=tuple(fresh(f"x{k}") for k in range(rank)),
            coordinates=tuple(fresh(f"e{k}") for k in range(rank)),
            thread=fresh("thread"),
            outer=fresh("outer"),
            block_rank=block_rank,
            order=tuple(s.name for s in nest.scalars if s.role is not Role.PROGRAM)
            + tuple(loop.iterator for loop in nest.grid)
            + tuple(s.name for s in nest.with_role(Role.PROGRAM)),
            type=ScalarType.LONG if computes_in_long(nest) else ScalarType.INT,
        )
        extents: dict[str, Expr] = {}
        parameters: list[KernelParameter] = []
        for loop in nest.grid:
            if isinstance(loop.extent, Name):
                extents[loop.iterator] = loop.extent
                continue
            extent = fresh(f"{loop.iterator}_extent")
            extents[loop.iterator] = Name(extent)
            parameters.append(KernelParameter(extent, ScalarType.INT, Source.EXTENT, loop.iterator))
        strides = strides_of(nest, fresh)
        slanted = Slanted.of(nest, extents, fresh)
        return _Lowering(
            nest, placement, names.order, names, extents, tuple(parameters), strides, fresh, slanted
        )

    # --- the body

    def body(self) -> tuple[KernelStmt, ...]:
        meet = threads_meet(self.nest)
        placed = [p for band in self.placement.bands for p in band]
        rewritten = rewrite_references(self.nest, self._replace_reference())
        repeats = len(self.nest.grid) > 1
        inner = _Bands(self, meet).lower(rewritten, followed=repeats)
        inner = (*self._thread_iterators(placed), *inner)
        for loops, axis in zip(on_axes(self.nest.grid), AXES, strict=False):
            inner = self._along(loops, axis, inner)
        tiles = tuple(
            SharedTile(p.pointer, p.type, expression(p.offset_words, self.order), p.tile.array)
            for p in placed
        )
        return (*tiles, *inner)

    def _along(
        self, loops: Sequence[Loop], axis: str, inner: tuple[KernelStmt, ...]
    ) -> tuple[KernelStmt, ...]:
        """The statements for all blocks along an axis, given those for one."""
        iterator, slanted = loops[0].iterator, self.slanted
        extents = [self.extents[loop.iterator] for loop in loops]
        bound = product(extents)
        if len(loops) > 1:
            iterator = self.names.outer
            inner = (*digits(Name(iterator), [loop.iterator for loop in loops], extents), *inner)
        elif slanted is not None:
            inner = slanted.placed(inner) if iterator == slanted.staircase.column else inner
            iterator, bound = slanted.place(iterator), slanted.bound(iterator)
        start = Name(f"blockIdx.{axis}")
        if axis == AXES[0]:
            return (Declare(ScalarType.INT, iterator, initial=start, const=True), *inner)
        step = Name(f"gridDim.{axis}")
        return (For(ScalarType.INT, iterator, start, "<", bound, step, inner, uniform=True),)

    def held(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body with elements that loops update in registers."""
        written = {a.array for a in accesses(self.nest) if a.mode.writes}
        pointers = Pointers(
            {a.name: a.type for a in self.nest.arrays if a.name in written},
            {p.pointer: p.type for band in self.placement.bands for p in band},
        )
        positive = {s.name for s in self.nest.with_role(Role.PROGRAM)}
        return with_held_elements(body, pointers, types_in_kernel(body, self._types()), positive, self.fresh)

    def ahead(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body with loads ahead where threads walk along loops in order."""
        walks = walks_of(self.nest, self.fresh)
        if not walks:
            return body
        arrays = {a.name: a for a in self.nest.arrays}
        return LoadAhead(walks, arrays, types_in_kernel(body, self._types()), self.fresh).body(body)

    def _types(self) -> dict[str, ScalarType]:
        """The types of the names that a kernel does not declare."""
        known = {s.name: s.type for s in self.nest.scalars} | {a.name: a.type for a in self.nest.arrays}
        return known | {p.name: p.type for strides in self.strides.arrays.values() for p in strides}

    def _thread_iterators(self, placed: Sequence[PlacedTile]) -> tuple[Declare, ...]:
        rank = self.names.block_rank
        declarations: dict[str, Declare] = {}
        for band in self.nest.bands:
            for loops, axis in zip(on_axes(band.loops), AXES, strict=False):
                names, extents = [loop.iterator for loop in loops], [loop.extent for loop in loops]
                for declaration in digits(Name(f"threadIdx.{axis}"), names, extents):
                    if declarations.setdefault(declaration.name, declaration) != declaration:
                        raise ValueError(f"iterator {declaration.name} names two directions of the block")
        ordered = list(declarations.values())
        if rank > 1 and any(len(p.tile.extent) == 1 for p in placed):
            ordered.append(
                Declare(ScalarType.INT, self.names.thread, initial=thread_number(rank), const=True)
            )
        return tuple(ordered)

    def _replace_reference(self):
        """Numbers the references as ``accesses`` does and sends each to its tile or to global memory."""
        tiles: dict[int, PlacedTile] = {
            ordinal: placed
            for band in self.placement.bands
            for placed in band
            for ordinal in placed.tile.index
        }
        count = len(accesses(self.nest))
        ordinals: Iterator[int] = iter(range(count))

        def replaced(index: Index, mode: Mode, context: Context, scalars: Mapping[str, Expr]) -> Expr:
            ordinal = next(ordinals)
            placed = tiles.get(ordinal)
            if placed is None:
                return flat(index, self.strides)
            position = box_position(placed, placed.tile.index[ordinal], self.order)
            return Index(placed.pointer, (shared_index(placed, position, self.order),), index.span)

        return replaced

    # --- the parameters

    def parameters(self, body: tuple[KernelStmt, ...]) -> tuple[KernelParameter, ...]:
        used = names_in_kernel(body)
        written = frozenset(a.array for a in accesses(self.nest) if a.mode.writes)
        own = (*self.parameters_of_extents, *(() if self.slanted is None else self.slanted.parameters))
        launch = [p for p in own if p.name in used]
        return (*used_parameters(self.nest, self.strides, written, used), *launch)


class _Bands(Struct, frozen=True):
    """Lowers the block-level statements; ``meet`` tells whether threads meet in global memory."""

    lowering: _Lowering
    meet: bool

    def lower(self, body: tuple[BlockStmt, ...], *, followed: bool) -> tuple[KernelStmt, ...]:
        numbers = iter(range(len(self.lowering.nest.bands)))
        return tuple(self._lower(body, numbers, followed, frozenset()))

    def _lower(
        self, body: tuple[BlockStmt, ...], numbers: Iterator[int], followed: bool, resident: frozenset[str]
    ) -> list[KernelStmt]:
        """Return the kernel statements of a body.

        ``resident`` are the pointers of tiles that a loop around copies in and out.
        """
        result: list[KernelStmt] = []
        for position, statement in enumerate(body):
            later = followed or any(_has_band(s) for s in body[position + 1 :])
            match statement:
                case Threads():
                    result += self._band(statement, next(numbers), later, resident)
                case For():
                    result += self._loop(statement, numbers, later, resident)
                case If():
                    then = tuple(self._lower(statement.then, numbers, later, resident))
                    otherwise = tuple(self._lower(statement.otherwise, numbers, later, resident))
                    result.append(If(statement.condition, then, otherwise, uniform=True))
                case Declare():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return result

    def _loop(
        self, loop: For[BlockStmt], numbers: Iterator[int], followed: bool, resident: frozenset[str]
    ) -> list[KernelStmt]:
        """A loop around bands; tiles that are the same in all its steps are copied once, around the loop."""

        def of_block(body: list[KernelStmt]) -> For[KernelStmt]:
            iterator, start, bound = loop.iterator, loop.start, loop.bound
            return For(loop.type, iterator, start, loop.relation, bound, loop.step, tuple(body), uniform=True)

        # Only a band that runs in every step: where it may not run, nothing is known of its tiles.
        *before, last = loop.body
        if not isinstance(last, Threads) or not all(isinstance(d, Declare) for d in before):
            return [of_block(self._lower(loop.body, numbers, True, resident))]
        number = next(numbers)
        changing = {loop.iterator, *(d.name for d in before if isinstance(d, Declare))}
        placed = self.lowering.placement.bands[number]
        kept = [p for p in placed if p.pointer not in resident and not _names_of(p.tile) & changing]
        here = resident | {p.pointer for p in kept}
        steps = of_block(self._lower(loop.body, iter((number,)), True, here))
        if not kept:
            return [steps]
        around = [*self._copies_in(kept), steps, *self._copies_out(kept)]
        if followed and any(p.tile.store is not None for p in kept):
            around.append(Barrier())
        (type,) = declared(loop).values()
        start = loop.start if isinstance(loop.start, IntLiteral) else Cast(type, loop.start)
        runs = Binary(loop.relation, start, loop.bound)
        return [If(runs, tuple(around), uniform=True)]

    def _band(self, band: Threads, number: int, followed: bool, resident: frozenset[str]) -> list[KernelStmt]:
        placed = self.lowering.placement.bands[number]
        own = [p for p in placed if p.pointer not in resident]
        # Each band in a scope of its own: two bands may declare the same names.
        several = len(self.lowering.nest.bands) > 1
        result = self._copies_in(own)
        result += (Block(band.body),) if several else band.body
        copies = self._copies_out(own)
        if any(p.tile.store is not None for p in own):
            result.append(Barrier())
        result += copies
        if followed and (placed or self.meet):
            result.append(Barrier())
        return result

    def _copies_in(self, placed: Sequence[PlacedTile]) -> list[KernelStmt]:
        """The copies, and a barrier after them."""
        result: list[KernelStmt] = []
        for p in placed:
            if p.tile.load is not None:
                result.append(Comment(f"stage({self._box(p)} into shared memory"))
                result += copy_in(p, self._strides(p), self.lowering.names)
        return [*result, Barrier()] if result else result

    def _copies_out(self, placed: Sequence[PlacedTile]) -> list[KernelStmt]:
        result: list[KernelStmt] = []
        for p in placed:
            if p.tile.store is not None:
                result.append(Comment(f"stage({self._box(p)} back to global memory"))
                result += copy_out(p, self._strides(p), self.lowering.names)
        return result

    def _box(self, placed: PlacedTile) -> str:
        """Return the array and the size of a tile as text: ``a): B0 x (s*ub1) elements``."""
        extents = [extent.format(reading_order(self.lowering.nest)) for extent in placed.tile.extent]
        shown = extents if len(extents) == 1 else [e if e.isalnum() else f"({e})" for e in extents]
        return f"{placed.tile.array}): {' x '.join(shown)} element{'' if shown == ['1'] else 's'}"

    def _strides(self, placed: PlacedTile) -> list[Expr]:
        return [Name(p.name) for p in self.lowering.strides[placed.tile.array]]


def _names_of(tile: Tile) -> frozenset[str]:
    """Every name that the place, the size or a condition of a tile speaks of."""
    conditions = [c for c in (tile.load, tile.store) if c is not None]
    polynomials = (
        *tile.origin,
        *tile.extent,
        *tile.stride,
        *(w for row in tile.weights for w in row),
        *(c.polynomial for condition in conditions for piece in condition.pieces for c in piece),
    )
    # A quotient is named by its text, `k / 2`.
    return frozenset(word for p in polynomials for symbol in p.symbols for word in re.findall(r"\w+", symbol))


def _has_band(statement: BlockStmt) -> bool:
    return any(isinstance(s, Threads) for s in statements_in((statement,)))
