"""Points judged in columns, against exact evaluation one by one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, Relation, System, at_least, at_most, equal, less
from comprehensive.algebra.columns import Columns, columns_of, ranges_of
from comprehensive.algebra.point_search import PointSearch
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.pool import SIZE, Pool
from comprehensive.algebra.signs import split_linear
from comprehensive.algebra.symbols import is_integer_symbol
from tests.unit.algebra.random_systems import FAMILIES, random_system

B, s, x, Z, P = (Polynomial.symbol(name) for name in ("B", "s", "x", "Z_B", "P_occ"))


def _points(columns: Columns) -> list[int]:
    return [index for index in range(SIZE) if columns.inside[index]]


@given(st.sampled_from(FAMILIES), st.integers(0, 10_000))
def test_points_inside_satisfy_the_system(family: str, number: int) -> None:
    system = random_system(family, number)
    columns = columns_of(system.all_atoms, Pool.spread)
    if columns is not None:
        for index in _points(columns)[:20]:
            point = columns.point(index)
            assert is_integral(point)
            assert system.holds(point)


@given(st.sampled_from(FAMILIES), st.integers(0, 10_000))
def test_points_outside_extend_to_no_solution(family: str, number: int) -> None:
    """One solved symbol is tried in a box; where its slope has both signs, points may be left out."""
    system = random_system(family, number)
    columns = columns_of(system.all_atoms, Pool.spread)
    if columns is None or len(columns.solved) != 1:
        return
    (name,) = columns.solved
    slopes = [split_linear(atom.polynomial, name) for atom in system.all_atoms if name in atom.symbols]
    if not is_integer_symbol(name) or not all(split and split.coefficient.is_constant for split in slopes):
        return
    outside = [index for index in range(SIZE) if not columns.inside[index]]
    for index in Random(number).sample(outside, min(5, len(outside))):
        point = columns.pool.point(index, columns.pool.columns)
        for value in range(-60, 61):
            assert not system.holds(point | {name: value})


def test_one_atom_at_a_time_is_the_same_as_all_at_once() -> None:
    assumed = [at_least(B, 1), at_least(s, 1), at_least(Z, 0)]
    atoms = [at_most(2 * s * B + 2, Z), less(Z, 3 * B * B), at_least(B * s, 5), equal(x, B)]
    grown = columns_of([*assumed, *atoms[:1]], Pool.spread)
    assert grown is not None
    for atom in atoms[1:3]:
        grown = grown.extended([atom])
        assert grown is not None
    whole = columns_of([*assumed, *atoms[:3]], Pool.spread)
    assert whole is not None
    assert _points(grown) == _points(whole)
    assert 0 < len(_points(whole)) < SIZE


def test_an_atom_that_does_not_fit_the_division_is_refused() -> None:
    columns = columns_of([at_least(B, 1), at_most(2 * B, Z)], Pool.spread)
    assert columns is not None
    (solved,) = columns.solved
    square = Polynomial.symbol(solved) * Polynomial.symbol(solved)
    assert columns.extended([at_most(square, 9)]) is None
    assert columns.extended([at_most(Polynomial.symbol("new") * square, 9)]) is None


def test_values_beyond_64_bits_are_exact() -> None:
    huge = 10**30 * B**8 + 1
    pool = Pool.spread({"B": (1, None)})
    values = pool.values(huge)
    assert [int(value) for value in values[:50]] == [
        huge.plain_value({"B": int(value)}) for value in pool.columns["B"][:50]
    ]
    near = Pool.near({"B": 10**40}, {"B": (10**40 - 1, None)})
    assert int(near.columns["B"][0]) == 10**40


def test_shares_are_multiples_of_a_1024th() -> None:
    atoms = [at_least(B, 1), at_least(P, 0), at_most(P, 1), at_least(3 * P, 1), less(5 * B * P, 2 * B)]
    columns = columns_of(atoms, Pool.spread)
    assert columns is not None
    point = columns.first_point()
    assert point is not None
    assert System((), tuple(atoms)).holds(point)
    assert (point["P_occ"] * 1024).denominator == 1


def test_ranges_are_those_of_the_integers() -> None:
    atoms = [
        Atom(2 * B - 5, Relation.GT),
        Atom(17 - 3 * B, Relation.GE),
        equal(2 * s, 6),
        less(x, 4),
        at_least(B * s, 1),
    ]
    assert ranges_of(atoms) == {"B": (3, 5), "s": (3, 3), "x": (None, 3)}


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_nearby_points_stay_in_their_ranges(turn: int) -> None:
    pool = Pool.near({"B": 30}, {"B": (1, 64), "s": (2, None)}, turn)
    assert pool.point(0, ["B", "s"]) == {"B": 30, "s": 2}
    assert all(1 <= value <= 64 for value in pool.columns["B"])
    assert all(value >= 2 for value in pool.columns["s"])
    assert len(set(pool.columns["B"].tolist())) > 10


def test_a_narrow_strip_is_found_from_a_point_nearby() -> None:
    strip = [at_least(B, 1), at_least(s, 1), at_most(B * B, x), at_most(x, B * B + s), less(s * s, 9)]
    system = System(tuple(strip), (at_least(B, 700),))
    point = PointSearch().find(system, {"B": 650, "s": 1, "x": 650 * 650})
    assert point is not None
    assert system.holds(point)
