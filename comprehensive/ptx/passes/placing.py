"""The place where an expression is computed after lazy code motion has said what may go, and its register.

    placed = Placer(cfg, local, live, edge_of).placed(expression, saved, places)
    placed.forks       # (3,): computed once before the branch of block 3, not behind it on every way
    placed.kept        # (17,): the step that computes it where it stands; others of the text take what is there
    placed.holder      # 5: register 5, into which step 17 goes, still has it wherever it is taken; None: a fresh one

A fork takes over what every way on from it computes before anything changes it and before any loop: nothing runs that
did not, and what was computed on two ways is computed at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from comprehensive.closure import settled
from comprehensive.ptx.analysis.cfg import Block, Cfg
from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.passes.code_motion import Local
from comprehensive.ptx.passes.expressions import Expression

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placed:
    """The places where an expression is computed.

    ``kept`` compute and some of ``saved`` take it; ``places`` are edges on which it is computed, ``forks``
    blocks before whose branch it is; ``gathered`` are edges for which a fork does it.
    """

    kept: tuple[int, ...]
    saved: tuple[int, ...]
    places: tuple[Edge, ...]
    forks: tuple[int, ...]
    gathered: tuple[Edge, ...]
    holder: int | None


@dataclass(frozen=True, slots=True)
class _Made:
    """A computation: a step, or one on an edge, ahead of its block's steps or behind them."""

    block: int
    step: int | None = None
    edge: Edge | None = None
    is_behind: bool = False


