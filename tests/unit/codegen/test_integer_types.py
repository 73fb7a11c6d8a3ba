"""Sizes and iterators of all integer types: the tiles of the same program over ``int``, and what C computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from comprehensive.metafork.printer import print_expr
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, run_all, sources_of

HEADERS = "#include <stddef.h>\n#include <stdint.h>\n"
PRODUCT = (
    HEADERS
    + """void f(TYPE m, TYPE n, TYPE k, const float *a, const float *b, float *c, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (TYPE i = 0; i < m; i++)
      meta_for (TYPE j = 0; j < n; j++) {
        float sum = 0.0f;
        for (TYPE l = 0; l < k; l++)
          sum += a[i * k + l] * b[l * n + j];
        c[i * n + j] = sum;
      }
  }
}
"""
)
BY_HAND = (
    HEADERS
    + """typedef TYPE number;
void f(number m, number n, number k, const float *a, const float *b, float *c, int B0, int B1)
{
  number dim0 = (m + B0 - 1) / B0, dim1 = (n + B1 - 1) / B1;
  meta_schedule {
    meta_for (number v = 0; v < dim0; v++)
      meta_for (number w = 0; w < dim1; w++)
        meta_for (number s = 0; s < B0; s++)
          meta_for (number t = 0; t < B1; t++) {
            number i = v * B0 + s, j = w * B1 + t;
            if (i < m && j < n) {
              float sum = 0.0f;
              for (number l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
              number at = i * n + j;
              c[at] = sum;
            }
          }
  }
}
"""
)
ARRAYS = {"a": (("m*k",), "f4"), "b": (("k*n",), "f4"), "c": (("m*n",), "f4")}
SIZES = [
    {"m": 35, "n": 70, "k": 19, "B0": 3, "B1": 5},
    {"m": 1, "n": 1, "k": 1, "B0": 1, "B1": 1},
    {"m": 5, "n": 4, "k": 0, "B0": 2, "B1": 4},
    {"m": 0, "n": 3, "k": 2, "B0": 4, "B1": 1},
]
TYPES = ("size_t", "unsigned", "int64_t")
# Other names of the same types.
SYNONYMS = ("ptrdiff_t", "long long", "uint64_t")


def kernels(source: str) -> list[str]:
    """The kernels over tiles, but for the lines of the program that they come from."""
    text = re.sub(r"#line.*\n", "", sources_of(source)["f.cu"])
    found = re.findall(r"^template.*?^}", text, re.S | re.M)
    return [kernel for kernel in found if "__global__" in kernel]


@pytest.mark.parametrize(
    ("program", "type"),
    [
        pytest.param(
            text,
            type,
            id=f"{name}-{type}",
            marks=() if (name, type) == ("product", "int64_t") else pytest.mark.slow,
        )
        for name, text in (("product", PRODUCT), ("by hand", BY_HAND))
        for type in (*TYPES, *SYNONYMS)
    ],
)
def test_the_kernels_are_those_of_the_program_over_int(program: str, type: str) -> None:
    found = kernels(program.replace("TYPE", type))
    assert found
    assert found == kernels(program.replace("TYPE", "int"))


@pytest.mark.parametrize(
    ("program", "type"), [(PRODUCT, "size_t"), pytest.param(BY_HAND, "unsigned", marks=pytest.mark.slow)]
)
def test_tiles_compute_what_c_does(program: str, type: str, tmp_path: Path) -> None:
    assert not run_all(program.replace("TYPE", type), ARRAYS, SIZES, tmp_path)


# Function, arrays, and runs.
LINES = {
    "a stencil up to a size less 1": (
        "size_t n, const float *a, float *y, int B",
        "meta_for (size_t i = 1; i < n - 1; i++) y[i] = a[i - 1] + a[i + 1];",
        {"a": (("n",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "B": 4} for n in (1, 2, 3, 300)],
    ),
    "from one argument to another": (
        "size_t lo, size_t hi, const float *a, float *y, int B",
        "meta_for (size_t i = lo; i < hi; i++) y[i - lo] = a[i] * (float)(i - lo);",
        {"a": (("hi+1",), "f4"), "y": (("hi+1",), "f4")},
        [{"lo": 3, "hi": 120, "B": 4}, {"lo": 0, "hi": 0, "B": 1}, {"lo": 7, "hi": 2, "B": 3}],
    ),
    "values that wrap around": (
        "unsigned n, unsigned *y, unsigned long *z, float *x, int B",
        "meta_for (unsigned i = 0; i < n; i++) { y[i] = i * 2654435761u - 7u; z[i] = (size_t)i - 3;"
        " x[i] = (float)(i - 3u); }",
        {"y": (("n",), "u4"), "z": (("n",), "u8"), "x": (("n",), "f4")},
        [{"n": n, "B": 8} for n in (0, 1, 5, 200)],
    ),
    "a choice that wraps around": (
        "size_t n, const float *a, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) y[i] = i - 2 < n ? a[i - 2] : a[i];",
        {"a": (("n",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "B": 8} for n in (0, 1, 2, 3, 200)],
    ),
    "a serial loop from 3": (
        "size_t n, size_t k, const float *a, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 0; for (size_t l = 3; l < k; l++) s += a[i*k + l] * l;"
        " y[i] = s; }",
        {"a": (("n*k",), "f4"), "y": (("n",), "f4")},
        [{"n": 33, "k": k, "B": 4} for k in (0, 1, 3, 4, 40)],
    ),
    "subscripts that wrap around": (
        "unsigned n, unsigned h, const float *a, float *y, int B",
        "meta_for (unsigned i = 0; i < n; i++) y[i] = a[i * (h + 2654435700u) >> 24] + a[i * h % 251u];",
        {"a": ((256,), "f4"), "y": (("n",), "f4")},
        [{"n": n, "h": h, "B": 8} for n in (1, 200) for h in (0, 61, 2**31 - 5)],
    ),
    "int with long": (
        "long n, int k, const float *a, float *y, int B",
        "meta_for (int i = 0; i < n; i++) { float s = 0; for (long l = 0; l < k; l++) s += a[(long)i * k + l];"
        " y[i] = s; }",
        {"a": (("n*k",), "f4"), "y": (("n",), "f4")},
        [{"n": 33, "k": k, "B": 4} for k in (0, 1, 19)],
    ),
    "a window that stops at the ends": (
        "long h, long w, int r, const float *a, float *y, int B",
        "meta_for (long i = 0; i < h; i++) { float s = 0; for (long u = -r; u <= r; u++) for (long v = 0; v < 3; v++) {"
        " long p = i + u; if (p < 0) p = 0; if (p >= h) p = h - 1; s += a[p * w + v] * (float)(u + v); } y[i] = s; }",
        {"a": (("h*w",), "f4"), "y": (("h",), "f4")},
        [{"h": h, "w": 3, "r": r, "B": 4} for h in (1, 5, 70) for r in (0, 2)],
    ),
    "a window that goes around": (
        "size_t n, size_t k, const float *a, const float *g, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 0; for (size_t j = 0; j < k; j++)"
        " s += a[(i + j + n - k / 2) % n] * g[j]; y[i] = s; }",
        {"a": (("n",), "f4"), "g": (("k",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "k": k, "B": 8} for n in (1, 9, 300) for k in (0, 1, 2)],
    ),
    "a window under a comparison without signs": (
        "size_t n, size_t k, const float *a, const float *g, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 0; for (size_t j = 0; j < k; j++)"
        " if (i + j - k / 2 < n) s += a[i + j - k / 2] * g[j]; y[i] = s; }",
        {"a": (("n",), "f4"), "g": (("k",), "f4"), "y": (("n",), "f4")},
        # Where all of the weights are read.
        [{"n": n, "k": k, "B": 8} for n, k in ((1, 1), (4, 7), (9, 1), (9, 7), (300, 7))],
    ),
    "a triangle": (
        "size_t n, const float *a, const float *x, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 0; for (size_t j = i; j < n; j++) s += a[i * n + j] * x[j];"
        " y[i] = s; }",
        {"a": (("n*n",), "f4"), "x": (("n",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "B": 8} for n in (1, 9, 70)],
    ),
    "a loop up to what wraps around": (
        "int n, const float *a, float *y, int B",
        "meta_for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < (size_t)i - 1; k++) { if (k >= 3) break;"
        " s += a[((size_t)i - (size_t)k) % 7]; } y[i] = s; }",
        {"a": ((7,), "f4"), "y": (("n",), "f4")},
        [{"n": n, "B": 8} for n in (1, 40)],
    ),
    "rows whose length wraps around": (
        "unsigned m, unsigned n, const float a[m][n * n / 1000000 + 3], float *y, int B",
        "meta_for (unsigned i = 0; i < m; i++) { float s = 0; for (int k = 0; k < 3; k++) s += a[i][k]; y[i] = s; }",
        {"a": (("m*(n*n%2**32//1000000+3)",), "f4"), "y": (("m",), "f4")},
        [{"m": 20, "n": n, "B": 8} for n in (1, 5000, 70000)],
    ),
    "what came before": (
        "size_t n, size_t k, const float *a, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 0; for (size_t l = 0; l < k; l++)"
        " if (i - l < n) s += a[i - l]; y[i] = s + (float)(n - k); }",
        {"a": (("n",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "k": k, "B": 8} for n in (1, 9, 300) for k in (0, 1, 7)],
    ),
    "a loop from a difference": (
        "size_t n, size_t r, const float *a, float *y, int B",
        "meta_for (size_t i = 0; i < n; i++) { float s = 1; for (size_t j = i - r; j <= i + r; j++)"
        " if (j < n) s += a[j]; y[i] = s; }",
        {"a": (("n",), "f4"), "y": (("n",), "f4")},
        [{"n": n, "r": r, "B": 8} for n in (1, 9, 70) for r in (0, 2)],
    ),
    "an iterator of 8 bits": (
        "int n, unsigned k, const float *a, float *y, int B",
        "meta_for (int i = 0; i < n; i++) { float s = 0; for (unsigned char l = 0; l < k; l++) s += a[i*k + l];"
        " y[i] = s; }",
        {"a": (("n*k",), "f4"), "y": (("n",), "f4")},
        [{"n": 33, "k": k, "B": 4} for k in (0, 1, 19)],
    ),
}


QUICK = {
    "int with long",
    "values that wrap around",
    "subscripts that wrap around",
    "a window under a comparison without signs",
    "a loop from a difference",
    "what came before",
}


@pytest.mark.parametrize("name", quick_of(LINES, QUICK))
def test_lines_compute_what_c_does(name: str, tmp_path: Path) -> None:
    parameters, loop, arrays, runs = LINES[name]
    source = f"{HEADERS}void f({parameters})\n{{\n  meta_schedule block(B) {{\n    {loop}\n  }}\n}}\n"
    assert not run_all(source, arrays, runs, tmp_path)


WINDOWS = (
    ("size_t", "if (p < n) s += a[p] * g[j];"),
    ("long", "if (p >= 0 && p < n) s += a[p] * g[j];"),
    ("long", "if (p < 0) p = 0; if (p > n - 1) p = n - 1; s += a[p] * g[j];"),
    ("size_t", "s += a[(p + n) % n] * g[j];"),
    ("int", "if ((unsigned)p < (unsigned)n) s += a[p] * g[j];"),
)


@pytest.mark.parametrize(("type", "does"), WINDOWS)
def test_windows_are_those_of_the_program_over_int(type: str, does: str) -> None:
    loop = (
        "for (TYPE i = 0; i < n; i++) { float s = 0; for (TYPE j = 0; j < k; j++)"
        f" {{ TYPE p = i + j - k / 2; {does} }}"
        " y[i] = s; }"
    )
    text = (
        f"{HEADERS}void f(TYPE n, TYPE k, const float a[n], const float g[k], float y[n], int B)\n"
        f"{{ meta_schedule block(B) {{ meta_{loop} }} }}\n"
    )
    (region,) = compilation_of(text.replace("TYPE", type)).plan.functions[0].regions
    assert "window product" in [tiling.recipe for tiling in region.tilings]


def test_what_no_type_rules_out_is_tested_at_launch(tmp_path: Path) -> None:
    source = PRODUCT.replace("TYPE", "unsigned")
    (region,) = compilation_of(source).plan.functions[0].regions
    assert [print_expr(condition) for condition in region.tilings[0].tile.conditions] == [
        *("0 <= m", "m <= 2147418112", "0 <= n", "n <= 2147418112", "0 <= k"),
        *(f"{first} * {second} <= 4294967296" for first, second in ("km", "kn", "mn")),
    ]
