"""The published case discussions, by the algorithm of the paper with the published counter values fed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from comprehensive.algebra import Atom, Inconsistent, Polynomial, PortfolioSolver, System, at_most, less
from comprehensive.algebra.eliminate import uncovered
from comprehensive.algebra.simplify import simplify
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.definition2 import constraint_soundness, coverage, optimality
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.tree import Leaf, Tree
from tests.paper.tables import (
    State,
    TableCounter,
    at_least_one,
    cse,
    granularity,
    no_caching,
    polynomial,
    register_pressure,
)

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "facts.json").read_text(encoding="utf-8"))
WORDS, REGISTERS, THREADS = "shared_words", "registers_per_thread", "threads_per_block"


@dataclass(frozen=True)
class Example:
    """A tree with the problem that it solves and what the figure prints."""

    tree: Tree[State]
    problem: Problem[State]
    facts: dict[str, Any]

    @property
    def solver(self) -> PortfolioSolver:
        assert isinstance(self.problem.solver, PortfolioSolver)
        return self.problem.solver

    def printed(self, leaf: Leaf[State]) -> list[str]:
        return sorted(leaf.simplified.format(self.tree.order, self.tree.limits))

    def published(self, index: int) -> System:
        constraints = self.facts["leaves"][index]["constraints"]
        return System(self.tree.assumptions, tuple(parsed(text) for text in constraints))


def parsed(text: str) -> Atom:
    strict = " < " in text
    left, right = text.split(" < " if strict else " <= ")
    return (less if strict else at_most)(polynomial(left), polynomial(right))


def grown(
    counters: Sequence[TableCounter], strategies: Sequence[Any], symbols: Sequence[str], facts: dict[str, Any]
) -> Example:
    problem: Problem[State] = Problem(
        counters, strategies, at_least_one(*symbols), PortfolioSolver(), order=symbols
    )
    return Example(comprehensive_optimization(problem.initial(State()), problem), problem, facts)


def words(facts: dict[str, Any]) -> TableCounter:
    table = facts["counters"]["shared_words"]
    kept, reduced = polynomial(table["granularity_kept"]), polynomial(table["granularity_reduced"])

    def value(state: State) -> Polynomial:
        if not state.cached:
            return Polynomial(0)
        return reduced if state.reduced else kept

    return TableCounter(WORDS, "Z_B", value)


def figure_order(*, granularity_serves_registers: bool) -> list[Any]:
    served = (WORDS, REGISTERS) if granularity_serves_registers else (WORDS,)
    return [
        granularity(*served),
        cse(1, REGISTERS),
        no_caching(WORDS),
        register_pressure(REGISTERS),
        cse(2, REGISTERS),
    ]


def addition() -> Example:
    facts = FACTS["matrix_addition"]
    table = facts["counters"]["registers_per_thread"]
    registers = TableCounter(
        REGISTERS,
        "R",
        lambda state: Polynomial(table["granularity_reduced"] if state.reduced else table["original"]),
    )
    threads = TableCounter(THREADS, "T", lambda _: polynomial(facts["counters"]["threads_per_block"]))
    return grown([threads, registers], [granularity(REGISTERS, THREADS)], ("B0", "B1"), facts)


def jacobi() -> Example:
    facts = FACTS["jacobi_1d"]
    registers = TableCounter(
        REGISTERS, "R_B", lambda _: Polynomial(facts["counters"]["registers_per_thread"])
    )
    strategies = figure_order(granularity_serves_registers=False)
    return grown([words(facts), registers], strategies, ("s", "B"), facts)


def transposition(*, granularity_serves_registers: bool = False) -> Example:
    facts = FACTS["matrix_transposition"]
    table = facts["counters"]["registers_per_thread"]
    registers = TableCounter(
        REGISTERS,
        "R_B",
        lambda state: Polynomial(table["granularity_reduced" if state.reduced else "granularity_kept"]),
    )
    strategies = figure_order(granularity_serves_registers=granularity_serves_registers)
    return grown([words(facts), registers], strategies, ("s", "B0", "B1"), facts)


def is_contained(inner: System, outer: System, solver: PortfolioSolver) -> bool:
    return all(solver.implies(inner, atom) for atom in outer.atoms)


@pytest.mark.parametrize("example", [addition, jacobi], ids=["matrix addition", "jacobi"])
def test_tree_has_exactly_the_leaves_of_the_figure(example: Any) -> None:
    grown_example = example()
    printed = [grown_example.printed(leaf) for leaf in grown_example.tree.leaves]
    assert printed == [sorted(leaf["constraints"]) for leaf in grown_example.facts["leaves"]]


def test_matrix_addition_reduces_the_granularity_only_where_registers_run_out() -> None:
    example = addition()
    reduced = ["reduced" if leaf.fragment.reduced else "kept" for leaf in example.tree.leaves]
    assert reduced == [leaf["granularity"] for leaf in example.facts["leaves"]]


def test_jacobi_leaves_list_the_decisions_of_the_figure() -> None:
    """Compare multisets: the order in the figure is of the implementation, and it prints (3a) beside (3b)."""
    example = jacobi()
    for leaf, facts in zip(example.tree.leaves, example.facts["leaves"], strict=True):
        published = Counter(facts["decisions"])
        if "3b" in published:
            published.pop("3a", None)
        assert Counter(decision.text for decision in leaf.decisions) == published


def test_jacobi_inequalities_print_as_in_the_figure() -> None:
    example = jacobi()
    first = example.tree.leaves[0].simplified
    assert first.format(example.tree.order, example.tree.limits)[0] == "2*s*B + 2 <= Z_B"


def test_transposition_has_the_three_distinct_systems_of_the_figure() -> None:
    example = transposition()
    printed = [example.printed(leaf) for leaf in example.tree.leaves]
    assert printed == [sorted(example.facts["leaves"][index]["constraints"]) for index in (0, 1, 3)]


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    ("example", "published"),
    [(addition, (0, 1)), (jacobi, (0, 1, 2)), (transposition, (0, 1, 3))],
    ids=["matrix addition", "jacobi", "transposition"],
)
def test_the_raw_path_of_a_leaf_simplifies_to_what_the_figure_prints(
    example: Any, published: tuple[int, ...], thorough: bool
) -> None:
    given = example()
    tree = given.tree
    for leaf, index in zip(tree.leaves, published, strict=True):
        simplified = simplify(leaf.system, given.solver, thorough=thorough)
        expected = sorted(given.facts["leaves"][index]["constraints"])
        assert sorted(simplified.format(tree.order, tree.limits)) == expected


@pytest.mark.parametrize(
    "example", [addition, jacobi, transposition], ids=["matrix addition", "jacobi", "transposition"]
)
def test_every_printed_system_is_in_the_form_that_we_print(example: Any) -> None:
    given = example()
    for index, leaf in enumerate(given.facts["leaves"]):
        system = simplify(given.published(index), given.solver)
        assert sorted(system.format(given.tree.order, given.tree.limits)) == sorted(leaf["constraints"])


@pytest.mark.parametrize(("refinement", "case"), [(2, 1), (4, 3)])
def test_the_two_refinements_printed_for_transposition_are_contained_in_other_cases(
    refinement: int, case: int
) -> None:
    example = transposition()
    assert is_contained(example.published(refinement), example.published(case), example.solver)
    assert not is_contained(example.published(case), example.published(refinement), example.solver)


def test_transposition_serves_exactly_the_region_of_the_figure() -> None:
    example = transposition()
    ours = [leaf.system for leaf in example.tree.leaves]
    theirs = [example.published(index) for index in range(5)]
    for system in theirs:
        assert uncovered(system, ours, example.solver) == ()
    for system in ours:
        assert uncovered(system, theirs, example.solver) == ()


def test_what_the_figure_leaves_uncovered_is_what_the_tree_calls_dead_ends() -> None:
    example = transposition()
    theirs = [example.published(index) for index in range(5)]
    rest = uncovered(System(example.tree.assumptions), theirs, example.solver)
    dead_ends = [end.system for end in example.tree.dead_ends]
    assert rest
    for region in rest:
        assert uncovered(region, dead_ends, example.solver) == ()
    for region in dead_ends:
        assert uncovered(region, list(rest), example.solver) == ()


def test_granularity_for_registers_adds_the_case_that_the_figure_misses() -> None:
    example = transposition(granularity_serves_registers=True)
    published = {tuple(sorted(leaf["constraints"])) for leaf in example.facts["leaves"]}
    added = [leaf for leaf in example.tree.leaves if tuple(example.printed(leaf)) not in published]
    assert [example.printed(leaf) for leaf in added] == [["2*s*B0*B1 <= Z_B", "5 <= R_B", "R_B < 6"]]
    # It closes a gap of the figure: no printed case has a point in common with it.
    for index in range(5):
        both = added[0].system.add(*example.published(index).atoms)
        assert isinstance(example.solver.check(both), Inconsistent)


@pytest.mark.parametrize(
    "example", [addition, jacobi, transposition], ids=["matrix addition", "jacobi", "transposition"]
)
def test_published_trees_satisfy_definition_2(example: Any) -> None:
    grown_example = example()
    assert constraint_soundness(grown_example.tree).holds
    covered = coverage(grown_example.tree, grown_example.problem)
    assert covered.is_partition
    assert covered.holds
    assert optimality(grown_example.tree, grown_example.problem).holds
