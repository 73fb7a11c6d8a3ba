"""The published case discussions, by `tree --counters-from` with the published counter values."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from comprehensive import cli
from comprehensive.algebra import Atom, Inconsistent, Polynomial, PortfolioSolver, System, at_most, less
from comprehensive.algebra.eliminate import uncovered
from comprehensive.algebra.simplify import simplify
from comprehensive.data import spec_directory
from comprehensive.driver import Options
from comprehensive.given.expression import value_of
from comprehensive.given_trees import GivenTree, given_tree
from comprehensive.optimize.definition2 import constraint_soundness, coverage, optimality
from comprehensive.optimize.tree import Leaf
from tests.schemas import schema_faults

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "facts.json").read_text(encoding="utf-8"))
SPECS = spec_directory()


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: the program, its counter values, and which of its leaves come out, in our order."""

    program: str
    values: str
    facts: str
    reached: tuple[int, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        return (
            "tree",
            str(SPECS / self.program),
            "--counters-from",
            str(SPECS / "paper" / f"{self.values}.toml"),
        )

    @property
    def leaves(self) -> list[dict[str, Any]]:
        return FACTS[self.facts]["leaves"]

    @property
    def grown(self) -> GivenTree:
        return grown(self)

    @property
    def solver(self) -> PortfolioSolver:
        assert isinstance(self.grown.problem.solver, PortfolioSolver)
        return self.grown.problem.solver

    def printed(self, leaf: Leaf[Any]) -> list[str]:
        tree = self.grown.tree
        return sorted(leaf.simplified.format(tree.order, tree.limits))

    def published(self, index: int) -> System:
        constraints = self.leaves[index]["constraints"]
        return System(self.grown.tree.assumptions, tuple(parsed(text) for text in constraints))


ADDITION = Figure("matadd.mf", "figure2", "matrix_addition", (0, 1))
JACOBI = Figure("jacobi1d.mf", "figure7", "jacobi_1d", (0, 1, 2))
TRANSPOSITION = Figure("paper/figure8.mf", "figure8", "matrix_transposition", (0, 1, 3))
PATHS = Figure("paper/figure8.mf", "figure8_paths", "matrix_transposition", (0, 1, 3, 2, 4))
FIGURES = [pytest.param(figure, id=figure.values) for figure in (ADDITION, JACOBI, TRANSPOSITION, PATHS)]
EXACT = [pytest.param(figure, id=figure.values) for figure in (ADDITION, JACOBI, TRANSPOSITION)]


@cache
def grown(figure: Figure) -> GivenTree:
    _, program, _, values = figure.arguments
    return given_tree(Path(program), Path(values), Options(registers="estimate"))


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli.cli, [*arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def parsed(text: str) -> Atom:
    strict = " < " in text
    left, right = (polynomial(side) for side in text.split(" < " if strict else " <= "))
    return (less if strict else at_most)(left, right)


def polynomial(text: str) -> Polynomial:
    value = value_of(text)
    assert isinstance(value, Polynomial)
    return value


def printed_cases(text: str) -> list[tuple[list[str], list[str]]]:
    """The system and the decisions of every leaf in the text of a tree."""
    systems = [sorted(found.split(", ")) for found in re.findall(r"leaf \d+ where (.*)", text)]
    decisions = [re.findall(r"\((\w+)\)", found) for found in re.findall(r"decisions: (.*)", text)]
    return list(zip(systems, decisions, strict=True))


def test_figure_2_is_printed_exactly() -> None:
    granularity = {"kept": ["3a"], "reduced": ["3b"]}
    cases = [(sorted(leaf["constraints"]), granularity[leaf["granularity"]]) for leaf in ADDITION.leaves]
    assert printed_cases(run(*ADDITION.arguments)) == cases


def test_figure_7_is_printed_exactly_with_its_decisions_in_their_order() -> None:
    cases = [(sorted(leaf["constraints"]), leaf["decisions"]) for leaf in JACOBI.leaves]
    assert printed_cases(run(*JACOBI.arguments)) == cases


def test_figure_8_has_its_three_distinct_systems() -> None:
    systems = [system for system, _ in printed_cases(run(*TRANSPOSITION.arguments))]
    assert systems == [sorted(TRANSPOSITION.leaves[index]["constraints"]) for index in TRANSPOSITION.reached]


def test_figure_8_has_the_decisions_of_those_cases_though_not_in_their_order() -> None:
    for (_, decisions), index in zip(
        printed_cases(run(*TRANSPOSITION.arguments)), TRANSPOSITION.reached, strict=True
    ):
        assert sorted(decisions) == sorted(TRANSPOSITION.leaves[index]["decisions"])


def test_figure_8_has_its_five_lists_of_decisions_where_registers_are_evaluated_first() -> None:
    decisions = [words for _, words in printed_cases(run(*PATHS.arguments))]
    assert decisions == [PATHS.leaves[index]["decisions"] for index in PATHS.reached]


def test_the_systems_of_figure_8_differ_from_its_paths_as_the_remarks_say() -> None:
    systems = [system for system, _ in printed_cases(run(*PATHS.arguments))]
    published = [sorted(PATHS.leaves[index]["constraints"]) for index in PATHS.reached]
    assert (systems[0], systems[4]) == (published[0], published[4])
    for case in (1, 2):
        assert [atom.replace("6 <= R_B", "5 <= R_B") for atom in systems[case]] == published[case]
    assert sorted([*systems[3], "Z_B < 2*s*B0*B1"]) == published[3]


@pytest.mark.parametrize("figure", FIGURES)
def test_json_has_what_the_text_has(figure: Figure) -> None:
    document = json.loads(run(*figure.arguments, "--json"))
    assert schema_faults("tree", document["tree"]) == []
    assert document["decisions"] == [words for _, words in printed_cases(run(*figure.arguments))]
    assert document["counters_from"]["source"].startswith("comprehensive, ")


@pytest.mark.parametrize("figure", EXACT)
def test_the_raw_path_of_a_leaf_simplifies_to_what_the_figure_prints(figure: Figure) -> None:
    tree = figure.grown.tree
    for leaf, index in zip(tree.leaves, figure.reached, strict=True):
        simplified = simplify(leaf.system)
        assert sorted(simplified.format(tree.order, tree.limits)) == sorted(
            figure.leaves[index]["constraints"]
        )


@pytest.mark.parametrize("figure", EXACT)
def test_every_printed_system_is_in_the_form_that_we_print(figure: Figure) -> None:
    tree = figure.grown.tree
    for index, leaf in enumerate(figure.leaves):
        system = simplify(figure.published(index))
        assert sorted(system.format(tree.order, tree.limits)) == sorted(leaf["constraints"])


def test_jacobi_inequalities_print_as_in_the_figure() -> None:
    assert "2*s*B + 2 <= Z_B" in run(*JACOBI.arguments)


def is_contained(inner: System, outer: System, solver: PortfolioSolver) -> bool:
    return all(solver.implies(inner, atom) for atom in outer.atoms)


@pytest.mark.parametrize(("refinement", "case"), [(2, 1), (4, 3)])
def test_the_two_refinements_printed_for_transposition_are_contained_in_other_cases(
    refinement: int, case: int
) -> None:
    published, solver = TRANSPOSITION.published, TRANSPOSITION.solver
    assert is_contained(published(refinement), published(case), solver)
    assert not is_contained(published(case), published(refinement), solver)


def covers(systems: Sequence[System], others: Sequence[System], solver: PortfolioSolver) -> bool:
    return all(uncovered(other, list(systems), solver) == () for other in others)


def test_transposition_serves_exactly_the_region_of_the_figure() -> None:
    ours = [leaf.system for leaf in TRANSPOSITION.grown.tree.leaves]
    theirs = [TRANSPOSITION.published(index) for index in range(5)]
    assert covers(ours, theirs, TRANSPOSITION.solver)
    assert covers(theirs, ours, TRANSPOSITION.solver)


def test_what_the_figure_leaves_uncovered_is_what_the_tree_calls_dead_ends() -> None:
    tree, solver = TRANSPOSITION.grown.tree, TRANSPOSITION.solver
    theirs = [TRANSPOSITION.published(index) for index in range(5)]
    rest = uncovered(System(tree.assumptions), theirs, solver)
    dead_ends = [end.system for end in tree.dead_ends]
    assert rest
    assert covers(dead_ends, list(rest), solver)
    assert covers(list(rest), dead_ends, solver)


def test_the_paths_of_figure_8_serve_a_region_that_the_figure_leaves_out() -> None:
    """Few registers suffice for the reduced granularity, also where the words of the whole one would fit."""
    theirs = [PATHS.published(index) for index in range(5)]
    gap = System(
        PATHS.grown.tree.assumptions,
        tuple(parsed(text) for text in ("2*s*B0*B1 <= Z_B", "5 <= R_B", "R_B < 6")),
    )
    for system in theirs:
        assert isinstance(PATHS.solver.check(gap.add(*system.atoms)), Inconsistent)
    ours = [leaf.system for leaf in PATHS.grown.tree.leaves]
    assert covers(ours, [*theirs, gap], PATHS.solver)
    assert covers([*theirs, gap], ours, PATHS.solver)


@pytest.mark.parametrize("figure", FIGURES)
def test_published_trees_satisfy_definition_2(figure: Figure) -> None:
    tree, problem = figure.grown.tree, figure.grown.problem
    assert constraint_soundness(tree).holds
    covered = coverage(tree, problem)
    assert covered.is_partition
    assert covered.holds
    assert optimality(tree, problem).holds


@pytest.mark.parametrize("figure", FIGURES)
def test_files_of_the_figures_are_as_their_schema_says(figure: Figure) -> None:
    import tomllib

    text = Path(figure.arguments[-1]).read_text(encoding="utf-8")
    assert schema_faults("counter_values", tomllib.loads(text)) == []
