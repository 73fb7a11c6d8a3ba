"""A second opinion on raw integer formulas: polynomial constraints in, "surely no point" or no answer out.

The solver sees the products that lifting hides.  It gets a fixed amount of work, so that the same question has the
same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.algebra import Polynomial, at_least, equal
from comprehensive.algebra.smt import Core, Limits, solve
from comprehensive.poly.model import Constraint

_LIMITS = Limits(resources=400_000, seconds=2.0)


def has_no_integer_point(constraints: Sequence[Constraint], lower: Mapping[str, int]) -> bool:
    """Whether z3 proves that no integers satisfy the constraints and lower bounds; False says nothing."""
    atoms = [equal(c.polynomial, 0) if c.equality else at_least(c.polynomial, 0) for c in constraints]
    symbols = sorted({name for atom in atoms for name in atom.symbols})
    atoms += [at_least(Polynomial.symbol(name), lower[name]) for name in symbols if name in lower]
    return isinstance(solve(atoms, symbols, _LIMITS), Core)
