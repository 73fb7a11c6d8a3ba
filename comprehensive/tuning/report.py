"""The results of tuning, for a terminal and as JSON.

matvec on NVIDIA H200
  m = 16384, n = 16384   246.30 us  B = 1, tile = 2 (leaf 2)
    102 candidates: 61 ok, 38 hopeless, 3 refused
    3 refused: B <= T_B: needed 2048, available 1024
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from comprehensive.tuning.candidates import shown
from comprehensive.tuning.case import Tuned
from comprehensive.tuning.store import STATUSES, Result
from comprehensive.tuning.winners import Winner

NO_FAILURE = ("ok", "hopeless")


def to_text(found: Iterable[Tuned], best: Sequence[Winner]) -> str:
    """A table, with the reasons of failures summed up."""
    lines: list[str] = []
    heading = ""
    for each in sorted(found, key=lambda t: (t.function, t.subject.device, t.sizes)):
        title = f"{each.function} on {each.subject.device}"
        if title != heading:
            heading = title
            lines.append(title)
        sizes = ", ".join(f"{name} = {value}" for name, value in each.sizes) or "no sizes"
        winner = winner_of(each, best)
        lines.append(f"  {sizes}   {_winner(winner, each.missing)}")
        lines.append(f"    {_counts(each.results)}")
        lines += [f"    {line}" for line in _unmeasured(each.missing)]
        lines += [f"    {line}" for line in failures(each.results)]
    return "\n".join(lines) + "\n"


def winner_of(tuned: Tuned, best: Iterable[Winner]) -> Winner | None:
    """The one of the same function, device and sizes."""
    place = (tuned.function, tuned.subject.device, tuned.sizes)
    return next((w for w in best if (w.function, w.device, w.sizes) == place), None)


def _winner(winner: Winner | None, missing: int | None) -> str:
    if winner is None:
        return "no candidate is right" if missing == 0 else "no candidate is right so far"
    return f"{winner.median_us:.2f} us  {shown(winner.parameters, winner.pipeline)} (leaf {winner.leaf})"


def _unmeasured(missing: int | None) -> tuple[str, ...]:
    """Return what a limit of time has kept from being measured, in words."""
    if missing == 0:
        return ()
    if missing is None:
        return ("not begun: there was no time left for it",)
    return (f"{missing} more not measured: there was no time left for {'it' if missing == 1 else 'them'}",)


def _counts(results: Sequence[Result]) -> str:
    counted = Counter(result.status for result in results)
    parts = [f"{counted[status]} {status}" for status in STATUSES if counted[status]]
    plural = "" if len(results) == 1 else "s"
    return f"{len(results)} candidate{plural}: {', '.join(parts) or 'none was measured'}"


def failures(results: Iterable[Result]) -> list[str]:
    """A line a status and reason, the amounts and places of the first one standing for others like it."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.status not in NO_FAILURE:
            groups.setdefault((result.status, result.reason.split(":")[0][:40]), []).append(result)
    order = list(STATUSES)
    return [
        f"{len(group)} {status}: {group[0].reason} ({group[0].candidate.shown}"
        f"{f' and {len(group) - 1} more' if len(group) > 1 else ''})"
        for (status, _), group in sorted(
            groups.items(), key=lambda each: (order.index(each[0][0]), each[0][1])
        )
    ]


def to_json(found: Iterable[Tuned], document: dict[str, Any]) -> dict[str, Any]:
    """The document of winners with all results beside it."""
    return {
        **document,
        "results": [
            {
                "function": each.function,
                "device": each.subject.device,
                "sizes": dict(each.sizes),
                "measured": each.measured,
                "missing": each.missing,
                "candidates": [_candidate(result) for result in each.results],
            }
            for each in found
        ],
    }


def _candidate(result: Result) -> dict[str, Any]:
    return {
        "parameters": dict(result.candidate.parameters),
        "pipeline": result.candidate.pipeline,
        "status": result.status,
        "reason": result.reason,
        "verified": result.verified,
        "leaf": result.leaf,
        "times_us": list(result.times_us),
        "median_us": result.median_us,
        "launches": result.launches,
        "registers": result.registers,
        "spill_bytes": result.spill_bytes,
        "measured_at": result.measured_at,
        "measured_on": result.measured_on,
    }