class Placer:
    """Places expressions.

    ``text_block`` is the block that a block is, or leads to where it stands for an edge.
    """

    def __init__(self, cfg: Cfg, local: Local, live: Liveness, text_block: Callable[[int], int]) -> None:
        self._cfg = cfg
        self._steps = cfg.flow.steps
        self._local = local
        self._live = live
        self._text_block = text_block

    def placed(self, each: Expression, saved: Sequence[int], places: Sequence[Edge]) -> Placed:
        made = [self._on_edge(edge) for edge in places]
        made += [_Made(self._cfg.block_of[step], step) for step in each.steps if step not in saved]
        made = self._that_reach(made, saved)
        forks: list[int] = []
        gone: list[_Made] = []
        for fork, first in self._forks(each, made):
            if gone and not set(first).isdisjoint(gone):
                continue
            forks.append(fork)
            gone += first
        rest = [one for one in made if one not in gone]
        taken = (*saved, *(one.step for one in gone if one.step is not None))
        kept = tuple(sorted(one.step for one in rest if one.step is not None))
        edges = tuple(one.edge for one in rest if one.edge is not None)
        return Placed(
            kept,
            taken,
            edges,
            tuple(forks),
            tuple(one.edge for one in gone if one.edge is not None),
            self._holder(each, kept, taken, [one for one in rest if one.edge is not None], forks),
        )

    def block_at(self, edge: Edge) -> Block:
        """The block that holds what is placed on an edge."""
        source, target = (self._cfg.blocks[number] for number in edge)
        return target if source.is_fork else source

    def _on_edge(self, edge: Edge) -> _Made:
        block = self.block_at(edge).number
        return _Made(block, edge=edge, is_behind=block == edge[0])

    def _that_reach(self, made: Sequence[_Made], saved: Sequence[int]) -> list[_Made]:
        """Return the computations whose value reaches a step that takes it."""
        by_block: dict[int, list[_Made]] = {}
        for one in made:
            by_block.setdefault(one.block, []).append(one)
        found: set[_Made] = set()
        seen: set[int] = set()
        work = [(self._cfg.block_of[step], step) for step in saved]
        while work:
            block, before = work.pop()
            last = max(
                (one for one in by_block.get(block, ()) if self._place(one) < before),
                key=self._place,
                default=None,
            )
            if last is not None:
                found.add(last)
                continue
            for source in self._cfg.blocks[block].predecessors:
                if source in self._cfg.reachable and source not in seen:
                    seen.add(source)
                    work.append((source, len(self._steps) + 1))
        return [one for one in made if one in found]

    def _place(self, one: _Made) -> int:
        """Return a number to be compared with the numbers of steps of the same block."""
        if one.step is not None:
            return one.step
        return len(self._steps) if one.is_behind else -1

    def _forks(self, each: Expression, made: Sequence[_Made]) -> Iterator[tuple[int, tuple[_Made, ...]]]:
        """Blocks that can take over what is computed on all ways from them, outer ones first, and what that is."""
        if len(made) < 2:
            return
        first = self._first_of_blocks(each, made)
        transparent = [bool(mask >> each.number & 1) for mask in self._local.transparent]
        computes = self._computes(first, transparent)
        for number in self._cfg.order:
            block = self._cfg.blocks[number]
            if len(block.successors) < 2 or block.leaves or not all(computes[s] for s in block.successors):
                continue
            found, passed = self._first_behind(block, first)
            if len(found) > 1 and self._come_only_from(number, passed, first):
                yield number, tuple(found)

    def _first_of_blocks(self, each: Expression, made: Sequence[_Made]) -> dict[int, _Made]:
        """Return by block what computes the expression there before its operands change."""
        first: dict[int, _Made] = {}
        for one in made:
            if one.step is None:
                is_first = not one.is_behind or self._local.transparent[one.block] >> each.number & 1
            else:
                is_first = self._local.first[one.block] >> each.number & 1 and not any(
                    step < one.step and self._cfg.block_of[step] == one.block for step in each.steps
                )
            if is_first and one.block not in first:
                first[one.block] = one
        return first

    def _computes(self, first: Collection[int], transparent: Sequence[bool]) -> list[bool]:
        """Blocks from whose beginning every way computes it unchanged, and none in a loop for ever."""
        found = [block.number in first for block in self._cfg.blocks]

        def change(number: int) -> bool:
            block = self._cfg.blocks[number]
            if found[number] or not transparent[number] or block.leaves or not block.successors:
                return False
            found[number] = all(found[successor] for successor in block.successors)
            return found[number]

        settled(self._cfg.order[::-1], change)
        return found

    def _first_behind(self, fork: Block, first: dict[int, _Made]) -> tuple[list[_Made], set[int]]:
        """Return what the ways from a fork compute first, and the blocks up to there."""
        found: list[_Made] = []
        seen = set(fork.successors)
        work = list(fork.successors)
        while work:
            number = work.pop()
            if number in first:
                found.append(first[number])
                continue
            more = [s for s in self._cfg.blocks[number].successors if s not in seen]
            seen.update(more)
            work += more
        return found, seen

    def _come_only_from(self, fork: int, blocks: set[int], first: Collection[int]) -> bool:
        """Whether nothing leads to the blocks but the fork and those of them that do not compute."""
        return fork not in blocks and all(
            source == fork or (source in blocks and source not in first) or source not in self._cfg.reachable
            for number in blocks
            for source in self._cfg.blocks[number].predecessors
        )

    def _holder(
        self,
        each: Expression,
        kept: Sequence[int],
        saved: Sequence[int],
        on_edges: Sequence[_Made],
        forks: Sequence[int],
    ) -> int | None:
        """A register into which it goes anyway, and that has it wherever it is taken."""
        candidates = dict.fromkeys(self._steps[step].defines[0] for step in (kept or sorted(saved)))
        if kept and len(candidates) > 1:
            return None
        for register in candidates:
            if all(self._is_dead_on(register, one) for one in on_edges) and all(
                not self._live.before[self._cfg.blocks[fork].end - 1] >> register & 1 for fork in forks
            ):
                ahead = {one.block for one in on_edges if not one.is_behind}
                behind = {one.block for one in on_edges if one.is_behind} | set(forks)
                if self._holds(each, register, saved, ahead, behind):
                    return register
        return None

    def _is_dead_on(self, register: int, one: _Made) -> bool:
        assert one.edge is not None
        return not self._live.live_in[self._text_block(one.edge[1])] >> register & 1

    def _holds(
        self, each: Expression, register: int, saved: Sequence[int], ahead: set[int], behind: set[int]
    ) -> bool:
        """Whether the register has the expression at all steps that are saved, computed also ahead of and behind what
        stands in these blocks."""
        entry = self._cfg.order[0]
        out = [True] * len(self._cfg.blocks)
        changed = True
        while changed:
            changed = False
            for number in self._cfg.order:
                block = self._cfg.blocks[number]
                holds = number != entry and all(
                    out[source] for source in block.predecessors if source in self._cfg.reachable
                )
                holds = number in ahead or holds
                for step in block.steps:
                    if step in saved:
                        if not holds:
                            # It only ever turns from true to false.
                            return False
                    elif register in self._steps[step].defines:
                        holds = step in each.steps
                holds = number in behind or holds
                changed |= holds != out[number]
                out[number] = holds
        return True
