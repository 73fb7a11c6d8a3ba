"""The declarations read off headers, and the points at which the benchmark tries what they declare."""

from __future__ import annotations

import ctypes
from math import prod

import pytest

from benchmarks.gpu.cases import CASES, Case, Launch
from benchmarks.gpu.header import Declared, declared, launcher

OURS = [(case, case.ours) for case in CASES if isinstance(case.ours, Launch)]
HEADER = """
typedef struct f_params {
  int B0;
  long long s;
} f_params;
int f_launch(int n, const float *a, const f_params *params, struct CUstream_st *stream);
int f_launch_explained(const cf_machine *machine, int n, const float *a, const f_params *params,
    struct CUstream_st *stream,
    cf_choice *why);
"""


@pytest.mark.parametrize(
    ("text", "expected", "ctype"),
    [
        ("int n", Declared("n", "int"), ctypes.c_int),
        ("const float *a", Declared("a", "*"), ctypes.c_void_p),
        ("long long big", Declared("big", "long long"), ctypes.c_longlong),
        ("\n    cf_choice *why", Declared("why", "*"), ctypes.c_void_p),
        ("float r", Declared("r", "float"), ctypes.c_float),
    ],
)
def test_declarations(text: str, expected: Declared, ctype: type) -> None:
    assert declared(text) == expected
    assert expected.ctype is ctype


def test_a_launcher_has_the_arguments_between_machine_and_parameters() -> None:
    read = launcher(HEADER, "f")
    assert read.arguments == (Declared("n", "int"), Declared("a", "*"))
    assert read.parameters == (Declared("B0", "int"), Declared("s", "long long"))


def test_a_header_without_the_function_is_refused() -> None:
    with pytest.raises(ValueError, match="other_launch_explained"):
        launcher(HEADER, "other")


@pytest.mark.parametrize(("case", "ours"), OURS, ids=[case.name for case, _ in OURS])
def test_points_are_different_and_their_blocks_are_of_at_most_1024_threads(case: Case, ours: Launch) -> None:
    assert len({tuple(point.items()) for point in ours.points}) == len(ours.points)
    for point in ours.points:
        assert prod(value for name, value in point.items() if name in ("B", "B0", "B1", "B2", "ub1")) <= 1024


@pytest.mark.parametrize(("case", "ours"), OURS, ids=[case.name for case, _ in OURS])
def test_tiles_divide_where_the_grids_have_floors(case: Case, ours: Launch) -> None:
    for point in ours.points:
        match case.kind:
            case "matmul" if ours.spec == "matmul":
                extents = [(case.shape[0], point["B0"]), (case.shape[1], point["ub1"] * point["s"])]
            case "transpose":
                extents = [(case.shape[0], point["B0"]), (case.shape[1], point["B1"] * point["s"])]
            case "matadd":
                extents = [(case.shape[0], point["B0"]), (case.shape[1], 2 * point["B1"])]
            case "jacobi1d":
                extents = [(case.shape[0] - 2, point["s"] * point["B"])]
            case _:
                extents = []
        assert all(extent % tile == 0 for extent, tile in extents)
