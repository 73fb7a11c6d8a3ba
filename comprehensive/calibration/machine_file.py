"""Speeds as a machine file, in the form of those in `specs/machines`.

In: samples and the speeds found in them.  Out: its text, which ``load_device`` reads::

    name = "NVIDIA H200"
    base = "sm_90"
    measured = ["issued_per_cycle", ...]
    ...
    [speeds]
    issued_per_cycle = 4
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence

from comprehensive import __version__
from comprehensive.calibration.measured import Measured
from comprehensive.calibration.samples import Samples
from comprehensive.tuning.devices import Target

NO_DEVICE = "# A stand-in for a device: the numbers say nothing of any machine.\n"


def machine_text(samples: Samples, speeds: Sequence[Measured], target: Target) -> str:
    """The file. It has no date and no path: the same samples give the same bytes."""
    clock = statistics.median(samples.runs["clock_mhz"])
    fields = {"multiprocessors": samples.facts["multiprocessors"], **_told(samples)}
    # The number of multiprocessors is a field of a device.
    table = {speed.name: speed.value for speed in speeds if speed.name not in fields}
    return (
        f"# Measured on one {samples.device} by comprehensive {__version__} (`comprehensive calibrate`): medians of\n"
        f"# {samples.count} runs, at {clock:.0f} MHz. Limits are those of the architecture.\n"
        f"{'' if target.on_gpu else NO_DEVICE}\n"
        f"name = {json.dumps(samples.device)}\nbase = {json.dumps(target.arch)}\nmeasured = {json.dumps([*table])}\n\n"
        f"{_lines(fields)}\n[speeds]\n{_lines(table)}"
    )


def _told(samples: Samples) -> dict[str, int]:
    """Sizes that the device tells of itself; those that it does not tell are 0, and left out."""
    facts = samples.facts
    # Two transfers a cycle.
    told = {
        "l2_mib": facts["l2_bytes"] >> 20,
        "dram_gb": round(facts["memory_bytes"] / 2**30),
        "dram_gb_per_s": 2 * facts["memory_khz"] * facts["memory_bits"] // 8 // 1_000_000,
    }
    return {name: value for name, value in told.items() if value > 0}


def _lines(values: dict[str, int]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in values.items())


def file_name(device: str) -> str:
    """Return the name of the file of a device unless told otherwise, such as ``nvidia-h200.toml``."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") + ".toml"
