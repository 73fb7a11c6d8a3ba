"""Whether a shuffle in the place of a load pays, and in which shape.

In: an emulated kernel, the loads that could be shuffled, an architecture.  Out: those that are, and why the others are
not::

    cheapest(emulation, shuffles, rings, ("rings", "corners"), "sm_90").why_not
    # {17: "would not pay: the loads of its row take 2.0 cycles of a warp, a ring 2.6"}: of the load at step 17

Cycles are those that a warp adds to what a multiprocessor full of warps takes: for each load, shuffle, load at the
edges of a warp, for each instruction that is issued, for the bytes that come from memory once.  They add up: shuffles
and loads share a pipe, and a short warp waits for the memory at its beginning.  What an instruction of a loop counts
for more is a guess, 10 for each loop around it.

On the H200 a load of neighbouring words takes no more than a shuffle and the load of its edge.  Rings, with one load
for all edges, pay from about six words a row on.  Beside vectors, where the lanes' words are further apart, they were
slower than what is added up here, and than loads; so were kernels that wait for memory more than for instructions, of
which most loads are others.  Neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from comprehensive.data import fact_table
from comprehensive.ptx.analysis.accesses import Access
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.passes.shuffle_code import LANES, Shuffle
from comprehensive.ptx.passes.shuffle_rings import Ring, Rings
from comprehensive.ptx.symbolic.emulator import Emulation
from comprehensive.ptx.symbolic.lanes import Lanes

_LINE = 128
_ROUNDS = 10
_LEAST_GAIN = 0.03
"""The gain up to which a difference is noise: times of kernels built twice differ by as much."""
_LEAST_SHARE = 0.5
"""The least share of a kernel's loads that rings replace."""
_OPENING = 12
"""Instructions before a row with rings, and two for each index that may wrap."""
_OF_THE_PIPE = frozenset({Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.ANY})
_POINTERS = frozenset({"parameter", "address", "value", "load"})


@dataclass(frozen=True)
class Architecture:
    """A row of ``specs/ptx/shuffle_costs.toml``."""

    cycles_warp: float
    cycles_load: float
    cycles_shuffle: float
    cycles_select: float
    cycles_edge: float
    cycles_issue: float
    memory_bytes: float


@cache
def architectures() -> Mapping[int, Architecture]:
    """Return the architectures by number of the target: 90 is ``sm_90``."""
    rows: list[dict[str, Any]] = fact_table("ptx/shuffle_costs.toml")["architecture"]
    names = Architecture.__dataclass_fields__
    return {t: Architecture(**{n: row[n] for n in names}) for row in rows for t in row["targets"]}


@dataclass(frozen=True)
class Choice:
    """Loads that become shuffles: ``shuffles`` by themselves, and those of ``rings``; ``why_not`` of the others."""

    shuffles: tuple[Shuffle, ...]
    rings: tuple[Ring, ...]
    why_not: Mapping[int, str]

    @property
    def all(self) -> tuple[Shuffle, ...]:
        found = (*self.shuffles, *(each for ring in self.rings for each in ring.shuffles))
        return tuple(sorted(found, key=lambda each: each.step))


def cheapest(
    emulation: Emulation, shuffles: Sequence[Shuffle], rings: Rings, shapes: Sequence[str], target: str
) -> Choice:
    """Return the choice of shuffles and rings that saves the most, by what was measured for the target.

    ``shapes`` are "rings", "corners" or both; the first one says why where neither pays.
    """
    digits = re.match(r"sm_(\d+)", target)
    found = architectures().get(int(digits[1])) if digits else None
    if found is None:
        why = f"would not pay: what it costs on {target} has not been measured"
        return Choice((), (), {each.step: why for each in shuffles})
    estimate = _Estimate(emulation.analyses, emulation.lanes, found)
    choices = {
        "corners": lambda: estimate.corners(shuffles),
        "rings": lambda: estimate.rings(shuffles, rings),
    }
    made = [choices[shape]() for shape in shapes]
    return min(made, key=lambda each: each[0])[1]


