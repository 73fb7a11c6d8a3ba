"""Partitions of parameter space as text, JSON and pictures."""

from __future__ import annotations

import itertools
import json
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from comprehensive.algebra import Atom, Polynomial, Relation, System, at_least, at_most, less
from comprehensive.algebra.regions import Box, Plane, divide_plane
from comprehensive.algebra.thresholds import Line, divide_line
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.partition import Partition, PartitionCase, partition, symbols_of
from comprehensive.optimize.tree import DeadEnd, Leaf, Tree, leaf_for
from comprehensive.report.labels import Label, least_clashing, rows
from comprehensive.report.partition_json import partition_document
from comprehensive.report.partition_svg import partitions_svg
from comprehensive.report.partition_text import partition_text
from comprehensive.report.partition_words import Titled, decimal, equation, number
from comprehensive.report.runs import open_columns, runs, seen_critical, seen_curves
from comprehensive.report.scale import Scale
from comprehensive.report.svg import HATCH
from tests.schemas import schema_faults
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s, x, y, Z = (Polynomial.symbol(name) for name in ("B", "s", "x", "y", "Z_B"))
SVG = "{http://www.w3.org/2000/svg}"


def tree() -> Tree[Bits]:
    """Two leaves (2*s*B + 2 and 2*B + 2 words) and a dead end."""
    counters = [BitCounter("words", "Z_B", 2, (2 * s * B, 0), (2 * B, 0))]
    problem = problem_of(counters, [BitStrategy("smaller", ("words",), 0, on_ir=True)])
    return comprehensive_optimization(problem.initial(zeros(2)), problem)


def circle() -> Titled:
    """An irrational critical value, a vertical boundary, a `<` in the text, and a region without any case."""
    cases = (
        PartitionCase("leaf", 0, System((at_least(y, 0),), (at_most(x * x + y * y, 2),)), "a <kernel>"),
        PartitionCase(
            "leaf", 1, System((at_least(y, 0),), (less(2, x * x + y * y), at_most(x, 2))), "another"
        ),
        PartitionCase("dead end", 0, System((at_least(y, 0),), (less(2, x),)), "too much"),
    )
    box = Box(*map(Fraction, (-3, 3, -1, 3)))
    divided = divide_plane([case.system for case in cases], ("x", "y"), box, {})
    return Titled("a <circle>", Partition(cases, {}, divided, (), ()))


def described(leaf: Leaf[Bits]) -> str:
    return f"bits {leaf.fragment}"


def of_tree(*symbols: str, **values: int) -> Titled:
    return Titled("bits", partition(tree(), symbols, values, {}, described))


def plane_of(titled: Titled) -> Plane:
    assert isinstance(titled.partition.divided, Plane)
    return titled.partition.divided


# --- partitions of a tree


def test_every_integer_point_of_a_partition_has_the_case_of_the_tree() -> None:
    grown = tree()
    found = partition(grown, ("B", "s"), {"Z_B": 100}, {"B": (1, 60), "s": (1, 20)}, described)
    assert isinstance(found.divided, Plane)
    for at in range(1, 61, 3):
        for height in range(1, 21, 2):
            case = leaf_for(grown, {"B": at, "s": height, "Z_B": 100})
            choice = found.divided.choice(Fraction(at), Fraction(height))
            assert choice is not None
            expected = ("dead end" if isinstance(case, DeadEnd) else "leaf", case.index)
            assert (found.cases[choice].kind, found.cases[choice].index) == expected


def test_default_ranges_end_a_little_beyond_the_last_change() -> None:
    divided = of_tree("B", s=1, Z_B=98).partition.divided
    assert isinstance(divided, Line)
    assert [threshold.value for threshold in divided.thresholds] == [48]
    assert (divided.intervals[0].low, divided.intervals[-1].high) == (1, 64)
    unchanged = of_tree("s", B=1, Z_B=3).partition.divided
    assert isinstance(unchanged, Line)
    assert unchanged.intervals[-1].high == 16


