"""Decides systems: a system in, a verdict out, by a portfolio of steps, cheapest first.

    >>> B, Z = Polynomial.symbol("B"), Polynomial.symbol("Z_B")
    >>> PortfolioSolver().check(System((at_least(B, 1),), (at_most(2 * B, Z), less(Z, 2))))
    Inconsistent(core=(...))

Parameters are integers, and a system without an integer point is inconsistent; where that is not decided, the reals
decide. Every point is verified exactly before it is returned, whichever step found it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import ceil, floor
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from comprehensive.algebra import smt
from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.cores import Cores
from comprehensive.algebra.exhaustion import exhaust
from comprehensive.algebra.fourier import Fact
from comprehensive.algebra.handelman import refute_by_products
from comprehensive.algebra.inherited import Inherited
from comprehensive.algebra.local_search import search
from comprehensive.algebra.pairs import Pairs, compared
from comprehensive.algebra.points import Plan, Point, candidates, complete, is_integral, moved, plan_for
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.refute import refute_by_elimination, refute_by_sign
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import lower_bounds, proves
from comprehensive.algebra.splitting import refute_by_splits, split
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.algebra.system import System
from comprehensive.algebra.verdict import Consistent, Inconsistent, Unknown, Verdict

if TYPE_CHECKING:
    from comprehensive.algebra.point_search import PointSearch

# So many systems are remembered.
_MOST_VERDICTS = 1 << 14
_MOST_PAIRS = 1 << 11
# Of the budget, for what is a nicety or not likely: a whole point where a rational one is known, an interior point.
_SMALL_PART = 6
# Of cases, in terms that are looked at.
_LITTLE_WORK = 1_500
_MUCH_WORK = 30_000
# Simple points are tried, a point is moved so often, and a box is gone through if it has so many points.
_FEW_POINTS = 24
_MOST_STEPS = 25
_MOST_POINTS = 50_000
_MOST_RUNS = 12
# Of products of atoms; the program grows with a power of it.
_DEGREES = (1, 2)


class Solver(Protocol):
    """Decides whether systems have points."""

    def check(self, system: System) -> Verdict:
        """A point, a core, or why neither was found."""
        ...

    def implies(self, system: System, atom: Atom) -> bool | None:
        """Whether the atom holds at every point of the system; None when undecided."""
        ...

    def glance(self, system: System) -> Verdict | None:
        """The verdict, where it is known in next to no time; else None."""
        ...

    def refuted(self, system: System) -> Inconsistent | None:
        """A contradiction, where one is found without a search; else None."""
        ...

    def enter(self, system: System, point: Mapping[str, Scalar]) -> None:
        """Tells of a point of the system that was found elsewhere."""
        ...

    def enter_contradiction(self, system: System, verdict: Inconsistent) -> None:
        """Tells of a contradiction of the system that was found elsewhere."""
        ...

    def minimal(self, verdict: Inconsistent) -> Inconsistent:
        """The same contradiction with as few atoms as can be, for people to read."""
        ...


class PortfolioSolver:
    """Known points, comparison of signs, columns of points, elimination, then z3; what a parent knew, a child knows.

    `use_smt=False` leaves z3 out. A system made by `System.add` starts from what is known of the one that it was made
    from, so which point is returned (never the verdict, unless z3 gives up) depends on what was asked before.
    """

    def __init__(self, *, use_smt: bool = True, limits: smt.Limits | None = None) -> None:
        self._use_smt = use_smt
        self._limits = limits or smt.Limits()
        self._verdicts: dict[System, Verdict] = {}
        self._pairs = Inherited[Pairs | Fact](_pairs_of, _MOST_PAIRS)
        self._search: PointSearch | None = None
        self._cores = Cores()
        self._decided: Counter[str] = Counter()
        self._not_refuted: System | None = None
        """The last system of which elimination has found no contradiction."""

    @property
    def decided_by(self) -> Mapping[str, int]:
        """The number of systems that each step decided, by its name, in sorted order."""
        return dict(sorted(self._decided.items()))

    def check(self, system: System) -> Verdict:
        """A point, a core, or why neither was found."""
        verdict = self._verdicts.get(system)
        if verdict is not None:
            self._decided["memo"] += 1
            return verdict
        step, verdict = self._decide(system)
        if isinstance(verdict, Consistent) and step != "parent":
            assert system.holds(verdict.point), f"step {step!r} gave a point outside of the system"
        self._remember(system, step, verdict)
        return verdict

    def glance(self, system: System) -> Verdict | None:
        """The verdict, where it was asked for before, or constants, signs or a known core contradict; else None."""
        verdict = self._verdicts.get(system)
        if verdict is not None:
            return verdict
        found = self._false_or_inherited(system) or self._crossing_or_core(system)
        if found is not None:
            self._remember(system, *found)
        return None if found is None else found[1]

    def refuted(self, system: System) -> Inconsistent | None:
        """A contradiction of the system that elimination finds: no search, but tens of milliseconds."""
        found = refute_by_elimination(system.all_atoms)
        if found is None:
            self._not_refuted = system
            return None
        verdict = _refuted(found)
        self._cores.enter(verdict)
        self._remember(system, "elimination", verdict)
        return verdict

    def enter(self, system: System, point: Mapping[str, Scalar]) -> None:
        """Tells of a point of the system that was found elsewhere. ValueError where it is none."""
        if not system.holds(point):
            raise ValueError(f"{dict(point)} is no point of the system")
        if system not in self._verdicts:
            self._remember(system, "given", Consistent(dict(point)))

    def enter_contradiction(self, system: System, verdict: Inconsistent) -> None:
        """Tells of a contradiction of the system that was found elsewhere. ValueError where its proof is none."""
        core, proof = verdict.core, verdict.certificate
        known = set(system.all_atoms).issuperset(core)
        if proof is None or not known or not proves_contradiction(proof, core, is_integer_symbol):
            raise ValueError("the contradiction has no proof from atoms of the system")
        if system not in self._verdicts:
            self._cores.enter(verdict)
            self._remember(system, "given", verdict)

    def _remember(self, system: System, step: str, verdict: Verdict) -> None:
        self._decided[step] += 1
        if len(self._verdicts) >= _MOST_VERDICTS:
            self._verdicts.clear()
        self._verdicts[system] = verdict

    def implies(self, system: System, atom: Atom) -> bool | None:
        """Whether the atom holds at every point of the system; None when undecided."""
        atoms = system.all_atoms
        if atom.truth is True or atom in atoms or proves(atom, lower_bounds(atoms)):
            return True
        verdicts = [self.check(system.add(complement)) for complement in atom.complements()]
        if any(isinstance(verdict, Consistent) for verdict in verdicts):
            return False
        return True if all(isinstance(verdict, Inconsistent) for verdict in verdicts) else None

    def minimal(self, verdict: Inconsistent) -> Inconsistent:
        """The contradiction without the atoms that the step which sees it can do without, one after the other."""
        if verdict.is_minimal:
            return verdict
        refuters = (refute_by_sign, refute_by_elimination, _refute_by_cases, self._by_products)
        for refute in refuters if verdict.derivation is not None else ():
            found = refute(verdict.core)
            if found is not None:
                for atom in found.sources:
                    if atom in found.sources:
                        found = refute([other for other in found.sources if other != atom]) or found
                return _refuted(found)
        core = verdict.core
        limits = self._limits.divided(_SMALL_PART)
        for atom in core if verdict.derivation is None and self._use_smt else ():
            rest = [other for other in core if other != atom]
            answer = _solve_rounded(rest, (), limits) if len(rest) < len(core) else None
            core = answer.atoms if isinstance(answer, smt.Core) else core
        return verdict if core == verdict.core else self._contradiction(core)

    def _decide(self, system: System) -> tuple[str, Verdict]:
        contradiction = self._false_or_inherited(system)
        if contradiction is not None:
            return contradiction
        before = self._before(system)
        start = (
            before.point
            if isinstance(before, Consistent) and _speaks_of(before.point, system.added)
            else None
        )
        if start is not None and is_integral(start):
            if all(atom.holds(start) for atom in system.added):
                return "parent", Consistent(start)
            point = moved(start, system.all_atoms, system.added)
            if point is not None:
                return "moved", Consistent(point)
        contradiction = self._crossing_or_core(system)
        if contradiction is not None:
            return contradiction
        point = _simple(system)
        if point is not None:
            return "simple", Consistent(point)
        point = self._pooled(system, start)
        if point is not None:
            return "pool", Consistent(point)
        # What is undecided mostly stays so with one more atom, and z3 has been asked for long.
        limits = self._limits.divided(_SMALL_PART) if isinstance(before, Unknown) else self._limits
        step, verdict = self._decide_alone(system, start, limits)
        if isinstance(verdict, Inconsistent):
            self._cores.enter(verdict)
        return step, verdict

    def _before(self, system: System) -> Verdict | None:
        """Return what is known of the system that this one was made from."""
        return self._verdicts.get(system.parent) if system.parent is not None else None

    def _false_or_inherited(self, system: System) -> tuple[str, Inconsistent] | None:
        """The contradiction of one atom without symbols, or that of the parent."""
        for atom in system.added or system.all_atoms:
            if atom.truth is False:
                return "constant", _refuted(Fact(atom, (atom,)))
        before = self._before(system)
        return ("parent", before) if isinstance(before, Inconsistent) else None

    def _crossing_or_core(self, system: System) -> tuple[str, Inconsistent] | None:
        """The contradiction of one or two atoms by their signs, or one met before."""
        pairs = self._pairs.of(system)
        if isinstance(pairs, Fact):
            return "sign", _refuted(pairs)
        known = self._cores.within(system)
        return None if known is None else ("core", known)

    def _pooled(self, system: System, start: Mapping[str, Scalar] | None) -> Point | None:
        if self._search is None:
            # numpy takes time to load, and most trees of users never get here.
            from comprehensive.algebra.point_search import PointSearch

            self._search = PointSearch()
        return self._search.find(system, start)

    def _decide_alone(
        self, system: System, start: Mapping[str, Scalar] | None, limits: smt.Limits
    ) -> tuple[str, Verdict]:
        """The steps that take nothing but a point over from a parent."""
        atoms = system.all_atoms
        plan = plan_for(atoms)
        rational: Point | None = None
        if not all(map(is_integer_symbol, plan.free)):
            for given in candidates(atoms, plan.free):
                point = complete(plan, given)
                if point is not None and is_integral(point):
                    return "candidates", Consistent(point)
                rational = rational or point
        refuted = None if system is self._not_refuted else refute_by_elimination(atoms)
        if refuted is not None:
            return "elimination", _refuted(refuted)
        settled = _by_cases(atoms, _LITTLE_WORK)
        if settled is not None:
            return settled
        # A point is mostly there, and z3 mostly finds it in a fraction of what the other steps take to find none.
        asked = self._asked(atoms, plan, rational, limits)
        if isinstance(asked.found, dict):
            return "smt", Consistent(asked.found)
        if asked.found is None:
            settled = _searched(atoms, plan, start)
        settled = settled or _by_cases(atoms, _MUCH_WORK)
        if settled is not None:
            return settled
        if isinstance(asked.found, smt.Core):
            return "smt", self._contradiction(asked.found.atoms)
        if rational is not None:
            return "candidates", Consistent(rational)
        if not self._use_smt:
            return "undecided", Unknown("no cheap step decides the system and the SMT solver is switched off")
        rational = asked.rational or _interior_point(atoms, limits)
        if rational is not None:
            return "smt", Consistent(rational)
        found = self._by_products(atoms)
        if found is not None:
            return "products", _refuted(found)
        if isinstance(asked.answer, smt.Undecided):
            return "undecided", Unknown(f"the SMT solver gave up: {asked.answer.reason}")
        return "undecided", Unknown("the points that were found have irrational coordinates")

    def _asked(self, atoms: Sequence[Atom], plan: Plan, rational: Point | None, limits: smt.Limits) -> _Asked:
        """Return z3's answer, where it may be asked; where a rational point is known, only an integer one is sought."""
        if not self._use_smt:
            return _Asked(None, None, None)
        if rational is not None:
            return _Asked(None, _whole_point(atoms, plan, limits), None)
        return _asked(atoms, plan, limits)

    def _contradiction(self, core: tuple[Atom, ...]) -> Inconsistent:
        """The core, with a derivation if there is one."""
        found = refute_by_sign(core) or refute_by_elimination(core) or self._by_products(core)
        return Inconsistent(core) if found is None else _refuted(found)

    def _by_products(self, atoms: Sequence[Atom]) -> Fact | None:
        limits = self._limits.divided(_SMALL_PART)
        found = (refute_by_products(atoms, degree, limits) for degree in _DEGREES)
        return next((fact for fact in found if fact is not None), None)


