"""The rows that a linearised subscript runs through.

In: linear subscripts of references to one array.  Out: :class:`Rows`, and what of a subscript belongs to which::

    i*n + k,  (i + 1)*n + k - 1      rows of n elements:   (i, k),  (i + 1, k - 1)
    ((i*h + j)*w + x)*3 + c          weights 3*h*w, 3*w, 3, 1:   (i, j, x, c)
    i*(n + 1) + t,  0 <= t < n - i   rows of n elements:   (i, i + t)

The weights are coefficients of variables.  A constant is one only where the ranges prove that subscripts stay in such
rows: ``a[4*i + c]`` has rows of four elements where ``c < 4``, and none where ``c`` may be 4.  A loop that counts what
is left from its point on, ``t < n - i``, has lost the place where it began: the weights are those of ``i + t``, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations, pairwise

from msgspec import Struct

from comprehensive.algebra import Polynomial, integral_quotient, sum_of, whole_times
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.metafork.ast import Expr

_MOST_WEIGHTS = 6
"""The weights among which chains are looked for where all of them are none."""
_NOTHING = Polynomial.constant(0)
_ELEMENT = Polynomial.constant(1)


class Rows(Struct, frozen=True):
    """The distance of neighbours along each subscript, in elements, outermost first; each divides the one before."""

    weights: tuple[Polynomial, ...]

    @property
    def lengths(self) -> tuple[Polynomial, ...]:
        """The extents of all subscripts but the first, which has none."""
        return tuple(_quotient(larger, smaller) for larger, smaller in pairwise(self.weights))


def rows_of(values: Sequence[Polynomial], subscripts: Subscripts) -> Rows | None:
    """The rows in which most is known to stay; None where the subscripts are no rows of any kind.

    Where the weights are no chain, those of some of them are, in which all subscripts stay as far as a launch can tell.
    """
    weights = _sets_of_weights(values, subscripts)
    whole = _judged(map(_chain, weights), values, subscripts)
    if whole:
        return min(whole, key=lambda found: found[0])[1]
    some = _judged(chain.from_iterable(map(_chains_in, weights)), values, subscripts)
    return next(
        (rows for (_, unknown), rows in sorted(some, key=lambda found: found[0]) if not unknown), None
    )


def split(rows: Rows, value: Polynomial, subscripts: Subscripts) -> tuple[Polynomial, ...]:
    """The part of a linear subscript along each dimension; the parts add up to the subscript."""
    parts = [_NOTHING] * len(rows.weights)
    rest = value
    for variable in subscripts.variables(value):
        for place, times in enumerate(_digits(value.coefficient(variable, 1), rows)):
            parts[place] = parts[place] + Polynomial.symbol(variable) * times
        rest = rest.substitute({variable: 0})
    for place, weight in enumerate(rows.weights):
        whole = _whole(rest, weight)
        parts[place], rest = parts[place] + whole, rest - whole * weight
    # The last element of a row is its length less 1: what is behind its row by a whole one belongs to the row before.
    for place in range(len(parts) - 1, 0, -1):
        length = _quotient(rows.weights[place - 1], rows.weights[place])
        if any(subscripts.is_nonnegative(-most - 1) for most in subscripts.greatest(parts[place])):
            parts[place], parts[place - 1] = parts[place] + length, parts[place - 1] - 1
    return tuple(parts)


def in_rows(rows: Rows, value: Polynomial, subscripts: Subscripts) -> tuple[Expr, ...] | None:
    """Return the conditions on scalars under which a subscript stays in its row; None if not known before a launch.

    The conditions are empty where the ranges say so.
    """
    bounds: list[Sequence[Polynomial]] = []
    for part, length in zip(split(rows, value, subscripts)[1:], rows.lengths, strict=True):
        bounds += [subscripts.least(part), [length - 1 - most for most in subscripts.greatest(part)]]
    return subscripts.nonnegative_or_demanded(*bounds)


def _digits(factor: Polynomial, rows: Rows) -> Iterable[Polynomial]:
    """Yield how often each weight is in the coefficient of a variable, until nothing is left of it."""
    for weight in rows.weights:
        times = whole_times(factor, weight)
        yield times
        factor -= times * weight


def _judged(
    candidates: Iterable[Rows | None], values: Sequence[Polynomial], subscripts: Subscripts
) -> list[tuple[tuple[int, int], Rows]]:
    """The rows that are possible, each with how many subscripts are not proved to stay in them, and how many of these
    no launch can see to."""
    found: list[tuple[tuple[int, int], Rows]] = []
    for rows in dict.fromkeys(candidates):
        if rows is None or len(rows.weights) == 1:
            continue
        conditions = [in_rows(rows, value, subscripts) for value in values]
        unknown = conditions.count(None)
        doubts = unknown + sum(map(bool, conditions))
        # A constant is a weight where that is proved.
        if not doubts or not any(length.is_constant for length in rows.lengths):
            found.append(((doubts, unknown), rows))
    return found


def _sets_of_weights(values: Sequence[Polynomial], subscripts: Subscripts) -> list[list[Polynomial]]:
    """Weights, those that tell more apart first; of such as tell the same, those of the fewest terms."""
    since = [subscripts.from_their_start(value) for value in values]
    found = sorted((_weights(given, subscripts) for given in (values, since)), key=_terms)
    symbolic = [[weight for weight in weights if not weight.is_constant] for weights in found]
    return [*found, *symbolic, *([weight.primitive() for weight in weights] for weights in symbolic)]


def _weights(values: Sequence[Polynomial], subscripts: Subscripts) -> list[Polynomial]:
    found = (value.coefficient(name, 1) for value in values for name in subscripts.variables(value))
    return list(dict.fromkeys(_positive(weight) for weight in found if weight != _NOTHING))


def _terms(weights: Sequence[Polynomial]) -> int:
    return sum(len(weight.terms()) for weight in weights)


def _chain(weights: Iterable[Polynomial]) -> Rows | None:
    ordered = sorted({*weights, _ELEMENT}, key=lambda w: (-w.total_degree, -abs(w.content()), w.sort_key))
    if any(integral_quotient(larger, smaller) is None for larger, smaller in pairwise(ordered)):
        return None
    return Rows(tuple(ordered))


def _chains_in(weights: Sequence[Polynomial]) -> Iterable[Rows | None]:
    """The chains of some of the weights, the longest first."""
    if len(weights) > _MOST_WEIGHTS:
        return ()
    kept = (combinations(weights, number) for number in range(len(weights) - 1, 0, -1))
    return map(_chain, chain.from_iterable(kept))


def _positive(weight: Polynomial) -> Polynomial:
    """The weight without the sign of its first term: rows may be counted backwards."""
    return -weight if weight.terms()[0].coefficient < 0 else weight


def _whole(value: Polynomial, weight: Polynomial) -> Polynomial:
    """Return how often the weight is in a polynomial over scalars; what is left over is in a smaller one."""
    if weight.is_constant:
        constant = sum_of(Polynomial.from_terms((t,)) for t in value.terms() if not t.powers)
        others = [integral_quotient(Polynomial.from_terms((t,)), weight) for t in value.terms() if t.powers]
        whole = int(constant.constant_value() // weight.constant_value())
        return sum_of((whole, *(part for part in others if part is not None)))
    return whole_times(value, weight)


def _quotient(larger: Polynomial, smaller: Polynomial) -> Polynomial:
    quotient = larger.divide_exactly(smaller)
    assert quotient is not None
    return quotient
