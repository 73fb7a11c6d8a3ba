"""Elements that loops update are held in registers where that is the same, bit for bit and access for access."""

from __future__ import annotations

import re
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

PARAMETERS = (
    "int n, int m, int B, const float x[n], float c[n], unsigned char h[n], float t[n][m], float r[n]"
)
HEAD = "meta_for (int v = 0; v < n / B; v++)"
THREADS = "meta_for (int u = 0; u < B; u++)"

ONE_BAND = {
    "sum": ("for (int k = 0; k < n; k++) c[i] += x[k];", True),
    "spelled out": ("for (int k = 0; k < n; k++) c[i] = x[k] * c[i] + 1;", True),
    "narrow": ("for (int k = 0; k < n; k++) h[i] += 77 * k;", True),
    "rounded": ("for (int k = 0; k < n; k++) c[i] += x[k] * 0.1;", True),
    "two": ("for (int k = 0; k < n; k++) { c[i] += x[k]; h[i] += k; }", True),
    "perhaps": ("for (int k = 0; k < n; k++) if (c[i] < x[k]) c[i] = x[k];", True),
    "where": ("for (int k = 0; k < m; k++) if (m < 9) c[i] += k;", True),
    "in loops": ("for (int k = 0; k < m; k++) for (int z = 0; z < n; z++) c[i] += x[z] * k;", True),
    "triangle": ("for (int k = 0; k < m; k++) for (int z = 0; z < k; z++) c[i] += z;", True),
    "not there": ("for (int k = 0; k < m; k++) t[i][m - 1] += x[i] + k;", True),
    "columns": ("for (int k = 0; k < n; k++) for (int w = 0; w < m; w++) t[i][w] += x[k] * w;", True),
    "before and after": ("c[i] = 0; for (int k = 0; k < n; k++) c[i] += x[k]; c[i] = c[i] * 2;", True),
    "not always": ("for (int k = 0; k < n; k++) if (k > 2) c[i] += x[k];", False),
    "left": ("for (int k = 0; k < n; k++) { if (x[k] < -0.5f) break; c[i] += x[k]; }", False),
    "other elements": ("for (int k = 0; k < m; k++) t[i][k] += x[i];", False),
    "one of them": ("for (int k = 0; k < m; k++) t[i][0] += t[i][k];", False),
    "by data": (
        "for (int k = 0; k < m; k++) { int z = 0; while (x[z] < k) { c[i] += 1; z = z + 1; } }",
        False,
    ),
    "more often than where": ("for (int k = 0; k < m; k++) { if (i > 2) c[i] += k; c[i] = c[i] * 2; }", True),
    "where and perhaps": (
        "for (int k = 0; k < m; k++) if (i > 2) { c[i] += k; if (x[k] < 0) c[i] = 1; }",
        True,
    ),
    "here or there": ("for (int k = 0; k < m; k++) if (i > 2) c[i] += k; else c[i] = c[i] * 2;", False),
    "and by data": (
        "for (int k = 0; k < m; k++) { c[i] += k; int z = 0; while (x[z] < k) { c[i] += 1; z = z + 1; } }",
        True,
    ),
    "own array": ("float s[2]; s[0] = 0; for (int k = 0; k < n; k++) s[0] += x[k]; c[i] = s[0];", False),
}
"""The statements of a thread at point ``i``, and whether something is held."""

OTHER = {
    "steps": (
        f"{HEAD} for (int k = 0; k < m; k++) {THREADS} {{ int i = v * B + u; c[i] += x[i] * k; }}",
        True,
    ),
    "steps under a condition": (
        f"{HEAD} for (int k = 0; k < m; k++) {THREADS} {{ int i = v * B + u; if (i < n - 1) c[i] += x[i] * k; }}",
        True,
    ),
    "read by the others": (
        f"{HEAD} for (int k = 0; k < m; k++) {{ {THREADS} {{ if (u == 0) c[v * B] += k; }}"
        f" {THREADS} {{ int i = v * B + u; r[i] = r[i] * 2 + c[v * B]; }} }}",
        True,  # r, and not c
    ),
    "read by the next": (
        f"{HEAD} for (int k = 0; k < m; k++) {{ {THREADS} {{ int i = v * B + u; c[i] = c[i] + x[i]; }}"
        f" {THREADS} {{ int i = v * B + u; if (u + 1 < B) r[i] += c[i + 1]; }} }}",
        True,  # r, and not c
    ),
}


def regions() -> dict[str, tuple[str, bool]]:
    found = {
        name: (f"{HEAD} {THREADS} {{ int i = v * B + u; {body} }}", held)
        for name, (body, held) in ONE_BAND.items()
    }
    return found | OTHER


@pytest.mark.parametrize("name", regions())
def test_what_is_held(name: str) -> None:
    body, held = regions()[name]
    text = print_kernel(lower(Variant(nest_of(body, PARAMETERS)), "kernel"))
    assert ("private_" in text) is held
    if name.startswith("read by"):
        assert "private_c" not in text


def test_an_element_is_held_around_the_outermost_loop_of_one_band() -> None:
    text = print_kernel(lower(Variant(nest_of(regions()["steps"][0], PARAMETERS)), "kernel"))
    assert text.index("private_c = c[") < text.index("for (int k")


def test_an_element_that_may_not_be_there_is_loaded_only_where_the_loop_runs() -> None:
    text = print_kernel(lower(Variant(nest_of(regions()["not there"][0], PARAMETERS)), "kernel"))
    assert text.index("if (0 < m)") < text.index("private_t = t[")


def test_what_happens_under_one_condition_alone_does_not_decide_for_the_others() -> None:
    text = print_kernel(lower(Variant(nest_of(regions()["more often than where"][0], PARAMETERS)), "kernel"))
    assert text.index("float private_c = c[") < text.index("if (i > 2)") < text.rindex("= private_c;")


def used(body: str) -> str:
    """The parameters that a region reads: a size of an array that is not there may be negative."""
    declared = PARAMETERS.split(", ")
    read = [p for p in declared if re.search(rf"\b{re.findall(r'[a-z]+|B', p.split('[')[0])[-1]}\b", body)]
    return ", ".join(read)


@pytest.mark.slow
def test_kernels_with_held_elements_compute_what_the_serial_c_does(tmp_path: Path) -> None:
    """Checked for accesses out of bounds too; the last sizes make arrays and loops empty."""
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    functions = [
        f"void f{number}({used(body)})\n{{\n  meta_schedule {{ {body} }}\n}}\n"
        for number, (body, _) in enumerate(regions().values())
    ]
    path = tmp_path / "held.mf"
    path.write_text("\n".join(functions))
    compilation = compile_file(path, Options(registers="estimate"))
    executables = build(compilation, outputs(compilation), tmp_path, c=c, cxx=cxx, sanitize=True)
    for leaf in run_leaves(compilation, executables, 6, seed=3):
        assert leaf.failures == (), f"{leaf.region} leaf {leaf.leaf}"
