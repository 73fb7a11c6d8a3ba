"""Points with serial loops in each other: what a block reads goes through shared memory in boxes, several in flight.

In: a context and the loops of a point.  Out: the statements of the kernel::

    all points: sum = 0;  begin to copy the boxes of S - 1 steps
    for each piece of D steps of the split loop, in the loops around it:
        await its boxes, barrier, begin to copy those S - 1 pieces ahead
        for its steps, for y < 3:  a row of in for all points and all x, in registers
            for x < 3:  a row of k for all points;  all points: sum += in[..] * k[..]
    all points inside of the limits: out[y0][y1][y2] = sum

Every sum keeps its order, so that the result is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from comprehensive.kernel_ir.kernel import (
    EXPECTED,
    VECTOR,
    Alignment,
    Await,
    Barrier,
    Commit,
    KernelStmt,
    VectorStore,
)
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import conjunction, constant, counting, least, plus
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.rewrite import substitute
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
from comprehensive.metafork.rewrite import map_expression, map_expressions, with_operands
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.bounded_reads import without_bounds
from comprehensive.schedule.box_nest import LoopNest
from comprehensive.schedule.boxes import FOUR, Boxes
from comprehensive.schedule.context import OF_ARRAYS, ONE, ZERO, TileContext
from comprehensive.schedule.fragments import Fragments
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reference_groups import loop_nest, stored_by
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of


def box_kernel(context: TileContext) -> TileKernel:
    """The kernel of points whose loops read boxes."""
    tile = context.tile
    loops = loop_nest(context.nest, tile)
    made = BoxLoop.of(context, loops)
    alignments = made.alignments()
    return TileKernel(
        made.body(),
        (*tile.sizes, tile.depth, tile.stages),
        made.boxes.words(),
        made.boxes.demands(),
        alignments,
        (4, 2, 1) if alignments else (),
        extents=tuple(loop.bound for loop in loops.path) if made.around.is_loop_alone else (),
        step=Name(tile.depth),
    )


@dataclass(frozen=True, slots=True)
class BoxLoop:
    context: TileContext
    loops: LoopNest
    boxes: Boxes
    around: AroundLoop
    first: str
    """The first step of a piece."""
    left: str
    """The steps of a piece."""
    ahead: Mapping[str, str]
    """The names of the iterators of the loops for the boxes to be copied next."""
    cut: bool = True
    """Whether the limits may cut the tile: points outside of them take part in the steps."""

    @staticmethod
    def of(context: TileContext, loops: LoopNest) -> BoxLoop:
        names = (
            {a.name for a in context.nest.arrays}
            | {s.name for s in context.nest.scalars}
            | set(context.limits)
        )
        names |= {c.name for c in (*context.tile.coordinates, *context.tile.batch)} | set(context.tile.sizes)
        names |= {context.tile.depth, context.tile.stages, context.tile.blocks}
        statements = list(statements_in(context.tile.alternatives[0].body))
        names |= {s.name for s in statements if isinstance(s, Declare)}
        names |= {s.iterator for s in statements if isinstance(s, For)}
        names |= {p.name for a in context.nest.arrays for p in context.strides[a.name]}
        of_arrays = {
            f"{base}_{a.name}" for base in OF_ARRAYS if base != "private" for a in context.nest.arrays
        }
        names |= {name for base, name in context.names.items() if base not in of_arrays}
        name = Namer(names)
        first = len(context.tile.coordinates)
        limits = tuple(context.limit(first + n) for n in range(len(loops.path)))
        return BoxLoop(
            context,
            loops,
            Boxes.of(context, loops, name),
            AroundLoop(context, loops.before, loops.after, loops.held, limits),
            name(f"{loops.split.iterator}_first"),
            name(f"{loops.split.iterator}_left"),
            {loop.iterator: name(f"{loop.iterator}_ahead") for loop in loops.path},
        )

    @property
    def fragments(self) -> Fragments:
        return Fragments(self.boxes)

    def body(self) -> tuple[KernelStmt, ...]:
        """The kernel after the places of blocks and threads."""
        around = self.around
        jam = self._jam(scalars_of((*around.before, *around.after)), self._of_registers)
        return (
            *self.boxes.tiles(),
            self._thread(),
            *self.boxes.counts(),
            *(part for pair in zip(self.boxes.comments(), self.boxes.feeds(), strict=True) for part in pair),
            *around.comments(),
            *around.loaded(jam),
            *self._begun_points(jam),
            *self._first_pieces(),
            *self._loop(0),
            *self._stored(jam),
        )

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
        elements = [e for s in reference.subscripts for e in subexpressions(s) if isinstance(e, Index)]
        computed = frozenset[str]().union(*map(names_read, elements))
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

    def _begun_points(self, jam: UnrollAndJam) -> tuple[Stmt, ...]:
        """Return the statements before the loops; those that are alike for all points need not be inside the limits."""
        scalars = {s.name for s in self.context.nest.scalars}
        declared = [s for s in self.around.before if isinstance(s, Declare) and s.initial is not None]
        if len(declared) < len(self.around.before) or any(
            not names_read(s.initial) <= scalars for s in declared if s.initial is not None
        ):
            return self.around.begun(jam)
        return tuple(statement for s in declared for statement in jam.declared(s))

    def _thread(self) -> Stmt:
        number: Expr = self.context.name("t0")
        for n, c in list(enumerate(self.context.tile.coordinates))[1:]:
            number = Binary("+", Binary("*", number, Name(c.threads)), self.context.name(f"t{n}"))
        return constant(self.context.names["thread"], number)

    # --- the pipeline

    def _first_pieces(self) -> tuple[KernelStmt, ...]:
        stages, ahead = Name(self.context.tile.stages), self.context.name("ahead")
        started = tuple(Declare(ScalarType.INT, name, initial=ZERO) for name in self.ahead.values())
        count = Binary("-", stages, ONE)
        pieces = counting(ahead.identifier, count, self._begun(ahead), unrolled=True, uniform=True)
        slot = Declare(ScalarType.INT, self.context.names["slot"], initial=ZERO)
        return (*started, pieces, slot)

    def _begun(self, slot: Expr) -> tuple[KernelStmt, ...]:
        """The boxes of the next piece, if there is one, are begun to be copied to a slot."""
        at = {iterator: Name(name) for iterator, name in self.ahead.items()}
        inside = conjunction(
            [Binary("<", value, limit) for value, limit in zip(at.values(), self.around.limits, strict=True)]
        )
        return (
            If(
                inside,
                (
                    constant(self.left, self._left(at[self.loops.split.iterator])),
                    *self.boxes.stages(slot, at, Name(self.left)),
                    *self._advanced(),
                ),
                uniform=True,
            ),
            Commit(),
        )

    def _left(self, first: Expr) -> Expr:
        """Return how many steps a piece has."""
        return least(Binary("-", self.around.limits[-1], first), Name(self.context.tile.depth))

    def _advanced(self) -> tuple[Stmt, ...]:
        """The iterators of the next piece."""
        *outer, last = (Name(name) for name in self.ahead.values())
        done: tuple[Stmt, ...] = ()
        limits = list(self.around.limits)
        for n, name in enumerate(outer):
            inner = [*outer, last][n + 1]
            carried = (Assign(inner, "=", ZERO), Assign(name, "+=", ONE), *done)
            done = (If(Binary("<=", limits[n + 1], inner), carried),)
        return (Assign(last, "+=", Name(self.context.tile.depth)), *done)

    def _loop(self, level: int) -> tuple[KernelStmt, ...]:
        loop, limit = self.loops.path[level], self.around.limits[level]
        if loop is self.loops.split:
            depth = Name(self.context.tile.depth)
            return (replace(counting(self.first, limit, self._piece(), uniform=True), step=depth),)
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
            constant(self.left, self._left(Name(self.first))),
            *self.boxes.begins(slot),
            *self._steps_within_bounds(),
            Assign(slot, "=", Conditional(Binary("==", behind, stages), ZERO, behind)),
        )

    # --- the steps of a piece

    def _steps_within_bounds(self) -> tuple[KernelStmt, ...]:
        """The steps; where no bound cuts the boxes of the piece, without the comparisons that these are."""
        bounding = self.loops.bounding
        if not bounding:
            return self._steps()
        split = self.loops.split
        body = map_expressions(split.body, lambda expr: without_bounds(expr, bounding))
        inside = replace(
            self, loops=replace(self.loops, path=(*self.loops.path[:-1], replace(split, body=body)))
        )
        at = {loop.iterator: Name(loop.iterator) for loop in self.loops.path[:-1]}
        clear = self.boxes.is_clear({**at, split.iterator: Name(self.first)}, Name(self.left))
        usual = Call(EXPECTED, (clear, ONE))
        return (If(usual, inside._steps(), self._steps(), uniform=True),)

    def _steps(self) -> tuple[KernelStmt, ...]:
        z, left, depth = self.context.name("z"), Name(self.left), Name(self.context.tile.depth)
        split = self.loops.split.iterator
        step = constant(split, Binary("+", Name(self.first), z))
        rows: tuple[KernelStmt, ...] = ()
        loaded: set[int] = set()
        if self.fragments.is_unrolled:
            rows = self._fragments(self.loops.split.body, set(), {}, loaded)
        body, whole = (
            (step, *each._statements(self.loops.split.body, {split}, {split: z}, loaded))
            for each in (self, replace(self, cut=False))
        )
        if self.fragments.is_unrolled:
            guarded = (If(Binary("<", z, left), body, uniform=True),)
            some = counting(z.identifier, depth, guarded, unrolled=True, uniform=True)
        else:
            some = counting(z.identifier, left, body, uniform=True)
            # Reads of global memory of several steps are in flight together.
            if not self.loops.uncached:
                return (some,)
        every, every_whole = (
            (counting(z.identifier, depth, steps, unrolled=True, uniform=True),) for steps in (body, whole)
        )
        if self.loops.uncached:
            every = (If(self.context.is_whole(), every_whole, every, uniform=True),)
        return (*rows, If(Binary("<=", depth, left), every, (some,), uniform=True))

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
        read = {e for x in expressions_in(tuple(body)) for e in subexpressions(x) if isinstance(e, Index)}
        result: tuple[KernelStmt, ...] = ()
        for number, group in enumerate(self.boxes.groups):
            if number not in loaded and self.fragments.awaited(group) <= inside and read & set(group.offsets):
                loaded.add(number)
                result += self.fragments.fragment(number, at)
        return result

    # --- stores

    def alignments(self) -> tuple[Alignment, ...]:
        """Return the alignments that copies and stores of several elements ask for."""
        found = {a.array: a for a in self.boxes.alignments()}
        for target in self._values() or {}:
            found.setdefault(target.array, Alignment(target.array, ()))
        return tuple(found.values())

    def _values(self) -> dict[Index, Expr] | None:
        """Return the values that a point stores behind its loops, by element, each once and from scalars.

        None where four neighbouring points do not store neighbours.
        """
        last = len(self.context.tile.coordinates) - 1
        if not self.boxes.is_contiguous(last) or (self.loops.held and not self.around.is_loop_alone):
            return None
        found: dict[Index, Expr] = {}
        arrays = {a.name for a in self.context.nest.arrays}
        for e in expressions_in(self.around.after):
            if any(isinstance(part, Index) and part.array in arrays for part in subexpressions(e)):
                return None
        for statement in self.around.after:
            if isinstance(statement, Assign) and isinstance(statement.target, Index):
                if statement.operator != "=" or statement.target in found:
                    return None
                found[statement.target] = statement.value
        found |= {target: self.around.private(array) for array, target in self.loops.held.items()}
        is_once = len({target.array for target in found}) == len(found)
        return found if found and is_once and all(map(self._is_along_row, found)) else None

    def _is_along_row(self, target: Index) -> bool:
        """Whether an element lies along the last coordinate, on a row that begins where rows of the array do."""
        ring, name = Ring(), self.context.tile.coordinates[-1].name
        *outer, last = (ring.read(s) for s in target.subscripts)
        return last == ring.read(Name(name)) and not any(name in ring.names_in(value) for value in outer)

    def _stored(self, jam: UnrollAndJam) -> tuple[KernelStmt, ...]:
        values = self._values()
        if values is None:
            return self.around.stored(jam)
        *rows, last = range(len(self.context.tile.coordinates))
        again, ends = self.around.behind(jam)
        body = self._vectors_of_row(ends, last, values)
        for n in reversed(rows):
            c = self.context.tile.coordinates[n]
            place = constant(c.name, Binary("+", self.context.name(f"e{n}"), self.boxes.place_of(n)))
            row = (place, If(self.context.inside()[n], body))
            body = (counting(self.context.names[f"r{n}"], Name(c.each), row, unrolled=True, uniform=True),)
        return (*again, *body)

    def _vectors_of_row(
        self, ends: UnrollAndJam, last: int, values: Mapping[Index, Expr]
    ) -> tuple[KernelStmt, ...]:
        """Return the stores along the last coordinate, four points at a time."""
        context, c = self.context, self.context.tile.coordinates[last]
        vector, point, first = (context.name(base) for base in ("vector", "point", "first"))
        number = Binary("*", FOUR, vector)
        held = {t: Index(context.names[f"value_{t.array}"], (point,)) for t in values}
        declared = [
            Declare(context.nest.array(t.array).type, kept.array, (FOUR,)) for t, kept in held.items()
        ]
        at_point = (
            constant(context.names[f"r{last}"], plus(number, point)),
            constant(c.name, Binary("+", first, point)),
            *(ends.one(s) for s in self.around.after if stored_by(s) is None),
            *(Assign(kept, "=", ends.value(values[target])) for target, kept in held.items()),
        )
        whole = Binary("<=", Binary("+", first, FOUR), context.limit(last))
        vectors = tuple(
            VectorStore(self._element(t, 0), Index(kept.array, (ZERO,))) for t, kept in held.items()
        )
        single = tuple(
            If(
                Binary("<", plus(first, IntLiteral(n)), context.limit(last)),
                tuple(
                    Assign(self._element(t, n), "=", Index(k.array, (IntLiteral(n),)))
                    for t, k in held.items()
                ),
            )
            for n in range(VECTOR)
        )
        begin = constant(
            first.identifier, Binary("+", context.name(f"e{last}"), self.boxes.place(last, number))
        )
        body = (
            begin,
            *declared,
            counting(point.identifier, FOUR, at_point, unrolled=True),
            If(whole, vectors, single),
        )
        count = Binary("/", Name(c.each), FOUR)
        return (counting(vector.identifier, count, body, unrolled=True, uniform=True),)

    def _element(self, target: Index, behind: int) -> Index:
        """The element of the point so many behind the first one of a vector."""
        at = {self.context.tile.coordinates[-1].name: plus(self.context.name("first"), IntLiteral(behind))}
        moved = tuple(substitute(subscript, at) for subscript in target.subscripts)
        return flat(Index(target.array, moved), self.context.strides)
