"""The checks of Definition 2 find what is wrong with a tree that was tampered with."""

from __future__ import annotations

from fractions import Fraction

from comprehensive.algebra import Polynomial, at_least
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.definition2 import code_soundness, constraint_soundness, coverage, optimality
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Evaluation
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.records import replace
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")


def example() -> tuple[Tree[Bits], Problem[Bits]]:
    words = BitCounter("words", "Z_B", 2, (2 * s * B - 2 * B,), (0,))
    problem = problem_of([words], [BitStrategy("smaller", ("words",), 0)])
    return comprehensive_optimization(problem.initial(zeros(1)), problem), problem


def agrees(source: Bits, fragment: Bits, leaf: Leaf[Bits]) -> tuple[int, tuple[str, ...]]:
    return 3, (() if leaf.fragment == fragment and len(source) == 1 else ("differs",))


def test_a_sound_tree_passes_every_condition() -> None:
    tree, problem = example()
    assert constraint_soundness(tree).verified == (0, 1)
    assert code_soundness(tree, agrees).holds
    covered = coverage(tree, problem)
    assert (covered.is_partition, covered.holds, covered.undecided) == (True, True, ())
    (best,) = optimality(tree, problem).optimal
    assert best.leaf == 1


def test_condition_i_names_the_atoms_that_a_point_violates() -> None:
    tree, _ = example()
    wrong = {name: Fraction(0) for name in ("B", "s", "Z_B")}
    moved = replace(tree, leaves=(replace(tree.leaves[0], sample=wrong), *tree.leaves[1:]))
    result = constraint_soundness(moved)
    assert not result.holds
    ((leaf, faults),) = result.violated
    assert leaf == 0
    assert "1 <= B" in faults


def test_condition_i_does_not_hold_for_a_leaf_without_a_point() -> None:
    tree, _ = example()
    unknown = replace(tree, leaves=(replace(tree.leaves[0], sample=None), *tree.leaves[1:]))
    assert constraint_soundness(unknown).undecided == (0,)
    assert not constraint_soundness(unknown).holds


def test_condition_ii_does_not_count_leaves_that_were_never_executed() -> None:
    tree, _ = example()
    assert not code_soundness(tree, lambda *_: (0, ())).holds
    assert not code_soundness(tree, lambda *_: (1, ("n = 3: 1 != 2",))).holds


def test_condition_iii_finds_the_region_of_a_case_that_was_removed() -> None:
    tree, problem = example()
    covered = coverage(replace(tree, dead_ends=()), problem)
    assert covered.gaps is not None
    (gap,) = covered.gaps
    assert gap.system.format(isolate=("Z_B",)) == ("Z_B < 2",)
    assert gap.sample is not None
    assert gap.sample["Z_B"] < 2
    # As printed, (iii) does not mind: on another machine those parameters are served.
    assert covered.holds


def test_condition_iii_as_printed_fails_where_no_machine_serves_some_parameters() -> None:
    tree, problem = example()
    large_blocks = at_least(B, 4)
    narrowed = tuple(
        replace(leaf, simplified=leaf.simplified.add(large_blocks), system=leaf.system.add(large_blocks))
        for leaf in tree.leaves
    )
    covered = coverage(replace(tree, leaves=narrowed), problem)
    assert covered.projected_gaps is not None
    assert [gap.system.format() for gap in covered.projected_gaps] == [("B < 4",)]


def test_condition_iii_finds_two_cases_with_a_common_point() -> None:
    tree, problem = example()
    everywhere = replace(tree.leaves[0], system=tree.leaves[0].system.__class__(tree.assumptions))
    covered = coverage(replace(tree, leaves=(everywhere, *tree.leaves[1:])), problem)
    assert [(overlap.first, overlap.second) for overlap in covered.overlaps] == [
        ("leaf 0", "leaf 1"),
        ("leaf 0", "dead end 0"),
    ]


def test_condition_iv_fails_where_every_leaf_can_still_be_improved() -> None:
    tree, problem = example()
    assert optimality(replace(tree, leaves=tree.leaves[:1]), problem).missing == ("words",)


def test_condition_iv_asks_of_strategies_one_on_the_other() -> None:
    # Alone the second one makes it better, and the first one keeps it from that.
    registers = Compiled("registers", "R_B", 0, (0, 0), (0, 0))
    strategies = [BitStrategy("shares", ("registers",), 0), BitStrategy("recomputes", ("registers",), 1)]
    problem = problem_of([registers], strategies)
    tree = comprehensive_optimization(problem.initial(zeros(2)), problem)
    assert len(tree.leaves) == 1
    assert optimality(tree, problem).holds


class Compiled(BitCounter):
    """Registers of a compiler: 6, and 4 where the second bit alone is set."""

    def evaluate(self, fragment: Bits) -> Evaluation:
        return Evaluation(Polynomial(4 if fragment == (False, True) else 6), "table")
