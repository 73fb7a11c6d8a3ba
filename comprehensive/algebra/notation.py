"""Polynomials as text, in the notation of the paper: terms in, `2*s*B + 2` out.

>>> from comprehensive.algebra.polynomial import Polynomial
>>> s, B = Polynomial.symbol("s"), Polynomial.symbol("B")
>>> (2 * B * s + 2).format(("s", "B"))
'2*s*B + 2'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct


class Term(Struct, frozen=True):
    """The term `coefficient * product of name**power`; powers are positive, and sorted by name in polynomials."""

    coefficient: Fraction
    powers: tuple[tuple[str, int], ...]

    @property
    def total_degree(self) -> int:
        """Sum of the powers: 0 for a constant."""
        return sum(power for _, power in self.powers)


def arranged(terms: Sequence[Term], order: Sequence[str] = ()) -> tuple[Term, ...]:
    """The terms in the order in which they are printed, and the powers of each likewise.

    `order` names the symbols that come first in a product; the others follow, sorted without regard to case.
    Terms of higher total degree come first; among those of one degree, those with the earlier symbols.
    """
    named = {name: position for position, name in enumerate(order)}
    symbols = sorted(
        {name for term in terms for name, _ in term.powers},
        key=lambda name: (named.get(name, len(named)), name.casefold(), name),
    )
    rank = {name: position for position, name in enumerate(symbols)}

    def precedence(term: Term) -> tuple[int, tuple[int, ...]]:
        powers = dict(term.powers)
        return -term.total_degree, tuple(-powers.get(name, 0) for name in symbols)

    return tuple(
        Term(term.coefficient, tuple(sorted(term.powers, key=lambda item: rank[item[0]])))
        for term in sorted(terms, key=precedence)
    )


def format_terms(terms: Sequence[Term], order: Sequence[str] = ()) -> str:
    """The sum of the terms as text, `arranged` by `order`."""
    if not terms:
        return "0"
    pieces: list[str] = []
    for term in arranged(terms, order):
        body = _format_product(abs(term.coefficient), term.powers)
        if not pieces:
            pieces.append(f"-{body}" if term.coefficient < 0 else body)
        else:
            pieces.append(f"{'-' if term.coefficient < 0 else '+'} {body}")
    return " ".join(pieces)


def _format_product(magnitude: Fraction, powers: Sequence[tuple[str, int]]) -> str:
    factors = [name if power == 1 else f"{name}^{power}" for name, power in powers]
    if magnitude != 1 or not factors:
        factors.insert(0, str(magnitude))
    return "*".join(factors)
