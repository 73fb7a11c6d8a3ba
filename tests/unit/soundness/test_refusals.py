"""Tiles that cannot run at some turn of a loop of host code, beside the points at which they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.data import template_directory
from comprehensive.driver import Options, compile_file
from comprehensive.soundness.emulated import LeafRuns
from comprehensive.soundness.refusals import TILE_REFUSED
from comprehensive.soundness.state import State
from comprehensive.verification import verify
from comprehensive.verification_report import run_lines, to_json, to_text

DIAGONALS = """void diag(int n, int k, int *m, int B)
{
  assert(n >= 2);
  for (int d = 2; d <= %s; d++) {
    meta_schedule block(B) {
      meta_for (int i = 1; i < d; i++)
        m[i * (n + 1) + d - i] += m[(i - 1) * (n + 1) + d - i];
    }
  }
}
"""


@pytest.mark.parametrize(("last", "runs"), [("k", True), ("n + 2", False)])
def test_a_turn_that_is_not_for_a_tile_is_no_failure_of_it(last: str, runs: bool, tmp_path: Path) -> None:
    source = tmp_path / "diag.mf"
    source.write_text(DIAGONALS % last)
    report = verify(compile_file(source, Options(registers="estimate")), points=6, run=True)
    assert report.holds, to_text(report)
    assert report.runs is not None
    tiles = [each for each in report.runs if each.tile]
    assert [
        each for each in report.runs if not each.tile and (each.state, each.refused) != (State.HOLDS, ())
    ] == []
    assert tiles
    for tile in tiles:
        assert tile.state is (State.HOLDS if runs else State.NOT_CHECKED)
        assert "d + 1 <= n does not hold where d = " in tile.refused[0]
    told = "points equal; not run at" if runs else "no point lets it run at every turn of host code"
    assert to_text(report).count(told) + to_text(report).count("not checked: as above") == len(tiles)
    assert to_json(report)["runs"][report.runs.index(tiles[0])]["refused"] == list(tiles[0].refused)


def test_the_condition_that_a_launcher_cites_is_known_by_its_text() -> None:
    assert f'"{TILE_REFUSED}"' in (template_directory() / "launcher" / "functions.h.j2").read_text()


def test_a_reason_that_several_kernels_share_is_said_once() -> None:
    runs = [LeafRuns("f", 0, 0, (), "too large", tile=tile, kind="tile") for tile in (1, 2)]
    runs += [LeafRuns("f", 0, 4, (), tile=tile, kind="tile") for tile in (3, 4)]
    told = [line.partition(": ")[2] for line in run_lines(tuple(runs))[1:]]
    assert told == [
        "not checked: too large",
        "not checked: as above",
        "4 of 4 points equal",
        "4 of 4 points equal",
    ]
