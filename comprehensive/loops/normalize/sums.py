"""Sums of integers without idle terms: an expression in, a constant and terms with signs out, and back.

::

    (k + 1) - 1             -->  k
    n - 1 - (n - 1 - k)     -->  k
    (hi + 1) - (lo + 1)     -->  hi - lo

Products are left as they are.  These are identities of the integers, and so of C's ``int`` wherever the source does
not overflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, ScalarType, Unary


class Sum(Struct, frozen=True):
    """``constant`` and the terms with their signs, in the order of the source."""

    constant: int
    terms: tuple[tuple[int, Expr], ...] = ()

    @staticmethod
    def of(expr: Expr) -> Sum:
        return _terms(expr, 1)

    def __add__(self, other: Sum) -> Sum:
        terms = list(self.terms)
        for sign, term in other.terms:
            if (-sign, term) in terms:
                terms.remove((-sign, term))
            else:
                terms.append((sign, term))
        return Sum(self.constant + other.constant, tuple(terms))

    def __sub__(self, other: Sum) -> Sum:
        return self + Sum(-other.constant, tuple((-sign, term) for sign, term in other.terms))

    def expression(self) -> Expr:
        constant = self.constant
        ordered = sorted(self.terms, key=lambda term: -term[0])  # stable: what is subtracted comes last
        if not ordered:
            return IntLiteral(constant)
        sign, result = ordered[0]
        if sign < 0:
            result = Binary("-", IntLiteral(constant), result)
            constant = 0
        for sign, term in ordered[1:]:
            result = Binary("+" if sign > 0 else "-", result, term)
        if constant == 0:
            return result
        return Binary("+" if constant > 0 else "-", result, IntLiteral(abs(constant)))


def addends(expr: Expr) -> Iterator[Expr]:
    """Yield what a sum is made of, but for its constants; each as often as it occurs."""
    match expr:
        case IntLiteral(type=ScalarType.INT):
            pass
        case Binary(operator="+" | "-", left=left, right=right):
            yield from addends(left)
            yield from addends(right)
        case Unary(operator="-", operand=operand):
            yield from addends(operand)
        case _:
            yield expr


def _terms(expr: Expr, sign: int) -> Sum:
    match expr:
        case IntLiteral(type=ScalarType.INT):
            return Sum(sign * expr.value)
        case Binary(operator="+" | "-"):
            right = sign if expr.operator == "+" else -sign
            return _terms(expr.left, sign) + _terms(expr.right, right)
        case Unary(operator="-"):
            return _terms(expr.operand, -sign)
        case _:
            return Sum(0, ((sign, expr),))
