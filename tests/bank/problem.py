"""One problem of the bank: where it comes from, its atoms, and the answer that is known.

Symbols named `P_...` are rational and stand for the reals of the literature; all others are integers. A problem with
a witness is consistent, one without has no real (no integer) point at all, by the theorem that it restates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.algebra import Atom, Polynomial, System


@dataclass(frozen=True, slots=True)
class Problem:
    """`witness` satisfies the atoms; None where nothing does."""

    name: str
    source: str
    atoms: tuple[Atom, ...]
    witness: Mapping[str, Fraction] | None

    @property
    def system(self) -> System:
        return System((), self.atoms)


def reals(names: str) -> tuple[Polynomial, ...]:
    """The symbols `P_x` for the names `x`."""
    return tuple(Polynomial.symbol(f"P_{name}") for name in names.split())


def integers(names: str) -> tuple[Polynomial, ...]:
    return tuple(Polynomial.symbol(name) for name in names.split())


def real_point(**values: int | str) -> dict[str, Fraction]:
    """`real_point(x=1, y="1/2")`: a point of symbols made by `reals`."""
    return {f"P_{name}": Fraction(value) for name, value in values.items()}


def integer_point(**values: int) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in values.items()}