def test_only_values_that_matter_are_kept_and_missing_ones_are_named() -> None:
    assert dict(of_tree("B", s=1, Z_B=98, N=5).partition.values) == {"Z_B": 98, "s": 1}
    assert symbols_of(tree()) == ("B", "Z_B", "s")
    with pytest.raises(ValueError, match="Z_B, s"):
        of_tree("B")
    with pytest.raises(ValueError, match="one or two symbols"):
        of_tree("B", "s", "Z_B")


# --- words and axes


def test_equations_read_counter_equals_limit() -> None:
    atom = Atom(2 * s * B + 2 - Z, Relation.EQ)
    assert equation(atom, ("s", "B"), ("Z_B",)) == "2*s*B + 2 = Z_B"
    assert equation(Atom(-atom.polynomial, Relation.EQ), ("s", "B"), ("Z_B",)) == "2*s*B + 2 = Z_B"
    assert equation(Atom(B - 1, Relation.EQ), (), ()) == "B = 1"
    assert equation(Atom(2 - x * x - y * y, Relation.EQ), (), ()) == "x^2 + y^2 = 2"


def test_numbers_are_exact_and_short() -> None:
    assert (number(Fraction(33, 2)), decimal(Fraction(33, 2)), decimal(Fraction(10**9))) == (
        "33/2",
        "16.5",
        "1000000000",
    )
    value = (
        divide_line([System((), (at_most(x * x, 2),))], "x", Fraction(0), Fraction(3), {}).thresholds[0].value
    )
    assert number(value) == "1.41421 (root 1 of x^2 - 2)"


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "ticks"),
    [
        (1, 16, False, (2, 4, 6, 8, 10, 12, 14, 16)),
        (1, 64, True, (1, 2, 4, 8, 16, 32, 64)),
        (0, 100, False, (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)),
        (-3, 3, False, (-3, -2, -1, 0, 1, 2, 3)),
        (1, 2**20, True, tuple(4**k for k in range(11))),
    ],
)
def test_axes(low: int, high: int, logarithmic: bool, ticks: tuple[int, ...]) -> None:
    scale = Scale(Fraction(low), Fraction(high))
    assert (scale.is_logarithmic, scale.ticks()) == (logarithmic, ticks)
    assert scale.value(Fraction(0)) == low
    assert scale.value(Fraction(1)) == high
    for place in (Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)):
        assert scale.place(scale.value(place)) == pytest.approx(float(place))


def test_what_changes_nothing_is_not_seen() -> None:
    plane = plane_of(circle())
    assert [str(p) for p in seen_curves(plane)] == ["x - 2", "x^2 + y^2 - 2", "y"]
    assert [str(critical.value) for critical in seen_critical(plane)] == [
        "root 0 of x^2 - 2",
        "root 1 of x^2 - 2",
        "2",
    ]
    assert len(plane.critical) > 3
    for column in open_columns(plane):
        found = runs(column)
        assert all(a.choice != b.choice and a.above == b.below for a, b in itertools.pairwise(found))


# --- text


def test_text_of_a_line() -> None:
    assert (
        partition_text(of_tree("Z_B", B=4, s=2))
        == f"""\
bits: B = 4, s = 2
Z_B from 1 to 32
  {"#" * 19}{"1" * 16}{"0" * 29}

  0  leaf 0      2*s*B + 2 <= Z_B
                 bits (False, False); as at Z_B = 25
  1  leaf 1      2*B + 2 <= Z_B, Z_B < 2*s*B + 2
                 bits (True, False); as at Z_B = 14
  #  dead end 0  Z_B < 2*B + 2
                 too much of words; as at Z_B = 5

the choice changes
  at Z_B = 10, where 2*B + 2 = Z_B
     dead end 0 below, leaf 1 there, leaf 1 above
  at Z_B = 18, where 2*s*B + 2 = Z_B
     leaf 1 below, leaf 0 there, leaf 0 above
"""
    )


