"""A triangular description holds where its system does; its levels bound; back-substitution and loops find all."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import (
    Polynomial,
    System,
    Triangular,
    as_loops,
    at_least,
    at_most,
    equal,
    less,
    smt,
    triangularize,
)
from tests.examples import examples
from tests.unit.algebra.back_substitution import back_substitute
from tests.unit.algebra.strategies import all_hold, free_systems, machine_systems

B, s, u, Z, T, x, y = (Polynomial.symbol(name) for name in ("B", "s", "u", "Z_B", "T_B", "x", "y"))
space = System((*(at_least(symbol, 1) for symbol in (B, s, u)), *(at_least(symbol, 0) for symbol in (Z, T))))
KEPT = space.add(at_most(B * u, T), at_most(s * B * u + B * B, Z))
REDUCED = space.add(at_most(B * u, T), at_most(B * B + B * u, Z), less(Z, s * B * u + B * B))
PLAIN = space.add(at_most(B * u, T), less(Z, B * B + B * u))
LEAVES = [KEPT, REDUCED, PLAIN]
ORDERS = [("B", "u", "s"), ("s", "u", "B"), ("u", "s", "B"), ("s", "B", "u")]


def lines(system: System, *order: str) -> list[str]:
    return str(triangularize(system, order)).splitlines()


@st.composite
def mixed_systems(draw: st.DrawFn) -> System:
    """Atoms of degree two with known lower bounds, such as products and squares in counters."""
    names = st.sampled_from((B, s, Z))
    factors = st.lists(names, min_size=1, max_size=2)
    coefficients = st.integers(-3, 3)
    atoms = []
    for _ in range(draw(st.integers(1, 3))):
        total = Polynomial(draw(st.integers(-9, 9)))
        for _ in range(draw(st.integers(1, 3))):
            term = Polynomial(draw(coefficients))
            for factor in draw(factors):
                term = term * factor
            total = total + term
        atoms.append(draw(st.sampled_from((at_least, less, equal)))(total, 0))
    start = draw(st.sampled_from((0, 1, -1)))
    return System((at_least(B, start), at_least(s, 1), at_least(Z, 0)), tuple(atoms))


HALVES = [Fraction(value, 2) for value in (-2, 0, 1, 2, 3, 4, 7, 10)]
ranges = st.tuples(st.integers(-3, 3), st.integers(-1, 5))
kinds = pytest.mark.parametrize(
    "systems", [machine_systems, free_systems, mixed_systems()], ids=["machine", "free", "mixed"]
)


def drawn(data: st.DataObject, systems: st.SearchStrategy[System]) -> tuple[System, Triangular]:
    system = data.draw(systems)
    order = data.draw(st.permutations(system.symbols))
    return system, triangularize(system, order[data.draw(st.integers(0, len(order) // 2)) :])


@kinds
@settings(max_examples=examples(30))
@given(data=st.data())
def test_a_description_holds_where_its_system_does(
    systems: st.SearchStrategy[System], data: st.DataObject
) -> None:
    system, description = drawn(data, systems)
    points = list(product(HALVES, repeat=len(system.symbols)))
    for chosen in points[:: 1 + len(points) // 250]:
        point = dict(zip(system.symbols, chosen, strict=True))
        homes = sum(all(atom.holds(point) for atom in piece.atoms) for piece in description.pieces)
        assert homes == system.holds(point)
        assert description.holds(point) == system.holds(point)


@kinds
@settings(max_examples=examples(20))
@given(data=st.data())
def test_where_nothing_is_uncovered_each_value_extends(
    systems: st.SearchStrategy[System], data: st.DataObject
) -> None:
    _, description = drawn(data, systems)
    names = [*description.parameters, *description.order]
    if description.uncovered or not description.order:
        return
    known = data.draw(st.integers(len(description.parameters), len(names) - 1))
    for piece in description.pieces:
        early = [atom for atom in piece.atoms if set(atom.symbols) <= set(names[:known])]
        later = [atom for atom in piece.atoms if atom not in early]
        points = (dict(zip(names, chosen, strict=False)) for chosen in product(HALVES, repeat=known))
        for point in islice((point for point in points if all(atom.holds(point) for atom in early)), 2):
            answer = smt.solve([atom.substitute(point) for atom in later], (), smt.Limits())
            assert not isinstance(answer, smt.Core), point


@kinds
@settings(max_examples=examples(40))
@given(data=st.data())
def test_back_substitution_finds_the_points_of_brute_force(
    systems: st.SearchStrategy[System], data: st.DataObject
) -> None:
    system, description = drawn(data, systems)
    box = {name: data.draw(ranges) for name in description.order}
    values = {name: data.draw(st.integers(-2, 6)) for name in description.parameters}
    found = list(back_substitute(description, box, values))
    assert found == brute_force(system, box, values)


def brute_force(
    system: System, box: Mapping[str, tuple[int, int]], given: Mapping[str, int]
) -> list[tuple[int, ...]]:
    candidates = product(*(range(low, high + 1) for low, high in box.values()))
    return [
        point
        for point in candidates
        if all_hold(system.all_atoms, dict(given) | dict(zip(box, point, strict=True)))
    ]


# --- leaves of real trees


def test_the_leaf_of_the_matrix_product_is_one_piece() -> None:
    assert lines(KEPT, "B", "u", "s") == [
        "piece where 1 <= T_B, 2 <= Z_B",
        "  B: 1 <= B, B <= T_B, B^2 + B <= Z_B",
        "  u: 1 <= u, u <= T_B/B, u <= (-B^2 + Z_B)/B",
        "  s: 1 <= s, s <= (-B^2 + Z_B)/(B*u)",
    ]


def test_machine_parameters_may_come_last() -> None:
    assert lines(KEPT, "B", "u", "s", "T_B", "Z_B") == [
        "piece",
        "  B: 1 <= B",
        "  u: 1 <= u",
        "  s: 1 <= s",
        "  T_B: B*u <= T_B",
        "  Z_B: B*s*u + B^2 <= Z_B",
    ]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_the_points_of_a_leaf(leaf: System, order: Sequence[str]) -> None:
    given = {"T_B": 16, "Z_B": 70}
    box = {name: (1, 12 if name == "s" else 16) for name in order}
    description = triangularize(leaf, order)
    expected = brute_force(leaf, box, given)
    assert len(expected) > 50
    assert list(back_substitute(description, {"s": (1, 12)}, given)) == expected


# --- single rules


def test_a_coefficient_of_unknown_sign_cuts_the_space() -> None:
    assert lines(space.add(at_most(s * (B - u), 5)), "T_B", "Z_B", "u", "B", "s") == [
        *("piece", "  T_B: 0 <= T_B", "  Z_B: 0 <= Z_B"),
        *("  u: 1 <= u", "  B: u < B, B <= u + 5", "  s: 1 <= s, s <= 5/(B - u)"),
        *("piece", "  T_B: 0 <= T_B", "  Z_B: 0 <= Z_B"),
        *("  u: 1 <= u", "  B: u <= B, B <= u", "  s: 1 <= s"),
        *("piece", "  T_B: 0 <= T_B", "  Z_B: 0 <= Z_B"),
        *("  u: 1 < u", "  B: 1 <= B, B < u", "  s: 1 <= s"),
    ]


def test_a_square_is_monotone_from_zero_on() -> None:
    square = System((at_least(B, 0),), (at_most(B * B, Z),))
    assert lines(square, "Z_B", "B") == ["piece", "  Z_B: 0 <= Z_B", "  B: 0 <= B, B^2 <= Z_B"]
    assert list(back_substitute(triangularize(square, ("B",)), {}, {"Z_B": 17})) == [
        (0,),
        (1,),
        (2,),
        (3,),
        (4,),
    ]
    above = System((at_least(B, 0),), (at_least(B * B, Z), at_most(B, 20)))
    assert lines(above, "Z_B", "B") == ["piece", "  Z_B: Z_B <= 400", "  B: 0 <= B, Z_B <= B^2, B <= 20"]
    assert list(back_substitute(triangularize(above, ("B",)), {}, {"Z_B": 290})) == [(18,), (19,), (20,)]


def test_squares_compare() -> None:
    between = System((at_least(B, 1),), (at_most(3 * B * B, Z), less(T, 2 * B * B)))
    assert lines(between, "T_B", "Z_B", "B")[:3] == ["piece", "  T_B: any", "  Z_B: 3/2*T_B < Z_B, 3 <= Z_B"]


def test_a_square_without_a_known_sign_is_only_checked() -> None:
    description = triangularize(System((), (at_most(x * x, y),)), ("y", "x"))
    assert [str(gap) for gap in description.uncovered] == ["x: x^2 <= y: only checked"]
    assert list(back_substitute(description, {"x": (-9, 9), "y": (3, 4)})) == [
        (3, -1), (3, 0), (3, 1), (4, -2), (4, -1), (4, 0), (4, 1), (4, 2)
    ]  # fmt: skip


def test_roots_that_do_not_compare_are_said() -> None:
    crossing = System((at_least(B, 1),), (at_most(B * B + B * y, Z), at_least(B * B * B, T)))
    description = triangularize(crossing, ("y", "B"))
    assert any("roots are not compared" in str(gap) for gap in description.uncovered)
    assert "not covered: " in str(description)
    assert "/* not covered: " in as_loops(description)


def test_a_contradiction_has_no_piece() -> None:
    description = triangularize(KEPT.add(less(Z, 2)), ("B", "u", "s"))
    assert description.pieces == ()
    assert str(description) == "no points"
    assert list(back_substitute(description, {}, {"T_B": 9, "Z_B": 9})) == []


def test_no_variables_leave_a_guard() -> None:
    description = triangularize(System((), (at_least(x, 3),)), ())
    assert list(back_substitute(description, {}, {"x": 3})) == [()]
    assert list(back_substitute(description, {}, {"x": 2})) == []


def test_numbers_beyond_64_bits() -> None:
    huge = 10**40
    root = System((at_least(B, 1),), (at_most(B * B, Z), at_least(B * B, Z - B)))
    description = triangularize(root, ("B",))
    assert list(back_substitute(description, {}, {"Z_B": huge * huge})) == [(huge,)]


# --- refusals


def test_what_is_not_bounded_is_named() -> None:
    description = triangularize(REDUCED, ("B", "u", "s"))
    given = {"T_B": 16, "Z_B": 70}
    with pytest.raises(ValueError, match=r"^s: not bounded from above, and in no box"):
        back_substitute(description, {}, given)
    with pytest.raises(ValueError, match=r"^T_B: no value"):
        back_substitute(description, {"s": (1, 9)}, {"Z_B": 70})
    with pytest.raises(ValueError, match=r"^x, y: not bounded from below"):
        back_substitute(triangularize(System((), (at_most(x, 9), at_most(y, 9))), ("x", "y")), {})
    with pytest.raises(ValueError, match=r"^B: more than once"):
        triangularize(KEPT, ("B", "s", "B"))


def test_a_bound_that_vanishes_is_named() -> None:
    # y is at least 0, so that y*B*B <= 9 bounds B, but not for y = 0.
    system = System((at_least(B, 0), at_least(y, 0)), (at_most(y * B * B, 9),))
    description = triangularize(system, ("y", "B"))
    with pytest.raises(
        ValueError, match=r"^B: not bounded from above where the earlier variables are \(0,\)"
    ):
        list(back_substitute(description, {"y": (0, 3)}))
    assert list(back_substitute(description, {"y": (1, 3)}))[-1] == (3, 1)


def test_shares_are_parameters() -> None:
    share = Polynomial.symbol("P_occ")
    system = System((at_least(B, 1), at_least(share, 0)), (at_most(share * B, 3),))
    description = triangularize(system, ("B",))
    assert list(back_substitute(description, {}, {"P_occ": Fraction(2, 3)})) == [(1,), (2,), (3,), (4,)]
    with pytest.raises(ValueError, match=r"^P_occ: not an integer"):
        back_substitute(triangularize(system, ("B", "P_occ")))
    with pytest.raises(ValueError, match=r"^P_occ: a loop"):
        as_loops(triangularize(system, ("B", "P_occ")))


# --- loops


def test_the_loops_of_a_leaf() -> None:
    assert (
        as_loops(triangularize(REDUCED, ("B", "u", "s")), "visit")
        == """\
