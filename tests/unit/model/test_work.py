"""Counts of the model where they can be found by hand."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.kernel_ir.instructions import SLOW
from comprehensive.machine.cost import HINDRANCE, Launch, TileWork, cost, resident_blocks
from comprehensive.machine.device import load_device
from comprehensive.machine.occupancy import occupancy
from comprehensive.machine.sites import LINES_TOGETHER, MOST_APART, Shape, leaf_work
from comprehensive.machine.work import BEGUN, WAITED, Work
from comprehensive.model import block
from comprehensive.model import tile_work as tile_work_module
from comprehensive.model.accesses import Tally
from comprehensive.model.choice import launch_of
from comprehensive.model.integers import calculate
from comprehensive.model.leaf_cost import numbers
from comprehensive.model.tile_work import tile_work
from comprehensive.plan.plan import TilePlan
from comprehensive.schedule.instances import Instance
from tests.compiled_specs import compiled

LOOKED_UP = """void f(int m, int n, int k, const float a[m][k], const float b[256][n], const unsigned char at[k],
       const unsigned char of[n][k], float c[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
          c[i][j] += a[i][l] * b[%s][j];
  }
}
"""
PROGRAMS = Path(__file__).parents[2] / "golden" / "programs"
ARITHMETIC_AND_ADDRESSES = 3
"""Instructions of an access: itself and two for its address."""


def test_a_warp_that_reads_a_row_touches_four_sectors_of_one_line() -> None:
    tally = Tally(32)
    tally.of_global("a", np.arange(32) * 4, 4, 1, None, stores=False)
    work = tally.work()
    assert (work.wavefronts, work.bytes, work.instructions) == (1, 128, ARITHMETIC_AND_ADDRESSES)


def test_a_warp_that_reads_a_column_touches_as_many_sectors_and_lines_as_it_has_threads() -> None:
    tally = Tally(32)
    tally.of_global("a", np.arange(32) * 4096, 4, 1, None, stores=False)
    work = tally.work()
    assert (work.wavefronts, work.bytes) == (32, 32 * 32)


def test_rows_off_by_one_element_touch_one_sector_and_one_line_more() -> None:
    tally = Tally(32)
    tally.of_global("a", np.arange(32) * 4 + 4, 4, 1, None, stores=False)
    work = tally.work()
    assert (work.wavefronts, work.bytes) == (2, 5 * 32)


def test_rows_that_all_threads_look_up_are_read_as_rows_and_others_element_by_element(tmp_path: Path) -> None:
    sectors: dict[str, float] = {}
    for row in ("2 * at[l]", "of[j][l]"):
        path = tmp_path / "f.mf"
        path.write_text(LOOKED_UP % row, encoding="utf-8")
        (region,) = compile_file(path, Options(registers="estimate")).plan.functions[0].regions
        (tile,) = (each for each in region.tilings if each.recipe == "window product")
        (instance,) = (each for each in tile.instances if each.sizes == (4, 32, 4, 4, 8, 3, 4))
        sectors[row] = tile.work(instance, tile.kernel.together[0]).step.bytes / 32
    # A row of b for all 4 x 32 threads, which read four elements each, in each of 8 steps.
    rows, elements = 8 * 4 * 32 * 4 // 32, 8 * 4 * 32 * 4
    staged = sectors["2 * at[l]"] - rows
    assert 0 < staged < rows
    assert sectors["of[j][l]"] >= elements


@pytest.mark.parametrize(
    ("distance", "wavefronts"),
    [(0, 1), (1, 1), (2, 2), (8, 8), (32, 32), (33, 1)],
    ids=lambda v: str(v),
)
def test_banks_serve_one_word_each_at_a_time(distance: int, wavefronts: int) -> None:
    tally = Tally(32)
    tally.of_shared(np.arange(32) * 4 * distance, 4, 1, None, stores=False)
    assert tally.work().wavefronts == wavefronts


def test_sixteen_bytes_a_thread_take_four_wavefronts_unless_threads_read_the_same() -> None:
    apart, together = Tally(32), Tally(32)
    apart.of_shared(np.arange(32) * 16, 16, 1, None, stores=False)
    together.of_shared(np.arange(32) // 8 * 16, 16, 1, None, stores=False)
    assert apart.work().wavefronts == 4
    assert together.work().wavefronts == 1


def test_a_region_waits_once_for_all_its_loads() -> None:
    tally = Tally(32)
    for array in ("a", "b"):
        tally.of_global(array, np.arange(32) * 4, 4, 1, None, stores=False)
    tally.end_of_region(1)
    tally.of_global("a", np.arange(32) * 4 + 128, 4, 1, None, stores=False)
    tally.end_of_region(3)
    assert tally.work().waits == 4


def test_what_the_region_before_has_read_is_in_the_first_level_cache() -> None:
    tally = Tally(32)
    for sector in (0, 0, 1, 0):
        tally.of_global("a", np.arange(32) % 8 * 4 + 32 * sector, 4, 1, None, stores=False)
        tally.end_of_region(1)
    work = tally.work()
    assert (work.waits, work.shared_waits) == (3, 1)


@pytest.mark.parametrize(
    ("width", "rows", "lines"), [(16, 8, 32), (16, 1, 4), (4, 8, 8), (4, 1, 1), (8, 8, 16)]
)
def test_of_vectors_each_part_of_a_warp_is_served_on_its_own(width: int, rows: int, lines: int) -> None:
    """Neighbouring lanes in so many rows, which begin at lines: 8 lanes ask for 16 bytes each at a time."""
    tally = Tally(32)
    tally.of_global("a", np.arange(32) % rows * 128, width, 1, None, stores=False)
    assert tally.work().wavefronts == lines


def test_a_step_of_a_product_does_every_multiply_add_of_its_tile_once() -> None:
    """16 x 16 threads with 8 x 8 values each, 16 steps at a time: twice 128 * 16 elements come for 128 * 128 * 16."""
    compilation = compiled("gemm")
    region = compilation.plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance((16, 16, 8, 8, 16, 3, 2)), 4)
    multiply_adds = 128 * 128 * 16 // 32
    fetched, staged, put = 128 * 16 // 4 // 32, 128 * 16 // 4 // 32, 128 * 16 // 32
    read = 16 * (8 + 8) // 4 * 8  # of shared memory, 16 bytes a thread
    accesses = 3 * fetched + (3 + 1) * staged + put + 2 * read
    assert work.step.bytes == 2 * 128 * 16 * 4
    assert work.step.barriers == 1
    # What is read a step ahead of time is read twice in the model: at the end of a piece, and not at its beginning.
    assert multiply_adds + accesses - 2 * 4 * 8 <= work.step.instructions <= multiply_adds + accesses
    assert work.ahead == 2
    assert work.threads == 256


def test_a_step_of_a_product_that_is_not_whole_does_the_multiply_adds_of_its_turns() -> None:
    region = compiled("gemm").plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance((16, 16, 8, 8, 16, 3, 2)), 4)
    multiply_adds, read = 128 * 128 // 32, (8 + 8) // 4 * 8
    assert multiply_adds <= work.kiloturn.instructions / 1000 <= multiply_adds + 5 * read
    assert work.part.instructions < work.step.instructions / 4
    machine = load_device("h200").machine()
    cycles = [
        found.cycles
        for turns in range(16, 32)
        for found in [
            cost(machine, work, Launch(132, turns // 16, int(turns % 16 > 0), turns % 16, False, 0))
        ]
        if found is not None
    ]
    assert cycles == sorted(set(cycles))  # a whole step is unrolled, and may cost less than its turns


@pytest.mark.parametrize(
    "header",
    ["l = i * 2 % 64; l < n; l += 2", "l = n; l >= i % 40; l -= 3", "l = 7 * (i % 32); l < n; l += 5"],
)
def test_a_few_turns_stand_for_those_of_loops_that_differ_from_thread_to_thread(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "loops.mf"
    body = f"float s = 0; for (int {header}) s += x[l] * x[i]; y[i] = s;"
    source.write_text(
        "void f(int m, int n, const float x[n + 1], float y[m], int B) "
        f"{{ meta_schedule block(B) {{ meta_for (int i = 0; i < m; i++) {{ {body} }} }} }}"
    )
    monkeypatch.setattr(tile_work_module, "ALIGNED", 512)
    plan, *_ = compile_file(source, Options(registers="estimate")).plan.functions[0].regions[0].tilings
    tile_work.cache_clear()
    sampled = plan.work(plan.instances[0], 0)
    monkeypatch.setattr(block, "FIRST_TURNS", 1 << 20)
    tile_work.cache_clear()
    exact = plan.work(plan.instances[0], 0)
    tile_work.cache_clear()
    assert sampled != exact
    for name in ("instructions", "wavefronts", "depth"):
        assert getattr(sampled.once, name) == pytest.approx(getattr(exact.once, name), rel=0.05)


def test_copies_ahead_of_a_loop_are_no_more_than_the_loop_has_steps() -> None:
    """Two pieces are begun before the loop, and none behind its end: 3 steps read three pieces, not five."""
    region = compiled("gemm").plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance((16, 16, 8, 8, 16, 3, 2)), 4)
    # What is left beside the steps is the tile of the result, read and written.
    assert work.once.bytes == 2 * 128 * 128 * 4


def test_rows_of_arrays_with_more_dimensions_than_coordinates_lie_apart(tmp_path: Path) -> None:
    """Each of 512 points reads an element of three planes of its own, and writes one."""
    source = tmp_path / "f.mf"
    source.write_text(
        "void f(int d, int h, int w, const float c[3][d][h][w], float b[d][h][w], int B)\n"
        "{ meta_schedule block(B, B, B) { meta_for (int i = 0; i < d; i++) meta_for (int j = 0; j < h; j++)\n"
        "meta_for (int k = 0; k < w; k++) b[i][j][k] = c[0][i][j][k] + c[1][i][j][k] + c[2][i][j][k]; } }\n"
    )
    plan, *_ = compile_file(source, Options(registers="estimate")).plan.functions[0].regions[0].tilings
    sizes = plan.sizes(plan.instances[0])
    points = prod(sizes[c.each] * sizes[c.threads] for c in plan.tile.coordinates)
    assert plan.work(plan.instances[0], 0).once.bytes == 4 * 4 * points


def test_a_stencil_reads_its_tile_with_a_halo_and_writes_its_tile() -> None:
    """32 x 4 threads, 2 rows each: 8 rows of 128 bytes that begin a line, a sector more at both ends, 2 rows more."""
    compilation = compiled("jacobi2d")
    region = compilation.plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance((4, 32, 2, 1, 8)), 1)
    assert work.once.bytes == (8 * (4 + 2) + 2 * 4) * 32 + 8 * 4 * 32
    assert work.once.waits == 1
    assert work.step.instructions == 0
    assert work.cut_once.waits == 1  # what registers have room for is read together, too


def test_sweeps_of_a_time_tile_stay_in_shared_memory() -> None:
    compilation = compiled("jacobi1d")
    region = compilation.plan.functions[0].regions[0]
    work = region.tilings[-1].work(Instance((256, 4, 19, 6)), 0)
    assert work.step.bytes == 0
    assert work.step.barriers == 1
    assert work.shared_words == 2 * 256 * 4


def test_a_leaf_counts_what_its_block_does() -> None:
    """A transposition without shared memory: rows in, columns out."""
    compilation = compiled("transpose")
    region = compilation.plan.functions[0].regions[0]
    leaf = next(leaf for leaf in region.leaves if not leaf.nest.cached)
    values = {"N": 256, "B0": 8, "B1": 32, "s": 1, "dim0": 32, "dim1": 8}
    shape = Shape((8, 32, 1), (32, 8, 1), leaf.registers, 0)
    machine = load_device("h200").machine()
    work, launch = leaf_work(machine, leaf.profile.sites, numbers(leaf, values), shape)
    assert launch.blocks == 256
    # 8 rows, and a sector of each of 32, which alone in its line takes the time of several.
    assert work.once.bytes == 8 * 128 + 32 * 32 * MOST_APART
    assert work.once.wavefronts == 8 + 8 * 32 // LINES_TOGETHER


@pytest.mark.parametrize("device", ["sm_80", "sm_90", "sm_120", "h200"])
@pytest.mark.parametrize("sizes", [(16, 16, 8, 8, 16, 3, 2), (8, 16, 4, 4, 32, 3, 4), (8, 8, 4, 4, 16, 2, 8)])
def test_resident_blocks_are_those_of_the_occupancy_calculator(device: str, sizes: tuple[int, ...]) -> None:
    """Shared memory here is a multiple of the granularity."""
    compilation = compiled("gemm")
    region = compilation.plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance(sizes), 4)
    held = occupancy(
        load_device(device),
        threads_per_block=work.threads,
        registers_per_thread=work.registers,
        shared_bytes_per_block=4 * work.shared_words,
    )
    found = resident_blocks(load_device(device).machine(), work.warps, work.registers, work.shared_words)
    assert found == held.blocks_per_sm


def test_more_blocks_never_cost_less() -> None:
    compilation = compiled("gemm")
    region = compilation.plan.functions[0].regions[0]
    work = region.tilings[0].work(Instance((8, 16, 4, 4, 32, 3, 4)), 4)
    machine = load_device("h200").machine()
    cycles = [
        found.cycles
        for blocks in (1, 132, 133, 600, 1000, 5000, 100000)
        for found in [cost(machine, work, Launch(blocks, 32, 0, 0, False, 0))]
        if found is not None
    ]
    assert len(cycles) == 7
    assert cycles == sorted(cycles)


@pytest.mark.parametrize(("left", "right"), [(-7, 2), (7, -2), (-7, -2), (7, 2), (5, 0)])
def test_integers_divide_as_in_c(left: int, right: int) -> None:
    quotient = 0 if right == 0 else int(left / right)
    assert calculate("/", left, right) == quotient
    assert list(calculate("/", np.array([left]), right)) == [quotient]
    assert list(calculate("%", np.array([left]), right)) == [left - quotient * right]


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!=", "&&", "||"])
def test_what_compares_is_an_int_to_compute_with(operator: str) -> None:
    columns = np.array([0, 1, 2, -3]), np.array([1, 1, 0, -3])
    compared = calculate(operator, *columns)
    alone = [calculate(operator, int(left), int(right)) for left, right in zip(*columns, strict=True)]
    assert compared.tolist() == alone
    assert set(alone) <= {0, 1}
    for further, value in product(("/", "%", "+", "-", "<<", "&"), (3, -2)):
        found = calculate(further, compared, value)
        assert found.tolist() == [calculate(further, one, value) for one in alone]
    assert calculate("-", 0, compared).tolist() == [-one for one in alone]
    assert calculate("~", 0, compared).tolist() == [-1 - one for one in alone]
    assert calculate("!", 0, compared).tolist() == [1 - one for one in alone]


def test_integers_that_have_no_value_in_c_are_no_errors_here() -> None:
    column = np.array([2**62, -(2**63), 1])
    assert calculate("<<", column, -1).tolist() == [0, 0, 0]
    assert calculate(">>", 5, 64) == 0
    assert calculate("<<", 1, 10**9) == 0
    assert calculate("*", 2**62, 4) == 0
    assert calculate("/", column, -1).tolist() == [-(2**62), -(2**63), -1]
    assert calculate("+", column, calculate("*", 2**40, 2**40)).tolist() == column.tolist()


ARITHMETIC = {
    "float scalars": ("float alpha, double beta", "y[i] = alpha * i - alpha * beta / (alpha + beta);"),
    "iterators converted": (
        "float alpha",
        "float v = (float)i; y[i] = (v + (double)i) / (alpha - v) - v / 2;",
    ),
    "a comparison divided": ("int m", "y[i] = (i != 1) % 3 + (m < i) / 2 - !i % 2 + (i && m) * 3;"),
    "names of the tool": ("float o0, int t0, int r0, int block0", "y[i] = o0 * t0 + r0 * block0;"),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_on_scalars_and_iterators_has_a_cost(name: str, tmp_path: Path) -> None:
    """The model computes integers of all threads at once, and counts arithmetic on data."""
    parameters, statement = ARITHMETIC[name]
    source = tmp_path / "f.mf"
    source.write_text(
        f"void f(int n, {parameters}, float *y, int B)\n"
        f"{{ meta_schedule block(B) {{ meta_for (int i = 0; i < n; i++) {{ {statement} }} }} }}\n"
    )
    compilation = compile_file(source, Options(registers="estimate"))
    (region,) = compilation.plan.functions[0].regions
    for instance in region.tilings[0].instances:
        work = region.tilings[0].work(
            instance, region.tilings[0].kernel.together[-1] if region.tilings[0].kernel.together else 0
        )
        assert work.once.instructions > 0


def test_parts_of_loops_in_each_other_do_their_elements(tmp_path: Path) -> None:
    """Each step of the outer loop adds up some: ``turn * parts + part < n`` holds behind the first one, too."""
    source = tmp_path / "f.mf"
    source.write_text(
        "void f(int m, int n, int p, int q, int t, const double *x, double y[p][q], int B)\n"
        "{ meta_schedule block(B, B) { meta_for (int i = 0; i < p; i++) meta_for (int j = 0; j < q; j++) {\n"
        "double s = 0; for (int k = 0; k < t; k++) if (k * p + i < m - 1) for (int l = 0; l < t; l++)\n"
        "if (l * q + j < n) s += x[(k * p + i) * n + l * q + j]; y[i][j] = s; } } }\n"
    )
    plan, *_ = compile_file(source, Options(registers="estimate")).plan.functions[0].regions[0].tilings
    sizes = plan.sizes(plan.instances[0])
    points = prod(sizes[c.each] * sizes[c.threads] for c in plan.tile.coordinates)
    assert plan.work(plan.instances[0], 0).step.bytes == 8 * points


def test_of_a_long_row_all_threads_read_and_one_of_them_adds_up() -> None:
    """One point, 256 threads: a step is 256 elements."""
    compilation = compile_file(PROGRAMS / "long_rows.mf", Options(registers="estimate"))
    (plan,) = (t for t in compilation.plan.functions[0].regions[0].tilings if t.recipe == "long rows")
    work = plan.work(plan.instances[1], 0)
    assert work.shared_words == 4096 + 32 + 2
    # Read for both loops, and stored.
    assert work.step.bytes == 3 * 4 * 256


def test_rows_that_are_resident_are_copied_once() -> None:
    """2 rows, 128 threads each: a step is 128 elements of both."""
    compilation = compile_file(PROGRAMS / "resident_rows.mf", Options(registers="estimate"))
    tilings = compilation.plan.functions[0].regions[0].tilings
    (plan,) = (tiling for tiling in tilings if tiling.recipe == "resident rows")
    work = plan.work(plan.instances[0], 4)
    assert work.shared_words == 2 * 4096 + 32 + 2 * 128 + 2
    elements = 2 * 128
    # Copied from memory and stored to it; the walk along zeros of both signs, which is rare, does not count.
    assert work.step.bytes == 2 * 4 * elements
    # One wait for all copies; eight turns of 16 elements of a walk wait for shared memory, and a turn of three loops.
    assert (work.once.waits, work.step.waits, work.step.shared_waits) == (1, 0, 8 + 3)
    # The block of a tile that the limits cut does the same as all others, and has no counts of its own.
    assert work.cut_step == work.cut_once == Work()


def _of_rows(tmp_path: Path, statement: str, *, bound: str = "n") -> tuple[TilePlan, Instance]:
    """Sums along rows, 8 of them by one of 8 warps, in pieces of 256 elements that all of them copy."""
    source = tmp_path / "f.mf"
    source.write_text(
        "void f(int n, float a[n][n], float y[n], int B)\n"
        "{ meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { float s = 0;\n"
        f"for (int j = 0; j < {bound}; j++) s += {statement}; y[i] = s; }} }} }}\n"
    )
    (region,) = compile_file(source, Options(registers="estimate")).plan.functions[0].regions
    (plan,) = (t for t in region.tilings if t.recipe == "rows")
    (instance,) = (i for i in plan.instances if plan.sizes(i)["H"] == 32)
    return plan, instance


def test_a_sum_in_order_waits_for_each_of_its_additions(tmp_path: Path) -> None:
    """A step is 256 elements, most of which stand for others in the walk."""
    plan, instance = _of_rows(tmp_path, "a[i][j]")
    assert plan.work(instance, 4).step.depth == pytest.approx(256, rel=0.05)


@pytest.mark.parametrize(
    ("value", "waits"), [("expf(a[i][j])", False), ("1 / (1 + a[i][j])", True), ("sqrtf(a[i][j])", True)]
)
def test_what_is_behind_the_branch_of_a_slow_operation_waits_for_it(
    value: str, waits: bool, tmp_path: Path
) -> None:
    """The exponential function has none, so that those of several steps are computed at the same time."""
    plan, instance = _of_rows(tmp_path, value)
    assert (plan.work(instance, 4).step.depth >= 10 * 256) == waits


def test_a_block_takes_as_long_as_the_warp_that_does_most_of_it(tmp_path: Path) -> None:
    """One warp of eight computes; exponentials do not wait for each other, and yet it has to begin all of them."""
    plan, instance = _of_rows(tmp_path, "expf(a[i][j])")
    step = plan.work(instance, 4).step
    assert step.instructions / 8 < 256 * SLOW < step.instructions
    assert step.depth > 256 * SLOW * WAITED / BEGUN


def test_rows_that_become_longer_have_half_a_piece_that_is_not_whole(tmp_path: Path) -> None:
    """It is done turn by turn, each of which waits for shared memory, whichever tile is looked at."""
    plan, instance = _of_rows(tmp_path, "a[i][j]", bound="i + 1")
    assert plan.work(instance, 1).kiloturn.shared_waits == 1000
    whole, instance_of_whole = _of_rows(tmp_path, "a[i][j]")
    launches = [launch_of(p, i, {"n": 4096}, 0) for p, i in ((plan, instance), (whole, instance_of_whole))]
    assert [(launch.steps, launch.parts, launch.turns) for launch in launches] == [(8, 1, 128), (16, 0, 0)]


def test_memory_does_not_wait_for_the_warps_of_few_blocks() -> None:
    """Two blocks of a warp on a multiprocessor: where their instructions decide, waiting hinders them."""
    machine = load_device("h200").machine()
    done = Work(instructions=40, wavefronts=16, bytes=4096, shared_waits=1)
    work = TileWork(Work(), done, Work(), Work(), Work(), Work(), 32, 32, 256, 3)
    of_memory, of_instructions = (
        cost(machine, work, Launch(264, 1000, 0, 0, is_cut=False, bytes=bytes_)) for bytes_ in (3 << 30, 0)
    )
    assert of_memory is not None
    assert of_instructions is not None
    assert of_memory.bound.name == "memory"
    others = sum(term.cycles for term in of_memory.terms) - of_memory.bound.cycles
    assert of_memory.cycles - machine["launch_cycles"] - of_memory.bound.cycles == others // HINDRANCE
    others = sum(term.cycles for term in of_instructions.terms) - of_instructions.bound.cycles
    assert of_instructions.cycles - machine["launch_cycles"] - of_instructions.bound.cycles == others // 2


def test_conditions_on_coordinates_are_met_by_half_of_the_points_of_a_triangle(tmp_path: Path) -> None:
    """Where neighbours are numbered along rows, a block of row 0 would do nothing."""
    done: list[dict[str, float]] = []
    for condition in ("j <= i", "j >= i", "j < n"):
        source = tmp_path / "f.mf"
        source.write_text(
            "void f(int n, const float x[n], float s[n][n], int B0, int B1)\n"
            "{ meta_schedule block(B0, B1) { meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j < n; j++)\n"
            f"if ({condition}) {{ float v = x[i] * x[j]; int c = 0;\n"
            "while (v > 0.001f && c < 64) { v = v * 0.5f + x[j] * 0.01f; c++; } s[i][j] = v; } } }\n"
        )
        (region,) = compile_file(source, Options(registers="estimate")).plan.functions[0].regions
        works = {t.recipe: t.work(t.instances[0], 0) for t in region.tilings}
        done.append({recipe: (w.once + w.step * 64).instructions for recipe, w in works.items()})
    below, above, all_points = done
    assert set(all_points) == {"points", "collapsed points"}
    for recipe, instructions in all_points.items():
        assert below[recipe] / instructions == pytest.approx(0.5, abs=0.1)
        assert above[recipe] / instructions == pytest.approx(0.5, abs=0.1)