class _Estimate:
    """Choices come with the cycles of a warp."""

    def __init__(self, analyses: Analyses, lanes: Lanes, architecture: Architecture) -> None:
        self._analyses = analyses
        self._lanes = lanes
        self._costs = architecture
        self._before = self._unchanged()

    def corners(self, shuffles: Sequence[Shuffle]) -> tuple[float, Choice]:
        """Return what pays where each load is replaced by itself, with the cycles."""
        why_not: dict[int, str] = {}
        kept: list[Shuffle] = []
        gained = 0.0
        for shuffle in shuffles:
            before, after = self._load(shuffle.step), self._in_corner(shuffle)
            if after < before:
                kept.append(shuffle)
                gained += (before - after) * self._rounds(shuffle.step)
            else:
                why_not[shuffle.step] = (
                    f"would not pay: it takes {before:.1f} cycles of a warp, shuffle and edge load {after:.1f}"
                )
        return self._if_worth(gained, Choice(tuple(kept), (), why_not))

    def rings(self, shuffles: Sequence[Shuffle], rings: Rings) -> tuple[float, Choice]:
        """Each ring by itself, and what threads themselves have loaded."""
        why_not = dict(rings.why_not)
        own = tuple(each for each in shuffles if each.neighbour.lanes == 0)
        gained = sum(self._load(each.step) * self._rounds(each.step) for each in own)
        kept: list[Ring] = []
        replaced = 0.0
        for ring in rings.rings:
            steps = [each.step for each in ring.shuffles]
            rounds = self._rounds(ring.first)
            before, after = sum(map(self._load, steps)), self._in_ring(ring)
            if ring.slope != ring.size:
                why = (
                    "would not pay: its words are not next to each other, where rings were slower than loads"
                )
                why_not |= dict.fromkeys(steps, why)
            elif after >= before:
                why = f"would not pay: the loads of its row take {before:.1f} cycles of a warp, a ring {after:.1f}"
                why_not |= dict.fromkeys(steps, why)
            else:
                kept.append(ring)
                gained += (before - after) * rounds
                replaced += before * rounds
        openings = {
            ring.begin: len({i.sum for r in kept if r.begin == ring.begin for i in r.indices})
            for ring in kept
        }
        gained -= sum(
            (_OPENING + 2 * sums) * self._costs.cycles_issue * self._rounds(begin)
            for begin, sums in openings.items()
        )
        choice = Choice(own, tuple(kept), why_not)
        if kept and replaced < _LEAST_SHARE * self._loads():
            why = "would not pay: most loads of the kernel are others"
            choice = Choice(own, (), why_not | {e.step: why for ring in kept for e in ring.shuffles})
            gained = 0.0
        return self._if_worth(gained, choice)

    def _if_worth(self, gained: float, choice: Choice) -> tuple[float, Choice]:
        after = self._before - gained
        if gained > self._before * _LEAST_GAIN:
            return after, choice
        why = f"would not pay: a warp of the kernel takes {self._before:.0f} cycles, and {after:.0f} with shuffles"
        return self._before, Choice((), (), {e.step: why for e in choice.all} | dict(choice.why_not))

    def _unchanged(self) -> float:
        analyses, costs = self._analyses, self._costs
        cycles = costs.cycles_warp
        arrays: dict[tuple[object, ...], float] = {}
        for block in analyses.cfg.order:
            rounds = _ROUNDS ** analyses.loops.depth(block)
            steps = analyses.cfg.blocks[block].steps
            cycles += len(steps) * rounds * costs.cycles_issue
            for step in steps:
                access = analyses.accesses.get(step)
                if access is None or access.space not in _OF_THE_PIPE:
                    continue
                cycles += self._moved(access) * rounds
                if access.space is not Space.SHARED and access.address is not None:
                    key = self._array(access)
                    arrays[key] = max(arrays.get(key, 0), self._bytes(access) * rounds)
        return cycles + sum(arrays.values()) * LANES / costs.memory_bytes

    def _rounds(self, step: int) -> int:
        return _ROUNDS ** self._analyses.loops.depth(self._analyses.cfg.block_of[step])

    def _loads(self) -> float:
        """Return the cycles of all loads of the kernel that go through the pipe, with the rounds of loops."""
        accesses = self._analyses.accesses.items()
        of_the_pipe = ((s, a) for s, a in accesses if a.reads and a.space in _OF_THE_PIPE)
        return sum(self._moved(access) * self._rounds(step) for step, access in of_the_pipe)

    def _load(self, step: int) -> float:
        return self._moved(self._analyses.accesses[step])

    def _moved(self, access: Access) -> float:
        """Return the cycles of a load or store.

        The lines that it touches beside what it moves add nothing that could be measured.
        """
        return self._costs.cycles_load * -(-access.bytes * LANES // _LINE)

    def _words(self, step: int) -> int:
        return -(-self._analyses.accesses[step].bytes // 4)

    def _in_corner(self, shuffle: Shuffle) -> float:
        if shuffle.neighbour.lanes == 0:
            return 0.0
        costs, words = self._costs, self._words(shuffle.step)
        return words * (costs.cycles_shuffle + costs.cycles_issue) + costs.cycles_edge

    def _in_ring(self, ring: Ring) -> float:
        costs = self._costs
        a_word = costs.cycles_shuffle + costs.cycles_select + costs.cycles_issue
        words = sum(self._words(each.step) for each in ring.shuffles)
        return words * a_word + len(ring.edges) * (costs.cycles_edge + 2 * costs.cycles_issue)

    def _bytes(self, access: Access) -> int:
        """Return the bytes that an access moves for a thread whose neighbours access what lies next to it."""
        assert access.address is not None
        return max(access.bytes, min(abs(self._lanes.slope(access.address)), _LINE))

    def _array(self, access: Access) -> tuple[object, ...]:
        """Return a key for accesses near one another: whether they write, and the pointer in their address."""
        assert access.address is not None
        symbols = self._analyses.affine.symbols
        pointers = tuple(n for n, c in access.address.terms if c == 1 and symbols[n].kind in _POINTERS)
        return access.writes, pointers
