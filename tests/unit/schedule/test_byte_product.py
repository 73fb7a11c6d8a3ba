"""Products of bytes on tensor cores: on the CPU, which does what a warp does, against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.normalize import normalize
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.strategies.tilings import tilings
from comprehensive.toolchain.nvcc import Tool
from tests.laws.nests import nests_of
from tests.unit.schedule.test_mixed_precision_product import PRODUCT, RUNS
from tests.unit.schedule.tile_runs import compilation_of, numbers_of, run_all, texts_of, warnings_of

RECIPE = "product of bytes"
PLAIN = PRODUCT.format(
    parameters="const signed char a[m][k], const signed char b[n][k], int c[m][n]",
    body="int s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[j][l]; c[i][j] = s;",
)
CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "signed": (PLAIN, {"a": (("m", "k"), "i1"), "b": (("n", "k"), "i1"), "c": (("m", "n"), "i4")}),
    "unsigned, converted by the program, added to what is there": (
        PRODUCT.format(
            parameters="const unsigned char a[m][k + 3], const unsigned char b[n][k], int c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] = c[i][j] + (int)b[j][l] * (int)a[i][l + 3];",
        ),
        {"a": (("m", "k + 3"), "u1"), "b": (("n", "k"), "u1"), "c": (("m", "n"), "i4")},
    ),
    "a lower triangle, scaled": (
        PRODUCT.format(
            parameters="const char a[m][k], const char b[n][k], const float d[n], float c[m][n]",
            body="if (j <= i) { int s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[j][l]; c[i][j] = s * d[j]; }",
        ),
        {"a": (("m", "k"), "i1"), "b": (("n", "k"), "i1"), "d": (("n",), "f4"), "c": (("m", "n"), "f4")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert numbers_of(source, RECIPE)
    assert run_all(source, arrays, RUNS, tmp_path) == set()


def test_sums_of_integers_keep_the_order_of_the_source() -> None:
    (plan,) = compilation_of(PLAIN).plan.functions
    (tiling,) = (t for t in plan.regions[0].tilings if t.recipe == RECIPE)
    assert tiling.kernel.tensor_core_bytes == 1
    assert not plan.reassociated
    assert "cf_multiply_add<signed char>" in texts_of(PLAIN)["f.cu"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (
            "s += a[i][l] * t[l][j];",
            "the steps of 't' do not lie side by side, as matrices of bytes have them",
        ),
        ("s += a[i][k - 1 - l] * b[j][k - 1 - l];", "is read downwards"),
        ("s -= a[i][l] * b[j][l];", "adds something else"),
        ("s += a[i][l] * u[j][l];", "the elements of 'u' are not of type 'signed char'"),
        ("w += a[i][l] * b[j][l];", "the sum is not of type 'int'"),
    ],
)
def test_what_is_no_multiply_add_of_such_elements_is_refused(step: str, reason: str) -> None:
    parameters = (
        "const signed char a[m][k], const signed char b[n][k], const signed char t[k][n], "
        "const unsigned char u[n][k], int c[m][n]"
    )
    body = f"int s = 0; long w = 0; for (int l = 0; l < k; l++) {step} c[i][j] = s + w;"
    (nest,) = nests_of(PRODUCT.format(parameters=parameters, body=body))
    found = {each.recipe: each.result for each in tilings(normalize(nest))}[RECIPE]
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_products_of_integers_are_another_recipe() -> None:
    (nest,) = nests_of(PLAIN.replace("signed char", "int"))
    found = {each.recipe: each.result for each in tilings(normalize(nest))}
    assert isinstance(found["product"], Applied)
    assert RECIPE not in found


@pytest.mark.toolchain
def test_nvcc_compiles_them_without_a_warning(tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(PLAIN, tmp_path, nvcc) == ()
