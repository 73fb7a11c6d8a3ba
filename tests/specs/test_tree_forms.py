"""The trees of the examples in every form: solvers agree with them, and tools read them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from comprehensive.tree_forms import tree_form
from tests.compiled_specs import SPECS, compiled
from tests.solvers import cvc5_answers, statuses, z3_answers
from tests.unit.report.test_tree_forms import MERMAID, balanced

QUICK = {"jacobi1d", "matmul"}
EVERY = [pytest.param(spec, marks=() if spec in QUICK else pytest.mark.slow) for spec in SPECS]


@pytest.mark.parametrize("spec", EVERY)
def test_z3_and_cvc5_agree_with_every_leaf_dead_end_and_pruned_branch(spec: str) -> None:
    script = tree_form(compiled(spec), "smt2")
    wanted = statuses(script)
    trees = [
        tree
        for root in compiled(spec).trees
        for tree in (root, *(each.tree for each in root.alternatives if hasattr(each.tree, "leaves")))
    ]
    assert len(wanted) == sum(len(t.leaves) + len(t.dead_ends) + len(t.pruned) for t in trees)
    assert z3_answers(script) == wanted
    assert cvc5_answers(script) == wanted


@pytest.mark.parametrize("spec", EVERY)
def test_pictures_and_papers_are_well_formed(spec: str) -> None:
    for pruned in (False, True):
        ET.fromstring(tree_form(compiled(spec), "svg", pruned=pruned))
        chart = tree_form(compiled(spec), "mermaid", pruned=pruned)
        assert [line for line in chart.splitlines() if not MERMAID.fullmatch(line)] == []
        assert balanced(tree_form(compiled(spec), "latex", pruned=pruned))
