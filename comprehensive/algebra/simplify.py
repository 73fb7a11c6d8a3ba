"""Drops what the rest implies: a system in, an equivalent one with fewer atoms out.

{Z_B < 2*s*B + 2, Z_B < 2*B + 2} where s >= 1, B >= 1   -->   {Z_B < 2*B + 2}
"""

from __future__ import annotations

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.refute import contradicts_by_sign
from comprehensive.algebra.system import System


def simplify(system: System) -> System:
    """The system without atoms that the others and the assumptions imply; assumptions all stay.

    Comparison of signs decides, at about a millisecond a system. An atom whose implication is undecided is kept.
    """
    kept = list(system.atoms)
    # The more complicated of two equivalent atoms goes first.
    for atom in sorted(system.atoms, key=_complexity, reverse=True):
        rest = [other for other in kept if other is not atom]
        if all(contradicts_by_sign(c, (*system.assumptions, *rest)) for c in atom.complements()):
            kept = rest
    return System(system.assumptions, tuple(kept))


def _complexity(atom: Atom) -> tuple[object, ...]:
    return (atom.polynomial.total_degree, len(atom.polynomial.terms()), atom.sort_key)
