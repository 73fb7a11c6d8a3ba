"""Points far from borders: what is left of their choices there, and every point against the serial C."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from comprehensive.loops.ir import Variant
from comprehensive.loops.normalize import normalize
from comprehensive.metafork.printer import print_stmts
from comprehensive.optimize.protocols import Applied
from comprehensive.schedule.interior import interior_of
from comprehensive.strategies.tilings import tilings
from tests.examples import seeds
from tests.laws.nests import nests_of
from tests.unit.schedule.test_window_product import BLOCK, PLANE, Arrays
from tests.unit.schedule.tile_runs import run_all, sources_of

PARAMETERS = "const float x[m][n], float y[m][n]"
ARRAYS: Arrays = {"x": (("m", "n"), "f4"), "y": (("m", "n"), "f4")}
PLANES = [
    {"m": m, "n": n, "p": 1, "k": k}
    for m, n, k in ((37, 132, 1), (1, 4, 2), (2, 8, 1), (5, 3, 3), (16, 256, 0), (33, 131, 2), (3, 12, 1))
]


def _points(step: str) -> Variant:
    """The points of a region with this body, as their recipe cuts them."""
    (nest,) = nests_of(PLANE.format(parameters=PARAMETERS, body=step))
    (found,) = (tiling.result for tiling in tilings(normalize(nest)) if tiling.recipe == "points")
    assert isinstance(found, Applied)
    return found.fragment


@pytest.mark.parametrize(
    ("step", "left", "conditions"),
    [
        ("y[i][j] = x[i > 0 ? i - 1 : 0][j];", "y[i][j] = x[i - 1][j];", {"i - 1"}),
        ("y[i][j] = x[(i + m - 1) % m][j];", "y[i][j] = x[i - 1][j];", {"i - 1", "-i + m"}),
        ("y[i][j] = x[i == m - 1 ? 0 : i + 1][j];", "y[i][j] = x[i + 1][j];", {"-i + m - 2"}),
        ("if (i == 0 || j >= n - 2) y[i][j] = 0; else y[i][j] = x[i - 1][j + 2];", "y[i][j] = x[i - 1][j + 2];",
         {"i - 1", "-j + n - 3"}),
        ("if (!(i > 2 && j > 1)) y[i][j] = 1;", "", {"i - 3", "j - 2"}),
        ("y[i][j] = (i > 0 ? 1 : 2.5f) / 2;", "y[i][j] = (float)1 / 2;", {"i - 1"}),
    ],
)  # fmt: skip
def test_what_is_left_far_from_borders(step: str, left: str, conditions: set[str]) -> None:
    variant = _points(step)
    assert variant.tile is not None
    found = interior_of(variant.nest, variant.tile, variant.tile.alternatives[0].body)
    assert print_stmts(found.body).strip() == left
    assert {str(value) for value in found.conditions} == conditions


@pytest.mark.parametrize(
    "step",
    [
        "y[i][j] = (i ^ 1) < 5u ? x[i][j] : 0;",
        "y[i][j] = x[i][j] > 0 ? x[i][j] : 0;",
        "if (k > 1) y[i][j] = x[i][j]; else y[i][j] = 2 * x[i][j];",
        "y[i][j] = i > k ? x[i - k][j] : 0;",
        "y[i][j] = i + p >= k ? x[i][j] : 0;",
        "y[i][j] = i < j ? x[i][j] : 0;",
        "y[i][j] = x[i % 2][j] * ((i + j) % 2 == 0 ? 1.0f : -1.0f);",
        "y[i][j] = x[i][j % k];",
        "float s = 0; for (int a = 0; a < 3; a++) s += (a == 0 ? 2.0f : 1.0f) * x[i][j + a]; y[i][j] = s;",
        "float s = 0; if (i > 0) { for (int a = 0; a < 3; a++) { float t[2]; t[0] = x[i][j]; s += t[0]; } } "
        "y[i][j] = s;",
        "y[i][j] = x[(i * i) % m][j];",
    ],
)
def test_other_choices_are_left(step: str) -> None:
    variant = _points(step)
    assert variant.tile is not None
    for alternative in variant.tile.alternatives:
        assert interior_of(variant.nest, variant.tile, alternative.body).conditions == ()


STEPS = {
    "the mean of five, stopped at the border": "int u = i > 0 ? i - 1 : 0, d = i < m - 1 ? i + 1 : m - 1, "
    "l = j > 0 ? j - 1 : 0, r = j < n - 1 ? j + 1 : n - 1; "
    "y[i][j] = 0.2f * (x[i][j] + x[u][j] + x[d][j] + x[i][l] + x[i][r]);",
    "held between two ends": "int l = j - 1 < 0 ? 0 : j - 1, r = i + 1; l = l >= n ? n - 1 : l; r = r < 0 ? 0 : r; "
    "r = r > m - 1 ? m - 1 : r; y[i][j] = x[i][l] + x[r][j] * x[i][j];",
    "the border by itself": "if (i == 0 || i == m - 1 || j == 0 || j == n - 1) y[i][j] = x[i][j]; "
    "else y[i][j] = x[i - 1][j] + x[i + 1][j] - x[i][j - 1] * x[i][j + 1];",
    "a ring": "y[i][j] = x[(i + 1) % m][j] - x[(i + m - 1) % m][j] + x[i][(j + 1) % n] * x[i][(j + n - 1) % n];",
    "a ring by comparisons": "int u = i == 0 ? m - 1 : i - 1, r = j == n - 1 ? 0 : j + 1; "
    "y[i][j] = x[u][j] + x[i][r] - x[u][r] + x[i][j];",
    "nine of a ring": "float s = 0; for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) "
    "s += x[(i + a + m - 1) % m][(j + b + n - 1) % n]; y[i][j] = s;",
    "nine, those outside left out": "float s = 0; for (int a = -1; a <= 1; a++) for (int b = -1; b <= 1; b++) "
    "if (i + a >= 0 && i + a < m && j + b >= 0 && j + b < n) s += x[i + a][j + b]; y[i][j] = s;",
    "choices of other types": "y[i][j] = (i > 0 ? x[i - 1][j] : 0.0) + x[i][j] * 0.1f + (i > 2 ? i - 5 : 0u) "
    "+ (j == 0 ? 0.5 : 1) / 3 * x[i][j] + (i % m) / 2;",
    "arrays under a condition": "float s = 0; if (i > 0) { for (int a = 0; a < 3; a++) { float t[2]; "
    "t[0] = x[i][j] + a; t[1] = x[i - 1][j]; s += t[a & 1] * t[1 - (a & 1)]; } } y[i][j] = s;",
}


@pytest.mark.parametrize("name", STEPS)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=STEPS[name])
    run_all(source, ARRAYS, [{**run, **BLOCK} for run in PLANES], tmp_path)


@pytest.mark.parametrize(
    "name", [name for name in STEPS if "of other types" not in name and "arrays" not in name]
)
def test_neighbours_share_what_they_read(name: str) -> None:
    text = sources_of(PLANE.format(parameters=PARAMETERS, body=STEPS[name]))["f.cu"]
    assert "vectorize(" in text or "stream(" in text


def test_a_row_that_points_near_a_border_do_not_read_may_not_be_there() -> None:
    """A vector that the limits cut is read whole behind a pointer only where the rows next to it are read."""
    step = "y[i*p + j] = i < m - 3 ? x[i*p + j] + x[i*p + j + 1] : 0;"
    plain, chosen = (
        sources_of(PLANE.format(parameters="const float *x, float *y", body=body))["f.cu"]
        for body in ("y[i*p + j] = x[i*p + j] + x[i*p + j + 1];", step)
    )
    assert "? first < j_limit :" in plain
    assert "? first < j_limit :" not in chosen


FORMS = (
    "({v} < 0 ? 0 : {v} >= {e} ? {e} - 1 : {v})",
    "((({v}) % {e} + {e}) % {e})",
    "({v} < 0 || {v} > {e} - 1 ? {c} : {v})",
    "({c} == 0 ? {e} - 1 : {c} - 1)",
    "({c} + 1 == {e} ? 0 : {c} + 1)",
    "{c}",
)


def _random_step(seed: int) -> str:
    random = Random(seed)

    def subscript(coordinate: str, extent: str) -> str:
        value = f"{coordinate} + {random.randint(-2, 2)}".replace("+ -", "- ")
        return random.choice(FORMS).format(v=value, e=extent, c=coordinate)

    reads = [f"x[{subscript('i', 'm')}][{subscript('j', 'n')}]" for _ in range(random.randint(2, 4))]
    value = " + ".join(f"{number + 1} * {read}" for number, read in enumerate(reads))
    if random.random() < 0.4:
        condition = random.choice(
            ("i > 1 && j < n - 1", "i == 0 || j == n - 1", "!(j >= 2)", "i + j > 3", "k > 1 && i > 0")
        )
        return f"if ({condition}) y[i][j] = {value}; else y[i][j] = x[i][j];"
    return f"y[i][j] = {value};"


@pytest.mark.parametrize("seed", seeds(40))
def test_random_choices_are_those_of_the_source(seed: int, tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=_random_step(seed))
    run_all(source, ARRAYS, [{**run, **BLOCK} for run in PLANES], tmp_path)
