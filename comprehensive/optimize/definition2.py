"""Definition 2 of the paper as executable checks: a tree in, evidence for conditions (i) to (iv) out.

::

    constraint_soundness(tree).holds         # (i)   every leaf's point satisfies its system, by exact evaluation
    code_soundness(tree, agrees).holds       # (ii)  every leaf's code computes what the source computes
    coverage(tree, problem).holds            # (iii) leaves and dead ends fill the space, without overlaps
    optimality(tree, problem).holds          # (iv)  each counter is optimal on some leaf

No check trusts the run that grew the tree: systems are evaluated, subtracted and projected again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import (
    Consistent,
    Inconsistent,
    Solver,
    System,
    is_integer_symbol,
    proves_contradiction,
)
from comprehensive.algebra.eliminate import project, uncovered
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Counter, Fragment, NotApplicable
from comprehensive.optimize.tree import Leaf, Point, Tree


class ConstraintSoundness(Struct, frozen=True):
    """(i): the leaves whose point was verified, those whose point fails, and those without a point."""

    verified: tuple[int, ...]
    violated: tuple[tuple[int, tuple[str, ...]], ...]
    """Leaf and the atoms that its point violates, or the symbols that the point lacks."""
    undecided: tuple[int, ...]

    @property
    def holds(self) -> bool:
        return not self.violated and not self.undecided


def constraint_soundness(tree: Tree[Fragment]) -> ConstraintSoundness:
    """Evaluates every leaf's system at its sample point."""
    verified: list[int] = []
    violated: list[tuple[int, tuple[str, ...]]] = []
    undecided: list[int] = []
    for leaf in tree.leaves:
        if leaf.sample is None:
            undecided.append(leaf.index)
            continue
        faults = _faults(leaf.system, leaf.sample)
        if faults:
            violated.append((leaf.index, faults))
        else:
            verified.append(leaf.index)
    return ConstraintSoundness(tuple(verified), tuple(violated), tuple(undecided))


def _faults(system: System, point: Point) -> tuple[str, ...]:
    missing = tuple(f"no value for {name}" for name in system.symbols if name not in point)
    return missing or tuple(str(atom) for atom in system.all_atoms if not atom.holds(point))


class Pruning(Struct, frozen=True):
    """Pruned branches by their place in `Tree.pruned`: with a proof that checks, with a wrong one, with none."""

    proved: tuple[int, ...]
    wrong: tuple[int, ...]
    unproved: tuple[int, ...]


def pruning(tree: Tree[Fragment]) -> Pruning:
    """Checks the proof of every pruned branch; no solver takes part."""
    proved: list[int] = []
    wrong: list[int] = []
    unproved: list[int] = []
    for number, branch in enumerate(tree.pruned):
        if branch.proof is None:
            unproved.append(number)
        elif set(branch.core) <= set(branch.system.all_atoms) and proves_contradiction(
            branch.proof, branch.core, is_integer_symbol
        ):
            proved.append(number)
        else:
            wrong.append(number)
    return Pruning(tuple(proved), tuple(wrong), tuple(unproved))


Agrees: TypeAlias = Callable[[Fragment, Fragment, Leaf[Fragment]], tuple[int, tuple[str, ...]]]
"""``agrees(source, leaf.fragment, leaf)``: the number of executions compared, a line for each that differs."""


class LeafExecutions(Struct, frozen=True):
    """The result of comparing one leaf with the source."""

    leaf: int
    executions: int
    failures: tuple[str, ...]


class CodeSoundness(Struct, frozen=True):
    """(ii): one entry for each leaf."""

    leaves: tuple[LeafExecutions, ...]

    @property
    def holds(self) -> bool:
        """Whether no execution differs; a leaf that was never executed is no evidence."""
        return all(leaf.executions > 0 and not leaf.failures for leaf in self.leaves)


def code_soundness(tree: Tree[Fragment], agrees: Agrees[Fragment]) -> CodeSoundness:
    """Runs the comparison that the caller provides on every leaf."""
    return CodeSoundness(
        tuple(LeafExecutions(leaf.index, *agrees(tree.source, leaf.fragment, leaf)) for leaf in tree.leaves)
    )


class Gap(Struct, frozen=True):
    """A region that should be covered and is not, with a point of it."""

    system: System
    sample: Point | None


class Overlap(Struct, frozen=True):
    """Two cases, by name (``leaf 2``, ``dead end 0``), and a point that belongs to both (None: undecided)."""

    first: str
    second: str
    sample: Point | None


