"""Two reports beside each other: ``python3 -m benchmarks.gpu.everyday.compare OLD.md NEW.md``.

A kernel that was refused before changes the mean by being in it, so that versions are compared over the points at which
both ran.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.gpu.everyday.report import geometric_mean
from benchmarks.gpu.table import markdown_table

Key: TypeAlias = tuple[str, str]
"""A kernel and its size."""
CHANGED = 1.03
"""Ratios further apart than this are listed; repeated runs differ by less, but for a few small points."""
COLUMNS = 8


@dataclass(frozen=True)
class Point:
    """The numbers that a report gives for a kernel at a size."""

    milliseconds: float
    ratio: float
    what: str


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.everyday.compare", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    chosen = parser.parse_args()
    print(compared(*(points(path.read_text(encoding="utf-8")) for path in (chosen.old, chosen.new))), end="")
    return 0


def points(report: str) -> dict[Key, Point]:
    """The points of a report at which ours and a peer ran."""
    found: dict[Key, Point] = {}
    for line in report.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == COLUMNS and "=" in cells[1] and cells[2] != "-" and cells[5]:
            found[cells[0], cells[1]] = Point(float(cells[2]), float(cells[5]), cells[7])
    return found


def compared(old: Mapping[Key, Point], new: Mapping[Key, Point]) -> str:
    """Means over the points of both, and the points whose ratios differ, the fastest first."""
    common = [key for key in new if key in old]
    if not common:
        return "No point ran in both.\n"
    ratios = {key: new[key].ratio / old[key].ratio for key in common}
    before, after = (geometric_mean([side[key].ratio for key in common]) for side in (old, new))
    changed = sorted(
        (key for key in common if not 1 / CHANGED <= ratios[key] <= CHANGED), key=lambda key: ratios[key]
    )
    rows = [
        [*key, f"{old[key].ratio:.2f}", f"{new[key].ratio:.2f}", f"{ratios[key]:.3f}", new[key].what]
        for key in changed
    ]
    head = f"Over the {len(common)} points of both: {before:.2f} before, {after:.2f} after."
    only = f"Only in the first: {len(old.keys() - new.keys())}; only in the second: {len(new.keys() - old.keys())}."
    table = markdown_table(("kernel", "size", "before", "after", "after over before", "what runs"), rows)
    return "\n\n".join((head, only, table)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
