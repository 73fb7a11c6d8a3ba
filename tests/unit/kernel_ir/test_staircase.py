"""Blocks outside of a slanted edge are left out of a launch, and every block inside is in it once."""

from __future__ import annotations

import ctypes
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from comprehensive.codegen.runtime_files import RUNTIME, plain_files
from comprehensive.driver import Compilation
from comprehensive.generate import source_texts
from comprehensive.kernel_ir.staircase import LARGEST, LAUNCHED, Launched, Shape, band, folded
from comprehensive.loops.interpreter import run
from comprehensive.model.launched import launched_blocks
from comprehensive.plan.interface import interface
from comprehensive.runtime.cpu import CpuLibrary, build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.examples import examples, quick_of
from tests.unit.schedule.tile_runs import compilation_of

SIZE = st.integers(1, 24)
STEP = st.integers(1, 40)


def visited(
    found: Launched, rows: int, columns: int, inside: Callable[[int, int], bool]
) -> Counter[tuple[int, int]]:
    """The blocks that a kernel comes to, as its statements say (`codegen/slanted.py`)."""
    seen: Counter[tuple[int, int]] = Counter()
    for y in range(found.rows):
        for x in range(found.columns):
            row = y if x < columns and inside(y, x) else found.mirror - y
            column = x if row == y else found.columns - 1 - x
            if y <= row < rows and column < columns and inside(row, column):
                seen[row, column] += 1
    return seen


@given(SIZE, SIZE, STEP, STEP, st.integers(-5, 1200))
@example(24, 24, 1, 1, 23)
@settings(max_examples=examples(1000), deadline=None)
def test_every_block_inside_has_one_place(rows: int, columns: int, down: int, right: int, most: int) -> None:
    def inside(row: int, column: int) -> bool:
        return down * row + right * column <= most

    found = folded(rows, columns, down, right, most)
    needed = {(r, c) for r in range(rows) for c in range(columns) if inside(r, c)}
    assert visited(found, rows, columns, inside) == Counter(needed)
    assert found.rows * found.columns <= rows * columns
    longest = max((sum(r == row for row, _ in needed) for r, _ in needed), default=0)
    is_triangle = most < right * columns  # no row is cut by the end of the grid
    if is_triangle:
        assert found.rows * found.columns <= len(needed) + found.rows + longest
    assert 7 * found.rows * found.columns <= 8 * len(needed) + 7 * (found.rows + 2 * longest)


