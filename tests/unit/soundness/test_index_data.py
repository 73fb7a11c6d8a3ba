"""Indices of plain stores: each once by default, some twice where that is asked for, in all shapes that there are."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.soundness.index_data import TooFewIndicesError, drawn_indices, index_uses, scattered
from comprehensive.soundness.sampling import random_data, samples
from tests.unit.metafork.trees import parse_clean

PROGRAM = """void f(int n, int m, const int p[n], const int q[n], const unsigned char c[n], const int z[n][m],
               int y[m], int w[n][m], int h[m], int B)
{
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { BODY } }
}
"""
SHAPES = {"p": (4,), "q": (4,), "c": (4,), "z": (4, 9), "y": (9,), "w": (4, 9), "h": (9,)}


def drawn(body: str, *, duplicates: bool = False, outside: bool = False) -> dict[str, list[Any]]:
    nests = build(parse_clean(PROGRAM.replace("BODY", body)), DiagnosticSink())
    uses = index_uses(nests)
    found = drawn_indices(uses, SHAPES, np.random.default_rng(3), duplicates=duplicates, outside=outside)
    assert scattered(uses) == tuple(name for name in found if name in scattered(uses))
    return {name: values.tolist() for name, values in found.items()}


@pytest.mark.parametrize(
    "body",
    [
        "y[p[i]] = i;",
        "unsigned k = p[i]; y[k] = i;",
        "int k = p[i]; y[k] = i;",
        "y[c[i]] = i;",
        "w[i][p[i]] = i;",
    ],
)
def test_indices_of_stores_differ_and_are_inside(body: str) -> None:
    (values,) = drawn(body).values()
    assert len(set(values)) == 4
    assert set(values) <= set(range(9))
    (repeated,) = drawn(body, duplicates=True).values()
    assert len(set(repeated)) < 4


def test_indices_of_indices_differ_as_well() -> None:
    found = drawn("y[q[p[i]]] = i;")
    assert sorted(found["p"]) == [0, 1, 2, 3]
    assert len(set(found["q"])) == 4


def test_bytes_stay_different_where_indices_are_too_large() -> None:
    (values,) = drawn("if (c[i] < m) y[c[i]] = i;", outside=True).values()
    assert len(set(values)) == 4
    assert max(values) < 256


def test_two_stores_into_one_array_do_not_meet() -> None:
    found = drawn("y[p[i]] = i; y[q[i]] = 0;")
    assert not set(found["p"]) & set(found["q"])


def test_a_table_of_indices_differs_in_every_row() -> None:
    (rows,) = drawn("for (int j = 0; j < m; j++) w[i][z[i][j]] = j;").values()
    assert all(sorted(row) == list(range(9)) for row in rows)


def test_indices_of_atomic_updates_and_reads_may_repeat() -> None:
    assert drawn("h[i % m] = y[p[i]];") == {}
    nests = build(parse_clean(PROGRAM.replace("BODY", "meta_atomic h[p[i]] += 1;")), DiagnosticSink())
    assert scattered(index_uses(nests)) == ()


def test_some_indices_are_outside_where_programs_may_guard() -> None:
    (values,) = drawn("if (p[i] < m) y[p[i]] = i;", outside=True).values()
    assert len(set(values)) == 4


def test_too_few_places_are_said_to_be() -> None:
    nests = build(parse_clean(PROGRAM.replace("BODY", "y[p[i]] = i;")), DiagnosticSink())
    with pytest.raises(TooFewIndicesError):
        drawn_indices(index_uses(nests), {**SHAPES, "y": (3,)}, np.random.default_rng(3))


def test_samples_have_room_for_all_indices() -> None:
    program = parse_clean(PROGRAM.replace("BODY", "y[p[i]] = i;"))
    nests = build(program, DiagnosticSink())
    for number, sample in enumerate(islice(samples(program.functions[0], nests, 5), 40)):
        values = random_data(program.functions[0], nests, sample, number)["p"].tolist()
        assert len(set(values)) == len(values)
