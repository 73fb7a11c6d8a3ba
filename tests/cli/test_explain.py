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
