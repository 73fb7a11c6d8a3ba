"""Sizes of data behind pointers: exactly what the serial run touches is enough, and one element less is refused."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest

import comprehensive
from comprehensive.bindings.needs import Needs
from comprehensive.codegen.needs import as_document, needs
from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.generate import write
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import holds_preconditions, run
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Program
from comprehensive.metafork.parse import parse

PRODUCT = """void product(int m, int n, int k, const float *a, const float *b, float *c, int B0, int B1) {
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        float sum = 0.0f;
        for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
        c[i * n + j] = sum;
      }
  }
}"""
PROGRAMS = {
    "product": PRODUCT,
    "floors": """void floors(int n, const float *x, float *y, int B, int s) {
  int dim = n / (s * B);
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 0; k < s; k++) { int p = (i * s + k) * B + u; y[p] = x[p + 1] + x[n - 1 - p]; }
  }
}""",
    "ceilings": """void ceilings(int n, const float *x, float *y, int B, int s) {
  int dim = (n + s * B - 1) / (s * B);
  meta_schedule {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 0; k < s; k++) { int i = (v * s + k) * B + u; if (i < n) y[n - 1 - i] = x[2 * i]; }
  }
}""",
    "triangle": """void triangle(int n, const float *a, float *y, int B) {
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float sum = 0.0f;
      for (int k = 0; k <= i; k++) sum += a[k * n + i];
      y[2 * i + 3] = sum;
    }
  }
}""",
    "steps": """void steps(int n, const float *a, float *y, int B) {
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float sum = 0.0f;
      for (int k = 1; k < n; k += 3) sum += a[k];
      for (int k = n; k > 2; k -= 2) sum += a[k];
      y[i] = sum;
    }
  }
}""",
    "stencil": """void stencil(int h, int w, const float *in, float *out, int B0, int B1) {
  meta_schedule block(B0, B1) {
    meta_for (int i = 1; i < h - 1; i++)
      meta_for (int j = 1; j < w - 1; j++)
        out[i * w + j] = in[(i - 1) * w + j] + in[(i + 1) * w + j] + in[i * w + j - 1] + in[i * w + j + 1];
  }
}""",
    "bands": """void bands(int n, int m, const float *a, float y[][m], int B) {
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      if (i >= 3 && 2 * i < n || i == 1)
        for (int j = 0; j < m; j++) y[i][j] = a[i + 4 * j];
    }
  }
}""",
    "halves": """void halves(int n, int m, const float *a, float *y, int B) {
  assert(n <= 2 * m);
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      if (i != 5) y[i] = a[n / 2] + a[m + (n % 3)];
    }
  }
}""",
}


def read(text: str) -> tuple[Program, tuple[Nest, ...]]:
    sink = DiagnosticSink()
    program = parse(SourceFile("test.mf", text), sink)
    nests = build(program, sink)
    sink.stop_on_errors()
    return program, nests


def needs_of(text: str) -> dict[str, Needs]:
    program, nests = read(text)
    (function,) = program.functions
    return {name: Needs.read(as_document(found)) for name, found in needs(function, nests).items()}


def unknown_of(text: str, name: str) -> tuple[str, ...]:
    program, nests = read(text)
    return needs(program.functions[0], nests)[name].unknown


def stays_inside(nest: Nest, arguments: Mapping[str, int], sizes: Mapping[str, int]) -> bool:
    """Whether the serial run touches nothing outside data of so many elements."""
    data = {a.name: np.ones(sizes[a.name], np.float32) for a in nest.arrays}
    try:
        run(nest, arguments, data)
    except UndefinedBehaviour:
        return False
    return True


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_is_needed_is_what_the_serial_run_touches(name: str) -> None:
    _, (nest,) = read(PROGRAMS[name])
    found, chance = needs_of(PROGRAMS[name]), random.Random(name)
    assert all(unknown_of(PROGRAMS[name], array) == () for array in found)
    refused = 0
    for _ in range(60):
        arguments = {
            s.name: chance.randint(1, 5) if s.role is Role.PROGRAM else chance.randint(0, 14)
            for s in nest.scalars
            if s.value is None
        }
        if not holds_preconditions(nest, arguments):
            continue
        row = {a.name: max(1, arguments["m"]) if a.dims else 1 for a in nest.arrays}
        sizes: dict[str, int] = {}
        for array, needed in found.items():
            first, rows = needed.bounds(arguments)
            assert first == 0
            sizes[array] = rows * row[array]
            assert needed.complaint(rows, arguments) is None
        assert stays_inside(nest, arguments, sizes), arguments
        for array, needed in found.items():
            if sizes[array]:
                less = {**sizes, array: sizes[array] - row[array]}
                assert not stays_inside(nest, arguments, less), (arguments, array)
                assert needed.complaint(sizes[array] // row[array] - 1, arguments) is not None
                refused += 1
    assert refused > 40


def test_elements_before_the_first_are_refused() -> None:
    text = """void f(int n, const float *x, float *y, int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = x[i - 2 + n / 9]; }
}"""
    found = needs_of(text)["x"]
    assert found.complaint(100, {"n": 8, "B": 2}) == (
        "is accessed at element -2, before its first one at n = 8"
    )
    assert found.complaint(100, {"n": 20, "B": 2}) is None
    assert found.complaint(100, {"n": 0, "B": 2}) is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("meta_schedule block(B) { meta_for (int i = 0; i < n; i++) x[p[i]] = 1.0f; }", "depends on data"),
        (
            "meta_schedule block(B) { meta_for (int i = 0; i < n; i++) if (p[i] > 0) x[i] = 1.0f; }",
            "depends on the condition",
        ),
        (
            "if (n > 3) { meta_schedule block(B) { meta_for (int i = 0; i < n; i++) x[i] = 1.0f; } }",
            "host code decides whether the region",
        ),
        (
            "CHECK(n > 3); meta_schedule block(B) { meta_for (int i = 0; i < n; i++) x[i] = 1.0f; }",
            "host code decides whether the region",
        ),
        (
            "for (int t = 0; t < m; t++) { meta_schedule block(B) "
            "{ meta_for (int i = 0; i < n; i++) x[i + t] = 1.0f; } }",
            "depends on t, which host code sets",
        ),
    ],
)
def test_nothing_is_asked_for_that_is_not_known(body: str, reason: str) -> None:
    text = f"void f(int n, int m, const int *p, float *x, int B) {{ {body} }}"
    assert any(reason in each for each in unknown_of(text, "x")), unknown_of(text, "x")
    assert needs_of(text)["x"].complaint(0, {"n": 9, "m": 9, "B": 4}) is None


def test_a_loop_of_host_code_must_turn() -> None:
    text = """void f(int n, int m, float *x, int B) {
  for (int t = 0; t < m; t++) { meta_schedule block(B) { meta_for (int i = 0; i < n; i++) x[i] += 1.0f; } }
}"""
    found = needs_of(text)["x"]
    assert found.complaint(4, {"n": 5, "m": 1, "B": 2}) == "has 4 elements where 5 are needed at n = 5, m = 1"
    assert found.complaint(4, {"n": 5, "m": 0, "B": 2}) is None


def test_numbers_of_elements_have_no_limits() -> None:
    found = needs_of(PRODUCT)["c"]
    assert found.bounds({"m": 2**31 - 1, "n": 2**31 - 1, "k": 1}) == (0, (2**31 - 1) ** 2)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> comprehensive.Module:
    folder = tmp_path_factory.mktemp("needs")
    text = PRODUCT + "\n" + PROGRAMS["floors"]
    (folder / "both.mf").write_text(text)
    options = Options(registers="estimate")
    write(compile_file(folder / "both.mf", options), folder, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPREHENSIVE_CACHE", str(folder / "cache"))
        return comprehensive.load(folder / "both.json", device="cpu")


def floats(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


def test_a_short_array_is_refused_before_anything_is_launched(loaded: comprehensive.Module) -> None:
    c = np.zeros(14, np.float32)
    with pytest.raises(ValueError, match="c has 14 elements where 15 are needed at m = 3, n = 5"):
        loaded.product(3, 5, 2, floats(6), floats(10), c)
    assert not c.any()
    with pytest.raises(ValueError, match="a has 5 elements where 6 are needed"):
        loaded.product(3, 5, 2, floats(5), floats(10), floats(15))
    c = np.zeros((5, 3), np.float32)
    loaded.product(3, 5, 2, floats(6), floats(10), c)
    assert (c == 2).all()


def test_sizes_that_depend_on_blocks_are_those_of_the_blocks_that_run(loaded: comprehensive.Module) -> None:
    loaded.floors(10, floats(10), floats(8), B=4, s=1)
    with pytest.raises(ValueError, match="y has 8 elements where 10 are needed"):
        loaded.floors(10, floats(11), floats(8), B=5, s=1)
    chosen = loaded.floors.choose(10, machine="h200").parameters
    with pytest.raises(ValueError, match=f"y has 0 elements where .* B = {chosen['B']}, s = {chosen['s']}"):
        loaded.floors(10, floats(11), floats(0), machine="h200")
