"""Distribute: what several threads may do of the loops of a point, apart from what one has to do in order.

::

    for (j < n) { y[j] = expf(a[j] - most);  sum += y[j]; }
        -->  all lanes of the point:  for (j < n) y[j] = expf(a[j] - most);
             one of them:             for (j < n) sum += y[j];

A statement that depends on a step before it is done in order, and so is all that depends on such a statement; every
other statement is done by the lanes, each a share of the steps (Allen and Kennedy, Automatic translation of Fortran
programs to vector form, 1987).  A value that the ordered part needs and that is dear to compute is computed by the
lanes and kept in a temporary row, one element for each step (their scalar expansion); what is cheap is computed again.
The greatest and the least of numbers, and sums of integers, are the same in any order (:mod:`any_order`); where the
tile is ``reassociated``, other sums are put together from those of the lanes, too.

A loop or a condition in a step is one statement of it, which a lane does alone.  ``in_pieces`` lanes and the one that
keeps the order take turns, some steps at a time: temporary rows are no longer than that, and hold all that is read from
memory, whose latency a single thread would wait for again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import all_names, conditional_parts, declared_names
from comprehensive.loops.types import ROUNDED_IN_MEMORY_ALONE, environment_of, type_of, with_declarations
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
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import substitute, with_operands, with_subscripts
from comprehensive.metafork.walk import (
    bodies,
    own_expressions,
    statements_in,
    subexpressions,
)
from comprehensive.records import replace
from comprehensive.schedule.any_order import AnyOrder, any_order_of
from comprehensive.schedule.context import ONE, ZERO, is_same_for_all_points
from comprehensive.schedule.dependents import Uses, with_dependents
from comprehensive.schedule.legality import described
from comprehensive.schedule.phases import Ordered, Parallel, Phase, Pieces, Straight, is_store, written
from comprehensive.schedule.row_references import RowReferences, accesses
from comprehensive.schedule.share_updates import with_shared_updates


class Distribution(Struct, frozen=True):
    phases: tuple[Phase, ...]
    temporaries: Mapping[str, ScalarType]
    """Rows that hold a value for each step of a loop; references to them have the iterator as their subscript."""
    references: RowReferences
    in_pieces: bool = False

    @property
    def rounds(self) -> bool:
        """Whether sums are put together in another order whose last bits depend on it."""
        return any(
            merged.type in (ScalarType.FLOAT, ScalarType.DOUBLE) and merged.operator.neutral is not None
            for phase in self.phases
            for lanes in [phase.lanes if isinstance(phase, Pieces) else phase]
            if isinstance(lanes, Parallel)
            for merged in lanes.merged
        )


def row_loops(body: Sequence[Stmt]) -> tuple[For, ...]:
    """The loops of a point that are in no other one."""
    return tuple(s for s in body if isinstance(s, For))


def distribution_of(
    nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], *, in_pieces: bool = False
) -> Distribution | str:
    """The phases of a point, or why it cannot be taken apart."""
    if (obstacle := _shape_obstacle(nest, body)) is not None:
        return obstacle
    references = RowReferences(nest, tile)
    taken = all_names(nest) | {s.name for s in statements_in(body) if isinstance(s, Declare)}
    taken |= tile.limits.keys()
    taken |= {loop.iterator for loop in statements_in(body) if isinstance(loop, For)}
    types = with_declarations(environment_of(nest), body)
    types |= dict.fromkeys(tile.limits, ScalarType.INT)
    temporaries: dict[str, ScalarType] = {}
    phases: list[Phase] = []
    name = Namer(taken)
    for statement in body:
        if isinstance(statement, For):
            known = with_declarations(types | {statement.iterator: ScalarType.INT}, statement.body)
            arrays = [a.name for a in nest.arrays]
            split = _Split(
                with_shared_updates(statement, known, references.storage, arrays),
                references,
                known,
                name,
                in_pieces=in_pieces,
                sums_round=tile.reassociated,
            )
            found = split.phases()
            if isinstance(found, str):
                return found
            phases += found
            temporaries |= split.temporaries
        else:
            assert isinstance(statement, Declare | Assign | If)
            phases.append(Straight(statement))
    return Distribution(tuple(_joined(phases)), temporaries, references, in_pieces)


def _shape_obstacle(nest: Nest, body: Sequence[Stmt]) -> str | None:
    for statement in statements_in(tuple(body)):
        if isinstance(statement, Declare) and statement.dims:
            return f"'{statement.name}' is an array of the point"
    for statement in body:
        match statement:
            case For() if not is_same_for_all_points(nest, statement):
                return f"the extent of the loop over '{statement.shown}' is not the same for all points"
            case For() if (statement.start, statement.relation, statement.step) != (ZERO, "<", ONE):
                return f"the loop over '{statement.shown}' does not count up from 0"
            case For() if all(
                isinstance(s, Declare | Assign | For | If) for s in statements_in(statement.body)
            ):
                pass
            case Declare() | Assign():
                pass
            case If() if is_store(statement):
                pass
            case _:
                return f"{described(statement)} is neither an assignment nor a loop over such"
    return None


def _joined(phases: Sequence[Phase]) -> list[Phase]:
    """The phases with ordered loops joined, and what stands between them, which the lane then does on its way."""
    result: list[Phase] = []
    between: list[Straight] = []
    for phase in phases:
        before = result[-1] if result else None
        match phase:
            case Straight() if isinstance(before, Ordered):
                between.append(phase)
            case Ordered() if isinstance(before, Ordered):
                result[-1] = Ordered((*before.body, *(s.statement for s in between), *phase.body))
                between = []
            case _:
                result += [*between, phase]
                between = []
    return [*result, *between]


class _Split(Struct):
    """One loop, and which of its statements are done in order."""

    loop: For
    references: RowReferences
    types: Mapping[str, ScalarType]
    name: Namer
    in_pieces: bool
    sums_round: bool
    temporaries: dict[str, ScalarType] = field(default_factory=dict[str, ScalarType])
    _expanded: dict[Expr, str] = field(default_factory=dict[Expr, str])

    def phases(self) -> list[Phase] | str:
        merged = self._merged()
        ordered = self._ordered(set(merged))
        body = self.loop.body
        for statement in (body[k] for k in sorted(ordered)):
            if not isinstance(statement, Declare | Assign):
                return f"{described(statement)} has to be done in order, and is no assignment"
        for target in (target for s in body for target in _stores(s, atomic=False)):
            if self.references.place(target, self.loop) is None:
                return f"'{self._storage(target)}' is assigned, and a loop uses it other than along a row"
        chain = [s for k, s in enumerate(body) if k in ordered]
        lanes = [s for k, s in enumerate(body) if k not in ordered]
        chain = self._with_values(chain, lanes)
        values = [
            Assign(Index(row, (Name(self.loop.iterator),)), "=", value)
            for value, row in self._expanded.items()
        ]
        kept = tuple(update for k, update in merged.items() if k not in ordered)
        shared = Parallel(replace(self.loop, body=self._stored_once((*lanes, *values))), kept)
        in_order = replace(self.loop, body=tuple(chain))
        has_shared = bool(kept or values or any(map(_stores, lanes)))
        if not chain:
            return [shared] if has_shared else []
        if self.in_pieces:
            return [Pieces(shared, in_order)]
        return [*([shared] if has_shared else []), Ordered((in_order,))]

    def _stored_once(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements with what is stored and then put into a temporary row in a scalar: no lane reads it back."""
        result = list(body)
        for statement in body:
            match statement:
                case Assign(target=Index(array=row), value=Index() as element) if row in self.temporaries:
                    place = result.index(statement)
                    storage = self._storage(element)
                    stores = [k for k in range(place) if storage in map(self._storage, _stores(result[k]))]
                    store = result[stores[-1]] if stores else None
                    type = self.types[element.array]
                    if not isinstance(store, Assign) or type in ROUNDED_IN_MEMORY_ALONE:
                        continue
                    if (store.target, store.operator) == (element, "="):
                        value = self.name(f"{storage}_value")
                        held = Declare(type, value, initial=store.value, span=store.span, const=True)
                        result[place] = replace(statement, value=Name(value))
                        result[stores[-1] : stores[-1] + 1] = [held, replace(store, value=Name(value))]
                case _:
                    pass
        return tuple(result)

    @property
    def _own(self) -> set[str]:
        """The scalars of a step."""
        return {s.name for s in self.loop.body if isinstance(s, Declare)}

    def _merged(self) -> dict[int, AnyOrder]:
        """The statements whose results are the same in any order of the steps, by their numbers."""
        found: dict[int, AnyOrder] = {}
        for k, statement in enumerate(self.loop.body):
            update = any_order_of(statement, self.types, sums_round=self.sums_round)
            if update is None or update.name in self._own:
                continue
            others = [s for n, s in enumerate(self.loop.body) if n != k]
            if update.operator.is_logical and not self._is_there(statement):
                continue  # what is read behind the step that decides need not be there
            if any(update.name in _read(s) | written(s) for s in others):
                continue
            slice_ = tuple(s for s in self.loop.body[:k] if written(s) & self._own)
            read = {self._storage(a.reference) for s in (*slice_, statement) for a in accesses(s, self.loop)}
            if update.zeros and read & {self._storage(i) for s in self.loop.body for i in _stores(s)}:
                continue  # its zeros could not be looked at again
            found[k] = replace(update, steps=(*slice_, statement))
        return found

    def _is_there(self, statement: Stmt) -> bool:
        """Whether all elements are there that a statement reads under conditions."""
        parts = (part for e in own_expressions(statement) for part in conditional_parts(e))
        read = (e for part in parts for e in subexpressions(part) if isinstance(e, Index))
        return all(self.references.is_there(e, self.loop) for e in read)

    def _ordered(self, merged: set[int]) -> set[int]:
        """The statements that are done in order: the least set that is closed under what depends on it."""
        steps = [
            Uses(_read(s), written(s), set(map(self._storage, _stores(s))), self._storages(s))
            for s in self.loop.body
        ]
        found = {k for k, step in enumerate(steps) if step.written - self._own and k not in merged}
        return with_dependents(steps, found | self._carried())

    def _carried(self) -> set[int]:
        """Statements that may use what other steps assign: they use no one place of data that is assigned."""
        body = self.loop.body
        found: set[int] = set()
        for storage in {self._storage(i) for s in body for i in _stores(s, atomic=False)}:
            users = {k: self._places(s, storage) for k, s in enumerate(body)}
            everywhere = {place for places in users.values() for place in places}
            if len(everywhere) > 1 or None in everywhere:
                found |= {k for k, places in users.items() if places}
        return found

    # --- what the ordered part needs

    def _with_values(self, chain: Sequence[Stmt], lanes: Sequence[Stmt]) -> list[Stmt]:
        """The ordered statements with what is dear read from temporary rows, and what is cheap computed again."""
        if not chain:
            return []
        changing = {name for s in chain for name in written(s)}
        changing |= {self._storage(i) for s in chain for i in _stores(s)}
        stored = {self._storage(i) for s in (*chain, *lanes) for i in _stores(s)}
        result = [self._with_rows(s, lambda e: self._handed(e, changing)) for s in chain]
        wanted = {name for s in result for name in _read(s)}
        assigned = {name for s in lanes if not isinstance(s, Declare) for name in written(s)}
        copies: list[Stmt] = []
        values: dict[str, Expr] = {}
        for statement in reversed(lanes):
            if not isinstance(statement, Declare) or statement.name not in wanted:
                continue
            initial = statement.initial
            if initial is not None and statement.name not in assigned and self._is_cheap(initial, stored):
                copies.insert(0, statement)
                wanted |= names_read(initial)
            else:
                values[statement.name] = self._row(Name(statement.name), statement.type, statement.name)

        def on(expression: Expr) -> Expr:
            return substitute(expression, values)

        return [_with_subscripts(self._with_rows(s, on), on) for s in (*copies, *result)]

    def _with_rows(self, statement: Stmt, change: Callable[[Expr], Expr]) -> Stmt:
        """The statement with the values changed that it reads."""
        match statement:
            case Declare(initial=initial) if initial is not None:
                return replace(statement, initial=change(initial))
            case Assign():
                return replace(statement, value=change(statement.value))
            case _:
                return statement

    def _handed(self, expr: Expr, changing: set[str]) -> Expr:
        """The expression with its dear parts that do not depend on the steps before read from rows.

        What is computed under a condition is so by the lanes, too; where it is not, the row has 0.
        """

        def walk(e: Expr, under: tuple[Expr, ...] = ()) -> Expr:
            if self._is_dear(e) and all(self._is_free(part, changing) for part in (e, *under)):
                value = Conditional(conjunction(under), e, ZERO) if under else e
                return self._row(value, type_of(e, self.types), "value")
            match e:
                case Index():
                    return e
                case Conditional(condition, then, otherwise):
                    away = Unary("!", condition)
                    chosen = walk(then, (*under, condition)), walk(otherwise, (*under, away))
                    return replace(e, condition=walk(condition, under), then=chosen[0], otherwise=chosen[1])
                case Binary("&&" | "||" as operator, left, right):
                    decides = left if operator == "&&" else Unary("!", left)
                    return replace(e, left=walk(left, under), right=walk(right, (*under, decides)))
                case _:
                    return with_operands(e, lambda part: walk(part, under))

        return walk(expr)

    def _row(self, value: Expr, type: ScalarType, wish: str) -> Index:
        if value not in self._expanded:
            self._expanded[value] = self.name(wish)
            self.temporaries[self._expanded[value]] = type
        return Index(self._expanded[value], (Name(self.loop.iterator),))

    def _is_dear(self, e: Expr) -> bool:
        match e:
            case Call():
                return True
            case Binary(operator=operator):
                return operator in ("/", "%")
            case Index() if self.references.is_data(e.array):
                place = self.references.place(e, self.loop)
                return self.in_pieces or place is None or not place.is_row
            case _:
                return False

    def _is_cheap(self, e: Expr, stored: set[str]) -> bool:
        """Whether a value may be computed twice: nothing dear in it, and it is the same again."""
        if any(self._is_dear(part) for part in subexpressions(e)):
            return False
        return not any(
            isinstance(part, Index) and self._storage(part) in stored for part in subexpressions(e)
        )

    def _is_free(self, e: Expr, changing: set[str]) -> bool:
        if names_read(e) & changing or not names_read(e) - self.temporaries.keys() <= self.types.keys():
            return False
        arrays = {part.array for part in subexpressions(e) if isinstance(part, Index)}
        return (
            not arrays & self.temporaries.keys() and not set(map(self.references.storage, arrays)) & changing
        )

    # --- data

    def _storage(self, reference: Index) -> str:
        return self.references.storage(reference.array)

    def _storages(self, statement: Stmt) -> set[str]:
        return {self._storage(a.reference) for a in accesses(statement, self.loop)}

    def _places(self, statement: Stmt, storage: str) -> set[object]:
        own = [a.reference for a in accesses(statement, self.loop) if self._storage(a.reference) == storage]
        return {self.references.place(reference, self.loop) for reference in own}


def _with_subscripts(statement: Stmt, change: Callable[[Expr], Expr]) -> Stmt:
    """Return the statement with the subscripts changed of the element that it assigns."""
    match statement:
        case Assign(target=Index() as target):
            return replace(statement, target=with_subscripts(target, change))
        case _:
            return statement


def _read(statement: Stmt) -> set[str]:
    """The scalars that a statement reads."""
    match statement:
        case Declare(initial=initial):
            return set() if initial is None else set(names_read(initial))
        case Assign(target=target, operator=operator, value=value):
            read = set(names_read(value))
            if isinstance(target, Index):
                return read.union(*map(names_read, target.subscripts))
            return read if operator == "=" else read | {target.identifier}
        case _:
            inner = {name for body in bodies(statement) for s in body for name in _read(s)}
            own = {name for e in own_expressions(statement) for name in names_read(e)}
            return (inner | own) - declared_names((statement,))


def _stores(statement: Stmt, *, atomic: bool = True) -> tuple[Index, ...]:
    """The elements that a statement assigns, with those that it updates atomically or without."""
    assigning = (s for s in statements_in((statement,)) if isinstance(s, Assign))
    found = (s.target for s in assigning if atomic or not s.atomic)
    return tuple(target for target in found if isinstance(target, Index))
