"""Leaves with the same code as one: a tree in, its leaves grouped for printing out.

    leaf 0: 2*s*B + 2 <= Z_B, 9 <= R_B          code X
    leaf 3: Z_B < 2*s*B + 2, 9 <= R_B           code X    -->   code X where 9 <= R_B

The tree keeps every leaf; two systems become one only where the solver proves the union to be a system again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Generic

from comprehensive.algebra import Solver, System
from comprehensive.algebra.eliminate import uncovered
from comprehensive.algebra.simplify import simplify
from comprehensive.optimize.protocols import Fragment
from comprehensive.optimize.tree import Leaf, Tree


@dataclass(frozen=True, slots=True)
class MergedLeaf(Generic[Fragment]):
    """One code and where it is valid: the union of `systems`, which is the union of the leaves' systems."""

    fragment: Fragment
    applied: tuple[str, ...]
    leaves: tuple[Leaf[Fragment], ...]
    systems: tuple[System, ...]


def merged_leaves(tree: Tree[Fragment], solver: Solver) -> tuple[MergedLeaf[Fragment], ...]:
    """The leaves grouped by code (fragment and lambda), in the order of their first leaf."""
    groups: dict[tuple[Fragment, tuple[str, ...]], list[Leaf[Fragment]]] = {}
    for leaf in tree.leaves:
        groups.setdefault((leaf.fragment, leaf.applied), []).append(leaf)
    return tuple(
        MergedLeaf(fragment, applied, tuple(leaves), fuse([leaf.simplified for leaf in leaves], solver))
        for (fragment, applied), leaves in groups.items()
    )


def fuse(systems: list[System], solver: Solver) -> tuple[System, ...]:
    """Systems with the same union, two adjoining ones replaced by one as long as there are such two."""
    left = list(dict.fromkeys(systems))
    while True:
        for first, second in combinations(left, 2):
            joined = _union(first, second, solver)
            if joined is not None:
                left[left.index(first)] = joined
                left.remove(second)
                break
        else:
            return tuple(left)


def _union(first: System, second: System, solver: Solver) -> System | None:
    """The union where it is a conjunction of atoms of the two, else None."""
    shared = tuple(
        atom
        for one, other in ((first, second), (second, first))
        for atom in one.atoms
        if atom in other.atoms or solver.implies(other, atom)
    )
    hull = System(first.assumptions, shared)
    # An empty answer is a proof that every point of the hull is in one of the two; None is no answer.
    if uncovered(hull, (first, second), solver) != ():
        return None
    return simplify(hull, solver)
