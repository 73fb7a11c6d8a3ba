"""Basic blocks and the edges between them.

In: a :class:`Flow`.  Out: a :class:`Cfg`; blocks are numbered in the order of the text::

    cfg = cfg_of(flow_of(function))
    cfg.blocks[0].successors       # (1, 2): numbers of blocks; what falls through is first
    cfg.order                      # reverse post-order of the blocks that can be reached

Block 0 is the entry and nothing branches to it: where the first instruction is a target, it is empty.  ``exit``,
``ret``, ``trap`` and the end of the body leave; under a guard the block also falls through.  A call falls through,
also of a function that does not return; an opcode that is not known does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.graphs import Block, reverse_postorder
from comprehensive.ptx.flow import Flow, Step

BRANCHES = frozenset({"bra", "brx"})
LEAVING = frozenset({"exit", "ret", "trap"})


@dataclass(frozen=True)
class Cfg:
    """A control flow graph.

    ``block_of`` are the blocks of steps, ``order`` the reverse post-order from the entry.
    """

    flow: Flow
    blocks: tuple[Block, ...]
    block_of: tuple[int, ...]
    order: tuple[int, ...]

    @cached_property
    def reachable(self) -> frozenset[int]:
        return frozenset(self.order)

    @cached_property
    def unreachable(self) -> tuple[int, ...]:
        """Blocks to which no way leads from the entry."""
        return tuple(b.number for b in self.blocks if b.number not in self.reachable)

    def terminator(self, block: Block) -> Step | None:
        """The branch, exit, return or trap at its end; None where it only falls through."""
        if block.start == block.end:
            return None
        step = self.flow.steps[block.end - 1]
        base = step.instruction.opcode.base
        return step if base in BRANCHES or base in LEAVING else None


def cfg_of(flow: Flow) -> Cfg:
    """Return the control flow graph of a function, in time linear in its steps and edges.

    >>> cfg_of(flow_of(function)).blocks[0].successors    # doctest: +SKIP
    (1, 2)
    """
    steps = flow.steps
    count = len(steps)
    starts = {0, *(target for step in steps for target in step.targets if target < count)}
    ends = (n + 1 for n, step in enumerate(steps) if _ends_block(step))
    starts.update(end for end in ends if end < count)
    bounds = sorted(starts)
    if any(0 in step.targets for step in steps):
        # Nothing may branch to the entry.
        bounds.insert(0, 0)
    first = {start: number for number, start in enumerate(bounds)}
    stops = [*bounds[1:], count]
    onward: list[tuple[int, ...]] = []
    leaves: list[bool] = []
    for number, (start, stop) in enumerate(zip(bounds, stops, strict=True)):
        last = steps[stop - 1] if stop > start else None
        found = tuple(dict.fromkeys(_onward(last, stop)))
        onward.append(tuple(number + 1 if start == stop == t else first[t] for t in found if 0 <= t < count))
        leaves.append(any(not 0 <= t < count for t in found))
    into: list[list[int]] = [[] for _ in bounds]
    for number, targets in enumerate(onward):
        for target in targets:
            into[target].append(number)
    blocks = tuple(
        Block(number, start, stop, onward[number], tuple(into[number]), leaves[number])
        for number, (start, stop) in enumerate(zip(bounds, stops, strict=True))
    )
    block_of = tuple(block.number for block in blocks for _ in block.steps)
    return Cfg(flow, blocks, block_of, reverse_postorder(onward, 0))


OUT = -1
"""A number in the place of a step: control leaves the function."""


def _ends_block(step: Step) -> bool:
    base = step.instruction.opcode.base
    return base in BRANCHES or base in LEAVING


def _onward(last: Step | None, stop: int) -> Iterator[int]:
    """Yield where control goes behind the last step of a block: steps, or :data:`OUT`."""
    base = "" if last is None else last.instruction.opcode.base
    is_sure = last is not None and last.guard is None and (base in BRANCHES or base in LEAVING)
    if not is_sure:
        yield stop
    if last is not None and base in BRANCHES:
        yield from last.targets
    if base in LEAVING:
        yield OUT
