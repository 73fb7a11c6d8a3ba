"""Asserts before a region: everything that says which leaf runs refuses the same calls as the emitted selection."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from comprehensive import explanation
from comprehensive.algebra.regions import Plane
from comprehensive.asserts import asserts_of
from comprehensive.codegen.dispatch import dispatch
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.explanation import explain
from comprehensive.leaf_parameters import leaf_loops, leaf_points, loops_text, points_text
from comprehensive.machine.device import Device, load_device
from comprehensive.optimize.partition import Partition
from comprehensive.parameter_space import divide
from comprehensive.parameter_space import to_text as space_text
from comprehensive.plan.interface import interface
from comprehensive.report.partition_words import Titled
from tests.examples import examples, quick_of
from tests.unit.codegen.compiled import Selection

SPECS = Path(__file__).resolve().parents[2] / "specs"
LARGEST = 40
POINTS = examples(1000)

HOST = """
void scaled(int n, int m, const float *x, float *y, float alpha, int B, int s)
{
  int dim = n / (B * s);
  assert(B * B * s <= 3000 && B != s);
  assert(alpha > 0.0f);
  assert(B != 7);
  assert(!(s % 3 == 1) || m >= 5);
  assert(dim >= 2 && "enough blocks");
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int j = 0; j < B; j++)
        for (int k = 0; k < s; k++) {
          int p = (i * s + k) * B + j;
          y[p] = alpha * x[p] + m;
        }
  }
}
"""

ADDED = {
    "matmul": (),
    "transpose": ("B0 % 4 == 0 || s == 1", "B0 * B1 * s <= 600"),
    "gemm": ("B0 != B1", "!(B0 > 3 * B1) || n % 5 == 0"),
    "reverse": ("B * s <= 96", "n >= 10"),
    "matvec": ("B % 2 == 1 || n > 32", "n * n >= B && n != B"),
}
"""The specs that are tried, with what is asserted besides."""


@dataclass(frozen=True)
class Subject:
    compilation: Compilation
    selection: Selection
    sizes: tuple[str, ...]
    program: tuple[str, ...]


@cache
def subject(name: str) -> Subject:
    folder = Path(mkdtemp())
    path = folder / f"{name}.mf"
    text = HOST
    if name != "scaled":
        text = (SPECS / f"{name}.mf").read_text()
        head, body = text.split("{", 1)
        text = head + "{\n" + "".join(f"  assert({a});\n" for a in ADDED[name]) + body
    path.write_text(text)
    compilation = compile_file(path, Options(registers="estimate"))
    (function,) = compilation.plan.functions
    (region,) = function.regions
    view = dispatch(region, interface(function))
    sizes, program = (tuple(a.name for a in found) for found in (view.sizes, view.program))
    given = tuple(a.name for a in interface(function).program)
    return Subject(compilation, Selection(compilation.plan, folder, sizes, given), sizes, program)


NAMES = ("scaled", *ADDED)


def numbers(found: Subject, chance: random.Random) -> dict[str, int]:
    """Values of all sizes and program parameters, small ones and those at the boundaries of an assert among them."""
    drawn = {name: chance.choice((0, 4, 5, 60, 64, 100, 1000)) for name in found.sizes}
    drawn |= {name: chance.choice((1, 2, 3, 4, 7, 8, 16, 24, LARGEST)) for name in found.program}
    return drawn


def no_change(*_given: object, **_named: object) -> None:
    """Stand in for the search for parameters that would help, which takes most of the time."""


def near(point: Mapping[str, int], names: tuple[str, ...], found: Subject) -> Iterator[dict[str, int]]:
    """Points around one, those at which an assert changes its mind first."""
    (asserts,) = asserts_of(found.compilation)
    around = [
        {**point, names[0]: a, names[1]: b} for a in range(1, LARGEST + 1) for b in range(1, LARGEST + 1)
    ]
    edges = [
        p
        for p in around
        if p[names[0]] > 1 and asserts.violated(p) != asserts.violated({**p, names[0]: p[names[0]] - 1})
    ]
    chance = random.Random(str(point))
    yield from chance.sample(edges, min(len(edges), 30))
    yield from chance.sample(around, 30)


def admitted(
    found: Subject, others: Mapping[str, int], varied: tuple[str, ...], device: Device
) -> tuple[list[set[tuple[int, ...]]], Callable[[int, Mapping[str, int]], bool]]:
    """The points of each leaf, and whether the loops of a leaf come to a point."""
    leaves = range(len(found.compilation.trees[0].leaves))
    domains = dict.fromkeys(varied, range(1, LARGEST + 1))
    points = [
        {*listed.points}
        for leaf in leaves
        for listed in leaf_points(found.compilation, leaf, others, device, domains)
    ]
    loops = [each for leaf in leaves for each in leaf_loops(found.compilation, leaf, others, device)]

    def reached(leaf: int, point: Mapping[str, int]) -> bool:
        pieces, checks = loops[leaf].description.pieces, loops[leaf].checks
        return any(all(atom.holds(point) for atom in piece.atoms) for piece in pieces) and all(
            c_condition(check, point) for check in checks
        )

    return points, reached


def c_condition(text: str, point: Mapping[str, int]) -> bool:
    python = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    return bool(eval(re.sub(r"!(?!=)", " not ", python), {}, dict(point)))


def explained(found: Subject, point: Mapping[str, int], device: Device) -> int | None:
    """The leaf that `explain` says runs."""
    (region,) = explain(found.compilation, device, point)
    runs = [case.index for case in region.cases if case.kind == "leaf" and case.applies]
    assert len(runs) < 2
    assert all(case.applies is not None for case in region.cases)
    return runs[0] if runs else None


def shown(partition: Partition, x: int, y: int) -> int | None:
    """The leaf that the plane has at a point."""
    assert isinstance(partition.divided, Plane)
    choice = partition.divided.choice(Fraction(x), Fraction(y))
    case = None if choice is None else partition.cases[choice]
    return case.index if case is not None and case.kind == "leaf" else None


def passed_over(found: Subject, plane: Titled, point: Mapping[str, int]) -> bool:
    """Whether an assert that refuses the point is one of which the plane says that it does not know."""
    (asserts,) = asserts_of(found.compilation)
    return any(
        each.holds(point) is False and any(note.startswith(each.quoted) for note in plane.unchecked)
        for each in asserts.checked
    )


@pytest.mark.parametrize("name", quick_of(NAMES, {"scaled"}))
def test_all_that_say_which_leaf_runs_agree_with_the_emitted_selection(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanation, "nearest", no_change)
    found, chance = subject(name), random.Random(name)
    refused = tried = compared = 0
    while tried < POINTS // len(NAMES):
        drawn, device = numbers(found, chance), load_device(chance.choice(("sm_90", "sm_75")))
        varied = (*found.program, *found.sizes)[:2]
        others = {k: v for k, v in drawn.items() if k not in varied}
        sets, loops = admitted(found, others, varied, device)
        (drawn_plane,) = divide(
            found.compilation, device, varied, others, dict.fromkeys(varied, (1, LARGEST + 1))
        )
        for point in near(drawn, varied, found):
            tried += 1
            choice = found.selection.select(device.machine(), point)
            wanted = choice.leaf if choice.status == 0 else None
            assert explained(found, point, device) == wanted, (point, choice.constraint)
            place = tuple(point[n] for n in varied)
            for leaf in range(len(found.compilation.trees[0].leaves)):
                assert (place in sets[leaf]) == (leaf == wanted), (point, leaf)
                assert loops(leaf, point) == (leaf == wanted), (point, leaf)
            if not passed_over(found, drawn_plane, point):
                assert shown(drawn_plane.partition, *place) == wanted, point
                compared += 1
            refused += wanted is None
    assert 0 < refused < tried
    assert compared > tried // 4


def test_what_cannot_be_checked_is_said_everywhere() -> None:
    found = subject("scaled")
    device, values = load_device("sm_90"), {"n": 1000, "m": 1}
    note = "not checked here: assert(alpha > 0.0f), line 6"
    assert note in explanation.to_text(explain(found.compilation, device, {**values, "B": 8, "s": 2}))
    assert note in loops_text(leaf_loops(found.compilation, 0, values))
    domains = {"B": range(1, 9), "s": range(1, 9)}
    assert note in points_text(leaf_points(found.compilation, 0, values, device, domains))
    drawn = space_text(divide(found.compilation, device, ("B", "s"), values, {}))
    assert note in drawn
    assert (
        "not checked here: assert(!(s % 3 == 1) || m >= 5), line 8, which is made of no polynomials" in drawn
    )
    without_m = points_text(leaf_points(found.compilation, 0, {"n": 1000}, device, domains))
    assert "not checked here: assert(!(s % 3 == 1) || m >= 5), line 8, which depends on m" in without_m


def test_a_refused_call_cites_the_assert_as_its_author_wrote_it() -> None:
    found, device = subject("matmul"), load_device("sm_90")
    values = {"n": 1024, "B0": 32, "ub1": 1, "s": 1}
    (region,) = explain(found.compilation, device, values)
    assert all(case.applies is False for case in region.cases)
    assert region.ranking is None
    text = explanation.to_text((region,))
    assert "assert(B0 <= ub1 * s), line 9: 32 <= 1 is false" in text
    assert "it would with B0 = 1, ub1 = 1, s = 1" in text
    drawn = space_text(divide(found.compilation, device, ("B0",), {"ub1": 4, "s": 4}, {}))
    assert "refused by assert(B0 <= ub1 * s), line 9" in drawn
    assert "at B0 = 16, where s*ub1 = B0" in drawn


def test_loops_test_at_each_point_what_is_no_bound() -> None:
    text = loops_text(leaf_loops(subject("scaled").compilation, 0, {"n": 1000, "m": 1}))
    assert "if (B != 7) if (!(s % 3 == 1) || 1 >= 5)" in text
