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
from dataclasses import dataclass, field, replace
from functools import partial

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    EXPECTED,
    TOGETHER,
    VECTOR,
    Alignment,
    Barrier,
    Comment,
    Commit,
    KernelStmt,
    SharedTile,
    StageRow,
)
from comprehensive.kernel_ir.terms import conjunction, constant, expression, plus, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.ir import Coordinate
from comprehensive.loops.rewrite import all_names, fold
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
from comprehensive.metafork.rewrite import map_expressions, with_operands
from comprehensive.metafork.walk import statements_in
from comprehensive.schedule.any_order import AnyOrder
from comprehensive.schedule.context import ONE, ZERO, TileContext
from comprehensive.schedule.distribute import (
    Ordered,
    Parallel,
    Phase,
    Straight,
    in_order,
    names_read_after,
    row_loops,
    scalars_told,
)
from comprehensive.schedule.meetings import Meetings, Use
from comprehensive.schedule.operands import has_steps, loops_of
from comprehensive.schedule.resident_rows import ResidentRows, Row
from comprehensive.schedule.row_references import accesses
from comprehensive.schedule.walk_ahead import AHEAD, ReadAhead, walk_ahead

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

    def __post_init__(self) -> None:
        context = self.context
        body = context.tile.alternatives[0].body
        taken = all_names(context.nest) | set(context.names.values()) | set(context.limits)
        taken |= {s.name for s in statements_in(body) if isinstance(s, Declare)} | set(self._temporaries)
        taken |= {loop.iterator for loop in row_loops(body)} | {self._coordinate.name, *context.tile.sizes}
        self._name = Namer(taken)
        self._meetings = Meetings(self._body)

    # --- sizes

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum((words for _, _, words in self._shared()), Polynomial.constant(0))

    def demands(self) -> tuple[Expr, ...]:
        """The conditions on sizes: a few rows, whose lanes can be halved, and places that vectors divide."""
        c, tile = self._coordinate, self.context.tile
        return (
            Binary("==", Binary("%", IntLiteral(MOST_ROWS), Name(c.threads)), ZERO),
            Binary("==", Name(c.each), ONE),
            Binary("==", Binary("%", IntLiteral(MOST_LANES), Name(tile.depth)), ZERO),
            Binary("==", Binary("%", Name(tile.stages), IntLiteral(AHEAD)), ZERO),
        )

    def alignments(self) -> tuple[Alignment, ...]:
        """Copies of 16 bytes ask for rows that begin at multiples of them."""
        found: dict[Alignment, None] = {}
        for row in self._staged:
            begin = row.first.subscripts[-1]
            found[Alignment(row.name, () if begin == ZERO else (begin,))] = None
        return tuple(found)

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

    def _row_name(self, row: Row) -> str:
        return self._called(f"row {self.resident.references.storage(row.name)} {row.first} {row.slot}")

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
                case Ordered():
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
            yield SharedTile(self._row_name(row), row.type, begin, row.first.array)
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
                    Name(self._row_name(row)),
                    row.type,
                    source,
                    self._limit(row.count),
                    Name("threadIdx.x") if row.of_block else self.context.name("lane"),
                    product([Name(self._coordinate.threads), self._lanes]) if row.of_block else self._lanes,
                    Binary("==", Name(TOGETHER), IntLiteral(VECTOR)),
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

    def _straight(self, statement: Declare | Assign) -> tuple[Stmt, ...]:
        match statement:
            case Assign(target=Index() as target, value=value):
                target, value = self.context.flat(target), self.context.flat(value)
                assert isinstance(target, Index)
                store = replace(statement, target=target, value=value)
                return (If(conjunction([self._is_first, self._is_there]), (store,)),)
            case Declare() | Assign():
                return map_expressions((statement,), self.context.flat)

    @property
    def _is_first(self) -> Expr:
        return Binary("==", self.context.name("lane"), ZERO)

    @property
    def _is_there(self) -> Expr:
        return Binary("<", self.context.name("point"), self.context.limit(0))

    # --- loops that all lanes share

    def _parallel(self, number: int, phase: Parallel) -> None:
        self._meetings.use(self.resident.uses(number))
        self._body.append(Comment(f"distribute({phase.loop.iterator}): the lanes of a row share the steps"))
        before: list[Stmt] = []
        for merged in phase.merged:
            if merged.zeros:
                old = Name(self._called(f"{merged.name} before"))
                before.append(Declare(merged.type, old.identifier, initial=Name(merged.name), const=True))
            if merged.operator.neutral is not None:
                neutral = Assign(Name(merged.name), "=", IntLiteral(merged.operator.neutral))
                before.append(If(Binary("!=", self.context.name("lane"), ZERO), (neutral,)))
        self._body += [*before, self._shared_loop(number, phase.loop, phase.loop.body)]
        if phase.merged:
            self._tree(number, phase)

    def _shared_loop(self, number: int, loop: For, body: Sequence[Stmt]) -> Stmt:
        """A loop of which each lane does every so many steps.

        Where a row that is not there does nothing in it, it leaves the loop out: around each step the condition keeps
        the compiler from loading for several steps at once (layer norm on an H200: 186 us, and 171 around the loop).
        """
        steps = [
            each for time, statement in enumerate(body) for each in self._step(number, time, statement, loop)
        ]
        guarded = [
            s.then for s in steps if isinstance(s, If) and s.condition == self._is_there and not s.otherwise
        ]
        is_guarded = len(guarded) == len(steps)
        inner = tuple(s for then in guarded for s in then) if is_guarded else tuple(steps)
        lane, limit = self.context.name("lane"), self._limit(loop.bound)
        shared: Stmt = For(ScalarType.INT, loop.iterator, lane, "<", limit, self._lanes, inner, loop.span)
        return If(self._is_there, (shared,)) if is_guarded else shared

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
            steps = tuple(self._read(s, loop) for s in merged.steps)
            walk = For(ScalarType.INT, loop.iterator, ZERO, "<", limit, ONE, steps, loop.span)
            is_zero = Binary("==", Name(merged.name), ZERO)
            yield If(Call(EXPECTED, (is_zero, ZERO)), (again, walk))

    # --- statements of loops

    def _read(self, statement: Stmt, loop: For, ahead: Mapping[str, Index] | None = None) -> Stmt:
        """The statement with what it reads where that is; rows that are read ``ahead`` in registers."""

        def replaced(e: Expr) -> Expr:
            found = self.resident.row_of(e, loop) if isinstance(e, Index) else None
            if found is None:
                return self.context.flat_element(with_operands(e, replaced))
            row, behind = found
            if ahead is not None and (key := self._row_key(row, behind)) in ahead:
                return ahead[key]
            return self._element(row, Name(loop.iterator), behind)

        (result,) = map_expressions((statement,), replaced)
        return result

    def _row_key(self, row: Row, behind: int) -> str:
        return f"{self._row_name(row)} {behind}"

    def _element(self, row: Row, number: Expr, behind: int) -> Index:
        return Index(self._row_name(row), (plus(number, IntLiteral(behind)),))

    def _step(
        self, number: int, time: int, statement: Stmt, loop: For, ahead: Mapping[str, Index] | None = None
    ) -> tuple[Stmt, ...]:
        """A statement of a loop, with its stores to the row, to memory, or to both."""
        read = self._read(statement, loop, ahead)
        if not (
            isinstance(read, Assign) and isinstance(statement, Assign) and isinstance(statement.target, Index)
        ):
            return (read,)
        target = statement.target
        found = self.resident.row_of(target, loop)
        is_ordered = isinstance(self._phases[number], Ordered)
        memory, value = self.context.flat(target), read.value
        assert isinstance(memory, Index)
        if found is None:
            return (If(self._is_there, (replace(read, target=memory),)),)
        row, behind = found
        element = self._element(row, Name(loop.iterator), behind)
        if statement.operator != "=":
            value = Binary(statement.operator[:-1], element, value)
        is_kept = self.resident.is_kept(target, loop, number, time)
        is_stored = not is_ordered and self.resident.is_stored(target, loop, number)
        store = replace(read, target=element, operator="=", value=value)
        if not is_stored:
            return (store,)
        if is_kept:
            return (store, If(self._is_there, (Assign(memory, "=", element),)))
        return (If(self._is_there, (replace(store, target=memory),)),)

    # --- loops in order

    def _ordered(self, number: int, phase: Ordered) -> None:
        told = scalars_told(self._phases, number)
        self._meetings.use(self.resident.uses(number))
        hoisted: list[Stmt] = []
        body: list[Stmt] = []
        time = 0
        for statement in phase.body:
            match statement:
                case For():
                    body += self._walk(number, time, statement)
                    time += len(statement.body)
                    continue
                case Declare() if statement.name in names_read_after(self._phases, number):
                    hoisted.append(Declare(statement.type, statement.name))
                    if statement.initial is not None:
                        first = Assign(Name(statement.name), "=", statement.initial, statement.span)
                        body += map_expressions((first,), self.context.flat)
                case Assign(target=Index()):
                    store = self._straight(statement)[0]
                    assert isinstance(store, If)
                    body.append(replace(store, condition=self._is_there))
                case _:
                    body += map_expressions((statement,), self.context.flat)
            time += 1
        place = self.context.name("t0")
        cells = {name: Index(self._called(f"told {name} {number}"), (place,)) for name in told}
        body += [Assign(cell, "=", Name(name)) for name, cell in cells.items()]
        self._body += hoisted
        self._body.append(Comment("distribute: what has an order, by one lane of a row"))
        self._body.append(If(self._is_first, tuple(body)))
        if told:
            self._meetings.meet()
            self._body += [Assign(Name(name), "=", cell) for name, cell in cells.items()]
        self._copy_back(number, phase)

    def _walk(self, number: int, time: int, loop: For) -> list[Stmt]:
        """A loop in order, of which a thread has the elements of rows in registers before it comes to them."""
        read: dict[str, tuple[Row, int]] = {}
        for statement in loop.body:
            for access in accesses(statement, loop):
                found = self.resident.row_of(access.reference, loop)
                if found is not None and not access.writes and not self.resident.is_assigned(found[0], loop):
                    read.setdefault(self._row_key(*found), found)
        limit = self._limit(loop.bound)

        def steps(elements: Sequence[Index]) -> tuple[Stmt, ...]:
            ahead = dict(zip(read, elements, strict=True))
            return tuple(
                each
                for later, statement in enumerate(loop.body)
                for each in self._step(number, time + later, statement, loop, ahead)
            )

        if not read:
            return [replace(loop, bound=limit, body=steps(()))]
        rows = [
            ReadAhead(self._name(f"ahead_{row.name}"), row.type, partial(self._element, row, behind=behind))
            for row, behind in read.values()
        ]
        return walk_ahead(self.context, loop, limit, rows, steps)

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
            value = self._element(row, Name(loop.iterator), behind)
            store = If(self._is_there, (Assign(memory, "=", value),))
            lane, limit = self.context.name("lane"), self._limit(loop.bound)
            self._body.append(
                For(ScalarType.INT, loop.iterator, lane, "<", limit, self._lanes, (store,), loop.span)
            )
