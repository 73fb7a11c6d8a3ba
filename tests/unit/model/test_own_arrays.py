"""Arrays that each thread has for itself: what their subscripts read counts, and the elements that data numbers."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.driver import compile_text
from comprehensive.kernel_ir.instructions import of_operator
from comprehensive.machine.sites import ROUND, UNKNOWN, Access
from comprehensive.model.leaf_cost import numbers
from comprehensive.model.leaf_sites import TURN_INSTRUCTIONS
from comprehensive.plan.plan import LeafPlan, RegionPlan
from tests.compiled_specs import OPTIONS

PROGRAM = """void f(int n, int m, const unsigned keys[m][n], unsigned y[n], unsigned z[m][n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      unsigned own[16];
      for (int d = 0; d < 16; d++) own[d] = 0;
      for (int t = 0; t < m; t++) %s
      y[i] = own[3];
    }
  }
}
"""
COUNTED = "own[keys[t][i] & 15]++;"
VALUES = {"n": 1 << 20, "m": 100, "B": 256}


def _region(statement: str) -> RegionPlan:
    (region,) = compile_text(SourceFile("f.mf", PROGRAM % statement), OPTIONS).plan.functions[0].regions
    return region


def _loop_accesses(leaf: LeafPlan) -> list[Access]:
    found = numbers(leaf, VALUES)
    contexts = leaf.profile.sites.contexts
    return [a for a in leaf.profile.sites.accesses if found[contexts[a.context].turns] == VALUES["m"]]


def test_a_leaf_reads_what_says_which_element_it_is_and_has_that_in_the_first_level_cache() -> None:
    leaf = _region(COUNTED).leaves[0]
    keys, own = sorted(_loop_accesses(leaf), key=lambda access: access.is_shared)
    assert (keys.is_shared, keys.stores) == (False, False)
    assert (own.array, own.is_shared, own.stores) == (UNKNOWN, True, False)
    context = leaf.profile.sites.contexts[own.context]
    assert context.instructions == TURN_INSTRUCTIONS + of_operator("&") + of_operator("+")


def test_a_tile_counts_the_same() -> None:
    """A turn reads a line of four wavefronts for a warp's points, and an element of each point's own array."""
    plan = next(plan for plan in _region(COUNTED).tilings if plan.recipe == "points")
    sizes = plan.sizes(plan.instances[0])
    points = sizes["T0"] * sizes["U0"]
    step = plan.work(plan.instances[0], 0).step
    assert step.bytes == 4 * points
    assert step.wavefronts == 2 * points // 32
    assert step.instructions >= (3 + 2 + of_operator("&") + of_operator("+")) * points // 32


def test_elements_with_constant_numbers_are_registers() -> None:
    leaf = _region("own[3] += keys[t][i];").leaves[0]
    assert not any(access.array == UNKNOWN for access in leaf.profile.sites.accesses)


@pytest.mark.parametrize(
    ("statement", "together"),
    [
        ("z[t][i] = keys[t][i];", ROUND),
        ("z[t][i] += keys[t][i];", 1),
        ("own[3] += keys[t][i];", ROUND),
    ],
)
def test_loads_go_before_stores_to_other_arrays(statement: str, together: int) -> None:
    """All pointers of a kernel are of different data: turns whose loads do not read what is stored wait together."""
    leaf = _region(statement).leaves[0]
    regions = {access.region for access in _loop_accesses(leaf)}
    assert {leaf.profile.sites.regions[number].round for number in regions} == {together}
