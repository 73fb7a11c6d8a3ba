"""The reason why a kernel keeps an occupancy level: levels as fast as the fastest, and the least use of the device.

    occupancy of leaf 0 (matadd_leaf0), predicted, not measured:
        as compiled, blocks of 256: 64 warps, 22 registers, 1.000
      kept: as compiled, blocks of 256; no other version is within 2 % of the fastest

The second principle of *Orion* (section 3): of levels that are equally fast the one that leaves the most to other
kernels is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from comprehensive.occupancy_tuning.level import Level
from comprehensive.occupancy_tuning.plateau import NEAR, held
from comprehensive.report.levels_text import Shown, to_json

_NEAR = f"{100 * NEAR:.0f} %"


def to_lines(shown: Shown, title: str) -> Iterator[str]:
    """Yield the levels of a kernel with their times over the original's, and which is kept for what reason."""
    yield f"  occupancy of {title} ({shown.symbol}), {_source(shown)}:"
    found = shown.plateau
    members = () if found is None else found.members
    for number, (level, time) in enumerate(zip(shown.levels, shown.relative, strict=True)):
        mark = "~" if number in members else " "
        mark = "*" if found is not None and number == found.chosen else mark
        told = "no time" if time is None else f"{time:.3f}"
        yield f"    {mark} {level.setting}: {level.warps} warps, {level.registers} registers, {told}"
    yield f"    {_reason(shown)}"


def _source(shown: Shown) -> str:
    if shown.is_measured:
        return f"measured: {sum(each.microseconds is not None for each in shown.measured)} of {len(shown.levels)}"
    return "predicted, not measured"


def _reason(shown: Shown) -> str:
    found = shown.plateau
    if found is None:
        return "no time is known of any version, so that the original stays"
    kept = shown.levels[found.chosen]
    others = [shown.levels[number] for number in found.members if number != found.chosen]
    if len(shown.levels) == 1:
        return f"kept: {kept.setting}; no other version can be faster, as far as predictions know"
    if not others:
        return f"kept: {kept.setting}; no other version is within {_NEAR} of the fastest"
    within = f"of {len(found.members)} versions within {_NEAR} of the fastest"
    return f"kept: {kept.setting}; {within} {_least(kept, others)}"


def _least(kept: Level, others: list[Level]) -> str:
    """Say by what a level takes less of a multiprocessor than others: the first amount in which it differs from all."""
    amounts = ("warps", "registers", "bytes of shared memory")
    for position, amount in enumerate(amounts):
        mine = held(kept)[position]
        least = min(held(other)[position] for other in others)
        if mine < least:
            return f"it takes the least of a multiprocessor: {mine} {amount}, the others {least} or more"
    return "it takes as little of a multiprocessor as any, and comes first"


def to_document(shown: Shown, title: str) -> dict[str, Any]:
    """The same as plain data, with the levels as `occupancy --json` has them."""
    (document,) = to_json([shown])
    return {"of": title, "is_measured": shown.is_measured, "reason": _reason(shown), **document}
