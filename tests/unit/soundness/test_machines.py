"""A machine is found for a leaf whatever its system speaks of: limits, speeds, and quotients of several parameters."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from comprehensive.algebra import with_quotients
from comprehensive.driver import Options, grow
from comprehensive.loops.ir import Variant
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.tree import Tree, leaf_for
from comprehensive.soundness.machines import machine_for, serves_all
from tests.laws.nests import nests_of

SMOOTH = """void smooth(int n, const float x[n], float y[n], int B) {
  meta_schedule block(B) { meta_for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + 2 * x[i] + x[i + 1]; } }"""
AT = {"n": 100, "B": 64}


@cache
def grown(*counters: str) -> Tree[Variant]:
    return grow(nests_of(SMOOTH)[0], Options("estimate", counters=counters))


@pytest.mark.parametrize("counter", ["intensity", "occupancy"])
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(1, 2)])
def test_a_machine_for_a_leaf_leads_to_it(counter: str, level: Fraction) -> None:
    tree = grown(counter)
    values = {**AT, f"P_{counter}": level}
    reached: list[int] = []
    for leaf in tree.leaves:
        machine = machine_for(tree, leaf.index, values)
        if machine is not None:
            point = {name: facts.minimum for name, facts in MACHINE_PARAMETERS.items()} | values | machine
            assert leaf.system.holds(with_quotients(point, tree.quotients))
            assert leaf_for(tree, point) == leaf
            assert serves_all([tree], [values], machine)
            reached.append(leaf.index)
    assert reached


def uncached(tree: Tree[Variant]) -> int:
    """The leaf that keeps nothing in shared memory: 3 operations for 4 words."""
    return next(leaf.index for leaf in tree.leaves if not leaf.fragment.nest.cached)


def test_a_speed_that_limits_no_counter_is_chosen_so_that_the_level_is_reached() -> None:
    tree = grown("intensity")
    machine = machine_for(tree, uncached(tree), {**AT, "P_intensity": Fraction(1, 2)})
    # O_W/2 <= 3/4.
    assert machine is not None
    assert machine["O_W"] == 1


def test_there_is_no_machine_for_a_leaf_that_no_machine_leads_to() -> None:
    tree = grown("intensity")
    # No positive integer: O_W <= 3/4.
    assert machine_for(tree, uncached(tree), {**AT, "P_intensity": Fraction(1)}) is None
