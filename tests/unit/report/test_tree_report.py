"""Decision trees as text and as JSON."""

from __future__ import annotations

import json

import pytest

from comprehensive.algebra import Polynomial, at_least
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.protocols import Kind
from comprehensive.optimize.tree import Tree
from comprehensive.records import replace
from comprehensive.report.tree_json import tree_to_json
from comprehensive.report.tree_text import ASCII, render_tree
from tests.schemas import schema_faults
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")


def caching(*, occupancy: bool = False) -> Tree[Bits]:
    words = BitCounter("words", "Z_B", 2, (2 * s * B, 0), (2 * B, 0))
    counters = [words]
    if occupancy:
        counters.append(BitCounter("occupancy", "P_occ", 1, (0, B), (0, 0), Kind.PERFORMANCE))
    strategies = [
        BitStrategy("pad", ("words",), 1, refusal="no array is padded"),
        BitStrategy("smaller", ("words",), 0, on_ir=True),
    ]
    problem = problem_of(counters, strategies)
    return comprehensive_optimization(problem.initial(zeros(2)), problem)


def test_tree_prints_counters_conditions_strategies_and_cases() -> None:
    assert (
        render_tree(caching(), describe=str)
        == """\
2 leaves, 1 dead end, 0 pruned branches
assuming 1 <= B, 0 <= Z_B, 1 <= s
words = 2*s*B + 2 [table]
├─ accept 2*s*B + 2 <= Z_B
│  leaf 0 where 2*s*B + 2 <= Z_B
│    (False, False)
│    decisions: (pad not taken) (smaller not taken)
└─ refuse Z_B < 2*s*B + 2, so smaller (bit 0 set)
   words = 2*B + 2 [table]
   ├─ accept 2*B + 2 <= Z_B
   │  leaf 1 where 2*B + 2 <= Z_B, Z_B < 2*s*B + 2
   │    (True, False)
   │    decisions: (pad not taken) (smaller taken)
   │    smaller: bit 0 set
   └─ refuse Z_B < 2*B + 2
      dead end 0 where Z_B < 2*B + 2
        words = 2*B + 2 and no strategy is left"""
    )


def test_what_is_assumed_of_symbols_that_the_tree_does_not_speak_of_is_not_printed() -> None:
    tree = caching()
    more = replace(tree, assumptions=(*tree.assumptions, at_least(Polynomial.symbol("i_parts"), 0)))
    assert render_tree(more, describe=str) == render_tree(tree, describe=str)


def test_strategies_that_were_passed_over_are_shown_on_request_with_the_reason() -> None:
    reason = "   not pad: no array is padded"
    assert reason in render_tree(caching(), pruned=True).splitlines()
    assert reason not in render_tree(caching()).splitlines()


def useless() -> Tree[Bits]:
    registers = BitCounter("registers", "R_B", 9, (0,), (0,))
    problem = problem_of([registers], [BitStrategy("cse", ("registers",), 0)])
    return comprehensive_optimization(problem.initial(zeros(1)), problem)


def test_pruned_branches_are_shown_on_request_with_the_contradiction() -> None:
    contradiction = "      │  pruned: R_B < 9 and 9 <= R_B contradict each other"
    shown, hidden = render_tree(useless(), pruned=True), render_tree(useless())
    assert contradiction.strip("│ ") in shown
    assert "contradict" not in hidden
    assert "1 pruned branch\n" in hidden


def test_tree_prints_in_ascii_where_a_terminal_knows_nothing_else() -> None:
    text = render_tree(caching(), pruned=True, strokes=ASCII)
    assert text.isascii()
    assert "`- refuse Z_B < 2*B + 2" in text


@pytest.mark.parametrize("occupancy", [False, True])
def test_json_of_a_tree_is_as_its_schema_says(occupancy: bool) -> None:
    document = json.loads(json.dumps(tree_to_json(caching(occupancy=occupancy), list)))
    assert schema_faults("tree", document) == []


def test_schema_check_finds_what_is_missing_and_what_is_too_much() -> None:
    document = tree_to_json(caching(), list)
    del document["leaves"][0]["sample"]
    document["nodes"][0]["colour"] = "red"
    document["root"] = "0"
    found = schema_faults("tree", document)
    assert any("sample" in fault for fault in found)
    assert any("nodes[0]" in fault for fault in found)
    assert any("root" in fault for fault in found)


def test_json_refers_to_nodes_by_position_and_to_cases_by_index() -> None:
    document = tree_to_json(caching(), list)
    root = document["nodes"][document["root"]]
    assert root["accept_if"][0]["text"] == "2*s*B + 2 <= Z_B"
    assert document["nodes"][root["accept"]] == {"kind": "leaf", "leaf": 0}
    below = document["nodes"][root["refuse"]]
    assert (below["kind"], below["value"]["text"]) == ("branch", "2*B + 2")
    assert document["nodes"][below["refuse"]] == {"kind": "dead_end", "dead_end": 0}
    assert document["leaves"][1]["applied"] == ["smaller"]
    assert document["leaves"][1]["fragment"] == [True, False]
