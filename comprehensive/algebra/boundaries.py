"""Systems at given values of most symbols: systems and values in, the polynomials where an answer may change out.

>>> B, Z = Polynomial.symbol("B"), Polynomial.symbol("Z_B")
>>> given = specialize([System((), (at_most(2 * B + 2, Z),))], ("B",), {"Z_B": 98})
>>> [str(boundary.polynomial) for boundary in given.boundaries]
['B - 48']
>>> given.choice({"B": 48}), given.choice({"B": 49})
(0, None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.system import System


class Boundary(Struct, frozen=True):
    """An irreducible polynomial in the free symbols that is 0 where an atom may change its truth.

    `equations` are those atoms as they were before values were put in, with `==`; none for the edge of a box.
    """

    polynomial: Polynomial
    equations: tuple[Atom, ...]


class Specialized(Struct, frozen=True):
    """Systems with values put in; None stands for one that no point satisfies any more."""

    symbols: tuple[str, ...]
    systems: tuple[tuple[Atom, ...] | None, ...]
    boundaries: tuple[Boundary, ...]

    def choice(self, point: Mapping[str, Scalar]) -> int | None:
        """The index of the first system that holds at a point, None where none does."""
        for index, atoms in enumerate(self.systems):
            if atoms is not None and all(atom.holds(point) for atom in atoms):
                return index
        return None


def specialize(
    systems: Sequence[System], symbols: Sequence[str], values: Mapping[str, Scalar]
) -> Specialized:
    """The systems with `values` put in, which must leave no symbol but `symbols`.

    ValueError names every symbol that has no value, one that is to stay free and has one, and one named twice.
    """
    _demand_complete(systems, symbols, values)
    put_in: list[tuple[Atom, ...] | None] = []
    sources: dict[Polynomial, dict[Atom, None]] = {}
    for system in systems:
        pairs = [(atom, atom.substitute(values)) for atom in system.all_atoms]
        if any(found.truth is False for _, found in pairs):
            put_in.append(None)
            continue
        put_in.append(tuple(found for _, found in pairs if found.truth is None))
        for atom, found in pairs:
            for factor, _ in found.polynomial.factor()[1]:
                sources.setdefault(factor, {})[Atom(atom.polynomial, Relation.EQ)] = None
    boundaries = tuple(
        Boundary(factor, tuple(sorted(sources[factor], key=lambda atom: atom.sort_key)))
        for factor in sorted(sources, key=lambda factor: factor.sort_key)
    )
    return Specialized(tuple(symbols), tuple(put_in), boundaries)


def _demand_complete(systems: Sequence[System], symbols: Sequence[str], values: Mapping[str, Scalar]) -> None:
    if len(set(symbols)) != len(symbols):
        raise ValueError(f"the symbols {', '.join(symbols)} must differ")
    both = [name for name in symbols if name in values]
    if both:
        raise ValueError(f"{', '.join(both)} cannot both vary and have a value")
    missing = sorted({name for system in systems for name in system.symbols} - {*symbols, *values})
    if missing:
        raise ValueError(f"no value is given for {', '.join(missing)}")
