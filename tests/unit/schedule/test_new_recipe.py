"""A recipe that is one class, one row and one table of instances is in every output of the tool, and computes right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import If
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule import instances
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance, table
from comprehensive.schedule.operands import loop_of
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes import registry
from comprehensive.schedule.unroll_and_jam import jammed_points
from tests.unit.schedule.tile_runs import numbers_of, run_all

SOURCE = """void f(int m, int n, const float a[m][n], float b[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        b[i][j] = 2.0f * a[i][j];
  }
}
"""
AT = ("-D", "m=100", "-D", "n=1000", "-D", "B0=4", "-D", "B1=32", "--registers", "estimate")


@dataclass(frozen=True, slots=True)
class Lines:
    """Points of a line, several a thread, without more."""

    name: str = "lines"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        return with_inner(tile, 1) if loop_of(tile) is None else NotApplicable("there is a loop")

    def lower(self, context: TileContext) -> TileKernel:
        body = context.tile.alternatives[0].body
        jam, partial = jammed_points(context, body)
        return TileKernel((If(context.is_whole(), jam.all(body), partial, uniform=True),), context.tile.sizes)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return table("lines")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    tables = instances.fact_table("instances.toml") | {"lines": [[64, 2, 4], [128, 1, 8]]}
    monkeypatch.setattr(instances, "fact_table", {"instances.toml": tables}.__getitem__)
    monkeypatch.setattr(registry, "ROWS", (*registry.ROWS, (registry.Choice(Lines()),)))
    path = tmp_path / "f.mf"
    path.write_text(SOURCE, encoding="utf-8")
    yield path
    table.cache_clear()


def said_by(*words: str) -> str:
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_recipe_is_one_class_one_row_and_one_table(program: Path) -> None:
    assert "\n├─ lines\n" in said_by("tree", str(program), "--registers", "estimate")
    numbers = numbers_of(SOURCE, "lines")
    assert len(numbers) == 2
    explained = said_by("explain", str(program), *AT)
    assert all(f"  register tile {number} fits\n" in explained for number in numbers)
    folder = program.parent / "out"
    said_by("gen", str(program), "-o", str(folder), "--registers", "estimate")
    assert "__launch_bounds__" in (folder / "f.cu").read_text(encoding="utf-8")
    assert "lines" in (folder / "f.json").read_text(encoding="utf-8")
    leaf = said_by("explain", str(program), *AT, "--leaf", "0")
    assert "leaf 0" in leaf
    assert "register tile" in said_by("picture", "tile", str(program), *AT, "--leaf", str(numbers[0]))


def test_the_tiles_of_such_a_recipe_compute_what_the_source_does(program: Path, tmp_path: Path) -> None:
    arrays = {"a": (("m", "n"), "float32"), "b": (("m", "n"), "float32")}
    assert numbers_of(SOURCE, "lines")
    runs = [{"m": m, "n": n, "B0": 2, "B1": 16} for m, n in ((5, 300), (1, 128))]
    assert run_all(SOURCE, arrays, runs, tmp_path) == set()
