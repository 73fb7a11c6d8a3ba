"""Bounds on one variable: atoms in, lower and upper limits out, and what two of them say of the other variables.

    B*u <= T,  B*B <= Z  for u, then B, with B >= 1   -->   u <= T/B;   B <= root of B^2 = Z

An atom bounds a variable where its coefficient has a known sign, or where its polynomial is monotone in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial, sum_of
from comprehensive.algebra.rational import RationalFunction
from comprehensive.algebra.sign_sets import AT_LEAST_0, AT_MOST_0, EITHER, NEGATIVE, POSITIVE, Signs
from comprehensive.algebra.signs import split_linear
from comprehensive.algebra.tidy import without_factors


class Limit(Struct, frozen=True):
    """A limit `polynomial >= 0` (`> 0`), which bounds `name` from below or above where earlier levels hold."""

    name: str
    polynomial: Polynomial
    strict: bool
    below: bool

    @property
    def atom(self) -> Atom:
        """The limit as an atom."""
        return Atom(self.polynomial, Relation.GT if self.strict else Relation.GE)

    @property
    def value(self) -> RationalFunction | None:
        """The bound in earlier variables; None for a root of a polynomial of higher degree."""
        split = split_linear(self.polynomial, self.name)
        return None if split is None else RationalFunction(-split.rest, split.coefficient)

    def __str__(self) -> str:
        value = self.value
        if value is None:
            return self.atom.format(isolate=(self.name,))
        sign = "<" if self.strict else "<="
        return f"{value} {sign} {self.name}" if self.below else f"{self.name} {sign} {value}"


class MonotoneLimit(Struct, frozen=True):
    """A limit whose polynomial is monotone in the variable.

    Linear: `slope * x + rest` from below, `rest - slope * x` from above, with a positive slope.  Otherwise monotone
    for all `x >= start`, and `strictly` says in which sense.
    """

    limit: Limit
    slope: Polynomial | None
    rest: Polynomial
    start: Fraction = Fraction(0)
    strictly: bool = True


class LimitsOnVariable(Struct, frozen=True):
    """The bounds that atoms put on one variable; `checks` are the atoms that are no bounds."""

    lower: tuple[MonotoneLimit, ...]
    upper: tuple[MonotoneLimit, ...]
    checks: tuple[Atom, ...]


def limits_on(atoms: Sequence[Atom], name: str, signs: Signs) -> LimitsOnVariable:
    """The atoms with the variable as bounds, without those that others imply."""
    lower: list[MonotoneLimit] = []
    upper: list[MonotoneLimit] = []
    checks: list[Atom] = []
    for atom in atoms:
        if name not in atom.symbols:
            continue
        sides = [atom.polynomial] if atom.relation is not Relation.EQ else [atom.polynomial, -atom.polynomial]
        found = [monotone_limit(side, atom.relation is Relation.GT, name, signs) for side in sides]
        for bound in found:
            if bound is not None:
                (lower if bound.limit.below else upper).append(bound)
        if None in found:
            checks.append(atom)
    return LimitsOnVariable(_strongest(lower, signs), _strongest(upper, signs), tuple(checks))


def monotone_limit(polynomial: Polynomial, strict: bool, name: str, signs: Signs) -> MonotoneLimit | None:
    """Return `polynomial >= 0` (`> 0`) as a bound.

    None where it is not known to be one from one side alone.
    """
    split = split_linear(polynomial, name)
    if split is not None:
        found = signs.of(split.coefficient)
        if found not in (POSITIVE, NEGATIVE):
            return None
        slope = split.coefficient if found == POSITIVE else -split.coefficient
        return MonotoneLimit(Limit(name, polynomial, strict, found == POSITIVE), slope, split.rest)
    if name not in signs.bounds:
        return None
    powers = range(1, polynomial.degree(name) + 1)
    coefficients = [polynomial.coefficient(name, power) for power in powers]
    start = signs.bounds[name][0]
    each = [signs.of(coefficient) for coefficient in coefficients]
    for below in (True, False):
        if start >= 0 and all(found <= (AT_LEAST_0 if below else AT_MOST_0) for found in each):
            strictly = any(0 not in found for found in each)
            return MonotoneLimit(
                Limit(name, polynomial, strict, below), None, polynomial, Fraction(0), strictly
            )
    x = Polynomial.symbol(name)
    slope = sum_of(power * c * x ** (power - 1) for power, c in zip(powers, coefficients, strict=True))
    found = signs.of_shifted(slope)
    if found >= EITHER:
        return None
    limit = Limit(name, polynomial, strict, 1 in found)
    return MonotoneLimit(limit, None, polynomial, start, 0 not in found)


def _strongest(bounds: Sequence[MonotoneLimit], signs: Signs) -> tuple[MonotoneLimit, ...]:
    """The bounds, all on one side, without those that another one implies; the simplest of equals stays."""
    kept = list(bounds)
    for bound in sorted(bounds, key=lambda one: _complexity(one.limit.polynomial), reverse=True):
        if any(other is not bound and _implies(other, bound, signs) for other in kept):
            kept = [other for other in kept if other is not bound]
    return tuple(kept)


def _implies(known: MonotoneLimit, bound: MonotoneLimit, signs: Signs) -> bool:
    """Whether a bound on the same side is seen to be at least as strong."""
    if known.slope is not None and bound.slope is not None:
        found = signs.of_sum(bound.rest * known.slope, -known.rest * bound.slope)
    elif known.slope is None and bound.slope is None:
        # Not from the atoms with the variable, which may themselves be left out.
        found = signs.of_shifted(bound.limit.polynomial - known.limit.polynomial)
    else:
        return False
    return found <= (POSITIVE if bound.limit.strict and not known.limit.strict else AT_LEAST_0)


def _complexity(polynomial: Polynomial) -> tuple[object, ...]:
    return (polynomial.total_degree, len(polynomial.terms()), polynomial.sort_key)


def beyond_start(low: MonotoneLimit, high: MonotoneLimit) -> Polynomial | None:
    """Return a polynomial whose sign says whether a bound from below lies where a root is monotone.

    The bound is linear; the root bounds from above. None for others.
    """
    if low.slope is None or high.slope is not None:
        return None
    return -low.rest - high.start * low.slope


def cross(low: MonotoneLimit, high: MonotoneLimit, signs: Signs) -> tuple[Atom | None, str | None]:
    """Return what two bounds say together of earlier variables, and why that is not all, where it is not."""
    strict = low.limit.strict or high.limit.strict
    relation = Relation.GT if strict else Relation.GE
    if low.slope is not None and high.slope is not None:
        return Atom(high.slope * low.rest + low.slope * high.rest, relation), None
    if low.slope is None and high.slope is None:
        if low.limit.polynomial == -high.limit.polynomial:
            return None, None  # the two sides of an equation
        crossed = _cross_roots(low, high, relation, signs)
        return crossed, None if crossed is not None else "roots are not compared"
    if low.slope is not None:
        gap = beyond_start(low, high)
        assert gap is not None, "a linear bound from below, a root from above"
        place = signs.of(gap)
        if place in (NEGATIVE, AT_MOST_0):
            return None, None  # the start, or what is above it, bounds the variable as well
        if -1 in place:
            return None, "not compared, since the sign of a difference is not known"
        root, line, value = high, low, -low.rest
    else:
        root, line, value = low, high, high.rest
    assert line.slope is not None, "one of the two is linear"
    at_line = _homogeneous(root.limit.polynomial, line.limit.name, value, line.slope)
    if not root.strictly and line.limit.strict and not root.limit.strict:
        return Atom(at_line, Relation.GE), "not decided where both hold with equality"
    return Atom(at_line, relation), None


def _cross_roots(low: MonotoneLimit, high: MonotoneLimit, relation: Relation, signs: Signs) -> Atom | None:
    """Two roots compare where a sum of the polynomials has, for every value of the variable, one sign.

        Z < B^2 + B*s  and  B^2 + B <= Z   -->   (s - 1)*B > 0   -->   s > 1

    At the root of one of the polynomials the other one has the sign of the sum.
    """
    name, rising, falling = low.limit.name, low.limit.polynomial, high.limit.polynomial
    degree = rising.degree(name)
    slopes = rising.coefficient(name, degree), -falling.coefficient(name, degree)
    if falling.degree(name) == degree and all(signs.of(slope) == POSITIVE for slope in slopes):
        rising, falling = slopes[1] * rising, slopes[0] * falling
    if not (low.strictly and high.strictly):
        return None
    crossed = without_factors(Atom(rising + falling, relation), signs)
    return None if name in crossed.symbols else crossed


def _homogeneous(polynomial: Polynomial, name: str, above: Polynomial, below: Polynomial) -> Polynomial:
    """The polynomial at `name = above/below`, times the power of `below` that makes it one again."""
    degree = polynomial.degree(name)
    return sum_of(
        polynomial.coefficient(name, power) * above**power * below ** (degree - power)
        for power in range(degree + 1)
    )
