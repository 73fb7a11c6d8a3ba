"""Rows that threads look up cost what rows cost, wherever they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from comprehensive.driver import Options, compile_file
from comprehensive.machine.device import load_device
from comprehensive.machine.sites import Shape, leaf_work
from comprehensive.metafork.ast import Binary, IntLiteral, Name
from comprehensive.model.depth import LOADED, Data
from comprehensive.model.leaf_cost import numbers
from comprehensive.model.looked_up import SCATTERED, Places, calculated, looked_up

ROWS = """void f(int m, int n, const int p[m], const float *x, float *y, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        y[i * n + j] = x[%s];
  }
}
"""


def test_what_is_at_one_place_is_the_same() -> None:
    places = Places()
    first = places.at("p", np.array([4, 8, 4, 8]))
    assert first.tolist() == [0, SCATTERED, 0, SCATTERED]
    assert places.at("p", np.array([8, 12])).tolist() == [SCATTERED, 2 * SCATTERED]
    assert places.at("q", 8) not in first.tolist()


def test_what_is_computed_from_it_differs_as_it_does() -> None:
    row = looked_up(Name("i"))
    assert row.like == Binary("*", IntLiteral(SCATTERED), Name("i"))
    assert calculated("+", row, Name("j")) == Binary("+", row.like, Name("j"))
    assert calculated("%", row, Name("j")) is None
    assert calculated("*", LOADED, Name("j")) is None
    assert looked_up(Data()) == LOADED


def sectors(folder: Path, element: str) -> tuple[float, float]:
    """The bytes of a block of a tile and of a leaf, a sector of 32 each."""
    path = folder / "f.mf"
    path.write_text(ROWS % element, encoding="utf-8")
    (region,) = compile_file(path, Options(registers="estimate")).plan.functions[0].regions
    tile = next(each for each in region.tilings if each.recipe == "points")
    instance = next(each for each in tile.instances if each.sizes[:2] == (4, 32))
    of_tile = tile.work(instance, 0).once.bytes / 32
    leaf = next(leaf for leaf in region.leaves if not leaf.nest.cached)
    values = {"m": 256, "n": 256, "B0": 4, "B1": 32}
    shape = Shape((8, 64, 1), (32, 4, 1), leaf.registers, 0)
    work, _ = leaf_work(load_device("h200").machine(), leaf.profile.sites, numbers(leaf, values), shape)
    return of_tile, work.once.bytes / 32


def test_rows_that_are_looked_up_are_read_as_rows_are(tmp_path: Path) -> None:
    plain, gathered, scattered = (
        sectors(tmp_path, element) for element in ("i * n + j", "p[i] * n + j", "p[i] + n * j")
    )
    for beside, looked, apart in zip(plain, gathered, scattered, strict=True):
        assert beside < looked <= 1.6 * beside, "the numbers of rows are read, too"
        assert apart > 3 * beside
