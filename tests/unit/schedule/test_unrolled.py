"""Loops that a program has unrolled by hand, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.normalize import normalize
from comprehensive.metafork.printer import print_stmts
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.unit.schedule.tile_runs import recipes_of, run_all

PROGRAM = """void f(int m, int n, int h, const float *a, const float *x, float *y, float *z, int B)
{{
  int n4 = n / 4 * 4, odd = n & ~1;
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
STEP = "s += a[i*n + {k}] * x[{k}];"
BY_FOUR = " ".join(STEP.format(k=k) for k in ("j", "j+1", "2+j", "j+3"))
ONE = STEP.format(k="j")
SUM = "float s = 1; {loops} y[i] = s;"

ROLLED = {
    "what is left in the same variable": (
        f"int j; for (j = 0; j + 3 < n; j += 4) {{ {BY_FOUR} }} for (; j < n; j++) {ONE}",
        "for (int j = 0; j < n; j++)",
    ),
    "up to a multiple that host code computes": (
        f"for (int j = 0; j < n4; j += 4) {{ {BY_FOUR} }} for (int j = n4; j < n; j++) {ONE}",
        "for (int j = 0; j < n; j++)",
    ),
    "up to a multiple that is written out": (
        f"for (int j = 0; j < n - n % 4; j += 4) {{ {BY_FOUR} }} for (int j = n - n % 4; j < n; j++) {ONE}",
        None,
    ),
    "up to another number": (
        f"int j = 0; for (; j < odd; j += 2) {{ {STEP.format(k='j')} {STEP.format(k='j + 1')} }} "
        f"while (j < n) {{ {ONE} j++; }}",
        "< n ? n : ",
    ),
    "one that begins further on, and the last one stands alone": (
        f"int j = 3; for (; j < h; j++) {ONE} for (; j < n; j++) {ONE} s += j;",
        "for (int j = 0; j < (h < n ? n : h) - 3; j++)",
    ),
}
LEFT = {
    "parts of another order": (
        "for (int j = 0; j + 1 < n; j += 2) { s += a[i*n + j + 1]; s += a[i*n + j]; }",
        "s += a[i * n + j * 2 + 1];",
    ),
    "a part that is missing": (
        "for (int j = 0; j + 2 < n; j += 3) { s += a[i*n + j]; s += a[i*n + j + 1]; }",
        "j * 3",
    ),
    "another step of the sum": (
        "for (int j = 0; j + 1 < n; j += 2) { s += a[i*n + j]; s -= a[i*n + j + 1]; }",
        "s -= ",
    ),
    "a loop that goes on elsewhere": (
        f"int j; for (j = 0; j < h; j++) {ONE} for (j = h; j < n; j++) {ONE}",
        "< n - h; ",
    ),
    "a start that another number chooses": (
        f"for (int j = 0; j < n; j++) {ONE} for (int j = 0 < h - 4 ? n : 0; j < n + 9; j++) {ONE}",
        "(0 < h - 4 ? n : 0) + j",
    ),
    "a loop that goes on in another way": (
        f"int j; for (j = 0; j < h; j++) {ONE} for (; j < n; j++) s -= a[i*n + j];",
        "s -= ",
    ),
    "an element that is read between them": (
        "int j; for (j = 0; j < h; j++) z[i] += x[j]; float t = z[i]; for (; j < n; j++) z[i] += x[j]; s += t;",
        "float t = z[i];",
    ),
    "an end from between them": (
        f"int j; for (j = 0; j < h; j++) {ONE} int e = n - 1; for (; j < e; j++) {ONE}",
        "int e = n - 1;",
    ),
    "a start from data": (
        "for (int j = (int)x[0] & 3; j + 1 < n; j += 2) { s += x[j]; s += x[j + 1]; } z[i] = s;",
        "s += x[",
    ),
    "something between them": (
        f"int j; for (j = 0; j < h; j++) {ONE} s *= 2; for (; j < n; j++) {ONE}",
        "s *= 2;",
    ),
}
RUNS = [
    {"m": 5, "n": n, "h": h, "B": 2}
    for n, h in ((0, 0), (1, 5), (2, 2), (3, -4), (4, 1), (7, 9), (41, 12), (130, 64))
]
ARRAYS = {
    "a": (("m*n + 3*m*n + 99",), "f4"),
    "x": (("n + 99",), "f4"),
    "y": (("m",), "f4"),
    "z": (("m",), "f4"),
}


def program(loops: str) -> str:
    return PROGRAM.format(body=SUM.format(loops=loops))


def body_of(source: str) -> str:
    (nest,) = map(normalize, nests_of(source))
    (band,) = nest.bands
    return print_stmts(band.body, 0)


@pytest.mark.parametrize(
    "case", quick_of(ROLLED, {"what is left in the same variable", "up to another number"})
)
def test_an_unrolled_loop_is_the_loop_that_it_was(case: str, tmp_path: Path) -> None:
    loops, header = ROLLED[case]
    source = program(loops)
    if header is not None:
        assert header in body_of(source)
        assert body_of(source).count("for (") == 1
        assert recipes_of(source)["rows"] is None
    run_all(source, ARRAYS, RUNS, tmp_path)


@pytest.mark.parametrize(
    "case", quick_of(LEFT, {"something between them", "a start that another number chooses"})
)
def test_other_loops_stay_as_they_are(case: str, tmp_path: Path) -> None:
    loops, stays = LEFT[case]
    source = program(loops)
    assert stays in body_of(source)
    run_all(source, ARRAYS, [run for run in RUNS if run["h"] >= 0], tmp_path)
