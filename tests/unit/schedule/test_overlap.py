"""Time tiles: sweeps of a host loop done several at once equal the serial C bit for bit; what has none says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.optimize.protocols import NotApplicable
from comprehensive.plan.interface import interface
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.emulated import build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, sources_of, time_tiles_of, warnings_of

GRIDS = "float a[n][n], float b[n][n]"


def loop(parameters: str, *regions: str, header: str = "int t = 0; t < T; t++") -> str:
    body = "".join(regions)
    blocks = "int B0, int B1" if "B1" in body else "int B0"
    return f"void f(int T, int n, {parameters}, {blocks})\n{{\n  for ({header}) {{\n{body}  }}\n}}\n"


def plane(statement: str, halo: int = 1) -> str:
    """A region over all points of a plane but those at its border."""
    return (
        f"    meta_schedule block(B0, B1) {{\n"
        f"      meta_for (int i = {halo}; i < n - {halo}; i++)\n"
        f"        meta_for (int j = {halo}; j < n - {halo}; j++) {{\n"
        f"          {statement}\n        }}\n    }}\n"
    )


def line(statement: str, halo: int = 1) -> str:
    return (
        f"    meta_schedule block(B0) {{\n"
        f"      meta_for (int i = {halo}; i < n - {halo}; i++) {{\n          {statement}\n      }}\n    }}\n"
    )


N2, N1 = 151, 2100
PLANES = {"a": ((N2, N2), "f4"), "b": ((N2, N2), "f4")}
LINES = {"a": ((N1,), "f4"), "b": ((N1,), "f4")}
CASES: dict[str, tuple[str, dict[str, tuple[tuple[int, ...], str]]]] = {
    "two kinds of sweeps": (
        loop(
            GRIDS,
            plane("b[i][j] = 0.25f * (a[i-1][j] + a[i+1][j-1] + a[i][j+1]) - a[i][j];"),
            plane("a[i][j] = 0.5f * b[i][j] + 0.3f * b[i+1][j];"),
        ),
        PLANES,
    ),
    "neighbours far away": (
        loop(
            "double a[n][n], double b[n][n]",
            plane("b[i][j] = 0.2 * (a[i-2][j] + a[i+1][j+3] + a[i][j-1]);", 3),
            plane("a[i][j] = 0.4 * (b[i][j-3] + b[i+3][j]);", 3),
        ),
        {"a": ((N2, N2), "f8"), "b": ((N2, N2), "f8")},
    ),
    "neighbours four points away": (
        loop(
            GRIDS,
            plane("b[i][j] = 0.5f * (a[i-4][j] + a[i][j+4]);", 4),
            plane("a[i][j] = 0.5f * (b[i+4][j] + b[i][j-4]);", 4),
        ),
        PLANES,
    ),
    "data that is only read": (
        loop(
            f"const float c[n][n], float r, {GRIDS}",
            plane("float d = a[i+1][j] - a[i-1][j]; b[i][j] = a[i][j] + r * c[i-1][j+1] * d;"),
            plane("float d = b[i][j+1] - b[i][j-1]; a[i][j] = b[i][j] + r * c[i][j] * d;"),
        ),
        {**PLANES, "c": ((N2, N2), "f4")},
    ),
    "no neighbours": (
        loop(GRIDS, plane("b[i][j] = a[i][j] * 0.5f;"), plane("a[i][j] = b[i][j] + 1;")),
        PLANES,
    ),
    "neighbours along one coordinate": (
        loop(GRIDS, plane("b[i][j] = a[i][j-1] * 0.5f;"), plane("a[i][j] = b[i][j+1] + 1;")),
        PLANES,
    ),
    "where a point is": (
        loop(GRIDS, plane("b[i][j] = a[i-1][j] + i;"), plane("a[i][j] = b[i+1][j] * 0.5f - j;")),
        PLANES,
    ),
    "a loop that includes its bound": (
        loop(
            "float a[n], float b[n]",
            line("b[i] = 0.5f * (a[i-1] + a[i+1]);"),
            "    { /* braces and comments are nothing */\n",
            line("a[i] = 0.5f * (b[i-1] + b[i+1]);"),
            "    }\n",
            header="int t = -3; t <= T - 4; t++",
        ),
        LINES,
    ),
    "a scalar with the name of a kernel": (
        loop(
            "float f_2_time, float a[n], float b[n]",
            line("b[i] = f_2_time * a[i-1];"),
            line("a[i] = 0.5f * b[i-1];"),
        ).replace("a[i] = 0.5f", "a[i] = f_2_time"),
        LINES,
    ),
    "one region by parity": (
        loop(
            "float a[n], float b[n]",
            line("if (t % 2 == 1) a[i] = 0.5f * (b[i-1] + b[i]); else b[i] = 0.5f * (a[i+1] + a[i]);"),
        ),
        LINES,
    ),
    "rows behind a pointer": (
        loop(
            "float *a, float *b",
            plane("b[i*n + j] = 0.25f * (a[(i-1)*n + j] + a[i*n + j + 1] + a[i*n + n + j]);"),
            plane("a[i*n + j] = 0.25f * (b[(i-1)*n + j - 1] + b[i*n + j] + b[i*n - n + j]);"),
        ),
        {"a": ((N2 * N2,), "f4"), "b": ((N2 * N2,), "f4")},
    ),
    "ghost cells behind a pointer": (
        loop(
            "float *a, float *b",
            plane("b[i*(n + 2) + j] = 0.25f * (a[(i-1)*(n + 2) + j] + a[(i+1)*(n + 2) + j - 1]);"),
            plane("a[i*(n + 2) + j] = 0.25f * (b[(i-1)*(n + 2) + j + 1] - b[i*(n + 2) + j]);"),
        ),
        {"a": (((N2 + 2) * (N2 + 2),), "f4"), "b": (((N2 + 2) * (N2 + 2),), "f4")},
    ),
    "sizes and iterators without a sign": (
        "#include <stddef.h>\n"
        + loop(
            "float *a, float *b",
            plane("b[i*n + j] = 0.25f * (a[(i-1)*n + j] + a[i*n + j + 1]);"),
            plane("a[i*n + j] = 0.25f * (b[(i+1)*n + j - 1] + b[i*n + j]);"),
        )
        .replace("int n", "size_t n")
        .replace("int i", "size_t i")
        .replace("int j", "size_t j"),
        {"a": ((N2 * N2,), "f4"), "b": ((N2 * N2,), "f4")},
    ),
    "two rows of one array": (
        loop(
            "int a[2][n]",
            line("a[1][i] = (a[0][i-1] + a[0][i+1]) / 2;"),
            line("a[0][i] = (a[1][i-2] + a[1][i+2]) / 2;", 2),
        ).replace("i = 1; i < n - 1", "i = 2; i < n - 2"),
        {"a": ((2, N1), "i4")},
    ),
    "bytes": (
        loop(
            "unsigned char a[n], unsigned char b[n]",
            line("b[i] = a[i-1] + a[i+1];"),
            line("a[i] = b[i-1] ^ b[i+1];"),
        ),
        {"a": ((N1,), "u1"), "b": ((N1,), "u1")},
    ),
}


@pytest.mark.parametrize("name", quick_of(CASES, {"one region by parity"}))
def test_several_sweeps_at_once_are_those_of_the_source(name: str, tmp_path: Path) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    source, arrays = CASES[name]
    compilation = compilation_of(source)
    (plan,) = compilation.plan.functions
    host = interface(plan)
    region = plan.regions[-1]
    assert host.tile is not None
    assert region.several, compilation.trees[0].alternatives
    (several,) = region.several
    built = build(compilation, sources_of(source), tmp_path / "work", c=c, cxx=cxx)
    random = np.random.RandomState(1)
    largest = N2 if "B1" in source else N1
    ran: set[int] = set()
    for number in range(several.first, several.first + len(several.instances)):
        for n, steps in ((largest, 9), (largest - 70, 2), (largest - 1, 16), (9, 5), (3, 5), (largest, 1)):
            data: dict[str, Any] = {}
            for array, (shape, kind) in arrays.items():
                # Data is as large as it can be, rows are as long as the size says.
                shape = tuple({largest: n, largest * largest: n * n}.get(extent, extent) for extent in shape)
                values = random.randint(0, 100, shape)
                data[array] = (values * 0.37).astype(kind) if kind[0] == "f" else values.astype(kind)
            expected, actual = ({k: v.copy() for k, v in data.items()} for _ in range(2))
            scalars = {"T": steps, "n": n, "r": 0.3, "f_2_time": 0.9}
            program = {a.name: 4 for a in host.program} | {host.tile: region.tile_of(number)}
            built.serial.call("f", {**scalars, **program, **expected})
            given = {a.name: scalars[a.name] for a in host.arguments if not a.pointer}
            outcome = built.kernels.call("f", {**given, **actual}, program, backwards=steps % 2 == 0)
            assert outcome.status == 0, outcome
            if outcome.leaf == number:
                ran.add(steps)
            assert first_difference(expected, actual) is None, f"{number} at n = {n}, T = {steps}"
    # The launcher says that a time tile has run, unless there were too few sweeps for one.
    assert {9, 16} <= ran
    assert 1 not in ran


ONE = plane("b[i][j] = a[i-1][j];")
OTHER = plane("a[i][j] = b[i-1][j];")
REFUSED = {
    "a loop that does more": (loop(GRIDS, ONE, "    T--;\n", OTHER), "in it is around it"),
    "a condition of the host": (loop(GRIDS, ONE, "    if (t > 2)\n", OTHER), "in it is around it"),
    "a step of two": (loop(GRIDS, ONE, OTHER, header="int t = 0; t < T; t += 2"), "'t' does not go up by 1"),
    "one sweep": (loop(GRIDS, ONE), "no two sweeps take turns"),
    "three sweeps": (loop(GRIDS, ONE, OTHER, OTHER), "no two sweeps take turns"),
    "the same grid": (loop(GRIDS, ONE, ONE), "both sweeps write the same grid"),
    "other points": (
        loop(GRIDS, ONE, plane("a[i][j] = b[i-1][j];", 2)),
        "the regions of the loop do other points, or name their blocks otherwise",
    ),
    "the sweep before the last": (
        loop(GRIDS, plane("b[i][j] = a[i-1][j] - b[i][j];"), OTHER),
        "a sweep reads something else of what the loop changes than the other grid",
    ),
    "two stores": (
        loop(f"float c[n][n], {GRIDS}", plane("b[i][j] = a[i-1][j]; c[i][j] = 1;"), OTHER),
        "a sweep does not write one element at every point, once",
    ),
    "a sum in place": (
        loop(GRIDS, plane("b[i][j] += a[i-1][j];"), OTHER),
        "a sweep does not write one element at every point, once",
    ),
    "coordinates that change places": (
        loop(GRIDS, plane("b[i][j] = a[j][i];"), OTHER),
        "the subscripts of 'a' are not the coordinates in their order",
    ),
    "what may not be read": (
        loop(GRIDS, plane("b[i][j] = i > 1 ? a[i-1][j] : 0;"), OTHER),
        "what a point reads of a grid depends on a condition",
    ),
    "neighbours in a loop": (
        loop(GRIDS, plane("float s = 0; for (int k = 0; k < T; k++) s += a[i][j]; b[i][j] = s;"), OTHER),
        "a loop of a point reads a grid",
    ),
    "the step in what is computed": (
        loop(GRIDS, plane("b[i][j] = a[i-1][j] * t;"), OTHER),
        "'t' is in what a sweep computes, or in its limits",
    ),
    "a turn that is no parity": (
        loop("float a[n], float b[n]", line("if (t % 3 == 0) a[i] = b[i-1]; else b[i] = a[i+1];")),
        "no condition says whether 't' is even",
    ),
    "a start that is not known": (
        loop(
            "float a[n], float b[n]",
            line("if (t % 2) a[i] = b[i-1]; else b[i] = a[i+1];"),
            header="int t = n; t < T; t++",
        ),
        "no condition says whether 't' is even",
    ),
    "neighbours too far away": (
        loop(GRIDS, plane("b[i][j] = a[i-9][j];", 9), plane("a[i][j] = b[i][j+9];", 9)),
        "neighbours are up to 9 points away, too far for tiles that overlap",
    ),
    "a bound that is no integer": (
        loop(f"float x, {GRIDS}", ONE, OTHER, header="int t = 0; t < T / x; t++"),
        "how many sweeps are left, or where grids are, is no integer expression over scalars",
    ),
    "a cast of what is no integer": (
        loop(f"float x, {GRIDS}", ONE, OTHER, header="int t = 0; t < (int)(x * 2.0f); t++"),
        "how many sweeps are left, or where grids are, is no integer expression over scalars",
    ),
    "a row and a column": (
        loop("float a[n][n]", line("a[i+1][0] = 0.5f * a[0][i];", 2), line("a[0][i] = a[i+1][0];", 2)),
        "nothing says that the two grids are apart",
    ),
    "a distance that a point computes": (
        loop(
            "unsigned r, float a[n], float b[n]",
            line("int k = 0; k += r; b[i+k] = 0.5f * a[i];"),
            line("int k = 1; k -= r; a[i] = 0.5f * b[i+k];"),
        ),
        "is computed by the point",
    ),
    "an iterator called parity": (
        loop(
            "float a[n], float b[n]",
            line("if (parity) b[i] = a[i-1]; else a[i] = b[i+1];"),
            header="int parity = 0; parity < T; parity++",
        ),
        "no condition says whether 'parity' is even",
    ),
    "grids of two types": (
        loop("float a[n], double b[n]", line("b[i] = a[i-1];"), line("a[i] = b[i-1];")),
        "the two grids have different types",
    ),
    "grids at a distance of any sign": (
        loop(
            "float a[3*n], int d", line("a[i] = a[2*n - d + i + 1];"), line("a[2*n - d + i] = a[i];")
        ).replace("  for", "  assert(d < n);\n  for", 1),
        "nothing says that the two grids are apart",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_time_tile_says_why(name: str) -> None:
    source, reason = REFUSED[name]
    tiles = time_tiles_of(source)
    assert tiles
    for tile in tiles:
        assert isinstance(tile, NotApplicable)
        assert reason in tile.reason


def test_what_nothing_repeats_has_no_time_tile_and_no_word_about_one() -> None:
    (tree,) = compilation_of(f"void f(int T, int n, {GRIDS}, int B0, int B1)\n{{\n{ONE}}}\n").trees
    assert all("sweeps" not in each.recipe for each in tree.alternatives)


def test_what_has_no_time_tile_is_generated_without() -> None:
    compilation = compilation_of(REFUSED["one sweep"][0])
    assert all(isinstance(tree.alternatives[-1].tree, NotApplicable) for tree in compilation.trees)
    assert not any(region.several for region in compilation.plan.functions[0].regions)


@pytest.mark.toolchain
@pytest.mark.slow  # those of the examples are compiled by `tests/specs`
@pytest.mark.parametrize("name", CASES)
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()
