"""Lazy code motion: where expressions are to be computed so that no way computes one twice, and none one in vain.

In: a :class:`Cfg` and, for every block, which expressions it computes and which it lets through, as masks with one bit
an expression.  Out: on which edges to compute, and in which blocks the first computation goes::

    motion = lazy_code_motion(cfg, Local(computed_first, computed_last, transparent))
    motion.insert[2, 3] >> 5 & 1      # expression 5 is to be computed on the way from block 2 to block 3
    motion.delete[3] >> 5 & 1         # and what block 3 computes first is there already
    motion.again[4] >> 5 & 1          # some way to block 4 has computed it, and it stays: it cannot be there on all

Knoop, Rüthing and Steffen, "Lazy code motion" (PLDI 1992), with edges as Drechsler and Stadel place them ("A variation
of Knoop, Rüthing, and Steffen's lazy code motion", SIGPLAN Notices 28(5), 1993).  An expression is computed only where
every way on computes it anyhow, so that nothing is executed that was not.  An expression that may fail, a load, is also
computed only where every way on comes to it: not ahead of a loop that may go on for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from comprehensive.closure import settled
from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.analysis.liveness import numbers_in

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Local:
    """The effect of each block on ``count`` expressions, as masks.

    ``first`` are computed before anything in the block changes them, ``last`` are computed and not changed
    behind, ``transparent`` are not changed at all. Those in the mask ``may_fail`` do more than compute.
    """

    count: int
    first: Sequence[int]
    last: Sequence[int]
    transparent: Sequence[int]
    may_fail: int = 0


@dataclass(frozen=True)
class Motion:
    """The motion of code, as masks of expressions: ``insert`` by edge; ``delete`` and ``again`` by block."""

    insert: Mapping[tuple[int, int], int]
    delete: Sequence[int]
    again: Sequence[int]

    def deleted(self, expression: int) -> tuple[int, ...]:
        """Blocks whose first computation goes."""
        return self._deleted.get(expression, ())

    def kept(self, expression: int) -> tuple[int, ...]:
        """Blocks whose first computation stays although some way has computed it."""
        return self._kept.get(expression, ())

    def inserted(self, expression: int) -> tuple[tuple[int, int], ...]:
        """Edges on which it is computed."""
        return self._inserted.get(expression, ())

    @cached_property
    def _deleted(self) -> Mapping[int, tuple[int, ...]]:
        return _by_expression(enumerate(self.delete))

    @cached_property
    def _kept(self) -> Mapping[int, tuple[int, ...]]:
        return _by_expression(enumerate(self.again))

    @cached_property
    def _inserted(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        return _by_expression(sorted(self.insert.items()))


def _by_expression(masks: Iterable[tuple[_T, int]]) -> Mapping[int, tuple[_T, ...]]:
    found: dict[int, list[_T]] = defaultdict(list)
    for place, mask in masks:
        for expression in numbers_in(mask):
            found[expression].append(place)
    return {expression: tuple(places) for expression, places in found.items()}


def lazy_code_motion(cfg: Cfg, local: Local, endless: Collection[tuple[int, int]] = ()) -> Motion:
    """Return where expressions are inserted and deleted, for the blocks that can be reached.

    ``endless`` are edges back, over which a way may lead for ever.
    """
    every = (1 << local.count) - 1
    predecessors = [
        [source for source in block.predecessors if source in cfg.reachable] for block in cfg.blocks
    ]
    anticipated_in, anticipated_out = _anticipated(cfg, local, every, endless)
    available_out = _available(cfg, local, every, predecessors)
    earliest = {
        (source, target): anticipated_in[target]
        & ~available_out[source]
        & (~local.transparent[source] | ~anticipated_out[source])
        for target in cfg.order
        for source in predecessors[target]
    }
    later_in, later = _later(cfg, local, every, predecessors, earliest, anticipated_in[cfg.order[0]])
    insert = {edge: mask & ~later_in[edge[1]] for edge, mask in later.items()}
    partly = _partly_available(cfg, local, predecessors)
    delete, again = [0] * len(cfg.blocks), [0] * len(cfg.blocks)
    for block in cfg.order[1:]:
        delete[block] = local.first[block] & ~later_in[block]
        again[block] = local.first[block] & partly[block] & ~delete[block]
    return Motion({edge: mask for edge, mask in insert.items() if mask}, delete, again)


def _anticipated(
    cfg: Cfg, local: Local, every: int, endless: Collection[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    """Return what every way on computes before it changes, at the beginning and the end of blocks (anticipated).

    Of what may fail only what has been found to be computed behind an endless edge counts there: nothing at first.
    """
    behind = dict.fromkeys(endless, ~local.may_fail)
    while True:
        into, out = _anticipated_with(cfg, local, every, behind)
        found = {edge: ~local.may_fail | into[edge[1]] for edge in behind}
        if found == behind:
            return into, out
        behind = found


def _anticipated_with(
    cfg: Cfg, local: Local, every: int, behind: Mapping[tuple[int, int], int]
) -> tuple[list[int], list[int]]:
    into = [every] * len(cfg.blocks)
    out = [every] * len(cfg.blocks)

    def change(number: int) -> bool:
        block, was = cfg.blocks[number], into[number]
        mask = 0 if block.leaves or not block.successors else every
        for successor in block.successors:
            mask &= into[successor] & behind.get((number, successor), every)
        out[number] = mask
        into[number] = local.first[number] | (local.transparent[number] & mask)
        return into[number] != was

    settled(cfg.order[::-1], change)
    return into, out


def _available(cfg: Cfg, local: Local, every: int, predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return the expressions that every way to the end of a block has computed (available)."""
    out = [every] * len(cfg.blocks)

    def change(number: int) -> bool:
        was, mask = out[number], every if predecessors[number] else 0
        for source in predecessors[number]:
            mask &= out[source]
        out[number] = local.last[number] | (mask & local.transparent[number])
        return out[number] != was

    settled(cfg.order, change)
    return out


def _partly_available(cfg: Cfg, local: Local, predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return the expressions that some way to the beginning of a block has computed (partly available)."""
    into, out = [0] * len(cfg.blocks), [0] * len(cfg.blocks)

    def change(number: int) -> bool:
        was = out[number]
        for source in predecessors[number]:
            into[number] |= out[source]
        out[number] = local.last[number] | (into[number] & local.transparent[number])
        return out[number] != was

    settled(cfg.order, change)
    return into


def _later(
    cfg: Cfg,
    local: Local,
    every: int,
    predecessors: Sequence[Sequence[int]],
    earliest: Mapping[tuple[int, int], int],
    at_entry: int,
) -> tuple[list[int], dict[tuple[int, int], int]]:
    """Return the expressions that can be computed at the beginning of a block, or on an edge, instead of before."""
    into = [every] * len(cfg.blocks)
    into[cfg.order[0]] = at_entry
    on: dict[tuple[int, int], int] = dict.fromkeys(earliest, every)

    def change(number: int) -> bool:
        was, mask = into[number], at_entry if number == cfg.order[0] else every
        for source in predecessors[number]:
            edge = source, number
            on[edge] = earliest[edge] | (into[source] & ~local.first[source])
            mask &= on[edge]
        into[number] = mask
        return mask != was

    settled(cfg.order, change)
    return into, on
