"""Statements have to be done in order in a step where something that they depend on has an order."""

from __future__ import annotations

import pytest

from comprehensive.schedule.dependents import Uses, with_dependents

NONE = frozenset[str]()


def uses(read: str = "", written: str = "", stored: str = "", accessed: str = "") -> Uses:
    return Uses(frozenset(read), frozenset(written), frozenset(stored), frozenset(accessed + stored))


SUM = uses("st", "s")


@pytest.mark.parametrize(
    ("steps", "ordered", "found"),
    [
        ([uses(written="t", accessed="A"), SUM, uses("s", "u"), uses("t", stored="B")], {1}, {1, 2}),
        ([SUM, uses("s", "u"), uses("u", "v"), uses("v", stored="B")], {0}, {0, 1, 2, 3}),
        # It is handed the last value that a scalar has, which another statement gives it.
        ([uses(written="t"), SUM, uses("r", "t")], {1}, {0, 1, 2}),
        ([uses(written="t"), SUM], {1}, {1}),
        # Data that is stored in order is read in order behind it, and before it from the step before.
        ([uses(written="a", accessed="A"), uses(stored="A"), uses(written="b", accessed="A")], {1}, {1, 2}),
        ([uses(stored="A"), uses(accessed="A"), uses(stored="A")], {1}, {0, 1, 2}),
        ([uses(stored="A"), uses(accessed="B"), uses(stored="A")], {2}, {0, 2}),
        ([uses(written="a"), uses(written="b")], set[int](), set[int]()),
    ],
)
def test_what_depends_on_an_order_is_done_in_order(
    steps: list[Uses], ordered: set[int], found: set[int]
) -> None:
    assert with_dependents(steps, ordered) == found