def _pairs_of(system: System, above: Pairs | Fact | None) -> Pairs | Fact:
    if above is None:
        return compared(system.all_atoms)
    return above.extended(system.added) if isinstance(above, Pairs) else above


def _speaks_of(point: Mapping[str, Scalar], atoms: Iterable[Atom]) -> bool:
    return all(name in point for atom in atoms for name in atom.symbols)


def _simple(system: System) -> Point | None:
    """An integer point with small values of the free symbols."""
    plan = plan_for(system.all_atoms)
    points = (complete(plan, given) for given in islice(candidates(system.all_atoms, plan.free), _FEW_POINTS))
    return next((point for point in points if point is not None and is_integral(point)), None)


def _refute_by_cases(atoms: Sequence[Atom]) -> Fact | None:
    return refute_by_splits(atoms, _MUCH_WORK)


def _refuted(found: Fact) -> Inconsistent:
    return Inconsistent(found.sources, found)


def _by_cases(atoms: Sequence[Atom], most_work: int) -> tuple[str, Verdict] | None:
    found = split(atoms, most_work)
    if isinstance(found, Fact):
        return "cases", _refuted(found)
    return None if found is None else ("cases", Consistent(found))


def _searched(
    atoms: Sequence[Atom], plan: Plan, start: Mapping[str, Scalar] | None
) -> tuple[str, Verdict] | None:
    """A search for a point, then all points of a small box."""
    point = search(atoms, plan, [{}] if start is None else [start, {}], _MOST_STEPS)
    if point is not None:
        return "local search", Consistent(point)
    exhausted = exhaust(atoms, _MOST_POINTS, _MOST_RUNS)
    if exhausted is None:
        return None
    return "exhaustion", Inconsistent(exhausted) if isinstance(exhausted, tuple) else Consistent(exhausted)


