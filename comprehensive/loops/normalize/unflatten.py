"""Unflatten: a coordinate that the program takes apart into digits, and a coordinate for each digit.

::

    0 <= y < m*n:  c[y] = a[y / n][y % n]      -->  0 <= y0 < m, 0 <= y1 < n:  c[y0*n + y1] = a[y0][y1]

Programs that number all elements of a plane have one parallel loop, whose iterator they divide; those of three
dimensions divide twice.  Each value of the coordinate is one pair of digits, since the extent is a whole number of
times the divisor, and the divisor is positive where there are points and launches see to it.  Points may run in any
order, so that the digits may be coordinates, which tiles share their work along.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, Ring
from comprehensive.loops.ir import Nest, Points
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.traverse import all_names
from comprehensive.loops.types import as_type, environment_of, type_of
from comprehensive.metafork.ast import Binary, Cast, Declare, Expr, Index, Name, ScalarType
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.records import replace

DIVISIONS = ("/", "%")


def unflattened(nest: Nest, points: Points) -> Points:
    """Return the points over coordinates for digits of those that they take apart; else as they are."""
    while True:
        found = (_apart(nest, points, place) for place in range(len(points.names)))
        apart = next((each for each in found if each is not None), None)
        if apart is None:
            break
        points = apart
    return points


def _apart(nest: Nest, points: Points, place: int) -> Points | None:
    """Return the points with two digits in the place of a coordinate; None where nothing takes it apart."""
    ring = Ring()
    coordinate, limit = points.names[place], points.limits[place]
    divisors = _divisors(nest, points, coordinate)
    values = [ring.read(divisor) for divisor in divisors]
    for divisor, value in zip(divisors, values, strict=True):
        high = integral_quotient(ring.read(limit), value)
        is_least = all(integral_quotient(other, value) is not None for other in values)
        if high is not None and is_least and not value.is_constant and not high.is_constant:
            return _with_digits(nest, points, place, divisor, high, ring)
    return None


def _divisors(nest: Nest, points: Points, coordinate: str) -> list[Expr]:
    """Return by what the points divide a coordinate, in the order of the text: sizes of type ``int``."""
    types = environment_of(nest)
    sizes = {scalar.name for scalar in nest.scalars}
    found: dict[Expr, None] = {}
    for expression in (
        e for each in points.alternatives for x in expressions_in(each.body) for e in subexpressions(x)
    ):
        match expression:
            case Binary(operator=operator, left=left, right=right) if operator in DIVISIONS and _number(
                left
            ) == Name(coordinate):
                divisor = _number(right)
                reads_data = any(isinstance(e, Index) for e in subexpressions(divisor))
                if (
                    names_read(divisor) <= sizes
                    and not reads_data
                    and type_of(divisor, types) is ScalarType.INT
                ):
                    found.setdefault(divisor)
            case _:
                pass
    return list(found)


def _number(expression: Expr) -> Expr:
    """Return a number without conversions to types that hold every positive ``int``."""
    while isinstance(expression, Cast) and expression.type.is_integer and not expression.type.is_narrow:
        expression = expression.operand
    return expression


def _with_digits(
    nest: Nest, points: Points, place: int, divisor: Expr, high: Polynomial, ring: Ring
) -> Points:
    name = Namer(all_names(nest) | set(points.names))
    coordinate = points.names[place]
    digits = [name(f"{coordinate}_{part}") for part in ("high", "low")]
    upper, lower = map(Name, digits)
    whole = plus(times(upper, divisor), lower)
    least = ring.read(divisor)

    types = environment_of(nest) | dict.fromkeys((*points.names, *digits), ScalarType.INT)
    types |= {
        s.name: s.type
        for each in points.alternatives
        for s in statements_in(each.body)
        if isinstance(s, Declare)
    }

    def divided(operator: str, often: Polynomial) -> Expr:
        if often == Polynomial.constant(1):
            return upper if operator == "/" else lower
        rest = Binary(operator, upper, ring.write(often))
        return rest if operator == "/" else plus(times(rest, divisor), lower)

    def apart(expression: Expr) -> Expr:
        """The expression in terms of digits, whose operands are so already."""
        match expression:
            case Binary(operator=operator, left=left, right=right) if (
                operator in DIVISIONS and _number(left) == whole
            ):
                times = integral_quotient(ring.read(_number(right)), least)
                if times is None or not names_read(right) <= types.keys():
                    return expression
                return as_type(divided(operator, times), type_of(expression, types), types)
            case Name(identifier=found) if found == coordinate:
                return whole
            case _:
                return expression

    def changed(expression: Expr) -> Expr:
        return map_expression(expression, apart)

    def put(values: Sequence[str], between: Sequence[str]) -> tuple[str, ...]:
        return (*values[:place], *between, *values[place + 1 :])

    shown = points.shown[place]
    # The number of a point is put together again from its digits, in int.
    demanded = (Binary("<=", ONE, divisor), at_most(points.limits[place]))
    limits = (*points.limits[:place], ring.write(high), divisor, *points.limits[place + 1 :])
    return replace(
        points,
        names=put(points.names, digits),
        shown=put(points.shown, (shown, shown)),
        limits=limits,
        alternatives=tuple(
            replace(
                each,
                condition=None if each.condition is None else changed(each.condition),
                body=map_expressions(each.body, changed),
            )
            for each in points.alternatives
        ),
        conditions=tuple(dict.fromkeys((*points.conditions, *demanded))),
        called=tuple((name, changed(value)) for name, value in points.called),
    )