/* all B, u, s for given T_B, Z_B */
/* no bound on s from above */
if (1 <= T_B && 2 <= Z_B)
  for (B = 1; B <= T_B && B*B + B <= Z_B; B++)
    for (u = 1; B*u <= T_B && B*u <= -B*B + Z_B; u++)
      for (s = floor_div(-B*B + Z_B, B*u) + 1; ; s++)
        visit(B, u, s);
"""
    )


PROGRAM = """
#include <stdio.h>
#define COUNT(a, b, c, d, N, ...) N
#define PICK(...) COUNT(__VA_ARGS__, max4, max3, max2, max1, 0)
#define max(...) PICK(__VA_ARGS__)(__VA_ARGS__)
static long max2(long a, long b) { return a > b ? a : b; }
static long max3(long a, long b, long c) { return max2(max2(a, b), c); }
static long max4(long a, long b, long c, long d) { return max2(max2(a, b), max2(c, d)); }
static long floor_div(long a, long b) { return a / b - (a % b < 0); }
static long ceil_div(long a, long b) { return -floor_div(-a, b); }
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the loops are compiled by gcc")
def test_the_loops_are_c_and_visit_all_points(tmp_path: Path) -> None:
    given = {"T_B": 16, "Z_B": 70}
    cases = [(leaf.add(at_most(s, 12)), order) for leaf in LEAVES for order in ORDERS]
    text = PROGRAM
    for number, (leaf, order) in enumerate(cases):
        loops = as_loops(triangularize(leaf, order), f"point{number}")
        text += f'static void point{number}(long a, long b, long c) {{ printf("{number} %ld %ld %ld\\n", a, b, c); }}\n'
        text += f"static void loops{number}(long T_B, long Z_B) {{\nlong {', '.join(order)};\n{loops}}}\n"
    calls = " ".join(f"loops{number}(16, 70);" for number in range(len(cases)))
    source, program = tmp_path / "loops.c", tmp_path / "loops"
    source.write_text(f"{text}int main(void) {{ {calls} }}\n")
    subprocess.run(["gcc", "-w", "-o", program, source], check=True)
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    found = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    assert len(found) == len(set(found))
    for number, (leaf, order) in enumerate(cases):
        box = {name: (1, 12 if name == "s" else 16) for name in order}
        assert sorted(point[1:] for point in found if point[0] == number) == brute_force(leaf, box, given)
