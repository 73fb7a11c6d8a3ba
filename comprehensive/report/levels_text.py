"""Occupancy levels as a table: what each version takes, what limits it, and how long it is predicted to run.

    matmul_leaf0: 38 values of 32 bits live at once, 32 registers are left at full occupancy: fewer registers may pay
      version                                   registers  spills  shared  warps  occupancy  limited by  predicted
    * as compiled, blocks of 256                       40       0    2048     48       75 %  registers       1.000

Predicted times are over that of the first version, measured ones are those of a call of the whole function.  ``*`` is
the version that is kept, by measured times where there are some: of those within 2 % of the fastest (``~``) the one
that takes the least of a multiprocessor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from comprehensive.occupancy_tuning.candidates import Direction
from comprehensive.occupancy_tuning.level import Level, Timed
from comprehensive.occupancy_tuning.plateau import Plateau, plateau


class Shown(Struct, frozen=True):
    """The levels of a kernel, the original first, and what was measured of each, where that was asked for."""

    symbol: str
    max_live: int
    threshold: int
    direction: Direction
    levels: tuple[Level, ...]
    measured: tuple[Timed, ...] = ()

    @property
    def predicted(self) -> tuple[float | None, ...]:
        """The predicted cycles of each level."""
        return tuple(level.cycles for level in self.levels)

    @property
    def measured_us(self) -> tuple[float | None, ...]:
        """The measured times of each level."""
        return tuple(each.microseconds for each in self.measured) or (None,) * len(self.levels)

    @property
    def is_measured(self) -> bool:
        """Whether a time of some level was measured."""
        return any(time is not None for time in self.measured_us)

    @property
    def times(self) -> tuple[float | None, ...]:
        """The numbers by which levels are compared: measured times where there are some, else predicted cycles."""
        return self.measured_us if self.is_measured else self.predicted

    @property
    def plateau(self) -> Plateau | None:
        return plateau(self.levels, self.times)

    @property
    def relative(self) -> tuple[float | None, ...]:
        """Times over that of the original."""
        return over_first(self.times)


_WORDS: Mapping[Direction, str] = {
    "up": "fewer registers may pay",
    "down": "only a lower occupancy may pay",
}
_HEAD = (
    "version",
    "registers",
    "spills",
    "shared",
    "warps",
    "occupancy",
    "limited by",
    "predicted",
    "measured",
)


def to_text(shown: Sequence[Shown]) -> str:
    """A table for each kernel, ending in a newline."""
    return "\n".join("".join(f"{line}\n" for line in _lines(each)) for each in shown)


def _lines(shown: Shown) -> Iterator[str]:
    yield (
        f"{shown.symbol}: {shown.max_live} values of 32 bits live at once, {shown.threshold} registers are left at "
        f"full occupancy: {_WORDS[shown.direction]}"
    )
    has_times = bool(shown.measured)
    rows = [_HEAD if has_times else _HEAD[:-1], *_rows(shown, has_times)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    found = shown.plateau
    for number, row in enumerate(rows, -1):
        mark = " " if found is None or number < 0 or number not in found.members else "~"
        mark = "*" if found is not None and number == found.chosen else mark
        cells = (
            cell.ljust(width) if column in (0, 6) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"{mark} {'  '.join(cells)}".rstrip()
    for why in dict.fromkeys(level.prediction for level in shown.levels if isinstance(level.prediction, str)):
        yield f"  not predicted: {why}"
    for why in dict.fromkeys(timed.reason for timed in shown.measured if timed.reason):
        yield f"  not measured: {why}"


def _rows(shown: Shown, has_times: bool) -> Iterator[tuple[str, ...]]:
    predicted = over_first(shown.predicted)
    for level, cycles, time in zip(shown.levels, predicted, shown.measured_us, strict=True):
        limits = (
            "grid" if level.resident < level.occupancy.blocks_per_sm else ", ".join(level.occupancy.limits)
        )
        row = (
            str(level.setting),
            str(level.registers),
            str(level.spill_bytes),
            str(level.shared_bytes),
            str(level.warps),
            f"{100 * float(level.fraction):.0f} %",
            limits,
            "-" if cycles is None else f"{cycles:.3f}",
        )
        yield (*row, "-" if time is None else f"{time:.1f} us") if has_times else row


def over_first(times: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return times over the first one; None where one of the two is not known."""
    first = times[0] if times else None
    return tuple(None if time is None or not first else time / first for time in times)


def to_json(shown: Sequence[Shown]) -> list[dict[str, Any]]:
    """The same as plain data, a row for each level."""
    return [
        {
            "kernel": each.symbol,
            "max_live": each.max_live,
            "registers_at_full_occupancy": each.threshold,
            "direction": each.direction,
            "levels": [_row(each, number) for number in range(len(each.levels))],
        }
        for each in shown
    ]


def _row(shown: Shown, number: int) -> dict[str, Any]:
    level, found = shown.levels[number], shown.plateau
    return {
        "passes": level.setting.pipeline,
        "threads_per_block": level.setting.threads,
        "blocks_per_multiprocessor": level.resident,
        "registers_per_thread": level.registers,
        "spill_bytes": level.spill_bytes,
        "shared_bytes_per_block": level.shared_bytes,
        "warps_per_multiprocessor": level.warps,
        "occupancy": float(level.fraction),
        "limited_by": ["grid"]
        if level.resident < level.occupancy.blocks_per_sm
        else [*level.occupancy.limits],
        "predicted_cycles": None if level.cycles is None else round(level.cycles),
        "measured_us": shown.measured_us[number],
        "not_measured": shown.measured[number].reason or None if shown.measured else None,
        "on_plateau": found is not None and number in found.members,
        "chosen": found is not None and number == found.chosen,
    }
