"""Polynomial constraints as linear ones: every product of symbols becomes a dimension of its own.

isl must not see a product, so a monomial such as ``i*s*B`` (a tile origin) or ``s*B`` (a product symbol) is lifted
to a dimension.  What gets lost that way comes back as *facts*: constraints multiplied by what is known to be
non-negative.  From ``i <= dim - 1``, ``dim*s*B <= n`` and the monomial ``i*s*B`` follow ``i*s*B <= dim*s*B - s*B``
and so ``i*s*B + s*B <= n``: the floor fact of the design, for grids of any shape.

Facts only cut off points that no run can have.  A lifted set is a superset of the real one, so that emptiness,
implication and disjointness carry over; where every iterator occurs in one monomial, it is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from math import lcm, prod

from comprehensive.algebra import Polynomial, product_of
from comprehensive.poly.indices import Scope, is_nonnegative, quotient_symbols
from comprehensive.poly.isl_sets import Row, is_empty
from comprehensive.poly.model import Constraint

Monomial = tuple[str, ...]
"""The factors of a product of symbols, sorted; a repeated one is a power."""
Form = tuple[tuple[tuple[Monomial, int], ...], int, bool]
"""A lifted constraint: coefficients of monomials, constant, whether it is an equality."""

_MOST_PRODUCTS = 32


@lru_cache(maxsize=65536)
def form_of(constraint: Constraint) -> Form:
    """The constraint with integer coefficients over its monomials."""
    terms = constraint.polynomial.terms()
    scale = lcm(*(t.coefficient.denominator for t in terms)) if terms else 1
    constant = 0
    linear: list[tuple[Monomial, int]] = []
    for term in terms:
        value = int(term.coefficient * scale)
        if term.powers:
            linear.append((tuple(name for name, power in term.powers for _ in range(power)), value))
        else:
            constant = value
    return tuple(sorted(linear)), constant, constraint.equality


def monomials(forms: Iterable[Form]) -> set[Monomial]:
    """The monomials that are not constant."""
    return {m for form in forms for m, _ in form[0]}


def name_of(monomial: Monomial) -> str:
    """The name of the lifted dimension; a plain symbol keeps its own."""
    return "*".join(monomial)


def polynomial_of(monomial: Monomial) -> Polynomial:
    """The product that a lifted dimension stands for."""
    return product_of(Polynomial.symbol(name) for name in monomial)


def rows_of(forms: Iterable[Form]) -> list[Row]:
    """The forms as rows over the lifted dimensions."""
    return [({name_of(m): c for m, c in linear}, constant, eq) for linear, constant, eq in forms]


def quotient_facts(
    symbols: Iterable[str], scope: Scope, positive: Set[str] = frozenset()
) -> tuple[Constraint, ...]:
    """Return what truncating division says of the quotients among the symbols.

    ``positive`` ones are at least 1.
    """
    facts: list[Constraint] = []
    for quotient in quotient_symbols(symbols, scope):
        whole = Polynomial.symbol(quotient.symbol) * quotient.denominator
        facts.append(Constraint(whole + quotient.denominator - 1 - quotient.numerator))
        if quotient.symbol in positive or is_nonnegative(quotient.numerator, scope.lower):
            facts.append(Constraint(quotient.numerator - whole))
    return tuple(facts)


def quotient_bounds(symbols: Iterable[str], scope: Scope, positive: Set[str] = frozenset()) -> dict[str, int]:
    """The least values of the quotients among the symbols, where they are known not to be negative."""
    bounds: dict[str, int] = {}
    for quotient in quotient_symbols(symbols, scope):
        if quotient.symbol in positive:
            bounds[quotient.symbol] = 1
        elif is_nonnegative(quotient.numerator, scope.lower):
            bounds[quotient.symbol] = 0
    return bounds


def with_facts(constraints: Sequence[Constraint], lower: Mapping[str, int]) -> tuple[Form, ...]:
    """The constraints, their products that speak of the same monomials, and the bounds of all monomials.

    ``lower`` gives the least value of the symbols that have one; others multiply nothing.
    """
    base = tuple(dict.fromkeys(form_of(c) for c in constraints))
    symbols = {s for m in monomials(base) for s in m}
    return _with_facts(base, tuple(sorted((s, b) for s, b in lower.items() if s in symbols)))


@lru_cache(maxsize=8192)
def _with_facts(base: tuple[Form, ...], bounds: tuple[tuple[str, int], ...]) -> tuple[Form, ...]:
    lower = dict(bounds)
    factors = [form for form in base if not _is_bound(form, lower)]
    known = monomials(base)
    targets = {m for m in known if len(m) > 1}
    highest = max(map(len, targets), default=1)
    products: dict[Form, None] = {}
    for _ in range(2):
        # Those that speak of what is known come first: others only help together with some that do.
        multiplied = sorted(
            {_times(form, by): None for form in factors for by in _cofactors(form, targets, lower)},
            key=lambda form: len(_products_in(form) - known),
        )
        new_targets: set[Monomial] = set()
        for form in multiplied:
            unknown = _products_in(form) - known
            if form in products or len(unknown) > 2 or any(len(m) > highest for m in unknown):
                continue
            if len(products) >= _MOST_PRODUCTS:
                break
            products[form] = None
            new_targets |= unknown
            known |= unknown
        if not new_targets:
            break
        targets = new_targets
    everything = (*base, *products)
    return tuple(dict.fromkeys((*everything, *_monomial_bounds(monomials(everything), lower))))


def _products_in(form: Form) -> set[Monomial]:
    return {m for m, _ in form[0] if len(m) > 1}


def _is_bound(form: Form, lower: Mapping[str, int]) -> bool:
    """Whether the form says no more than the least value of a symbol: the bounds of all monomials have its products."""
    linear, constant, equality = form
    match linear:
        case (((name,), factor),) if not equality and factor > 0 and name in lower:
            return factor * lower[name] + constant >= 0
        case _:
            return False


def _cofactors(form: Form, targets: set[Monomial], lower: Mapping[str, int]) -> list[Monomial]:
    found: set[Monomial] = set()
    for monomial, _ in form[0]:
        for target in targets:
            cofactor = _quotient(target, monomial)
            if cofactor and all(lower.get(name, -1) >= 0 for name in cofactor):
                found.add(cofactor)
    return sorted(found)


def _times(form: Form, cofactor: Monomial) -> Form:
    linear = [(tuple(sorted((*m, *cofactor))), c) for m, c in form[0]]
    if form[1]:
        linear.append((cofactor, form[1]))
    return tuple(sorted(linear)), 0, form[2]


def _monomial_bounds(known: set[Monomial], lower: Mapping[str, int]) -> list[Form]:
    bounds: list[Form] = []
    for monomial in sorted(known):
        if any(lower.get(name, -1) < 0 for name in monomial):
            if len(monomial) == 1 and monomial[0] in lower:
                bounds.append((((monomial, 1),), -lower[monomial[0]], False))
            continue
        value = prod(lower[name] for name in monomial)
        bounds.append((((monomial, 1),), -value, False))
        if len(monomial) == 1:
            continue
        for name in sorted(set(monomial)):
            rest = _quotient(monomial, (name,))
            if lower[name] >= 1 and rest in known:
                bounds.append((tuple(sorted(((monomial, 1), (rest, -lower[name])))), 0, False))
    return bounds


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    left = list(monomial)
    for name in divisor:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def infeasible(constraints: Sequence[Constraint], lower: Mapping[str, int]) -> bool:
    """Whether the constraints are proved to have no integer point; False says nothing."""
    if any(_is_false(c) for c in constraints):
        return True
    full = with_facts(constraints, lower)
    return is_empty(sorted({name_of(m) for m in monomials(full)}), rows_of(full))


def _is_false(constraint: Constraint) -> bool:
    if not constraint.polynomial.is_constant:
        return False
    value = constraint.polynomial.constant_value()
    return value != 0 if constraint.equality else value < 0


def implied(goal: Constraint, known: Sequence[Constraint], lower: Mapping[str, int]) -> bool:
    """Whether the known constraints are proved to imply the goal."""
    if not goal.equality and is_nonnegative(goal.polynomial, lower):
        return True
    above = infeasible((*known, Constraint(-goal.polynomial - 1)), lower)
    return above and (not goal.equality or infeasible((*known, Constraint(goal.polynomial - 1)), lower))
