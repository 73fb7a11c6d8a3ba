"""A semi-algebraic system: atoms in, a frozen ordered set that holds, grows, compares and prints out.

    >>> B, Z = Polynomial.symbol("B"), Polynomial.symbol("Z_B")
    >>> System((at_least(B, 1),), (at_most(2 * B + 2, Z),)).format(isolate=("Z_B",))
    ('2*B + 2 <= Z_B',)

Assumptions are what always holds (`B >= 1`, `Z_B >= 0`); the atoms are what the decisions added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.polynomial import Scalar


@dataclass(frozen=True, slots=True)
class System:
    """The conjunction of `assumptions` and `atoms`.

    Both are kept sorted and without duplicates; an atom that is also an assumption, or that is true for its
    constant alone, is dropped. So systems with equal sets are equal values and print alike.
    """

    assumptions: tuple[Atom, ...] = ()
    atoms: tuple[Atom, ...] = ()
    parent: System | None = field(default=None, compare=False, repr=False)
    """The system that `add` or `assume` has made this one from."""
    added: tuple[Atom, ...] = field(default=(), compare=False, repr=False)
    """The atoms that the parent lacks."""

    def __post_init__(self) -> None:
        if self.parent is None:
            assumed = {atom for atom in self.assumptions if atom.truth is not True}
            atoms = {atom for atom in self.atoms if atom.truth is not True} - assumed
            object.__setattr__(self, "assumptions", _sorted(assumed))
            object.__setattr__(self, "atoms", _sorted(atoms))

    def add(self, *atoms: Atom) -> System:
        """This system and the given atoms; this very system where they are nothing new."""
        grown = list(self.atoms)
        added: list[Atom] = []
        for atom in atoms:
            if atom.truth is not True and not _contains(self.assumptions, atom):
                place = bisect_left(grown, atom.sort_key, key=_sort_key)
                if place == len(grown) or grown[place] != atom:
                    grown.insert(place, atom)
                    added.append(atom)
        return System(self.assumptions, tuple(grown), self, tuple(added)) if added else self

    def assume(self, *atoms: Atom) -> System:
        """This system with more assumptions; this very system where they are nothing new."""
        new = {atom for atom in atoms if atom.truth is not True and not _contains(self.assumptions, atom)}
        if not new:
            return self
        rest = tuple(atom for atom in self.atoms if atom not in new)
        added = _sorted(new.difference(self.atoms))
        return System(_sorted({*self.assumptions, *new}), rest, self, added)

    @property
    def all_atoms(self) -> tuple[Atom, ...]:
        """The assumptions, then the atoms."""
        return self.assumptions + self.atoms

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names that occur, sorted."""
        return tuple(sorted({name for atom in self.all_atoms for name in atom.symbols}))

    def holds(self, point: Mapping[str, Scalar]) -> bool:
        """Whether everything holds at a point. KeyError names a symbol that the point does not give."""
        return all(atom.holds(point) for atom in self.all_atoms)

    def in_order(self, order: Sequence[str] = (), isolate: Sequence[str] = ()) -> tuple[Atom, ...]:
        """The atoms, without the assumptions, in the order of figure 7 of the paper.

        Sorted by the first symbol of `isolate` that they contain, bounds from below before bounds from above;
        atoms without such a symbol come last.
        """

        def place(atom: Atom) -> tuple[int, bool, str]:
            first = next((i for i, name in enumerate(isolate) if name in atom.symbols), len(isolate))
            return first, not atom.is_bound_from_below(isolate), atom.format(order, isolate)

        return tuple(sorted(self.atoms, key=place))

    def format(self, order: Sequence[str] = (), isolate: Sequence[str] = ()) -> tuple[str, ...]:
        """The text of each atom, in the order of :meth:`in_order`."""
        return tuple(atom.format(order, isolate) for atom in self.in_order(order, isolate))

    def __str__(self) -> str:
        return "{" + ", ".join(self.format()) + "}"


def _sorted(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    return tuple(sorted(atoms, key=_sort_key))


def _sort_key(atom: Atom) -> tuple[object, ...]:
    return atom.sort_key


def _contains(atoms: Sequence[Atom], atom: Atom) -> bool:
    place = bisect_left(atoms, atom.sort_key, key=_sort_key)
    return place < len(atoms) and atoms[place] == atom
