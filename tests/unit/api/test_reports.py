"""Notebooks show trees, systems and partitions of a program as HTML, LaTeX and SVG."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import comprehensive
from comprehensive import Program
from comprehensive.algebra import Polynomial, Quotient, at_least, at_most, equal, less
from comprehensive.report.system_html import system_html
from comprehensive.report.system_latex import Mathematics, symbol
from comprehensive.report.tree_html import tree_html
from comprehensive.report.tree_outline import Arrow, Item

SPECS = Path(__file__).resolve().parents[3] / "specs"
SHOWN = """
def shown(program):
    values = [program, program.explain(device="h200", n=4096), *program.leaves, program.tree]
    systems = [leaf.system._repr_latex_() for leaf in program.leaves]
    return "".join([*(value._repr_html_() for value in values), *systems, program.where("B", n=64)._repr_svg_()])
"""
DIGEST = """
import hashlib, sys, comprehensive
program = comprehensive.compile(sys.argv[1], registers="estimate")
print(hashlib.sha256(shown(program).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def jacobi() -> Program:
    return comprehensive.compile(SPECS / "jacobi1d.mf", registers="estimate")


def parsed(html: str) -> ElementTree.Element:
    """The elements of what is shown; ParseError where they are not closed as they are opened."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def words_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def depths(element: ElementTree.Element, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield how deep each leaf, dead end and counter stands; what can be opened has its title in its summary."""
    for child in element:
        if child.tag == "b":
            yield depth, words_of(child)
        elif child.tag == "summary":
            yield from depths(child, depth - 1)
        else:
            yield from depths(child, depth + (child.tag == "details"))


def test_a_tree_is_shown_as_nested_details(jacobi: Program) -> None:
    shown = parsed(jacobi.tree._repr_html_())
    titles = [title for _, title in depths(shown)]
    for leaf in jacobi.leaves:
        assert f"leaf {leaf.index}" in titles
        assert f"where {leaf.system}" in words_of(shown)
    (first,) = [words_of(element) for element in shown.iter("summary")][:1]
    assert first.startswith("jacobi1d, 4 leaves")
    depth_of = {title: depth for depth, title in depths(shown)}
    assert depth_of["jacobi1d"] < depth_of["as written"] < depth_of["threads_per_block = B"]
    assert depth_of["threads_per_block = B"] < depth_of["shared_words_per_block = 2*s*B + 2"]
    assert parsed(jacobi._repr_html_()).find(".//details") is not None
    assert jacobi.region._repr_html_() == jacobi.tree._repr_html_()


TWO = """
void scale(int n, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = 2.0f * x[i];
  }
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = x[i] + 1.0f;
  }
}

void fill(int n, float y[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      y[i] = 0.0f;
  }
}
"""


def drawn_words(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_trees_regions_and_programs_are_pictures_where_no_html_is_taken(jacobi: Program) -> None:
    shown = drawn_words(jacobi.tree._repr_svg_())
    assert "jacobi1d" in shown
    assert {f"leaf {leaf.index}" for leaf in jacobi.leaves} <= set(shown)
    assert jacobi.region._repr_svg_() == jacobi.tree._repr_svg_() == jacobi.tree.svg()
    assert drawn_words(jacobi._repr_svg_()) == shown
    assert len(drawn_words(jacobi.tree.svg(pruned=True))) > len(shown)


def test_a_program_with_several_regions_and_functions_is_one_picture_of_all_trees() -> None:
    program = comprehensive.compile(TWO, name="two", registers="estimate")
    names = [region.name for region in program.regions]
    assert len(names) == 3
    assert [*program.functions] == ["scale", "fill"]
    every = drawn_words(program._repr_svg_())
    assert [word for word in every if word in names] == names
    each = [drawn_words(region._repr_svg_()) for region in program.regions]
    assert [[word for word in own if word in names] for own in each] == [[name] for name in names]
    assert [word for own in each for word in own] == every
    with pytest.raises(ValueError, match="two has 3 regions"):
        _ = program.tree


def test_siblings_of_a_tree_stand_side_by_side_and_all_words_are_escaped() -> None:
    items = [
        Item("root", ("a<b>&", '"quoted"'), more=("<i>",)),
        Item("branch", ("v = 1",), Arrow(0, "alternative")),
        Item("leaf", ("leaf 0",), Arrow(1, "accept", ("1 <= R",))),
        Item("dead end", ("dead end 0",), Arrow(1, "refuse", ("R < 1",), ("cse-1", "granularity"), ("<p>",))),
        Item("leaf", ("leaf 1",), Arrow(0, "alternative")),
    ]
    shown = parsed(tree_html(items))
    assert list(depths(shown)) == [
        (0, "a<b>&"),
        (1, "v = 1"),
        (2, "leaf 0"),
        (2, "dead end 0"),
        (1, "leaf 1"),
    ]
    assert "refuse R < 1, so cse-1, then granularity: dead end 0<p>" in words_of(shown)
    assert shown.find(".//p") is None


def test_a_system_is_shown_as_a_table_with_the_meaning_of_limits(jacobi: Program) -> None:
    shown = parsed(jacobi.leaves[0].system._repr_html_())
    rows = [[words_of(cell) for cell in row.iter("td")] for row in shown.find(".//tbody") or ()]
    assert [row[0] for row in rows] == list(jacobi.leaves[0].system.conditions)
    assert rows[0][1] == "T_B: threads of one thread block, in threads"
    assert "always" in system_html(())
    parsed(system_html((("a < b & c", "<script>"),)))


def test_a_leaf_is_shown_with_its_counts(jacobi: Program) -> None:
    shown = words_of(parsed(jacobi.leaves[0]._repr_html_()))
    assert "leaf 0, cached: a" in shown
    assert "shared_words_per_block = 2*s*B + 2 [exact], limit Z_B" in shown


def test_an_explanation_is_shown_as_it_is_printed(jacobi: Program) -> None:
    explained = jacobi.explain(device="h200", B=64, s=4)
    shown = parsed(explained._repr_html_())
    assert "".join(shown.itertext()) == str(explained)


def test_a_partition_is_shown_as_a_picture(jacobi: Program) -> None:
    divided = jacobi.where("B", "s", N=4096)
    assert ElementTree.fromstring(divided._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
    assert divided.to_json()["regions"]


def test_a_system_in_latex_reads_as_in_the_paper(jacobi: Program) -> None:
    system = jacobi.leaves[0].system
    assert system.latex[1] == r"2 \, s \, B + 2 \le Z_{B}"
    assert system._repr_latex_().startswith(r"$$ \begin{cases} B \le T_{B} \\ 2 \, s \, B + 2 \le Z_{B} \\ ")
    assert system._repr_latex_().endswith(r" \end{cases} $$")
    assert jacobi.tree.root.accept_if._repr_latex_() == r"$$ B \le T_{B} $$"  # type: ignore[union-attr]


B, Z, n = (Polynomial.symbol(name) for name in ("B", "Z_B", "n"))


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        (at_most(2 * B * B + 2, Z), r"2 \, {B}^{2} + 2 \le Z_{B}"),
        (less(Z, B - n + 1), r"Z_{B} < B - n + 1"),
        (equal(3 * B, n), r"n = 3 \, B"),
        (at_least(B, 1), r"1 \le B"),
        (at_most(0, Z), r"0 \le Z_{B}"),
        (
            at_most(Polynomial.symbol("ceil(B/32)") * B, Polynomial.symbol("floor(W_SM/ceil(B/32))")),
            r"B \, \left\lceil \frac{B}{32} \right\rceil \le"
            r" \left\lfloor \frac{W_{\mathrm{SM}}}{\left\lceil \frac{B}{32} \right\rceil} \right\rfloor",
        ),
    ],
    ids=str,
)
def test_conditions_in_latex(atom: Any, expected: str) -> None:
    warps = Quotient("ceil(B/32)", B, Polynomial(32), True, None)
    blocks = Quotient(
        "floor(W_SM/ceil(B/32))", Polynomial.symbol("W_SM"), Polynomial.symbol("ceil(B/32)"), False, None
    )
    assert Mathematics((), ("Z_B",), (warps, blocks)).atom(atom) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("n", "n"),
        ("B0", "B_{0}"),
        ("ub1", r"\mathit{ub}_{1}"),
        ("Z_B", "Z_{B}"),
        ("P_occupancy", r"P_{\mathrm{occupancy}}"),
        ("dim", r"\mathit{dim}"),
        ("row_length", r"\mathit{row\_length}"),
        ("_x", r"\mathit{\_x}"),
    ],
)
def test_parameters_in_latex(name: str, expected: str) -> None:
    assert symbol(name) == expected


def test_a_system_that_always_holds_says_so_in_latex() -> None:
    assert Mathematics().displayed(()) == r"$$ \text{always} $$"


@pytest.mark.slow
def test_what_is_shown_is_the_same_in_every_run() -> None:
    path = SPECS / "reverse.mf"
    names: dict[str, Any] = {}
    exec(SHOWN, names)
    here = names["shown"](comprehensive.compile(path, registers="estimate"))
    told = subprocess.run(
        [sys.executable, "-c", SHOWN + DIGEST, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
    )
    assert told.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()
