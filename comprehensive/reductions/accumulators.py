"""The variables that a loop only puts values into: its accumulators.

In: the statements of an iteration and the types of the names around it.  Out: the accumulators, or what else it is that
runs from one iteration to the next one::

    s += a[i];  if (a[i] > m) m = a[i];       -->   s with +, m with max
    s += a[i];  b[i] = s;                     -->   's' is read, and not only added to
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.loops.traverse import declared_names
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Assign, Declare, Expr, For, Name, ScalarType, Stmt
from comprehensive.metafork.walk import bodies, names, own_expressions, statements_in
from comprehensive.reductions.operators import Operator, update_of


class Accumulator(Struct, frozen=True):
    """A scalar that every iteration puts values into."""

    name: str
    type: ScalarType
    operator: Operator


class Obstacle(Struct, frozen=True):
    """The reason why a loop does more than to put values together, as the end of "cannot be shared by threads: ..."."""

    reason: str
    span: Span


class _ObstacleError(Exception):
    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.obstacle = Obstacle(reason, span)


def accumulators(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType]
) -> tuple[Accumulator, ...] | Obstacle:
    """The accumulators of a loop with this body, in the order of the text; ``types`` are those around it."""
    search = _Search(declared_names(body), {**types, **_declared_types(body)})
    try:
        search.all(body)
        return search.found()
    except _ObstacleError as error:
        return error.obstacle


def _declared_types(body: tuple[Stmt, ...]) -> dict[str, ScalarType]:
    types: dict[str, ScalarType] = {}
    for statement in statements_in(body):
        match statement:
            case Declare(type, name) | For(type, name) if type is not None:
                types[name] = type
            case _:
                pass
    return types


class _Search:
    def __init__(self, own: frozenset[str] | set[str], types: Mapping[str, ScalarType]) -> None:
        self._own = own
        self._types = types
        self._operators: dict[str, Operator] = {}
        self._read: dict[str, Span] = {}

    def found(self) -> tuple[Accumulator, ...]:
        for name in self._operators:
            if name in self._read:
                raise _ObstacleError(f"'{name}' is read, and not only updated", self._read[name])
        return tuple(Accumulator(n, self._types[n], operator) for n, operator in self._operators.items())

    def all(self, body: tuple[Stmt, ...]) -> None:
        for statement in body:
            if not self._update(statement):
                self._other(statement)

    def _update(self, statement: Stmt) -> bool:
        """Whether the statement updates an accumulator."""
        update = update_of(statement)
        if update is None or not isinstance(update.target, Name) or update.target.identifier in self._own:
            return False
        name, operator = update.target.identifier, update.operator
        if self._operators.setdefault(name, operator) != operator:
            symbols = f"'{self._operators[name].symbol}' and '{operator.symbol}'"
            raise _ObstacleError(f"'{name}' is updated with {symbols}", statement.span)
        kind = self._types.get(name)
        if kind is None or not operator.serves(kind):
            raise _ObstacleError(f"'{name}' has no type that '{operator.symbol}' is for", statement.span)
        if operator.rounds(kind, (type_of(value, self._types) for value in update.read)):
            raise _ObstacleError(f"each step rounds '{name}' to an integer", statement.span)
        self._note(update.read)
        return True

    def _other(self, statement: Stmt) -> None:
        read = own_expressions(statement)
        match statement:
            case Assign(target=Name(identifier=name)):
                if name not in self._own:
                    raise _ObstacleError(
                        f"'{name}' gets another value in each iteration, not by one operator", statement.span
                    )
                read = (statement.value,)
            case For(type=None, iterator=name) if name not in self._own:
                raise _ObstacleError(f"'{name}' is declared outside of the loop", statement.span)
            case _:
                pass
        self._note(read)
        for body in bodies(statement):
            self.all(body)

    def _note(self, expressions: tuple[Expr, ...]) -> None:
        for expression in expressions:
            for name in names(expression):
                self._read.setdefault(name, expression.span)
