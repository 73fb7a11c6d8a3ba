"""The kernel of points that go through rows several times: a block has a few rows, several threads a row.

::

    begin to copy the rows of the block to shared memory;  what comes before the loops, in all lanes
    for (j of the lane) most = max(most, row_a[j]);  parts[thread] = most;  a tree over the lanes of a row
    for (j of the lane) row_y[j] = expf(row_a[j] - most);  barrier
    the first lane:  for (j in order) sum += row_y[j];  sums[row] = sum;  barrier
    sum = sums[row];  for (j of the lane) y[point][j] = row_y[j] / sum

Neighbouring threads have neighbouring rows, so that those that walk along rows in order are lanes of one warp.  Rows
begin 32 / T0 banks apart: threads that read the same place of theirs find different banks, four elements at a time.
What one lane does in order reads ahead (`walk_ahead.py`).
Rows behind the last one are done as the last one is, but for its stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    EXPECTED,
    VECTOR,
    WIDTH,
    Alignment,
    Barrier,
    Comment,
    Commit,
    KernelStmt,
    SharedTile,
    StageRow,
)
from comprehensive.kernel_ir.terms import conjunction, constant, expression, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import Coordinate
from comprehensive.loops.traverse import all_names
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
from comprehensive.metafork.rewrite import map_expressions
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import elements_in, statements_in
from comprehensive.records import replace
from comprehensive.schedule.any_order import AnyOrder
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented
from comprehensive.schedule.meetings import Meetings, Use
from comprehensive.schedule.operands import has_steps, loops_beside, loops_of
from comprehensive.schedule.phases import (
    Ordered,
    Parallel,
    Phase,
    Pieces,
    Straight,
    in_order,
    is_store,
    names_read_after,
    scalars_told,
)
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.row_layout import ResidentRows, Row
from comprehensive.schedule.row_statements import RowStatements
from comprehensive.schedule.vector_steps import VectorSteps
from comprehensive.schedule.walk_ahead import MOST_AHEAD

BANKS = 32
MOST_ROWS = 8
"""Rows of a block, a power of two; that they begin 32 / T0 words apart leaves 16 bytes for each."""
MOST_LANES = 1024


@dataclass
class RowPhases:
    """The kernel of a tile, phase by phase."""

    context: TileContext
    resident: ResidentRows
    names: dict[str, str] = field(init=False, default_factory=dict[str, str])
    _name: Namer = field(init=False)
    _body: list[KernelStmt] = field(init=False, default_factory=list[KernelStmt])
    _meetings: Meetings = field(init=False)
    _statements: RowStatements = field(init=False)
    _vectors: VectorSteps = field(init=False)

    def __post_init__(self) -> None:
        context = self.context
        body = context.tile.alternatives[0].body
        taken = all_names(context.nest) | set(context.names.values()) | set(context.limits)
        taken |= {s.name for s in statements_in(body) if isinstance(s, Declare)} | set(self._temporaries)
        taken |= {s.iterator for s in statements_in(body) if isinstance(s, For)}
        taken |= {self._coordinate.name, *context.tile.sizes}
        self._name = Namer(taken)
        self._meetings = Meetings(self._body)
        self._vectors = VectorSteps(context, self._name)
        self._statements = RowStatements(context, self.resident, self._called, self._name)

    # --- sizes

    def kernel(self) -> TileKernel:
        """The kernel, whose threads along the last coordinate of a block share a point."""
        c, tile = self._coordinate, self.context.tile
        lanes, body, alignments = Name(tile.depth), self.body(), self._alignments()
        return TileKernel(
            body,
            (*tile.sizes, tile.depth, tile.stages),
            self._words(),
            self._constraints(),
            alignments,
            (4, 1) if alignments else (),
            block=(product([Name(c.threads), lanes]),),
            lanes=lanes,
            interleaved=True,
            step=lanes,
            shares_outermost=not loops_beside(self.context.nest, tile),
        )

    def _words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum((words for _, _, words in self._shared()), Polynomial.constant(0))

    def _constraints(self) -> tuple[Expr, ...]:
        """The conditions on sizes: a few rows, whose lanes can be halved, and places that vectors divide."""
        c, tile = self._coordinate, self.context.tile
        return (
            Binary("==", Binary("%", IntLiteral(MOST_ROWS), Name(c.threads)), ZERO),
            Binary("==", Name(c.each), ONE),
            Binary("==", Binary("%", IntLiteral(MOST_LANES), Name(tile.depth)), ZERO),
            Binary("==", Binary("%", Name(tile.stages), IntLiteral(MOST_AHEAD)), ZERO),
        )

    def _alignments(self) -> tuple[Alignment, ...]:
        """Return what accesses of 16 bytes in the :meth:`body` ask for: rows that begin at multiples of them."""
        found: dict[Alignment, None] = {}
        for row in self._staged:
            begin = row.first.subscripts[-1]
            found[Alignment(row.name, () if begin == ZERO else (begin,))] = None
        return (*found, *self._vectors.alignments())

    # --- names

    @property
    def _coordinate(self) -> Coordinate:
        (c,) = self.context.tile.coordinates
        return c

    @property
    def _temporaries(self) -> Mapping[str, ScalarType]:
        return self.resident.distribution.temporaries

    @property
    def _phases(self) -> tuple[Phase, ...]:
        return self.resident.distribution.phases

    @property
    def _staged(self) -> list[Row]:
        return [row for row in self.resident.rows.values() if row.is_staged]

    @property
    def _lanes(self) -> Name:
        return Name(self.context.tile.depth)

    def _called(self, what: str) -> str:
        """The name of something in the kernel, for instance of ``parts most 1``, where it is ``parts_most``."""
        if what not in self.names:
            self.names[what] = self._name("_".join(what.split()[:2]))
        return self.names[what]

    def _shared(self) -> list[tuple[str, ScalarType, Polynomial]]:
        """Return the parts of shared memory: the places of rows, parts of reductions, and what one lane tells all.

        Wide elements come first, so that every part is aligned.
        """
        tile, rows = self.context.tile, Polynomial.symbol(self._coordinate.threads)
        row = Polynomial.symbol(tile.stages)
        found = [
            (
                f"slot {slot}",
                ScalarType.FLOAT,
                (row if one.of_block else rows * row + BANKS) * words_per_element(one.type),
            )
            for slot, one in enumerate(self.resident.slots)
        ]
        more: list[tuple[str, ScalarType, Polynomial]] = []
        for number, phase in enumerate(self._phases):
            match phase:
                case Parallel(_, merged):
                    lanes = rows * Polynomial.symbol(tile.depth)
                    more += [(f"parts {m.name} {number}", m.type, lanes) for m in merged]
                case Ordered() | Pieces():
                    if isinstance(phase, Pieces):
                        lanes = rows * Polynomial.symbol(tile.depth)
                        more += [(f"parts {m.name} {number}", m.type, lanes) for m in phase.lanes.merged]
                    more += [
                        (f"told {s} {number}", type, rows)
                        for s, type in scalars_told(self._phases, number).items()
                    ]
                case Straight():
                    pass
        more.sort(key=lambda each: -each[1].size_bytes)
        return [*found, *((key, type, size * words_per_element(type)) for key, type, size in more)]

    def _offset(self, key: str) -> Expr:
        offset = Polynomial.constant(0)
        for each, _, words in self._shared():
            if each == key:
                break
            offset = offset + words
        tile = self.context.tile
        return expression(offset, (*tile.sizes, tile.depth, tile.stages))

    # --- the kernel

    def body(self) -> tuple[KernelStmt, ...]:
        """Return the statements of the kernel behind those that place blocks and threads."""
        context, c = self.context, self._coordinate
        point, limit = context.name("point"), context.limit(0)
        last = Binary("-", limit, ONE)
        self._body += self._tiles()
        self._body += [
            constant(point.identifier, Binary("+", context.name("o0"), context.name("t0"))),
            constant(c.name, Conditional(Binary("<", point, limit), point, last)),
        ]
        self._stage()
        for number, phase in enumerate(self._phases):
            match phase:
                case Straight(statement):
                    self._meetings.use(self.resident.uses(number))
                    self._body += self._straight(statement)
                case Parallel():
                    self._parallel(number, phase)
                case Ordered():
                    self._ordered(number, phase)
                case Pieces():
                    self._in_pieces(number, phase)
        return tuple(self._body)

    def _tiles(self) -> Iterator[KernelStmt]:
        tile, thread = self.context.tile, self.context.name("t0")
        for row in self.resident.rows.values():
            pitch = Binary(
                "+", Name(tile.stages), Binary("/", IntLiteral(BANKS), Name(self._coordinate.threads))
            )
            words = words_per_element(row.type)
            begin = self._offset(f"slot {row.slot}")
            if not row.of_block:
                begin = plus(
                    begin, product([thread, pitch] if words == 1 else [IntLiteral(words), thread, pitch])
                )
            yield SharedTile(self._statements.row_name(row), row.type, begin, row.first.array)
        for key, type, _ in self._shared():
            if not key.startswith("slot"):
                yield SharedTile(self._called(key), type, self._offset(key))

    def _stage(self) -> None:
        copied: list[Use] = []
        if self._staged:
            arrays = dict.fromkeys(self.resident.references.storage(row.name) for row in self._staged)
            self._body.append(Comment(f"stage({', '.join(arrays)}): whole rows into shared memory"))
        for row in self._staged:
            source = self.context.flat(row.first)
            assert isinstance(source, Index)
            self._body.append(
                StageRow(
                    Name(self._statements.row_name(row)),
                    row.type,
                    source,
                    self._limit(row.count),
                    Name("threadIdx.x") if row.of_block else self.context.name("lane"),
                    product([Name(self._coordinate.threads), self._lanes]) if row.of_block else self._lanes,
                    Binary("==", Name(WIDTH), IntLiteral(VECTOR)),
                )
            )
            copied.append(Use(row.slot, None, writes=True))
        if self._staged:
            self._body.append(Commit())
            self._meetings.copies(copied)

    def _limit(self, bound: Expr) -> Expr:
        """Return the kernel's expression for the bound of a loop: the limit of the first one, plus or minus a
        number."""
        (first, *_) = loops_of(self.context.nest, self.context.tile)
        more = self.resident.references.difference(bound, first.bound)
        limit = self.context.limit(1)
        return bound if more is None else fold(Binary("-" if more < 0 else "+", limit, IntLiteral(abs(more))))

    # --- what is beside the loops

    def _straight(self, statement: Stmt) -> tuple[Stmt, ...]:
        done = self._statements.beside(statement)
        is_one = conjunction([self._is_first, self._statements.is_there])
        return (If(is_one, done),) if is_store(statement) else done

    @property
    def _is_first(self) -> Expr:
        return Binary("==", self.context.name("lane"), ZERO)

    def _comment(self, body: Sequence[Stmt], does: str) -> Comment:
        """The comment on a phase, with the data that it reads and assigns."""
        data = [e.array for e in elements_in(body) if self.resident.references.is_data(e.array)]
        return commented(self.context, "distribute", data, does)

    # --- loops that all lanes share

    def _parallel(self, number: int, phase: Parallel) -> None:
        self._meetings.use(self.resident.uses(number))
        does = f"the lanes of a row share the steps of {phase.loop.shown}"
        self._body.append(self._comment(phase.loop.body, does))
        self._begin(phase)
        limit = self._limit(phase.loop.bound)
        self._body.append(self._shared_loop(number, phase.loop, self.context.name("lane"), limit))
        if phase.merged:
            self._tree(number, phase)

    def _begin(self, phase: Parallel) -> None:
        """Let all lanes but the first one begin with what changes nothing of what is put together."""
        for merged in phase.merged:
            if merged.zeros:
                old = Name(self._called(f"{merged.name} before"))
                self._body.append(Declare(merged.type, old.identifier, initial=Name(merged.name), const=True))
            if merged.operator.neutral is not None:
                neutral = Assign(Name(merged.name), "=", IntLiteral(merged.operator.neutral))
                self._body.append(If(Binary("!=", self.context.name("lane"), ZERO), (neutral,)))

    def _shared_loop(
        self, number: int, loop: For, first: Expr, limit: Expr, place: Expr | None = None
    ) -> Stmt:
        """A loop of which each lane does every so many steps, from ``first`` on.

        Where a row that is not there does nothing in it, it leaves the loop out: around each step the condition keeps
        the compiler from loading for several steps at once (layer norm on an H200: 186 us, and 171 around the loop).
        """
        statements, is_there = self._statements, self._statements.is_there
        steps = [
            each
            for time, statement in enumerate(loop.body)
            for step in statements.step(number, time, statement, loop, place=place)
            for each in (self._vectors.of(step) if isinstance(step, For) else (step,))
        ]
        guarded = [s for s in steps if isinstance(s, If) and s.condition == is_there and not s.otherwise]
        is_guarded = bool(guarded) and all(isinstance(s, Declare) or s in guarded for s in steps)
        inner = tuple(
            each
            for s in steps
            for each in (s.then if is_guarded and isinstance(s, If) and s in guarded else (s,))
        )
        shared: Stmt = For(ScalarType.INT, loop.iterator, first, "<", limit, self._lanes, inner, loop.span)
        return If(is_there, (shared,)) if is_guarded else shared

    def _tree(self, number: int, phase: Parallel) -> None:
        """Put together what the lanes of a row have: pairs, pairs of pairs, and so on."""
        context, rows = self.context, Name(self._coordinate.threads)
        reach, thread = context.name("reach"), Name("threadIdx.x")
        parts = {m.name: self._called(f"parts {m.name} {number}") for m in phase.merged}
        other = Binary("+", thread, product([reach, rows]))
        pair = Binary("%", context.name("lane"), product([IntLiteral(2), reach]))
        put = tuple(
            m.update(Index(parts[m.name], (thread,)), Index(parts[m.name], (other,))) for m in phase.merged
        )
        self._body += [Assign(Index(parts[m.name], (thread,)), "=", Name(m.name)) for m in phase.merged]
        self._meetings.meet()
        level = (If(Binary("==", pair, ZERO), put), Barrier())
        self._body.append(
            For(ScalarType.INT, reach.identifier, ONE, "<", self._lanes, reach, level, uniform=True)
        )
        for m in phase.merged:
            self._body += self._put_together(number, phase.loop, m, parts[m.name])
        if any(m.zeros for m in phase.merged):
            # Every lane may have walked along the row.
            self._meetings.since([replace(use, by=None) for use in self.resident.uses(number)])

    def _put_together(self, number: int, loop: For, merged: AnyOrder, parts: str) -> Iterator[Stmt]:
        value: Stmt = Assign(Name(merged.name), "=", Index(parts, (self.context.name("t0"),)))
        limit = self._limit(loop.bound)
        # A loop without steps makes no 1 of 5.
        yield If(has_steps(limit), (value,)) if merged.operator.is_logical else value
        if merged.zeros:
            # Of zeros with different signs the first one is the greatest, and the least.
            again = Assign(Name(merged.name), "=", Name(self._called(f"{merged.name} before")))
            steps = tuple(self._statements.read(s, loop) for s in merged.steps)
            walk = For(ScalarType.INT, loop.iterator, ZERO, "<", limit, ONE, steps, loop.span)
            is_zero = Binary("==", Name(merged.name), ZERO)
            yield If(Call(EXPECTED, (is_zero, ZERO)), (again, walk))

    # --- loops in order

    def _ordered(self, number: int, phase: Ordered) -> None:
        self._meetings.use(self.resident.uses(number))
        hoisted: list[Stmt] = []
        body: list[Stmt] = []
        time = 0
        for statement in phase.body:
            match statement:
                case For():
                    body += self._statements.walk(number, time, statement, self._limit(statement.bound))
                    time += len(statement.body)
                    continue
                case Declare() if statement.name in names_read_after(self._phases, number):
                    hoisted.append(Declare(statement.type, statement.name))
                    if statement.initial is not None:
                        first = Assign(Name(statement.name), "=", statement.initial, statement.span)
                        body += map_expressions((first,), self.context.flat)
                case _ if is_store(statement):
                    body.append(If(self._statements.is_there, self._statements.beside(statement)))
                case _:
                    body += map_expressions((statement,), self.context.flat)
            time += 1
        self._body += hoisted
        self._body.append(self._comment(phase.body, "what has an order, by one lane of a row"))
        self._tell(number, body)
        self._copy_back(number, phase)

    def _tell(self, number: int, body: Sequence[Stmt]) -> None:
        """Let the first lane do statements, and tell the others what they have to know."""
        place = self.context.name("t0")
        told = scalars_told(self._phases, number)
        cells = {name: Index(self._called(f"told {name} {number}"), (place,)) for name in told}
        stores = tuple(Assign(cell, "=", Name(name)) for name, cell in cells.items())
        if body or stores:
            self._body.append(If(self._is_first, (*body, *stores)))
        if told:
            self._meetings.meet()
            self._body += [Assign(Name(name), "=", cell) for name, cell in cells.items()]

    def _in_pieces(self, number: int, phase: Pieces) -> None:
        """A loop of which all lanes do some steps, and then the first of them what has an order in these."""
        lanes, chain, context = phase.lanes, phase.chain, self.context
        self._meetings.use(self.resident.uses(number))
        base, count, within = (context.name(name) for name in ("base", "count", "within"))
        limit, most = self._limit(chain.bound), Name(context.tile.stages)
        left = Binary("-", limit, base)
        until = Binary("+", base, count)
        does = f"some steps of {chain.shown} by all lanes of a row, then in order by one"
        self._body.append(self._comment((lanes.loop, chain), does))
        self._begin(lanes)
        shared = self._shared_loop(
            number,
            lanes.loop,
            Binary("+", base, context.name("lane")),
            until,
            Binary("-", Name(chain.iterator), base),
        )
        walk = self._statements.walk(number, len(lanes.loop.body), chain, count, (base, within))
        turn = (
            constant(count.identifier, Conditional(Binary("<", left, most), left, most)),
            shared,
            Barrier(),
            If(self._is_first, tuple(walk)),
            Barrier(),
        )
        self._body.append(
            For(ScalarType.INT, base.identifier, ZERO, "<", limit, most, turn, chain.span, uniform=True)
        )
        if lanes.merged:
            self._tree(number, lanes)
        self._tell(number, ())

    def _copy_back(self, number: int, phase: Ordered) -> None:
        """Store the rows that one lane has assigned, by all lanes."""
        done: set[tuple[Index, Expr]] = set()
        for _, statement, loop in in_order(phase):
            if not (isinstance(statement, Assign) and isinstance(statement.target, Index)) or loop is None:
                continue
            target = statement.target
            found = self.resident.row_of(target, loop)
            if found is None or (target, loop.bound) in done:
                continue
            done.add((target, loop.bound))
            if not self.resident.is_stored(target, loop, number):
                continue
            row, behind = found
            self._meetings.use([Use(row.slot, Polynomial.constant(behind), writes=False)])
            memory = self.context.flat(target)
            assert isinstance(memory, Index)
            value = self._statements.element(row, Name(loop.iterator), behind)
            store = If(self._statements.is_there, (Assign(memory, "=", value),))
            lane, limit = self.context.name("lane"), self._limit(loop.bound)
            self._body.append(
                For(ScalarType.INT, loop.iterator, lane, "<", limit, self._lanes, (store,), loop.span)
            )
