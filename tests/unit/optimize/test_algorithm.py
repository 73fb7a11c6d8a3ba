"""Algorithms 1 and 2 on tables of counter values, rule by rule."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from comprehensive.algebra import (
    Atom,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    Solver,
    System,
    Unknown,
    Verdict,
    at_least,
    at_most,
    less,
)
from comprehensive.algebra.polynomial import Scalar
from comprehensive.optimize.algorithm import comprehensive_optimization, optimize
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Evaluation, Kind
from comprehensive.optimize.quintuple import Quintuple
from comprehensive.optimize.tree import Branch, Pruned, Tree, walk
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")
WORDS = BitCounter("words", "Z_B", 2, (2 * s * B - 2 * B,), (0,))
SMALLER = BitStrategy("smaller", ("words",), 0)


def grow(problem: Problem[Bits], count: int) -> Tree[Bits]:
    return comprehensive_optimization(problem.initial(zeros(count)), problem)


def regions(tree: Tree[Bits]) -> list[list[str]]:
    return [sorted(leaf.simplified.format(tree.order, tree.limits)) for leaf in tree.leaves]


def branches(tree: Tree[Bits]) -> list[Branch[Bits]]:
    return [node for node, _ in walk(tree.root) if isinstance(node, Branch)]


def test_accept_keeps_the_code_and_refuse_applies_the_first_strategy() -> None:
    registers = BitCounter("registers", "R_B", 10, (4,), (0,))
    problem = problem_of([registers], [BitStrategy("reduce", ("registers",), 0)])
    first, second = optimize(problem.initial(zeros(1)), problem)
    assert first.accept_atoms == (at_most(14, Polynomial.symbol("R_B")),)
    assert first.refuse_atoms == (less(Polynomial.symbol("R_B"), 14),)
    assert isinstance(first.accept, Quintuple)
    assert first.accept.fragment == (False,)
    assert first.strategy == "reduce"
    assert second.arrival.fragment == (True,)
    assert second.arrival.remaining == ()
    assert second.strategy is None


def test_refuse_branch_vanishes_when_no_point_refuses() -> None:
    registers = BitCounter("registers", "R_B", 10, (4,), (0,))
    problem = problem_of([registers], [BitStrategy("reduce", ("registers",), 0)])
    large = problem.initial(zeros(1)).constrain(at_least(Polynomial.symbol("R_B"), 255))
    tree = comprehensive_optimization(large, problem)
    assert [leaf.fragment for leaf in tree.leaves] == [(False,)]
    (pruned,) = tree.pruned
    assert pruned.edge == "refuse"
    assert set(pruned.core) <= set(pruned.system.all_atoms)
    # No strategy is tried for a branch that no point reaches.
    assert branches(tree)[0].tried == ()


def test_region_without_a_variant_is_kept_as_a_dead_end_with_the_reasons() -> None:
    registers = BitCounter("registers", "R_B", 10, (4, 0), (0, 0))
    strategies = [
        BitStrategy("reduce", ("registers",), 0),
        BitStrategy("demote", ("registers",), 1, refusal="no shared memory is free"),
    ]
    tree = grow(problem_of([registers], strategies), 2)
    (end,) = tree.dead_ends
    assert end.counter == "registers"
    assert end.simplified.format(isolate=tree.limits) == ("R_B < 10",)
    assert [(tried.strategy, tried.taken, tried.note) for tried in end.reasons] == [
        ("reduce", True, "bit 0 set"),
        ("demote", False, "no shared memory is free"),
    ]


def test_inapplicable_strategy_is_recorded_and_the_next_one_of_sigma_is_tried() -> None:
    registers = BitCounter("registers", "R_B", 10, (0, 4), (0, 0))
    strategies = [
        BitStrategy("never", ("registers",), 0, refusal="nothing to do"),
        BitStrategy("reduce", ("registers",), 1),
    ]
    tree = grow(problem_of([registers], strategies), 2)
    root = branches(tree)[0]
    assert [(tried.strategy, tried.taken) for tried in root.tried] == [("never", False), ("reduce", True)]
    assert root.strategy == "reduce"
    decisions = tree.leaves[1].decisions
    assert [(d.strategy, d.taken, d.text, d.note) for d in decisions] == [
        ("never", False, "never not taken", "nothing to do"),
        ("reduce", True, "reduce taken", "bit 1 set"),
    ]


def test_strategy_that_returns_an_equal_fragment_changes_nothing() -> None:
    registers = BitCounter("registers", "R_B", 10, (4,), (0,))
    strategies = [BitStrategy("once", ("registers",), 0), BitStrategy("twice", ("registers",), 0)]
    tree = grow(problem_of([registers], strategies), 1)
    assert branches(tree)[1].tried[0].note == "changes nothing"
    assert branches(tree)[1].strategy is None


def test_strategy_that_makes_its_counter_worse_is_not_applied() -> None:
    registers = BitCounter("registers_per_thread", "R_B", 14, (0,), (2,))
    tree = grow(problem_of([registers], [BitStrategy("harmful", ("registers_per_thread",), 0)]), 1)
    (tried,) = branches(tree)[0].tried
    assert not tried.taken
    assert tried.note == "raises registers_per_thread from 14 to 16"
    assert [leaf.fragment for leaf in tree.leaves] == [(False,)]


def test_law_holds_only_where_the_assumptions_imply_it() -> None:
    # s*B + 1 against B + 3: better for small s*B, worse for large.
    words = BitCounter("words", "Z_B", 0, (B + 3,), (s * B + 1,))
    tree = grow(problem_of([words], [BitStrategy("tile", ("words",), 0)]), 1)
    assert branches(tree)[0].tried[0].note == "raises words from B + 3 to s*B + 1 for some parameters"


def test_law_for_a_performance_counter_is_that_it_does_not_get_lower() -> None:
    occupancy = BitCounter("occupancy", "P_occ", 8, (0,), (8,), Kind.PERFORMANCE)
    tree = grow(problem_of([occupancy], [BitStrategy("grow", ("occupancy",), 0)]), 1)
    assert branches(tree)[0].tried[0].note == "lowers occupancy from 1/2 to 1/3"


def test_strategy_that_breaks_the_law_for_one_counter_still_serves_another() -> None:
    registers = BitCounter("registers", "R_B", 10, (0,), (4,))
    words = BitCounter("words", "Z_B", 0, (8,), (0,))
    tree = grow(problem_of([registers, words], [BitStrategy("demote", ("registers", "words"), 0)]), 1)
    assert (True,) in [leaf.fragment for leaf in tree.leaves]


def test_leaf_bounds_every_resource_of_its_own_code() -> None:
    """A strategy for r_1 raises r_2, which was accepted before on other code (it would run out of r_2)."""
    registers = BitCounter("registers", "R_B", 10, (4, 0), (0, 0))
    words = BitCounter("words", "Z_B", 1, (0, 8), (16, 0))
    strategies = [BitStrategy("demote", ("registers",), 0), BitStrategy("uncache", ("words",), 1)]
    problem = problem_of([registers, words], strategies)
    tree = grow(problem, 2)
    assert (True, True) in [leaf.fragment for leaf in tree.leaves]
    for leaf in tree.leaves:
        for counter in (registers, words):
            value = counter.evaluate(leaf.fragment).value
            assert problem.solver.implies(leaf.system, at_most(value, Polynomial.symbol(counter.limit)))


def test_performance_is_demanded_by_default_and_improved_leaves_survive() -> None:
    occupancy = BitCounter("occupancy", "P_occ", 0, (8,), (0,), Kind.PERFORMANCE)
    strategies = [BitStrategy("raise", ("occupancy",), 0)]
    demanded = grow(problem_of([occupancy], strategies), 1)
    assert [leaf.fragment for leaf in demanded.leaves] == [(False,), (True,)]
    assert regions(demanded) == [["2*P_occ <= 1"], ["1 < 2*P_occ"]]


def test_performance_read_literally_loses_every_improved_leaf() -> None:
    occupancy = BitCounter("occupancy", "P_occ", 0, (8,), (0,), Kind.PERFORMANCE)
    strategies = [BitStrategy("raise", ("occupancy",), 0)]
    literal = grow(problem_of([occupancy], strategies, performance="literal"), 1)
    # Refusing P < 1/2 contradicts 1 <= P: "an algebraic contradiction would happen".
    assert [leaf.fragment for leaf in literal.leaves] == [(False,)]
    assert regions(literal) == [["1 <= 2*P_occ"]]
    assert any(pruned.edge == "accept" for pruned in literal.pruned)


def test_after_a_strategy_for_a_performance_counter_all_resources_are_looked_at_again() -> None:
    words = BitCounter("words", "Z_B", 1, (0,), (B,))
    occupancy = BitCounter("occupancy", "P_occ", 0, (8,), (0,), Kind.PERFORMANCE)
    tree = grow(problem_of([occupancy, words], [BitStrategy("cache", ("occupancy",), 0)]), 1)
    # Resources come first even though the counters were given in the other order.
    assert [counter.name for counter in tree.counters] == ["words", "occupancy"]
    (improved,) = [leaf for leaf in tree.leaves if leaf.fragment == (True,)]
    assert "B + 1 <= Z_B" in improved.simplified.format(isolate=("Z_B",))


def test_a_value_that_could_be_negative_is_demanded_not_to_be() -> None:
    words = BitCounter("words", "Z_B", 0, (B - s,), (0,))
    tree = grow(problem_of([words], []), 1)
    assert "s <= B" in tree.leaves[0].system.format()


def test_contradictory_assumptions_prune_the_root() -> None:
    problem = Problem[Bits](
        [WORDS], [SMALLER], [at_least(B, 2), at_most(B, 1), at_least(s, 1)], PortfolioSolver()
    )
    tree = grow(problem, 1)
    assert isinstance(tree.root, Pruned)
    assert tree.leaves == ()
    assert tree.pruned == (tree.root,)


@dataclass
class DoubtfulSolver:
    """Decides nothing that mentions `about`."""

    about: str
    known: Solver = field(default_factory=PortfolioSolver)

    def check(self, system: System) -> Verdict:
        if any(self.about in atom.symbols for atom in system.atoms):
            return Unknown("too hard")
        return self.known.check(system)

    def implies(self, system: System, atom: Atom) -> bool | None:
        return self.known.implies(system, atom)

    def glance(self, system: System) -> Verdict | None:
        return None

    def refuted(self, system: System) -> Inconsistent | None:
        return None

    def enter(self, system: System, point: Mapping[str, Scalar]) -> None:
        self.known.enter(system, point)

    def enter_contradiction(self, system: System, verdict: Inconsistent) -> None:
        self.known.enter_contradiction(system, verdict)


def test_undecided_branches_are_kept_and_marked() -> None:
    tree = grow(problem_of([WORDS], [SMALLER], solver=DoubtfulSolver("Z_B")), 1)
    assert [leaf.sample for leaf in tree.leaves] == [None, None]
    assert {leaf.undecided for leaf in tree.leaves} == {"too hard"}
    assert set(map(id, tree.leaves)) <= set(map(id, tree.undecided))


def test_lemma_1_needs_one_more_round_than_printed() -> None:
    """The height is at most (w + 1)(s + t): the accept edges after the last strategy count too."""
    tree = grow(problem_of([WORDS], [SMALLER]), 1)
    strategies, counters = 1, 1
    assert tree.height == 2 > strategies * counters


@dataclass
class CountingCounter:
    """Counts its evaluations."""

    name: str
    limit: str
    inner: BitCounter
    calls: list[Bits]
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Bits) -> Evaluation:
        self.calls.append(fragment)
        return self.inner.evaluate(fragment)


def test_each_counter_is_evaluated_once_on_each_fragment() -> None:
    registers = BitCounter("registers", "R_B", 10, (4, 2), (0, 0))
    words = BitCounter("words", "Z_B", 2, (B, s), (0, 0))
    calls: list[Bits] = []
    counted = CountingCounter("words", "Z_B", words, calls)
    strategies = [
        BitStrategy("one", ("registers", "words"), 0),
        BitStrategy("two", ("words", "registers"), 1),
    ]
    problem = Problem[Bits](
        [registers, counted], strategies, [at_least(B, 1), at_least(s, 1)], PortfolioSolver()
    )
    tree = grow(problem, 2)
    assert len(tree.leaves) > 3
    assert len(calls) == len(set(calls))


def test_height_is_not_bounded_by_the_stack_of_python() -> None:
    count = 120
    counters = [BitCounter(f"r{i}", f"R_{i}", i + 1, (), ()) for i in range(count)]
    problem = problem_of(counters, [])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(_frames()) + 90)
    try:
        tree = grow(problem, 0)
    finally:
        sys.setrecursionlimit(limit)
    assert tree.height == count
    assert len(tree.dead_ends) == count


def _frames() -> list[object]:
    frames: list[object] = []
    frame = sys._getframe()
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


@pytest.mark.parametrize("what", ["counters", "strategies"])
def test_names_must_be_distinct(what: str) -> None:
    with pytest.raises(ValueError, match=f"two {what} are named"):
        problem_of([WORDS] * (2 if what == "counters" else 1), [SMALLER] * (2 if what == "strategies" else 1))
