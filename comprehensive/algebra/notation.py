"""Polynomials as text, in the notation of the paper: terms in, `2*s*B + 2` out.

>>> from comprehensive.algebra.polynomial import Polynomial
>>> s, B = Polynomial.symbol("s"), Polynomial.symbol("B")
>>> (2 * B * s + 2).format(("s", "B"))
'2*s*B + 2'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    return sum_text(arranged(terms, order), lambda name, power: (name if power == 1 else f"{name}^{power}",))


def sum_text(
    terms: Iterable[Term],
    factors: Callable[[str, int], Iterable[str]],
    times: str = "*",
    number: Callable[[Fraction], str] = str,
) -> str:
    """The terms in this order as one sum in any notation; `factors` writes a power as one factor or as several."""
    shown = ""
    for term in terms:
        product = [factor for name, power in term.powers for factor in factors(name, power)]
        if abs(term.coefficient) != 1 or not product:
            product.insert(0, number(abs(term.coefficient)))
        sign = "-" if term.coefficient < 0 else "+" if shown else ""
        shown += (f" {sign} " if shown else sign) + times.join(product)
    return shown or "0"
