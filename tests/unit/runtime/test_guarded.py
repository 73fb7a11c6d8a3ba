"""Accesses outside of arrays are seen at both ends, by element, and end neither the run nor this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.metafork.ast import Function, Parameter, Program, ScalarType
from comprehensive.runtime.cpu import CpuFaultError
from comprehensive.runtime.guarded import Edge, GuardedProcess, Outside, TooLargeError, build
from comprehensive.runtime.serial import SerialLibrary
from comprehensive.runtime.serial import build as build_serial
from comprehensive.toolchain.host import find_c_compiler
from tests.unit.codegen.plans import smooth_plan, with_kernel
from tests.unit.runtime.test_cpu import built, smoothed

C = find_c_compiler()
pytestmark = pytest.mark.skipif(C is None, reason="no C compiler on the PATH")

PROGRAM = """\
#include <stdio.h>
void touch(int first, int last, int writes, const double *x, double *y)
{
  printf("not an answer");
  for (int i = first; i < last; i++)
    if (writes) y[i] = 1.0;
    else y[0] += x[i];
}
void by_data(int n, const int *p, float *o)
{
  int m = p[0];
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < m; i++)
      if (p[i] > 2) o[i + t * n] = 1.0f;
}
void endless(int first) { for (volatile int i = first; i < 1; ) ; }
"""


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> SerialLibrary:
    assert C is not None
    integers = tuple(Parameter(name, ScalarType.INT) for name in ("first", "last", "writes"))
    x = Parameter("x", ScalarType.DOUBLE, pointer=True, const=True)
    y = Parameter("y", ScalarType.DOUBLE, pointer=True)
    p = Parameter("p", ScalarType.INT, pointer=True, const=True)
    functions = (
        Function("touch", (*integers, x, y), ()),
        Function(
            "by_data", (Parameter("n", ScalarType.INT), p, Parameter("o", ScalarType.FLOAT, pointer=True)), ()
        ),
        Function("endless", integers[:1], ()),
    )
    program = Program(SourceFile("touch.mf", PROGRAM), functions)
    return build_serial(program, tmp_path_factory.mktemp("touch"), compiler=C)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedProcess]:
    assert C is not None
    with GuardedProcess(build(tmp_path_factory.mktemp("guards"), compiler=C), timeout_s=10) as started:
        yield started


def touch(first: int, last: int, *, writes: bool = False, size: int = 5) -> dict[str, int | numpy.ndarray]:
    values = numpy.arange(size, dtype=numpy.float64)
    return {"first": first, "last": last, "writes": int(writes), "x": values, "y": numpy.zeros(size)}


@pytest.mark.parametrize("edge", Edge)
@pytest.mark.parametrize("size", [1, 5, 512, 1000])
def test_what_stays_inside_has_no_faults_and_its_results(
    process: GuardedProcess, serial: SerialLibrary, size: int, edge: Edge
) -> None:
    arguments = touch(0, size, size=size)
    found = process.serial(serial, "touch", arguments, edge=edge)
    assert found.faults == ()
    assert found.arrays["y"][0] == numpy.sum(arguments["x"])
    assert not numpy.any(arguments["y"])  # arguments stay as they are


@pytest.mark.parametrize(
    ("first", "last", "edge", "expected"),
    [
        (0, 6, Edge.END, Outside("x", 5, 5, writes=False, farthest=5)),
        (-1, 5, Edge.BEGIN, Outside("x", -1, 5, writes=False, farthest=-1)),
        (100_000, 100_001, Edge.BEGIN, Outside("x", 100_000, 5, writes=False, farthest=100_000)),
    ],
)
def test_first_element_that_is_read_outside_is_told(
    process: GuardedProcess, serial: SerialLibrary, first: int, last: int, edge: Edge, expected: Outside
) -> None:
    assert process.serial(serial, "touch", touch(first, last), edge=edge).faults == (expected,)


@pytest.mark.parametrize("edge", Edge)
@pytest.mark.parametrize("at", [-1, 5])
def test_writes_outside_are_seen_at_both_ends_in_one_run(
    process: GuardedProcess, serial: SerialLibrary, at: int, edge: Edge
) -> None:
    (fault,) = process.serial(serial, "touch", touch(at, at + 1, writes=True), edge=edge).faults
    assert (fault.array, fault.element, fault.writes) == ("y", at, True)
    assert str(fault) == f"writes element {at} of 'y', which has 5"


def test_array_without_elements_has_no_element_to_read(
    process: GuardedProcess, serial: SerialLibrary
) -> None:
    faults = process.serial(serial, "touch", touch(0, 1, size=0)).faults
    assert sorted(fault.array for fault in faults) == ["x", "y"]


def test_extents_are_what_is_touched_with_this_data(process: GuardedProcess, serial: SerialLibrary) -> None:
    # Of p the first element says how many more count; o is written where one of those is above 2, in three turns.
    p = numpy.array([4, 9, 9, 0, 9, 9], dtype=numpy.int32)
    arguments = {"n": 50, "p": p, "o": numpy.zeros(5000, dtype=numpy.float32)}
    assert process.extents(serial, "by_data", arguments, {"p", "o"}) == {"p": 4, "o": 2 * 50 + 3}
    short = {**arguments, "o": numpy.zeros(100, dtype=numpy.float32)}
    with pytest.raises(TooLargeError) as left:
        process.extents(serial, "by_data", short, {"p", "o"})
    (fault,) = left.value.faults
    assert (fault.array, fault.element, fault.writes) == ("o", 100, True)


def test_serial_program_that_reads_before_an_array_has_no_extents(
    process: GuardedProcess, serial: SerialLibrary
) -> None:
    with pytest.raises(TooLargeError, match="reads element -1 of 'x', which has 5"):
        process.extents(serial, "touch", touch(-1, 3), {"x", "y"})


def test_process_that_is_lost_says_how_and_the_next_call_has_another(
    process: GuardedProcess, serial: SerialLibrary
) -> None:
    with pytest.raises(CpuFaultError, match="SIGSEGV: an access that is near no array"):
        process.serial(serial, "touch", touch(2_000_000_000, 2_000_000_001))
    assert process.serial(serial, "touch", touch(0, 5)).faults == ()


def test_call_without_end_is_ended(tmp_path: Path, serial: SerialLibrary) -> None:
    assert C is not None
    with GuardedProcess(build(tmp_path, compiler=C), timeout_s=1) as process:
        with pytest.raises(CpuFaultError, match="no end within 1 s"):
            process.serial(serial, "endless", {"first": 0})
        process.serial(serial, "endless", {"first": 1})


def test_kernel_that_reads_one_element_too_many_computes_the_same_and_is_caught(
    process: GuardedProcess, tmp_path: Path
) -> None:
    a, b = numpy.random.default_rng(1).random(101, dtype=numpy.float32), numpy.full(101, -1, numpy.float32)
    arguments, parameters = {"n": 101, "a": a, "b": b}, {"B": 8, "s": 2}
    right = process.kernels(built(smooth_plan(), tmp_path / "right"), "smooth", arguments, parameters)
    assert (right.outcome.status, right.outcome.leaf, right.faults) == (0, 1, ())
    numpy.testing.assert_array_equal(right.arrays["b"], smoothed(a))
    for place, pattern, replacement, edge, element in (
        ("behind", r"if \(base \+ x < n\) tile", "if (base + x < n + 1) tile", Edge.END, 101),
        (
            "before",
            r"tile\[x\] = a\[base \+ x\]",
            "tile[x] = a[base + x - 1], tile[x] = a[base + x]",
            Edge.BEGIN,
            -1,
        ),
    ):
        doctored = built(smooth_plan(), tmp_path / place, with_kernel("smooth_tiled", pattern, replacement))
        found = process.kernels(doctored, "smooth", arguments, parameters, edge=edge)
        assert found.faults == (Outside("a", element, 101, writes=False, farthest=element),)
        numpy.testing.assert_array_equal(found.arrays["b"], smoothed(a))
