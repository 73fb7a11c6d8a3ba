"""Walks of a thread load what several turns read before the first of them, where that is the same, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.codegen.cuda import print_kernel
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.loops.ir import Variant
from comprehensive.lowering.lower import lower
from comprehensive.soundness.emulated import build, run_leaves
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.unit.loops.nests import nest_of

PARAMETERS = "int n, int m, int B, const double b[n][m], double x[n][m], float y[n][m], int at[n]"
HEAD = "meta_for (int v = 0; v < m / B; v++) meta_for (int u = 0; u < B; u++)"

WALKS = {
    "filter": ("double s = 0; for (int r = 0; r < n; r++) { s = x[r][c] + 0.5 * s; x[r][c] = s; }", 8),
    "update": ("double s = 0; for (int r = 0; r < n; r++) { s = 0.5 * s + b[r][c]; x[r][c] *= s; }", 8),
    "read elsewhere": (
        "double s = 0; for (int r = 0; r < n; r++) { s = s / (b[r][c] + y[r][c]); x[r][c] = x[r][c] * s + s; }",
        4,
    ),
    "of a condition": (
        "double s = 0; for (int r = 0; r < n; r++) { if (x[r][c] < s) x[r][c] = s; s = s * 0.5 + b[r][c]; }",
        8,
    ),
}
OTHERS = {
    "nothing handed on": "for (int r = 0; r < n; r++) x[r][c] = 2 * x[r][c];",
    "of another array": "double s = 0; for (int r = 0; r < n; r++) { s = b[r][c] + 0.5 * s; x[r][c] = s; }",
    "of the turn before": "double s = 0; for (int r = 1; r < n; r++) { s += x[r - 1][c]; x[r][c] = s; }",
    "perhaps": "double s = 0; for (int r = 0; r < n; r++) { if (s < 3) s += x[r][c]; x[r][c] = s; }",
    "stored before": "double s = 0; for (int r = 0; r < n; r++) { x[r][c] = s; s = x[r][c] + 1; }",
    "at a place of data": (
        "double s = 0; for (int r = 0; r < n; r++) { s += x[at[r]][c]; if (s < 0) x[at[r]][c] = s; }"
    ),
}


def region(body: str) -> str:
    return f"{HEAD} {{ int c = v * B + u; {body} }}"


def printed(body: str) -> str:
    return print_kernel(lower(Variant(nest_of(region(body), PARAMETERS)), "kernel"))


@pytest.mark.parametrize("name", WALKS)
def test_what_turns_read_is_loaded_ahead(name: str) -> None:
    body, turns = WALKS[name]
    text = printed(body)
    assert f"ahead_x[{turns}]" in text
    assert (
        text.index("ahead_x[z] = x[") < text.index("x[r * x_stride0 + c] = ") if "x_stride0" in text else True
    )


@pytest.mark.parametrize("name", OTHERS)
def test_what_must_or_need_not_wait_is_not_loaded_ahead(name: str) -> None:
    assert "ahead_" not in printed(OTHERS[name])


def test_two_loops_with_one_iterator_are_two_walks() -> None:
    body, _ = WALKS["filter"]
    again = "double t = 0; for (int r = 0; r < n; r++) { t = x[r][c] + 0.5 * t; x[r][c] = t; }"
    assert printed(f"{body} {again}").count("// load_ahead(x)") == 2


def test_kernels_that_load_ahead_compute_what_the_serial_c_does(tmp_path: Path) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    used = PARAMETERS.removesuffix(", int at[n]")
    functions = [
        f"void f{number}({used})\n{{\n  meta_schedule {{ {region(body)} }}\n}}\n"
        for number, (body, _) in enumerate(WALKS.values())
    ]
    path = tmp_path / "walks.mf"
    path.write_text("\n".join(functions))
    compilation = compile_file(path, Options(registers="estimate"))
    executables = build(compilation, outputs(compilation), tmp_path, c=c, cxx=cxx, sanitize=True)
    for leaf in run_leaves(compilation, executables, 6, seed=3):
        assert leaf.failures == (), f"{leaf.region} leaf {leaf.leaf}"
