"""An atom as it enters a system of which assumptions are known: an atom in, a simpler one that is equivalent there out.

    B*s - B >= 0  where B >= 1   -->   s - 1 >= 0
    n*(s - 2)^3 > 0  where n >= 0   -->   n*(s - 2) > 0

Factors of known sign go; no other may: n*(s - 2) >= 0 holds at n == 0, and (s - 2)^2*q >= 0 at s == 2, whatever q is.
"""

from __future__ import annotations

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.sign_sets import Signs
from comprehensive.algebra.tidy import without_factors

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