@given(
    SIZE,
    SIZE,
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(-30, 30),
    st.integers(-30, 60),
)
@settings(max_examples=examples(1000), deadline=None)
def test_a_row_of_a_band_has_room_in_the_launch(
    rows: int, columns: int, low: int, high: int, up: int, down: int, begin: int, end: int
) -> None:
    """The band goes from low*c >= up*r + begin to high*c <= down*r + end."""
    first = end * low - begin * high
    last = first + (down * low - up * high) * (rows - 1)
    found = band(rows, columns, low * high, first, last)
    for r in range(rows):
        inside = [c for c in range(columns) if low * c >= up * r + begin and high * c <= down * r + end]
        begins = max(0, -(-(up * r + begin) // low))
        assert inside == [] or (r < found.rows and inside[0] == begins and len(inside) <= found.columns)
    assert found.columns <= columns


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    work = tmp_path_factory.mktemp("staircase")
    text = plain_files()[RUNTIME]
    exported = "\n".join(
        f"void {shape.name}(const long long *a, long long *to) {{\n"
        f"  const cf_staircase found = {shape.value}(a[0], a[1], a[2], a[3], a[4]);\n"
        "  to[0] = found.rows; to[1] = found.columns; to[2] = found.mirror;\n}"
        for shape in Shape
    )
    (work / "staircase.c").write_text(f"{text}\n{exported}\n")
    compiler = find_c_compiler()
    assert compiler is not None
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-fPIC", "-shared")
    overflow = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
    library = work / "staircase.so"
    command = (*compiler.command, *flags, *overflow, "-o", str(library), str(work / "staircase.c"))
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


EDGES = [
    -(2**63),
    -LARGEST,
    -1,
    0,
    1,
    2**19,
    2**19 + 1,
    2**30,
    2**30 + 1,
    2**31,
    LARGEST - 1,
    LARGEST,
    2**63 - 1,
]
NUMBER = st.one_of(st.integers(-3, 2000), st.sampled_from(EDGES), st.integers(-(2**63), 2**63 - 1))


@given(st.sampled_from(Shape), st.tuples(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER))
@settings(max_examples=examples(1000), deadline=None)
def test_the_header_computes_what_the_model_does(
    in_c: ctypes.CDLL, shape: Shape, arguments: tuple[int, int, int, int, int]
) -> None:
    answer = (ctypes.c_longlong * 3)()
    getattr(in_c, shape.name)((ctypes.c_longlong * 5)(*arguments), answer)
    assert Launched(*answer) == LAUNCHED[shape](*arguments)


# --- whole programs

TOLD = """
extern "C" __attribute__((visibility("default"))) void told(unsigned *to)
{
  to[0] = gridDim.x; to[1] = gridDim.y; to[2] = gridDim.z;
  gridDim = dim3(0, 0, 0);
}
"""
HEAD = "void f(int n, int m, int B, int C, int *a)"
TWO = {
    "j <= i": "meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j <= i; j++)",
    "j < i": "meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < i; j++)",
    "j >= i": "meta_for (int i = 0; i < n; i++) meta_for (int j = i; j < n; j++)",
    "j > i": "meta_for (int i = 0; i < n; i++) meta_for (int j = i + 1; j < n; j++)",
    "i + j < n": "meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < n - i; j++)",
    "i + j >= n": "meta_for (int i = 0; i < n; i++) meta_for (int j = n - i; j < n; j++)",
    "steep": "meta_for (int i = 0; i < n; i++) meta_for (int j = 2 * i + 3; j < m; j++)",
    "trapezoid": "meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < i + m; j++)",
    "three halves": "meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < 3 * i + 2; j++)",
    "band": "meta_for (int i = 0; i < n; i++) meta_for (int j = i; j <= i + 2; j++)",
    "wide band": "meta_for (int i = 0; i < n; i++) meta_for (int j = i; j < i + m; j++)",
    "two slopes": "meta_for (int i = 0; i < n; i++) meta_for (int j = i; j <= 2 * i; j++)",
    "roof": "meta_for (int i = 0; i < n; i++) meta_for (int j = i; j < n - i; j++)",
}
BATCH = "meta_for (int b = 0; b < m; b++)"
ROW = "meta_for (int i = 0; i < n; i++)"
THREE = {
    "triangles": f"{BATCH} {TWO['j <= i']}",
    "triangle around": f"{TWO['j < i']} {BATCH}",
    "triangle across": f"{ROW} {BATCH} meta_for (int j = i; j < n; j++)",
    "simplex": f"{TWO['j <= i']} meta_for (int b = 0; b <= j; b++)",
    "bands around": f"{TWO['band']} {BATCH}",
}
WIDE = 64
STORE = {"two": f"a[i * {WIDE} + j] += 1;", "three": f"a[(i * {WIDE} + j) * 8 + b] += 1;"}
BLOCKS = {"two": "block(B, C)", "three": "block(B, C, 2)"}


def program(loops: str, kind: str, *, by_hand: bool) -> str:
    if not by_hand:
        return f"{HEAD} {{ meta_schedule {BLOCKS[kind]} {{ {loops} {STORE[kind]} }} }}"
    threads = "meta_for (int p = 0; p < 1; p++) " * (2 if kind == "two" else 3)
    for name in "pqr"[1 : 2 if kind == "two" else 3]:
        threads = threads.replace("int p = 0; p < 1; p++", f"int {name} = 0; {name} < 1; {name}++", 1)
    return f"{HEAD} {{ meta_schedule {{ {loops} {threads} {STORE[kind]} }} }}"


CASES = [(name, "two", by_hand) for name in TWO for by_hand in (False, True)]
CASES += [(name, "three", name == "simplex") for name in THREE]
# Both edges of triangles, what a band has, three coordinates, and grids by hand.
QUICK = {
    ("j <= i", "two", False),
    ("i + j >= n", "two", True),
    ("wide band", "two", False),
    ("simplex", "three", True),
}


def compiled(compilation: Compilation, work: Path) -> CpuLibrary:
    for file, text in source_texts(compilation.plan).items():
        (work / file).write_text(text + (TOLD if file.endswith(".cu") else ""))
    compiler = find_cxx_compiler()
    assert compiler is not None
    hosts = [interface(function) for function in compilation.plan.functions]
    return build(work / "f.cu", work, hosts, sanitize=False, compiler=compiler)


def launch(library: CpuLibrary, size: Mapping[str, int], data: np.ndarray[Any, Any]) -> tuple[int, int, int]:
    """Return how many blocks are launched along x, y and z."""
    names = [a.name for a in library.interfaces["f"].program]
    others = {name: value for name, value in size.items() if name not in names}
    grid = (ctypes.c_uint * 3)()
    library.shared.told(grid)
    outcome = library.call("f", {**others, "a": data}, {name: size[name] for name in names})
    assert outcome.status == 0, outcome
    library.shared.told(grid)
    return grid[0], grid[1], grid[2]


@pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
@pytest.mark.parametrize(("name", "kind", "by_hand"), quick_of(CASES, QUICK))
def test_points_are_those_of_the_program_and_blocks_as_few_as_the_model_says(
    tmp_path: Path, name: str, kind: str, by_hand: bool
) -> None:
    compilation = compilation_of(program({**TWO, **THREE}[name], kind, by_hand=by_hand))
    ((region,),) = (function.regions for function in compilation.plan.functions)
    leaf = region.leaves[0]
    assert leaf.kernel.staircase is not None
    library = compiled(compilation, tmp_path)
    sizes = [0, 1, 2, 3, 5, 8, 13, 20] if kind == "two" else [0, 1, 2, 3, 7]
    for n in sizes:
        for m, B, C in ((1, 1, 1), (4, 2, 3), (7, 4, 1), (2, 32, 16), (5, 3, 8)):
            size = {"n": n, "m": m, "B": B, "C": C}
            values = {s.name: size[s.name] for s in region.nest.scalars}
            expected = np.zeros(WIDE * WIDE * 8, np.int32)
            expected = run(region.nest, values, {"a": expected})["a"]
            found = np.zeros(WIDE * WIDE * 8, np.int32)
            grid = launch(library, size, found)
            assert np.array_equal(found, expected), size
            model = launched_blocks(leaf.kernel, leaf.nest, values)
            assert grid == (model if min(model) > 0 else (0, 0, 0)), size


@pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
@pytest.mark.parametrize(
    "name",
    quick_of(
        ["j <= i", "j < i", "j >= i", "j > i", "i + j < n", "steep", "three halves"],
        {"j > i", "steep"},
    ),
)
def test_next_to_no_block_of_a_triangle_is_launched_in_vain(tmp_path: Path, name: str) -> None:
    library = compiled(compilation_of(program(TWO[name], "two", by_hand=False)), tmp_path)
    for n, m, B, C in ((60, 60, 1, 1), (60, 60, 2, 3), (57, 40, 3, 1), (16, 63, 1, 2)):
        if name == "three halves":
            n //= 3
        data = np.zeros(WIDE * WIDE * 4, np.int32)
        x, y, z = launch(library, {"n": n, "m": m, "B": B, "C": C}, data)
        rows, columns = np.nonzero(data.reshape(-1, WIDE))
        first = 3 if name == "steep" else 1 if name == "j > i" else 0
        needed = len(set(zip((rows // B).tolist(), ((columns - first) // C).tolist(), strict=True)))
        # Blocks are cut by the end of the range, so that a row may be a block longer than the points need.
        assert z == 1
        assert x * y <= needed + 3 * y + x, (n, m, B, C)


@pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
@pytest.mark.parametrize(
    ("condition", "values"),
    [("m * j >= i && j <= i + 2", (-3, 0, 1, 2)), ("j + n >= i - m && j <= i + 2", (3, 1_500_000_000))],
)
def test_edges_whose_numbers_are_anything_lose_no_block(
    tmp_path: Path, condition: str, values: Sequence[int]
) -> None:
    points = "meta_for (int p = 0; p < 1; p++) meta_for (int q = 0; q < 1; q++)"
    grid = "meta_for (int i = 0; i < B; i++) meta_for (int j = 0; j < C; j++)"
    text = f"{HEAD} {{ meta_schedule {{ {grid} {{ if ({condition}) {{ {points} {STORE['two']} }} }} }} }}"
    compilation = compilation_of(text)
    ((region,),) = (function.regions for function in compilation.plan.functions)
    assert region.leaves[0].kernel.staircase is not None
    library = compiled(compilation, tmp_path)
    for m in values:
        size = {"n": abs(m), "m": m, "B": 8, "C": 9}
        scalars = {s.name: size[s.name] for s in region.nest.scalars}
        expected = run(region.nest, scalars, {"a": np.zeros(WIDE * WIDE, np.int32)})["a"]
        found = np.zeros(WIDE * WIDE, np.int32)
        launch(library, size, found)
        assert np.array_equal(found, expected), size
