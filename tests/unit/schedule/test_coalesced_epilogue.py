"""Products whose rows are not aligned: sums go through shared memory, and are stored by neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.test_lower_tile import PLANE, SIZES
from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PARAMETERS = "float a[m][k], float b[k][n], float c[m][n]"
ARRAYS = {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")}
INTEGERS = {name: (extents, "i4") for name, (extents, _) in ARRAYS.items()}
BYTES = {"a": (("m", "k"), "i1"), "b": (("k", "n"), "i1"), "c": (("m", "n"), "i4")}
# Rows of an odd length, of pairs, and of whole vectors; tiles that the limits cut.
RUNS = [
    SIZES,
    {**SIZES, "m": 131, "n": 67, "k": 33},
    {**SIZES, "m": 5, "n": 258, "k": 30},
    {**SIZES, "n": 132, "k": 12},
]
LOOP = "for (int l = 0; l < k; l++) s += a[i][l] * b[l][j];"
BODIES = {
    "a sum": (PARAMETERS, ARRAYS, f"float s = 0; {LOOP} c[i][j] = s;"),
    "an element": (PARAMETERS, ARRAYS, "for (int l = 0; l < k; l++) c[i][j] += a[i][l] * b[l][j];"),
    "an element that is changed": (
        PARAMETERS,
        ARRAYS,
        "c[i][j] = 0; for (int l = 0; l < k; l++) c[i][j] += a[i][l] * b[l][j]; c[i][j] *= 0.5f;",
    ),
    "a sum that is changed": (
        PARAMETERS,
        ARRAYS,
        f"float s = 0; {LOOP} s *= 0.5f; if (s < 1) s = 1; c[i][j] = s + 0.25f * c[i][j];",
    ),
    "points on one side of an edge": (
        PARAMETERS,
        ARRAYS,
        f"if (i + 2 * j < 150) {{ float s = 0; {LOOP} c[i][j] = s; }}",
    ),
    "integers": (PARAMETERS.replace("float", "int"), INTEGERS, f"int s = 3; {LOOP} c[i][j] = s;"),
    "operands of bytes, which take less room than sums": (
        "signed char a[m][k], signed char b[k][n], int c[m][n]",
        BYTES,
        f"int s = 0; {LOOP} c[i][j] = s;",
    ),
}


@pytest.mark.parametrize(
    "name",
    quick_of(
        BODIES, {"a sum that is changed", "an element that is changed", "points on one side of an edge"}
    ),
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    parameters, arrays, body = BODIES[name]
    source = PLANE.format(parameters=parameters, body=body)
    assert recipes_of(source)["product"] is None
    assert "through shared memory, to threads beside each other" in sources_of(source)["f.cu"]
    assert run_all(source, arrays, RUNS, tmp_path) == set()


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0, t = 0; for (int l = 0; l < k; l++) { s += a[i][l] * b[l][j]; t += b[l][j]; } c[i][j] = s * t;",
        "double s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s;",
    ],
    ids=["two sums", "sums of 8 bytes"],
)
def test_other_sums_are_stored_by_their_threads(body: str) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=body)
    assert recipes_of(source)["product"] is None
    assert "to threads beside each other" not in sources_of(source)["f.cu"]
