"""Subscripts as sums of what varies from point to point, and the values that they can take.

In: a nest, the statements done at its points and the ranges of the coordinates.  Out: a :class:`Subscripts`, which
reads an expression as a polynomial in which every variable is linear, and bounds it over the ranges: with
``0 <= j < n`` the greatest value of ``2*j + 1`` is ``2*n - 1``.  A variable is a coordinate, an iterator, or any other
part of a subscript that does not read scalars of the nest alone (``x[i]``, ``i % 2``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from comprehensive.algebra import Polynomial, integral_quotient
from comprehensive.algebra import sum_of as sum_of_polynomials
from comprehensive.algebra.polynomial import Term
from comprehensive.loops.conversions import in_type
from comprehensive.loops.integers import POLYNOMIAL_OPERATORS, Ring
from comprehensive.loops.intervals import Interval, Ranges, sum_of
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.counters import LARGEST_COUNT, is_uniform, range_of, ranges_of
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace


class Subscripts(Struct, frozen=True):
    """``limits`` are upper bounds, excluded, of the variables that count from 0; each of them holds."""

    ring: Ring
    types: Mapping[str, ScalarType]
    scalars: frozenset[str]
    nonnegative: frozenset[str]
    """Scalars of which the launcher knows that they are not negative."""
    limits: Mapping[str, tuple[Expr, ...]]
    ranges: Ranges = field(default_factory=dict[str, Interval])
    """The ranges of names, as far as they are known beyond their types."""
    facts: tuple[Polynomial, ...] = ()
    """Polynomials over scalars that are not negative, whatever their signs."""

    @staticmethod
    def of(nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr]) -> Subscripts:
        """``0 <= name < limit`` for each of the coordinates; loops that count from 0 have a range, too."""
        types = types_at_points(nest, bodies, coordinates)
        scalars = frozenset(s.name for s in nest.scalars)
        bounds: dict[str, set[Expr | None]] = {name: {limit} for name, limit in coordinates.items()}
        for loop in (s for body in bodies for s in statements_in(body) if isinstance(s, For)):
            compared = common_type(loop.type or ScalarType.INT, type_of(loop.bound, types))
            # A launch sees to it that a bound which is the same for all points is not negative.
            counts_up = loop.counts_up and (not compared.wraps or is_uniform(loop.bound, scalars))
            bounds.setdefault(loop.iterator, set()).add(loop.bound if counts_up else None)
        limits = {
            name: tuple(_alternatives(bound))
            for name, found in bounds.items()
            for bound in found
            if len(found) == 1 and bound is not None
        }
        known = ranges_of(nest)
        positive = {name for name, values in known.items() if values.least >= 0}
        positive |= {s.name for s in nest.scalars if s.type.is_integer and not s.type.is_signed}
        ranges = {**known, **dict.fromkeys(coordinates, Interval(0, LARGEST_COUNT - 1))}
        for loop in (s for body in bodies for s in statements_in(body) if isinstance(s, For)):
            if loop.iterator in limits and loop.type is ScalarType.INT:
                ranges[loop.iterator] = range_of(loop, scalars, types, ranges)
        return Subscripts(Ring(), types, scalars, frozenset(positive), limits, ranges)

    def linear(self, subscript: Expr) -> Polynomial | None:
        """The subscript as a polynomial, its variables being linear; None where they are not, or where it may wrap
        around in less than 64 bits, so that its parts do not add up to it, and a launch cannot tell."""
        return None if self.conversions(subscript) is None else self._linear(subscript)

    def polynomial(self, subscript: Expr) -> Polynomial:
        """The subscript as a polynomial whatever varies in it, conversions left out."""
        return self.ring.read(self._plain(subscript, ScalarType.LONG)[0])

    def conversions(self, subscript: Expr) -> tuple[Expr, ...] | None:
        """Return the conditions on scalars under which a subscript is what its polynomial says; None where that is not
        known before a launch, or where it is not linear."""
        demanded: dict[Expr, None] = {}
        for part, kind in self._plain(subscript, ScalarType.LONG)[1]:
            value = self._as_linear(part)
            found = None if value is None else self.within(value, kind)
            if found is None:
                return None
            demanded |= dict.fromkeys(found)
        return None if self._linear(subscript) is None else tuple(demanded)

    def in_int(self, part: Polynomial) -> tuple[Expr, ...] | None:
        """Return the conditions under which a part of a subscript, written anew, can be computed in its type."""
        written = self.ring.write(part)
        if promote(type_of(written, self.types)) is not ScalarType.INT:
            return ()
        if sum_of(written, self.types, self.ranges).within(ScalarType.INT):
            return ()
        return self.within(part, ScalarType.INT)

    def within(self, value: Polynomial, kind: ScalarType) -> tuple[Expr, ...] | None:
        """Return the conditions on scalars under which an integer type holds a linear value; None where that is not
        known before a launch."""
        below = [least - kind.lowest for least in self.least(value)]
        above = [kind.highest - most for most in self.greatest(value)]
        return self.nonnegative_or_demanded(below, above)

    def nonnegative_or_demanded(self, *each: Sequence[Polynomial]) -> tuple[Expr, ...] | None:
        """Return the conditions on scalars under which one polynomial of each sequence is not negative; None where a
        sequence is empty, or none of it can be.

        The conditions are empty where the ranges say so.
        """
        demanded: dict[Expr, None] = {}
        for bounds in each:
            if any(map(self._is_proved, bounds)):
                continue
            room = min(bounds, key=self.difficulty, default=None)
            # Nothing but what is subtracted leaves room for small sizes at most, however large they may be elsewhere.
            if room is None or not self._leaves_room(room):
                return None
            condition = self._at_least_zero(room)
            if not self.is_uniform(condition):
                return None
            demanded[condition] = None
        return tuple(demanded)

    def _leaves_room(self, room: Polynomial) -> bool:
        """Whether something is left for sizes that are not small: nothing is of ``n + m - m*n``."""
        taken = [Polynomial.from_terms((t,)) for t in room.terms() if t.coefficient < 0]

        def outgrown(term: Term) -> bool:
            given = Polynomial.from_terms((term,))
            return any(part.divide_exactly(given) is not None for part in taken)

        return any(
            not outgrown(t) if t.powers else t.coefficient > LARGEST_COUNT
            for t in room.terms()
            if t.coefficient > 0
        )

    def variables(self, value: Polynomial) -> tuple[str, ...]:
        """The symbols of a polynomial that may differ from point to point."""
        return tuple(s for s in value.symbols if self._varies(s))

    def from_their_start(self, value: Polynomial) -> Polynomial:
        """Return a linear subscript over loops that count from where they begin, ``i`` of ``t < n - i``, on: of
        ``i + t`` it is ``t``, of ``t`` it is ``t - i``."""
        for name in self.variables(value):
            for limit in self.limits.get(name, ())[:1]:
                bound = self._linear(limit)
                if bound is None:
                    continue
                varying = (Polynomial.symbol(v) * bound.coefficient(v, 1) for v in self.variables(bound))
                value = value + value.coefficient(name, 1) * sum_of_polynomials(varying)
        return value

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

    def _is_proved(self, bound: Polynomial) -> bool:
        """Whether a bound over scalars is surely not negative: by signs, by ranges, or as a multiple of a fact."""
        if self.is_nonnegative(bound) or sum_of(self.ring.write(bound), self.types, self.ranges).least >= 0:
            return True
        multiples = (integral_quotient(bound, fact) for fact in self.facts)
        return any(times is not None and self.is_nonnegative(times) for times in multiples)

    def difficulty(self, value: Polynomial) -> tuple[int, int]:
        """Return the key that is least for the simplest of several bounds: first parts that are no scalars,
        then terms."""
        return sum(not name.isidentifier() for name in value.symbols), len(value.terms())

    def is_uniform(self, condition: Expr) -> bool:
        """Whether an expression reads scalars of the nest and nothing else."""
        return is_uniform(condition, self.scalars)

    def shape(
        self, parts: Sequence[Polynomial | None]
    ) -> tuple[frozenset[tuple[frozenset[str], Polynomial]], ...]:
        """The names of the variables of each part with their coefficients; nothing for what is not linear.

        Of what is no sum these are the names in it that vary: ``i < h - 1 ? i + 1 : h - 1`` is one of ``i`` alone.
        """
        return tuple(
            frozenset((self._varying_in(name), part.coefficient(name, 1)) for name in self.variables(part))
            if part is not None
            else frozenset()
            for part in parts
        )

    def _extreme(self, value: Polynomial, direction: int) -> tuple[Polynomial, ...]:
        # Those of inner loops first: limits of theirs may speak of the others.
        variable = max(self.variables(value), key=self._depth, default=None)
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

    def _depth(self, variable: str) -> int:
        return list(self.limits).index(variable) if variable in self.limits else -1

    def _varying_in(self, symbol: str) -> frozenset[str]:
        return frozenset(filter(self._varies, self.ring.names_in(Polynomial.symbol(symbol))))

    def _varies(self, symbol: str) -> bool:
        return not self.is_uniform(self.ring.write(Polynomial.symbol(symbol)))

    def _linear(self, subscript: Expr) -> Polynomial | None:
        return self._as_linear(self._plain(subscript, ScalarType.LONG)[0])

    def _as_linear(self, plain: Expr) -> Polynomial | None:
        value = self.ring.read(plain)
        for variable in self.variables(value):
            if value.degree(variable) > 1 or self.variables(value.coefficient(variable, 1)):
                return None
        return value

    def _plain(self, expr: Expr, around: ScalarType) -> tuple[Expr, tuple[tuple[Expr, ScalarType], ...]]:
        """An expression in sums and products of the type ``around`` it, or of 64 bits, without the conversions of
        integers in it; and what that leaves out: the parts that have to be values of a type for it.

        References are computed in 64 bits anyway, so that a conversion to as many is nothing.
        """
        kind = promote(type_of(expr, self.types))
        parts: tuple[tuple[Expr, ScalarType], ...] = ()
        match expr:
            case Unary(operator="-" | "+"):
                operand, parts = self._plain(expr.operand, kind)
                plain: Expr = replace(expr, operand=operand)
                may_wrap = kind.wraps
            case Binary(operator=operator) if operator in POLYNOMIAL_OPERATORS and kind.is_integer:
                left, first = self._plain(expr.left, kind)
                right, second = self._plain(expr.right, kind)
                plain, parts = replace(expr, left=left, right=right), (*first, *second)
                may_wrap = kind.wraps
            case Cast(type=to, operand=operand) if (
                not to.is_narrow and type_of(operand, self.types).is_integer
            ):
                if not to.is_integer:
                    return expr, ()
                plain, parts = self._plain(operand, to)
                may_wrap = not to.holds(type_of(operand, self.types))
            case _:
                return expr, ()
        if may_wrap and not kind.is_wide and not (around is kind and kind.wraps):
            parts = (*parts, (plain, kind))
        return plain, parts

    def _at_least_zero(self, room: Polynomial) -> Expr:
        """The condition with what is subtracted on the other side, as numbers that do not wrap around."""
        above = sum_of_polynomials(Polynomial.from_terms((t,)) for t in room.terms() if t.coefficient > 0)
        sides = (self.ring.write(above - room), self.ring.write(above))
        small, large = map(self._as_number, sides)
        return Binary("<=", small, large)

    def _as_number(self, expr: Expr) -> Expr:
        if isinstance(expr, Name) or not promote(type_of(expr, self.types)).wraps:
            return expr
        return in_type(expr, ScalarType.LONG, self.types)


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
