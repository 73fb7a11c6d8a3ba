"""The levels that are as fast as the fastest, and the one of them that leaves most to others.

    kept = plateau((original, capped, persistent), (1.00, 0.99, 1.07))
    kept.chosen        # 0: within 2 % of the best, and with the least of a multiprocessor's resources

The second principle of *Orion* (section 3): where occupancy can fall at no cost in time, what is freed is of use to
other kernels.  Source: figure 10, where half the occupancy of srad takes the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.occupancy_tuning.level import Level

NEAR = 0.02
"""Levels whose times differ by this part are as fast as each other."""


@dataclass(frozen=True, slots=True)
class Plateau:
    """Positions of the levels: those within 2 % of the fastest, and the one that is kept."""

    members: tuple[int, ...]
    chosen: int


def plateau(levels: Sequence[Level], times: Sequence[float | None], near: float = NEAR) -> Plateau | None:
    """Return the plateau of levels by their times, measured or predicted; None where no time is known.

    The one that is kept has the fewest warps, then the fewest registers, then the least shared memory; of equal ones
    the first.
    """
    known = [(time, number) for number, time in enumerate(times) if time is not None]
    if not known:
        return None
    best = min(known)[0]
    members = tuple(number for time, number in known if time <= best * (1 + near))
    return Plateau(members, min(members, key=lambda number: (*held(levels[number]), number)))


def held(level: Level) -> tuple[int, int, int]:
    """Return what a level takes of a multiprocessor: warps, registers, bytes of shared memory."""
    return level.warps, level.registers_held, level.resident * level.shared_bytes
