"""Induction variables: integers that a loop changes by the same in every turn, as functions of its iterator.

In: a nest.  Out: the same with such variables fixed while the loop runs; behind it they get their last value::

    for (int j = 0; j < n; j++) { s += a[p] * b[q];  p++;  q += n; }   y[p] = s;
        -->   for (int j = 0; j < n; j++) s += a[p + j] * b[q + (long)j * n];   p += 0 < n ? n : 0;   y[p] = s;

Pointers that walk are such variables (`metafork/local_pointers.py`), and so is what counts beside a loop.  Loops are
taken from the inside out: what an inner loop adds in all of its turns is what the outer one adds in each.

Legal where the body leaves the iterator alone, and all that changes the variable are sums with what the loop does not
change, in every turn; where its last value is read, the loop may not be left by ``break``. What is added up to a turn
is the difference of two values of the variable, and is computed in a type that is at least as wide.
Source: Aho, Lam, Sethi and Ullman, Compilers: principles, techniques, and tools, 2006, section 9.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import add, multiply
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import expand_bands
from comprehensive.loops.types import as_type, environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Break,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.headers import step_of
from comprehensive.metafork.rewrite import map_expression, with_bodies, with_own_expressions
from comprehensive.metafork.walk import (
    assigned_scalars,
    declared,
    leaves_loop,
    statements_in,
    subexpressions,
    subexpressions_in,
)


def with_closed_forms(nest: Nest) -> Nest:
    """The nest without induction variables in the loops of its threads."""
    closed = [_body(band.body, environment_of(nest, number)) for number, band in enumerate(nest.bands)]
    if all(body == band.body for body, band in zip(closed, nest.bands, strict=True)):
        return nest
    left = iter(closed)
    return replace(nest, body=expand_bands(nest.body, lambda band: (replace(band, body=next(left)),)))


def _body(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Return statements with closed forms; ``types`` are those of the names around them."""
    result: list[Stmt] = []
    own = {s.name for s in body if isinstance(s, Declare)}
    for place, statement in enumerate(body):
        types = with_declarations(types, (statement,))
        inside = {**types, **declared(statement)}
        statement = with_bodies(statement, partial(_body, types=inside))
        if isinstance(statement, For):
            later = {e.identifier for e in subexpressions_in(body[place + 1 :]) if isinstance(e, Name)}
            result += _Loop(statement, inside).closed(frozenset(own - later))
        else:
            result.append(statement)
    return tuple(result)


