"""The decision codes of every leaf of the examples: one of each group that excludes the others, and a true one."""

from __future__ import annotations

from functools import cache

import pytest

from comprehensive.driver import Options, grow
from comprehensive.loops.ir import Variant
from comprehensive.lowering.lower import lower
from comprehensive.optimize.tree import Leaf
from tests.examples import quick_of
from tests.laws.nests import all_nests

NESTS = all_nests()
COUNTERS = {"default": (), "performance": ("coalescing",)}


@cache
def leaves(nest_name: str, counters: str) -> tuple[Leaf[Variant], ...]:
    return grow(NESTS[nest_name], Options(registers="estimate", counters=COUNTERS[counters])).leaves


def codes(leaf: Leaf[Variant]) -> set[str]:
    return {decision.text for decision in leaf.decisions} - {""}


# The nests over three dimensions take as long as all others.
LONG = {"heat3d_1", "heat3d_2"}
every_nest = pytest.mark.parametrize("nest_name", quick_of(sorted(NESTS), NESTS.keys() - LONG))
every_run = pytest.mark.parametrize("counters", sorted(COUNTERS))


@every_run
@every_nest
def test_codes_that_exclude_each_other_never_stand_together(nest_name: str, counters: str) -> None:
    for leaf in leaves(nest_name, counters):
        found = codes(leaf)
        assert ("1" in found) != any(code.startswith("1-") for code in found), (leaf.index, found)
        assert ("3a" in found) != ("3b" in found), (leaf.index, found)
        assert ("4a" in found) != ("4b" in found), (leaf.index, found)


@every_run
@every_nest
def test_codes_say_what_was_done_to_the_leaf(nest_name: str, counters: str) -> None:
    for leaf in leaves(nest_name, counters):
        taken = {decision.strategy for decision in leaf.decisions if decision.taken}
        found = codes(leaf)
        for level in (1, 2, 3):
            assert (f"1-{level}" in found) == (f"register-pressure-{level}" in taken)
        assert ("2" in found) == any(name.startswith("cse-") for name in taken)
        assert ("3b" in found) == ("granularity" in taken)
        words = lower(leaf.fragment, "kernel").shared_words_text
        assert ("4a" in found) == (words is not None and words != "0"), (leaf.index, found, words)
