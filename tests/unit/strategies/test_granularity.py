"""The serial loop of a thread joins the grid, as in figures 2, 7 and 8 of the paper."""

from __future__ import annotations

import pytest

from comprehensive.loops.ir import Nest, Points, Variant
from comprehensive.metafork.printer import print_expr, print_stmts
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.strategies.granularity import Granularity
from comprehensive.strategies.to_points import points_of
from tests.laws.nests import CORNERS, all_nests, nests_of

NESTS = all_nests()


def reduced(name: str) -> Nest:
    result = Granularity().apply(Variant(NESTS[name]))
    assert isinstance(result, Applied)
    return result.fragment.nest


def grid(nest: Nest) -> list[str]:
    return [f"{loop.iterator} < {print_expr(loop.extent)}" for loop in nest.grid]


def body(nest: Nest) -> list[str]:
    return [line.strip() for line in print_stmts(nest.bands[0].body).splitlines()]


def refusal(text: str) -> str:
    (nest,) = nests_of(text)
    result = Granularity().apply(Variant(nest))
    assert isinstance(result, NotApplicable)
    return result.reason


def test_jacobi_reads_as_the_second_case_of_figure_7() -> None:
    nest = reduced("jacobi1d")
    assert grid(nest) == ["i < dim * s"]
    assert body(nest)[:3] == ["int p = i * B + j;", "int p1 = p + 1;", "int p2 = p + 2;"]


def test_an_unsigned_grid_is_scaled_without_wrapping_around() -> None:
    (nest,) = nests_of(
        """void f(unsigned dim, unsigned s, int y[dim*s*4], int B)
{
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) y[(i*s + w)*B + u] = 1;
  }
}
"""
    )
    result = Granularity().apply(Variant(nest))
    assert isinstance(result, Applied)
    assert grid(result.fragment.nest) == ["i < (long)dim * s"]


def test_the_matrix_product_scales_the_grid_loop_of_its_columns() -> None:
    nest = reduced("matmul")
    assert grid(nest) == ["i < dim0", "j < dim1 * s"]
    assert "int q = j * ub1 + u;" in body(nest)
    assert not any("w" in line.split() for line in body(nest))


def test_the_transposition_loses_s_as_in_figure_8() -> None:
    nest = reduced("transpose")
    assert grid(nest) == ["v0 < dim0", "v1 < dim1 * s"]
    assert "int j = v1 * B1 + u1;" in body(nest)


def test_two_copies_of_a_statement_become_twice_the_blocks_as_in_figure_2() -> None:
    nest = reduced("matadd")
    assert grid(nest) == ["v < dim0", "p_h < dim1 * 2"]
    assert body(nest).count("c[i][j + h * (N / 2)] = a[i][j + h * (N / 2)] + b[i][j + h * (N / 2)];") == 1


def test_digits_that_do_not_add_up_are_divided() -> None:
    nest = reduced("remainder")
    assert grid(nest) == ["v_k < dim * s"]


def test_subscripts_collapse_although_a_digit_is_used_alone() -> None:
    nest = reduced("alone")
    assert grid(nest) == ["i_k < dim * s"]
    assert body(nest)[:2] == ["int q = i_k * B;", "if (k == i)"]
    assert nest.cached == ("a",)


def test_an_array_that_loses_its_tile_is_named() -> None:
    result = Granularity().apply(Variant(NESTS["alone"]))
    assert isinstance(result, Applied)
    assert result.note.endswith("joins the grid loop over 'i' as 'i_k'; no longer cached: w")


def test_two_nested_loops_leave_at_once() -> None:
    nest = reduced("tiles")
    assert grid(nest) == ["v0 < dim0 * r", "v1 < dim1 * s"]
    assert "int i = v0 * B + u0;" in body(nest)
    assert isinstance(Granularity().apply(Variant(nest)), NotApplicable)


def test_a_reduction_is_not_moved() -> None:
    reason = refusal(CORNERS["rows"].replace("for (int k = 0; k < s; k++)", "").replace("(v * s + k)", "v"))
    assert "'m'" in reason


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("for (int k = 0; k < s; k += 2) c[i*s + k] = 1;", "steps of 1"),
        ("for (int k = 0; k < i; k++) c[i*n + k] = 1;", "which is no scalar of the region"),
        ("for (int k = 0; k < s; k++) { if (k > 1) break; c[i*s + k] = 1; }", "left early"),
        ("for (int k = 0; k < s; k++) c[i*s + k] = 1; d[i] = 2;", "'d' is assigned outside the loop"),
        ("for (int k = 0; k < s; k++) c[i] = k;", "depend on each other in 'c'"),
        ("int m = d[i]; for (int k = 0; k < s; k++) d[i*s + k] = m;", "'d' is read outside the loop"),
        ("int m = 0; for (int k = 0; k < s; k++) { m += k; c[i*s + k] = m; }", "hands 'm' to the next"),
    ],
)
def test_a_loop_that_cannot_leave_says_why(statement: str, expected: str) -> None:
    text = f"""void f(int n, int *c, int *d, int B, int s) {{
      int dim = n / (s * B);
      meta_schedule {{ meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) {{
        int i = v * B + u; {statement} }} }} }}"""
    assert expected in refusal(text)


def test_points_and_remarks_have_the_names_of_the_program() -> None:
    (nest,) = nests_of(
        "void f(int n, int B, float a[4 * n]) { meta_schedule block(B) { meta_for (int i = 0; i < n; i++)"
        " for (int k = 0; k < 4; k++) a[i * 4 + k] = k; } }"
    )
    points = points_of(nest)
    assert isinstance(points, Points)
    assert points.shown == ("i",)
    moved = Granularity().apply(Variant(nest))
    assert isinstance(moved, Applied)
    assert moved.note == "the loop over 'k' joins the grid loop over 'i'"
