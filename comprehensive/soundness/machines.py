"""A machine on which a given leaf runs at given parameters.

In: a tree, the number of a leaf, and values for its parameters.  Out: values for the machine parameters on which the
leaf depends, or None where no machine was found that brings these parameters to the leaf::

    {2*B + 2 <= Z_B, Z_B < 2*s*B + 2} at B = 8, s = 4   -->   Z_B = 65
    the same at s = 1                                   -->   None

Each is as large as the system allows.  Where that does not lead to the leaf, since counters are quotients of several
parameters (warps of a multiprocessor over warps of a block), the machine of the leaf's own sample point and the known
devices are tried: only limits are not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil

from comprehensive.algebra import Atom, Relation, with_quotients
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import devices
from comprehensive.machine.parameters import MACHINE_PARAMETERS, ample
from comprehensive.optimize.tree import DeadEnd, Point, Tree, leaf_for

AMPLE = 1 << 24
"""The value of a machine parameter that nothing bounds from above."""


def machine_for(
    tree: Tree[Variant], leaf: int, values: Mapping[str, int | Fraction]
) -> dict[str, int] | None:
    """Return a machine under which the system of the leaf holds; None where none was found.

    ``values`` give every scalar of the nest, and every limit that no device has.
    """
    atoms, sample = tree.leaves[leaf].system.all_atoms, tree.leaves[leaf].sample
    spoken = {name for atom in atoms for name in atom.symbols}
    for quotient in tree.quotients:
        if quotient.symbol in spoken:
            spoken.update(quotient.above.symbols, quotient.below.symbols)
    limits = [name for name in tree.limits if name not in values]
    others = [name for name in MACHINE_PARAMETERS if name in spoken and name not in limits]
    for given in _machines(others, sample or {}):
        known = with_quotients({**values, **given}, tree.quotients)
        names = [name for name in (*limits, *others) if name not in given]
        machine = {**given, **{name: _largest(name, atoms, known) for name in names}}
        point = with_quotients({**values, **machine}, tree.quotients)
        if min(machine.values(), default=0) >= 0 and all(atom.holds(point) for atom in atoms):
            return machine
    return None


def _machines(names: Sequence[str], sample: Point) -> Iterator[Mapping[str, int]]:
    """Yield what to try for parameters that limit no counter: nothing yet, those of the sample, known devices."""
    yield {}
    if names:
        for machine in (sample, *(device.parameters() for device in devices())):
            yield {name: int(machine[name]) for name in names if name in machine}


def _largest(name: str, atoms: Sequence[Atom], known: Mapping[str, int | Fraction]) -> int:
    """Return the largest value of a machine parameter under atoms that are linear in it and else known."""
    upper = Fraction(AMPLE)
    for atom in atoms:
        slope = atom.polynomial.coefficient(name, 1)
        rest = atom.polynomial.substitute({name: 0})
        if any(other not in known for other in (*slope.symbols, *rest.symbols)):
            continue  # bounded by another machine parameter
        steepness = slope.evaluate(known)
        if steepness < 0 and atom.polynomial.degree(name) == 1:
            # slope * name + rest >= 0 (or > 0) with slope < 0: name <= rest / -slope.
            bound = rest.evaluate(known) / -steepness
            upper = min(upper, bound if atom.relation is not Relation.GT else Fraction(ceil(bound) - 1))
    return upper.numerator // upper.denominator


def serves_all(
    trees: Sequence[Tree[Variant]], values: Sequence[Mapping[str, int | Fraction]], machine: Mapping[str, int]
) -> bool:
    """Whether a machine that brings one region of a function to a leaf has one for all of them.

    ``values`` are the scalars of each region, and limits with a value.  What ``machine`` does not give is ample.
    """
    plenty = {name: ample(name, AMPLE) for name in MACHINE_PARAMETERS}
    for tree, scalars in zip(trees, values, strict=True):
        others = {limit: AMPLE for limit in tree.limits if limit not in scalars and limit not in plenty}
        if isinstance(leaf_for(tree, {**plenty, **others, **scalars, **machine}), DeadEnd):
            return False
    return True
