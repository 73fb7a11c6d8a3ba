"""Asserts that no call meets: the facts named are those that contradict each other, and nothing else is accused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import holds_preconditions
from comprehensive.loops.ir import Nest
from comprehensive.poly.contradictions import contradiction
from comprehensive.records import replace
from tests.unit.metafork.trees import parse_clean
from tests.unit.poly.nests import assign, expr, nest, threads


def region(*asserts: str, dim: str = "(n + B - 1)/B") -> Nest:
    return nest(
        threads("j < B", assign("a[i*B + j] = shift")),
        grid="i < dim",
        arrays={"a": "n"},
        data="n",
        program="B",
        scalar="shift",
        host={"dim": dim},
        given=asserts,
    )


@pytest.mark.parametrize(
    ("asserts", "core", "bounded"),
    [
        (("B > 9", "n > 0", "B < 4"), {0, 2}, {}),
        (("n > 3", "B < 0"), {1}, {"B": 1}),
        (("n < 0",), {0}, {"n": 0}),
        (("0",), {0}, {}),
        (("B*B == 2",), {0}, {}),
        (("B != B",), {0}, {}),
        (("n % 2 == 0", "n % 2 == 1"), {0, 1}, {}),
        (("B < n", "n < shift", "shift < B"), {0, 1, 2}, {}),
        (("B < 0 or n < 0",), {0}, {"n": 0, "B": 1}),
        (("B < 3 or B > 7", "B == 5"), {0, 1}, {}),
    ],
)
def test_the_facts_that_contradict_each_other_are_named(
    asserts: tuple[str, ...], core: set[int], bounded: dict[str, int]
) -> None:
    found = contradiction(region(*asserts))
    assert found is not None
    assert set(found.conditions) == {expr(asserts[number]) for number in core}
    assert {scalar.name: least for scalar, least in found.bounded} == bounded


def test_a_definition_of_host_code_is_named_where_it_counts() -> None:
    subject = region("dim == 3", "shift == 1", dim="2*n")
    found = contradiction(subject)
    assert found is not None
    assert found.conditions == (expr("dim == 3"),)
    assert [scalar.name for scalar in found.defined] == ["dim"]


def test_parts_of_one_assert_are_told_apart() -> None:
    found = contradiction(region("B > 9 and n > 0 and B < 4"))
    assert found is not None
    assert found.conditions == (expr("B > 9"), expr("B < 4"))


@pytest.mark.parametrize(
    "asserts",
    [
        (),
        ("B < 64",),
        ("shift < 0",),
        ("n == 0",),
        ("B > 1 or n < 0",),
        ("B != n", "B <= n", "n < B + 2"),
        ("shift < shift - 1 or n > 0",),
    ],
)
def test_asserts_that_some_call_meets_are_no_contradiction(asserts: tuple[str, ...]) -> None:
    assert contradiction(region(*asserts)) is None


@pytest.mark.parametrize(
    "condition", ["k - 1u > 5 && k < 3", "k - 1 > 5 && k == 0", "-1 < k", "k + 4294967295u < k && k > 0"]
)
def test_arithmetic_that_wraps_around_is_not_held_to_be_mathematics(condition: str) -> None:
    source = f"void f(int n, unsigned k, float a[n]) {{ assert({condition}); meta_schedule {{"
    source += " meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < 4; j++) a[i] = k; } }"
    found, *_ = build(parse_clean(source), DiagnosticSink())
    assert contradiction(found) is None


NAMES = ("B", "n", "shift")
sides = st.sampled_from([*NAMES, "B*n", "n - B", "2*shift", "n % 2", "n/B", "0", "1", "3", "-2"])
comparisons = st.builds(" ".join, st.tuples(sides, st.sampled_from(["<", "<=", "==", "!=", ">"]), sides))
pairs = st.builds(" ".join, st.tuples(comparisons, st.sampled_from(["and", "or"]), comparisons))


@given(st.lists(comparisons | pairs, min_size=1, max_size=4))
def test_what_is_called_a_contradiction_has_no_small_point(asserts: list[str]) -> None:
    subject = region(*asserts)
    found = contradiction(subject)
    if found is None:
        return
    core = replace(subject, preconditions=found.conditions)
    for n, B, shift in product(range(6), range(1, 6), range(-4, 7)):
        assert not holds_preconditions(core, {"n": n, "B": B, "shift": shift})
