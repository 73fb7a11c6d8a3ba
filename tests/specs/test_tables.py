"""Constant arrays of the file at subscripts that are not known: in the memory of the device, once a program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.verification import verify
from comprehensive.verification_report import to_text

TEXT = """enum { K = 3 };
static const float w[K][2] = {{0.25f, 1}, {0.5, -2}, {0.1}};
static const int turn[] = {3, 1, 2, 0, 7, 6, 5, 4};
static const unsigned char lut[256] = {1, 2, 3, 250, 17};

static float at(int k, int side) { return w[k % K][side]; }

void mixed(int n, const float x[n], float y[n], int z[n], int side, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      y[i] = at(i, side & 1) * x[i] + w[1][0];
  }
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      z[i] = lut[(unsigned char)z[i]] + turn[i % 8];
  }
}

void shuffled(int n, const float x[n][8], float y[n][8])
{
  meta_schedule block(8, 8) cache(turn) {
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < 8; j++)
        y[i][turn[j]] = x[i][j];
  }
}

void far(int n, const float x[n], float y[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n - 255; i++) {
      float s = 0;
      for (int k = 0; k < 256; k++)
        s += lut[k] * x[i + k];
      y[i] = s;
    }
  }
}
"""


@pytest.fixture(scope="module")
def compilation(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    path = tmp_path_factory.mktemp("tables") / "t.mf"
    path.write_text(TEXT, encoding="utf-8")
    return compile_file(path, Options(registers="estimate"))


def test_the_emitted_program_computes_the_same(compilation: Compilation) -> None:
    report = verify(compilation, points=3, run=True)
    assert report.holds, to_text(report)
    assert report.runs
    ran = {run.region for run in report.runs if run.runs > 0}
    assert ran == {"mixed_1", "mixed_2", "shuffled", "far"}, to_text(report)


def test_each_array_is_there_once(compilation: Compilation) -> None:
    written = outputs(compilation)["t.cu"]
    for name, size in (
        (
            "w",
            "float",
        ),
        ("lut", "unsigned char"),
        ("turn", "int"),
    ):
        assert written.count(f"const {size} cf_table_{name}[") == 1
    assert "mixed_2_run(cf_state, z, n, B)" in written


@pytest.mark.slow
@pytest.mark.parametrize("relocatable", ["true", "false"])
def test_nvcc_takes_it(compilation: Compilation, relocatable: str, tmp_path: Path) -> None:
    nvcc = find_tool("nvcc", None)
    if isinstance(nvcc, Missing):
        pytest.skip("no nvcc")
    for name, text in outputs(compilation).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [
        str(nvcc.path),
        f"-rdc={relocatable}",
        "-Xcicc",
        "-O1",
        "-Xptxas",
        "-O1",
        "-c",
        "t.cu",
        "-o",
        "t.o",
    ]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
