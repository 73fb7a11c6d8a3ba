"""Values compared where assumptions hold: a system of assumptions and two values in, an atom or an answer out.

    space.at_most(value, limit)      # the atom, without a quotient and without factors of known sign
    space.follows(atom)              # whether it holds at every point of the space; None when undecided

Every answer is remembered, since counters give the same values again and again.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import Atom, Inconsistent, Polynomial, Quotient, Relation, Solver, System, equal
from comprehensive.algebra.comparison import compared
from comprehensive.algebra.sign_sets import Signs, SignSet
from comprehensive.algebra.tidy import normalised
from comprehensive.optimize.protocols import Value


class Space:
    """The points of `system`, which has assumptions only; `quotients` are its symbols that are no parameters."""

    def __init__(self, system: System, solver: Solver, quotients: Sequence[Quotient] = ()) -> None:
        self.system = system
        self._quotients = quotients
        self._solver = solver
        self._signs = Signs(system.all_atoms)
        self._denominators: dict[Polynomial, SignSet] = {}
        self._implied: dict[Atom, bool | None] = {}

    def at_most(self, left: Value, right: Value) -> Atom:
        """Return the atom `left <= right`. DenominatorError where one of them is not defined everywhere."""
        return self._atom(left, right, Relation.GE)

    def less(self, left: Value, right: Value) -> Atom:
        """Return the atom `left < right`. DenominatorError where one of them is not defined everywhere."""
        return self._atom(left, right, Relation.GT)

    def demand_defined(self, value: Value) -> None:
        """Raise DenominatorError where the value is not defined everywhere."""
        compared(value, Relation.GE, self._signs_of)

    def follows(self, atom: Atom) -> bool | None:
        """Whether the atom holds at every point; None when undecided."""
        if atom not in self._implied:
            refuted = self._is_refuted(atom)
            self._implied[atom] = False if refuted else self._solver.implies(self.system, atom)
        return self._implied[atom]

    def _is_refuted(self, atom: Atom) -> bool:
        """Whether a point without the atom is found by moving parameters, which is quick where there are quotients."""
        if not self._quotients or atom.truth is not None:
            return False
        # numpy takes time to load, and most trees of users have no quotients.
        from comprehensive.optimize.nearby import nearby

        systems = (self.system.add(complement) for complement in atom.complements())
        return any(
            self._solver.glance(system) is None and nearby(system, (), self._quotients) is not None
            for system in systems
        )

    def _atom(self, left: Value, right: Value, relation: Relation) -> Atom:
        """Return `right - left relation 0`, in as few factors as the assumptions need."""
        return normalised(compared(right - left, relation, self._signs_of), self._signs)

    def _signs_of(self, denominator: Polynomial) -> SignSet:
        """The signs that the assumptions leave."""
        if denominator not in self._denominators:
            open_signs = self._signs.of(denominator)
            if len(open_signs) > 1:
                atoms = {
                    1: Atom(denominator, Relation.GT),
                    0: equal(denominator, 0),
                    -1: Atom(-denominator, Relation.GT),
                }
                verdicts = {
                    sign: self._solver.check(self.system.add(atoms[sign])) for sign in sorted(open_signs)
                }
                open_signs = frozenset(s for s, v in verdicts.items() if not isinstance(v, Inconsistent))
            self._denominators[denominator] = open_signs
        return self._denominators[denominator]
