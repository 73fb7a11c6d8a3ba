"""The report of ``calibrate``: each speed beside the one that the tool has had for the device.

In: samples, the speeds found in them, and the device of the table.  Out: text for a terminal, or a JSON document.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from comprehensive.calibration.measured import Measured
from comprehensive.calibration.samples import Samples
from comprehensive.machine.device import Device
from comprehensive.machine.speeds import SPEEDS


def to_text(samples: Samples, speeds: Sequence[Measured], known: Device) -> str:
    """A line a speed."""
    clock = statistics.median(samples.runs["clock_mhz"])
    table = known.machine()
    rows = [("speed", "measured", known.name, "spread", "")]
    rows += [
        (s.name, str(s.value), str(table[s.name]), f"{100 * s.spread:.1f} %", SPEEDS[s.name].meaning)
        for s in speeds
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [f"{samples.device}: medians of {samples.count} runs at {clock:.0f} MHz"]
    for name, value, before, spread, meaning in rows:
        columns = f"{name:<{widths[0]}}  {value:>{widths[1]}}  {before:>{widths[2]}}  {spread:>{widths[3]}}"
        lines.append(f"  {columns}  {meaning}".rstrip())
    near, far = (round(statistics.median(samples.runs[name])) for name in ("l2_latency", "memory_latency"))
    lines.append(f"  a load waits {near} cycles for the second-level cache, {far} for memory")
    return "\n".join(lines) + "\n"


def to_json(samples: Samples, speeds: Sequence[Measured], known: Device, file: str) -> dict[str, Any]:
    """The same with all runs."""
    table = known.machine()
    return {
        "schema": 1,
        "device": samples.device,
        "table": known.name,
        "file": file,
        "facts": dict(samples.facts),
        "speeds": [
            {"name": s.name, "measured": s.value, "table": table[s.name], "spread": s.spread} for s in speeds
        ],
        "runs": {name: list(runs) for name, runs in samples.runs.items()},
        "rereads": [{"bytes": reread.bytes, "runs": list(reread.runs)} for reread in samples.rereads],
    }
