"""The work of a block, counted in symbols, against runs of the same loops in numbers."""

from __future__ import annotations

from fractions import Fraction

from comprehensive.algebra import Polynomial
from comprehensive.counters.bank_efficiency import BankEfficiency
from comprehensive.counters.coalescing import Coalescing
from comprehensive.counters.intensity import Intensity
from comprehensive.counters.latency_hiding import LatencyHiding
from comprehensive.counters.work import total, work_of
from comprehensive.data import spec_directory
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied
from comprehensive.strategies.caching import NoCaching
from comprehensive.strategies.tilings import tilings
from tests.laws.nests import nests_of
from tests.unit.counters.programs import SMOOTH, TRANSPOSED, first, scaled

MATMUL = (spec_directory() / "matmul.mf").read_text(encoding="utf-8")


def words_by_array(variant: Variant, point: dict[str, int]) -> dict[str, Fraction]:
    (work,) = work_of(variant)
    found: dict[str, Fraction] = {}
    for access in work.accesses:
        assert access.count is not None
        found[access.array] = found.get(access.array, Fraction(0)) + access.count.evaluate(point)
    return found


def test_accesses_of_the_product_are_those_of_its_loops() -> None:
    point = {"n": 96, "B0": 4, "ub1": 6, "s": 2}
    steps = 96 // 4
    inner = steps * 4 * 6 * 4 * 2  # threads, then z and w
    assert words_by_array(first(MATMUL), point) == {
        "a": steps * 4 * 4,
        "b": steps * 4 * 12,
        "c": 2 * steps * 4 * 6 * 2,  # held in a register over z
        "shared_a": steps * 4 * 4 + inner,
        "shared_b": steps * 4 * 12 + inner,
    }
    (work,) = work_of(first(MATMUL))
    operations = total(work.operations)
    assert operations is not None
    assert operations.evaluate(point) == 2 * inner


def test_a_tile_is_copied_once_however_many_threads_there_are() -> None:
    for threads in (1, 7, 64):
        found = words_by_array(first(SMOOTH), {"B": threads, "n": 1000})
        assert (found["x"], found["y"]) == (threads + 2, threads)


def test_intensity_of_a_stencil_is_its_operations_over_its_words() -> None:
    found = Intensity().evaluate(first(SMOOTH))
    assert found.source == "exact"
    # Two sums and a quotient for each point; B + 2 words read and B written.
    assert found.value.evaluate({"B": 64, "O_W": 10}) == Fraction(3 * 64, (64 + 66) * 10)


def test_coalescing_is_that_of_constant_strides() -> None:
    assert Coalescing().evaluate(scaled("i", "i")).value == 1
    assert Coalescing().evaluate(scaled("i", "n - 1 - i")).value == 1
    every_second = Coalescing().evaluate(scaled("i", "2 * i"))
    assert (every_second.value, every_second.source) == (Fraction(2, 3), "exact")  # 8 of 12 sectors


def test_a_row_length_is_taken_as_worst_and_the_source_says_so() -> None:
    cached = Coalescing().evaluate(first(TRANSPOSED))
    assert (cached.value, cached.source) == (1, "exact")
    applied = NoCaching().apply(first(TRANSPOSED))
    assert isinstance(applied, Applied)
    found = Coalescing().evaluate(applied.fragment)
    assert found.value == Fraction(2, 9)  # 4 bytes of 4 and 4 of 32
    assert found.source.startswith("bound")


def test_banks_are_used_fully_without_shared_memory_and_at_least_a_bit_with_unknown_rows() -> None:
    assert BankEfficiency().evaluate(scaled("i", "i")).value == 1
    found = BankEfficiency().evaluate(first(TRANSPOSED))
    assert found.source.startswith("bound")
    assert found.value == Fraction(2, 33)  # one of two accesses in 32 turns


def test_words_in_flight_are_those_read_before_one_is_used() -> None:
    two = """
void two(int n, const float x[n], const float y[n], float z[n], int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { %s } }
}"""
    together = first(two % "float p = x[i]; float q = y[i]; z[i] = p * q;")
    after = first(two % "float p = x[i] * 2.0f; float q = y[i] * p; z[i] = p * q;")
    ratio = [
        LatencyHiding("blocks").evaluate(v).value.evaluate({"B": 32, "B_SM": 16, "F_SM": 1024})
        for v in (together, after)
    ]
    assert ratio == [Fraction(2 * 32 * 16, 1024), Fraction(32 * 16, 1024)]


def test_a_loop_up_to_a_quotient_with_a_name_is_counted_without_rounding() -> None:
    text = """void f(int n, const float x[n], float y[n], int B)
    {
      meta_schedule block(B) {
        meta_for (int i = 0; i < n; i++) {
          const int half = n / 2;
          float s = 0;
          for (int k = 0; k < half; k++) s += x[k];
          y[i] = s;
        }
      }
    }"""
    assert words_by_array(first(text), {"B": 8, "n": 30}) == {"x": 8 * 15, "y": 8}


def test_a_loop_that_data_ends_has_no_count() -> None:
    text = """
void until(int n, const float x[n], float y[n], int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) {
    float v = x[i]; while (v > 1.0f) v = v / 2.0f; y[2 * i] = v; } }
}"""
    (work,) = work_of(first(text))
    assert total(work.operations) is None
    assert Intensity().evaluate(first(text)).value == Polynomial(0)
    assert Coalescing().evaluate(first(text)).value == Fraction(2, 3)


def test_of_two_cases_counts_the_worse_one() -> None:
    text = """
void either(int n, int t, const float x[n], float y[n], int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) {
    if (t == 0) y[i] = x[i]; else y[i] = x[2 * i]; } }
}"""
    found = Coalescing().evaluate(first(text))
    assert (found.value, found.source) == (Fraction(2, 3), "exact, of the worst case")


def test_a_kernel_over_tiles_gets_bounds_that_say_so() -> None:
    (nest,) = nests_of(MATMUL)
    tiled = tilings(nest)[0].result
    assert isinstance(tiled, Applied)
    assert tiled.fragment.tile is not None
    for counter in (Coalescing(), BankEfficiency(), Intensity(), LatencyHiding("warps")):
        found = counter.evaluate(tiled.fragment)
        assert found.source.startswith("bound")
        assert found.value == counter.evaluate(tiled.fragment).value


def test_an_atomic_update_is_one_access_that_no_thread_waits_for() -> None:
    text = """void count(int n, const int x[n], int h[n], int B) {
      meta_schedule block(B) { meta_for (int i = 0; i < n; i++) meta_atomic h[x[i]] += 1; }
    }"""
    assert words_by_array(first(text), {"B": 32, "n": 1000}) == {"x": 32, "h": 32}
    plain = first(text.replace("meta_atomic ", ""))
    assert words_by_array(plain, {"B": 32, "n": 1000})["h"] == 64
