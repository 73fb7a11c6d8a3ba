"""Triangles and trapezoids of parallel loops visit the points that the program says, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from comprehensive.loops.interpreter import run
from comprehensive.metafork.ast import If
from tests.examples import examples
from tests.unit.loops.nests import nests_of

BOUNDS = st.sampled_from(
    [
        "0",
        "n",
        "i",
        "i + 1",
        "n - i",
        "2 * i",
        "i / 2",
        "n - 1 - i",
        "-i",
        "3",
        "1 + (i - 2)",
        "1 + i % 2",
        "2 - (i & 1)",
        "n + (i + 3) % 3",
    ]
)


def visited(first: str, relation: str, bound: str, n: int) -> set[tuple[int, int]]:
    """Return the points that the serial program visits, by Python's arithmetic, where C's is the same."""

    def value(text: str, i: int) -> int:
        return int(eval(text.replace("/", "//"), {"i": i, "n": n}))

    found: set[tuple[int, int]] = set()
    for i in range(n):
        last = value(bound, i) + (1 if relation == "<=" else 0)
        found |= {(i, j) for j in range(value(first, i), last)}
    return found


@given(
    BOUNDS,
    st.sampled_from(["<", "<="]),
    BOUNDS,
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.integers(0, 6),
    st.integers(1, 3),
)
@settings(max_examples=examples(100), deadline=None)
def test_a_trapezoid_visits_its_points_once(
    first: str, relation: str, bound: str, ways: tuple[bool, bool, bool], n: int, block: int
) -> None:
    has_clause, outer_down, inner_down = ways
    outer = "int i = n - 1; i >= 0; i--" if outer_down else "int i = 0; i < n; i++"
    inner_loop = f"int j = {first}; j {relation} {bound}; j++"
    if inner_down:
        # Types of what is no iterator are not known where loops are turned round.
        assume("n" not in first and not ("n" in bound and "i" in bound))
        last = bound if relation == "<=" else f"({bound}) - 1"
        inner_loop = f"int j = {last}; j >= {first}; j--"
    loops = f"meta_for ({outer}) meta_for ({inner_loop})"
    if has_clause:
        head = "void f(int n, int B, int C, int *a)"
        text = f"{head} {{ meta_schedule block(B, C) {{ {loops} a[i * 64 + j + 20] += 1; }} }}"
    else:
        inner = "meta_for (int p = 0; p < 1; p++) meta_for (int q = 0; q < 1; q++)"
        text = (
            f"void f(int n, int B, int *a) {{ meta_schedule {{ {loops} {inner} a[i * 64 + j + 20] += 1; }} }}"
        )
    (nest,) = nests_of(text)
    size = {"n": n, "B": block, "C": 2}
    data = {"a": np.zeros(64 * 64, np.int32)}
    after = run(nest, {s.name: size[s.name] for s in nest.scalars if s.value is None}, data)["a"].reshape(
        64, 64
    )
    assert after.max(initial=0) <= 1
    found = {(int(i), int(j) - 20) for i, j in zip(*np.nonzero(after), strict=True)}
    assert found == visited(first, relation, bound, n)


@pytest.mark.parametrize("clause", ["block(B, C)", ""])
def test_blocks_outside_of_the_triangle_leave_at_once(clause: str) -> None:
    threads = "" if clause else "meta_for (int p = 0; p < B; p++) meta_for (int q = 0; q < C; q++)"
    (nest,) = nests_of(
        f"void f(int n, int B, int C, int *a) {{ meta_schedule {clause} {{ meta_for (int i = 0; i < n; i++)"
        f" meta_for (int j = i; j < n; j++) {threads} a[0] = i + j; }} }}"
    )
    (guard,) = nest.body
    assert isinstance(guard, If)
