"""Laws of every tree, on random tables of counter values."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, PortfolioSolver
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.definition2 import constraint_soundness, coverage, optimality
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Kind
from comprehensive.optimize.tree import Leaf, Tree, leaf_for
from comprehensive.report.tree_text import render_tree
from tests.examples import examples
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")
TERMS = st.sampled_from([Polynomial(1), Polynomial(4), B, s, s * B, 2 * s * B + 1])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Problem[Bits], int]:
    """Strategies remove a term from the counters that they serve and may add one to others."""
    count = draw(st.integers(0, 3))
    kinds = draw(
        st.lists(st.sampled_from([Kind.RESOURCE, Kind.RESOURCE, Kind.PERFORMANCE]), min_size=1, max_size=3)
    )
    serves = [draw(st.sets(st.integers(0, len(kinds) - 1), min_size=1)) for _ in range(count)]
    counters: list[BitCounter] = []
    for index, kind in enumerate(kinds):
        unset = tuple(draw(TERMS) if index in served else 0 for served in serves)
        then = tuple(0 if index in served else draw(st.sampled_from([0, 0, 3, B])) for served in serves)
        limit = f"R_{index}" if kind is Kind.RESOURCE else f"P_{index}"
        counters.append(BitCounter(f"c{index}", limit, draw(st.integers(0, 4)), unset, then, kind))
    strategies = [
        BitStrategy(f"o{index}", tuple(f"c{c}" for c in sorted(served)), index, on_ir=index % 2 == 0)
        for index, served in enumerate(serves)
    ]
    return problem_of(counters, strategies), count


POINTS = st.fixed_dictionaries(
    {"B": st.integers(1, 5), "s": st.integers(1, 5)}
    | {f"R_{i}": st.integers(0, 40) for i in range(3)}
    | {f"P_{i}": st.fractions(0, 1, max_denominator=12) for i in range(3)}
)


def grow(drawn: tuple[Problem[Bits], int]) -> Tree[Bits]:
    problem, count = drawn
    return comprehensive_optimization(problem.initial(zeros(count)), problem)


@given(problems(), st.lists(POINTS, min_size=5, max_size=20))
@settings(max_examples=examples(20), deadline=None)
def test_every_point_is_in_exactly_one_leaf_or_dead_end(
    drawn: tuple[Problem[Bits], int], points: list[dict[str, int | Fraction]]
) -> None:
    tree = grow(drawn)
    for point in points:
        cases = [case for case in (*tree.leaves, *tree.dead_ends) if case.system.holds(point)]
        assert cases == [leaf_for(tree, point)]
        simplified = [case for case in (*tree.leaves, *tree.dead_ends) if case.simplified.holds(point)]
        assert simplified == cases


@given(problems())
@settings(max_examples=examples(15), deadline=None)
def test_every_tree_satisfies_definition_2(drawn: tuple[Problem[Bits], int]) -> None:
    tree = grow(drawn)
    assert constraint_soundness(tree).holds
    covered = coverage(tree, drawn[0])
    assert covered.is_partition
    assert covered.holds
    assert optimality(tree, drawn[0]).holds


@given(problems())
@settings(max_examples=examples(20), deadline=None)
def test_no_tree_is_higher_than_lemma_1_allows(drawn: tuple[Problem[Bits], int]) -> None:
    tree = grow(drawn)
    assert tree.height <= (len(tree.strategies) + 1) * len(tree.counters)


@given(problems())
@settings(max_examples=examples(20), deadline=None)
def test_code_of_a_leaf_fits_wherever_its_system_holds(drawn: tuple[Problem[Bits], int]) -> None:
    tree = grow(drawn)
    for leaf in tree.leaves:
        assert leaf.sample is not None
        for counter in tree.counters:
            if counter.kind is Kind.RESOURCE:
                value = counter.evaluate(leaf.fragment).value.evaluate(leaf.sample)
                assert value <= leaf.sample[counter.limit]


@given(problems())
@settings(max_examples=examples(20), deadline=None)
def test_every_pruned_branch_has_a_core_that_is_contradictory_by_itself(
    drawn: tuple[Problem[Bits], int],
) -> None:
    tree = grow(drawn)
    for pruned in tree.pruned:
        assert set(pruned.core) <= set(pruned.system.all_atoms)
        # Exact evaluation on a grid: no assignment of small integers satisfies the core.
        for value in range(1, 4):
            point = {name: Fraction(value if name in "Bs" else 7 * value) for name in pruned.system.symbols}
            assert not all(atom.holds(point) for atom in pruned.core)


@given(problems())
@settings(max_examples=examples(10), deadline=None)
def test_numbers_count_leaves_and_branches_from_the_left(drawn: tuple[Problem[Bits], int]) -> None:
    tree = grow(drawn)
    assert [leaf.index for leaf in tree.leaves] == list(range(len(tree.leaves)))
    assert [end.index for end in tree.dead_ends] == list(range(len(tree.dead_ends)))


def example() -> Tree[Bits]:
    registers = BitCounter("registers", "R_B", 3, (s, 4, 0), (0, 0, 2))
    words = BitCounter("words", "Z_B", 2, (2 * s * B, 0, B), (2 * B, 0, 0))
    occupancy = BitCounter("occupancy", "P_occ", 1, (0, B, 4), (0, 0, 0), Kind.PERFORMANCE)
    strategies = [
        BitStrategy("granularity", ("registers", "words"), 0),
        BitStrategy("pressure", ("registers", "occupancy"), 1, on_ir=True),
        BitStrategy("uncache", ("words", "occupancy"), 2),
    ]
    return grow((problem_of([registers, words, occupancy], strategies, solver=PortfolioSolver()), 3))


def test_same_tree_in_every_process() -> None:
    program = "from tests.unit.optimize.test_partition import printed; print(printed())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert "leaf 0" in outputs.pop()


def printed() -> str:
    tree = example()
    samples = "\n".join(f"{leaf.index}: {leaf.sample}" for leaf in tree.leaves)
    return f"{render_tree(tree, pruned=True)}\n{samples}"


def test_the_case_of_a_leafs_sample_point_is_that_leaf() -> None:
    tree = example()
    assert len(tree.leaves) > 5
    for leaf in tree.leaves:
        assert isinstance(leaf, Leaf)
        assert leaf.sample is not None
        # A system need not mention every parameter; the rest may be anything that is allowed.
        point = {
            "B": Fraction(1),
            "s": Fraction(1),
            "R_B": Fraction(0),
            "Z_B": Fraction(0),
            "P_occ": Fraction(0),
        }
        assert leaf_for(tree, point | dict(leaf.sample)) is leaf
