"""Scalars are as large as conditions on coordinates ask for, and launches count the turns of loops that points do."""

from __future__ import annotations

from math import prod

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.driver import compile_text
from comprehensive.kernel_ir.instructions import of_operator
from comprehensive.machine.sites import SECTOR_BYTES
from comprehensive.machine.work import Work
from comprehensive.model.choice import launch_of
from comprehensive.model.magnitudes import far_ends, small_scalars
from comprehensive.plan.plan import TilePlan
from tests.compiled_specs import OPTIONS

PROGRAM = """void f(int n, int m, int h, int pad, int stride, int k, %s const float *x, float y[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float s = 0.0f;
      %s
      y[i] = s;
    }
  }
}
"""
PADDED = "if (i * stride - pad >= 0 && i * stride - pad < h) s = x[i * stride - pad];"
CLAMPED = """int from = i * stride - pad > 0 ? i * stride - pad : 0;
      int to = i * stride - pad + k < h ? i * stride - pad + k : h;
      for (int p = from; p < to; p++) s += x[p];"""
WINDOW = """for (int u = 0; u < m; u++) {
        int from = i + u - pad;
        if (!(from < 0 || from >= n)) for (int v = 0; v < k; v++) if (x[v] > 0.0f) s += x[from];
      }"""


def _points(body: str, parameters: str = "") -> TilePlan:
    (region,) = (
        compile_text(SourceFile("f.mf", PROGRAM % (parameters, body)), OPTIONS).plan.functions[0].regions
    )
    return next(plan for plan in region.tilings if plan.recipe == "points")


def _number_of_points(plan: TilePlan) -> int:
    sizes = plan.sizes(plan.instances[0])
    return prod(sizes[c.threads] * sizes[c.each] for c in plan.tile.coordinates)


def _work(plan: TilePlan) -> tuple[Work, Work]:
    found = plan.work(plan.instances[0], 1 if plan.kernel.together else 0)
    return found.once, found.step


@pytest.mark.parametrize(
    ("body", "small"),
    [
        (PADDED, {"stride", "pad"}),
        (CLAMPED, {"stride", "pad", "k"}),
        (WINDOW, {"pad"}),
        ("unsigned at = i * stride - pad; if (at < (unsigned)h) s = x[at];", {"stride", "pad"}),
        ("if (i >= pad && i < n - pad) s = x[i];", {"pad"}),
        ("if (i < h) s = x[i];", set[str]()),
        ("for (int u = 0; u < m; u++) if (u * n + i < h) s += x[u * n + i];", set[str]()),
    ],
)
def test_what_is_added_to_coordinates_is_small_beside_the_ends_that_they_are_compared_with(
    body: str, small: set[str]
) -> None:
    plan = _points(body)
    assert small_scalars(plan.nest, plan.tile) == small


def test_ends_of_what_steps_come_to_are_beyond_these_where_data_ends_a_loop_inside() -> None:
    plan = _points("for (int u = 0; u < m; u++) if (u * n + i < h) while (s < x[u * n + i]) s += 1.0f;")
    assert far_ends(plan.tile) == {"h"}


def test_points_in_the_middle_read_what_their_conditions_guard() -> None:
    """Each of them reads an element, whose distance from the next one is taken for a long one, and stores one."""
    once, _ = _work(plan := _points(PADDED))
    assert once.bytes == (SECTOR_BYTES + 4) * _number_of_points(plan)


def test_a_loop_under_a_condition_is_counted_by_the_launch() -> None:
    """Each point reads two elements in a turn; of those of all points there are as many as points."""
    plan = _points(WINDOW)
    launch = launch_of(plan, plan.instances[0], {"n": 4096, "m": 5, "h": 1, "pad": 2, "stride": 1, "k": 7}, 0)
    assert launch.steps == 5 * 7
    _, step = _work(plan)
    warps, sizes = _number_of_points(plan) // 32, plan.sizes(plan.instances[0])
    assert step.wavefronts >= 2 * warps
    assert step.waits + step.shared_waits <= sizes[plan.tile.coordinates[0].each]


def test_a_loop_from_border_to_border_has_as_many_turns_as_at_most_points() -> None:
    plan = _points(CLAMPED)
    launch = launch_of(
        plan, plan.instances[0], {"n": 4096, "m": 1, "h": 4096, "pad": 1, "stride": 2, "k": 3}, 0
    )
    assert launch.steps == 3
    once, step = _work(plan)
    assert step.instructions >= (3 + of_operator("+")) * _number_of_points(plan) // 32
    assert once.instructions < 8 * step.instructions


def test_a_loop_that_data_may_end_early_has_the_turns_that_it_has_at_most() -> None:
    plan = _points("int c = 0; while (s < 4.0f && c < k) { s = s * s + x[i]; c++; } s = s + c;")
    values = {"n": 4096, "m": 1, "h": 1, "pad": 1, "stride": 1}
    steps = [launch_of(plan, plan.instances[0], {**values, "k": k}, 0).steps for k in (10, 1000)]
    assert steps == [10, 1000]
    once, step = _work(plan)
    assert 0 < step.instructions < 16 * _number_of_points(plan) // 32
    assert once.instructions < 16 * _number_of_points(plan) // 32


def test_loops_in_each_other_with_one_bound_are_counted_apart() -> None:
    """If both had the bound of the outer loop, a turn more of it would be five steps, and not four."""
    same, apart = (
        _work(
            _points(f"for (int u = 0; u < m; u++) if (s < x[u]) for (int v = 0; v < {bound}; v++) s += x[v];")
        )[1]
        for bound in ("m", "k")
    )
    assert same == apart
