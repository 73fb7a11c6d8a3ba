"""Functions whose names, types and sizes are unusual, called from Python on the stand-in of a device."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import comprehensive
from comprehensive.driver import Options, compile_file
from comprehensive.generate import write

ODD = """
void sq(long n, unsigned u, const unsigned char x[n * n], unsigned char y[n], int B)
{ meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = x[i] + u; } }

void self(int tile, double self, const double x[tile], double y[tile], int B)
{ meta_schedule block(B) { meta_for (int i = 0; i < tile; i++) y[i] = self * x[i]; } }

static int turn = 0;

void functions(int n, const float x[n], float y[n], int B)
{
  turn = turn + 1;
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = x[i] + 1.0f; }
}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("odd names ü")
    options = Options(registers="estimate")
    (out / "odd.mf").write_text(ODD)
    write(compile_file(out / "odd.mf", options), out, options)
    return out / "odd.json"


def test_dimensions_have_the_types_of_c(odd: Path) -> None:
    module = comprehensive.load(odd, device="cpu")
    assert module.sq.choose(50000, 8).leaf >= 0
    x, y = np.arange(9, dtype=np.uint8), np.zeros(8, np.uint8)
    module.sq(3, 8, x, y)
    assert y.tolist() == [8, 9, 10, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="x has 9 elements where 8999937424 are needed"):
        module.sq(94868, 8, x, y)


def test_names_that_python_or_the_bindings_have_serve_as_well(odd: Path) -> None:
    module = comprehensive.load(odd, device="cpu")
    x, y = np.arange(5.0), np.zeros(5)
    module.self(tile=5, self=2.0, x=x, y=y)
    assert y.tolist() == [0, 2, 4, 6, 8]
    assert "tile_" in module.self.signature
    module["functions"](5, x.astype(np.float32), np.zeros(5, np.float32))
    assert list(module) == ["sq", "self", "functions"]
    with pytest.raises(AttributeError):
        copy.copy(module).missing  # noqa: B018


def test_a_manifest_whose_kernels_lack_a_function_is_refused(odd: Path, tmp_path: Path) -> None:
    for path in (odd.parent / "odd.h", odd.parent / "odd.cu", *odd.parent.glob("cf_*")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    document = json.loads(odd.read_text())
    document["functions"][0]["name"] = "other"
    (tmp_path / "odd.json").write_text(json.dumps(document))
    with pytest.raises(comprehensive.LoadError, match="not of one generation"):
        comprehensive.load(tmp_path / "odd.json", device="cpu")
    document["functions"][0]["arguments"][2]["dims"] = ["n +"]
    (tmp_path / "odd.json").write_text(json.dumps(document))
    with pytest.raises(comprehensive.LoadError, match="damaged"):
        comprehensive.load(tmp_path / "odd.json", device="cpu")


CUBE = """
void cube(int n, float y[n][n][n], int B0, int B1, int B2)
{
  meta_schedule block(B0, B1, B2) {
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < n; j++)
        meta_for (int k = 0; k < n; k++)
          y[i][j][k] = 1;
  }
}
"""


def test_choosing_and_calling_agree_where_only_the_device_sets_a_limit(tmp_path: Path) -> None:
    options = Options(registers="estimate")
    (tmp_path / "cube.mf").write_text(CUBE)
    write(compile_file(tmp_path / "cube.mf", options), tmp_path, options, verify=False)
    cube = comprehensive.load(tmp_path / "cube.json", device="cpu").cube
    y = np.zeros((140, 140, 140), np.float32)
    parameters = {"B0": 128, "B1": 1, "B2": 1}
    for call in (lambda: cube(140, y, **parameters), lambda: cube.choose(140, **parameters)):
        with pytest.raises(comprehensive.LaunchError, match=r"threads along z .needed: 128, available: 64"):
            call()
