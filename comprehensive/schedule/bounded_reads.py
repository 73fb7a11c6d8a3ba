"""The bounds of subscripts that a point reads only where comparisons hold: references in, bounds of each axis out.

::

    sum = 0 <= y + ky - 1 && y + ky - 1 < h && .. ? sum + in[y + ky - 1][x + kx - 1] * k[ky][kx] : sum
        -->  in: its first subscript from 0 up to h, ..;   k: nothing that its subscripts are bounded by

A comparison of sums bounds a subscript if its difference from the subscript is the same for all points and all steps.
Where every comparison over a reference is a bound of one of its subscripts, it is the element that decides whether it
is read, and not the point: the elements inside of the bounds are those that the program reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import Ring
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import Binary, Conditional, Expr, Index, ScalarType, Unary
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.walk import children
from comprehensive.records import replace

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Bounds(Struct, frozen=True):
    """The values of a subscript that the program reads: from ``low`` up to, but not, ``high``; None is no bound."""

    low: Polynomial | None = None
    high: Polynomial | None = None


class BoundedRead(Struct, frozen=True):
    """The bounds of each subscript of a reference; ``others`` are the comparisons over it that bound none."""

    axes: tuple[Bounds, ...]
    others: tuple[Expr, ...]
    bounding: tuple[Expr, ...]


def read_under(expressions: Iterable[Expr]) -> Iterator[tuple[Index, tuple[Expr, ...] | None]]:
    """All references in expressions, each with the comparisons that hold where it is read.

    None stands for what is not known.
    """
    for expr in expressions:
        yield from _read_under(expr, ())


def _read_under(
    expr: Expr, under: tuple[Expr, ...] | None
) -> Iterator[tuple[Index, tuple[Expr, ...] | None]]:
    def with_(more: tuple[Expr, ...] | None) -> tuple[Expr, ...] | None:
        return None if under is None or more is None else (*under, *more)

    match expr:
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            yield from _read_under(condition, under)
            yield from _read_under(then, with_(comparisons(condition)))
            yield from _read_under(otherwise, with_(comparisons(condition, holds=False)))
        case Binary(operator="&&" | "||" as operator, left=left, right=right):
            yield from _read_under(left, under)
            yield from _read_under(right, with_(comparisons(left, holds=operator == "&&")))
        case _:
            if isinstance(expr, Index):
                yield expr, under
            for operand in children(expr):
                yield from _read_under(operand, under)


def comparisons(condition: Expr, holds: bool = True) -> tuple[Expr, ...] | None:
    """The comparisons that hold where a condition does, or where it does not, and only there; None for others."""
    match condition:
        case Binary(operator="&&" | "||" as operator, left=left, right=right) if (operator == "&&") == holds:
            both = comparisons(left, holds), comparisons(right, holds)
            return None if both[0] is None or both[1] is None else (*both[0], *both[1])
        case Binary(operator=operator, left=left, right=right) if operator in _OPPOSITE:
            found = operator if holds else _OPPOSITE[operator]
            return None if found == "==" else (replace(condition, operator=found),)
        case Unary(operator="!", operand=operand):
            return comparisons(operand, not holds)
        case _:
            return None


def bounded(
    ring: Ring, values: Sequence[Polynomial], under: Sequence[Expr], is_same: Callable[[Polynomial], bool]
) -> BoundedRead:
    """The bounds of subscripts with these values; ``is_same`` says what does not change from point to point."""
    axes = [Bounds() for _ in values]
    others: list[Expr] = []
    bounding: list[Expr] = []
    for comparison in dict.fromkeys(under):
        least = at_least_zero(ring, comparison)
        if least is None:  # a != b
            others.append(comparison)
            continue
        found = ((n, _bounds(axes[n], value, least, is_same)) for n, value in enumerate(values))
        number, bounds = next(((n, each) for n, each in found if each is not None), (0, None))
        if bounds is None:
            others.append(comparison)
            continue
        axes[number] = bounds
        bounding.append(comparison)
    return BoundedRead(tuple(axes), tuple(others), tuple(bounding))


def _bounds(
    known: Bounds, value: Polynomial, least: Polynomial, is_same: Callable[[Polynomial], bool]
) -> Bounds | None:
    """The bounds of a subscript with that from ``least >= 0``, if it is one that the subscript has not yet."""
    if not value.symbols:
        return None
    below, above = least - value, least + value
    if is_same(below) and not is_same(value) and known.low is None:
        return Bounds(-below, known.high)
    if is_same(above) and not is_same(value) and known.high is None:
        return Bounds(known.low, above + 1)
    return None


def without_bounds(expr: Expr, bounding: frozenset[Expr], types: Mapping[str, ScalarType]) -> Expr:
    """The expression where all these comparisons hold; ``types`` are those of all names."""

    def decided(e: Expr) -> Expr:
        if not isinstance(e, Conditional):
            return e
        for branch, found in (
            (e.then, comparisons(e.condition)),
            (e.otherwise, comparisons(e.condition, holds=False)),
        ):
            if found is not None and frozenset(found) <= bounding:
                return as_type(branch, type_of(e, types), types)
        return e

    return map_expression(expr, decided)
