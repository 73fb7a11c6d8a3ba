"""The kernel of points that walk along rows of their own: all threads of a block copy, and one of each point walks.

::

    for (t < n) { z = a * z + x[c][t];  y[c][t] = z; }
        -->  begin to copy the first strips of x
             for each strip:  await it, barrier, begin to copy the next one into the slot of the one before
                              threads that walk: for t in the strip: z = a * z + row_x[..];  row_y[..] = z
                              barrier;  all threads: y[..] = strip_y[..]

What a point does keeps its order.  Statements beside the walks are those of one thread, loops around walks are done by
all threads together, and what points declare there is declared for the whole kernel.  A loop of a few constant steps is
one strip, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    Await,
    Barrier,
    Comment,
    Commit,
    KernelStmt,
)
from comprehensive.kernel_ir.terms import constant, counting, least, product
from comprehensive.kernel_ir.words import most_words
from comprehensive.loops.ir import Coordinate, Nest, RegisterTile
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, For, If, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions, with_subscripts
from comprehensive.metafork.terms import conjunction, plus
from comprehensive.metafork.walk import arrays_assigned, statements_in
from comprehensive.records import replace
from comprehensive.schedule.context import ONE, ZERO, TileContext, is_same_for_all_points
from comprehensive.schedule.operands import has_steps, serial_loop
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.short_loops import is_short, is_short_nest
from comprehensive.schedule.strip_layout import StripLayout, StripNames
from comprehensive.schedule.walk_ahead import ReadAhead, walk_ahead
from comprehensive.schedule.walks import Strip, strips_of

ROWS_AHEAD = 4
"""Rows that a walk reads ahead, each in registers."""


class Walk(Struct, frozen=True):
    """A loop and its strips."""

    loop: For
    strips: tuple[Strip, ...]


def walks_of(
    nest: Nest, tile: RegisterTile, body: Sequence[Stmt], around: frozenset[str] = frozenset()
) -> tuple[Walk, ...]:
    """The loops that walk along rows of points, in loops with these iterators that all points do together."""
    found: list[Walk] = []
    for loop in body:
        if not isinstance(loop, For) or not loop.counts_up or not is_same_for_all_points(nest, loop):
            continue
        is_around = serial_loop(loop.body) is not None
        inner = walks_of(nest, tile, loop.body, around | {loop.iterator}) if is_around else ()
        strips = () if inner else _with_room(loop, strips_of(nest, tile, loop, around))
        found += inner or ((Walk(loop, strips),) if strips else ())
    return tuple(found)


def _with_room(loop: For, strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """The strips of which what lies behind a step is in the slot before its own, however few steps there are."""
    bound = loop.bound
    few = bound.value if isinstance(bound, IntLiteral) and is_short(loop) else None
    return tuple(s for s in strips if few is None or s.behind <= few * s.step)


@dataclass
class WalkKernel:
    """The kernel of a tile, statement by statement."""

    context: TileContext
    _walks: dict[int, Walk] = field(init=False, default_factory=dict[int, Walk])
    _layouts: list[StripLayout] = field(init=False, default_factory=list[StripLayout])
    _words: list[Polynomial] = field(init=False, default_factory=list[Polynomial])
    _declared: list[KernelStmt] = field(init=False, default_factory=list[KernelStmt])
    _has_begun: bool = field(init=False, default=False)
    """Whether other threads may have something to do with shared memory, or with what a thread has stored."""
    _name: Namer = field(init=False)

    def __post_init__(self) -> None:
        context = self.context
        tile = context.tile
        taken = all_names(context.nest).union(*map(declared_names, tile.bodies))
        taken |= {*context.names.values(), *context.limits, *tile.sizes, self._coordinate.name}
        self._name = Namer(taken | {b.name for b in tile.batch})
        self._walks = {id(w.loop): w for w in walks_of(context.nest, tile, tile.alternatives[0].body)}

    def kernel(self) -> TileKernel:
        """The kernel, whose first threads of a block walk, one for each point."""
        tile = self.context.tile
        assert tile.lanes is not None
        body = self._body()
        alignments = tuple(dict.fromkeys(a for each in self._layouts for a in each.alignments()))
        whole = all(is_short(walk.loop) for walk in self._walks.values())
        constraints = (c for each in self._layouts for c in each.constraints())
        slots = () if whole else (Binary(">=", Name(tile.stages), IntLiteral(3)),)
        return TileKernel(
            body,
            (*tile.sizes, tile.lanes, *(() if whole else (tile.depth, tile.stages))),
            most_words(self._words),
            tuple(dict.fromkeys((Binary("==", Name(self._coordinate.each), ONE), *slots, *constraints))),
            alignments,
            (4, 2, 1) if alignments else (),
            block=(self._threads,),
            lanes=Name(tile.lanes),
            interleaved=True,
            step=ONE if whole else Name(tile.depth),
        )

    @property
    def _coordinate(self) -> Coordinate:
        (c,) = self.context.tile.coordinates
        return c

    @property
    def _threads(self) -> Expr:
        assert self.context.tile.lanes is not None
        return product([Name(self._coordinate.threads), Name(self.context.tile.lanes)])

    # --- statements beside the walks

    def _body(self) -> tuple[KernelStmt, ...]:
        context, c = self.context, self._coordinate
        walks = context.name("point")
        is_there = Binary("<", Name(c.name), context.limit(0))
        placed = (
            constant(c.name, Binary("+", context.name("o0"), context.name("t0"))),
            constant(walks.identifier, conjunction([Binary("==", context.name("lane"), ZERO), is_there])),
        )
        done = self._statements(context.tile.alternatives[0].body)
        return (*placed, *self._declared, *done)

    def _statements(self, body: Sequence[Stmt]) -> tuple[KernelStmt, ...]:
        """Statements that all points come to together."""
        result: list[KernelStmt] = []
        waiting: list[Stmt] = []

        def of_points() -> None:
            if waiting:
                stored = arrays_assigned(waiting) & {a.name for a in self.context.nest.arrays}
                self._has_begun = self._has_begun or bool(stored)
                result.append(If(self.context.name("point"), self._inside(tuple(waiting), (), ZERO, {})))
                waiting.clear()

        for statement in body:
            match statement:
                case Declare(initial=None):
                    result.append(statement)
                case Declare(initial=initial) if initial is not None:
                    result.append(replace(statement, initial=None, const=False))
                    waiting.append(Assign(Name(statement.name), "=", initial, statement.span))
                case For() if id(statement) in self._walks:
                    of_points()
                    result += self._walk(self._walks[id(statement)])
                case For() if any(id(s) in self._walks for s in statements_in(statement.body)):
                    of_points()
                    bound = self.context.bound(statement)
                    self._has_begun = True
                    inside = self._statements(statement.body)
                    unrolled = is_short(statement)
                    result.append(
                        replace(statement, bound=bound, body=inside, uniform=True, unrolled=unrolled)
                    )
                case _:
                    waiting.append(statement)
        of_points()
        return tuple(result)

    # --- a walk

    def _walk(self, walk: Walk) -> list[KernelStmt]:
        context, loop = self.context, walk.loop
        layouts = self._laid_out(walk)
        count = context.bound(loop)
        result: list[KernelStmt] = [Barrier()] if self._has_begun else []
        self._has_begun = True
        brought = tuple(s for each in layouts for s in each.brought())
        if brought:
            result.append(If(conjunction([context.name("point"), has_steps(count)]), brought))
        if is_short(loop):
            result.append(Comment(f"cut({loop.shown}): each point along its own row, in order"))
            return [*result, *self._whole(walk, layouts)]
        depth = context.tile.depth
        result.append(
            Comment(f"cut({loop.shown}): strips of {depth} columns, each point along its own row, in order")
        )
        return [*result, *self._strips(walk, layouts, count)]

    def _laid_out(self, walk: Walk) -> list[StripLayout]:
        """Lay the strips of a walk out, those of wide elements first, and declare what they need."""
        tile, loop = self.context.tile, walk.loop
        steps, stages = Polynomial.symbol(tile.depth), Polynomial.symbol(tile.stages)
        if is_short(loop):
            assert isinstance(loop.bound, IntLiteral)
            steps, stages = Polynomial.constant(loop.bound.value), Polynomial.constant(1)
        offset = Polynomial.constant(0)
        found: list[StripLayout] = []
        for strip in sorted(walk.strips, key=lambda s: -self.context.element_type(s.array).size_bytes):
            slots = stages if strip.is_copied and not is_short(loop) else Polynomial.constant(1)
            slots = Polynomial.constant(2) if strip.behind and slots.is_constant else slots
            layout = StripLayout(self.context, strip, steps, slots, StripNames.of(strip.array, self._name))
            self._declared += [*layout.tiles(offset), *layout.feed(self._threads)]
            offset = offset + layout.words()
            found.append(layout)
        self._layouts += found
        self._words.append(offset)
        return found

    def _whole(self, walk: Walk, layouts: Sequence[StripLayout]) -> list[KernelStmt]:
        """A loop of a few constant steps, as it is, with all that it reads in shared memory."""
        loop, count = walk.loop, walk.loop.bound
        copies = [s for each in layouts for s in each.stages(ZERO, count)]
        result: list[KernelStmt] = [*copies, Commit(), Await(ZERO), Barrier()] if copies else []
        result += [constant(each.names.begin, each.slot(ZERO)) for each in layouts]
        inside = self._inside(loop.body, layouts, Name(loop.iterator), {})
        steps = replace(loop, body=inside, unrolled=is_short_nest(loop))
        return [*result, If(self.context.name("point"), (steps,)), *self._stored(layouts, ZERO, count)]

    def _strips(self, walk: Walk, layouts: Sequence[StripLayout], count: Expr) -> list[KernelStmt]:
        """A loop strip by strip, with the next ones on their way."""
        context = self.context
        depth, stages = Name(context.tile.depth), Name(context.tile.stages)
        ahead, number, first, steps = (self._name(n) for n in ("ahead", "strip", "first", "steps"))
        # A slot is free when the walk is in the next one, and no longer looks behind.
        in_flight = Binary("-", stages, IntLiteral(2 if any(s.behind for s in walk.strips) else 1))
        is_copied = any(s.is_copied for s in walk.strips)
        result: list[KernelStmt] = []
        each: list[KernelStmt] = []
        if is_copied:
            begun = (*(s for x in layouts for s in x.stages(Name(ahead), count)), Commit())
            result.append(counting(ahead, in_flight, begun, unrolled=True, uniform=True))
            next_one = Binary("+", Name(number), in_flight)
            each += [Await(Binary("-", in_flight, ONE)), Barrier()]
            each += [*(s for x in layouts for s in x.stages(next_one, count)), Commit()]
        elif any(s.stored is not None for s in walk.strips):
            each.append(Barrier())
        each.append(constant(first, Binary("*", Name(number), depth)))
        each.append(constant(steps, least(Binary("-", count, Name(first)), depth)))
        each += [constant(x.names.begin, x.slot(Name(number))) for x in layouts]
        each.append(If(context.name("point"), self._steps(walk, layouts, Name(first), Name(steps))))
        each += self._stored(layouts, Name(number), Name(steps))
        strips = Binary("/", Binary("+", count, Binary("-", depth, ONE)), depth)
        return [*result, counting(number, strips, tuple(each), uniform=True)]

    def _stored(self, layouts: Sequence[StripLayout], number: Expr, steps: Expr) -> list[KernelStmt]:
        stores = [
            s
            for each in layouts
            for s in each.stores(number, steps, self._threads, self._name("turn"), self._name)
        ]
        return [Barrier(), *stores] if stores else []

    def _steps(
        self, walk: Walk, layouts: Sequence[StripLayout], first: Expr, steps: Expr
    ) -> tuple[Stmt, ...]:
        """The steps of a strip by the thread of a point, which reads ahead where steps are straight."""
        loop, within = walk.loop, Name(self._name("within"))
        turn = replace(loop, iterator=within.identifier, bound=steps)
        place = constant(loop.iterator, plus(first, within))
        ahead = self._read_ahead(walk, layouts)

        def body(held: Sequence[Index]) -> tuple[Stmt, ...]:
            return (place, *self._inside(loop.body, layouts, within, dict(zip(ahead, held, strict=True))))

        if not ahead:
            return (replace(turn, body=body(())),)
        return tuple(walk_ahead(self.context, turn, steps, list(ahead.values()), body))

    def _read_ahead(self, walk: Walk, layouts: Sequence[StripLayout]) -> dict[Index, ReadAhead]:
        """The references whose elements are the same when they are read some steps earlier."""
        if not all(isinstance(s, Declare | Assign | If) for s in statements_in(walk.loop.body)):
            return {}
        found: dict[Index, ReadAhead] = {}
        for layout in layouts:
            strip = layout.strip
            for reference, column in strip.references.items():
                if reference in strip.early and len(found) < ROWS_AHEAD:
                    found[reference] = ReadAhead(
                        self._name(f"ahead_{strip.array}"),
                        layout.type,
                        lambda n, layout=layout, column=column: layout.element(column, n),
                    )
        return found

    def _inside(
        self,
        body: tuple[Stmt, ...],
        layouts: Sequence[StripLayout],
        within: Expr,
        held: dict[Index, Index],
    ) -> tuple[Stmt, ...]:
        """Statements of a step with what is in strips there, and what is held where it is read."""
        places = {
            reference: layout.element(column, within)
            for layout in layouts
            for reference, column in layout.strip.references.items()
        }

        def one(e: Expr) -> Expr:
            return places[e] if isinstance(e, Index) and e in places else self.context.flat_element(e)

        def read(e: Expr) -> Expr:
            return held[e] if isinstance(e, Index) and e in held else one(e)

        def target(place: Name | Index) -> Name | Index:
            found = one(with_subscripts(place, lambda e: map_expression(e, read)))
            assert isinstance(found, Name | Index)
            return found

        return map_expressions(body, lambda e: map_expression(e, read), target)
