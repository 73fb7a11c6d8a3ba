"""Conjunctions tidied up: atoms in, fewer and simpler ones with the same points out, or a contradiction.

    B >= 1,  B >= 0,  B*s - B > 0,  Z - s >= 0,  s - Z >= 0   -->   B >= 1,  s - 1 > 0,  Z - s == 0

Only what single atoms and the least values of symbols show is used, so that this is cheap.  An atom as it enters a
system of which assumptions are known is without factors of known sign (:func:`normalised`)::

    n*(s - 2)^3 > 0  where n >= 0   -->   n*(s - 2) > 0

No other may go: n*(s - 2) >= 0 holds at n == 0, and (s - 2)^2*q >= 0 at s == 2, whatever q is.
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial, product_of
from comprehensive.algebra.sign_sets import NEGATIVE, POSITIVE, ZERO, Signs, factors_of
from comprehensive.algebra.signs import proves, refutes


def tidy(atoms: Iterable[Atom]) -> tuple[Atom, ...] | None:
    """The atoms without those that are seen to follow from others, sorted; None where they contradict each other."""
    listed = tuple(dict.fromkeys(atoms))
    signs = Signs(listed)
    givers = {atom for _, atom in signs.bounds.values()}
    kept: set[Atom] = set()
    for atom in listed:
        reduced = atom if atom in givers else without_factors(atom, signs)
        if reduced.truth is False or refutes(reduced, signs.bounds):
            return None
        if reduced.truth is None and (atom in givers or not proves(reduced, signs.bounds)):
            kept.add(reduced)
    joined: set[Atom] = set()
    for atom in kept:
        opposite = -atom.polynomial
        if atom.relation is Relation.EQ:
            if Atom(atom.polynomial, Relation.GT) in kept or Atom(opposite, Relation.GT) in kept:
                return None
            joined.add(atom)
        elif Atom(opposite, Relation.GT) in kept:
            return None
        elif atom.relation is Relation.GT:
            joined.add(atom)
        elif Atom(opposite, Relation.GE) in kept:
            joined.add(Atom(atom.polynomial, Relation.EQ))
        elif not kept & {Atom(atom.polynomial, Relation.GT), Atom(atom.polynomial, Relation.EQ)}:
            joined.add(atom)
    return tuple(sorted(joined, key=lambda atom: atom.sort_key))


def without_factors(atom: Atom, signs: Signs) -> Atom:
    """Drop factors of known sign:  B*s - B > 0  where B >= 1   -->   s - 1 > 0.

    The other factors in no higher power than their sign needs; a single factor stays as it is.
    """
    scale, factors = factors_of(atom.polynomial)
    if sum(power for _, power in factors) < 2:
        return atom
    kept = [Polynomial(1 if scale > 0 else -1)]
    for factor, power in factors:
        found = signs.of(factor)
        if found == POSITIVE or (found == NEGATIVE and power % 2 == 0):
            continue
        if found == NEGATIVE:
            kept.append(Polynomial(-1))
        else:
            # f^3 has the signs of f, and f^4 those of f^2.
            kept.append(factor if power % 2 or atom.relation is Relation.EQ else factor**2)
    return Atom(product_of(kept), atom.relation)


def without_zeros(atom: Atom, name: str, signs: Signs) -> Atom:
    """Drop the powers of the variable whose coefficient is 0 where the other atoms hold."""
    polynomial = atom.polynomial
    for power in range(1, polynomial.degree(name) + 1):
        coefficient = polynomial.coefficient(name, power)
        if coefficient and signs.of(coefficient) == ZERO:
            polynomial -= coefficient * Polynomial.symbol(name) ** power
    return Atom(polynomial, atom.relation)


# Larger polynomials stay as they are: they would take seconds to factor, and no counter has them.
_MOST_TERMS = 64
_HIGHEST_DEGREE = 16


def normalised(atom: Atom, signs: Signs) -> Atom:
    """The atom without factors of known sign; the same points among those where the atoms of `signs` hold."""
    polynomial = atom.polynomial
    if _is_prime(polynomial) or polynomial.total_degree > _HIGHEST_DEGREE:
        return atom
    return atom if len(polynomial.terms()) > _MOST_TERMS else without_factors(atom, signs)


def _is_prime(polynomial: Polynomial) -> bool:
    """Return whether a polynomial has, at a glance, one factor: a symbol stands in one term only, alone.

    So it is with a machine parameter against a value, and these are nearly all atoms of a tree.
    """
    users: dict[str, int] = {}
    alone: set[str] = set()
    for term in polynomial.terms():
        for name, _ in term.powers:
            users[name] = users.get(name, 0) + 1
        if len(term.powers) == 1 and term.powers[0][1] == 1:
            alone.add(term.powers[0][0])
    return any(users[name] == 1 for name in alone)
