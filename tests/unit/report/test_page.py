"""The parts of pages: coloured code, trees with quintuples, lines that know their source, tables of bounds."""

from __future__ import annotations

import json

import pytest

from comprehensive.codegen.source_lines import GENERATED_LINE, of_statements, source_line
from comprehensive.descriptions import describe
from comprehensive.interactive_report.leaves import leaves_of
from comprehensive.interactive_report.sliders import slider_of_limit
from comprehensive.loops.ir import Variant
from comprehensive.loops.printer import print_nest
from comprehensive.machine.cost import Cost, Term
from comprehensive.model.ranking import Ranked, Ranking
from comprehensive.optimize.tree import Branch, walk
from comprehensive.records import replace
from comprehensive.report.highlight import highlighted
from comprehensive.report.page_code import code_of, difference
from comprehensive.report.page_model import model_table
from comprehensive.report.page_tree import NodeView, TreeViews, parent_of, path_to
from tests.compiled_specs import compiled

SPEC = "jacobi1d"


def views() -> tuple[TreeViews[Variant], NodeView]:
    made: TreeViews[Variant] = TreeViews(describe, lambda variant: print_nest(variant.nest))
    return made, made.of(compiled(SPEC).trees[0])


def test_text_is_escaped_and_every_line_is_closed_in_itself() -> None:
    lines = highlighted('if (a < b) /* one\ntwo */ x = "</script>";\n')
    assert lines == (
        '<span class="k">if</span> (a &lt; b) <span class="c">/* one</span>',
        '<span class="c">two */</span> x = <span class="s">&#34;&lt;/script&gt;&#34;</span>;',
    )


@pytest.mark.parametrize("text", ["", "\n", "a\n\nb", "/* open", "a\x0cb\n", 'c = "open\nd'])
def test_highlighting_keeps_every_line(text: str) -> None:
    lines = highlighted(text)
    assert len(lines) == len(text.removesuffix("\n").split("\n"))
    assert "\n".join(line.striptags() for line in lines).split() == text.split()


def test_a_line_belongs_to_the_statement_that_it_continues_and_a_brace_to_none() -> None:
    text = f"{source_line(7)}for (;;) {{\n{source_line(8)}x =\n    y;\n}}\n{GENERATED_LINE}__syncthreads();\n"
    assert [*of_statements(text)] == [
        ("for (;;) {", 7),
        ("x =", 8),
        ("    y;", 8),
        ("}", None),
        ("__syncthreads();", None),
    ]


def test_lines_of_kernels_come_from_lines_of_the_region() -> None:
    compilation = compiled(SPEC)
    (region,) = compilation.plan.functions[0].regions
    source = compilation.source.text.split("\n")
    for leaf in region.leaves:
        found = [line for line in code_of(leaf.kernel) if line.source is not None]
        assert found
        for line in found:
            assert line.source is not None
            written, printed = source[line.source - 1], line.html.striptags()
            assert ("for" in written) == printed.startswith("for")
            assert "/ 3" in written or "/ 3" not in printed


def test_a_difference_has_both_kernels_and_not_their_names() -> None:
    (region,) = compiled(SPEC).plan.functions[0].regions
    old, new = region.leaves[0].kernel, region.leaves[1].kernel
    lines = difference(old, new)
    assert [line.html for line in lines if line.sign != "-"] == [line.html for line in code_of(new)]
    assert sum(line.sign != "+" for line in lines) == len(code_of(old))
    assert not any("jacobi1d_leaf" in line.html for line in lines if line.sign != " ")


def test_branches_keep_the_quintuple_that_arrived() -> None:
    tree = compiled(SPEC).trees[0]
    branches = [node for node, _ in walk(tree.root) if isinstance(node, Branch)]
    root = branches[0]
    assert (root.fragment, root.applied) == (tree.source, ())
    assert root.remaining == tuple(s.name for s in tree.strategies)
    assert root.waiting == tuple(c.name for c in tree.counters)
    for branch in branches:
        assert branch.waiting[0] == branch.counter
        assert not {*branch.applied} & {*branch.remaining}
        if branch.strategy is not None and isinstance(branch.refuse, Branch):
            assert branch.strategy not in branch.refuse.remaining


