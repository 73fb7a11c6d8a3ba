"""The samples that the benchmark has printed, as data.

In: its text.  Out: :class:`Samples`::

    read_samples(text).runs["shared_latency"]      # (23.1, 23.0, ...): a number a run
    read_samples(text).rereads[0]                  # Reread(bytes=7864320, runs=(3321.5, ...))
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.diagnostics import CompileError

VERSION = 2
FACTS = ("compute_capability", "multiprocessors", "l2_bytes", "memory_bytes", "memory_khz", "memory_bits")
RUNS = (
    "clock_mhz",
    "issued",
    "wide",
    "matrix",
    "half_matrix",
    "shared_latency",
    "barrier",
    "block",
    "turn",
    "launch",
    "warp_start",
    "dram",
    "l2",
    "memory_latency",
    "l2_latency",
)


@dataclass(frozen=True, slots=True)
class Reread:
    """The rates at which so many bytes are read again and again: bytes in a cycle of the device, one a run."""

    bytes: int
    runs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """The numbers that the benchmark has printed for a device.

    ``facts`` are what the device tells of itself; every list of ``runs`` and ``rereads`` is of the same
    length.
    """

    device: str
    facts: Mapping[str, int]
    runs: Mapping[str, tuple[float, ...]]
    rereads: tuple[Reread, ...]

    @property
    def count(self) -> int:
        return len(self.runs[RUNS[0]])


def read_samples(text: str) -> Samples:
    """Return what the benchmark printed, as data.

    CompileError (CF0955) for what is no whole answer of this version's benchmark.
    """
    lines = [line for line in text.splitlines() if line]
    if not lines or lines[0] != f"calibration {VERSION}":
        raise _unreadable(f"it begins with '{lines[0][:80] if lines else ''}'")
    if lines[-1] != "done":
        raise _unreadable("its end is missing")
    device, facts, runs = "", dict[str, int](), dict[str, tuple[float, ...]]()
    rereads: list[Reread] = []
    for line in lines[1:-1]:
        word, _, rest = line.partition(" ")
        name, _, numbers = rest.partition(" ")
        try:
            match word:
                case "device":
                    device = rest
                case "fact":
                    facts[name] = int(numbers)
                case "runs":
                    runs[name] = _numbers(numbers)
                case "reread":
                    rereads.append(Reread(int(name), _numbers(numbers)))
                case _:
                    raise _unreadable(f"'{line[:80]}' is no line of it")
        except ValueError:
            raise _unreadable(f"'{line[:80]}' has no such numbers") from None
    _demand_all(device, facts, runs, rereads)
    return Samples(device, facts, runs, tuple(sorted(rereads, key=lambda reread: reread.bytes)))


def _numbers(text: str) -> tuple[float, ...]:
    found = tuple(float(word) for word in text.split())
    if not found or not all(math.isfinite(number) for number in found):
        raise ValueError(text)
    return found


def _demand_all(
    device: str, facts: Mapping[str, int], runs: Mapping[str, Sequence[float]], rereads: Sequence[Reread]
) -> None:
    missing = [*(name for name in FACTS if name not in facts), *(name for name in RUNS if name not in runs)]
    if missing or not device or not rereads:
        raise _unreadable(f"it lacks {', '.join(missing) or ('reread' if device else 'device')}")
    if len({len(numbers) for numbers in (*runs.values(), *(reread.runs for reread in rereads))}) != 1:
        raise _unreadable("its lines are of different numbers of runs")
    if re.search(r"[^\x20-\x7e]", device):
        raise _unreadable("the name of the device is none")


def _unreadable(words: str) -> CompileError:
    return CompileError.of(
        "CF0955",
        f"the answer of the benchmark cannot be read: {words}",
        help="install the tool again: program and reader are of different versions",
    )
