"""Subscripts as sums of what varies from point to point, and the values that they can take.

In: a nest, the statements done at its points and the ranges of the coordinates.  Out: a :class:`Subscripts`, which
reads an expression as a polynomial in which every variable is linear, and bounds it over the ranges: with
``0 <= j < n`` the greatest value of ``2*j + 1`` is ``2*n - 1``.  A variable is a coordinate, an iterator, or any other
part of a subscript that does not read scalars of the nest alone (``x[i]``, ``i % 2``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.sizes import sizes
from comprehensive.loops.traverse import map_expr, statements_in, subexpressions
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.scalar_types import promote


@dataclass(frozen=True, slots=True)
class Subscripts:
    """``limits`` are upper bounds, excluded, of the variables that count from 0; each of them holds."""

    ring: Ring
    types: Mapping[str, ScalarType]
    scalars: frozenset[str]
    nonnegative: frozenset[str]
    """Scalars of which the launcher knows that they are not negative."""
    limits: Mapping[str, tuple[Expr, ...]]

    @staticmethod
    def of(nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr]) -> Subscripts:
        """``0 <= name < limit`` for each of the coordinates; loops that count from 0 have a range, too."""
        bounds: dict[str, set[Expr | None]] = {name: {limit} for name, limit in coordinates.items()}
        for loop in (s for body in bodies for s in statements_in(body) if isinstance(s, For)):
            counts_up = (loop.start, loop.relation, loop.step) == (ZERO, "<", ONE)
            bounds.setdefault(loop.iterator, set()).add(loop.bound if counts_up else None)
        limits = {
            name: tuple(_alternatives(bound))
            for name, found in bounds.items()
            for bound in found
            if len(found) == 1 and bound is not None
        }
        scalars = frozenset(s.name for s in nest.scalars)
        positive = sizes(nest) | {s.name for s in nest.scalars if s.role is Role.PROGRAM}
        types = types_at_points(nest, bodies, coordinates)
        return Subscripts(Ring(), types, scalars, frozenset(positive), limits)

    def linear(self, subscript: Expr) -> Polynomial | None:
        """The subscript as a polynomial, its variables being linear; None where they are not, or where it may wrap
        around in less than 64 bits, so that its parts do not add up to it."""
        if any(self._wraps_early(e) for e in subexpressions(subscript)):
            return None
        value = self.ring.read(map_expr(subscript, self._without_widening))
        found = self.variables(value)
        for variable in found:
            if value.degree(variable) > 1 or self.variables(value.coefficient(variable, 1)):
                return None
        return value

    def variables(self, value: Polynomial) -> tuple[str, ...]:
        """The symbols of a polynomial that may differ from point to point."""
        return tuple(s for s in value.symbols if self._varies(s))

    def greatest(self, value: Polynomial) -> tuple[Polynomial, ...]:
        """Upper bounds of a linear subscript over scalars alone, each of which holds; none where no range is known."""
        return self._extreme(value, 1)

    def least(self, value: Polynomial) -> tuple[Polynomial, ...]:
        """Lower bounds likewise."""
        return self._extreme(value, -1)

    def is_nonnegative(self, value: Polynomial) -> bool:
        """Whether a polynomial over scalars is surely not negative: no sign in it is."""
        return all(term.coefficient >= 0 for term in value.terms()) and self.nonnegative.issuperset(
            value.symbols
        )

    def difficulty(self, value: Polynomial) -> tuple[int, int]:
        """By which the simplest of several bounds is the least: first parts that are no scalars, then terms."""
        return sum(not name.isidentifier() for name in value.symbols), len(value.terms())

    def is_uniform(self, condition: Expr) -> bool:
        """Whether an expression reads scalars of the nest and nothing else."""
        parts = list(subexpressions(condition))
        return names_read(condition) <= self.scalars and not any(isinstance(e, Index) for e in parts)

    def shape(
        self, parts: Sequence[Polynomial | None]
    ) -> tuple[frozenset[tuple[frozenset[str], Polynomial]], ...]:
        """The names of the variables of each part with their coefficients; nothing for what is not linear."""
        return tuple(
            frozenset(
                (self.ring.names_in(Polynomial.symbol(name)), part.coefficient(name, 1))
                for name in self.variables(part)
            )
            if part is not None
            else frozenset()
            for part in parts
        )

    def _extreme(self, value: Polynomial, direction: int) -> tuple[Polynomial, ...]:
        variable = next(iter(self.variables(value)), None)
        if variable is None:
            return (value,)
        factor, rest = value.coefficient(variable, 1), value.coefficient(variable, 0)
        if value.degree(variable) > 1 or self.variables(factor) or variable not in self.limits:
            return ()
        if self.is_nonnegative(-direction * factor):
            return self._extreme(rest, direction)  # the variable is 0
        if not self.is_nonnegative(direction * factor):
            return ()
        last = [self.linear(limit) for limit in self.limits[variable]]
        reached = [rest + factor * (limit - 1) for limit in last if limit is not None]
        return tuple(bound for each in reached for bound in self._extreme(each, direction))

    def _varies(self, symbol: str) -> bool:
        return not self.is_uniform(self.ring.write(Polynomial.symbol(symbol)))

    def _wraps_early(self, expr: Expr) -> bool:
        if not isinstance(expr, Unary | Binary):
            return False
        type = promote(type_of(expr, self.types))
        return type.wraps and not type.is_wide

    def _without_widening(self, expr: Expr) -> Expr:
        """Conversions of integers to 64 bits are left out: references are computed in 64 bits anyway."""
        match expr:
            case Cast(type=type, operand=operand) if type.is_wide and type_of(operand, self.types).is_integer:
                return operand
            case _:
                return expr


def types_at_points(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Iterable[str]
) -> dict[str, ScalarType]:
    """The types of all names in what is done at a point."""
    types = {**environment_of(nest), **dict.fromkeys(coordinates, ScalarType.INT)}
    for statement in (s for body in bodies for s in statements_in(body)):
        if isinstance(statement, Declare):
            types[statement.name] = statement.type
        elif isinstance(statement, For):
            types[statement.iterator] = statement.type or ScalarType.INT
    return types


def _alternatives(limit: Expr) -> tuple[Expr, ...]:
    """Bounds that a limit does not exceed: itself, and both sides where it is the smaller of two."""
    match limit:
        case Conditional(
            condition=Binary(operator="<", left=left, right=right), then=then, otherwise=otherwise
        ) if (
            left,
            right,
        ) == (then, otherwise):
            return (limit, *_alternatives(left), *_alternatives(right))
        case _:
            return (limit,)
