"""The reasons why a subscript stays linear: a reference without rows in, the parts of its subscript out.

::

    a[i*j + k]           i*j                a product of two numbers that vary
    a[i*n + j*m]         i*n, j*m           neither is a whole number of rows of the other
    c[i*n + x[j]] = ...  i*n                what is behind it may leave its row
    a[i + k]             nothing            neighbours are neighbours in memory: there are no rows to be found
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import KeptLinear, Why
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.metafork.ast import Expr, Index


def kept_linear(references: Sequence[Index], subscripts: Subscripts) -> KeptLinear | None:
    """Return why references to one array have no rows; None where there are none to be found."""
    found = (_why(reference, subscripts) for reference in references)
    return next((each for each in found if each is not None), None)


def _why(reference: Index, subscripts: Subscripts) -> KeptLinear | None:
    (subscript,) = reference.subscripts
    value = subscripts.polynomial(subscript)

    def because(why: Why, *terms: Expr) -> KeptLinear:
        return KeptLinear(reference.array, why, terms, reference.span)

    def part(variable: str) -> Expr:
        first = variable if variable.isidentifier() else None
        return subscripts.ring.write(Polynomial.symbol(variable) * weights[variable], first)

    varying = frozenset(subscripts.variables(value))
    for term in value.terms():
        if sum(power for symbol, power in term.powers if symbol in varying) > 1:
            return because(Why.PRODUCT, subscripts.ring.write(Polynomial.from_terms((term,))))
    weights = {variable: value.coefficient(variable, 1) for variable in sorted(varying)}
    symbolic = [variable for variable, weight in weights.items() if not weight.is_constant]
    if not symbolic:
        return None
    if subscripts.conversions(subscript) is None:
        return because(Why.WRAPS, subscript)
    for one, other in combinations(weights, 2):
        if all(weights[a].divide_exactly(weights[b]) is None for a, b in ((one, other), (other, one))):
            return because(Why.APART, part(one), part(other))
    return because(Why.COLUMN, part(max(symbolic, key=lambda each: weights[each].total_degree)))
