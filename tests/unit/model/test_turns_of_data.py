"""Loops of which data decides the turns count for a few turns, in leaves and in tiles alike."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.driver import compile_text
from comprehensive.machine.sites import Access
from comprehensive.model.leaf_cost import numbers
from comprehensive.model.turns import TURNS_OF_DATA
from comprehensive.plan.plan import RegionPlan
from tests.compiled_specs import OPTIONS

PROGRAM = """void f(int n, const int row[n + 1], const float v[8 * n], float y[n], int B)
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
ROWS = "for (int k = row[i]; k < row[i + 1]; k++) s += v[k];"
LOOPS = (
    ROWS,
    "for (int k = 0; k < row[i]; k++) s += v[8 * i + k];",
    "while (s < 1.0f) s += v[i];",
    "do s += v[i]; while (s < 1.0f);",
)
VALUES = {"n": 1 << 20, "B": 256}


def _region(loop: str) -> RegionPlan:
    (region,) = compile_text(SourceFile("f.mf", PROGRAM % loop), OPTIONS).plan.functions[0].regions
    return region


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_data_ends_has_a_few_turns_and_its_line_is_told(loop: str) -> None:
    leaf = _region(loop).leaves[0]
    found = numbers(leaf, VALUES)
    turns = [found[context.turns] for context in leaf.profile.sites.contexts if context.is_loop]
    assert TURNS_OF_DATA in turns
    assert [span.position[0] for span in leaf.profile.assumed] == [6]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_tile_waits_in_each_of_these_turns(loop: str) -> None:
    (plan, *_) = _region(loop).tilings
    (instance,) = (each for each in plan.instances if plan.sizes(each) == {"T0": 256, "U0": 4, "M": 8})
    once = plan.work(instance, 0).once
    assert 4 * TURNS_OF_DATA <= once.waits + once.shared_waits <= 4 * TURNS_OF_DATA + 2
    # A row of 8 elements is a sector, which the first turn brings into the first-level cache.
    assert 4 <= once.waits <= 4 + 2


def test_both_branches_of_a_condition_on_data_count() -> None:
    """A row that is left out is done in a few steps; what costs is the loop of the others."""
    loop = "for (int k = 0; k < 8; k++) s += v[8 * i + k];"
    whole, chosen = (_region(text) for text in (loop, f"if (row[i] < 0) s = 1.0f; else {{ {loop} }}"))
    assert _reads_of_v(chosen) == _reads_of_v(whole) == 8
    (sizes,) = ({"T0": 256, "U0": 4, "M": 8},)
    works = [
        plan.work(next(each for each in plan.instances if plan.sizes(each) == sizes), 0)
        for plan in (region.tilings[0] for region in (whole, chosen))
    ]
    assert works[0].once.instructions < works[1].once.instructions


def _reads_of_v(region: RegionPlan) -> float:
    """Return how often a thread of the leaf reads ``v``."""
    leaf = region.leaves[0]
    found, sites = numbers(leaf, VALUES), leaf.profile.sites
    place = [p.name for p in leaf.kernel.parameters if p.pointer].index("v")
    total = 0.0
    for access in sites.accesses:
        runs, at = 1.0, access.context
        while access.array == place and at >= 0:
            runs, at = runs * found[sites.contexts[at].turns], sites.contexts[at].parent
        total += runs if access.array == place else 0
    return total


def test_a_loop_with_bounds_that_a_launch_knows_is_not_assumed_to_have_any_turns() -> None:
    assert _region("for (int k = 0; k < n; k++) s += v[k];").leaves[0].profile.assumed == ()


def test_rows_that_begin_at_data_follow_each_other_in_leaves_and_tiles() -> None:
    region = _region(ROWS)
    leaf = region.leaves[0]
    places = [p.name for p in leaf.kernel.parameters if p.pointer]
    (access,) = (a for a in leaf.profile.sites.accesses if a.array == places.index("v"))
    assert isinstance(access, Access)
    found = numbers(leaf, VALUES)
    assert found[access.threads[0]] == TURNS_OF_DATA
    assert [found[step] for _, step in access.loops] == [1]
    (plan, *_) = region.tilings
    (instance,) = (each for each in plan.instances if plan.sizes(each) == {"T0": 256, "U0": 4, "M": 8})
    # Each of 1024 points reads its row and writes one element.
    assert plan.work(instance, 0).once.bytes == 1024 * 4 * (TURNS_OF_DATA + 1)
