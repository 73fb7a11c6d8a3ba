"""The synchronization points of the lanes of a warp, and what a lane may know of memory that another does not.

In: the analyses of a function.  Out: the steps since the last meeting, which each lane has done for itself::

    meetings = Meetings(analyses)
    meetings.since_met(12, 17)       # Relation.SAME_VISIT: step 12 may come before step 17 without a barrier between
    meetings.waits_before(17)        # whether one of them may wait for other threads, or for the grid before

A thread sees its own writes, and what is visible to it since it has waited: behind an acquire, a fence, or
``griddepcontrol.wait`` (PTX ISA 9.0, sections 8.9 and 9.7.13.15).  Another lane need not see either, although its load
stands at the same place or behind it in the text: lanes do not run in step.  A barrier that all threads of a warp
execute together orders what one of them knew before what all do behind it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from comprehensive.closure import reached
from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.ssa import NONE
from comprehensive.ptx.operands import Immediate

_BARRIERS = frozenset({"bar", "barrier"})
_GRID = "griddepcontrol"


@dataclass(frozen=True)
class Meetings:
    """The steps that lanes have done for themselves since they met."""

    analyses: Analyses
    _blocks: dict[int, frozenset[int]] = field(
        default_factory=dict[int, frozenset[int]], init=False, repr=False, compare=False
    )

    def since_met(self, step: int, end: int) -> Relation | None:
        """Return how an access that may come before another, with no meeting between, is compared with it.

        None where there is no way, or a meeting on all ways.
        """
        own, block = self.analyses.cfg.block_of[step], self.analyses.cfg.block_of[end]
        before, behind = self._meetings.get(block, ()), self._meetings.get(own, ())
        is_straight = own == block and step < end and not any(step < each < end for each in before)
        is_around = (
            own in self._since(block)
            and not any(each < end for each in before)
            and not any(step < each for each in behind)
        )
        if not (is_straight or is_around):
            return None
        return Relation.ANY_VISIT if self.analyses.loops.depth(own) else Relation.SAME_VISIT

    def waits_before(self, end: int) -> bool:
        """Whether a lane may wait, before a load, for what another that loads there has not waited for."""
        is_constant = self.analyses.accesses[end].is_constant
        return any(self._tells(step, end, is_constant) for step in self._waiting)

    def _tells(self, step: int, end: int, is_constant: bool) -> bool:
        analyses = self.analyses
        if not analyses.accesses[step].gates:
            return not is_constant and self.since_met(step, end) is not None
        # A wait for the grid before is one of each thread; all that come by have waited where it dominates.
        own, block = analyses.cfg.block_of[step], analyses.cfg.block_of[end]
        is_before = step < end if own == block else analyses.dominators.dominates(own, block)
        if self._base(step) == _GRID and analyses.ssa.guards[step] == NONE and is_before:
            return False
        return (own == block and step < end) or own in self._backwards(block, ())

    @cached_property
    def _waiting(self) -> tuple[int, ...]:
        """The steps at which a lane may wait, by itself, for others."""
        found: list[int] = []
        for step, access in self.analyses.accesses.items():
            code = self.analyses.flow.steps[step].instruction.opcode
            starts = code.base == _GRID and not access.gates
            if (access.orders or access.gates) and not (starts or self._is_met(step)):
                found.append(step)
        return tuple(found)

    @cached_property
    def _meetings(self) -> dict[int, tuple[int, ...]]:
        """The steps at which all lanes of a warp meet, by block."""
        found: dict[int, list[int]] = {}
        for step in self.analyses.accesses:
            if self.analyses.ssa.guards[step] == NONE and self._is_met(step):
                found.setdefault(self.analyses.cfg.block_of[step], []).append(step)
        return {block: tuple(steps) for block, steps in found.items()}

    def _is_met(self, step: int) -> bool:
        """Whether all lanes of a warp execute a step together, where one does, and each sees what the others knew."""
        code = self.analyses.flow.steps[step].instruction.opcode
        # A wait of a cluster does not order what stands behind its arrival.
        if code.base not in _BARRIERS or not {"arrive", "cluster"}.isdisjoint(code.modifiers):
            return False
        if "warp" in code.modifiers:
            return self._is_of_all(step)
        # `bar` is `barrier` with .aligned, which says that all threads of a warp execute it.
        return code.base == "bar" or "aligned" in code.modifiers

    def _is_of_all(self, step: int) -> bool:
        operands = self.analyses.flow.steps[step].instruction.operands
        mask = operands[0] if operands else None
        return isinstance(mask, Immediate) and mask.value in (-1, 0xFFFFFFFF)

    def _since(self, block: int) -> frozenset[int]:
        """Blocks from whose end a way leads to the beginning of a block without a meeting."""
        found = self._blocks.get(block)
        if found is None:
            found = self._blocks[block] = frozenset(self._backwards(block, self._meetings))
        return found

    def _backwards(self, block: int, closed: Collection[int]) -> Collection[int]:
        """Return the blocks from whose end ways lead to the beginning of a block, over others than closed ones."""
        blocks = self.analyses.cfg.blocks
        return reached(blocks[block].predecessors, lambda n: () if n in closed else blocks[n].predecessors)

    def _base(self, step: int) -> str:
        return self.analyses.flow.steps[step].instruction.opcode.base
