"""The change in time by shuffles in place of loads, on a GPU.

    python3 -m benchmarks.gpu.shuffles build/shuffles-bench --write FILE

In: the folder that :mod:`benchmarks.gpu.shuffles_prepare` has written.  All variants but those that are wrong by design
are compared with the unchanged PTX bit for bit, and all are timed in turns.  Out: a report as figure 2 of Matsumura, De
Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, printed and written to
``--write FILE``; the exit status is 1 if a result differs.  ``--check`` runs each variant once on small arrays instead,
for compute-sanitizer.  Needs what :mod:`benchmarks.gpu.variants` needs.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Mapping, Sequence

from benchmarks.gpu.table import markdown_table
from benchmarks.gpu.variants import (
    UNCHANGED,
    Found,
    Measured,
    all_measured,
    parser,
    pipelines,
    speeds,
    told,
)
from comprehensive.machine.device import Device, load_device
from comprehensive.machine.occupancy import occupancy

CORNERS, RINGS, CHOSEN, NO_LOAD, NO_CORNER = "corners", "rings", "chosen", "no_load", "no_corner"
CORNERS_NO_WRAP, RINGS_NO_WRAP = "corners, no wrap", "rings, no wrap"
WRONG = (NO_LOAD, NO_CORNER)
"""The variants that compute wrong results, and show where the time goes."""


def main() -> int:
    options = parser("shuffles", (__doc__ or "").splitlines()[0], "benchmarks.gpu.shuffles_prepare")
    options.add_argument("--check", action="store_true", help="once each on small arrays, and no times")
    chosen = options.parse_args()
    if chosen.check:
        found = all_measured("shuffles", chosen, launches="checks", is_timed=False)
        return 0 if found is None else told(found, checked(found), chosen.write)
    found = all_measured("shuffles", chosen)
    return 0 if found is None else told(found, report(found, chosen.runs), chosen.write)


def checked(found: Found) -> str:
    """Return the text that ``--check`` prints."""
    ran = sum(len(row.variants) for row in found.rows if row.wrong)
    compared = sum(len(row.wrong) for row in found.rows)
    lines = [found.head, f"{ran} launches ran, {compared} compared with the unchanged PTX.", *found.failures]
    return "\n".join(lines) + "\n"


def report(found: Found, runs: int) -> str:
    """The whole text, ending in a newline."""
    timed = [row for row in found.rows if row.milliseconds]
    columns = [name for name in found.variants if name != UNCHANGED]
    parts = ["# What shuffles in place of loads change in time", found.head]
    if timed:
        *before, apart = speeds(found)
        parts += [HOW.format(runs=runs), *before, _of_the_chosen(timed), apart]
    device = load_device(found.arch)
    parts += [
        COUNTS.format(warps=device.max_warps_per_sm),
        markdown_table(
            ("kernel", "block", "shuffles", UNCHANGED, *columns),
            (_counts(row, columns, device) for row in found.rows if not row.failed),
        ),
        pipelines(found),
        *found.failures,
    ]
    if timed and not found.failures:
        parts.append(
            f"Every variant but {' and '.join(WRONG)} computes what the unchanged PTX computes, bit for bit."
        )
    return "\n\n".join(parts) + "\n"


HOW = """Numbers behind the times are speed-ups over the unchanged PTX, medians of {runs} runs in turns; "=" says that
ptxas makes the same machine code as of the unchanged PTX. In the manner of figure 2 of Matsumura et al., A symbolic
emulator for shuffle synthesis on the NVIDIA PTX code (2023): `no_load` and `no_corner` compute wrong results, and show
what the shuffles alone and what their edges take. "arrays" counts every array once, those that are read and written
twice."""
COUNTS = """Shuffles are loads replaced, of `corners`, `rings` and `chosen`. By variant: registers (bytes spilled, where
there are any), blocks a multiprocessor, and its warps of {warps}."""


def _of_the_chosen(rows: Sequence[Measured]) -> str:
    """Return a text about the worth of the choice by cost: over all kernels, and over those that it changes."""
    everywhere = {row.launch["name"]: 1.0 if row.is_same(CHOSEN) else row.speedup(CHOSEN) for row in rows}
    changed = {row.launch["name"] for row in rows if not row.is_same(CHOSEN)}
    ours = {name: speed for name, speed in everywhere.items() if name in changed}
    mean = f"geometric mean {statistics.geometric_mean(everywhere.values()):.3f} over all {len(rows)} kernels"
    if not ours:
        return f"Chosen by cost: {mean}, none of which it changes."
    return f"Chosen by cost: {mean}, {_mean_and_least(ours)} over the {len(ours)} that it changes."


def _mean_and_least(speeds: Mapping[str, float]) -> str:
    least = min(speeds, key=lambda name: speeds[name])
    return f"{statistics.geometric_mean(speeds.values()):.3f}, least {speeds[least]:.3f} (`{least}`)"


def _counts(row: Measured, columns: Sequence[str], device: Device) -> list[str]:
    applied, block = row.launch["applied"], row.launch["block"]
    return [
        row.launch["name"],
        f"{block[0]}x{block[1]}",
        f"{applied[CORNERS]}, {applied[RINGS]}, {applied[CHOSEN]}",
        *(_resources(row, name, device) for name in (UNCHANGED, *columns)),
    ]


def _resources(row: Measured, name: str, device: Device) -> str:
    variant = row.variants[name]
    held = occupancy(
        device,
        threads_per_block=math.prod(row.launch["block"]),
        registers_per_thread=variant.registers,
        shared_bytes_per_block=variant.shared + row.launch["smem_bytes"],
    )
    spilled = f" ({variant.spilled})" if variant.spilled else ""
    return f"{variant.registers}{spilled}, {held.blocks_per_sm}, {held.warps_per_sm}"


if __name__ == "__main__":
    sys.exit(main())
