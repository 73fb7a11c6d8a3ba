"""The words and lines that a warp touches, against addresses worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Options, compile_file
from comprehensive.launches import Case, cases
from comprehensive.machine.device import load_device
from comprehensive.model.access_rows import Row, rows
from comprehensive.model.block_shape import block_shape
from comprehensive.model.warp_accesses import bank_ways, serve
from tests.compiled_specs import compiled

DEVICE = load_device("sm_90")


def case(spec: str, number: int | None = None, **values: int) -> Case:
    (found,) = cases(compiled(spec), DEVICE, values, number)
    return found


def table(
    found: Case, number: tuple[int, int, int] = (0, 0, 0), warp: int = 0
) -> dict[tuple[str, bool, bool], Row]:
    """The rows by array, whether it is in shared memory, and whether it is written."""
    return {
        (row.site.array, row.site.is_shared, row.site.writes): row
        for row in rows(found.kernel, found.nest, found.launch, number, warp, found.together)
    }


@pytest.mark.parametrize("spec", ["transpose"])
def test_a_transposition_writes_down_a_column_of_shared_memory_and_along_rows_of_global_memory(
    spec: str,
) -> None:
    found = table(case(spec, 0, N=1024, B0=4, B1=32, s=2), number=(0, 1, 2), warp=1)
    # The block (x=2, y=1): rows v0 = 1, columns v1 = 2; warp 1 is u0 = 1. First k = 0: a[4 + 1][2*64 + lane].
    read = found["a", False, False]
    assert read.lanes == tuple(4 * (5 * 1024 + 128 + lane) for lane in range(32))
    assert (read.served.units, read.done, read.site.lines) == (4, 2, (16,))
    # shared_c[lane][u0]: rows of B0 words, so that eight lanes share a bank.
    stored = found["c", True, True]
    assert stored.lanes == tuple(4 * (4 * lane + 1) for lane in range(32))
    assert (stored.served.units, stored.served.least) == (4, 1)
    assert set(bank_ways(stored.lanes, 4).values()) == {4}
    assert stored.stride == Polynomial.symbol("B0")
    written = found["c", False, True]
    # Rows of B0 = 4 elements are copied out by the first four threads along x; warp 1 has row 1 first.
    assert written.site.is_added
    assert written.lanes[:4] == tuple(4 * ((128 + 1) * 1024 + 4 + x) for x in range(4))
    assert set(written.lanes[4:]) == {None}


@pytest.mark.parametrize("spec", ["matmul"])
def test_words_of_a_block_are_those_of_all_threads_in_all_turns(spec: str) -> None:
    found = table(case(spec, 0, n=128, B0=16, ub1=16, s=4))
    steps = 128 // 16
    assert found["a", False, False].words == RationalFunction(steps * 16 * 16)
    assert found["b", False, False].words == RationalFunction(steps * 16 * 64)
    assert found["b", True, False].words == RationalFunction(steps * 16 * 16 * 16 * 4)


@pytest.mark.parametrize("spec", ["transpose"])
def test_without_numbers_strides_are_symbols_and_what_depends_on_them_is_a_bound(spec: str) -> None:
    found = table(case(spec, 0))
    assert found["c", True, True].stride == Polynomial.symbol("B0")
    assert found["c", True, True].is_bound
    assert not found["a", False, False].is_bound
    assert found["a", False, False].served.units == 4


@pytest.mark.parametrize(
    ("lanes", "width", "shared", "units", "least"),
    [
        ([4 * k for k in range(32)], 4, False, 4, 4),
        ([4 + 4 * k for k in range(32)], 4, False, 5, 4),
        ([0] * 32, 4, False, 1, 1),
        ([16 * k for k in range(32)], 16, False, 16, 16),
        ([128 * k for k in range(32)], 4, True, 32, 1),
        ([132 * k for k in range(32)], 4, True, 1, 1),
        ([0] * 32, 4, True, 1, 1),
        ([8 * k for k in range(32)], 8, True, 2, 2),
        ([None] * 31 + [400], 4, True, 1, 1),
    ],
)
def test_sectors_and_banks_of_lanes(
    lanes: list[int | None], width: int, shared: bool, units: int, least: int
) -> None:
    served = serve(lanes, width, is_shared=shared)
    assert (served.units, served.least) == (units, least)


@pytest.mark.parametrize("spec", ["jacobi2d"])
def test_a_block_of_a_stencil_has_a_halo_around_what_it_writes(spec: str) -> None:
    (first, _) = cases(compiled(spec), DEVICE, {}, 0)
    shape = block_shape(first.kernel, first.nest)
    read, written = shape.elements
    assert (read.array, read.halo) == ("a", ((1, 1), (1, 1)))
    assert [str(extent) for extent in read.extents] == ["B0 + 2", "B1 + 2"]
    assert (written.array, written.halo, written.writes) == ("b", (), True)
    assert [tile.array for tile in shape.shared] == ["a"]


@pytest.mark.parametrize("spec", ["matmul"])
def test_a_block_of_a_tile_has_the_extents_of_the_tile_in_symbols(spec: str) -> None:
    region = compiled(spec).plan.functions[0].regions[0]
    found = case(spec, region.tilings[0].first)
    elements = {each.array: each for each in block_shape(found.kernel, found.nest).elements}
    assert [str(extent) for extent in elements["c"].extents] == ["T0*U0", "T1*U1"]
    assert [str(extent) for extent in elements["c"].each] == ["U0", "U1"]
    assert elements["c"].halo == ()
    assert "private_c" in [name for name, _ in block_shape(found.kernel, found.nest).registers]


def test_data_in_a_subscript_is_a_bound_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "gather.mf"
    path.write_text(
        "void gather(int n, const int p[n], const float x[n], float y[n], int B)\n{\n"
        "  meta_schedule block(B) {\n    meta_for (int i = 0; i < n; i++)\n      y[i] = x[p[i]];\n  }\n}\n"
    )
    compilation = compile_file(path, Options(registers="estimate"))
    (found,) = cases(compilation, DEVICE, {"n": 64, "B": 32}, 0)
    row = table(found)["x", False, False]
    assert (row.by_data, row.is_bound, row.most) == (True, True, 32)


def test_a_grid_with_a_slanted_edge_has_the_numbers_of_its_launch(tmp_path: Path) -> None:
    path = tmp_path / "triangle.mf"
    path.write_text(
        "void triangle(int n, float a[n][n], int B0, int B1)\n{\n"
        "  meta_schedule block(B0, B1) {\n    meta_for (int i = 0; i < n; i++)\n"
        "      meta_for (int j = 0; j <= i; j++)\n        a[i][j] = 1;\n  }\n}\n"
    )
    compilation = compile_file(path, Options(registers="estimate"))
    (found,) = cases(compilation, DEVICE, {"n": 64, "B0": 8, "B1": 32}, 0)
    assert found.kernel.staircase is not None
    assert found.launch is not None
    blocks = set[int]()
    _, down, across = found.launch.grid
    for y in range(down):
        for x in range(across):
            for row in table(found, number=(0, y, x), warp=7).values():
                blocks |= {lane // 4 // 64 // 8 for lane in row.lanes if lane is not None}
    # Row 7 of every row of blocks, up to the diagonal, is done by the last warp of some block.
    assert blocks == set(range(8))


def test_only_regions_that_access_a_line_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "two.mf"
    path.write_text(
        "void one(int n, float a[n], int B)\n{\n  meta_schedule block(B) {\n"
        "    meta_for (int i = 0; i < n; i++)\n      a[i] = 1;\n  }\n}\n"
        "void two(int m, float b[m], int C)\n{\n  meta_schedule block(C) {\n"
        "    meta_for (int i = 0; i < m; i++)\n      b[i] = 2;\n  }\n}\n"
    )
    compilation = compile_file(path, Options(registers="estimate"))
    assert [c.region for c in cases(compilation, DEVICE, {}, line=12)] == ["two"]
    with pytest.raises(CommandLineError, match="lines that do are 5, 12"):
        cases(compilation, DEVICE, {}, line=4)
