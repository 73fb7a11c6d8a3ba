"""The expressions that could move at all, whatever has moved before them.

    could_move(cfg, expressions) >> 5 & 1     # 0: no round of code motion will ever move expression 5

Lazy code motion takes a computation away only where some way to it has computed the same before with nothing changed
since.  What changes an expression is the definition of a register that it reads; that may go only where it computes
something that could move itself.  Stores are left out, so that the answer is never no where it may become yes: it
saves rounds that would find nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.passes.expressions import Expressions


@dataclass(frozen=True, slots=True)
class _Event:
    """The effect of one step: the bit of the ``own`` expression that it computes, and those that it ``changes``."""

    own: int
    changes: int


def could_move(cfg: Cfg, expressions: Expressions) -> int:
    """Return the mask of expressions that some round of code motion could move."""
    events = _events(cfg, expressions)
    found = 0
    while True:
        more = _computed_again(cfg, events, found)
        if more == found:
            return found
        found = more


def _events(cfg: Cfg, expressions: Expressions) -> list[list[_Event]]:
    made_of: dict[int, int] = defaultdict(int)
    for each in expressions.expressions:
        for register in each.reads:
            made_of[register] |= 1 << each.number
    events: list[list[_Event]] = [[] for _ in cfg.blocks]
    for number in cfg.order:
        for step in cfg.blocks[number].steps:
            computed, changes = expressions.number_of.get(step), 0
            for register in cfg.flow.steps[step].defines:
                changes |= made_of.get(register, 0)
            if computed is not None or changes:
                events[number].append(_Event(0 if computed is None else 1 << computed, changes))
    return events


def _computed_again(cfg: Cfg, events: Sequence[Sequence[_Event]], gone: int) -> int:
    """Return what some way computes twice with nothing changed between, if what is ``gone`` changes nothing."""
    into, found = [0] * len(cfg.blocks), 0
    waiting = set(cfg.order)
    while waiting:
        for number in cfg.order:
            if number not in waiting:
                continue
            waiting.remove(number)
            computed = into[number]
            for event in events[number]:
                found |= computed & event.own
                computed |= event.own
                if not event.own & gone:
                    computed &= ~event.changes
            for successor in cfg.blocks[number].successors:
                if computed & ~into[successor]:
                    into[successor] |= computed
                    waiting.add(successor)
    return found
