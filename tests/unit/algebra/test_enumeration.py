"""Pruned descent finds exactly the points of brute force, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import (
    Polynomial,
    System,
    at_least,
    at_most,
    blocks,
    box,
    divisors,
    enumeration,
    equal,
    feasible,
    less,
    multiples,
    powers_of_two,
)
from tests.unit.algebra.strategies import all_hold, free_systems, machine_systems

B, s, Z, T, x = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "T_B", "x"))
space = System(tuple(at_least(symbol, 1) for symbol in (B, s)))


def brute_force(
    system: System, domains: Mapping[str, Sequence[int]], given: Mapping[str, int] | None = None
) -> list[tuple[int, ...]]:
    fixed = dict(given or {})
    return [
        point
        for point in product(*domains.values())
        if all_hold(system.all_atoms, fixed | dict(zip(domains, point, strict=True)))
    ]


domains = st.one_of(
    st.builds(box, st.integers(-4, 2), st.integers(-2, 6)),
    st.builds(powers_of_two, st.integers(0, 40)),
    st.builds(divisors, st.integers(1, 24)),
    st.builds(multiples, st.integers(1, 5), st.integers(0, 16)),
    st.sets(st.integers(-9, 9), max_size=5).map(sorted),
)


@pytest.mark.parametrize(("few", "size"), [(0, 3), (0, 1 << 16), (1 << 12, 1 << 16)])
@pytest.mark.parametrize("systems", [machine_systems, free_systems], ids=["machine", "free"])
@given(data=st.data())
def test_the_points_are_those_of_brute_force(
    few: int, size: int, systems: st.SearchStrategy[System], data: st.DataObject
) -> None:
    system = data.draw(systems)
    names = data.draw(st.permutations(sorted({*system.symbols, "B"})))
    chosen = {name: data.draw(domains) for name in names}
    values = {name: data.draw(st.integers(-3, 9)) for name in names[: data.draw(st.integers(0, 1))]}
    chosen = {name: domain for name, domain in chosen.items() if name not in values}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "_FEW", few)
        patch.setattr(enumeration, "_BLOCK", size)
        found = list(feasible(system, chosen, values))
    assert found == brute_force(system, chosen, values)


# Values around the end of 64 bits, where a product of two no longer fits.
edges = st.sampled_from(
    [
        0,
        1,
        -1,
        2,
        3,
        -(1 << 63),
        (1 << 63) - 1,
        1 << 63,
        1 << 64,
        (1 << 32) - 1,
        1 << 32,
        3037000499,
        3037000500,
    ]
)


@pytest.mark.parametrize("few", [0, 1 << 12])
@given(system=free_systems, data=st.data())
def test_numbers_beyond_64_bits_are_exact(few: int, system: System, data: st.DataObject) -> None:
    chosen = {name: data.draw(st.sets(edges, max_size=6).map(sorted)) for name in ("B", "s", "x")}
    values = {"Z_B": data.draw(edges)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "_FEW", few)
        found = list(feasible(system, chosen, values))
    assert found == brute_force(system, chosen, values)


@pytest.mark.parametrize("shift", [0, (1 << 62) - 40, (1 << 63) - 40, (1 << 64), -(1 << 63) - 5])
def test_long_ranges_far_out_are_searched_and_not_written_out(shift: int) -> None:
    far = box(shift, shift + (1 << 40))
    system = System((), (at_least(x, shift + 5), at_most(x, shift + 7), at_least(B * (x - shift), 12)))
    pairs = list(feasible(system, {"x": far, "B": box(1, 3)}))
    assert pairs == [(shift + 5, 3), (shift + 6, 2), (shift + 6, 3), (shift + 7, 2), (shift + 7, 3)]


def test_a_range_from_end_to_end_of_64_bits() -> None:
    wide = range(-(1 << 63) + 1, 1 << 63, 1 << 60)
    half = System((), (at_least(x, 0),))
    assert list(feasible(half, {"x": wide})) == [(value,) for value in wide if value >= 0]


def test_counts_of_known_sets() -> None:
    leaf = space.add(at_most(s * B, 1024))
    # Pairs with a product of at most n are counted by the divisor function.
    pairs = feasible(leaf, {"B": box(1, 5000), "s": box(1, 5000)})
    assert len(pairs) == sum(1024 // value for value in range(1, 1025))
    assert len(feasible(leaf, {"B": powers_of_two(1 << 20), "s": powers_of_two(1 << 20)})) == 66
    assert len(feasible(leaf, {"B": divisors(1 << 14), "s": divisors(1 << 14)})) == 66
    assert list(feasible(leaf, {"B": multiples(32, 1024), "s": box(9, 20)}, {})) == [
        (32 * k, t) for k in range(1, 33) for t in range(9, 21) if 32 * k * t <= 1024
    ]


def test_a_leaf_for_a_device_and_sizes() -> None:
    leaf = space.add(at_most(2 * s * B + 2, Z), at_most(B, T), less(Z, 4 * s * B))
    found = feasible(leaf, {"B": multiples(32, 1 << 30), "s": box(1, 1 << 30)}, {"Z_B": 12288, "T_B": 1024})
    assert found.names == ("B", "s")
    assert list(found) == [
        (32 * k, t) for k in range(1, 33) for t in range(1, 300) if 64 * k * t + 2 <= 12288 < 128 * k * t
    ]


def test_shares_are_given() -> None:
    share = System((), (at_least(Polynomial.symbol("P_occ") * B, 3),))
    assert list(feasible(share, {"B": box(1, 8)}, {"P_occ": Fraction(2, 5)})) == [(8,)]


def test_no_points() -> None:
    assert list(feasible(space, {"B": box(1, 0), "s": box(1, 9)})) == []
    assert list(feasible(space.add(less(B, s), less(s, B)), {"B": box(1, 99), "s": box(1, 99)})) == []
    assert list(feasible(space.add(at_most(1, 0)), {"B": box(1, 9), "s": box(1, 9)})) == []
    assert list(feasible(space.add(at_most(B, Z)), {"B": box(5, 9), "s": box(1, 9)}, {"Z_B": 4})) == []
    none = feasible(space, {"B": (), "s": (1, 2)})
    assert len(none) == 0
    assert [len(column) for column in none.columns] == [0, 0]


def test_without_variables_the_one_point_is_in_or_out() -> None:
    assert list(feasible(space, {}, {"B": 1, "s": 1})) == [()]
    assert list(feasible(space, {}, {"B": 1, "s": 0})) == []


def test_a_symbol_without_a_domain_is_named() -> None:
    leaf = space.add(at_most(2 * s * B + 2, Z))
    with pytest.raises(ValueError, match=r"^Z_B, s: neither a finite domain nor a value"):
        feasible(leaf, {"B": box(1, 9)})
    with pytest.raises(ValueError, match=r"^B: both"):
        feasible(leaf, {"B": box(1, 9), "s": box(1, 9)}, {"B": 3, "Z_B": 9})
    with pytest.raises(ValueError, match=r"^s: more than"):
        feasible(leaf, {"B": box(1, 9), "s": box(1, 1 << 50)}, {"Z_B": 9})


def test_a_variable_that_no_atom_mentions_takes_all_its_values() -> None:
    assert list(feasible(System(), {"x": (3, 1), "B": box(1, 2)})) == [(1, 1), (1, 2), (3, 1), (3, 2)]


def test_an_equation_is_solved() -> None:
    circle = System((), (equal(x * x + B * B, 25),))
    assert list(feasible(circle, {"x": box(-9, 9), "B": box(0, 9)})) == [
        (-5, 0), (-4, 3), (-3, 4), (0, 5), (3, 4), (4, 3), (5, 0)
    ]  # fmt: skip


def test_blocks_are_the_points_in_parts() -> None:
    large = {"B": box(1, 600), "s": box(1, 600)}
    parts = list(blocks(System(), large))
    assert len(parts) > 3
    assert [point for part in parts for point in part] == list(product(range(1, 601), repeat=2))


def test_pruning_makes_a_search_possible_that_brute_force_could_not() -> None:
    tight = System((), (at_most(B * s * x, 3), at_least(B, 1), at_least(s, 1), at_least(x, 1)))
    huge = box(1, 1 << 40)
    assert list(feasible(tight, {"B": huge, "s": huge, "x": huge})) == [
        (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 1), (1, 3, 1), (2, 1, 1), (3, 1, 1)
    ]  # fmt: skip
