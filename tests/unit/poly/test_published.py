"""The footprints and verdicts that the paper publishes (comprehensive, figures 1, 3, 7, 8), exactly."""

from __future__ import annotations

import pytest

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Nest
from comprehensive.poly.footprint import footprint
from comprehensive.poly.legality import parallel_loops, serial_is_parallel, threads_meet
from comprehensive.poly.model import Conflict, Footprint, Level, Parallel
from tests.unit.poly.nests import (
    assign,
    jacobi,
    jacobi_scaled,
    let,
    matadd,
    matmul,
    nest,
    stencil,
    threads,
    transposition,
)

B, B0, B1, s, ub1 = (Polynomial.symbol(n) for n in ("B", "B0", "B1", "s", "ub1"))


def tiles_of(region: Nest, array: str, level: Level = Level.BLOCK) -> Footprint:
    found = footprint(region, 0, array, level)
    assert isinstance(found, Footprint), found
    return found


@pytest.mark.parametrize("odd", [True, False])
def test_jacobi_needs_2sB_plus_2_words_in_each_parity_cell(odd: bool) -> None:
    # comprehensive, figure 7, first case
    found = tiles_of(jacobi(odd=odd), "a")
    assert found.elements == found.count == 2 * s * B + 2
    assert [t.elements for t in found.tiles] == [s * B + 2, s * B]


@pytest.mark.parametrize("region", [jacobi(s=False), jacobi_scaled()], ids=["recomputed grid", "scaled grid"])
def test_jacobi_of_one_element_a_thread_needs_2B_plus_2_words(region: Nest) -> None:
    # comprehensive, figure 7, second case
    found = tiles_of(region, "a")
    assert found.elements == found.count == 2 * B + 2


def test_jacobi_loads_the_half_it_reads_and_stores_the_half_it_writes() -> None:
    read, written = tiles_of(jacobi(), "a").tiles
    assert read.load is not None
    assert read.load.is_true
    assert read.store is None
    assert written.load is None
    assert written.store is not None
    assert written.store.is_true


@pytest.mark.parametrize("true_transpose", [True, False])
def test_transposition_needs_2sB0B1_words(true_transpose: bool) -> None:
    # comprehensive, figure 8, first case; both ways of writing c
    region = transposition(true_transpose=true_transpose)
    a, c = tiles_of(region, "a"), tiles_of(region, "c")
    assert a.elements + c.elements == 2 * s * B0 * B1
    assert (a.count, c.count) == (s * B0 * B1, s * B0 * B1)


def test_transposition_of_one_element_a_thread_needs_2B0B1_words() -> None:
    # comprehensive, figure 8, second case
    region = transposition(s=False)
    assert tiles_of(region, "a").elements + tiles_of(region, "c").elements == 2 * B0 * B1


def test_matrix_multiplication_needs_B0_B0_and_B0_s_ub1_words_a_step() -> None:
    # comprehensive, figures 3 and 4
    a, b = tiles_of(matmul(), "a"), tiles_of(matmul(), "b")
    assert (a.elements, a.count) == (B0 * B0, B0 * B0)
    assert (b.elements, b.count) == (B0 * s * ub1, B0 * s * ub1)


def test_a_thread_of_matrix_multiplication_keeps_s_words_of_c_ub1_apart() -> None:
    # comprehensive, figure 4: private_c[1][S]
    found = tiles_of(matmul(), "c", Level.THREAD)
    assert found.elements == found.count == s
    assert found.tiles[0].stride == (Polynomial.constant(1), ub1)


def test_staging_matrix_multiplication_keeps_a_row_of_tiles_small() -> None:
    assert tiles_of(matmul(), "c", Level.GRID).elements == B0 * s * ub1
    assert tiles_of(matmul(), "a", Level.GRID).elements == B0 * B0 * Polynomial.symbol("dim0")


def test_matrix_addition_needs_6B0B1_words_in_disjoint_halves() -> None:
    # comprehensive, figure 1
    counts = [tiles_of(matadd(), array).count for array in "abc"]
    assert counts == [2 * B0 * B1] * 3
    assert all(len(tiles_of(matadd(), array).tiles) == 2 for array in "abc")


@pytest.mark.parametrize("pointer", [True, False])
@pytest.mark.parametrize("ceiling", [True, False])
def test_a_5_point_stencil_touches_a_cross_in_its_hull(pointer: bool, ceiling: bool) -> None:
    found = tiles_of(stencil(pointer=pointer, ceiling=ceiling), "a")
    assert found.count == B0 * B1 + 2 * B0 + 2 * B1
    assert found.elements == (B0 + 2) * (B1 + 2)


@pytest.mark.parametrize(
    ("region", "serial"),
    [(jacobi(), "k"), (jacobi(whole=True), "k"), (transposition(), "k"), (matmul(), "w")],
    ids=["jacobi", "jacobi with both cells", "transposition", "matmul"],
)
def test_the_loops_of_the_paper_are_parallel(region: Nest, serial: str) -> None:
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(region))
    assert isinstance(serial_is_parallel(region, 0, serial), Parallel)


def test_the_loop_that_adds_up_in_matrix_multiplication_is_not_parallel() -> None:
    verdict = serial_is_parallel(matmul(), 0, "z")
    assert isinstance(verdict, Conflict)
    assert verdict.witness.array == "c"
    assert verdict.witness.first["z"] != verdict.witness.second["z"]


def test_matrix_multiplication_needs_no_barrier_before_its_arrays_are_cached() -> None:
    assert not threads_meet(matmul())


@pytest.mark.parametrize("statement", ["a[p + 1] = a[p] + a[p + 2]", "a[p] = a[N - 1 - p]"])
def test_stencils_and_reversals_in_place_are_refused_with_a_witness(statement: str) -> None:
    region = nest(
        threads("j < B", let("p", "i*B + j"), assign(statement)),
        grid="i < dim",
        arrays={"a": "N"},
        data="N",
        program="B",
        host={"dim": "(N - 2)/B"},
    )
    verdicts = dict(parallel_loops(region))
    assert isinstance(verdicts["i"], Conflict)
    assert isinstance(verdicts["j"], Conflict)
