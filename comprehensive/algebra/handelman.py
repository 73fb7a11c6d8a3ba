"""Contradictions as sums of products: atoms in, a false fact with its derivation or None out.

Products of atoms with each other and with `symbol - bound` are never negative where the atoms hold.  If a combination
of them with positive coefficients is a negative constant, no point satisfies the atoms (Farkas for linear atoms,
Handelman for polynomials).  Which combination, an exact linear program says, whose constraints are the coefficients:

    x*y >= 5,  x + y <= 4,  x >= 1,  y >= 1
        -->   (x*y - 5) + (x - 1)*(4 - x - y) + ... == -1
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

from msgspec import Struct

from comprehensive.algebra import smt
from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.fourier import (
    Bounds,
    Combination,
    Fact,
    Square,
    joined,
    least,
    originals,
    rounded_fact,
)
from comprehensive.algebra.polynomial import Polynomial, product_of
from comprehensive.algebra.signs import MOST_TERMS, expanded_terms
from comprehensive.algebra.symbols import is_integer_symbol

_MOST_ATOMS = 24
_MOST_PRODUCTS = 400
_HIGHEST_DEGREE = 6
Monomial = tuple[tuple[str, int], ...]


class _Column(Struct, frozen=True):
    """A product of facts; `shifted` is its polynomial in `symbol - bound`."""

    factors: tuple[Fact, ...]
    shifted: dict[Monomial, Fraction]
    is_strict: bool
    is_zero: bool


def refute_by_products(atoms: Sequence[Atom], degree: int, limits: smt.Limits) -> Fact | None:
    """A contradiction among products of at most `degree` atoms, bounds of symbols included."""
    facts = tuple(rounded_fact(fact, is_integer_symbol) for fact in originals(atoms))
    bounds = least(facts)
    columns = _columns(facts, bounds, degree)
    monomials = sorted({monomial for column in columns for monomial in column.shifted if monomial})
    entries: dict[Monomial, list[tuple[int, Fraction]]] = {monomial: [] for monomial in monomials}
    for number, column in enumerate(columns):
        for monomial, coefficient in column.shifted.items():
            if monomial:
                entries[monomial].append((number, coefficient))
    program = smt.Program(
        rows=tuple(tuple(entries[monomial]) for monomial in monomials),
        # What is left of a monomial is taken away by a product of bounds, where all its symbols have one.
        exact=tuple(not all(name in bounds for name, _ in monomial) for monomial in monomials),
        constant=tuple(column.shifted.get((), Fraction(0)) for column in columns),
        strict=tuple(column.is_strict for column in columns),
        free=tuple(column.is_zero for column in columns),
    )
    found = smt.combination(program, limits)
    return None if found is None else _combined(columns, found, bounds)


def _combined(columns: Sequence[_Column], values: Sequence[Fraction], bounds: Bounds) -> Fact:
    """The columns and the products of bounds that together leave a constant only."""
    parts = [(value, column.factors) for value, column in zip(values, columns, strict=True) if value]
    left: dict[Monomial, Fraction] = {}
    for value, column in zip(values, columns, strict=True):
        for monomial, coefficient in column.shifted.items() if value else ():
            left[monomial] = left.get(monomial, Fraction(0)) + value * coefficient
    for monomial, coefficient in sorted(left.items()):
        if monomial and coefficient:
            lifted = tuple(bounds[name][1] for name, power in monomial for _ in range(power))
            slope = product_of(fact.atom.polynomial.coefficient(fact.atom.symbols[0], 1) for fact in lifted)
            parts.append((-coefficient / slope.constant_value(), lifted))
    total = left.get((), Fraction(0))
    scale = Fraction(-1) / total if total else Fraction(1)
    atom = Atom(Polynomial(-1 if total else 0), Relation.GE if total else Relation.GT)
    sources = joined(*(fact.sources for _, factors in parts for fact in factors))
    return Fact(atom, sources, Combination(tuple((value * scale, factors) for value, factors in parts)))


def _columns(facts: Sequence[Fact], bounds: Bounds, degree: int) -> list[_Column]:
    """Single facts, then products of two and more as long as there is room, those of low degree first."""
    shift = {name: Polynomial.symbol(name) + value for name, (value, _) in bounds.items()}
    small = (fact for fact in facts if expanded_terms(fact.atom.polynomial, shift) <= MOST_TERMS)
    moved = [(fact, fact.atom.polynomial.substitute(shift)) for fact in small if fact.atom.truth is None]
    # A bound itself is a monomial after the shift, and every combination may take those away already; an equation
    # may be added as well.
    own = {id(fact) for _, fact in bounds.values() if fact.atom.relation is not Relation.EQ}
    speaking = [entry for entry in moved if id(entry[0]) not in own][:_MOST_ATOMS]
    multipliers = speaking + [entry for entry in moved if id(entry[0]) in own]
    place = {id(fact): number for number, (fact, _) in enumerate(speaking)}
    columns = [_column((fact,), polynomial) for fact, polynomial in speaking]
    columns += [_column((fact,), fact.atom.polynomial.substitute(shift)) for fact in _squares(facts)]
    for count in range(2, degree + 1):
        for number, first in enumerate(speaking):
            for others in combinations_with_replacement(multipliers, count - 1):
                if len(columns) >= _MOST_PRODUCTS:
                    return columns
                if any(place.get(id(fact), number) < number for fact, _ in others):
                    continue
                polynomial = product_of((first[1], *(p for _, p in others)))
                if polynomial.total_degree <= _HIGHEST_DEGREE:
                    columns.append(_column((first[0], *(fact for fact, _ in others)), polynomial))
    return columns


def _squares(facts: Sequence[Fact]) -> list[Fact]:
    """Differences of symbols, squared: what `x*y` and `x + y` have to do with each other."""
    names = sorted({name for fact in facts for name in fact.atom.symbols})
    roots = [Polynomial.symbol(a) - Polynomial.symbol(b) for a, b in combinations(names, 2)]
    return [Fact(Atom(root * root, Relation.GE), (), Square(root)) for root in roots]


def _column(factors: tuple[Fact, ...], polynomial: Polynomial) -> _Column:
    relations = [fact.atom.relation for fact in factors]
    return _Column(
        factors,
        {term.powers: term.coefficient for term in polynomial.terms()},
        all(relation is Relation.GT for relation in relations),
        Relation.EQ in relations,
    )
