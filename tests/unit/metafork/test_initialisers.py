"""Braces behind a local array give its elements what they give them in C."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from comprehensive.loops.interpreter import run
from comprehensive.metafork.ast import Declare
from comprehensive.metafork.walk import names, own_expressions, statements_in
from tests.unit.loops.c_oracle import compile_c, needs_gcc, pointer
from tests.unit.loops.nests import nests_of
from tests.unit.metafork.trees import parse_text

ARRAYS = {
    "w[4] = {0.5f, 2}": (4,),
    "w[] = {1, 2, 3,}": (3,),
    "w[3] = {}": (3,),
    "w[2] = {{1}, x}": (2,),
    "w[2][3] = {{1, 2}, {x}}": (2, 3),
    "w[2][3] = {1, 2, 3, 4}": (2, 3),
    "w[][3] = {1, {2}, 4}": (1, 3),
    "w[][2] = {{1}, {2}, 3}": (3, 2),
    "w[3][2][2] = {{{1}}, 2, 3, 4, 5, {{6, 7}}}": (3, 2, 2),
    "w[5][5] = {0}": (5, 5),
    "w[40] = {7, 0, x * 2}": (40,),
}


@needs_gcc
@pytest.mark.parametrize("declarator", list(ARRAYS))
def test_elements_are_those_of_gcc(declarator: str, tmp_path: Path) -> None:
    shape = ARRAYS[declarator]
    count = int(np.prod(shape))
    subscripts, rest = "", count
    for extent in shape:
        rest //= extent
        subscripts += f"[k / {rest} % {extent}]"
    inner = f"float {declarator}; for (int k = 0; k < {count}; k++) out[k] = w{subscripts};"
    text = f"void f(float x, float *out) {{ {inner} }}"
    library = compile_c(text, tmp_path)
    found, wanted = np.zeros(count, "float32"), np.zeros(count, "float32")
    library.f(ctypes.c_float(1.25), pointer(wanted))
    region = f"meta_schedule block(1) {{ meta_for (int i = 0; i < 1; i++) {{ {inner} }} }}"
    (nest,) = nests_of(f"void f(float x, float *out) {{ {region} }}")
    assert run(nest, {"x": 1.25}, {"out": found})["out"].tolist() == wanted.tolist()


def test_the_names_of_loops_that_clear_are_free() -> None:
    region = "meta_schedule block(B) { meta_for (int w_0 = 0; w_0 < n; w_0++) { float w[99] = {0}; a[w_0] = w[1]; } }"
    program, sink = parse_text(f"void f(int n, float *a, int B) {{ {region} }}")
    assert sink.diagnostics == ()
    body = program.functions[0].regions[0].body
    assert "w_0_1" in {name for s in statements_in(body) for e in own_expressions(s) for name in names(e)}
    assert not any(isinstance(s, Declare) and s.elements is not None for s in statements_in(body))


@pytest.mark.parametrize(
    ("declaration", "code"),
    [
        ("float w[2] = {1, 2, 3};", "CF0124"),
        ("float w[2][2] = {{1, 2, 3}};", "CF0124"),
        ("float w[2] = {{1, 2}};", "CF0124"),
        ("float w = {1, 2};", "CF0124"),
        ("const float w[2] = {1}; if (i > 2) w[1] = 2;", "CF0209"),
        ("float w[n] = {1};", "CF0213"),
        ("float w[] = {};", "CF0213"),
        ("float w[2] = 1;", "CF0218"),
    ],
)
def test_wrong_braces_are_errors(declaration: str, code: str) -> None:
    region = f"meta_schedule block(B) {{ meta_for (int i = 0; i < n; i++) {{ {declaration} a[i] = 1; }} }}"
    _, sink = parse_text(f"void f(int n, float *a, int B) {{ {region} }}")
    assert [d.code for d in sink.diagnostics] == [code]
