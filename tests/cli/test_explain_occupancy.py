"""`explain --occupancy`: the levels of the kernel that runs, predicted or measured, and why one of them is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.driver import Options, compile_file
from comprehensive.tuning.winners import Winner, write_winners

# A thread walks through a row, and a block does two things: there are persistent blocks to try, and no tile.
SOFTMAX = """void softmax(int m, int n, const float *a, float *sums, float *y, int B)
{
  int dim = (m + B - 1) / B;
  meta_schedule {
    meta_for (int v = 0; v < dim; v++) {
      meta_for (int u = 0; u < B; u++) {
        int i = v * B + u;
        if (i < m) {
          float sum = 0.0f;
          for (int j = 0; j < n; j++)
            sum += expf(a[i * n + j]);
          sums[i] = sum;
        }
      }
      meta_for (int u = 0; u < B; u++) {
        int i = v * B + u;
        if (i < m)
          for (int j = 0; j < n; j++)
            y[i * n + j] = expf(a[i * n + j]) / sums[i];
      }
    }
  }
}
"""
KERNEL = "softmax_leaf0"
LEVELS = ("", "grid-stride{warps=8}", "grid-stride{warps=16}", "grid-stride{warps=32}")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "softmax.mf"
    path.write_text(SOFTMAX, encoding="utf-8")
    return path


def explained(source: Path, *options: str) -> Result:
    sizes = ("-D", "m=16384", "-D", "n=1024")
    return CliRunner().invoke(
        cli, ["explain", str(source), "--registers", "estimate", "--device", "h200", *sizes, *options]
    )


@pytest.mark.toolchain
@pytest.mark.usefixtures("nvcc")
def test_levels_are_predicted_and_marked_as_such(source: Path) -> None:
    done = explained(source, "--occupancy", "--json")
    assert done.exit_code == 0, done.output
    (told,) = json.loads(done.stdout)["occupancy"]
    assert (told["of"], told["kernel"], told["is_measured"]) == ("leaf 0", KERNEL, False)
    assert tuple(level["passes"] for level in told["levels"]) == LEVELS
    assert sum(level["chosen"] for level in told["levels"]) == 1
    assert told["reason"].startswith("kept: ")


@pytest.mark.toolchain
@pytest.mark.usefixtures("nvcc")
def test_measured_levels_decide_and_tuned_rows_stand_beside_them(source: Path, tmp_path: Path) -> None:
    times = dict(zip(LEVELS, (100.0, 75.0, 76.0, 100.5), strict=True))
    resident = dict(zip(LEVELS, (8, 1, 2, 4), strict=True))
    levels = [
        {
            "passes": passes,
            "threads_per_block": 256,
            "blocks_per_multiprocessor": resident[passes],
            "measured_us": time,
            "not_measured": None,
        }
        for passes, time in times.items()
    ]
    measured = tmp_path / "levels.json"
    measured.write_text(json.dumps([{"kernel": KERNEL, "levels": levels}]))
    digest = compile_file(source, Options(registers="estimate")).plan.source_digest
    row = Winner(
        "softmax",
        "NVIDIA H200",
        "9.0",
        "580.1",
        (("m", 16384), ("n", 1024)),
        (("B", 256),),
        LEVELS[1],
        0,
        75.0,
        9,
        "",
        7,
    )
    tuned = write_winners([row], tmp_path, "softmax", "softmax.mf", digest, "tool")
    files = ("--measured", str(measured), "--tuned", str(tuned))
    done = explained(source, "--occupancy", *files)
    assert done.exit_code == 0, done.output
    assert "occupancy of leaf 0 (softmax_leaf0), measured: 4 of 4:" in done.stdout
    assert "* grid-stride{warps=8}, blocks of 256: 8 warps" in done.stdout
    assert (
        "kept: grid-stride{warps=8}, blocks of 256; of 2 versions within 2 % of the fastest it takes the least of a "
        "multiprocessor: 8 warps, the others 16 or more" in done.stdout
    )
    assert (
        "tuned on NVIDIA H200: B = 256, passes grid-stride{warps=8}, 75.00 us, of 7 candidates" in done.stdout
    )


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.usefixtures("nvcc")
def test_chosen_passes_are_told_with_their_reason(source: Path) -> None:
    done = explained(source, "--occupancy", "--embed", "sm_90")
    assert done.exit_code == 0, done.output
    assert "--passes auto: " in done.stdout


def test_files_need_the_option_and_to_be_what_they_should(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "levels.json"
    file.write_text('{"kernels": 3}')
    assert explained(source, "--measured", str(file)).exit_code == 2
    assert explained(source, "--occupancy", "--leaf", "0").exit_code == 2
    done = explained(source, "--occupancy", "--measured", str(file))
    assert done.exit_code == 2
    assert "[CF0731]" in done.output
    without = CliRunner().invoke(cli, ["explain", str(source), "--registers", "estimate", "--occupancy"])
    assert without.exit_code == 0
    assert "give all sizes a value" in without.stdout
