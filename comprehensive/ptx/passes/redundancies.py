"""Redundant computations of a function, and the places where lazy code motion would have them computed instead.

    found = Redundancies(analyses)
    found.expressions.expressions[0].key      # ("add.s32", (Name("%r1"), Immediate("4")))
    found.motion.deleted(0)                   # (3,): there is no need to compute it in block 3
    found.frequency(3)                        # 10.0: a block in a loop

The blocks are those of the function with a block for every edge that can hold one.
"""

from __future__ import annotations

from functools import cached_property

from comprehensive.closure import reached
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.dominators import (
    control_dependence_of,
    dominators_of,
    postdominators_of,
)
from comprehensive.ptx.analysis.loops import loops_of
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.passes.code_motion import lazy_code_motion
from comprehensive.ptx.passes.critical_edges import split_critical_edges
from comprehensive.ptx.passes.declared import Declared
from comprehensive.ptx.passes.expressions import Expression, expressions_of, scope_depths
from comprehensive.ptx.passes.memory import Memory
from comprehensive.ptx.passes.placing import Edge, Placer

# What a round of a loop, and a branch, are taken to be worth where nothing has been measured.
_ROUNDS = 10.0
_TAKEN = 0.5


class Redundancies:
    """The redundancies of a body, found before anything is decided, so that several plans for it share them."""

    def __init__(self, analyses: Analyses, *, parameters: bool = False) -> None:
        self.analyses = analyses
        self.split = split_critical_edges(analyses.cfg)
        self.cfg = self.split.cfg
        self.loops = loops_of(self.cfg, dominators_of(self.cfg))
        self.expressions = expressions_of(self.cfg, Memory(analyses).may_write, parameters=parameters)
        self.motion = lazy_code_motion(self.cfg, self.expressions.local, self._endless())
        self.placer = Placer(self.cfg, self.expressions.local, analyses.liveness, self._text_block)
        self.depths = scope_depths(analyses.function.body)
        self.declared = Declared(analyses.function.body)
        self._dependence = control_dependence_of(self.cfg, postdominators_of(self.cfg))
        self._decided_by: dict[int, frozenset[int]] = {}

    def repeated(self, each: Expression) -> tuple[int, ...]:
        """Return the steps whose block has computed it before, with nothing changed."""
        return self._repeated.get(each.number, ())

    @cached_property
    def _repeated(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        for step in self.expressions.repeated:
            number = self.expressions.number_of[step]
            found[number] = (*found.get(number, ()), step)
        return found

    def _endless(self) -> frozenset[Edge]:
        """Edges back of which it is not proved that they are taken a finite number of times."""
        trips, loops = self.analyses.affine.trips, self.analyses.loops.loops
        finite = {loops[number].header for number, each in trips.items() if each.is_finite}
        ends = {
            (latch, loop.header)
            for loop in self.loops.loops
            if loop.header in finite
            for latch in loop.latches
        }
        place = {number: index for index, number in enumerate(self.cfg.order)}
        return frozenset(
            (source, target)
            for source in self.cfg.order
            for target in self.cfg.blocks[source].successors
            if place[target] <= place[source] and (source, target) not in ends
        )

    def variant_branches(self, block: int) -> frozenset[int]:
        """Branches that decide whether a block runs and that are not the same in the threads of a warp."""
        levels = self.analyses.variance.branches
        # The blocks of edges do not branch.
        return frozenset(b for b in self._deciding(block) if b < len(levels) and levels[b] > Level.WARP)

    def frequency(self, block: int) -> float:
        """Return how often a block runs, by the loops and branches around it."""
        ends: set[int] = set()
        for loop in self.loops.around(block):
            ends.update(loop.latches, loop.leaves, (source for source, _ in loop.exits))
        # A branch of the block itself decides how often it runs again, not whether it does.
        branches = self._deciding(block) - ends - {block}
        return _ROUNDS ** self.loops.depth(block) * _TAKEN ** len(branches)

    def _deciding(self, block: int) -> frozenset[int]:
        """Branches that decide whether a block runs, and whether they run themselves."""
        found = self._decided_by.get(block)
        if found is None:
            decide = self._dependence.__getitem__
            found = self._decided_by[block] = frozenset(reached(decide(block), decide))
        return found

    def _text_block(self, block: int) -> int:
        """The block itself, or the one to which the edge leads that it stands for."""
        return self.split.edges[block][1] if block in self.split.edges else block
