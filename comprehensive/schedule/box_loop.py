"""Points with serial loops in each other: what a block reads goes through shared memory in boxes, several in flight.

In: a context and the loops of a point.  Out: the statements of the kernel::

    all points: sum = 0;  begin to copy the boxes of S - 1 steps
    for each piece of D steps of the split loop, in the loops around it:
        await its boxes, barrier, begin to copy those S - 1 pieces ahead
        for its steps, for y < 3:  a row of in for all points and all x, in registers
            for x < 3:  a row of k for all points;  all points: sum += in[..] * k[..]
    all points inside of the limits: out[y0][y1][y2] = sum

Where the loop around the split one is over the rows of a window, a piece has D of its turns, if each of them is one
piece: a row of an image is then copied once for all the rows of a window that it lies in.  Every sum keeps its order,
so that the result is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial

from msgspec import Struct

from comprehensive.kernel_ir.kernel import (
    EXPECTED,
    Await,
    Barrier,
    Comment,
    Commit,
    KernelStmt,
)
from comprehensive.kernel_ir.terms import conjunction, constant, counting, least
from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import always_evaluated
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute, with_operands
from comprehensive.metafork.walk import elements, elements_in
from comprehensive.records import replace
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.bounded_reads import without_bounds
from comprehensive.schedule.box_copies import BoxCopies
from comprehensive.schedule.box_epilogue import BoxEpilogue
from comprehensive.schedule.box_nest import BoxAxis, LoopNest
from comprehensive.schedule.boxes import Boxes
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented
from comprehensive.schedule.fragments import Fragments
from comprehensive.schedule.legality import types_in
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of

FEW_STATEMENTS = 4
"""The most statements of a step whose whole pieces are unrolled."""


class BoxLoop(Struct, frozen=True):
    context: TileContext
    loops: LoopNest
    limits: Sequence[Expr]
    """The bounds of the loops in each other, as the kernel calls them."""
    boxes: Boxes
    copies: BoxCopies
    around: AroundLoop
    first: Mapping[str, str]
    """The names of the first steps of a piece, by the iterators of the loops of which it has several turns."""
    left: Mapping[str, str]
    """The names of the numbers of its steps."""
    turns: str
    """The turns of the loop over rows that a piece may have."""
    ahead: Mapping[str, str]
    """The names of the iterators of the loops for the boxes to be copied next."""
    cut: bool = True
    """Whether the limits may cut the tile: points outside of them take part in the steps."""

    @staticmethod
    def of(
        context: TileContext,
        loops: LoopNest,
        limits: Sequence[Expr],
        rows: tuple[BoxAxis, ...],
        around: AroundLoop,
        name: Namer,
    ) -> BoxLoop:
        """Return one of the loops beside each other, whose boxes have these contiguous axes together."""
        boxes = Boxes.of(context, loops, rows, name)
        return BoxLoop(
            context,
            loops,
            limits,
            boxes,
            BoxCopies.of(boxes, name),
            around,
            {iterator: name(f"{iterator}_first") for iterator in loops.in_pieces},
            {iterator: name(f"{iterator}_left") for iterator in loops.in_pieces},
            name(f"{loops.rows}_turns") if loops.rows else "",
            {loop.iterator: name(f"{loop.iterator}_ahead") for loop in loops.path},
        )

    @property
    def fragments(self) -> Fragments:
        return Fragments(self.boxes)

    @property
    def epilogue(self) -> BoxEpilogue:
        return BoxEpilogue(self.context, self.boxes, self.around)

    def feeds(self) -> tuple[KernelStmt, ...]:
        """Return the declarations of what copies the boxes."""
        pairs = zip(self.copies.comments(), self.copies.feeds(), strict=True)
        return (*self.copies.counts(), *(part for pair in pairs for part in pair))

    def done(self, before: tuple[Stmt, ...]) -> tuple[KernelStmt, ...]:
        """The statements before the loops, and these."""
        return (
            *self.around.begun(self.jam_around(), before),
            *self._turns(),
            *self._first_pieces(),
            Comment(f"cut({', '.join(self.loops.in_pieces)}): pieces of {self.context.tile.depth} steps"),
            *self._loop(0),
        )

    def jam_around(self) -> UnrollAndJam:
        """Return what does statements around the loops for all points of a thread."""
        return self._jam(scalars_of((*self.around.before, *self.around.after)), self._of_registers)

    def _jam(self, scalars: frozenset[str], reference: Callable[[Expr], Expr]) -> UnrollAndJam:
        return UnrollAndJam(self.context, scalars, self.boxes.places(), reference)

    def _of_registers(self, expr: Expr) -> Expr:
        """The expression with its references in fragments, in registers or in global memory."""

        def replaced(e: Expr) -> Expr:
            for number, group in enumerate(self.boxes.groups):
                if isinstance(e, Index) and e in group.offsets:
                    return self.fragments.element(number, e)
            return e

        return self.around.of_registers(map_expression(expr, replaced))

    def _of_step(self, expr: Expr, *, always: bool = True) -> Expr:
        """The same in the loops, which points outside of the limits do with the others: they read what is there.

        Unless it is done ``always``, the expression stands under a condition.
        """
        data = {a.name for a in self.context.nest.arrays} - set(self.loops.held)
        sure = set(always_evaluated(expr)) if always else set[Expr]()

        def inside(e: Expr) -> Expr:
            changed = with_operands(e, inside)
            if not isinstance(changed, Index) or changed.array not in data:
                return changed
            is_box = any(e in group.offsets for group in self.boxes.groups)
            return self._inside(changed, always=e in sure) if self.cut and not is_box else changed

        return self._of_registers(inside(expr))

    def _inside(self, reference: Index, *, always: bool) -> Expr:
        """A reference that points outside of the limits can read: the element of the last point, where a subscript is
        one of a coordinate alone; else none, since what is read under a condition may not be there without it."""
        read = [e for s in reference.subscripts for e in elements(s)]
        computed = frozenset[str]().union(*map(names_read, read))
        last: dict[str, Expr] = {}
        conditions: list[Expr] = []
        for n, (c, limit) in enumerate(
            zip(self.context.tile.coordinates, self.context.inside(), strict=True)
        ):
            is_read = c.name in names_read(reference)
            if not always or computed & {c.name, self.context.names[f"r{n}"]} or (c.shift and is_read):
                conditions.append(limit)
            elif is_read:
                end = Binary("-", self.context.limit(n), ONE)
                last[c.name] = Conditional(Binary("<", Name(c.name), end), Name(c.name), end)
        found = substitute(reference, last)
        return Conditional(conjunction(conditions), found, ZERO) if conditions else found

    def thread(self) -> Stmt:
        """Return the declaration of the number of the thread."""
        number: Expr = self.context.name("t0")
        for n, c in list(enumerate(self.context.tile.coordinates))[1:]:
            number = Binary("+", Binary("*", number, Name(c.threads)), self.context.name(f"t{n}"))
        return constant(self.context.names["thread"], number)

    # --- the pipeline

    def _turns(self) -> tuple[Stmt, ...]:
        """Return the declaration of how many turns of the loop over rows are a piece: sums keep their order where each
        of them has one piece."""
        if not self.turns:
            return ()
        depth = Name(self.context.tile.depth)
        is_one = Binary("<=", self.limits[-1], depth)
        return (constant(self.turns, Conditional(is_one, depth, ONE)),)

    def _most(self, iterator: str) -> Expr:
        """The turns of a loop that a piece has, if so many are left."""
        return Name(self.turns if iterator == self.loops.rows else self.context.tile.depth)

    def _first_pieces(self) -> tuple[KernelStmt, ...]:
        stages, ahead = Name(self.context.tile.stages), self.context.name("ahead")
        started = tuple(Declare(ScalarType.INT, name, initial=ZERO) for name in self.ahead.values())
        count = Binary("-", stages, ONE)
        pieces = counting(ahead.identifier, count, self._begun(ahead), unrolled=True, uniform=True)
        slot = Declare(ScalarType.INT, self.context.names["slot"], initial=ZERO)
        arrays = [group.array for group in self.boxes.groups]
        said = commented(self.context, "stage", arrays, f"the first {stages.identifier} - 1 pieces")
        return (said, *started, pieces, slot)

    def _begun(self, slot: Expr) -> tuple[KernelStmt, ...]:
        """The boxes of the next piece, if there is one, are begun to be copied to a slot."""
        at = {iterator: Name(name) for iterator, name in self.ahead.items()}
        inside = conjunction(
            [Binary("<", value, limit) for value, limit in zip(at.values(), self.limits, strict=True)]
        )
        return (
            If(
                inside,
                (
                    *self._lefts(at),
                    *self.copies.stages(slot, at, self._names_left()),
                    *self._advanced(),
                ),
                uniform=True,
            ),
            Commit(),
        )

    def _lefts(self, firsts: Mapping[str, Expr]) -> tuple[Stmt, ...]:
        """Return the declarations of how many steps a piece has that begins with these."""
        limits = dict(zip((loop.iterator for loop in self.loops.path), self.limits, strict=True))
        return tuple(
            constant(name, least(Binary("-", limits[iterator], firsts[iterator]), self._most(iterator)))
            for iterator, name in self.left.items()
        )

    def _names_left(self) -> dict[str, Expr]:
        return {iterator: Name(name) for iterator, name in self.left.items()}

    def _firsts(self) -> dict[str, Expr]:
        """Return the values of all iterators with which the piece that is done begins."""
        iterators = (loop.iterator for loop in self.loops.path)
        return {iterator: Name(self.first.get(iterator, iterator)) for iterator in iterators}

    def _advanced(self) -> tuple[Stmt, ...]:
        """The iterators of the next piece."""
        *outer, last = (Name(name) for name in self.ahead.values())
        done: tuple[Stmt, ...] = ()
        limits = list(self.limits)
        for n, name in enumerate(outer):
            inner = [*outer, last][n + 1]
            turns = Name(self.turns) if self.loops.path[n].iterator == self.loops.rows else ONE
            carried = (Assign(inner, "=", ZERO), Assign(name, "+=", turns), *done)
            done = (If(Binary("<=", limits[n + 1], inner), carried),)
        return (Assign(last, "+=", Name(self.context.tile.depth)), *done)

    def _loop(self, level: int) -> tuple[KernelStmt, ...]:
        loop, limit = self.loops.path[level], self.limits[level]
        inner = self._piece() if loop is self.loops.split else ()
        if loop.iterator in self.first:
            counted = counting(self.first[loop.iterator], limit, inner or self._loop(level + 1), uniform=True)
            return (replace(counted, step=self._most(loop.iterator)),)
        at = loop.body.index(self.loops.path[level + 1])
        before, after = (
            self._statements(part, set(), {}, set()) for part in (loop.body[:at], loop.body[at + 1 :])
        )
        body = (*before, *self._loop(level + 1), *after)
        return (counting(loop.iterator, limit, body, uniform=True),)

    def _piece(self) -> tuple[KernelStmt, ...]:
        context, stages = self.context, Name(self.context.tile.stages)
        slot, last = context.name("slot"), context.name("last")
        before = Conditional(Binary("==", slot, ZERO), Binary("-", stages, ONE), Binary("-", slot, ONE))
        behind = Binary("+", slot, ONE)
        return (
            Await(Binary("-", stages, IntLiteral(2))),
            Barrier(),
            constant(last.identifier, before),
            *self._begun(last),
            *self._lefts(self._firsts()),
            *self.boxes.begins(slot),
            *self._steps_within_bounds(),
            Assign(slot, "=", Conditional(Binary("==", behind, stages), ZERO, behind)),
        )

    # --- the steps of a piece

    def _steps_within_bounds(self) -> tuple[KernelStmt, ...]:
        """The steps; where no bound cuts the boxes of the piece, without the comparisons that these are."""
        bounding = self.loops.bounding
        if not bounding:
            return self._rows_of_steps()
        split = self.loops.split
        types = types_in(self.context.nest, self.context.tile)
        body = map_expressions(split.body, lambda expr: without_bounds(expr, bounding, types))
        inside = replace(
            self, loops=replace(self.loops, path=(*self.loops.path[:-1], replace(split, body=body)))
        )
        usual = Call(EXPECTED, (self.copies.is_clear(self._firsts(), self._names_left()), ONE))
        return (If(usual, inside._rows_of_steps(), self._rows_of_steps(), uniform=True),)

    def _rows_of_steps(self) -> tuple[KernelStmt, ...]:
        """The steps of each turn of the loop over rows, if pieces have several of these."""
        rows = self.loops.rows
        if rows is None:
            return self._steps({})
        turn = self.context.name("turn")
        row = constant(rows, Binary("+", Name(self.first[rows]), turn))
        left = Name(self.left[rows])
        return (counting(turn.identifier, left, (row, *self._steps({rows: turn})), uniform=True),)

    def _steps(self, at: Mapping[str, Expr]) -> tuple[KernelStmt, ...]:
        """The steps of a piece, in the loop over rows ``at`` such a turn of it."""
        split = self.loops.split.iterator
        z, left, depth = self.context.name("z"), Name(self.left[split]), Name(self.context.tile.depth)
        step = constant(split, Binary("+", Name(self.first[split]), z))
        rows: tuple[KernelStmt, ...] = ()
        loaded: set[int] = set()
        if self.fragments.is_unrolled:
            rows = self._fragments(self.loops.split.body, set(at), at, loaded)
        body, whole = (
            (step, *each._statements(self.loops.split.body, {*at, split}, {**at, split: z}, loaded))
            for each in (self, replace(self, cut=False))
        )
        if self.fragments.is_unrolled:
            # A question for each step: with one for four of them 3 x 3 x 3 windows took 1.13 times the time on an H200.
            guarded = (If(Binary("<", z, left), body, uniform=True),)
            some = counting(z.identifier, depth, guarded, unrolled=True, uniform=True)
        else:
            some = counting(z.identifier, left, body, uniform=True)
            # Reads of global memory of several steps are in flight together, as are fragments of those that are short:
            # a step waits for its own ones longer than its multiply-adds take.
            if not self.loops.uncached and not self._is_short:
                return (some,)
        every, every_whole = (
            (counting(z.identifier, depth, steps, unrolled=True, uniform=True),) for steps in (body, whole)
        )
        if self.loops.uncached:
            every = (If(self.context.is_whole(), every_whole, every, uniform=True),)
        return (*rows, If(Binary("<=", depth, left), every, (some,), uniform=True))

    @property
    def _is_short(self) -> bool:
        """Whether a step has no loops and few statements: with 16 sums a point steps took 1.5 times the time on an H200
        when those of a piece were unrolled."""
        return not self.loops.inner and len(self.loops.split.body) <= FEW_STATEMENTS

    def _statements(
        self, body: Sequence[Stmt], inside: Set[str], at: Mapping[str, Expr], loaded: Set[int]
    ) -> tuple[KernelStmt, ...]:
        """The statements for all points of a thread, in the loops that they are ``inside`` of; what is not ``loaded``
        is, as soon as it is known."""
        known = set(loaded)
        result = list(self._fragments(body, inside, at, known))
        jam = self._jam(scalars_of((*self.around.before, *self.loops.path[0].body)), self._of_step)
        for statement in body:
            match statement:
                case For(iterator=iterator):
                    within = {**at, iterator: Name(iterator)}
                    inner = self._statements(statement.body, {*inside, iterator}, within, known)
                    result.append(replace(statement, body=inner, unrolled=True, uniform=True))
                case Declare():
                    result += jam.declared(statement)
                case If():
                    under = replace(jam, reference=partial(self._of_step, always=False))
                    result += jam.at_points((under.one(statement),))
                case _:
                    result += jam.at_points((jam.one(statement),))
        return tuple(result)

    def _fragments(
        self, body: Sequence[Stmt], inside: Set[str], at: Mapping[str, Expr], loaded: set[int]
    ) -> tuple[KernelStmt, ...]:
        """Return the loads of what the statements read of boxes that is known in these loops, each group once."""
        read = set(elements_in(body))
        result: tuple[KernelStmt, ...] = ()
        for number, group in enumerate(self.boxes.groups):
            if number not in loaded and self.fragments.awaited(group) <= inside and read & set(group.offsets):
                loaded.add(number)
                result += self.fragments.fragment(number, at)
        return result
