"""The rounding of atoms over integers: `2*x - 5 >= 0` is `x - 3 >= 0`, and `x - y > 0` is `x - y - 1 >= 0`.

In: an atom and which symbols are integers.  Out: an atom with the same integer points and fewer real ones; the same
atom where a symbol is no integer.  With integer values of the symbols every monomial is an integer, so that this is
right for polynomials of any degree (Chvatal's cuts for the linear ones).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor, gcd

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial


def rounded(atom: Atom, is_integer: Callable[[str], bool]) -> Atom:
    """The atom at its integer points. An equation without one becomes `-1 == 0`."""
    terms = atom.polynomial.terms()
    if atom.polynomial.is_constant or not all(map(is_integer, atom.symbols)):
        return atom
    constant = 0 if terms[-1].powers else terms[-1].coefficient.numerator
    step = gcd(*(term.coefficient.numerator for term in terms if term.powers))
    if atom.relation is Relation.EQ:
        return atom if constant % step == 0 else Atom(Polynomial(-1), Relation.EQ)
    if step == 1 and atom.relation is Relation.GE:
        return atom
    # step*q + constant > 0 is step*q + constant - 1 >= 0 is q + floor((constant - 1)/step) >= 0.
    lowered = constant - 1 if atom.relation is Relation.GT else constant
    whole = (atom.polynomial - constant) * Fraction(1, step) + floor(Fraction(lowered, step))
    return Atom(whole, Relation.GE)
