"""CSE, register pressure and caching on texts whose result is known."""

from __future__ import annotations

from comprehensive.loops.ir import Variant
from comprehensive.metafork.printer import print_stmts
from comprehensive.optimize.protocols import Applied, NotApplicable, Strategy
from comprehensive.strategies.caching import NoCaching, initial_caching
from comprehensive.strategies.cse import CommonSubexpressions
from comprehensive.strategies.register_pressure import RegisterPressure
from tests.laws.nests import all_nests, nests_of

NESTS = all_nests()


def variant_of(statements: str) -> Variant:
    (nest,) = nests_of(
        f"""void f(int n, float x, const float *a, float *c, float *d, int B) {{
          int dim = n / B;
          meta_schedule {{ meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) {{
            {statements} }} }} }}"""
    )
    return Variant(nest)


def lines(strategy: Strategy[Variant], statements: str) -> list[str]:
    result = strategy.apply(variant_of(statements))
    assert isinstance(result, Applied)
    return [line.strip() for line in print_stmts(result.fragment.nest.bands[0].body).splitlines()]


def is_refused(strategy: Strategy[Variant], statements: str) -> bool:
    return isinstance(strategy.apply(variant_of(statements)), NotApplicable)


def test_an_index_that_occurs_twice_is_computed_once() -> None:
    after = lines(CommonSubexpressions(1), "c[v*B + u] = a[v*B + u];")
    assert after == ["const int t0 = v * B + u;", "c[t0] = a[t0];"]


def test_a_name_that_the_source_has_is_used() -> None:
    after = lines(CommonSubexpressions(1), "int i = v*B + u; c[i] = a[u + v*B + 1];")
    assert after == ["int i = v * B + u;", "c[i] = a[i + 1];"]


def test_a_part_with_the_iterator_of_a_loop_stays_in_the_loop() -> None:
    after = lines(CommonSubexpressions(1), "for (int k = 0; k < 4; k++) c[u + k] = a[u + k];")
    assert after[1:3] == ["const int t0 = u + k;", "c[t0] = a[t0];"]


def test_equal_products_of_data_are_shared_at_level_two() -> None:
    after = lines(CommonSubexpressions(2), "c[u] = a[u]*x + 1.0f; d[u] = a[u]*x;")
    assert after == ["const float t0 = a[u] * x;", "c[u] = t0 + 1.0f;", "d[u] = t0;"]


def test_a_store_ends_the_life_of_what_was_read() -> None:
    assert is_refused(CommonSubexpressions(2), "c[u] = d[u]*x; d[u] = d[u]*x;")


def test_floating_point_sums_are_never_reordered() -> None:
    after = lines(CommonSubexpressions(2), "c[u] = x + a[0]; d[u] = a[0] + x;")
    assert after == ["const float t0 = a[0];", "c[u] = x + t0;", "d[u] = t0 + x;"]


def test_nothing_is_shared_out_of_a_branch() -> None:
    assert is_refused(CommonSubexpressions(2), "if (u > 1) c[u] = a[u]; else d[u] = a[u];")


def test_a_definition_sinks_into_the_branch_that_uses_it() -> None:
    after = lines(RegisterPressure(1), "int i = v*B + u; c[u] = x; if (u > 1) d[i] = x;")
    assert after[0] == "c[u] = x;"
    assert any("int i" in line for line in after[1:])


def test_a_read_does_not_sink_past_a_store() -> None:
    assert is_refused(RegisterPressure(1), "float y = d[u]; c[u] = x; d[u] = y;")


def test_a_cheap_index_is_computed_at_its_uses() -> None:
    assert lines(RegisterPressure(2), "int i = u + 1; c[i] = a[i];") == ["c[u + 1] = a[u + 1];"]


def test_an_unsigned_scalar_keeps_its_wrap_around() -> None:
    assert is_refused(RegisterPressure(2), "unsigned i = u - 1; if (i < n) c[u] = x;")


def test_the_cap_of_registers_is_set_once() -> None:
    result = RegisterPressure(3).apply(variant_of("c[u] = x;"))
    assert isinstance(result, Applied)
    assert result.fragment.register_cap == 32
    assert isinstance(RegisterPressure(3).apply(result.fragment), NotApplicable)


def test_the_matrix_product_caches_its_factors_and_not_its_result() -> None:
    assert initial_caching(NESTS["matmul"]).cached == ("a", "b")


def test_a_transposition_caches_the_side_that_is_not_coalesced() -> None:
    assert initial_caching(NESTS["transpose"]).cached == ("c",)


def test_a_sum_of_matrices_caches_nothing() -> None:
    nest = initial_caching(NESTS["matadd"])
    assert nest.cached == ()
    assert isinstance(NoCaching().apply(Variant(nest)), NotApplicable)


def test_without_caching_nothing_is_cached() -> None:
    result = NoCaching().apply(Variant(initial_caching(NESTS["matmul"])))
    assert isinstance(result, Applied)
    assert result.fragment.nest.cached == ()
    assert result.note == "not cached: a, b"