class _Asked(Struct, frozen=True):
    """The answers of z3: one over the reals, an integer point or atoms that have none, and a rational point."""

    answer: smt.Answer | None
    found: Point | smt.Core | None
    rational: Point | None


def _asked(atoms: Sequence[Atom], plan: Plan, limits: smt.Limits) -> _Asked:
    answer = _solve_rounded(atoms, (), limits)
    if isinstance(answer, smt.Core):
        return _Asked(answer, answer, None)
    near = answer.values if isinstance(answer, smt.Model) else None
    rational = near if isinstance(answer, smt.Model) and answer.exact else None
    if rational is not None and is_integral(rational):
        return _Asked(answer, dict(rational), None)
    for given in () if near is None else _roundings(near, plan.free):
        point = complete(plan, given)
        if point is not None and is_integral(point):
            return _Asked(answer, point, None)
        rational = rational or point
    return _Asked(answer, _whole_point(atoms, plan, limits), None if rational is None else dict(rational))


def _solve_rounded(atoms: Sequence[Atom], integers: Sequence[str], limits: smt.Limits) -> smt.Answer:
    """z3 on what the atoms say of integers; a core is one of the atoms as given."""
    given = {rounded(atom, is_integer_symbol): atom for atom in reversed(atoms)}
    answer = smt.solve(list(reversed(given)), integers, limits)
    return smt.Core(tuple(given[atom] for atom in answer.atoms)) if isinstance(answer, smt.Core) else answer


