"""Lines and planes of parameters: known critical values, and the first system that holds wherever one looks."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, Relation, System, at_least, at_most, equal, less
from comprehensive.algebra.boundaries import specialize
from comprehensive.algebra.fibers import heights
from comprehensive.algebra.notation import Term
from comprehensive.algebra.regions import Box, Branch, Plane, Reason, divide_plane
from comprehensive.algebra.roots import Algebraic, approximate, compare, is_root, real_roots
from comprehensive.algebra.thresholds import Line, divide_line
from tests.examples import examples

B, s, Z, x, y = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "x", "y"))
# The case discussion of the paper's Jacobi example, in preorder.
JACOBI = [
    System((at_least(B, 1),), (at_most(2 * s * B + 2, Z),)),
    System((at_least(B, 1),), (at_most(2 * B + 2, Z), less(Z, 2 * s * B + 2))),
    System((at_least(B, 1),), (less(Z, 2 * B + 2),)),
]
some = settings(max_examples=examples(40), deadline=None)


def box(*ends: int) -> Box:
    return Box(*map(Fraction, ends))


def first(systems: list[System], point: dict[str, Fraction]) -> int | None:
    return next((index for index, system in enumerate(systems) if system.holds(point)), None)


def line(systems: list[System], name: str, low: int, high: int, **values: int) -> Line:
    return divide_line(systems, name, Fraction(low), Fraction(high), values)


# --- one parameter


def test_the_choice_changes_where_the_counters_reach_their_limit() -> None:
    found = line(JACOBI, "Z_B", 1, 1000, s=4, B=64)
    assert [(t.value, t.below, t.at, t.above) for t in found.thresholds] == [(130, 2, 1, 1), (514, 1, 0, 0)]
    assert [[str(e) for e in t.equations] for t in found.thresholds] == [
        ["Z_B == 2*B + 2"],
        ["Z_B == 2*B*s + 2"],
    ]
    assert [(p.low, p.high, p.has_low, p.has_high, p.choice) for p in found.pieces] == [
        (1, 130, True, False, 2),
        (130, 514, True, False, 1),
        (514, 1000, True, True, 0),
    ]


def test_a_critical_value_need_be_no_integer() -> None:
    (threshold,) = line(JACOBI[:2], "B", 1, 20, s=3, Z_B=101).thresholds
    assert (threshold.value, threshold.at) == (Fraction(99, 6), 0)


def test_an_irrational_critical_value_is_exact() -> None:
    systems = [System((), (at_most(B * B + B, 1024),)), System()]
    (threshold,) = line(systems, "B", 1, 100).thresholds
    assert isinstance(threshold.value, Algebraic)
    assert (threshold.value.coefficients, threshold.value.index) == ((-1024, 1, 1), 1)
    assert (threshold.below, threshold.at, threshold.above) == (0, 0, 1)
    strict = [System((), (less(B * B + B, 1024),)), System()]
    assert [t.at for t in line(strict, "B", 1, 100).thresholds] == [1]


def test_roots_that_change_nothing_are_no_thresholds() -> None:
    found = line([System((), (at_least((B - 3) ** 2, 0),))], "B", 1, 10)
    assert len(found.intervals) == 5
    assert found.thresholds == ()
    assert [(p.low, p.high, p.choice) for p in found.pieces] == [(1, 10, 0)]


def test_a_single_point_is_a_piece() -> None:
    found = line([System((), (equal(B * B, 2),)), System()], "B", 1, 2)
    assert [(p.choice, p.low == p.high) for p in found.pieces] == [(1, False), (0, True), (1, False)]
    (threshold,) = found.thresholds
    assert (threshold.below, threshold.at, threshold.above) == (1, 0, 1)


def test_nothing_holds_outside_of_the_assumptions() -> None:
    (threshold,) = line(JACOBI, "B", -5, 10, s=1, Z_B=10000).thresholds
    assert (threshold.value, threshold.below, threshold.at) == (1, None, 0)
    assert [str(e) for e in threshold.equations] == ["1 == B"]


@pytest.mark.parametrize(
    ("symbols", "values", "words"),
    [
        (("B",), {}, "no value is given for Z_B, s"),
        (("B", "B"), {"s": 1, "Z_B": 1}, "must differ"),
        (("B",), {"B": 2, "s": 1, "Z_B": 1}, "B cannot both vary and have a value"),
    ],
)
def test_what_cannot_be_divided_is_refused(
    symbols: tuple[str, ...], values: dict[str, int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        specialize(JACOBI, symbols, values)


def test_empty_ranges_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        line(JACOBI, "B", 3, 3, s=1, Z_B=1)
    with pytest.raises(ValueError, match="empty"):
        box(1, 2, 5, 4)


# --- two parameters


def test_a_hyperbola_divides_the_plane_of_block_sizes() -> None:
    B0, B1 = Polynomial.symbol("B0"), Polynomial.symbol("B1")
    systems = [System((), (at_most(B0 * B1, 1024),)), System((), (less(1024, B0 * B1),))]
    plane = divide_plane(systems, ("B0", "B1"), box(1, 2048, 1, 2048), {})
    # At 1024 the curve leaves through the lower edge; it leaves through the upper one at 1/2, out of the box.
    assert [critical.value for critical in plane.critical] == [1024]
    assert plane.critical[0].reasons == ((Reason.CROSSING, (B0 * B1 - 1024, B1 - 1)),)
    wide = next(c for c in plane.columns if not c.is_point)
    curve = next(cell for cell in wide.cells if cell.below == (Branch(B0 * B1 - 1024, 0),) and cell.is_curve)
    assert curve.choice == 0
    assert [cell.choice for cell in wide.cells] == [0, 0, 0, 1, 1]
    assert plane.height(Branch(B0 * B1 - 1024, 0), Fraction(3)) == Fraction(1024, 3)


def test_a_circle_has_two_branches_that_meet_where_it_turns() -> None:
    systems = [System((), (at_most(x * x + y * y, 2),)), System()]
    plane = divide_plane(systems, ("x", "y"), box(-3, 3, -3, 3), {})
    turning = [c for c in plane.critical if any(reason is Reason.TURN for reason, _ in c.reasons)]
    assert [str(c.value) for c in turning] == ["root 0 of x^2 - 2", "root 1 of x^2 - 2"]
    middle = next(column for column in plane.columns if column.sample == 0)
    circle = x * x + y * y - 2
    branches = [cell for cell in middle.cells if cell.below[0].polynomial == circle and cell.is_curve]
    assert [cell.below[0].index for cell in branches] == [0, 1]
    assert [(cell.sample[1], cell.choice) for cell in middle.cells if not cell.is_curve] == [
        (Fraction(-2), 1),
        (Fraction(0), 0),
        (Fraction(2), 1),
    ]


def test_a_vertical_boundary_and_an_asymptote_are_told_apart() -> None:
    systems = [System((), (at_most(x, 4), at_least((x - 2) * y, 1))), System()]
    plane = divide_plane(systems, ("x", "y"), box(0, 8, 0, 8), {})
    kinds = {c.value: {reason for reason, _ in c.reasons} for c in plane.critical}
    assert kinds[Fraction(2)] == {Reason.ASYMPTOTE}
    assert kinds[Fraction(4)] == {Reason.VERTICAL}
    assert plane.choice(Fraction(4), Fraction(1)) == 0
    assert plane.choice(Fraction(5), Fraction(1)) == 1


def test_points_outside_the_box_have_no_cell() -> None:
    plane = divide_plane(JACOBI, ("B", "s"), box(1, 64, 1, 8), {"Z_B": 300})
    with pytest.raises(ValueError, match="not in the box"):
        plane.choice(Fraction(65), Fraction(1))


def test_samples_lie_in_their_cells_and_show_the_choice() -> None:
    plane = divide_plane(JACOBI, ("B", "s"), box(1, 256, 1, 8), {"Z_B": 300})
    for column in plane.columns:
        for cell in column.cells:
            at, height = cell.sample
            assert plane.cell(at, height) == cell
            if isinstance(at, Fraction) and isinstance(height, Fraction):
                assert first(JACOBI, {"B": at, "s": height, "Z_B": Fraction(300)}) == cell.choice


def test_columns_fill_the_box() -> None:
    systems = [System((), (at_most(x * x, 2), at_most(y * y, x))), System()]
    plane = divide_plane(systems, ("x", "y"), box(0, 3, 0, 3), {})
    for left, right in pairwise(plane.columns):
        assert left.high == right.low
        assert left.is_point != right.is_point
    assert any(isinstance(column.low, Algebraic) for column in plane.columns if column.is_point)


# --- lines over irrational numbers

ROOTS = st.sampled_from(
    [root for n in (2, 3, 5, 7) for root in real_roots(x * x - n) if isinstance(root, Algebraic)]
)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (x * x - y, ["2"]),
        (x * y - 2, ["root 1 of x^2 - 2"]),
        (y * y - x, ["root 0 of x^4 - 2", "root 1 of x^4 - 2"]),
        (y * y + x, []),
        (x * x * y - y * y - 1, ["1"]),
        ((x * x - 2) * y - 1, []),
        (y * y - 3, ["root 0 of x^2 - 3", "root 1 of x^2 - 3"]),
        (x * y * y - 2 * y + x, []),
        (x * y * y - 4 * y + 2 * x, ["root 1 of x^2 - 2"]),
    ],
)
def test_heights_over_the_square_root_of_two(curve: Polynomial, expected: list[str]) -> None:
    assert [str(each) for each in heights(curve, ("x", "y"), real_roots(x * x - 2)[1])] == expected


def test_curves_that_meet_over_an_irrational_number_meet_in_one_point() -> None:
    # A circle and a hyperbola that touch over the square root of 2, at height 0.
    systems = [System((), (at_most(x * x + y * y, 2),)), System((), (at_most(y * y, x * x - 2),)), System()]
    plane = divide_plane(systems, ("x", "y"), box(0, 3, -1, 1), {})
    column = next(each for each in plane.columns if each.low == each.high == real_roots(x * x - 2)[1])
    assert [(cell.sample[1], cell.choice) for cell in column.cells] == [
        (-1, 2),
        (Fraction(-1, 2), 2),
        (0, 0),
        (Fraction(1, 2), 2),
        (1, 2),
    ]
    assert len(column.cells[2].below) == 2
    assert plane.choice(column.sample, Fraction(0)) == 0


@pytest.mark.parametrize(("relation", "on_the_curve"), [(Relation.GE, 0), (Relation.GT, 2), (Relation.EQ, 0)])
def test_a_point_with_two_irrational_coordinates_is_on_its_curve(
    relation: Relation, on_the_curve: int
) -> None:
    disc = System((), (Atom(5 - x * x - y * y, relation),))
    plane = divide_plane([disc, System((), (at_most(x * x, 1),)), System()], ("x", "y"), box(1, 3, 0, 3), {})
    # The disc is cut by the edges over 2 and the square root of 5; over that of 2 it ends at that of 3.
    assert not any(each.low == real_roots(x * x - 2)[1] for each in plane.columns)
    plane = divide_plane([disc, System((), (less(x * x, 2),)), System()], ("x", "y"), box(1, 3, 0, 3), {})
    column = next(each for each in plane.columns if each.low == each.high == real_roots(x * x - 2)[1])
    inside = 2 if relation is Relation.EQ else 0
    assert [(str(cell.sample[1]), cell.choice) for cell in column.cells] == [
        ("0", inside),
        ("1", inside),
        ("root 1 of x^2 - 3", on_the_curve),
        ("2", 2),
        ("3", 2),
    ]


@some
@given(ROOTS, st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_heights_are_those_that_floats_see(root: Algebraic, c: list[int]) -> None:
    polynomial = c[0] * y * y + c[1] * x * y + c[2] * x * x + c[3] * x + c[4] * y + c[5]
    at = approximate(root)
    factors = polynomial.factor()[1] if polynomial else ()
    for curve in (factor for factor, _ in factors if factor.degree("y")):
        found = [float(approximate(height)) for height in heights(curve, ("x", "y"), root)]
        a, b, d = (float(curve.coefficient("y", power).evaluate({"x": at})) for power in (2, 1, 0))
        inside = b * b - 4 * a * d
        if abs(a) < 1e-9:
            expected = [] if abs(b) < 1e-9 else [-d / b]
        elif abs(inside) < 1e-9:
            expected = [-b / (2 * a)]
        else:
            expected = [] if inside < 0 else sorted((-b + way * inside**0.5) / (2 * a) for way in (-1, 1))
        assert found == pytest.approx(expected, abs=1e-6)


# --- at random

small_terms = st.builds(
    Term,
    st.integers(-4, 4).filter(bool).map(Fraction),
    st.dictionaries(st.sampled_from(("x", "y")), st.integers(1, 2), max_size=2).map(
        lambda d: tuple(sorted(d.items()))
    ),
)
small_atoms = st.builds(
    Atom.make, st.lists(small_terms, max_size=3).map(Polynomial.from_terms), st.sampled_from(list(Relation))
)
small_systems = st.lists(
    st.lists(small_atoms, min_size=1, max_size=2).map(lambda found: System((), tuple(found))),
    min_size=1,
    max_size=3,
)
GRID = [Fraction(n, 2) for n in range(-6, 7)]


@some
@given(st.data())
def test_over_an_irrational_number_the_first_system_that_holds_is_chosen(data: st.DataObject) -> None:
    systems: list[System] = data.draw(small_systems)
    root: Algebraic = data.draw(ROOTS)
    narrow = root.refined(Fraction(1, 10**12))
    systems.append(System((), (at_most(x * x, -root.coefficients[0]),)))
    plane = divide_plane(systems, ("x", "y"), box(-3, 3, -3, 3), {})
    column = next(each for each in plane.columns if each.is_point and each.low == root)

    def holds(atom: Atom, height: Fraction) -> bool:
        if is_root(atom.polynomial.substitute({"y": height}), root):
            return atom.relation is not Relation.GT
        truths = {atom.holds({"x": near, "y": height}) for near in (narrow.low, narrow.high)}
        assert len(truths) == 1
        return truths.pop()

    for cell in column.cells:
        height = cell.sample[1]
        if isinstance(height, Fraction):
            fitting = [all(holds(atom, height) for atom in system.all_atoms) for system in systems]
            assert cell.choice == (fitting.index(True) if True in fitting else None)


@some
@given(small_systems, st.integers(-3, 3))
def test_on_a_line_every_rational_point_has_the_first_system_that_holds(
    systems: list[System], height: int
) -> None:
    found = line(systems, "x", -3, 3, y=height)
    for at in GRID:
        (piece,) = [
            p
            for p in found.pieces
            if (compare(p.low, at) < 0 or (p.has_low and p.low == at))
            and (compare(at, p.high) < 0 or (p.has_high and p.high == at))
        ]
        assert piece.choice == first(systems, {"x": at, "y": Fraction(height)})
    assert all(a.choice != b.choice for a, b in pairwise(found.pieces))
    assert len(found.thresholds) >= (len(found.pieces) - 1) / 2


@some
@given(small_systems)
def test_in_a_plane_every_rational_point_has_the_first_system_that_holds(systems: list[System]) -> None:
    plane = divide_plane(systems, ("x", "y"), box(-3, 3, -3, 3), {})
    for at, height in product(GRID, GRID):
        assert plane.choice(at, height) == first(systems, {"x": at, "y": height})


@some
@given(small_systems)
def test_branches_keep_their_order_all_over_a_column(systems: list[System]) -> None:
    plane: Plane = divide_plane(systems, ("x", "y"), box(-3, 3, -3, 3), {})
    for column in plane.columns:
        if column.is_point:
            continue
        for at in GRID:
            if compare(column.low, at) < 0 < compare(column.high, at):
                heights = [plane.height(cell.below[0], at) for cell in column.cells if cell.is_curve]
                assert all(compare(a, b) < 0 for a, b in pairwise(heights))
                for cell in column.cells:
                    if cell.is_curve:
                        assert len({plane.height(branch, at) for branch in cell.below}) == 1


_PROGRAM = """
from fractions import Fraction
from comprehensive.algebra import *
from comprehensive.algebra.regions import Box, divide_plane
from comprehensive.algebra.thresholds import divide_line
x, y, Z = (Polynomial.symbol(n) for n in ("x", "y", "Z"))
systems = [
    System((), (at_most(x * y, Z), at_most(x * x + y, 7))),
    System((), (less(Z, x * y), at_least(y * y, x))),
    System((at_least(x, 1), at_least(y, 1)), ()),
]
print(divide_plane(systems, ("x", "y"), Box(*map(Fraction, (0, 5, 0, 5))), {"Z": 3}))
print(divide_line(systems, "x", Fraction(0), Fraction(5), {"Z": 3, "y": 2}))
"""


@pytest.mark.slow
def test_the_same_systems_give_the_same_cells_under_any_hash_seed() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(answers) == 1
