"""Remainders and quotients of iterators: how many times a number fits, as a symbol that is some integer.

In: a polynomial over iterators and a constant.  Out: a :class:`Turns`, and what holds of its symbol::

    i % 2   -->   i - 2*t   where   0 <= i - 2*t <= 1

A set of elements that is computed with such symbols has them all, whatever they are; so they serve to tell references
apart, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.closure import reached
from comprehensive.metafork.ast import Binary, Expr, IntLiteral
from comprehensive.poly.model import Constraint, c_text

_MARK = "%"
"""In the names of such symbols, and in those of no others."""


class Turns(Struct, frozen=True):
    """A number of times that ``modulus`` fits into ``number``: rounded down, or towards zero, as C divides."""

    symbol: str
    number: Polynomial
    modulus: int
    is_rounded_down: bool

    @property
    def times(self) -> Polynomial:
        """Return how many times it is, as a polynomial."""
        return Polynomial.symbol(self.symbol)

    @property
    def rest(self) -> Polynomial:
        """Return what is left of the number."""
        return self.number - self.times * self.modulus

    def cases(self, *, is_positive: bool) -> tuple[tuple[Constraint, ...], ...]:
        """Return what holds, a conjunction for each sign that the number may have."""
        above = (Constraint(self.rest), Constraint(self.modulus - 1 - self.rest))
        if is_positive or self.is_rounded_down:
            return (above,)
        below = (Constraint(-self.rest), Constraint(self.rest + self.modulus - 1))
        return (Constraint(self.number), *above), (Constraint(-self.number - 1), *below)


# Named by its text, so that the name alone says what it is; never removed, never changed.
_KNOWN: dict[str, Turns] = {}


def turns(number: Polynomial, modulus: int, *, is_rounded_down: bool) -> Turns:
    """Return the symbol for how many times a positive constant fits into a number."""
    symbol = f"({c_text(number)}){_MARK * (1 + is_rounded_down)}{modulus}"
    return _KNOWN.setdefault(symbol, Turns(symbol, number, modulus, is_rounded_down))


def is_turns(symbol: str) -> bool:
    """Whether a symbol is such a number, perhaps of another iteration."""
    return _MARK in symbol


def turns_among(symbols: Iterable[str]) -> tuple[Turns, ...]:
    """Return those that symbols name and, in turn, their numbers."""
    found = reached(symbols, lambda symbol: _KNOWN[symbol].number.symbols if symbol in _KNOWN else ())
    return tuple(_KNOWN[symbol] for symbol in sorted(found) if symbol in _KNOWN)


def masked(expr: Binary) -> tuple[Expr, int] | None:
    """The number whose remainder an operation on bits is, and the modulus; None for others: ``x & 3`` is x modulo 4.

    The last bit of ``x ^ y`` is that of the sum.
    """
    for number, mask in ((expr.left, expr.right), (expr.right, expr.left)):
        if not isinstance(mask, IntLiteral) or mask.value < 1 or mask.value & (mask.value + 1):
            continue
        if isinstance(number, Binary) and number.operator == "^" and mask.value == 1:
            number = Binary("+", number.left, number.right, number.span)
        return number, mask.value + 1
    return None
