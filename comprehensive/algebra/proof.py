"""Derivations written down: a false fact with its reasons in, a certificate that a checker can follow out."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.certificate import (
    Cases,
    Certificate,
    Given,
    Line,
    Product,
    Reason,
    Rounded,
    Squared,
    Sum,
)
from comprehensive.algebra.fourier import (
    Bound,
    Bounds,
    Branching,
    Combination,
    Crossing,
    Fact,
    Rounding,
    Shift,
    Square,
)
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.signs import Sign, sign_on


def certificate(fact: Fact) -> Certificate:
    """The certificate of a fact that is false for its constant."""
    if isinstance(fact.reason, Branching):
        split = fact.reason
        return Certificate(
            (), Cases(split.first, split.second, (certificate(split.left), certificate(split.right)))
        )
    lines = _Lines()
    lines.add(fact)
    return Certificate(tuple(lines.written))


class _Lines:
    def __init__(self) -> None:
        self.written: list[Line] = []
        self._numbers: dict[Atom, int] = {}

    def add(self, fact: Fact) -> int:
        """The number of the line that states the fact, written after everything that it rests on."""
        number = self._numbers.get(fact.atom)
        if number is not None:
            return number
        reason: Reason
        atom = fact.atom
        match fact.reason:
            case None:
                reason = Given()
            case Rounding(before):
                reason = Rounded(self.add(before))
            case Crossing(below, above):
                atom, reason = self._crossed(atom, below, above)
            case Shift(refuted, supports):
                atom, reason = self._shifted(refuted, supports)
            case Square(root):
                reason = Squared(root)
            case Combination(parts):
                products = [Product(c, tuple(self.add(f) for f in factors)) for c, factors in parts]
                reason = self._sum(products, atom.polynomial, atom)
            case Branching():
                raise AssertionError("nothing is derived from a distinction of cases")
        self.written.append(Line(atom, reason))
        number = self._numbers[fact.atom] = len(self.written) - 1
        return number

    def _crossed(self, atom: Atom, below: Bound, above: Bound) -> tuple[Atom, Sum]:
        """Return `b*(a*x + r) + a*(t - b*x)`, with the slopes as sums of products of their bounds."""
        products = self._times(above, below) + self._times(below, above)
        return atom, self._sum(products, above.slope * below.rest + below.slope * above.rest, atom)

    def _times(self, slope_of: Bound, bound: Bound) -> list[Product]:
        line = self.add(bound.fact)
        return [
            Product(part.coefficient * bound.sign, (*part.factors, line))
            for part in self._expanded(slope_of.slope, slope_of.supports)
        ]

    def _shifted(self, refuted: Fact, supports: Bounds) -> tuple[Atom, Sum]:
        """A polynomial that is nowhere positive, and products that add up to its opposite but for a constant."""
        line = self.add(refuted)
        polynomial = refuted.atom.polynomial
        turned = 1 if sign_on(polynomial, supports) not in (Sign.POSITIVE, Sign.NON_NEGATIVE) else -1
        parts = self._expanded(-turned * polynomial, supports)
        rest = sum((p.coefficient for p in parts if not p.factors), Fraction(0))
        products = [Product(Fraction(turned), (line,)), *(p for p in parts if p.factors)]
        strict = rest == 0 and refuted.atom.relation is Relation.GT
        atom = Atom(Polynomial(-rest), Relation.GT if strict else Relation.GE)
        return atom, self._sum(products, Polynomial(-rest), atom)

    def _expanded(self, polynomial: Polynomial, supports: Bounds) -> list[Product]:
        """The polynomial in powers of `symbol - bound`, none of which has a negative coefficient."""
        moved = polynomial.substitute(
            {name: Polynomial.symbol(name) + supports[name][0] for name in polynomial.symbols}
        )
        products: list[Product] = []
        for term in moved.terms():
            coefficient = term.coefficient
            factors: list[int] = []
            for name, power in term.powers:
                fact = supports[name][1]
                factors += [self.add(fact)] * power
                coefficient /= fact.atom.polynomial.coefficient(name, 1).constant_value() ** power
            products.append(Product(coefficient, tuple(factors)))
        return products

    def _sum(self, products: Iterable[Product], total: Polynomial, atom: Atom) -> Sum:
        """The products, scaled so that they add up to the polynomial of the atom instead of to `total`."""
        scale = _ratio(atom.polynomial, total)
        gathered: dict[tuple[int, ...], Fraction] = {}
        for product in products:
            key = tuple(sorted(product.factors))
            gathered[key] = gathered.get(key, Fraction(0)) + product.coefficient * scale
        return Sum(tuple(Product(c, factors) for factors, c in gathered.items() if c))


def _ratio(normal: Polynomial, raw: Polynomial) -> Fraction:
    """Return the factor by which the raw polynomial was multiplied to get its normal form."""
    return normal.terms()[0].coefficient / raw.terms()[0].coefficient if raw else Fraction(1)
