"""Arrays that points update atomically: each block updates its own copy, which it adds to the array at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import numbers_of, recipes_of, run_all, sources_of

RECIPE = "private copies"
LINE = """void f(int n, int m, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
PLANE = """void f(int n, int m, {parameters}, int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < m; j++) {{
        {body}
      }}
  }}
}}
"""
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
LARGE = ({"n": 70001, "m": 33, "B": 64}, {"n": 4096, "m": 40, "B": 32}, {"n": 5, "m": 1, "B": 8})
FLAT = ({"n": 50, "m": 1030, "B": 8}, {"n": 9, "m": 7, "B": 4}, {"n": 1, "m": 1, "B": 2})


def line(body: str, parameters: str) -> str:
    return LINE.format(body=body, parameters=parameters)


def plane(body: str, parameters: str) -> str:
    return PLANE.format(body=body, parameters=parameters)


KEYED = "const unsigned x[n], int h[m]"
OF_KEYS: Arrays = {"x": (("n",), "u4"), "h": (("m",), "i4")}
CASES: dict[str, tuple[str, Arrays]] = {
    "a histogram": (line("meta_atomic h[x[i] % m] += 1;", KEYED), OF_KEYS),
    "subtracted, as a value of the point": (
        line("int d = (int)x[i] / 3; meta_atomic h[(x[i] + i) % m] -= d;", KEYED),
        OF_KEYS,
    ),
    "under a condition on data": (line("if (x[i] & 1) meta_atomic h[x[i] % m] += i;", KEYED), OF_KEYS),
    "one element": (line("meta_atomic h[m - 1] += (int)x[i];", KEYED), OF_KEYS),
    "in a serial loop of the point": (
        line("for (int j = 0; j < 3; j++) meta_atomic h[(x[i] + j) % m] += j;", KEYED),
        OF_KEYS,
    ),
    "bits that are cleared, and bits that are set": (
        line(
            "meta_atomic h[i % m] &= x[i]; meta_atomic g[x[i] % m] |= 1u << i % 32;"
            "meta_atomic e[x[i] % 5] ^= x[i];",
            "const unsigned x[n], unsigned h[m], unsigned g[m], unsigned e[5]",
        ),
        {"x": (("n",), "u4"), "h": (("m",), "u4"), "g": (("m",), "u4"), "e": ((5,), "u4")},
    ),
    "of 64 bits, by two subscripts": (
        line(
            "meta_atomic h[x[i] % 3][i % m] += (long)x[i] << 20;",
            "const unsigned x[n], long h[3][m]",
        ),
        {"x": (("n",), "u4"), "h": ((3, "m"), "i8")},
    ),
    "keys of a byte": (
        line("meta_atomic h[x[i]] += 1;", "const unsigned char x[n], unsigned h[256]"),
        {"x": (("n",), "u1"), "h": ((256,), "u4")},
    ),
}
PLANES: dict[str, tuple[str, Arrays]] = {
    "of a plane": (
        plane("meta_atomic h[a[i][j] % 17] += 1;", "const unsigned a[n][m], int h[17]"),
        {"a": (("n", "m"), "u4"), "h": ((17,), "i4")},
    ),
    "of each row": (
        plane("meta_atomic h[i][a[i][j] % 5] += 1;", "const unsigned a[n][m], int h[n][5]"),
        {"a": (("n", "m"), "u4"), "h": (("n", 5), "i4")},
    ),
}


@pytest.mark.parametrize("case", quick_of(CASES, {"a histogram"}))
def test_every_instance_is_the_serial_c(case: str, tmp_path: Path) -> None:
    source, arrays = CASES[case]
    found = recipes_of(source)
    assert (found["points"], found[RECIPE]) == (None, None)
    refused = run_all(source, arrays, LARGE, tmp_path, backwards=(False, True))
    assert not refused


@pytest.mark.parametrize("case", quick_of(PLANES, {"of each row"}))
def test_planes_of_points_are_the_serial_c(case: str, tmp_path: Path) -> None:
    source, arrays = PLANES[case]
    assert recipes_of(source)[RECIPE] is None
    assert not run_all(source, arrays, FLAT, tmp_path, backwards=(False, True))


def test_sums_of_floats_have_copies_where_any_order_is_allowed(tmp_path: Path) -> None:
    source = line("meta_atomic h[x[i] % m] += v[i];", "const unsigned x[n], const float v[n], float h[m]")
    arrays: Arrays = {"x": (("n",), "u4"), "v": (("n",), "f4"), "h": (("m",), "f4")}
    assert numbers_of(source, RECIPE, reassociate=True)
    assert not run_all(source, arrays, LARGE, tmp_path, reassociate=True)


def test_arrays_longer_than_a_copy_are_left_to_others(tmp_path: Path) -> None:
    source, arrays = CASES["a histogram"]
    refused = run_all(source, arrays, [{"n": 3000, "m": 30000, "B": 32}], tmp_path)
    assert {number for number, _ in refused} == set(numbers_of(source, RECIPE))


def test_the_longest_array_counts_all_copies() -> None:
    one = line("meta_atomic h[x[i] % m] += 1;", KEYED)
    two = line(
        "meta_atomic h[x[i] % m] += 1; meta_atomic g[x[i] % m] += 1;",
        "const unsigned x[n], int h[m], long g[m]",
    )
    assert "// S = 256," not in sources_of(two)["f.cu"]
    for source, longest in ((one, 24576), (two, 24576 // 3)):
        assert f"<1024, 4, 64, {longest}, 2>" in sources_of(source)["f.cu"]


@pytest.mark.parametrize(
    ("body", "parameters", "reason"),
    [
        (
            "meta_atomic h[x[i] % 7] += 1;",
            "const unsigned *x, int *h",
            "how many elements 'h' has is not declared",
        ),
        (
            "meta_atomic h[x[i] % 7][1] += 1;",
            "const unsigned x[n], int h[][4]",
            "how many elements 'h' has is not declared",
        ),
    ],
)
def test_no_copies_of_what_has_no_end(body: str, parameters: str, reason: str) -> None:
    found = recipes_of(line(body, parameters))
    assert (found["points"], found[RECIPE]) == (None, reason)


def test_instances_that_are_too_short_for_a_constant_number_of_elements_are_left_out() -> None:
    source = "void f(int n, int x[n], int h[%d], int B)\n{ meta_schedule block(B) {\n"
    source += "meta_for (int i = 0; i < n; i++) meta_atomic h[x[i]]++; } }\n"
    few, more = (numbers_of(source % bins, "private copies") for bins in (64, 300))
    assert 0 < len(more) < len(few)
