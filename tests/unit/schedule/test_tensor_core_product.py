"""Products of doubles on tensor cores: on the CPU, which does what a warp does together, against the serial C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from comprehensive.loops.normalize import normalize
from comprehensive.machine.device import load_device
from comprehensive.model.choice import candidates, chosen
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.plan.plan import RegionPlan
from comprehensive.strategies.tilings import tilings
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.unit.schedule.tile_runs import compilation_of, run_all, texts_of, warnings_of

RECIPE = "tensor-core product"
PRODUCT = """void f(int m, int n, int k, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
PLAIN = PRODUCT.format(
    parameters="const double *a, const double *b, double *c",
    body="double sum = 0.0; for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j]; c[i * n + j] = sum;",
)
ROWS = {"a": (("m", "k"), "f8"), "b": (("k", "n"), "f8"), "c": (("m", "n"), "f8")}
RUNS = [
    {"m": m, "n": n, "k": k, "B0": 3, "B1": 5}
    for m, n, k in ((130, 132, 36), (67, 70, 33), (16, 8, 16), (3, 5, 0), (0, 4, 9), (1, 1, 1), (2, 65, 15))
]
CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "two matrices": (PLAIN, ROWS),
    "both turned, added to what is there": (
        PRODUCT.format(
            parameters="const double a[k][m], const double b[n][k], double c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] = b[j][l] * a[l][i] + c[i][j];",
        ),
        {"a": (("k", "m"), "f8"), "b": (("n", "k"), "f8"), "c": (("m", "n"), "f8")},
    ),
    "a lower triangle": (
        PRODUCT.format(
            parameters="const double a[m][k], const double b[k][n], double c[m][n]",
            body="if (j <= i) { double s = c[i][j]; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s; }",
        ),
        ROWS,
    ),
    "a sum that begins as -0, with more before and after it": (
        PRODUCT.format(
            parameters="const double a[m][k + 1], const double b[k][n + 3], const double *bias, "
            "float c[m][n]",
            body="double s = bias[j] * -0.0; double scale = 3; "
            "for (int l = 0; l < k; l++) s = s + a[i][l + 1] * b[l][j + 3]; c[i][j] = scale * s;",
        ),
        {
            "a": (("m", "k + 1"), "f8"),
            "b": (("k", "n + 3"), "f8"),
            "bias": (("n",), "f8"),
            "c": (("m", "n"), "f4"),
        },
    ),
}


@pytest.mark.parametrize("name", quick_of(CASES, {"both turned, added to what is there"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert run_all(source, arrays, RUNS, tmp_path) == set()


def fitted(body: str, parameters: str) -> Applied[object] | NotApplicable | None:
    (nest,) = nests_of(PRODUCT.format(parameters=parameters, body=body))
    found = {tiling.recipe: tiling.result for tiling in tilings(normalize(nest))}
    return found.get(RECIPE)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("s -= a[i][l] * b[l][j];", "adds something else"),
        ("s += 2 * a[i][l] * b[l][j];", "multiplies something else"),
        ("s += a[i][l] * b[l][j] + 1;", "adds something else"),
        ("s += a[i][l] * x[l];", "do not lie along one coordinate each"),
        ("s += a[i][l] * h[l][j];", "the elements of 'h' are not of type 'double'"),
        ("{ s += a[i][l] * b[l][j]; t += a[i][l]; }", "more than one multiply-add"),
        ("t += a[i][l] * b[l][j];", "the sum is not of type 'double'"),
    ],
)
def test_what_is_no_multiply_add_of_doubles_is_refused(step: str, reason: str) -> None:
    parameters = "double a[m][k], double b[k][n], double x[k], float h[k][n], double c[m][n]"
    found = fitted(
        f"double s = 0; float t = 0; for (int l = 0; l < k; l++) {step} c[i][j] = s + t;", parameters
    )
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_products_of_floats_are_another_recipe() -> None:
    parameters = "float a[m][k], float b[k][n], float c[m][n]"
    body = "float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s;"
    assert fitted(body, parameters) is None


def test_header_and_manifest_say_so() -> None:
    made = texts_of(PLAIN)
    assert "last places of subnormal sums on tensor cores" in made["f.h"]
    assert made["f.h"].count("CF_TENSOR_CORES &&") == made["f.h"].count("cf_launch.tensor_cores = 8;") == 2
    tiles = json.loads(made["f.json"])["functions"][0]["regions"][0]["tiles"]
    assert {tile["recipe"]: tile["tensor_cores"] for tile in tiles if not tile["because"]} == {
        "product": False,
        RECIPE: True,
    }


def test_it_is_chosen_where_there_are_tensor_cores() -> None:
    (region,) = compilation_of(PLAIN).plan.functions[0].regions
    numbers = {
        device: chosen_for(region, device, {"m": 4096, "n": 4096, "k": 4096, "B0": 16, "B1": 16})
        for device in ("h200", "sm_75", "sm_86")
    }
    on_tensor_cores = {device for device, recipe in numbers.items() if recipe == RECIPE}
    assert on_tensor_cores == {"h200"}


def chosen_for(region: RegionPlan, device: str, values: dict[str, int]) -> str:
    """The recipe of the tile that is launched."""
    found = candidates(region, load_device(device).machine(), values, addresses={}, sweeps_left=1)
    best = chosen(found, sweeps_left=1)
    assert best is not None
    tiling = region.tiling_of(best.number + len(region.leaves) - 1)
    return "" if tiling is None else tiling[0].recipe


def test_counts_of_a_piece_are_those_by_hand() -> None:
    """16 x 16 threads with 8 x 8 sums each, 16 steps: 8 warps of 2 x 16 instructions, each of 1024 multiply-adds."""
    (region,) = compilation_of(PLAIN).plan.functions[0].regions
    plan = next(tiling for tiling in region.tilings if tiling.recipe == RECIPE)
    work = plan.work(plan.instances[0], 4)
    multiplied = 8 * 2 * 16
    read = 8 * 2 * (8 * 2 + 4 * 2)  # of shared memory, 8 bytes a thread without conflicts: two wavefronts
    staged = 2 * 128 * 16 // 2 // 32
    assert work.step.wide == multiplied * 1024 // 32
    assert work.step.bytes == 2 * 128 * 16 * 8
    assert work.step.barriers == 1
    # What is read ahead of time is read before the loop once and in every piece: in the model as in the kernel.
    assert work.step.instructions == multiplied + 2 * read + (3 + 1) * staged
    assert work.step.wavefronts == 2 * read + 2 * (2 * 128 * 16 * 8 // 128)
    assert (work.ahead, work.threads, 4 * work.shared_words) == (3, 256, 149504)


@pytest.mark.toolchain
def test_nvcc_compiles_all_instances_without_a_warning(tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(PLAIN, tmp_path, nvcc) == ()
