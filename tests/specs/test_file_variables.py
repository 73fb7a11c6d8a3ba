"""Programs that keep their data at file level: launchers are passed it, and compute what the C program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.plan.interface import interface
from comprehensive.verification import verify
from comprehensive.verification_report import to_text
from tests.examples import quick_of

FIGURE_7 = """#define N 34
#define T 4
int a[2 * N];

void fig7(int B)
{
  int dim = (N - 2) / B;
  for (int t = 0; t < T; ++t)
    meta_schedule {
      meta_for (int i = 0; i < dim; i++)
        meta_for (int j = 0; j < B; j++) {
          int p = j + i * B;
          int p1 = p + 1;
          int p2 = p + 2;
          int np = N + p;
          int np1 = N + p + 1;
          int np2 = N + p + 2;
          if (t % 2)
            a[p1] = (a[np] + a[np1] + a[np2]) / 3;
          else
            a[np1] = (a[p] + a[p1] + a[p2]) / 3;
        }
    }
}
"""
SEVERAL = """enum { N = 20, M = 16 };
static float grid[N][M], other[N][M];
double weight = 0.25;
static int steps;
float *extra;
int unused[3];

void relax(void)
{
  for (int t = 0; t < steps; t++) {
    meta_schedule block(8, 8) {
      meta_for (int i = 1; i < N - 1; i++)
        meta_for (int j = 1; j < M - 1; j++)
          other[i][j] = weight * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1]) + extra[j];
    }
    meta_schedule block(8, 8) {
      meta_for (int i = 1; i < N - 1; i++)
        meta_for (int j = 1; j < M - 1; j++)
          grid[i][j] = weight * (other[i - 1][j] + other[i + 1][j] + other[i][j - 1]);
    }
  }
}

void scale(float by, int steps)
{
  meta_schedule block(8, 8) {
    meta_for (int i = 0; i < N; i++)
      meta_for (int j = 0; j < M; j++)
        grid[i][j] *= by + steps;
  }
}
"""


def compiled(text: str, folder: Path) -> Compilation:
    path = folder / "f.mf"
    path.write_text(text, encoding="utf-8")
    return compile_file(path, Options(registers="estimate"))


@pytest.mark.parametrize("text", quick_of([FIGURE_7, SEVERAL], {FIGURE_7}), ids=["figure 7", "several"])
def test_the_emitted_program_computes_the_same(text: str, tmp_path: Path) -> None:
    compilation = compiled(text, tmp_path)
    assert not compilation.diagnostics
    report = verify(compilation, points=3, run=True)
    assert report.holds, to_text(report)
    assert report.runs
    assert all(run.runs > 0 for run in report.runs), to_text(report)


def test_launchers_are_passed_what_a_function_uses(tmp_path: Path) -> None:
    compilation = compiled(SEVERAL, tmp_path)
    relax, scale = map(interface, compilation.plan.functions)
    assert [a.name for a in relax.everything] == ["grid", "other", "weight", "steps", "extra"]
    assert [a.name for a in scale.everything] == ["by", "steps", "grid"]
    written = outputs(compilation)
    assert "int scale_launch(float by, int steps, float *grid, const scale_params *params" in written["f.h"]
    assert (
        "What it is passed for grid, other, weight, steps, extra takes the place of these" in written["f.h"]
    )
    assert "static float grid" not in written["f.cu"]


def test_a_change_of_a_variable_that_gets_lost_is_named(tmp_path: Path) -> None:
    text = SEVERAL.replace("  for (int t", "  weight *= 2;\n  for (int t")
    (diagnostic,) = compiled(text, tmp_path).diagnostics
    assert diagnostic.code == "CF0320"
    assert diagnostic.span is not None
    assert diagnostic.span.position == (10, 3)
