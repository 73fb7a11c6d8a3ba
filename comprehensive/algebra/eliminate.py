"""Projection and coverage: systems in, systems without machine parameters, or what they leave uncovered, out.

    project({2*B + 2 <= Z_B, Z_B <= 100}, ["Z_B"])   -->   {2*B + 2 <= 100}

Machine parameters occur linearly, so Fourier-Motzkin elimination is exact over the reals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.fourier import Fact, bracket, least, originals
from comprehensive.algebra.fourier import eliminate as eliminate_symbol
from comprehensive.algebra.sign_sets import Signs
from comprehensive.algebra.signs import proves
from comprehensive.algebra.simplify import simplify
from comprehensive.algebra.solver import Solver
from comprehensive.algebra.system import System
from comprehensive.algebra.tidy import without_factors
from comprehensive.algebra.verdict import Consistent, Inconsistent, Unknown

# More regions than this and a person could not read the answer either.
_MOST_REGIONS = 2000


def project(system: System, eliminate: Sequence[str]) -> System:
    """The system in the other symbols whose points are exactly those that extend to real values of these.

    Assumptions without the symbols stay assumptions. ValueError names a symbol that is not linear with a
    coefficient of known sign.
    """
    assumptions = tuple(a for a in system.assumptions if not set(a.symbols) & set(eliminate))
    signs = Signs(assumptions)
    facts = originals(system.all_atoms)
    waiting = sorted({name for name in eliminate if name in system.symbols})
    while waiting:
        facts, done = _eliminate_one(facts, waiting, assumptions)
        waiting.remove(done)
        facts = tuple(
            fact for fact in facts if fact.atom in assumptions or not proves(fact.atom, signs.bounds)
        )
    reduced = (without_factors(fact.atom, signs) for fact in facts)
    return System(assumptions, _with_equations(reduced))


def _eliminate_one(
    facts: tuple[Fact, ...], names: Sequence[str], assumptions: Sequence[Atom]
) -> tuple[tuple[Fact, ...], str]:
    """The facts without one of the symbols: the first whose elimination makes the fewest new facts."""
    bounds = least(originals(assumptions))
    found = [(name, bracket(facts, name, bounds)) for name in names]
    possible = [(len(b.below) * len(b.above), name, b) for name, b in found if not b.unclear]
    if not possible:
        raise ValueError(f"cannot eliminate {names[0]}: it is not linear with a coefficient of known sign")
    _, name, chosen = min(possible, key=lambda item: item[:2])
    return eliminate_symbol(chosen), name


def _with_equations(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """Joins `p >= 0` and `-p >= 0` to `p == 0`."""
    known = tuple(dict.fromkeys(atoms))
    present = set(known)
    return tuple(
        Atom(atom.polynomial, Relation.EQ)
        if atom.relation is Relation.GE and Atom(-atom.polynomial, Relation.GE) in present
        else atom
        for atom in known
    )


def uncovered(space: System, systems: Sequence[System], solver: Solver) -> tuple[System, ...] | None:
    """The regions of `space` that no system covers (Definition 2 iii of the paper): none means full coverage.

    The regions are consistent and disjoint, in the order found. None when the solver leaves one undecided, or
    when there are thousands.

    space - {a, b}   -->   {space, not a},  {space, a, not b}
    """
    regions = [space]
    for system in systems:
        regions = [piece for region in regions for piece in _without(region, system, solver)]
        if len(regions) > _MOST_REGIONS:
            return None
    verdicts = [solver.check(region) for region in regions]
    if any(isinstance(verdict, Unknown) for verdict in verdicts):
        return None
    return tuple(
        simplify(region)
        for region, verdict in zip(regions, verdicts, strict=True)
        if isinstance(verdict, Consistent)
    )


def _without(region: System, system: System, solver: Solver) -> list[System]:
    """The part of the region outside of the system, in disjoint pieces that are not known to be empty."""
    inside = region.add(*system.all_atoms)
    if isinstance(solver.check(inside), Inconsistent):
        return [region]
    pieces: list[System] = []
    for atom in system.all_atoms:
        if atom in region.all_atoms:
            continue
        for complement in atom.complements():
            piece = region.add(complement)
            if not isinstance(solver.check(piece), Inconsistent):
                pieces.append(piece)
        region = region.add(atom)
    return pieces
