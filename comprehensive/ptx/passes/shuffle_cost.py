"""Whether a shuffle in the place of a load pays.

In: a kernel, the loads that could be shuffled, an architecture.  Out: why not, for each load that does not::

    obstacles(analyses, lanes, {17: 1, 19: -1}, "sm_90")
    # {17: "it takes 1.0 cycles of the load-store pipe, shuffle and edge load 1.5"}: of the load at step 17

Cycles are those of a warp on a multiprocessor that is full of warps: of the pipe that loads, stores and shuffles
share, of what is issued, of the memory.  The greatest is what a kernel without shuffles takes.  One with shuffles takes
the memory and its shuffles one after the other, since a shuffle waits for a load that others do not wait for.  What an
instruction of a loop counts for more is a guess, 10 for each loop around it.  An array is taken to be read from memory
once; each row of it more fills the first-level cache.

On the H200 a warp's load of neighbouring words takes no more than a shuffle, and the edge load as much again, so that
shuffles of such loads do not pay; nor do those of a halo beside float4, up to seventeen rows of it: there the pipe is
what the kernel waits for, but each edge takes half of what a load does, and adds to the memory.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from comprehensive.data import spec_directory
from comprehensive.ptx.analysis.accesses import Access
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.spaces import Space
from comprehensive.ptx.symbolic.lanes import Lanes

_LINE = 128
_LANES = 32
_ROW = 1024
"""Addresses that have so much in common are those of one row."""
_ROUNDS = 10
_LEAST_GAIN = 0.03
"""What is not more than this is noise: of kernels built twice, times differ by as much."""
_OF_THE_PIPE = frozenset({Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.ANY})
_POINTERS = frozenset({"parameter", "address", "value", "load"})


@dataclass(frozen=True)
class Architecture:
    """A row of ``specs/ptx/shuffle_costs.toml``."""

    cycles_load_line: float
    cycles_more_lines: float
    cycles_shuffle: float
    cycles_edge: float
    issued: int
    memory_bytes: float
    fill_bytes: float


@dataclass(frozen=True)
class Cycles:
    """Of a warp, from its beginning to its end; ``shuffles`` are those of shuffles and their edges."""

    pipe: float
    issue: float
    memory: float
    shuffles: float = 0

    @property
    def most(self) -> float:
        return max(max(self.pipe, self.memory) + self.shuffles, self.issue)


@cache
def architectures() -> Mapping[int, Architecture]:
    """By number of the target: 90 is ``sm_90``."""
    rows: list[dict[str, Any]] = tomllib.loads(
        (spec_directory() / "ptx" / "shuffle_costs.toml").read_text(encoding="utf-8")
    )["architecture"]
    names = Architecture.__dataclass_fields__
    return {t: Architecture(**{n: row[n] for n in names}) for row in rows for t in row["targets"]}


def obstacles(analyses: Analyses, lanes: Lanes, deltas: Mapping[int, int], target: str) -> Mapping[int, str]:
    """``deltas`` are the lanes between, by step of a load."""
    digits = re.match(r"sm_(\d+)", target)
    found = architectures().get(int(digits[1])) if digits else None
    if found is None:
        return dict.fromkeys(deltas, f"what it costs on {target} has not been measured")
    return _Estimate(analyses, lanes, found).obstacles(deltas)


class _Estimate:
    def __init__(self, analyses: Analyses, lanes: Lanes, architecture: Architecture) -> None:
        self._analyses = analyses
        self._lanes = lanes
        self._architecture = architecture

    def obstacles(self, deltas: Mapping[int, int]) -> Mapping[int, str]:
        found: dict[int, str] = {}
        for step, lanes in deltas.items():
            before, after = self._pipe(self._analyses.accesses[step]), self._shuffled(step, lanes)
            if after >= before:
                found[step] = (
                    f"it takes {before:.1f} cycles of the load-store pipe, shuffle and edge load {after:.1f}"
                )
        before = self._cycles({})
        after = self._cycles({step: lanes for step, lanes in deltas.items() if step not in found})
        if after.most > before.most * (1 - _LEAST_GAIN):
            busy = max(("memory", "issue", "pipe"), key=lambda name: getattr(before, name))
            what = {
                "memory": "the memory",
                "issue": "the issue of instructions",
                "pipe": "the load-store pipe",
            }
            why = (
                f"what the kernel waits for is {what[busy]}: a warp's cycles are {before.most:.0f}, "
                f"and {after.most:.0f} with shuffles"
            )
            found = {step: found.get(step, why) for step in deltas}
        return found

    def _cycles(self, deltas: Mapping[int, int]) -> Cycles:
        analyses = self._analyses
        pipe = issue = shuffles = 0.0
        arrays: dict[tuple[object, ...], float] = {}
        rows: dict[tuple[object, ...], float] = {}
        for block in analyses.cfg.order:
            rounds = _ROUNDS ** analyses.loops.depth(block)
            steps = analyses.cfg.blocks[block].steps
            issue += len(steps) * rounds / self._architecture.issued
            for step in steps:
                access = analyses.accesses.get(step)
                if access is None or access.space not in _OF_THE_PIPE:
                    continue
                if step in deltas:
                    shuffles += self._shuffled(step, deltas[step]) * rounds
                    issue += (2 + self._words(step)) * rounds / self._architecture.issued
                else:
                    pipe += self._pipe(access) * rounds
                if access.space is not Space.SHARED and access.address is not None:
                    bytes_ = self._bytes(access) * rounds
                    for found, key in ((arrays, self._array(access)), (rows, self._row(access))):
                        found[key] = max(found.get(key, 0), bytes_)
        once, filled = sum(arrays.values()) * _LANES, sum(rows.values()) * _LANES
        memory = once / self._architecture.memory_bytes + (filled - once) / self._architecture.fill_bytes
        return Cycles(pipe, issue, memory, shuffles)

    def _shuffled(self, step: int, lanes: int) -> float:
        """Of the pipe, for the shuffles of a load and that of its edge."""
        if lanes == 0:
            return 0.0
        return self._words(step) * self._architecture.cycles_shuffle + self._architecture.cycles_edge

    def _words(self, step: int) -> int:
        return -(-self._analyses.accesses[step].bytes // 4)

    def _pipe(self, access: Access) -> float:
        lines, full = self._lines(access), -(-access.bytes * _LANES // _LINE)
        # What every lane takes a whole share of is moved at full speed.
        costs = self._architecture.cycles_load_line, self._architecture.cycles_more_lines
        return full * costs[0] + max(0, lines - full) * costs[1]

    def _lines(self, access: Access) -> int:
        """That a warp touches, all of it there and the first lane at the beginning of one."""
        if access.address is None or self._lanes.shifted(access.address, 0) is None:
            return 1
        slope = abs(self._lanes.slope(access.address))
        spread = (_LANES - 1) * slope + access.bytes
        return max(1, min(_LANES, -(-spread // _LINE)))

    def _bytes(self, access: Access) -> int:
        """That a thread moves from or to memory, whose neighbours move what lies next to it."""
        assert access.address is not None
        return max(access.bytes, min(abs(self._lanes.slope(access.address)), _LINE))

    def _row(self, access: Access) -> tuple[object, ...]:
        """What is near for all lanes: the address, less the few bytes by which it may differ."""
        assert access.address is not None
        near = self._lanes.ideal(access.address)
        return access.writes, near.terms, (near.constant + _ROW // 2) // _ROW

    def _array(self, access: Access) -> tuple[object, ...]:
        """What lies near one another: the pointer that an address is made of."""
        assert access.address is not None
        symbols = self._analyses.affine.symbols
        pointers = tuple(n for n, c in access.address.terms if c == 1 and symbols[n].kind in _POINTERS)
        return access.writes, pointers
