"""`gen --emit polyhedra`: sets and maps that isl reads, footprints that runs touch, and the same as data."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import islpy
import pytest
from click.testing import CliRunner

from comprehensive import cli
from comprehensive.data import spec_directory
from tests.schemas import schema_faults

isl: Any = islpy
STENCIL = """\
void stencil(int n, const float x[n], float y[n])
{
  meta_schedule block(32) cache(x) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = x[i - 1] + x[i + 1];
  }
}
"""
CONDITIONAL = """\
void some(int n, const int *p, const float a[n][n], float c[n*n], int B)
{
  int dim = n / B;
  meta_schedule {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 2; k < n; k += 3) {
          int i = v * B + u;
          if (p[i] > 0 && k != i) c[i*n + k] = a[i][p[k]];
        }
  }
}
"""


def emitted(source: Path, *arguments: str) -> str:
    words = ["gen", str(source), "--emit", "polyhedra", "--registers", "estimate", *arguments]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def written(folder: Path, text: str) -> Path:
    path = folder / "program.mf"
    path.write_text(text, encoding="utf-8")
    return path


def region(source: Path) -> Any:
    document = json.loads(emitted(source, "--json"))
    assert schema_faults("polyhedra", document) == []
    (found,) = document["regions"]
    return found


def test_isl_reads_domains_accesses_and_dependences_without_products(tmp_path: Path) -> None:
    found = region(written(tmp_path, STENCIL))
    for reference in found["references"]:
        domain, access = isl.Set(reference["domain"]), isl.Map(reference["access"])
        assert domain.is_subset(access.domain())
        touched = domain.apply(access)
        array = isl.Set(f"[n] -> {{ {reference['array']}[e] : 0 <= e < n }}")
        assert touched.is_subset(array)
    write = next(r for r in found["references"] if r["mode"] == "write")
    every = isl.Set("[n] -> { y[e] : 1 <= e < n - 1 }")
    assert isl.Set(write["domain"]).apply(isl.Map(write["access"])).is_equal(every)
    for dependence in found["dependences"]:
        relation = dependence["relation"].replace("R", "S")
        same = isl.Map(relation)
        assert not same.is_empty()


def test_blocks_of_a_stencil_touch_their_points_and_the_neighbours(tmp_path: Path) -> None:
    found = region(written(tmp_path, STENCIL))
    block = next(f for f in found["footprints"] if (f["array"], f["level"]) == ("x", "grid"))
    assert block["elements"] == "34"
    assert {verdict["verdict"] for verdict in found["parallel"]} == {"parallel"}


def test_domains_and_accesses_of_a_product_are_those_of_its_loops() -> None:
    """Evaluated at small parameters, what is printed touches what figure 3 touches."""
    found = region(spec_directory() / "matmul.mf")
    values = {"n": 8, "B0": 2, "ub1": 2, "s": 2, "dim0": 4, "dim1": 2}
    write = next(r for r in found["references"] if r["array"] == "c")
    names = [counter["name"] for counter in write["counters"]]
    ranges = [range(eval(counter["extent"], {}, values)) for counter in write["counters"]]
    touched = {
        tuple(eval(s, {}, {**values, **dict(zip(names, point, strict=True))}) for s in write["subscripts"])
        for point in product(*ranges)
    }
    assert touched == set(product(range(8), range(8)))
    counts = {(f["array"], f["level"]): f["count"] for f in found["footprints"]}
    assert counts["a", "block"] == "B0*B0"
    assert counts["b", "block"] == "B0*s*ub1"
    assert counts["c", "thread"] == "s"


def test_text_has_what_is_no_polynomial_and_what_is_left_out(tmp_path: Path) -> None:
    text = emitted(written(tmp_path, CONDITIONAL))
    assert "taken as possibly true: p[i] > 0" in text
    assert "access  not a polynomial: p[k]" in text
    assert "R0[v, u, k]" in text
    assert " or " in text, "k != i is two cases"
    assert "footprints" in text


@pytest.mark.parametrize("spec", ["jacobi1d", "transpose", "matadd"])
def test_text_and_data_name_the_same_references(spec: str) -> None:
    source = spec_directory() / f"{spec}.mf"
    text = emitted(source)
    for found in json.loads(emitted(source, "--json"))["regions"]:
        for reference in found["references"]:
            assert f"R{reference['number']}: {reference['mode']} {reference['text']}" in text
        for footprint in found["footprints"]:
            for box in footprint.get("boxes", []):
                assert box["set"] in text
