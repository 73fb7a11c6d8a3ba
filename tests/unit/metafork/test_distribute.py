"""Imperfect nests mean what the perfect nests mean that they become, and others are refused with a reason."""

from __future__ import annotations

import pytest

from comprehensive.metafork.ast import Function
from comprehensive.metafork.structure import split_nest
from tests.unit.metafork.trees import parse_clean, parse_text

HEAD = "void f(int n, int m, float x[n], float y[n], float z[n][m], float w[n][m][4], int B0, int B1, int B2)"


def text(body: str, clause: str = "block(B0, B1)") -> str:
    return f"{HEAD} {{ for (int t = 0; t < 3; t++) meta_schedule {clause} {{ {body} }} }}"


def only(body: str, clause: str = "block(B0, B1)") -> Function:
    (function,) = parse_clean(text(body, clause)).functions
    return function


OUTER, MIDDLE, INNER = (
    f"meta_for (int {v} = 0; {v} < {e}; {v}++)" for v, e in (("i", "n"), ("j", "m"), ("k", "4"))
)


def test_parts_are_the_nests_that_one_would_write() -> None:
    body = (
        f"{OUTER} {{ float s = 2 * x[i]; int h = i; y[i] = s; {MIDDLE} z[i][j] = s; y[i] += z[i][0] + h; }}"
    )
    found = only(body).regions
    written = [
        only(f"{OUTER} {{ float s = 2 * x[i]; int h = i; y[i] = s; }}", "block(B0)"),
        only(f"{OUTER} {MIDDLE} {{ float s = 2 * x[i]; z[i][j] = s; }}"),
        only(f"{OUTER} {{ int h = i; y[i] += z[i][0] + h; }}", "block(B0)"),
    ]
    assert [region.body for region in found] == [function.regions[0].body for function in written]
    assert all(loop.regions == 0 for region in found for loop in region.loops)


def test_a_definition_goes_with_what_it_reads() -> None:
    body = f"{OUTER} {{ int a = i; int b = a + 1; int c = b; {MIDDLE} {{ z[i][j] = b; {INNER} w[i][j][k] = c; }} }}"
    first, second = only(body, "block(B0, B1, B2)").regions
    assert "'c'" not in repr(first.body)
    assert all(f"'{name}'" in repr(second.body) for name in "abc")


def test_loops_next_to_each_other_are_parts() -> None:
    body = f"{OUTER} {{ {MIDDLE} z[i][j] = 1; {MIDDLE.replace('j', 'l')} z[i][l] += 2; }}"
    assert len(only(body).regions) == 2


def test_a_perfect_nest_stays_one_region() -> None:
    (region,) = only(f"{OUTER} {MIDDLE} {{ float s = x[i]; z[i][j] = s; }}").regions
    outermost = region.body[0]
    assert len(split_nest(outermost).grid) == 2  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{OUTER} {{ x[i] = 1; {MIDDLE} z[i][j] = x[0]; }}", "'x' may belong to other iterations of 'i'"),
        (
            f"{OUTER} {{ {MIDDLE} z[i][j] = 1; y[i] = z[n - 1 - i][0]; }}",
            "'z' may belong to other iterations of 'i'",
        ),
        (f"{OUTER} {{ float s = 0; s += x[i]; {MIDDLE} z[i][j] = s; }}", "'s' is read by another part"),
        (f"{OUTER} {{ float s = x[i]; x[i] = 2; {MIDDLE} z[i][j] = s; }}", "'s' is read by another part"),
        (f"{OUTER} {{ float s[2]; s[0] = 1; {MIDDLE} z[i][j] = s[0]; }}", "'s' is read by another part"),
    ],
)
def test_what_cannot_be_distributed_is_told_once(body: str, reason: str) -> None:
    _, sink = parse_text(text(body))
    (found,) = sink.diagnostics
    assert found.code == "CF0331"
    assert reason in found.message
