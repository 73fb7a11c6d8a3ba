"""A machine on which a given leaf runs at given parameters.

In: the leaf's system and values for its parameters.  Out: values for the machine parameters, as large as the system
allows, or None where no machine brings these parameters to the leaf::

    {2*B + 2 <= Z_B, Z_B < 2*s*B + 2} at B = 8, s = 4   -->   Z_B = 65
    the same at s = 1                                   -->   None
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

from comprehensive.algebra import Relation, System
from comprehensive.loops.ir import Variant
from comprehensive.optimize.tree import DeadEnd, Tree, leaf_for

AMPLE = 1 << 24
"""The value of a machine parameter that nothing bounds from above."""


def machine_for(
    system: System, values: Mapping[str, int | Fraction], limits: Sequence[str]
) -> dict[str, int] | None:
    """Return the largest limits under which the system may hold; None where it does not hold under them.

    ``values`` give every symbol of the system, assumptions included, that is not in ``limits``.
    """
    machine: dict[str, int] = {}
    for limit in limits:
        upper = Fraction(AMPLE)
        for atom in system.all_atoms:
            slope = atom.polynomial.coefficient(limit, 1)
            if limit not in atom.symbols or not slope.is_constant or slope.constant_value() >= 0:
                continue
            # slope * limit + rest >= 0 (or > 0) with slope < 0: limit <= rest / -slope.
            rest = atom.polynomial.substitute({limit: 0})
            if any(name not in values for name in rest.symbols):
                continue  # bounded by another machine parameter
            bound = rest.evaluate(values) / -slope.constant_value()
            upper = min(upper, bound if atom.relation is not Relation.GT else Fraction(ceil(bound) - 1))
        machine[limit] = upper.numerator // upper.denominator
    possible = min(machine.values(), default=0) >= 0
    return machine if possible and system.holds({**values, **machine}) else None


def serves_all(
    trees: Sequence[Tree[Variant]], values: Sequence[Mapping[str, int | Fraction]], machine: Mapping[str, int]
) -> bool:
    """Whether a machine that brings one region of a function to a leaf has one for all of them.

    ``values`` are the scalars of each region, and limits with a value.  What ``machine`` does not give is ample.
    """
    for tree, scalars in zip(trees, values, strict=True):
        limits = {limit: machine.get(limit, AMPLE) for limit in tree.limits if limit not in scalars}
        if isinstance(leaf_for(tree, {**scalars, **limits}), DeadEnd):
            return False
    return True
