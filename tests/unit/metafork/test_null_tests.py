"""Questions of a region whether data is there: the scalars that they become, and what programs with them compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import comprehensive
from comprehensive import verification
from comprehensive.bindings.load import Module
from comprehensive.bindings.torch_op import schema_of
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.metafork.printer import print_stmts
from comprehensive.soundness.emulated import build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.unit.metafork.trees import parse_text

HEAD = "void f(int n, const float *a, const float w[n], float (*m)[n], float y[n])\n"

QUESTIONS = {
    "if (a) y[i] = a[i];": "if (has_a)\n  y[i] = a[i];",
    "y[i] = a ? a[i] : 0;": "y[i] = has_a ? a[i] : 0;",
    "y[i] = a != NULL && w ? w[i] : a == 0;": "y[i] = has_a && has_w ? w[i] : !has_a;",
    "if (NULL == m || !a) y[i] = 1;": "if (!has_m || !has_a)\n  y[i] = 1;",
    "while (a) break;": "while (has_a)\n  break;",
    "y[i] = !!a + (bool)w;": "y[i] = !!has_a + (bool)has_w;",
    "y[i] = at(a, i);": "y[i] = has_a ? a[i] : 1;",
    "y[i] = at(a + n, i);": "y[i] = has_a ? a[n + i] : 1;",
}

PROGRAM = """
#include <stddef.h>
static float at(const float *b, int j) { return b ? b[j] : 1.0f; }
void product(int n, int m, int k, const float a[n][k], const float w[k][m], const float *bias,
             const float scale[m], float c[n][m], float *sums, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < m; j++) {
        float s = 0;
        for (int l = 0; l < k; l++) s += a[i][l] * w[l][j];
        if (bias) s += bias[j];
        c[i][j] = scale == NULL ? s : scale[j] * s;
        if (sums) sums[i * m + j] = s;
      }
  }
}
void window(int n, const float *c, const float x[n], float y[n], int B)
{
  meta_schedule block(B) cache(c, x) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = x[i - 1] + x[i + 1] + (c != 0 ? c[i - 1] + c[i + 1] : at(c, i));
  }
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      if (c && c[0] > 0) y[i] += 1;
  }
}
void of_host(int n, const float *bias, float w[n], float y[n], int B)
{
  int has = bias != 0, both = bias && w;
  if (!w) return;
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) { if (has) y[i] += bias[i]; if (both) y[i] += w[i]; }
  }
  if (bias)
    meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] += bias[0]; }
}
"""


OF_HOST = {
    "if (a) §": True,
    "if (a != NULL && n > 3) §": True,
    "if (!a) return; §": True,
    "int k = a && w ? 1 : 2; §": True,
    "float *p = a ? y : w; §": True,
    "if (a[0]) §": False,
    "if (!a[0]) §": False,
    "int k = first(a) && n; §": False,
    "int k = (int)(a - w == 0); §": False,
    "int k = n ? *a : 0; §": False,
}


@pytest.fixture(scope="module")
def module() -> Module:
    if find_cxx_compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    return comprehensive.compile(PROGRAM, name="optional", registers="estimate").load(device="cpu")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_a_scalar_of_host_code(question: str) -> None:
    helper = "static float at(const float *b, int j) { return b ? b[j] : 1; }\n"
    text = f"{helper}{HEAD}{{ meta_schedule block(8) {{ meta_for (int i = 0; i < n; i++) {question} }} }}"
    program, sink = parse_text(text)
    assert not sink.has_errors, sink.diagnostics
    (function,) = program.functions
    (region,) = function.regions
    found = "\n".join(line.strip() for line in print_stmts(region.body).splitlines())
    assert "\n".join(line.strip() for line in QUESTIONS[question].splitlines()) in found
    asked = {p.name for p in function.parameters if p.may_be_null}
    assert {s.pointer for s in region.scalars} == asked
    # What nobody promises is not read before the question is answered.
    assert all(p.pointer or p.dims[0] is None for p in function.parameters if p.name in asked)


def test_programs_compute_what_the_serial_c_does_where_data_is_there_and_where_it_is_not(
    tmp_path: Path,
) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM, encoding="utf-8")
    report = verification.verify(compile_file(path, Options(registers="estimate")), points=6, run=True)
    assert report.holds


@pytest.mark.parametrize("host", OF_HOST)
def test_host_code_may_ask_as_well_and_not_use_data(host: str) -> None:
    region = "meta_schedule block(8) { meta_for (int i = 0; i < n; i++) y[i] += a[i]; }"
    helper = "static int first(const float *b) { return b[0] > 0; }\n"
    head = "void f(int n, float a[n], float *w, float y[n])\n"
    program, sink = parse_text(f"{helper}{head}{{\n  {host.replace('§', region)}\n}}\n")
    assert ("CF0215" in {d.code for d in sink.diagnostics}) != OF_HOST[host], sink.diagnostics
    if OF_HOST[host]:
        assert next(p for p in program.functions[0].parameters if p.name == "a").may_be_null


def test_a_product_with_data_that_may_be_missing_has_the_tiles_of_any_product(tmp_path: Path) -> None:
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM.replace("if (sums) sums[i * m + j] = s;", ""), encoding="utf-8")
    product, *_ = compile_file(path, Options(registers="estimate")).plan.functions
    (region,) = product.regions
    assert "product" in {tiling.recipe for tiling in region.tilings}


def test_null_pointers_come_from_python_as_none(module: Module) -> None:
    n, m, k = 5, 4, 3
    random = np.random.default_rng(0)
    a, w, bias, scale = (random.integers(-3, 4, size).astype(np.float32) for size in ((n, k), (k, m), m, m))
    c, sums = np.zeros((n, m), np.float32), np.zeros((n, m), np.float32)
    module.product(n, m, k, a, w, bias, scale, c, sums)
    assert (sums == a @ w + bias).all()
    assert (c == scale * sums).all()
    module.product(n, m, k, a, w, None, None, c, None)
    assert (c == a @ w).all()
    with pytest.raises(ValueError, match="bias has 3 elements where 4 are needed at n = 5, m = 4"):
        module.product(n, m, k, a, w, bias[:3], scale, c, sums)
    with pytest.raises(TypeError, match=r"w \(NoneType\) is no array"):
        module.product(n, m, k, a, None, bias, scale, c, sums)


def test_parameters_are_chosen_as_if_data_were_there(module: Module) -> None:
    chosen = module.product.choose(1024, 1024, 64)
    assert chosen.parameters["B0"] * chosen.parameters["B1"] >= 32
    assert chosen.cycles > module.product.choose(1024, 1024, 64, sums=None).cycles


def test_operators_of_torch_take_none_as_well(module: Module) -> None:
    schema = schema_of(module.product)
    assert "Tensor w, Tensor? bias, Tensor? scale, Tensor(a7!) c, Tensor(a8!)? sums" in schema


def test_a_null_pointer_goes_through_a_process_with_sanitizers(tmp_path: Path) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM, encoding="utf-8")
    compilation = compile_file(path, Options(registers="estimate"))
    kernels = build(compilation, outputs(compilation), tmp_path, c=c, cxx=cxx, sanitize=True).kernels
    x, y = np.ones(9, np.float32), np.zeros(9, np.float32)
    outcome = kernels.call("window", {"n": 9, "c": None, "x": x, "y": y}, {"B": 4})
    assert outcome.status == 0
    assert y.tolist() == [0, *[3.0] * 7, 0]


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("const float *q = a;", True),
        ("const float *p = w, *q = a, *r = p;", True),
        ("const float *q = a + n;", False),
        ("const float *q = a; if (n > 3) q = w;", False),
    ],
)
def test_a_pointer_of_host_code_to_all_of_a_parameter_is_there_where_that_is(
    host: str, is_known: bool
) -> None:
    region = "meta_schedule block(8) { meta_for (int i = 0; i < n; i++) y[i] = q ? q[i] : 0; }"
    program, sink = parse_text(f"{HEAD}{{ {host} {region} }}\n")
    assert ("CF0205" in {d.code for d in sink.diagnostics}) != is_known, sink.diagnostics
    if is_known:
        (function,) = program.functions
        assert [s.pointer for s in function.regions[0].scalars] == ["a"]
        assert {p.name for p in function.parameters if p.may_be_null} == {"a"}