def test_text_of_a_plane_has_a_map_a_legend_and_critical_values() -> None:
    text = partition_text(circle())
    rows = [line.removeprefix("  |") for line in text.splitlines() if line.startswith("  |")]
    assert len(rows) == 24
    assert rows[0].startswith("1" * 53 + "#")
    assert rows[-1] == ""
    assert "  x = -1.41421 (root 0 of x^2 - 2)\n     two branches of one curve meet: x^2 + y^2 = 2" in text
    assert "  x = 2\n     vertical boundary: x = 2" in text
    assert "against the assumptions" in text


# --- JSON


def test_json_holds_all_exact_cells() -> None:
    titled = circle()
    document = json.loads(json.dumps(partition_document(titled)))
    plane = document["plane"]
    (root,) = (c["value"] for c in plane["critical"] if c["value"].get("root") == 0)
    assert (root["coefficients"], root["decimal"]) == ([-2, 0, 1], "-1.41421")
    low, high = map(Fraction, root["between"])
    assert low < high < 0
    assert high**2 < 2 < low**2
    assert root in [column["sample"] for column in plane["columns"] if column["low"] == column["high"]]
    assert sum(len(column["cells"]) for column in plane["columns"]) == sum(
        len(column.cells) for column in plane_of(titled).columns
    )
    area = next(c for c in plane["columns"][1]["cells"] if c["case"] is not None and c["below"] != c["above"])
    assert document["cases"][area["case"]] == {
        "kind": "leaf",
        "index": 1,
        "code": "another",
        "condition": "2 < x^2 + y^2, x <= 2",
    }
    at = {
        name: Fraction(value["value"]) for name, value in zip(plane["symbols"], area["sample"], strict=True)
    }
    assert titled.partition.cases[area["case"]].system.holds(at)


@pytest.mark.parametrize(
    "titled", [circle(), of_tree("B", "s", Z_B=98), of_tree("Z_B", B=4, s=2), of_tree("B", s=1, Z_B=98)]
)
def test_json_is_as_its_schema_says(titled: Titled) -> None:
    document = json.loads(json.dumps({"schema": 1, "regions": [partition_document(titled)]}))
    assert schema_faults("partition", document) == []
    document["regions"][0]["cases"][0]["colour"] = "red"
    assert schema_faults("partition", document) != []


def test_json_of_a_line_tells_thresholds() -> None:
    line = partition_document(of_tree("Z_B", B=4, s=2))["line"]
    assert [
        (t["value"]["value"], t["below"], t["at"], t["above"], t["equations"]) for t in line["thresholds"]
    ] == [
        ("10", 2, 1, 1, ["2*B + 2 = Z_B"]),
        ("18", 1, 0, 0, ["2*s*B + 2 = Z_B"]),
    ]


# --- pictures


@pytest.mark.parametrize("titled", [circle(), of_tree("B", "s", Z_B=98), of_tree("Z_B", B=4, s=2)])
def test_a_picture_is_xml_and_labels_cells_and_curves(titled: Titled) -> None:
    root = ET.fromstring(partitions_svg([titled]))
    words = [text.text for text in root.iter(f"{SVG}text")]
    for choice in {0, 1}:
        assert f"leaf {choice}" in words
    assert any(word is not None and "=" in word for word in words)
    assert "dead end 0" in words
    for case in titled.partition.cases:
        assert any(word is not None and word.startswith(f"{case.code}; as at ") for word in words)
    fills = [shape.get("fill") for kind in ("polygon", "rect") for shape in root.iter(f"{SVG}{kind}")]
    assert HATCH in fills
    for each in root.iter(f"{SVG}polyline"):
        places = [tuple(map(float, place.split(","))) for place in str(each.get("points")).split()]
        assert all(70 <= across <= 690 and 40 <= down <= 540 for across, down in places)