class Coverage(Struct, frozen=True):
    """(iii): in the full space with the dead ends, and as printed, by projection on the parameters of the program.

    `gaps` and `projected_gaps` are None where the question was not decided; `undecided` says why.
    """

    gaps: tuple[Gap, ...] | None
    overlaps: tuple[Overlap, ...]
    projected_gaps: tuple[Gap, ...] | None
    """Values of the program and data parameters that no leaf serves on any machine."""
    undecided: tuple[str, ...]

    @property
    def is_partition(self) -> bool:
        """Whether every point of the full space is in exactly one leaf or dead end."""
        return self.gaps == () and not self.overlaps

    @property
    def holds(self) -> bool:
        """Whether condition (iii) holds as the paper states it."""
        return self.projected_gaps == ()


def coverage(tree: Tree[Fragment], problem: Problem[Fragment]) -> Coverage:
    """Subtracts every case from the space, intersects each two, and eliminates the counters' limits from the leaves."""
    solver = problem.solver
    undecided: list[str] = []
    cases = [(f"leaf {leaf.index}", leaf.system, leaf.simplified) for leaf in tree.leaves]
    cases += [(f"dead end {end.index}", end.system, end.simplified) for end in tree.dead_ends]
    space = System(tree.assumptions).assume(*tree.assumed)
    gaps = _gaps(space, [simplified for _, _, simplified in cases], solver)
    if gaps is None:
        undecided.append("whether leaves and dead ends fill the space")
    overlaps = _overlaps([(name, system) for name, system, _ in cases], solver)
    projected_gaps: tuple[Gap, ...] | None = None
    try:
        projections = [project(leaf.simplified, tree.limits) for leaf in tree.leaves]
        projected_gaps = _gaps(project(space, tree.limits), projections, solver)
    except ValueError as reason:
        undecided.append(f"the projection on the program's parameters: {reason}")
    else:
        if projected_gaps is None:
            undecided.append("whether the projected leaves fill the space of the program's parameters")
    return Coverage(gaps, overlaps, projected_gaps, tuple(undecided))


def _gaps(space: System, systems: Sequence[System], solver: Solver) -> tuple[Gap, ...] | None:
    regions = uncovered(space, systems, solver)
    if regions is None:
        return None
    return tuple(Gap(region, _point(region, solver)) for region in regions)


def _overlaps(cases: Sequence[tuple[str, System]], solver: Solver) -> tuple[Overlap, ...]:
    found: list[Overlap] = []
    negations = [{c for atom in system.atoms for c in atom.complements()} for _, system in cases]
    for i, (first, one) in enumerate(cases):
        for j, (second, other) in enumerate(cases[:i]):
            # An atom against its complement: what every two cases of a tree have, so the solver is not asked.
            if not negations[j].isdisjoint(one.atoms):
                continue
            verdict = solver.check(one.assume(*other.assumptions).add(*other.atoms))
            if not isinstance(verdict, Inconsistent):
                found.append(
                    Overlap(second, first, verdict.point if isinstance(verdict, Consistent) else None)
                )
    return tuple(found)


def _point(system: System, solver: Solver) -> Point | None:
    verdict = solver.check(system)
    return verdict.point if isinstance(verdict, Consistent) else None


class OptimalLeaf(Struct, frozen=True):
    """A leaf where the strategies of sigma(counter) do not improve the counter."""

    counter: str
    leaf: int


class Optimality(Struct, frozen=True):
    """(iv): for each counter the first leaf where it is optimal; counters without one are in `missing`."""

    optimal: tuple[OptimalLeaf, ...]
    missing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.missing


def optimality(tree: Tree[Fragment], problem: Problem[Fragment]) -> Optimality:
    """Applies the strategies of sigma(counter) to leaves, until one is found that they do not improve.

    As in Algorithm 2, each is applied to what those before it have made, unless they have made that worse; alone one
    of them may do better.
    """
    optimal: list[OptimalLeaf] = []
    missing: list[str] = []
    for counter in tree.counters:
        found = next(
            (best for leaf in tree.leaves if (best := _optimal_at(leaf, counter, problem)) is not None), None
        )
        if found is None:
            missing.append(counter.name)
        else:
            optimal.append(found)
    return Optimality(tuple(optimal), tuple(missing))


def _optimal_at(
    leaf: Leaf[Fragment], counter: Counter[Fragment], problem: Problem[Fragment]
) -> OptimalLeaf | None:
    before, fragment = problem.evaluate(counter, leaf.fragment), leaf.fragment
    for strategy in problem.sigma(counter, problem.strategies):
        outcome = problem.apply(strategy, fragment)
        if isinstance(outcome, NotApplicable):
            continue
        after = problem.evaluate(counter, outcome.fragment)
        if after.value == before.value:
            fragment = outcome.fragment
        elif problem.is_no_worse(counter, after, before):
            return None
    return OptimalLeaf(counter.name, leaf.index)
