"""Kernels with shuffles: what becomes one, what must not, and the bits of the serial C for blocks of all shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comprehensive.codegen.cuda import print_kernel
from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.loops.ir import Nest, Variant
from comprehensive.lowering.lower import lower
from comprehensive.soundness.emulated import Executables, build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.examples import quick_of
from tests.laws.nests import nests_of

PROGRAMS = {
    "ends": """
void ends(int n, const float x[n], const double z[n], float y[n], int B) {
  meta_schedule block(B) {
    meta_for (int i = 2; i < n - 2; i++)
      y[i] = x[i + 1] * 3 + x[i] + (x[i - 2] - x[i - 1]) * (float)(z[i] + z[i + 1]);
  }
}""",
    "backwards": """
void backwards(int n, const long x[n], long y[n], int B) {
  meta_schedule block(B) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = x[n - 1 - i] + 3 * x[n - i] + 5 * x[n - 2 - i];
  }
}""",
    "halves": """
void halves(int n, const half x[n], half y[n], int B) {
  meta_schedule block(B) {
    meta_for (int i = 1; i < n - 1; i++)
      if (i % 5 != 2)
        y[i] = x[i - 1] + 2 * x[i] - x[i + 1];
  }
}""",
    "nested": """
void nested(int n, const int x[n], const int w[n], int y[n], int B) {
  meta_schedule block(B) {
    meta_for (int i = 1; i < n - 1; i++) {
      int s = 0;
      if (w[i] > 0) {
        s = x[i] + 2 * x[i + 1];
        if (i % 3 == 1)
          s += x[i - 1] * x[i];
        for (int k = 1; k > -2; k--)
          s += x[i + k] * k;
        for (int k = 0; k < 2; k++)
          s += x[i - k] * w[i - k];
      } else
        s = x[i - 1] - x[i];
      y[i] = s + (w[i] > 1 ? x[i + 1] : x[i]);
    }
  }
}""",
}
SPECS = ("jacobi2d", "blur5x5", "heat3d")
SIZES: dict[str, list[dict[str, int]]] = {
    "jacobi2d": [
        {"T": 1, "n": n, "B0": b0, "B1": b1}
        for n, b0, b1 in [
            (3, 1, 1),
            (40, 1, 64),
            (37, 3, 33),
            (70, 31, 31),
            (45, 16, 2),
            (41, 5, 7),
            (90, 2, 80),
        ]
    ],
    "blur5x5": [
        {"h": h, "w": w, "B0": b0, "B1": b1}
        for h, w, b0, b1 in [(5, 5, 1, 1), (9, 71, 1, 32), (20, 41, 3, 33), (13, 100, 2, 48), (17, 19, 7, 5)]
    ],
    "heat3d": [
        {"T": 1, "n": n, "B0": b0, "B1": b1, "B2": b2}
        for n, b0, b1, b2 in [(4, 1, 1, 1), (18, 2, 2, 32), (21, 2, 3, 17), (15, 3, 5, 4), (40, 1, 1, 38)]
    ],
    **{
        name: [{"n": n, "B": b} for n, b in [(4, 1), (9, 2), (50, 31), (99, 32), (130, 33), (300, 100)]]
        for name in PROGRAMS
    },
}


def shuffled(nest: Nest) -> Variant:
    """Nothing cached, and shuffles wherever they can be."""
    return Variant(replace(nest, cached=()), shuffled=tuple(a.name for a in nest.arrays))


def with_shuffles(compilation: Compilation) -> Compilation:
    """The program with shuffles in all its leaves."""
    functions = tuple(
        replace(
            function,
            regions=tuple(
                replace(
                    region,
                    leaves=tuple(
                        replace(leaf, kernel=lower(shuffled(region.nest), f"{region.name}_leaf0"))
                        for leaf in region.leaves
                    ),
                )
                for region in function.regions
            ),
        )
        for function in compilation.plan.functions
    )
    return replace(compilation, plan=replace(compilation.plan, functions=functions))


def text_of(program: str) -> str:
    (nest,) = nests_of(program)
    return print_kernel(lower(shuffled(nest), "k"))


def built(name: str, folder: Path, *, sanitize: bool = False) -> Executables:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C and C++ compilers on the PATH")
    path = spec_directory() / f"{name}.mf"
    if name in PROGRAMS:
        path = folder / f"{name}.mf"
        path.write_text(PROGRAMS[name], encoding="utf-8")
    compilation = with_shuffles(compile_file(path, Options(registers="estimate")))
    texts = outputs(compilation)
    assert "= cf_next(within" in texts[f"{name}.cu"]
    return build(compilation, texts, folder / "work", c=c, cxx=cxx, sanitize=sanitize)


def data_of(name: str, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    n = sizes.get("n", 0)
    match name:
        case "jacobi2d" | "heat3d":
            shape = (n,) * (2 if name == "jacobi2d" else 3)
            return {array: generator.random(shape, dtype=np.float32) for array in ("a", "b")}
        case "blur5x5":
            shape = (sizes["h"], sizes["w"])
            return {array: generator.random(shape, dtype=np.float32) for array in ("in", "out")}
        case "ends":
            floats = {array: generator.random(n, dtype=np.float32) for array in ("x", "y")}
            return {**floats, "z": generator.random(n)}
        case "halves":
            return {array: generator.standard_normal(n).astype(np.float16) for array in ("x", "y")}
        case "backwards":
            return {array: generator.integers(-(2**40), 2**40, n) for array in ("x", "y")}
        case _:
            return {array: generator.integers(-2, 3, n).astype(np.int32) for array in ("x", "w", "y")}


@pytest.mark.parametrize("name", quick_of([*SPECS, *PROGRAMS], {"ends", "halves", "blur5x5"}))
def test_results_are_those_of_the_serial_program_for_blocks_of_all_shapes(name: str, tmp_path: Path) -> None:
    executables = built(name, tmp_path)
    for sizes in SIZES[name]:
        program = {key: value for key, value in sizes.items() if key.startswith("B")}
        others: dict[str, int | float] = {key: value for key, value in sizes.items() if key not in program}
        others |= {"r": 0.1} if name == "heat3d" else {}
        data = data_of(name, sizes)
        expected = {array: values.copy() for array, values in data.items()}
        executables.serial.call(name, {**others, **program, **expected})
        for backwards in (False, True):
            found = {array: values.copy() for array, values in data.items()}
            outcome = executables.kernels.call(name, {**others, **found}, program, backwards=backwards)
            assert outcome.status == 0, (sizes, outcome)
            for array, values in found.items():
                assert values.tobytes() == expected[array].tobytes(), (array, sizes, backwards)


def test_no_lane_reads_what_it_would_not_have_read(tmp_path: Path) -> None:
    executables = built("jacobi2d", tmp_path, sanitize=True)
    for sizes in SIZES["jacobi2d"][:5]:
        data = data_of("jacobi2d", sizes)
        program = {key: sizes[key] for key in ("B0", "B1")}
        others = {key: sizes[key] for key in ("T", "n")}
        assert executables.kernels.call("jacobi2d", {**others, **data}, program).status == 0


def test_values_go_from_neighbour_to_neighbour() -> None:
    text = text_of(PROGRAMS["ends"])
    assert "x_here = x[i - 2];" in text
    assert text.count("cf_next(within, 1,") == 4
    backwards = text_of(PROGRAMS["backwards"])
    assert "x_here = x[n - i];" in backwards
    assert backwards.count("cf_next(") == 2


def test_a_value_is_carried_from_step_to_step_of_a_loop() -> None:
    text = text_of((spec_directory() / "blur5x5.mf").read_text(encoding="utf-8"))
    assert text.count("cf_next(") == 1
    assert "for (int x = 1; x < 5; x++) {" in text


BODY = """
void body(int n, float x[n], const int w[n], const unsigned u, float y[n], float z[n][n], int B) {
  meta_schedule block(B) {
    meta_for (int i = 1; i < n - 1; i++) { %s }
  }
}"""


@pytest.mark.parametrize(
    "statement",
    [
        "y[i] = x[i];",  # no neighbour
        "y[i] = x[2 * i] + x[2 * i + 1];",  # neighbours are two apart
        "y[i] = z[i][0] + z[i][1];",  # neighbours are a row apart
        "y[i] = w[i] > 0 ? x[i] + x[i + 1] : 0;",  # not read in any case
        "x[i] = x[i] + 1;",  # written
        "y[i] = x[i + u] + x[i + u + 1];",  # may wrap between the two
        "y[i] = x[w[0]] + x[w[0] + 1];",  # the same element for all
        "int k = w[i]; y[i] = x[k] + x[k + 1];",  # other elements for each
        "for (int k = 0; k < w[i]; k++) y[i] = x[i] + x[i + 1];",  # other steps for each
        "for (int k = 0; k < 3; k++) { if (w[i] > k) break; y[i] = x[i] + x[i + 1]; }",
        "int k = i; k += w[i]; y[i] = x[k] + x[k + 1];",
    ],
)
def test_what_neighbours_have_not_surely_read_stays_a_load(statement: str) -> None:
    assert "cf_next" not in text_of(BODY % statement)


def test_a_kernel_without_shuffles_has_nothing_of_them() -> None:
    (nest,) = nests_of(PROGRAMS["ends"])
    variant = Variant(replace(nest, cached=("x", "z")), shuffled=("x", "z"))
    assert lower(variant, "k") == lower(replace(variant, shuffled=()), "k")
