"""Regions behind pointers of host code: whatever the spelling, the emitted program computes what the C program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.verification import verify
from comprehensive.verification_report import to_text
from tests.examples import quick_of

TURN = """    meta_schedule block(B) {
      meta_for (int i = 1; i < n - 1; i++)
        next[i] = cur[i - 1] + 0.5f * cur[i] - cur[i + 1];
    }
"""
ROWS = """    meta_schedule block(8, 8) {
      meta_for (int i = 1; i < n - 1; i++)
        meta_for (int j = 1; j < m - 1; j++)
          next[i][j] = cur[i - 1][j] + cur[i][j - 1] - cur[i + 1][j] + 0.5f * cur[i][j + 1];
    }
"""
EXCHANGE = "    float *tmp = cur;\n    cur = next;\n    next = tmp;\n"
LOOP = "  for (int t = 0; t < T; t++) {\n"

PROGRAMS = {
    "parameters": f"void f(int T, int n, float *cur, float *next, int B)\n{{\n{LOOP}{TURN}{EXCHANGE}  }}\n}}\n",
    "halves": (
        "void f(int T, int n, float *buf, int B)\n{\n  float *restrict cur = &buf[0], *next = buf + n;\n"
        f"{LOOP}{TURN}{EXCHANGE}  }}\n}}\n"
    ),
    "rows": (
        f"void f(int T, int n, int m, float cur[n][m], float next[n][m])\n{{\n{LOOP}{ROWS}"
        "    float (*tmp)[m] = cur;\n    cur = next;\n    next = tmp;\n  }\n}\n"
    ),
    "slabs": (
        "void f(int T, int n, int m, float u[2][n][m])\n{\n  float (*cur)[m] = u[0];\n  float (*next)[m] = u[1];\n"
        f"{LOOP}{ROWS}    float (*tmp)[m] = cur;\n    cur = next;\n    next = tmp;\n  }}\n}}\n"
    ),
    "rotation": (
        "void f(int T, int n, float *cur, float *next, float *last, int B)\n{\n"
        f"{LOOP}{TURN.replace('cur[i + 1]', 'last[i]')}"
        "    float *tmp = last;\n    last = cur;\n    cur = next;\n    next = tmp;\n  }\n}\n"
    ),
    "a condition": (
        f"void f(int T, int n, float *cur, float *next, int B)\n{{\n{LOOP}{TURN}"
        f"    if (t % 3 != 2) {{\n{EXCHANGE}    }}\n  }}\n}}\n"
    ),
    "parity": (
        "void f(int T, int n, float *a, float *b, int B)\n{\n"
        + LOOP
        + "    const float *cur = t % 2 ? b : a;\n"
        "    float *next = t % 2 ? a : b;\n" + TURN + "  }\n}\n"
    ),
    "the result copied back": (
        "void f(int T, int n, float *a, float *b, int B)\n{\n  float *cur = a, *next = b;\n"
        f"{LOOP}{TURN}{EXCHANGE}  }}\n  if (cur != a) {{\n"
        "    meta_schedule block(B) {\n      meta_for (int i = 0; i < n; i++)\n        a[i] = cur[i];\n    }\n  }\n}\n"
    ),
    "rows of a history": (
        f"void f(int T, int n, float *u, int B)\n{{\n{LOOP.replace('t = 0', 't = 1')}"
        "    const float *cur = u + (t - 1) * n;\n    float *next = &u[t * n];\n" + TURN + "  }\n}\n"
    ),
    "row by row": (
        "void f(int T, int n, const float *x, float *y, int B)\n{\n  const float *row = x;\n"
        f"{LOOP}    meta_schedule block(B) {{\n      meta_for (int i = 0; i < n; i++)\n"
        "        y[i] += row[i];\n    }\n"
        "    row += n;\n  }\n}\n"
    ),
}
WITH_TIME_TILES = ("parameters", "halves", "rows", "slabs", "the result copied back")


def compiled(text: str, folder: Path) -> Compilation:
    path = folder / "f.mf"
    path.write_text(text, encoding="utf-8")
    return compile_file(path, Options(registers="estimate"))


QUICK = {"rotation", "the result copied back"}


@pytest.mark.parametrize("name", quick_of(PROGRAMS, QUICK))
def test_the_emitted_program_computes_the_same(name: str, tmp_path: Path) -> None:
    compilation = compiled(PROGRAMS[name], tmp_path)
    assert not compilation.diagnostics
    has_time = not isinstance(compilation.trees[0].alternatives[-1].tree, NotApplicable)
    assert has_time is (name in WITH_TIME_TILES)
    report = verify(compilation, points=4, run=True)
    assert report.holds, to_text(report)
    assert report.runs
    assert all(run.runs > 0 for run in report.runs), to_text(report)


def test_pointers_to_rows_are_pointers_to_elements_in_the_launcher(tmp_path: Path) -> None:
    written = outputs(compiled(PROGRAMS["slabs"], tmp_path))["f.cu"]
    assert "float *cur = (u + (long long)(0) * (n) * (m));" in written
    assert "    float *tmp = cur;\n    cur = next;" in written


def test_halves_that_may_meet_are_named(tmp_path: Path) -> None:
    text = PROGRAMS["halves"].replace("int n,", "int n, int m,").replace("buf + n", "buf + m")
    assert [d.code for d in compiled(text, tmp_path).diagnostics] == ["CF0415"]
    asserted = text.replace("{\n  float", "{\n  assert(m >= n);\n  float")
    assert not compiled(asserted, tmp_path).diagnostics


APART = """void f(int n, float *z, int B)
{
  float *second = z + %d;
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      second[%s] = 2 * z[%s];
  }
}
"""


@pytest.mark.parametrize(
    ("distance", "written", "read", "codes"),
    [
        (1, "i", "i", ["CF0416"]),
        (2, "2 * i", "2 * i", ["CF0416"]),
        (1, "2 * i", "2 * i", []),
        (2, "3 * i", "3 * i + 1", []),
        (3, "6 * i", "4 * i", []),
        (1, "3 * i", "3 * i + 1", ["CF0415"]),  # the same element in the same iteration
    ],
)
def test_what_a_constant_distance_leaves_apart_is_known(
    distance: int, written: str, read: str, codes: list[str], tmp_path: Path
) -> None:
    try:
        found = compiled(APART % (distance, written, read), tmp_path).diagnostics
    except CompileError as error:
        found = error.diagnostics
    assert [d.code for d in found] == codes


def test_each_way_that_a_pointer_may_point_counts(tmp_path: Path) -> None:
    text = APART % (1, "2 * i", "2 * i")
    text = text.replace("int n,", "int n, int g,").replace(
        ";\n  meta", ";\n  if (g) second = z + 2;\n  meta", 1
    )
    with pytest.raises(CompileError) as raised:
        compiled(text, tmp_path)
    assert [d.code for d in raised.value.diagnostics] == ["CF0416"]


def test_grids_that_are_not_exchanged_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as raised:
        compiled(PROGRAMS["parameters"].replace(EXCHANGE, "    cur = next;\n"), tmp_path)
    assert [d.code for d in raised.value.diagnostics] == ["CF0217"]
