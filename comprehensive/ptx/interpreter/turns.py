"""Threads that change one place one after the other, by lane, computed for all at once.

    scanned(numpy.add, memory, numpy.array([7, 7]), numpy.array([1, 2]))      # [m, m + 1], and memory[7] is m + 3

In: memory, where each thread goes, what it brings.  Out: what each has found; memory is as the last one has left it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from comprehensive.ptx.interpreter.values import Array


class _Groups:
    """Threads sorted by place: ``order``; where groups begin; and for each thread its number in its group."""

    def __init__(self, places: Array) -> None:
        self.order = np.argsort(places, kind="stable")
        ordered = places[self.order]
        changes = np.diff(ordered, prepend=ordered[:1] - 1) != 0
        self.begins = np.flatnonzero(changes)
        self.lengths = np.diff(self.begins, append=len(ordered))
        self.group = np.cumsum(changes) - 1
        self.number = np.arange(len(ordered)) - self.begins[self.group]
        self.places = ordered[self.begins]


def scanned(function: Callable[[Array, Array], Array], view: Array, places: Array, values: Array) -> Array:
    """Do ``memory = function(memory, value)`` thread by thread, for an associative function."""
    groups = _Groups(places)
    ordered = values[groups.order]
    # A scan by doubling: after each pass a thread holds its value and twice as many before it.
    reach, longest = 1, int(groups.lengths.max())
    while reach < longest:
        has_more = np.flatnonzero(groups.number >= reach)
        ordered[has_more] = function(ordered[has_more - reach], ordered[has_more])
        reach *= 2
    before = view[groups.places]
    found = before[groups.group]
    later = np.flatnonzero(groups.number > 0)
    found[later] = function(found[later], ordered[later - 1])
    last = groups.begins + groups.lengths - 1
    view[groups.places] = function(before, ordered[last])
    old = np.empty_like(found)
    old[groups.order] = found
    return old


def counted(view: Array, places: Array, bounds: Array, *, upwards: bool) -> Array:
    """inc wraps to 0 at its bound, dec to its bound from 0 or from above it (PTX ISA, atom)."""

    def update(old: Array, bound: Array) -> Array:
        one, zero = np.array(1, old.dtype), np.array(0, old.dtype)
        if upwards:
            return np.where(old >= bound, zero, old + one)
        return np.where((old == 0) | (old > bound), bound, old - one)

    groups = _Groups(places)
    bound = bounds[groups.order]
    if (bound != bound[groups.begins][groups.group]).any():
        return one_by_one(update, view, places, bounds)
    before = view[groups.places]
    # From the second thread on all numbers are within the bound and go round.
    second = update(before, bound[groups.begins]).astype(np.uint64)
    modulus = bound[groups.begins].astype(np.uint64) + np.uint64(1)

    def after(number: Array, group: Array) -> Array:
        steps = number.astype(np.uint64) % modulus[group]
        up = steps if upwards else modulus[group] - steps
        return ((second[group] + up) % modulus[group]).astype(view.dtype)

    found = np.where(
        groups.number == 0, before[groups.group], after(np.maximum(groups.number - 1, 0), groups.group)
    )
    view[groups.places] = after(groups.lengths - 1, np.arange(len(groups.places)))
    old = np.empty_like(found)
    old[groups.order] = found
    return old


def compared(rows: Array, places: Array, expected: Array, values: Array) -> Array:
    """Do ``memory = value if memory == expected`` thread by thread.

    Everything is in rows, of which a number of two words has two.
    """
    groups = _Groups(places)
    expected, values = expected[:, groups.order], values[:, groups.order]
    found = rows[:, places[groups.order]]
    now = rows[:, groups.places]
    left = np.ones(len(groups.order), np.bool_)
    while True:
        # The next change at each place: the first thread that is left and sees what it expects.
        hits = np.flatnonzero(left & (found == expected).all(axis=0) & (found != values).any(axis=0))
        if not len(hits):
            break
        first = hits[np.flatnonzero(np.diff(groups.group[hits], prepend=-1))]
        now[:, groups.group[first]] = values[:, first]
        until = np.full(len(groups.places), -1)
        until[groups.group[first]] = groups.number[first]
        limit = until[groups.group]
        left = (groups.number > limit) & (limit >= 0)
        found[:, left] = now[:, groups.group[left]]
    rows[:, groups.places] = now
    old = np.empty_like(found)
    old[:, groups.order] = found
    return old


def one_by_one(update: Callable[[Array, Array], Array], view: Array, places: Array, values: Array) -> Array:
    """Do ``memory = update(memory, value)`` for any function: a turn takes one thread of every place."""
    old = np.empty(len(places), view.dtype)
    for turn in _turns(places):
        at = places[turn]
        found = view[at]
        old[turn] = found
        view[at] = update(found, values[turn])
    return old


def _turns(places: Array) -> Iterator[Array]:
    groups = _Groups(places)
    for number in range(int(groups.lengths.max())):
        yield groups.order[groups.begins[groups.lengths > number] + number]