@dataclass(frozen=True)
class _Loop:
    """A loop whose inner loops have closed forms already."""

    loop: For
    types: Mapping[str, ScalarType]
    _changed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        every = tuple(statements_in((self.loop,)))
        changed = {s.target.identifier for s in every if isinstance(s, Assign) and isinstance(s.target, Name)}
        changed |= {s.iterator for s in every if isinstance(s, For)}
        object.__setattr__(self, "_changed", frozenset(changed.union(*map(declared, every))))

    def closed(self, dead: frozenset[str]) -> tuple[Stmt, ...]:
        """Return the loop with closed forms, and what gives variables their last values that are not ``dead`` then."""
        behind: list[Stmt] = []
        changes: dict[str, dict[int, Expr]] = {}
        for name, steps in self._inductions().items():
            last = None if name in dead else self._last(name, steps)
            if name in dead or last is not None:
                changes[name] = steps
                behind += [] if last is None else [last]
        if not changes:
            return (self.loop,)
        removed = {place for steps in changes.values() for place in steps}
        kept: list[Stmt] = []
        for place, statement in enumerate(self.loop.body):
            if place not in removed:
                values = {name: self._value(name, steps, place) for name, steps in changes.items()}
                kept += _with_values((statement,), values, ())
        return (replace(self.loop, body=tuple(kept)), *behind)

    def _inductions(self) -> dict[str, dict[int, Expr]]:
        """Return the variables that all turns change by the same, with what they add, by place in the body."""
        found: dict[str, dict[int, Expr]] = {}
        for place, statement in enumerate(self.loop.body):
            match statement:
                case Assign(target=Name(identifier=name), operator=operator, value=value):
                    step = step_of(name, statement.target, operator, value)
                    if step is not None and self._is_fixed(step):
                        found.setdefault(name, {})[place] = step
                case _:
                    pass
        return {name: steps for name, steps in found.items() if self._is_induction(name, steps)}

    def _is_induction(self, name: str, steps: Mapping[int, Expr]) -> bool:
        inside = statements_in(self.loop.body)
        others = [s for k, s in enumerate(self.loop.body) if k not in steps]
        kind = self.types.get(name)
        header = names_read(self.loop.start) | names_read(self.loop.bound) | names_read(self.loop.step)
        return (
            kind is not None
            and name not in header
            and kind.is_integer
            and not kind.is_narrow
            and all(type_of(step, self.types).is_integer for step in steps.values())
            and not any(name in declared(s) for s in inside)
            and not any(
                (isinstance(s, Assign) and s.target == Name(name))
                or (isinstance(s, For) and s.iterator == name)
                for s in (*statements_in(others), replace(self.loop, body=()))
            )
            and self._added(name, reduce(add, steps.values()), self._distance()) is not None
        )

    def _is_fixed(self, expression: Expr) -> bool:
        """Whether an expression has one value in all turns: it reads no data, and nothing that they change."""
        parts = tuple(subexpressions(expression))
        return not names_read(expression) & self._changed and not any(isinstance(e, Index) for e in parts)

    # --- values

    def _distance(self) -> Expr | None:
        """Return how far the iterator has come from its start; None where that is not known."""
        step, iterator = constant_value(self.loop.step), self.loop.iterator
        if not step or not self._is_fixed(self.loop.start) or iterator in assigned_scalars(self.loop.body):
            return None
        return _difference(Name(self.loop.iterator), self.loop.start, step)

    def _added(self, name: str, change: Expr, distance: Expr | None) -> Expr | None:
        """Return what turns over a distance add to a variable, each of them ``change``."""
        step = constant_value(self.loop.step)
        if distance is None or not step:
            return None
        if abs(step) > 1:
            number = constant_value(change)
            if number is None or number % abs(step):
                return None
            change = IntLiteral(number // abs(step))
        kind = self.types[name]
        together = type_of(Binary("*", change, distance), self.types)
        if together.rank < kind.rank and constant_value(change) != 1:
            distance = Cast(kind, distance)
        return multiply(distance, change)

    def _value(self, name: str, steps: Mapping[int, Expr], place: int) -> Expr:
        """Return the value that a variable has at a place of the body, in terms of that before the loop."""
        added = self._added(name, reduce(add, steps.values()), self._distance())
        assert added is not None
        before = (step for k, step in steps.items() if k < place)
        value = reduce(add, before, add(Name(name), added))
        return as_type(value, self.types[name], self.types)

    def _last(self, name: str, steps: Mapping[int, Expr]) -> Stmt | None:
        """Return the statement that gives a variable its value behind the loop; None where that is not known."""
        loop, step = self.loop, constant_value(self.loop.step)
        if step not in (1, -1) or not self._is_fixed(loop.bound) or leaves_loop(loop.body, Break):
            return None
        if loop.relation == "!=":
            return None
        distance = _difference(loop.bound, loop.start, step)
        if loop.relation in ("<=", ">="):
            distance = add(distance, IntLiteral(1))
        added = self._added(name, reduce(add, steps.values()), distance)
        assert added is not None
        kind = self.types[name]
        runs = Binary(loop.relation, loop.start, loop.bound)
        value = Conditional(runs, as_type(added, kind, self.types), as_type(IntLiteral(0), kind, self.types))
        return Assign(Name(name), "+=", value, loop.span)


def _difference(end: Expr, start: Expr, step: int) -> Expr:
    """Return how far it is from a start to an end in the direction of a step."""
    if constant_value(start) == 0:
        return end if step > 0 else multiply(end, IntLiteral(-1))
    return Binary("-", end, start) if step > 0 else Binary("-", start, end)


def _with_values(
    body: Sequence[Stmt], values: Mapping[str, Expr], held: tuple[Expr, ...]
) -> tuple[Stmt, ...]:
    """Return statements with values for names; conditions that are ``held`` choose the first of two values."""

    def chosen(e: Expr) -> Expr:
        return e.then if isinstance(e, Conditional) and e.condition in held else e

    def read(e: Expr) -> Expr:
        found = values.get(e.identifier) if isinstance(e, Name) else None
        return e if found is None else map_expression(found, chosen)

    def one(statement: Stmt) -> Stmt:
        inside = held
        if isinstance(statement, For):
            inside = (*held, Binary(statement.relation, statement.start, statement.bound))
        changed = with_own_expressions(statement, lambda e: map_expression(e, read))
        return with_bodies(changed, lambda inner: _with_values(inner, values, inside))

    return tuple(map(one, body))