FRAME = ((0.0, 0.0), (600.0, 400.0))


def test_a_label_moves_away_from_labels_and_from_what_is_drawn() -> None:
    here, there = Label((100, 100), "leaf 0"), Label((300, 100), "leaf 0")
    assert least_clashing([here, there], [], [], FRAME) == here
    assert least_clashing([here, there], [Label((110, 104), "B = T_B", 30)], [], FRAME) == there
    assert least_clashing([here, there], [], [(90.0, 101.0)], FRAME) == there
    assert least_clashing([Label((5, 100), "leaf 0"), there], [], [], FRAME) == there
    assert least_clashing([here, there], [here], [(300.0, 101.0)], FRAME) == there


def test_an_upright_label_is_high_and_narrow() -> None:
    label = Label((100, 100), "dead end 3", -90)
    assert label.covers((100, 70))
    assert not label.covers((130, 100))
    assert {round(y) for _, y in label.points()} >= {64, 136}


def test_names_go_to_the_first_row_where_they_meet_no_other() -> None:
    assert rows([(0, 10), (5, 15), (12, 20), (6, 9), (30, 40)]) == (0, 1, 0, 2, 0)
    assert rows([]) == ()


def two_close_curves() -> Titled:
    """A sliver of a leaf between two hyperbolas."""
    cases = (
        PartitionCase("leaf", 0, System((), (at_most(60 * x * y, 58112),)), "fits"),
        PartitionCase("leaf", 1, System((), (less(58112, 60 * x * y), at_most(x * y, 1024))), "general"),
        PartitionCase("dead end", 0, System((), (less(1024, x * y),)), "too much"),
    )
    divided = divide_plane(
        [case.system for case in cases], ("x", "y"), Box(*map(Fraction, (1, 2048, 1, 2048))), {}
    )
    return Titled("close", Partition(cases, {}, divided, (), ()))


@pytest.mark.parametrize(
    "titled",
    [
        circle(),
        two_close_curves(),
        of_tree("B", "s", Z_B=98),
        of_tree("Z_B", B=4, s=2),
        of_tree("Z_B", B=1, s=2),
    ],
)
def test_labels_in_a_picture_do_not_cover_each_other(titled: Titled) -> None:
    labels: list[Label] = []
    for text in ET.fromstring(partitions_svg([titled])).iter(f"{SVG}text"):
        if text.get("paint-order") == "stroke":
            turned = re.match(r"rotate\(([-\d.]+)", text.get("transform", ""))
            place = float(str(text.get("x"))), float(str(text.get("y")))
            angle = float(turned[1]) if turned else 0.0
            labels.append(Label(place, str(text.text), angle, float(str(text.get("dy")))))
    assert len(labels) > 2
    for one, other in itertools.permutations(labels, 2):
        assert not any(other.covers(point) for point in one.points()), (one, other)


def test_leaves_differ_in_lightness() -> None:
    root = ET.fromstring(partitions_svg([circle()]))
    fills = {str(shape.get("fill")) for shape in root.iter(f"{SVG}polygon")} - {HATCH, "none"}
    lightness = sorted(
        sum(
            weight * int(fill[k : k + 2], 16)
            for weight, k in zip((0.2126, 0.7152, 0.0722), (1, 3, 5), strict=True)
        )
        for fill in fills
    )
    assert len(lightness) == 2
    assert lightness[1] - lightness[0] > 60


def test_several_partitions_make_one_picture() -> None:
    one, both = partitions_svg([circle()]), partitions_svg([circle(), of_tree("B", s=1, Z_B=98)])
    heights = [float(str(ET.fromstring(text).get("height"))) for text in (one, both)]
    assert heights[1] > heights[0]
    assert both == partitions_svg([circle(), of_tree("B", s=1, Z_B=98)])
