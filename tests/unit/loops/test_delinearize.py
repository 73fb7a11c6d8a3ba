"""Delinearization: the parts of a subscript add up to it, and stay in their rows where that is said."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, sum_of
from comprehensive.loops.integers import Ring
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.normalize.rows import Rows, in_rows, rows_of, split
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.metafork.ast import Binary, IntLiteral, Name, ScalarType
from comprehensive.metafork.printer import print_expr

i, j, k, c, t, m, n, lda = (Polynomial.symbol(name) for name in ("i", "j", "k", "c", "t", "m", "n", "lda"))
LIMITS = {"i": "m", "j": "n", "k": "n"}


def subscripts() -> Subscripts:
    """Sizes m and n, an argument lda of which nothing is known; i < m, j and k < n, c < 3, t < n - i."""
    limits = {name: (Name(limit),) for name, limit in LIMITS.items()} | {"c": (IntLiteral(3),)}
    limits["t"] = (Binary("-", Name("n"), Name("i")),)
    types = dict.fromkeys(("i", "j", "k", "c", "t", "m", "n", "lda"), ScalarType.INT)
    return Subscripts(Ring(), types, frozenset(("m", "n", "lda")), frozenset(("m", "n")), limits)


# A subscript, its parts, and what has to hold of the arguments.
CASES = [
    (i * n + j, "i, j", []),
    (i * lda + j, "i, j", ["n <= lda"]),
    ((i + 1) * n + j - 1, "i + 1, j - 1", None),
    (i * n + n - 1 - j, "i, -j + n - 1", []),
    ((i * n + j) * 3 + c, "i, j, c", []),
    ((i * m + j) * n + k, "i, j, k", ["n <= m"]),
    ((m - 1 - i) * n + j, "-i + m - 1, j", []),
    (i * (n + 2) + j, "i, j", []),
    (i * (n + 2) + j + n + 2, "i + 1, j", []),
    (i * 4 + c, "i, c", []),
    (2 * j - 1, "j - 1, 1", []),
    (2 * j + c, None, []),
    (j + k, None, []),
    (i * n + i + t, "i, i + t", []),
    (i * n + n - 1 - (i + t), "i, -i + n - t - 1", []),
    (i * lda + i + t, "i, i + t", ["n <= lda"]),
    (i * lda + t, "i, t", ["n <= lda"]),
    ((i + t) * n + i, "i + t, i", ["m <= n"]),
    (i * (n + 2) + t, "i, t", []),
]


@pytest.mark.parametrize(("value", "parts", "conditions"), CASES, ids=[str(case[0]) for case in CASES])
def test_rows_and_conditions(value: Polynomial, parts: str | None, conditions: list[str] | None) -> None:
    known = subscripts()
    rows = rows_of([value], known)
    assert (rows is None) == (parts is None)
    if rows is not None:
        assert ", ".join(map(str, split(rows, value, known))) == parts
        found = in_rows(rows, value, known)
        assert (None if found is None else [print_expr(e) for e in found]) == conditions


def test_references_with_one_set_of_rows_share_it() -> None:
    known = subscripts()
    found = rows_of([i * n + j, j, (i + 2) * n, 2 * n * i + 1], known)
    assert found == Rows((n, Polynomial.constant(1)))


@given(
    st.lists(st.integers(-3, 3), min_size=8, max_size=8),
    st.sampled_from([n, lda, n + 2, 3 * n, m * n, Polynomial.constant(4)]),
)
def test_parts_add_up_and_proved_ones_stay_in_their_rows(numbers: list[int], row: Polynomial) -> None:
    known = subscripts()
    first = (numbers[0] * i + numbers[1] * j + numbers[2]) * row
    value = first + numbers[3] * j + numbers[4] * c + numbers[5] + numbers[6] * n + numbers[7] * (i + t)
    rows = rows_of([value], known)
    if rows is None:
        return
    parts = split(rows, value, known)
    assert sum_of(part * weight for part, weight in zip(parts, rows.weights, strict=True)) == value
    conditions = in_rows(rows, value, known)
    if conditions is None:
        return
    for sizes in ({"m": 1, "n": 2, "lda": 3}, {"m": 3, "n": 1, "lda": 7}, {"m": 2, "n": 4, "lda": 1}):
        if not all(c_value(condition, sizes) for condition in conditions):
            continue
        for place in product(range(sizes["m"]), range(sizes["n"]), range(3), range(sizes["n"])):
            point = {**sizes, **dict(zip("ijct", place, strict=True))}
            if point["t"] >= sizes["n"] - point["i"]:
                continue
            for part, length in zip(parts[1:], rows.lengths, strict=True):
                assert 0 <= part.evaluate(point) < length.evaluate(point)
