"""Shuffles in the place of loads; lanes that have nobody to take it from load it themselves.

    ld.global.f32 %f7, [%rd1+4];   -->   activemask.b32 m; setp.ne.s32 edge, m, -1; setp.lt.u32 out, lane, 2;
                                         or.pred edge, edge, out; shfl.sync.up.b32 %f7, source, 2, 0, m;
                                         @edge ld.global.f32 %f7, [%rd1+4];

Matsumura, De Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, listing 6.  Unlike
there, a block asks once which lanes are there, and loads that need the same lanes share a predicate; it also holds
where the block of threads is no line and its rows are no whole warps, and where an index wraps between the two lanes.
The lane is that of ``%laneid``, found out at the beginning of the function.  No branch is added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import Enum

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.operands import SINK, Name
from comprehensive.ptx.passes.shuffle_code import (
    LANES,
    Shuffle,
    ShuffleCode,
    Sum,
    is_line_of_warps,
    made,
    number,
    reaches,
)
from comprehensive.ptx.statements import Instruction, Statement


class Variant(Enum):
    """The code that is made; only the first one computes what the program did.

    The others tell where the time goes (section 7).
    """

    SHUFFLE = "shuffle"
    NO_CORNER = "no_corner"
    """All lanes take what the shuffle gives."""
    NO_LOAD = "no_load"
    """A lane takes what it has loaded itself."""


def with_corners(analyses: Analyses, shuffles: Sequence[Shuffle], variant: Variant) -> list[Statement]:
    """The body of the function with them."""
    return _Corners(analyses, shuffles, variant).made()


class _Corners:
    def __init__(self, analyses: Analyses, shuffles: Sequence[Shuffle], variant: Variant) -> None:
        self._analyses = analyses
        self._shuffles = shuffles
        self._variant = variant
        self._code = ShuffleCode(analyses)
        self._calls = [n for n, s in enumerate(analyses.flow.steps) if s.instruction.opcode.base == "call"]
        self._lane: dict[bool, Name] = {}
        self._masks: dict[tuple[int, int], tuple[Name, Name]] = {}
        self._edges: dict[tuple[object, ...], Name] = {}
        self._wraps: dict[Sum, Name] = {}

    def made(self) -> list[Statement]:
        code = self._code
        for shuffle in self._shuffles:
            for element in shuffle.neighbour.elements:
                code.save(element)
        if self._variant is Variant.SHUFFLE:
            self._lanes()
            self._indices()
        for shuffle in self._shuffles:
            code.edits.replace(shuffle.step, self._instead(shuffle))
        return code.fresh.declared(code.edits.made())

    def _instead(self, shuffle: Shuffle) -> list[Statement]:
        by = shuffle.neighbour.lanes
        if by == 0 or self._variant is Variant.NO_LOAD:
            return self._code.moves(shuffle)
        original = self._analyses.flow.steps[shuffle.step].instruction
        found: list[Statement] = []
        mask, incomplete = self._mask(shuffle.step, found)
        edge = self._edge(shuffle, incomplete, found) if self._variant is Variant.SHUFFLE else None

        def shuffled(target: Name, source: Name) -> Instruction:
            way, clamp = ("up", 0) if by < 0 else ("down", LANES - 1)
            return made(f"shfl.sync.{way}.b32", target, source, number(abs(by)), number(clamp), mask)

        for target, element in zip(self._code.data(shuffle.step), shuffle.neighbour.elements, strict=True):
            if target.text != SINK:
                self._code.exchange(target, self._code.saved[element], shuffled, found)
        if edge is not None:
            found.append(Instruction(original.opcode, original.operands, edge))
        return found

    def _mask(self, step: int, found: list[Statement]) -> tuple[Name, Name]:
        """Return the registers that say which lanes are active, and whether some are not.

        In a block they stay the same up to a call.
        """
        block = self._analyses.cfg.blocks[self._analyses.cfg.block_of[step]]
        key = (block.number, bisect_left(self._calls, step) - bisect_left(self._calls, block.start))
        if key not in self._masks:
            mask, incomplete = self._code.fresh.register("b32"), self._code.fresh.register("pred")
            self._masks[key] = mask, incomplete
            found.append(made("activemask.b32", mask))
            if self._variant is Variant.SHUFFLE:
                found.append(made("setp.ne.s32", incomplete, mask, number(-1)))
        return self._masks[key]

    def _edge(self, shuffle: Shuffle, incomplete: Name, found: list[Statement]) -> Name:
        """Return the predicate that says whether the lane has to load itself."""
        by = shuffle.neighbour.lanes
        wraps = tuple(dict.fromkeys(self._wraps[i.sum] for i in shuffle.indices))
        key = (incomplete, by, wraps)
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = self._code.fresh.register("pred")
            lane = self._lane[by < 0]
            if by < 0:
                found.append(made("setp.lt.u32", edge, lane, number(-by)))
            else:
                found.append(made("setp.gt.u32", edge, lane, number(LANES - 1 - by)))
            for also in (incomplete, *wraps):
                found.append(made("or.pred", edge, edge, also))
        return edge

    def _lanes(self) -> None:
        """The lane; where rows of threads are no whole warps, one that has no lane to shuffle from."""
        ways = {each.neighbour.lanes < 0 for each in self._shuffles if each.neighbour.lanes}
        if not ways:
            return
        lane = self._code.fresh.register("b32")
        code: list[Statement] = [made("mov.u32", lane, Name("%laneid"))]
        irregular = None
        if not is_line_of_warps(self._analyses):
            irregular = self._code.fresh.register("pred")
            rows, several, rest, x = (self._code.fresh.register("b32") for _ in range(4))
            code += [
                made("mov.u32", x, Name("%ntid.x")),
                made("and.b32", rest, x, number(LANES - 1)),
                made("mov.u32", rows, Name("%ntid.y")),
                made("mov.u32", several, Name("%ntid.z")),
                made("mul.lo.u32", rows, rows, several),
                made("setp.ne.u32", irregular, rest, number(0)),
                made("setp.gt.and.u32", irregular, rows, number(1), irregular),
            ]
        for is_up in sorted(ways):
            self._lane[is_up] = lane
            if irregular is not None:
                self._lane[is_up] = shown = self._code.fresh.register("b32")
                code.append(made("selp.b32", shown, number(0 if is_up else LANES - 1), lane, irregular))
        self._code.edits.before(0, code)

    def _indices(self) -> None:
        """Compute for every sum whether it is so near to the end of its range that it may wrap."""
        indices = [index for shuffle in self._shuffles for index in shuffle.indices]
        for key, reach in reaches(indices).items():
            found: list[Statement] = []
            self._wraps[key] = self._code.near(key, reach, lambda step: self._code.data(step)[0], found)
            self._code.edits.after(self._last([part.step for part in key.parts]), found)

    def _last(self, steps: Sequence[int]) -> int:
        """Return the last of the steps on the way to a place that all of them come before."""
        cfg, dominates = self._analyses.cfg, self._analyses.dominators.dominates
        last = steps[0]
        for step in steps[1:]:
            one, other = cfg.block_of[last], cfg.block_of[step]
            if step > last if one == other else dominates(one, other):
                last = step
        return last
