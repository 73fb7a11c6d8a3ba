"""The number of loads of a kernel whose value another lane has, by a list of its accesses alone.

In: `shuffles/accesses.csv`, the accesses of one thread in the order of the source.  Out: a :class:`Count` a kernel::

    thread = accesses()["whispering"]
    counted(thread)                     # Count(shuffles=5, total_delta=5)
    counted(thread, no_alias=True)      # Count(shuffles=6, total_delta=5): one is a reload, over 0 lanes
    counted(thread, max_delta=1)

A load may take its value from an earlier load of the same array and row that is no shuffle itself, so few lanes away
as possible.  A store ends that for all loads that are not read-only, or with ``no_alias`` for those of its array.
Nothing of `comprehensive` is used here, so that a pass over PTX can be compared with it.

Columns of the file: ``kind`` is ``nc`` (read-only for the whole kernel), ``load`` or ``store``; ``x`` the offset in
elements along x; ``others`` the other coordinates; ``step`` how many elements the next lane is away (0: all lanes read
one element; a name: that many, not known); ``width`` how many elements are read at once.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parent / "shuffles" / "accesses.csv"


@dataclass(frozen=True, slots=True)
class Access:
    kind: str
    array: str
    x: int
    others: str
    step: str
    width: int


@dataclass(frozen=True, slots=True)
class Count:
    """``total_delta`` is how many lanes away all of them are together."""

    shuffles: int
    total_delta: int

    @property
    def mean_delta(self) -> float | None:
        """The mean to two digits, as the published table has it; None without shuffles."""
        return round(self.total_delta / self.shuffles, 2) if self.shuffles else None


def accesses() -> dict[str, list[Access]]:
    """Return the accesses of all kernels, by name of the file."""
    found: dict[str, list[Access]] = {}
    with FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            access = Access(
                row["kind"], row["array"], int(row["x"]), row["others"], row["step"], int(row["width"])
            )
            found.setdefault(row["kernel"], []).append(access)
    return found


def counted(thread: Sequence[Access], *, no_alias: bool = False, max_delta: int = 31) -> Count:
    """Greedily, in the order of the accesses."""
    sources: list[Access] = []
    deltas: list[int] = []
    for access in thread:
        if access.kind == "store":
            sources = [s for s in sources if s.kind == "nc" or (no_alias and s.array != access.array)]
            continue
        lanes = [abs(n) for source in sources for n in lanes_between(source, access)]
        nearest = min(lanes, default=max_delta + 1)
        if nearest <= max_delta:
            deltas.append(nearest)
        else:
            sources.append(access)
    return Count(len(deltas), sum(deltas))


def lanes_between(source: Access, access: Access) -> list[int]:
    """Every N so that lane + N has loaded by ``source`` what a lane loads by ``access``."""
    if (source.array, source.others, source.step) != (access.array, access.others, access.step):
        return []
    away = [access.x - source.x - part for part in range(source.width - access.width + 1)]
    if not source.step.isdigit() or source.step == "0":
        return [0] if 0 in away else []
    step = int(source.step)
    return [distance // step for distance in away if distance % step == 0]
