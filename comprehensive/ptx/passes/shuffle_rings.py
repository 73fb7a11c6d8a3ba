"""The loads of neighbouring words that can go round in a ring of lanes.

    a[i-2] a[i-1] a[i] a[i+1] a[i+2]  -->  a[i] of all lanes; of the words before and behind those of the warp one load:
                                           the last two lanes load a[i-32], the first two a[i+32]

Then lane ``l`` has ``a[i+N]`` from lane ``(l + N) % 32``, which gives what it has loaded for the warp's end where it
serves a lane of the other end, and its own word else.  Five loads become two, whatever the N, where
:mod:`.shuffle_corners` takes as many loads as before: one for each end of each.  Such rows that stay in registers are
known as register caches (Ben-Sasson, Hamilis, Silberstein, Tromer: Fast multiplication in binary fields on GPUs via
register cache, 2016).

A ring asks more than a shuffle: that a lane may load, earlier than the program, what a lane of the other end loads.
So all loads of one stand in a row of instructions without a branch, a barrier or a call, nothing that may write there
stands before them, and what the two lanes load lies so many bytes apart in all flows, where no index wraps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.opcodes import Effect
from comprehensive.ptx.operands import Address, Name
from comprehensive.ptx.passes.dce import has_effect
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.shuffle_code import LANES, Index, Shuffle, bits_of
from comprehensive.ptx.statements import Directive, Label
from comprehensive.ptx.symbolic.lanes import Wrap
from comprehensive.ptx.symbolic.neighbours import Neighbours

_MOST_BYTES = 16
"""The most bytes of a load."""
_WIDTHS = (4, 2, 1)
_NO_RING = "can be in no ring: {}"


class Side(NamedTuple):
    """A number of lanes at an end of the warp, which load elements from that of number ``element`` on."""

    lanes: int
    element: int


class Edge(NamedTuple):
    """A load of so many elements: the last lanes those before the warp's words, the first lanes those behind."""

    width: int
    before: Side | None
    behind: Side | None


@dataclass(frozen=True, slots=True)
class Ring:
    """Loads of what one other load has for all lanes.

    ``shuffles`` stand in the order of the text, in one row of instructions whose first load is ``begin``. An element
    has ``size`` bytes. The address of the first one lies ``ahead`` bytes behind the source's, which grows by ``slope``
    bytes from lane to lane, where none of ``indices`` wraps.
    """

    source: int
    begin: int
    shuffles: tuple[Shuffle, ...]
    edges: tuple[Edge, ...]
    size: int
    slope: int
    ahead: int
    indices: tuple[Index, ...]

    @property
    def first(self) -> int:
        return self.shuffles[0].step


Indices = Callable[[int, Sequence[Wrap]], tuple[Index, ...] | None]
"""Registers for what must not wrap, as a step sees it."""


class Rings(NamedTuple):
    """The rings of a function; ``why_not`` tells of loads that are in none."""

    rings: tuple[Ring, ...]
    why_not: Mapping[int, str]


def rings_of(
    analyses: Analyses, neighbours: Neighbours, indices: Indices, shuffles: Sequence[Shuffle]
) -> Rings:
    """Return rings for as many of the loads as possible, and why others are in none."""
    rows = rows_of(analyses)
    why_not: dict[int, str] = {}
    groups: dict[tuple[int, int, str], list[Shuffle]] = defaultdict(list)
    for shuffle in shuffles:
        sources = {element.step for element in shuffle.neighbour.elements}
        code = analyses.flow.steps[shuffle.step].instruction.opcode
        if shuffle.neighbour.lanes == 0:
            continue
        if len(sources) > 1:
            why_not[shuffle.step] = _NO_RING.format("it comes from several loads")
        else:
            kind = code.text.replace(f".v{code.vector}", "")
            groups[rows[shuffle.step], sources.pop(), kind].append(shuffle)
    begins = _begins(analyses, rows)
    made: list[Ring] = []
    for (row, source, _), group in groups.items():
        search = _Search(analyses, neighbours, indices, source, begins[row])
        ring = search.ring(group)
        why_not |= search.why_not
        if ring is not None:
            made.append(ring)
    return Rings(tuple(sorted(made, key=lambda ring: ring.first)), why_not)


def comes_later(analyses: Analyses, step: int, begin: int) -> bool:
    """Whether a step stands in the block of another, at it or behind it."""
    return step >= begin and analyses.cfg.block_of[step] == analyses.cfg.block_of[begin]


def chain(analyses: Analyses, steps: Iterable[int], begin: int) -> tuple[int, ...] | None:
    """Return the steps, in order, to compute before ``begin`` so that the results of ``steps`` are known.

    They are steps that come later in its block. None where one of them cannot be computed there.
    """
    flow = analyses.flow
    found: dict[int, None] = {}

    def add(at: int) -> bool:
        if at in found or not comes_later(analyses, at, begin):
            return True
        instruction = flow.steps[at].instruction
        code, target = instruction.opcode, instruction.operands[0]
        plain = not has_effect(code) and code.is_known and not (code.reads_carry or code.writes_carry)
        if not plain or flow.steps[at].guard is not None or not isinstance(target, Name):
            return False
        if code.effect is not Effect.NONE and code.space != "param":
            return False
        if len(analyses.ssa.defines[at]) != 1:
            return False
        if not all(add(analyses.ssa.values[value].step) for value in analyses.ssa.uses[at]):
            return False
        found[at] = None
        return True

    return tuple(found) if all(add(step) for step in steps) else None