def test_every_node_of_a_tree_is_a_node_of_its_view_with_a_code() -> None:
    made, root = views()
    tree = compiled(SPEC).trees[0]
    nodes = [*root.all]
    assert [node.number for node in nodes] == [*range(len(nodes))]
    assert len(nodes) == len([*walk(tree.root)])
    dead = [node for node in nodes if node.kind == "pruned"]
    assert len(dead) == len(tree.pruned)
    assert all("contradict each other" in node.source or "is impossible" in node.source for node in dead)
    assert {node.quintuple.code for node in nodes} <= {*range(len(made.codes))}
    leaf = next(node for node in nodes if node.kind == "leaf")
    assert leaf.quintuple.waiting == ()
    assert len({code for _, code in made.codes}) > 1


def test_a_leaf_comes_from_the_leaf_where_its_last_strategy_was_not_asked_for() -> None:
    tree = compiled(SPEC).trees[0]
    assert parent_of(tree, tree.leaves[0]) is None
    for leaf in tree.leaves[1:]:
        found = parent_of(tree, leaf)
        assert found is not None
        parent, strategy = found
        assert parent.index < leaf.index
        assert strategy.taken
        common = [
            branch for branch, _ in path_to(tree, leaf) if branch in [b for b, _ in path_to(tree, parent)]
        ]
        assert common[-1].strategy == strategy.strategy
    with pytest.raises(ValueError, match="another tree"):
        path_to(replace(tree, root=tree.leaves[1]), tree.leaves[0])


def test_leaves_that_share_a_kernel_refer_to_the_first_of_them() -> None:
    compilation = compiled(SPEC)
    (region,) = compilation.plan.functions[0].regions
    found = leaves_of(region, compilation.trees[0])
    assert [leaf.kind for leaf in found] == [*["leaf"] * len(region.leaves), "register tile", "time tile"]
    kernels: dict[str, str] = {}
    for leaf in found:
        first = kernels.setdefault(leaf.kernel, leaf.anchor)
        assert (leaf.same_as is None) == (first == leaf.anchor)
        assert bool(leaf.code) == (leaf.same_as is None)
    assert any(leaf.same_as for leaf in found)


def test_bounds_are_tables_of_numbers_with_names_once() -> None:
    cost = Cost(30, (Term("latency", 20, ""), Term("memory", 0, ""), Term("instructions", 9, "")), 1, 1)
    fits = Ranked("leaf", 0, "", 1, cost, "", True)
    not_ = Ranked("register tile", 1, "", 1, None, "no room", False)
    table = model_table(
        {(("n", 4), ("B", 2)): Ranking((fits,), (not_,)), (("n", 5), ("B", 2)): Ranking((fits,), ())}
    )
    assert table == {
        "order": ["n", "B"],
        "terms": ["latency", "instructions"],
        "names": ["leaf 0", "register tile 1"],
        "points": {
            "n=4,B=2": [[0, 1, 1, 30, [0, 20, 1, 9]], [1, 0, 1, "no room"]],
            "n=5,B=2": [[0, 1, 1, 30, [0, 20, 1, 9]]],
        },
    }
    assert json.loads(json.dumps(table)) == table
    assert model_table({})["points"] == {}


def test_sliders_stop_at_their_ends_their_start_and_at_powers_of_two() -> None:
    slider = slider_of_limit("Z_B", 100)
    assert (slider.low, slider.start, slider.high) == (0, 100, 200)
    assert slider.stops == (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 192, 200)
    assert len(slider_of_limit("Z_B", 0).stops) > 1
