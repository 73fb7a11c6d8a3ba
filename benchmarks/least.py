"""Minima: polynomials in, the cases of which one is the least out.

    least_of((p, q))   -->   p where p <= q,  q where q < p

The cases are disjoint and there are no others: a system with a minimum is consistent just where it is with one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.algebra.atom import Atom, at_most, less
from comprehensive.algebra.polynomial import Polynomial


@dataclass(frozen=True, slots=True)
class Case:
    """A case in which `value` is the least: where `atoms` hold."""

    value: Polynomial
    atoms: tuple[Atom, ...]


def least_of(values: Sequence[Polynomial]) -> tuple[Case, ...]:
    """A case for each value that is the least one, and the first of those. ValueError for no values."""
    if not values:
        raise ValueError("nothing is the least of no values")
    listed = tuple(dict.fromkeys(values))
    cases = (
        Case(
            value,
            (
                *(less(value, other) for other in listed[:at]),
                *(at_most(value, other) for other in listed[at + 1 :]),
            ),
        )
        for at, value in enumerate(listed)
    )
    return tuple(case for case in cases if all(atom.truth is not False for atom in case.atoms))
