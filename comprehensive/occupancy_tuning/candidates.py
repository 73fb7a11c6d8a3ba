"""The few versions of a kernel among which the best is looked for while it runs (Orion, figure 8).

    found = candidates_of(subject)
    found.direction, [str(each.setting) for each in found.levels]     # "up", ["as compiled, ...", ...]

The first is the original: the kernel as nvcc compiles it.  The direction goes by max-live: where all values of a thread
fit into what is left to it at full occupancy, fewer registers bring nothing, and only a lower occupancy can be better.

- **up**: limits of registers at the cliffs of the occupancy, one step below and one above, with blocks of each size.
- **down**: persistent blocks, fewer than fit at a time.  (The paper pads shared memory, which takes the first-level
  cache away: measured on an H200, padding never won where this did by up to 2.2 times.)

Versions without spills come first; where a cliff spills, values in shared memory make it one of them.  Of those that
are left the ones with the best predictions stay, and the last ones are of the other direction, should the first be
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import register_cliffs
from comprehensive.occupancy_tuning.level import Level
from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.ptx.build import LEAST_REGISTERS, REGISTER_STEP

Direction: TypeAlias = Literal["up", "down"]

MOST = 5
"""Versions of a kernel, the original included."""
HOPEFUL = 1.15
"""A version that is predicted to take longer than the original by more than this factor is not tried."""
PERSISTENT_HOPEFUL = 1.5
"""The same for persistent blocks, which gain by what is near in caches, and of that predictions know nothing."""
_ENOUGH_WARPS = 12
"""With so many warps and no spills values in shared memory never won on an H200 (5 kernels, 2026-11-20)."""
_PARTS = (0.75, 0.5, 0.25)
"""Of the blocks that fit, so many stay on a multiprocessor."""
_ALONG = 2
"""Versions with more warps, where these are the direction; the others are of the other direction."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is tried: the original first, then along the direction, at last the other direction."""

    max_live: int
    threshold: int
    """Registers that are left to a thread at full occupancy."""
    direction: Direction
    levels: tuple[Level, ...]
    along: int
    """So many behind the original are in the direction."""


def full_occupancy_registers(device: Device) -> int:
    """Return how many registers a thread may have so that the most threads fit a multiprocessor.

    32 on today's devices, the threshold of the paper.
    """
    return device.registers_per_sm // device.max_threads_per_sm


def candidates_of(subject: Subject) -> Candidates | None:
    """Return the candidates of a kernel; None where the kernel cannot be launched at all."""
    threshold = full_occupancy_registers(subject.device)
    direction: Direction = "up" if subject.max_live >= threshold else "down"
    originals = subject.levels("")
    if not originals:
        return None
    original = originals[0]
    limited = (*originals[1:], *_limited(subject, original, direction))
    more = _ordered(original, [level for level in limited if level.warps > original.warps])
    fewer = _ordered(original, [level for level in limited if level.warps <= original.warps])
    lower = sorted([*_persistent(subject, original), *fewer], key=_rank)
    if direction == "up":
        along = _different(more, _ALONG)
        against = _different(lower, MOST - 1 - len(along))
    else:
        along = _different(lower, MOST - 2)
        against = _different([each for each in more if each not in along], 1)
    return Candidates(subject.max_live, threshold, direction, (original, *along, *against), len(along))


def _rank(level: Level) -> tuple[int, float, int]:
    """Order by spills, then by what is predicted, then by what is taken of a multiprocessor."""
    return level.spill_bytes, level.cycles or 0.0, level.registers_held


def caps_of(subject: Subject, original: Level, direction: Direction) -> tuple[int, ...]:
    """Return the limits of registers that are looked at, the greatest first.

    Up: the cliffs for each size of block, and a step to each side of those of the original's.  Down: the next cliff.
    """
    device = subject.device
    found: set[int] = set()
    for threads, launch in subject.launches.items():
        cliffs = register_cliffs(
            device, threads_per_block=threads, shared_bytes_per_block=launch.shared_bytes
        )
        steps = (-REGISTER_STEP, 0, REGISTER_STEP) if threads == subject.threads else (0,)
        found.update(cap + step for cap, _ in cliffs for step in steps)
    caps = sorted(
        (cap for cap in found if LEAST_REGISTERS <= cap <= device.max_registers_per_thread), reverse=True
    )
    if direction == "down":
        caps = [cap for cap in caps if cap < original.registers][:1]
    return tuple(caps)


def _limited(subject: Subject, original: Level, direction: Direction) -> Iterator[Level]:
    """Yield the levels with limits of registers; demoted ones in the place of those that spill at a cliff."""
    seen = {original.registers}
    for cap in caps_of(subject, original, direction):
        pipeline = f"register-cap{{registers={cap}}}"
        made = subject.made(pipeline)
        if made is None:
            continue
        if made.usage.spill_bytes <= original.spill_bytes:
            # A greater limit that left ptxas as many registers has most likely had it make the same.
            if made.usage.registers_per_thread not in seen:
                yield from subject.levels(pipeline)
            seen.add(made.usage.registers_per_thread)
            continue
        # Below it more and more values would go; the greatest limit that spills is near what the kernel needs.
        if original.spill_bytes or original.warps < _ENOUGH_WARPS:
            yield from subject.levels(f"demote-registers{{target={cap} dynamic=allow}}")
        return


def _persistent(subject: Subject, original: Level) -> Iterator[Level]:
    seen = {original.resident}
    for part in _PARTS:
        resident = max(1, int(original.resident * part))
        if resident in seen:
            continue
        seen.add(resident)
        warps = resident * original.occupancy.warps_per_block
        for level in subject.levels(f"grid-stride{{warps={warps}}}")[:1]:
            most = PERSISTENT_HOPEFUL * (original.cycles or 0.0)
            if level.cycles is None or level.cycles <= most:
                yield level


def _ordered(original: Level, levels: Sequence[Level]) -> list[Level]:
    """Return the levels that spill no more than the original, the best predicted first.

    Those that are not hopeful are left out, but for the first one: a prediction knows little of schedules.
    """
    kept = sorted(
        (level for level in levels if level.spill_bytes <= original.spill_bytes),
        key=_rank,
    )
    most = None if original.cycles is None else original.cycles * HOPEFUL
    hopeful = [level for level in kept if most is None or (level.cycles is not None and level.cycles <= most)]
    return hopeful or kept[:1]


def _different(levels: Sequence[Level], most: int) -> list[Level]:
    """Return the first levels: one for each number of warps, then those of equal ones in blocks of other sizes."""
    first: dict[int, Level] = {}
    rest: dict[tuple[int, int], Level] = {}
    for level in levels:
        if level.warps not in first:
            first[level.warps] = level
        elif level.setting.threads != first[level.warps].setting.threads:
            rest.setdefault((level.warps, level.setting.threads), level)
    return [*first.values(), *rest.values()][: max(0, most)]