def rows_of(analyses: Analyses) -> Mapping[int, int]:
    """Return for each step the row of instructions that it stands in.

    All lanes that come to one instruction of a row come to all of it.
    """
    body, steps = analyses.flow.function.body, analyses.flow.steps
    depths = scope_depths(body)
    named = [isinstance(s, Label) or (isinstance(s, Directive) and s.label is not None) for s in body]
    rows: dict[int, int] = {}
    row = position = 0
    for block in analyses.cfg.blocks:
        row += 1
        for step in block.steps:
            code = steps[step].instruction.opcode
            begin, position = position, steps[step].position
            alone = not code.is_known or code.is_convergent or code.is_terminator or code.base == "call"
            alone |= bool(depths[position])
            row += alone or any(named[begin:position])
            rows[step] = row
            row += alone
    return rows


def _begins(analyses: Analyses, rows: Mapping[int, int]) -> Mapping[int, int]:
    """Return the first load of each row.

    What is computed of loaded values must not stand before a branch, where it would keep later loads waiting.
    """
    found: dict[int, int] = {}
    for step, access in analyses.accesses.items():
        if access.reads and access.space not in (Space.PARAM, Space.CONST):
            found.setdefault(rows[step], step)
    return found


class _Search:
    """A ring of loads of one source in one row, whose first load is ``begin``."""

    def __init__(
        self,
        analyses: Analyses,
        neighbours: Neighbours,
        indices: Indices,
        source: int,
        begin: int,
    ) -> None:
        self._analyses = analyses
        self._neighbours = neighbours
        self._indices = indices
        self._source = source
        self._begin = begin
        self.why_not: dict[int, str] = {}

    def ring(self, group: Sequence[Shuffle]) -> Ring | None:
        rest = sorted(group, key=lambda each: each.step)
        while rest:
            found = self._beginning_with(rest[0], rest)
            if found is not None:
                return found
            rest = rest[1:]
        return None

    def _beginning_with(self, first: Shuffle, group: Sequence[Shuffle]) -> Ring | None:
        size, count = self._neighbours.shape(self._source)
        slope = self._neighbours.slope(first.step)
        ahead = first.neighbour.lanes * slope + first.neighbour.elements[0].index * size
        kept: list[Shuffle] = []
        needed: list[Index] = []
        for shuffle in (first, *sorted(group[1:], key=lambda each: abs(each.neighbour.lanes))):
            indices = self._needed(first, shuffle, slope, ahead, size)
            if isinstance(indices, str):
                self.why_not[shuffle.step] = _NO_RING.format(indices)
                if shuffle is first:
                    return None
            elif _span([*kept, shuffle]) > LANES:
                self.why_not[shuffle.step] = _NO_RING.format("the first and the last lanes would be the same")
            else:
                kept.append(shuffle)
                needed += indices
        kept.sort(key=lambda each: each.step)
        edges = tuple(_edges(kept, size, count))
        return Ring(
            self._source, self._begin, tuple(kept), edges, size, slope, ahead, tuple(dict.fromkeys(needed))
        )

    def _needed(
        self, first: Shuffle, shuffle: Shuffle, slope: int, ahead: int, size: int
    ) -> tuple[Index, ...] | str:
        """Return what must not wrap, so that a shuffle can be in a ring with the first one; or why it cannot."""
        step, by = shuffle.step, shuffle.neighbour.lanes
        address = self._analyses.flow.steps[step].instruction.operands[1]
        if not isinstance(address, Address) or not isinstance(address.base, Name):
            return "its address is no register"
        if bits_of(self._analyses, address.base) not in (32, 64):
            return "its address is no register"
        turn = LANES if by > 0 else -LANES
        # From the address of the lane that needs it to that of the first load of the lane at the other end.
        found = self._neighbours.apart(first.step, step, by=turn - by)
        own = shuffle.neighbour.elements[0].index * size
        if slope == 0 or found is None or found.bytes != ahead - own - turn * slope:
            return "what the lanes at the other end load does not lie at one distance"
        indices = self._indices(first.step, found.wraps)
        if indices is None:
            return "an index may wrap between the lanes, and is in no register"
        indices += shuffle.indices
        parts = (part.step for index in indices for part in index.sum.parts)
        if chain(self._analyses, parts, self._begin) is None:
            return "an index may wrap between the lanes, and is known too late"
        return indices


def _span(shuffles: Sequence[Shuffle]) -> int:
    """Return the number of lanes that load for others."""
    lanes = [each.neighbour.lanes for each in shuffles]
    return max(0, *lanes) - min(0, *lanes)


def _edges(shuffles: Sequence[Shuffle], size: int, count: int) -> Iterator[Edge]:
    """Yield as few loads as possible that have all elements needed at the ends of a warp.

    They load nothing that the program does not load.
    """
    depths: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for shuffle in shuffles:
        by = shuffle.neighbour.lanes
        depth = depths[by > 0]
        for element in shuffle.neighbour.elements:
            depth[element.index] = max(depth.get(element.index, 0), abs(by))
    before, behind = (_pieces(depth, size, count) for depth in depths)
    for width in _WIDTHS:
        one, other = before[width], behind[width]
        for n in range(max(len(one), len(other))):
            yield Edge(width, one[n] if n < len(one) else None, other[n] if n < len(other) else None)


def _pieces(depths: Mapping[int, int], size: int, count: int) -> dict[int, list[Side]]:
    """Elements next to each other that as many lanes need, aligned, by how many there are."""
    found: dict[int, list[Side]] = {width: [] for width in _WIDTHS}
    index = 0
    while index < count:
        depth = depths.get(index)
        width = 1
        if depth is not None:
            width = next(w for w in _WIDTHS if _is_piece(depths, index, w, size, count))
            found[width].append(Side(depth, index))
        index += width
    return found


def _is_piece(depths: Mapping[int, int], index: int, width: int, size: int, count: int) -> bool:
    if index % width or width > count or width * size > _MOST_BYTES:
        return False
    return len({depths.get(each) for each in range(index, index + width)}) == 1
