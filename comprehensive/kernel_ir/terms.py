"""Polynomials and conditions as C expressions.

In: polynomials over names of the nest, conditions over virtual coordinates.  Out: ``ast.Expr``, for instance
``2*s*B + 2`` as the tree of ``2 * s * B + 2`` and ``n - 1 - @0 >= 0`` as ``row < n``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import lcm

from comprehensive.algebra import Polynomial
from comprehensive.loops.fold import fold
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Inner,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.attempt import expression as read
from comprehensive.metafork.rewrite import map_expression, substitute
from comprehensive.metafork.terms import conjunction, disjunction, plus, product, total
from comprehensive.metafork.walk import subexpressions
from comprehensive.poly.model import Condition, Constraint
from comprehensive.records import replace


def expression(polynomial: Polynomial, order: Sequence[str] = ()) -> Expr:
    """A polynomial whose values are integers as a C expression, positive terms first.

    Where coefficients are fractions it is divided by their common denominator, without a rest.
    """
    denominator = lcm(*(term.coefficient.denominator for term in polynomial.terms()))
    if denominator != 1:
        return Binary("/", expression(polynomial * denominator, order), IntLiteral(denominator))
    positive: list[Expr] = []
    negative: list[Expr] = []
    for term in polynomial.terms():
        coefficient = term.coefficient.numerator
        powers = sorted(
            term.powers, key=lambda item: order.index(item[0]) if item[0] in order else len(order)
        )
        factors: list[Expr] = [_symbol(name) for name, power in powers for _ in range(power)]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, IntLiteral(abs(coefficient)))
        (positive if coefficient > 0 else negative).append(product(factors))
    if not positive and not negative:
        return IntLiteral(0)
    result = total(positive) if positive else None
    for term in negative:
        result = Binary("-", IntLiteral(0) if result is None else result, term)
    assert result is not None
    return result


def _symbol(name: str) -> Expr:
    """A name, or the integer division that a symbol such as ``(N)/(2)`` stands for."""
    return Name(name) if name.isidentifier() else read(name)


def onward(first: Expr, place: Expr) -> Expr:
    """Return ``first + place`` in a row, ``first + a + b`` for a place ``a + b``.

    Parts of a place are not negative, so that no part of the sum is larger than all of it.
    """
    match place:
        case Binary(operator="+", left=left, right=right):
            return onward(onward(first, left), right)
        case _:
            return plus(first, place)


def least(left: Expr, right: Expr) -> Expr:
    """Return the smaller of two numbers."""
    return Conditional(Binary("<", left, right), left, right)


def constant(name: str, value: Expr) -> Declare:
    """Return the declaration ``const int name = value;``."""
    return Declare(ScalarType.INT, name, initial=value, const=True)


def counting(
    counter: str,
    bound: Expr,
    body: tuple[Inner, ...],
    *,
    unrolled: bool = False,
    rolled: bool = False,
    uniform: bool = False,
) -> For[Inner]:
    """Return the loop ``for (int counter = 0; counter < bound; counter++)``."""
    first, step = IntLiteral(0), IntLiteral(1)
    return For(
        ScalarType.INT,
        counter,
        first,
        "<",
        bound,
        step,
        body,
        unrolled=unrolled,
        rolled=rolled,
        uniform=uniform,
    )


def condition(value: Condition, coordinates: Mapping[str, str], order: Sequence[str] = ()) -> Expr | None:
    """A condition as a C expression, ``@k`` replaced by the given names; None where it always holds."""
    if value.is_true:
        return None
    pieces = [conjunction([comparison(c, coordinates, order) for c in piece]) for piece in value.pieces]
    return disjunction(pieces)


def comparison(constraint: Constraint, coordinates: Mapping[str, str], order: Sequence[str] = ()) -> Expr:
    """Return ``p >= 0`` with its negative terms on the other side: ``small < large`` or ``small <= large``."""
    polynomial = constraint.polynomial.substitute(
        {coordinate: Polynomial.symbol(name) for coordinate, name in coordinates.items()}
    )
    positive = negative = Polynomial.constant(0)
    for term in polynomial.terms():
        monomial = Polynomial.constant(abs(term.coefficient))
        for name, power in term.powers:
            monomial = monomial * Polynomial.symbol(name) ** power
        if term.coefficient > 0:
            positive = positive + monomial
        else:
            negative = negative + monomial
    if constraint.equality:
        return Binary("==", expression(positive, order), expression(negative, order))
    # a >= b + 1 reads better as b < a.
    without_one = negative - 1
    if negative.evaluate(dict.fromkeys(negative.symbols, 0)) >= 1:
        return Binary("<", expression(without_one, order), expression(positive, order))
    return Binary("<=", expression(negative, order), expression(positive, order))


def widen(offset: Expr, unsigned: Set[str] = frozenset()) -> Expr:
    """The offset with every product of two variables computed in 64 bits: ``i*N + j`` can exceed 31 bits.

    ``unsigned`` are names of 32 bits without a sign: their products wrap around, which is what the program computes.
    """

    def widened(node: Expr) -> Expr:
        match node:
            case Binary(operator="*", left=left, right=right) if not (
                _is_small(left) or _is_small(right) or _may_wrap(node, unsigned)
            ):
                return replace(node, left=left if _is_wide(left) else Cast(ScalarType.LONG, left))
            case _:
                return node

    return map_expression(offset, widened)


def _may_wrap(product: Expr, unsigned: Set[str]) -> bool:
    """Whether a part of a product may be unsigned, so that C computes it in that type, or in a wider one anyway."""
    return any(
        e.identifier in unsigned if isinstance(e, Name) else e.type is ScalarType.UNSIGNED
        for e in subexpressions(product)
        if isinstance(e, Name | Cast | IntLiteral)
    )


def _is_small(factor: Expr) -> bool:
    return isinstance(factor, IntLiteral)


def _is_wide(factor: Expr) -> bool:
    match factor:
        case Cast():
            return factor.type.is_wide
        case Binary(operator="*", left=left):
            return _is_wide(left)
        case _:
            return False


def size_of(expression: Expr, sizes: Mapping[str, int]) -> int:
    """The value of an expression over constants of a tile. ValueError where it reads anything else."""
    found = fold(substitute(expression, {name: IntLiteral(size) for name, size in sizes.items()}))
    if not isinstance(found, IntLiteral):
        raise ValueError(f"{found} is not over {', '.join(sizes)}")
    return found.value
