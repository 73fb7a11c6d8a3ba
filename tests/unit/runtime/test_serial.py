"""The serial elision drops the keywords of MetaFork and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.metafork.ast import Function, Parameter, Program, ScalarType
from comprehensive.runtime.serial import SerialBuildError, build, serial_text
from comprehensive.toolchain.host import find_c_compiler

COMPILER = find_c_compiler()
SCALE = """\
/* meta_for in a comment stays */
void scale(int n, float alpha, float *a, int B)
{
  meta_schedule cache(a)
  {
    meta_for (int v = 0; v < n / B; v++)
      meta_for (int u = 0; u < B; u++)
        a[v * B + u] *= alpha;
  }
}
"""


def scale(text: str, name: str = "scale") -> Program:
    file = SourceFile("scale.mf", text)
    parameters = (
        Parameter("n", ScalarType.INT),
        Parameter("alpha", ScalarType.FLOAT),
        Parameter("a", ScalarType.FLOAT, pointer=True),
        Parameter("B", ScalarType.INT),
    )
    return Program(file, (Function(name, parameters, ()),))


def test_keywords_are_dropped_and_everything_else_stays() -> None:
    assert serial_text("meta_schedule cache(a, b) { meta_for (;;) ; }") == " { for (;;) ; }"
    assert serial_text("meta_schedule { }") == " { }"
    commented = "meta_schedule /* 1 */ block(B /* ) */) // 2\n cache(a) /* 3 */ { }"
    assert serial_text(commented) == "\n /* 3 */ { }"
    kept = 'char *s = "meta_for \\" meta_schedule"; /* meta_for */ int my_meta_for; // meta_schedule\n'
    assert serial_text(kept) == kept


def test_the_outermost_loop_of_each_region_can_be_parallel() -> None:
    region = "meta_schedule { meta_for (;;) meta_for (;;) ; } /* meta_for */ "
    one = '{ _Pragma("omp parallel for") for (;;) for (;;) ; } /* meta_for */ '
    assert serial_text(2 * region, parallel=True) == f" {one} {one}"


def test_lines_keep_their_numbers() -> None:
    assert serial_text("meta_schedule\n  cache(a,\n b)\n{ }").count("\n") == 3


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on the PATH")
@pytest.mark.parametrize("head", ["void scale", "static void scale", "static inline void scale", "void step"])
def test_serial_program_runs_on_numpy_arrays(head: str, tmp_path: Path) -> None:
    """Whether it is static or not, and has the name of a function of the C library (``step``) or not."""
    assert COMPILER is not None
    name = head.split()[-1]
    library = build(scale(SCALE.replace("void scale", head), name), tmp_path, compiler=COMPILER)
    a = numpy.arange(10, dtype=numpy.float32)
    library.call(name, {"n": 10, "alpha": 0.1, "a": a, "B": 4})
    expected = numpy.arange(10, dtype=numpy.float32)
    expected[:8] *= numpy.float32(0.1)
    numpy.testing.assert_array_equal(a, expected)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on the PATH")
def test_program_that_is_no_c_is_reported_with_the_compiler_s_words(tmp_path: Path) -> None:
    assert COMPILER is not None
    with pytest.raises(SerialBuildError, match="undeclared_name"):
        build(scale(SCALE.replace("alpha;", "undeclared_name;")), tmp_path, compiler=COMPILER)
