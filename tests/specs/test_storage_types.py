"""`half` and `bfloat16`: leaves and tiles equal the serial C, which equals the interpreter; and compilers take them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import comprehensive
from comprehensive.driver import Compilation, compile_file
from comprehensive.generate import outputs
from comprehensive.loops.bfloat16 import from_bits, to_bits
from comprehensive.records import replace
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler, headers_on_cpu
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from comprehensive.tuning.data import drawn
from comprehensive.tuning.expected import build_serial
from comprehensive.verification import verify
from comprehensive.verification_report import summary, to_text
from tests.compiled_specs import LITTLE_OPTIMIZATION, OPTIONS
from tests.examples import quick_of
from tests.specs.test_emitted import LANGUAGES, STRICT

PROGRAM = Path(__file__).parents[1] / "golden" / "programs" / "storage.mf"
STENCILS = """
void stencil(int n, const half x[n][n], half y[n][n], int B0, int B1)
{
  meta_schedule block(B0, B1) cache(x) {
    meta_for (int i = 1; i < n - 1; i++)
      meta_for (int j = 1; j < n - 1; j++)
        y[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
  }
}
void heat(int n, int T, bfloat16 a[n], bfloat16 b[n], int B)
{
  for (int t = 0; t < T; t++) {
    meta_schedule block(B) cache(a) {
      meta_for (int i = 1; i < n - 1; i++)
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0f;
    }
    meta_schedule block(B) {
      meta_for (int i = 1; i < n - 1; i++)
        a[i] = b[i];
    }
  }
}
"""
SUMS = """
void rows(int n, int m, const bfloat16 a[n][m], bfloat16 y[n], half z[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      half s = 0.0f;
      for (int j = 0; j < m; j++) {
        y[i] += a[i][j];
        s += a[i][j];
      }
      z[i] = s;
    }
  }
}
"""
PRAGMA = """
void scaled(int n, float alpha, const _Float16 *x, _Float16 *y)
{
  #pragma omp parallel for
  for (int i = 0; i < n; i++)
    y[i] = alpha * x[i] + y[i];
}
"""

pytestmark = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C or C++ compiler on the PATH"
)


@pytest.fixture(scope="module")
def program() -> Compilation:
    return compile_file(PROGRAM, OPTIONS)


def demand_sound(compilation: Compilation, points: int = 6) -> None:
    report = verify(compilation, points=points, run=True)
    assert report.holds, to_text(report)
    assert summary(report).startswith("all ")


def test_all_there_is_equals_the_serial_c(program: Compilation) -> None:
    demand_sound(program)


@pytest.mark.parametrize(
    "name",
    quick_of(["stencils.mf", "sums.mf", "sums.mf reassociated", "pragma.c"], {"sums.mf"}),
)
def test_programs_equal_the_serial_c(name: str, tmp_path: Path) -> None:
    texts = {"stencils.mf": STENCILS, "sums.mf": SUMS, "pragma.c": PRAGMA}
    file, _, option = name.partition(" ")
    (tmp_path / file).write_text(texts[file])
    options = replace(OPTIONS, reassociate=bool(option), pragma="omp" if file == "pragma.c" else None)
    demand_sound(compile_file(tmp_path / file, options))


def test_tiles_hold_floats_where_the_program_adds_up_floats(program: Compilation) -> None:
    cuda = outputs(program)["storage.cu"]
    tile = cuda[cuda.index("product_tile(") :]
    assert re.search(r"float sum\[U0\]\[U1\];", tile)
    assert re.search(r"sum\[r0\]\[r1\] \+= __half2float\(", tile)
    # What a program adds to an element of 16 bits is rounded at every step, in registers, too.
    assert re.search(r"private_y = ?\s*__float2bfloat16_rn\(\s*__bfloat162float\(private_y\)", cuda)


INCLUDES = {
    "alone": "",
    "without the types of the compiler": "#undef __FLT16_MAX__\n#undef __BFLT16_MAX__\n",
    "behind CUDA's headers": "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n",
}


@pytest.mark.parametrize("language", quick_of(LANGUAGES, {"c99", "c++20"}))
@pytest.mark.parametrize("before", INCLUDES)
def test_the_header_compiles_without_a_warning(
    program: Compilation, before: str, language: str, tmp_path: Path
) -> None:
    for name, text in outputs(program).items():
        if name.endswith(".h"):
            (tmp_path / name).write_text(text)
    found = find_cxx_compiler() if "++" in language else find_c_compiler()
    assert found is not None
    unit = tmp_path / ("unit.cpp" if "++" in language else "unit.c")
    sizes = "typedef char two_bytes[sizeof(cf_half) == 2 && sizeof(cf_bfloat16) == 2 ? 1 : -1];\n"
    call = "int call(const cf_half *x, cf_half *y);\nint call(const cf_half *x, cf_half *y)\n"
    call += "{ return product_launch(0, x, x, y, 0, 0); }\n"
    unit.write_text(f'{INCLUDES[before]}#include "storage.h"\n{sizes}{call}')
    answer = subprocess.run(
        [*found.command, f"-std={language}", *STRICT, *headers_on_cpu(), str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.toolchain
def test_nvcc_compiles_the_kernels(program: Compilation, nvcc: Tool, tmp_path: Path) -> None:
    for name, text in outputs(program).items():
        (tmp_path / name).write_text(text)
    # Also where the operators of CUDA's types are switched off, as extensions of PyTorch do.
    off = [f"-D__CUDA_NO_{word}__" for word in ("HALF_OPERATORS", "HALF_CONVERSIONS", "BFLOAT16_CONVERSIONS")]
    compiled = compile_cubin(nvcc, tmp_path / "storage.cu", "sm_90", (*LITTLE_OPTIMIZATION, *off))
    assert compiled.output


def test_python_passes_halves_and_the_bits_of_bfloat16(program: Compilation, tmp_path: Path) -> None:
    for name, text in outputs(program).items():
        (tmp_path / name).write_text(text)
    module = comprehensive.load(tmp_path / "storage.json", device="cpu")
    random = np.random.default_rng(2)
    n = 33
    a, b = (random.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float16)
    module.product(n, a, b, c)
    assert np.allclose(c.astype(float), a.astype(float) @ b.astype(float), rtol=2e-3, atol=2e-2)
    x, matrix = to_bits(random.standard_normal(n)), to_bits(random.standard_normal((n, n)))
    y = np.zeros(n, np.uint16)
    module.rounded(n, matrix, x, y)
    signed = np.zeros(n, np.int16)
    module.rounded(n, matrix, x, signed)
    assert (signed.view(np.uint16) == y).all()
    assert np.allclose(from_bits(y), from_bits(matrix) @ from_bits(x), atol=0.3)
    with pytest.raises(TypeError, match="y must have elements of uint16 or int16 or bfloat16, not <f2"):
        module.rounded(n, matrix, x, np.zeros(n, np.float16))
    with pytest.raises(TypeError, match="a must have elements of float16, not <f4"):
        module.product(n, a.astype(np.float32), b, c)


def test_tuning_draws_numbers_and_builds_the_serial_program(program: Compilation, tmp_path: Path) -> None:
    compiler = find_c_compiler()
    assert compiler is not None
    assert build_serial(program.program, tmp_path, compiler).is_file()
    common = {"pointer": True, "written": False, "shape": [1000]}
    drawn_arrays = drawn(
        [
            {**common, "name": "a", "dtype": "float16"},
            {**common, "name": "b", "dtype": "uint16", "bits": True},
        ],
        3,
    )
    for values in (drawn_arrays["a"].astype(float), from_bits(drawn_arrays["b"])):
        assert 0.8 < values.std() < 1.2
        assert abs(values.mean()) < 0.2
    assert [drawn_arrays[name].dtype.name for name in "ab"] == ["float16", "uint16"]
