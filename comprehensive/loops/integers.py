"""Integer C expressions as polynomials and back: expressions in, exact polynomials over names and atoms out.

``+ - *``, names and integer literals are read as a polynomial; every other integer expression (``N / 2``) is
an *atom*, one symbol for all its equal occurrences.  Rewrites on such polynomials are identities of the integers
and hence of C's ``int`` and ``long`` wherever the source does not overflow.  Example::

    ring = Ring()
    ring.read(i*s*B + N/2)                 # the polynomial B*i*s + #0
    ring.write(ring.read(i*s*B), "i")      # i * (B * s), an expression with i in front
"""

from __future__ import annotations

from fractions import Fraction

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, Unary
from comprehensive.metafork.terms import plus, times

ZERO = IntLiteral(0)
ONE = IntLiteral(1)
POLYNOMIAL_OPERATORS = frozenset(("+", "-", "*"))


class Ring:
    """The symbols of one rewrite: names stand for themselves, atoms are numbered as they are met."""

    def __init__(self) -> None:
        self._symbols: dict[Expr, str] = {}
        self._atoms: dict[str, Expr] = {}

    def read(self, expr: Expr) -> Polynomial:
        match expr:
            case IntLiteral():
                return Polynomial.constant(expr.value)
            case Name():
                return Polynomial.symbol(expr.identifier)
            case Unary(operator="-"):
                return -self.read(expr.operand)
            case Unary(operator="+"):
                return self.read(expr.operand)
            case Binary(operator="+"):
                return self.read(expr.left) + self.read(expr.right)
            case Binary(operator="-"):
                return self.read(expr.left) - self.read(expr.right)
            case Binary(operator="*"):
                return self.read(expr.left) * self.read(expr.right)
            case Binary(operator="/", right=IntLiteral(value=1)):
                return self.read(expr.left)
            case _:
                return Polynomial.symbol(self._symbol(expr))

    def names_in(self, polynomial: Polynomial) -> frozenset[str]:
        """The names that a polynomial reads, those inside its atoms included."""
        names: set[str] = set()
        for symbol in polynomial.symbols:
            names |= names_read(self._atoms[symbol]) if symbol in self._atoms else {symbol}
        return frozenset(names)

    def atom(self, symbol: str) -> Expr | None:
        """The expression that a symbol stands for; None for a name."""
        return self._atoms.get(symbol)

    def write(self, polynomial: Polynomial, first: str | None = None) -> Expr:
        """An expression of the value; ``first`` is gathered into one product, written in front.

        Raises ValueError where a coefficient is not an integer.
        """
        if first is not None and polynomial.degree(first) == 1:
            factor = polynomial.coefficient(first, 1)
            product = times(Name(first), self.write(factor))
            return plus(product, self.write(polynomial.coefficient(first, 0)))
        total: Expr = ZERO
        for term in polynomial.terms():
            if term.coefficient.denominator != 1:
                raise ValueError(f"{polynomial} is no integer polynomial")
            factors: list[Expr] = []
            for symbol, power in term.powers:
                factors += [self._atoms.get(symbol, Name(symbol))] * power
            total = _plus_term(total, term.coefficient, factors)
        return total

    def _symbol(self, expr: Expr) -> str:
        if expr not in self._symbols:
            symbol = f"#{len(self._symbols)}"
            self._symbols[expr] = symbol
            self._atoms[symbol] = expr
        return self._symbols[expr]


def _plus_term(total: Expr, coefficient: Fraction, factors: list[Expr]) -> Expr:
    magnitude = abs(coefficient.numerator)
    product: Expr | None = IntLiteral(magnitude) if magnitude != 1 or not factors else None
    for factor in factors:
        product = factor if product is None else Binary("*", product, factor)
    assert product is not None
    if coefficient < 0:
        return Unary("-", product) if total == ZERO else Binary("-", total, product)
    return plus(total, product)


def addends(expr: Expr) -> list[tuple[int, Expr]]:
    """The summands of an expression as written, each with its sign."""
    match expr:
        case Binary(operator="+"):
            return addends(expr.left) + addends(expr.right)
        case Binary(operator="-"):
            return addends(expr.left) + [(-sign, term) for sign, term in addends(expr.right)]
        case Unary(operator="-"):
            return [(-sign, term) for sign, term in addends(expr.operand)]
        case Unary(operator="+"):
            return addends(expr.operand)
        case _:
            return [(1, expr)]


def sum_of_addends(terms: list[tuple[int, Expr]]) -> Expr:
    """The inverse of :func:`addends`; zeros vanish."""
    total: Expr = ZERO
    for sign, term in terms:
        if sign > 0:
            total = plus(total, term)
        elif term != ZERO:
            total = Unary("-", term) if total == ZERO else Binary("-", total, term)
    return total


def written_anew(expr: Expr) -> Expr:
    """Return an integer expression as its polynomial is written: ``t - lo + lo`` is ``t``."""
    ring = Ring()
    return ring.write(ring.read(expr))
