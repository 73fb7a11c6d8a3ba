"""The speeds found in samples: medians of runs, with how far the runs are apart.

In: :class:`Samples`.  Out: a :class:`Measured` for each of ``SPEEDS``, in their order::

    measured(samples)[6]      # Measured("global_latency_cycles", 512, spread=0.013)

`README.md` of this package says what each of them is.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from comprehensive.calibration.samples import Reread, Samples
from comprehensive.diagnostics import CompileError
from comprehensive.machine.speeds import SPEEDS

UNSETTLED = 0.25
"""A part of the median: where the middle half of the runs is further apart, they have not settled."""
LEAST_FALL = 1.1
"""The factor by which data that is kept is read faster than data that is not, at least."""
REACHED = 0.7
"""The part of what copies within the second-level cache reach that kernels reach which do something else as
well: with it the times of the ten programs on one H200 are explained best (see `benchmarks/results`)."""
DIGITS = 4
"""The digits that count of a number that says how fast something is."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A speed: ``value`` is the median of the runs, ``spread`` their range as a part of it."""

    name: str
    value: int
    spread: float


def measured(samples: Samples) -> tuple[Measured, ...]:
    """Return the speeds found in samples.

    CompileError (CF0956) where a speed has not settled, or is out of what any device has.
    """
    return tuple(_one(name, RULES[name](samples)) for name in SPEEDS)


def _one(name: str, runs: Sequence[float]) -> Measured:
    median, ordered = statistics.median(runs), sorted(runs)
    least, most = PLAUSIBLE[name]
    if not least <= median <= most:
        raise _unsettled(f"{name} is {median:.4g}, and not between {least} and {most}")
    quarter = len(ordered) // 4
    middle = ordered[quarter : len(ordered) - quarter]
    if middle[-1] - middle[0] > UNSETTLED * median:
        raise _unsettled(f"{name} is {middle[0]:.4g} in one run and {middle[-1]:.4g} in another one")
    return Measured(name, max(1, round(float(f"{median:.{DIGITS}g}"))), (ordered[-1] - ordered[0]) / median)


def _runs(name: str) -> Callable[[Samples], Sequence[float]]:
    return lambda samples: samples.runs[name]


def _global_latency(samples: Samples) -> Sequence[float]:
    """Half of the loads are answered by the second-level cache, and half by memory."""
    near, far = samples.runs["l2_latency"], samples.runs["memory_latency"]
    return [(a + b) / 2 for a, b in zip(near, far, strict=True)]


def _launch(samples: Samples) -> Sequence[float]:
    """Return the time, a number a run, that a launch takes beyond its one block a multiprocessor."""
    whole, block = samples.runs["launch"], samples.runs["block"]
    return [a - b for a, b in zip(whole, block, strict=True)]


def _kept_bytes(samples: Samples) -> Sequence[float]:
    return [_kept(run) for run in _by_run(samples)]


@dataclass(frozen=True, slots=True)
class _Curve:
    """One run: bytes read again and again, and how many of them in a cycle of the device."""

    l2_bytes: int
    points: tuple[tuple[int, float], ...]


def _by_run(samples: Samples) -> list[_Curve]:
    def point(reread: Reread, run: int) -> tuple[int, float]:
        return (reread.bytes, reread.runs[run])

    numbers = range(samples.count)
    return [
        _Curve(samples.facts["l2_bytes"], tuple(point(r, number) for r in samples.rereads))
        for number in numbers
    ]


def _plateaus(curve: _Curve) -> tuple[float, float]:
    """Speeds of data that is certainly kept (a quarter of the cache) and that certainly is not (four times as much)."""
    kept = [speed for size, speed in curve.points if 4 * size <= curve.l2_bytes]
    lost = [speed for size, speed in curve.points if size >= 4 * curve.l2_bytes]
    if not kept or not lost:
        raise _unsettled(f"there is no speed of reading much more or much less than {curve.l2_bytes} bytes")
    return statistics.median(kept), statistics.median(lost)


def _kept(curve: _Curve) -> float:
    """The largest amount that is read at least at the mean of both speeds, between two measured ones."""
    kept, lost = _plateaus(curve)
    if kept < LEAST_FALL * lost:
        raise _unsettled(
            f"kept_bytes is not to be seen: {kept:.4g} bytes are read again in a cycle of data that fits into the "
            f"second-level cache, and {lost:.4g} of data that does not"
        )
    middle = (kept + lost) / 2
    last = max(number for number, (_, speed) in enumerate(curve.points) if speed >= middle)
    if last + 1 == len(curve.points):
        raise _unsettled("kept_bytes is not to be seen: the most that is read again is as fast as a little")
    (size, speed), (more, less) = curve.points[last], curve.points[last + 1]
    return size + (more - size) * (speed - middle) / (speed - less)


RULES: Mapping[str, Callable[[Samples], Sequence[float]]] = MappingProxyType(
    {
        "multiprocessors": lambda samples: [float(samples.facts["multiprocessors"])],
        "issued_per_cycle": _runs("issued"),
        "wide_lanes": _runs("wide"),
        "wide_tensor_lanes": _runs("matrix"),
        "half_tensor_lanes": _runs("half_matrix"),
        "l2_bytes_per_kilocycle": lambda samples: [REACHED * run for run in samples.runs["l2"]],
        "dram_bytes_per_kilocycle": _runs("dram"),
        "kept_bytes": _kept_bytes,
        "global_latency_cycles": _global_latency,
        "shared_latency_cycles": _runs("shared_latency"),
        "barrier_cycles": _runs("barrier"),
        "warp_start_cycles": _runs("warp_start"),
        "block_cycles": _runs("block"),
        "turn_cycles": _runs("turn"),
        "launch_cycles": _launch,
    }
)

PLAUSIBLE: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "multiprocessors": (1, 4096),
        "issued_per_cycle": (0.5, 16),
        "wide_lanes": (0.5, 1024),
        "wide_tensor_lanes": (0.5, 4096),
        "half_tensor_lanes": (0.5, 65536),
        "l2_bytes_per_kilocycle": (1000, 1_000_000),
        "dram_bytes_per_kilocycle": (1000, 1_000_000_000),
        "kept_bytes": (100_000, 10_000_000_000),
        "global_latency_cycles": (50, 10_000),
        "shared_latency_cycles": (5, 1000),
        "barrier_cycles": (2, 1000),
        "warp_start_cycles": (0.5, 1000),
        "block_cycles": (10, 20_000),
        "turn_cycles": (10, 20_000),
        "launch_cycles": (100, 1_000_000),
    }
)
"""What is out of this is no speed of a device but a measurement that has gone wrong."""


def _unsettled(words: str) -> CompileError:
    return CompileError.of(
        "CF0956",
        f"a measurement is of no use: {words}",
        help="see that nothing else uses the device and that its clock is not held down (nvidia-smi), and try again",
    )