def _whole_point(atoms: Sequence[Atom], plan: Plan, limits: smt.Limits) -> Point | smt.Core | None:
    """A point with integers where they belong, atoms that have none, or None when neither is found."""
    names = {name for atom in atoms for name in atom.symbols}
    whole = [name for name in names if is_integer_symbol(name)]
    answer = _solve_rounded(atoms, whole, limits.divided(_SMALL_PART))
    match answer:
        case smt.Core():
            return answer
        case smt.Model(values, exact):
            return dict(values) if exact else complete(plan, values)
        case smt.Undecided():
            return None


def _interior_point(atoms: Sequence[Atom], limits: smt.Limits) -> Point | None:
    """A point where inequalities hold strictly: an open set has rational points, and z3 takes those."""
    strict = [atom if atom.relation is Relation.EQ else Atom(atom.polynomial, Relation.GT) for atom in atoms]
    answer = smt.solve(strict, limits=limits.divided(_SMALL_PART))
    return dict(answer.values) if isinstance(answer, smt.Model) and answer.exact else None


def _roundings(values: Mapping[str, Fraction], free: Sequence[str]) -> Iterator[Point]:
    """The free symbols rounded up, down, and to ever finer fractions."""
    for nearest in (ceil, floor, round):
        yield {
            name: Fraction(nearest(values[name])) if is_integer_symbol(name) else values[name]
            for name in free
        }
    for denominator in (8, 1024, 1 << 20):
        yield {name: values[name].limit_denominator(denominator) for name in free}
    yield {name: values[name] for name in free}
