"""The command ``explain``: what the launcher takes."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from comprehensive.cli import cli

LOOK_UP = """void f(int m, int n, int v, const int t[m], const float *e, float y[m][n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        y[i][j] = e[t[i] * n + j];
  }
}
"""


def test_no_size_is_asked_for_that_no_region_reads(tmp_path: Path) -> None:
    """``v`` is the number of rows, which no subscript needs."""
    source = tmp_path / "f.mf"
    source.write_text(LOOK_UP, encoding="utf-8")
    given = ("-D", "m=8192", "-D", "n=1024", "--registers", "estimate")
    result = CliRunner().invoke(cli, ["explain", str(source), *given])
    assert result.exit_code == 0, result.output
    assert "without parameters the launcher takes B" in result.output
    assert "expected cycles of a launch" in result.output


STEPS = """void f(int n, float a[n][n], int B)
{
  for (int t = 0; t < n - 1; t++)
    meta_schedule block(B) {
      meta_for (int i = t + 1; i < n; i++)
        a[i][t] /= a[t][t];
    }
}
"""


def test_parameters_that_nothing_ranks_are_no_launch_of_no_cycles(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text(STEPS, encoding="utf-8")
    given = ("-D", "n=1024", "--registers", "estimate")
    result = CliRunner().invoke(cli, ["explain", str(source), *given])
    assert result.exit_code == 0, result.output
    assert "the launcher takes B = 1, of which it knows no more" in result.output
    assert "0 cycles" not in result.output
    assert "for a ranking give a value to t" in result.output
