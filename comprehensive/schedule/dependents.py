"""Statements of a loop that are done in order because others are.

In: what each statement of a loop uses, and which are done in order.  Out: these and all that depends on them::

    t = a[j];  s += t;  u = s * 2;  b[j] = t;      with ``s += t`` in order:   s += t and u = s * 2
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct


class Uses(Struct, frozen=True):
    """The scalars that a statement reads and writes, the data that it stores to, and all data that it accesses."""

    read: AbstractSet[str]
    written: AbstractSet[str]
    stored: AbstractSet[str]
    accessed: AbstractSet[str]


def with_dependents(steps: Sequence[Uses], ordered: AbstractSet[int]) -> set[int]:
    """The least set of statements, by their numbers, that has ``ordered`` in it and what depends on any of it."""
    last = {name: k for k, step in enumerate(steps) for name in step.written}
    found, new = set(ordered), set(ordered)
    while new:
        new = {k for k in range(len(steps)) if k not in found and _follows(steps, last, k, new)}
        found |= new
    return found


def _follows(steps: Sequence[Uses], last: dict[str, int], k: int, ordered: AbstractSet[int]) -> bool:
    """Whether a statement has to be done in order since some others are; each scalar is written ``last`` by one."""
    step = steps[k]
    for number in ordered:
        other = steps[number]
        if other.written & step.read or other.written & step.written:
            return True
        # What is handed on is the last value that a scalar has in a step.
        if any(last[name] > number for name in step.written & other.read):
            return True
        if step.stored & other.stored:
            return True
        if k > number and (step.stored & other.accessed or other.stored & step.accessed):
            return True
    return False
