"""Decision trees as pictures, for SMT solvers and for papers."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html import unescape

import pytest
import z3

from comprehensive.optimize.tree import Tree
from comprehensive.report.system_latex import symbol
from comprehensive.report.tidy import GAP, Box, layout
from comprehensive.report.tree_dot import trees_dot
from comprehensive.report.tree_html import trees_html
from comprehensive.report.tree_latex import trees_latex
from comprehensive.report.tree_mermaid import trees_mermaid
from comprehensive.report.tree_outline import Item, outline
from comprehensive.report.tree_smt import symbol as smt_symbol
from comprehensive.report.tree_smt import trees_smt
from comprehensive.report.tree_svg import trees_svg
from tests.solvers import cvc5_answers, statuses, z3_answers
from tests.unit.optimize.bits import Bits
from tests.unit.report.test_tree_report import caching, useless

SVG = "{http://www.w3.org/2000/svg}"


def items(tree: Tree[Bits], *, pruned: bool = False) -> tuple[Item, ...]:
    return outline(tree, "f<g>", pruned=pruned, describe=str)


def test_an_outline_has_the_boxes_and_arrows_of_the_tree() -> None:
    shown = items(caching())
    assert [item.kind for item in shown] == ["root", "branch", "leaf", "branch", "leaf", "dead end"]
    refuse = shown[3].above
    assert refuse is not None
    assert (refuse.start, refuse.words, refuse.consequence) == (1, ("Z_B < 2*s*B + 2",), "so smaller")
    assert shown[5].more == ("where Z_B < 2*B + 2", "words = 2*B + 2", *shown[5].more[2:])


def test_what_is_decided_in_any_case_is_a_box_on_request_only() -> None:
    assert [item.kind for item in items(useless())] == ["root", "branch", "leaf", "dead end"]
    arrow = items(useless())[3].above
    assert arrow is not None
    assert arrow.consequence == "so cse"
    assert "pruned" in [item.kind for item in items(useless(), pruned=True)]


def test_a_picture_shows_every_word_of_the_outline_and_is_the_same_bytes_again() -> None:
    picture = trees_svg([items(caching())], "f.mf")
    words = " ".join(str(text.text) for text in ET.fromstring(picture).iter(f"{SVG}text"))
    for item in items(caching()):
        for line in (*item.words, *(item.above.words if item.above else ())):
            assert line in words
    assert trees_svg([items(caching())], "f.mf") == picture


def test_a_page_has_every_word_of_the_outline_escaped() -> None:
    page = trees_html([items(caching()), items(useless())], "</script>.mf")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</body></html>\n")
    assert "&lt;/script&gt;.mf" in page
    assert "</script>" not in page
    words = unescape(page)
    for item in items(caching()):
        for line in (*item.words, *(item.above.words if item.above else ()), *item.more):
            assert line in words
    assert page.count("<details") == page.count("</details>") > 4


def test_boxes_of_a_picture_do_not_meet_and_parents_stand_between_their_children() -> None:
    # 0 -> 1, 4, 5;  1 -> 2, 3: a small box with two large children beside two leaves
    sizes = [(None, 20), (0, 20), (1, 60), (1, 80), (0, 30), (0, 200)]
    boxes = [Box(parent, 50, height, 40) for parent, height in sizes]
    places = layout(boxes)
    by_column: dict[float, list[tuple[float, float]]] = {}
    for box, left, top in zip(boxes, places.left, places.top, strict=True):
        by_column.setdefault(left, []).append((top, top + box.height))
    assert len(by_column) == 3
    for column in by_column.values():
        for (_, end), (start, _) in zip(sorted(column), sorted(column)[1:], strict=False):
            assert start - end >= GAP - 1e-9
    middles = [top + box.height / 2 for box, top in zip(boxes, places.top, strict=True)]
    assert middles[1] == pytest.approx((middles[2] + middles[3]) / 2)
    assert middles[0] == pytest.approx((middles[1] + middles[5]) / 2)
    assert min(places.top) == 0
    assert places.height == max(top + box.height for box, top in zip(boxes, places.top, strict=True))


def test_graphviz_reads_the_graph() -> None:
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("Graphviz is not on this machine")
    graph = trees_dot([items(caching()), items(useless(), pruned=True)], 'a "title"')
    drawn = subprocess.run([dot, "-Tplain"], input=graph, capture_output=True, text=True, check=True).stdout
    lines = [line.split(" ", 1)[0] for line in drawn.splitlines()]
    boxes = len(items(caching())) + len(items(useless(), pruned=True))
    assert (lines.count("node"), lines.count("edge")) == (boxes, boxes - 2)


MERMAID = re.compile(
    r"flowchart LR|  accTitle: .+|  classDef \w+ [\w-]+:[^,;]+(,[\w-]+:[^,;]+)*"
    r'|  n\d+\["[^"<>&`]*(<br/>[^"<>&`]*)*"\](:::\w+)?'
    r'|  n\d+ (-->|-\.->)(\|"[^"<>&`]*(<br/>[^"<>&`]*)*"\|)? n\d+'
)


def test_every_line_of_a_flowchart_is_one_that_mermaid_knows() -> None:
    chart = trees_mermaid([items(caching()), items(useless(), pruned=True)], "a.mf")
    assert [line for line in chart.splitlines() if not MERMAID.fullmatch(line)] == []
    assert '"f#lt;g#gt;<br/>' in chart
    assert '-.->|"Z_B #lt; 2*s*B + 2<br/>so smaller"|' in chart


@pytest.mark.parametrize("tree", [caching(), useless(), caching(occupancy=True)])
def test_smt_solvers_agree_with_the_tree(tree: Tree[Bits]) -> None:
    script = trees_smt([("bits", tree)], "bits|.mf")
    wanted = statuses(script)
    assert wanted.count("sat") == len(tree.leaves) + len(tree.dead_ends)
    assert wanted.count("unsat") == len(tree.pruned)
    assert z3_answers(script) == wanted
    assert cvc5_answers(script) == wanted


def test_solvers_see_a_verdict_that_is_wrong() -> None:
    script = trees_smt([("bits", useless())], "bits.mf").replace("(assert (< R_B 9))", "")
    with pytest.raises(z3.Z3Exception, match="annotation that says unsat"):
        z3_answers(script)
    assert cvc5_answers(script) != statuses(script)


def test_names_that_smt_lib_takes_are_marked() -> None:
    assert [smt_symbol(name) for name in ("B0", "div", "_n", "floor(N/(B*s))")] == [
        "B0",
        "div!",
        "|_n|",
        "|floor(N/(B*s))|",
    ]


def balanced(latex: str) -> bool:
    """Whether environments and braces close in the order in which they open."""
    waiting: list[str] = []
    for begin, end, brace in re.findall(r"\\begin\{(\w+\*?)\}|\\end\{(\w+\*?)\}|(?<!\\)([{}])", latex):
        if begin or brace == "{":
            waiting.append(begin or "{")
        elif not waiting or waiting.pop() != (end or "{"):
            return False
    return not waiting


def test_latex_prints_systems_with_their_decisions() -> None:
    latex = trees_latex([("f_g", caching())], "f.mf", str, pruned=True)
    assert balanced(latex)
    assert not balanced(latex.replace(r"\end{cases}", "", 1))
    assert r"\paragraph{f\_g} 2 leaves, 1 dead end" in latex
    assert r"\text{leaf 0} & \begin{cases} 2 \, B \, s + 2 \le Z_{B} \end{cases}" in latex.replace(
        r"s \, B", r"B \, s"
    )
    assert r"\text{(pad not taken) (smaller taken)}" in latex
    assert "impossible" in trees_latex([("f", useless())], "f.mf", str, pruned=True)


def test_symbols_are_typeset_as_in_the_paper() -> None:
    names = ("n", "B0", "Z_B", "ub1", "dim", "P_occupancy", "row_length")
    assert list(map(symbol, names)) == [
        "n",
        "B_{0}",
        "Z_{B}",
        r"\mathit{ub}_{1}",
        r"\mathit{dim}",
        r"P_{\mathrm{occupancy}}",
        r"\mathit{row\_length}",
    ]
