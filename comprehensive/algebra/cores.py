"""Contradictions met before: a system in, one whose atoms it has in full out.

Counters of neighbouring leaves ask the same questions, so the few atoms that contradict each other come back together
on other branches.  Only cores that are dear to find again are worth their place.
"""

from __future__ import annotations

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.system import System
from comprehensive.algebra.verdict import Inconsistent

# Cores by one of their atoms; then all are forgotten.
_MOST_CORES = 1 << 12


class Cores:
    """Remembers contradictions by each of their atoms."""

    def __init__(self) -> None:
        self._by_atom: dict[Atom, dict[frozenset[Atom], Inconsistent]] = {}
        self._count = 0

    def enter(self, verdict: Inconsistent) -> None:
        """Remembers the contradiction."""
        if self._count >= _MOST_CORES:
            self._by_atom.clear()
            self._count = 0
        self._count += 1
        core = frozenset(verdict.core)
        for atom in core:
            self._by_atom.setdefault(atom, {}).setdefault(core, verdict)

    def within(self, system: System) -> Inconsistent | None:
        """A contradiction of atoms of the system, one of them new in it."""
        found = [self._by_atom[atom] for atom in system.added or system.all_atoms if atom in self._by_atom]
        atoms = frozenset(system.all_atoms) if found else frozenset[Atom]()
        return next((verdict for cores in found for core, verdict in cores.items() if core <= atoms), None)
