"""The few versions of a kernel among which the best is looked for while it runs (Orion, figure 8).

    found = candidates_of(subject)
    found.direction, [str(each.setting) for each in found.levels]     # "up", ["as compiled, ...", ...]

The first is the original: the kernel as nvcc compiles it.  The direction goes by max-live: where all values of a thread
fit into what is left to it at full occupancy, fewer registers bring nothing, and only a lower occupancy can be better.

- **up**: limits of registers at the cliffs of the occupancy, one step below and one above, with blocks of each size.
- **down**: persistent blocks, fewer than fit at a time.  (The paper pads shared memory, which takes the first-level
  cache away: measured on an H200, padding never won where this did by up to 2.2 times.)

Only what may differ in time is tried.  A version is as the original where it has as many warps and spills, in blocks of
whatever size.  Another number of warps alone changes how much waiting is hidden, and of that predictions know: where
they see no gain, fewer warps are left out, and of versions that are predicted to be as fast as each other one stands
for all.  Persistent blocks are for kernels whose threads walk through memory line by line, since only what caches keep
for them can outweigh what the loop over blocks costs, and not for those that are busy with computing already.

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
BUSY = 0.9
"""A kernel whose pipes are busy for more than this part of its predicted time gains nothing by nearer caches."""
ALIKE = 0.02
"""Versions whose predictions differ by this part at most differ by less than predictions are wrong."""
_ENOUGH_WARPS = 12
"""With so many warps and no spills values in shared memory never won on an H200 (5 kernels, 2026-11-20)."""
_PARTS = (0.125, 0.25, 0.5)
"""The parts of the blocks that fit that stay on a multiprocessor: the fewest first, for which caches keep the most.

On an H200 a softmax of rows took 0.75 of its time with an eighth, and all of it with a quarter or more (2026-11-24).
"""
_ALONG = 2
"""Versions with more warps, where these are the direction; the others are of the other direction."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates in the order of trials: the original first, those along the direction, then the other
    direction."""

    max_live: int
    threshold: int
    """Registers that are left to a thread at full occupancy."""
    direction: Direction
    levels: tuple[Level, ...]
    along: int
    """So many behind the original are in the direction, or in the other one where there are none in it."""


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
    limited = [
        level
        for level in (*originals[1:], *_limited(subject, original, direction))
        if _differs(level, original)
    ]
    more = _apart(_ordered(original, [level for level in limited if level.warps > original.warps]))
    fewer = _ordered(original, [level for level in limited if _frees(level, original)])
    lower = [*fewer, *_persistent(subject, original)]
    if direction == "up":
        along = _different(more, _ALONG)
        against = _different(lower, MOST - 1 - len(along))
    else:
        along = _different(lower, MOST - 2)
        against = _different(more, 1)
    if not along:
        along, against = against, []
    return Candidates(subject.max_live, threshold, direction, (original, *along, *against), len(along))


def _differs(level: Level, original: Level) -> bool:
    """Return whether anything but schedules makes a level faster or slower than the original."""
    return (level.warps, level.spill_bytes) != (original.warps, original.spill_bytes)


def _frees(level: Level, original: Level) -> bool:
    """Return whether a level gives warps away for something: fewer spills, or a better prediction."""
    if level.warps > original.warps:
        return False
    gains = None not in (level.cycles, original.cycles) and (level.cycles or 0.0) < (original.cycles or 0.0)
    return level.spill_bytes < original.spill_bytes or gains


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
    # Of limits that leave ptxas as many registers the least: where it took 158, a kernel ran in 0.97 of its time
    # with a limit of 168 and in 1.10 with 176 (H200, 2026-11-24).
    least: dict[int, str] = {}
    for cap in caps_of(subject, original, direction):
        pipeline = f"register-cap{{registers={cap}}}"
        made = subject.made(pipeline)
        if made is None:
            continue
        if made.usage.spill_bytes <= original.spill_bytes:
            least[made.usage.registers_per_thread] = pipeline
            continue
        # Below it more and more values would go; the greatest limit that spills is near what the kernel needs.
        if original.spill_bytes or original.warps < _ENOUGH_WARPS:
            yield from subject.levels(f"demote-registers{{target={cap} dynamic=allow}}")
        break
    for registers, pipeline in least.items():
        if registers != original.registers:
            yield from subject.levels(pipeline)


def _persistent(subject: Subject, original: Level) -> Iterator[Level]:
    """Yield levels of persistent blocks, the lowest first, where caches may make up for them."""
    found = original.prediction
    if not subject.walks or isinstance(found, str) or found.issue_cycles > BUSY * found.cycles:
        return
    seen = {original.resident}
    for part in _PARTS:
        resident = max(1, int(original.resident * part))
        if resident not in seen:
            seen.add(resident)
            yield from subject.levels(
                f"grid-stride{{warps={resident * original.occupancy.warps_per_block}}}"
            )[:1]


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
    """Return the first levels, one for each number of warps."""
    first: dict[int, Level] = {}
    for level in levels:
        first.setdefault(level.warps, level)
    return [*first.values()][: max(0, most)]


def _apart(levels: Sequence[Level]) -> list[Level]:
    """Return the levels without those that are predicted to be as fast as one before them with as many spills.

    It is for levels with more warps, which hide more of the waiting and nothing else: of that predictions know.
    """
    found: list[Level] = []
    for level in levels:
        if not any(_alike(level, other) for other in found):
            found.append(level)
    return found


def _alike(level: Level, other: Level) -> bool:
    if level.spill_bytes != other.spill_bytes or level.cycles is None or other.cycles is None:
        return False
    return abs(level.cycles - other.cycles) <= ALIKE * min(level.cycles, other.cycles)
