"""Products of 16-bit elements on tensor cores: on the CPU, which does what a warp does, against the serial C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
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

RECIPE = "mixed-precision product"
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
    parameters="const half a[m][k], const half b[k][n], half c[m][n]",
    body="float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s;",
)
ROWS = {"a": (("m", "k"), "f2"), "b": (("k", "n"), "f2"), "c": (("m", "n"), "f2")}
# Rows of 16 bytes, of pairs, of neither; pieces that are whole and that are not.
RUNS = [
    {"m": m, "n": n, "k": k, "B0": 3, "B1": 5}
    for m, n, k in ((130, 136, 72), (67, 70, 66), (33, 41, 67), (3, 5, 0), (0, 4, 9), (1, 1, 1), (2, 264, 64))
]
CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "two matrices": (PLAIN, ROWS),
    "both turned, converted by the program, added to what is there": (
        PRODUCT.format(
            parameters="const half a[k][m], const half b[n][k], float c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] = __half2float(b[j][l]) * __half2float(a[l][i]) + c[i][j];",
        ),
        {"a": (("k", "m"), "f2"), "b": (("n", "k"), "f2"), "c": (("m", "n"), "f4")},
    ),
    "a lower triangle, and what follows the loop reads several values": (
        PRODUCT.format(
            parameters="const half a[m][k + 1], const half b[k][n], const float d[n], float c[m][n]",
            body="if (j <= i) { float scale = 2 * d[j]; float s = scale; "
            "for (int l = 0; l < k; l++) s += a[i][l + 1] * b[l][j]; c[i][j] = s + scale; }",
        ),
        {"a": (("m", "k + 1"), "f2"), "b": (("k", "n"), "f2"), "d": (("n",), "f4"), "c": (("m", "n"), "f4")},
    ),
    "many products": (
        """void f(int m, int n, int k, const half a[4][m][k], const half b[4][k][n], float c[4][m][n], int B0, int B1)
{
  meta_schedule block(1, B0, B1) {
    meta_for (int p = 0; p < 4; p++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {
          float s = 0;
          for (int l = 0; l < k; l++) s += a[p][i][l] * b[p][l][j];
          c[p][i][j] = s > 9.0f ? s : 0.0f;
        }
  }
}
""",
        {"a": ((4, "m", "k"), "f2"), "b": ((4, "k", "n"), "f2"), "c": ((4, "m", "n"), "f4")},
    ),
}


@pytest.mark.parametrize(
    "name", quick_of(CASES, {"both turned, converted by the program, added to what is there"})
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert run_all(source, arrays, RUNS, tmp_path, reassociate=True) == set()


def test_products_of_bfloat16_are_those_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "f.mf"
    path.write_text(PLAIN.replace("half", "bfloat16"), encoding="utf-8")
    command = ["check", str(path), "--reassociate", "--registers", "estimate", "--points", "2"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    assert (
        "cf_multiply_add<__nv_bfloat16>"
        in texts_of(path.read_text(encoding="utf-8"), reassociate=True)["f.cu"]
    )


def fitted(body: str, parameters: str, *, allowed: bool = True) -> Applied[object] | NotApplicable | None:
    (nest,) = nests_of(PRODUCT.format(parameters=parameters, body=body))
    found = {each.recipe: each.result for each in tilings(normalize(nest), in_another_order=allowed)}
    return found.get(RECIPE)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("s -= a[i][l] * b[l][j];", "adds something else"),
        ("s += 2 * a[i][l] * b[l][j];", "multiplies something else"),
        ("s += a[i][l] * x[l];", "do not lie along one coordinate each"),
        ("s += a[i][l] * g[l][j];", "the elements of 'g' are not of type '__half'"),
        ("s += a[i][l] * h[l][j];", "the elements of 'h' are not of type '__half'"),
        ("t += a[i][l] * b[l][j];", "the sum is not of type 'float'"),
        ("s += (double)a[i][l] * b[l][j];", "multiplies something else"),
    ],
)
def test_what_is_no_multiply_add_of_such_elements_is_refused(step: str, reason: str) -> None:
    parameters = (
        "const half a[m][k], const half b[k][n], const half x[k], "
        "const float g[k][n], const bfloat16 h[k][n], float c[m][n]"
    )
    body = f"float s = 0; double t = 0; for (int l = 0; l < k; l++) {step} c[i][j] = s + t;"
    found = fitted(body, parameters)
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_the_order_of_the_source_leaves_it_out() -> None:
    parameters = "const half a[m][k], const half b[k][n], float c[m][n]"
    body = "float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s;"
    assert isinstance(fitted(body, parameters), Applied)
    left_out = fitted(body, parameters, allowed=False)
    assert isinstance(left_out, NotApplicable)
    assert "which --reassociate allows" in left_out.reason


def test_products_of_floats_are_another_recipe() -> None:
    parameters = "const float a[m][k], const float b[k][n], float c[m][n]"
    assert (
        fitted("float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; c[i][j] = s;", parameters)
        is None
    )


def test_header_and_manifest_say_so() -> None:
    made = texts_of(PLAIN, reassociate=True)
    assert "Tiles add up sums in another order (--reassociate)." in made["f.h"]
    tiles = json.loads(made["f.json"])["functions"][0]["regions"][0]["tiles"]
    (tile,) = (tile for tile in tiles if tile["recipe"] == RECIPE)
    assert (tile["tensor_cores"], tile["reassociated"], tile["together"]) == (True, True, [4, 2, 1])
    assert made["f.h"].count("cf_launch.tensor_cores = 2;") == len(tile["instances"])


def test_it_is_chosen_where_there_are_tensor_cores() -> None:
    (region,) = compilation_of(PLAIN, reassociate=True).plan.functions[0].regions
    values = {"m": 4096, "n": 4096, "k": 4096, "B0": 16, "B1": 16}
    numbers = {device: chosen_for(region, device, values) for device in ("h200", "sm_75", "sm_86")}
    assert {device for device, recipe in numbers.items() if recipe == RECIPE} == {"h200", "sm_86"}


def chosen_for(region: RegionPlan, device: str, values: dict[str, int]) -> str:
    """The recipe of the tile that is launched."""
    found = candidates(region, load_device(device).machine(), values, addresses={}, sweeps_left=1)
    best = chosen(found, sweeps_left=1)
    assert best is not None
    tiling = region.tiling_of(best.number + len(region.leaves) - 1)
    return "" if tiling is None else tiling[0].recipe


def test_counts_of_a_piece_are_those_by_hand() -> None:
    """16 x 16 threads with 8 x 16 sums each, 64 steps: 8 warps of 4 x 32 instructions, each of 2048 multiply-adds."""
    (region,) = compilation_of(PLAIN, reassociate=True).plan.functions[0].regions
    plan = next(tiling for tiling in region.tilings if tiling.recipe == RECIPE)
    assert plan.instances[0].sizes == (16, 16, 8, 16, 64, 3, 1)
    work = plan.work(plan.instances[0], 4)
    multiplied, loaded = 8 * 4 * 32, 8 * 4 * (4 + 4)
    copies = (128 * 64 + 64 * 256) * 2 // 16 // 32
    assert work.step.wide == multiplied * 2048 // 32
    assert work.step.barriers == 1
    assert work.step.instructions == multiplied + 2 * loaded + (3 + 1) * copies
    # Four matrices of 8 rows of 16 bytes are four wavefronts, since no two rows are in one bank.
    assert work.step.wavefronts == 4 * loaded + 2 * (128 * 64 + 64 * 256) * 2 // 128
    assert 4 * work.shared_words == 3 * 2 * (128 * (64 + 8) + 64 * (256 + 8))


@pytest.mark.toolchain
def test_nvcc_compiles_all_instances_without_a_warning(tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(PLAIN, tmp_path, nvcc, reassociate=True) == ()
