"""Times of runs on the GPU, by events on the stream."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import torch

Run = Callable[[], object]

LEAST_MS = 0.5
"""A sample has as many runs as take this long, so that the clock's steps and gaps between launches do not count."""
SAMPLES = (5, 25)
SHORT_MS = 10
WARM_UP_MS = 30


def once(run: Run, repetitions: int = 1) -> float:
    """Milliseconds of a run, the mean of several in a row."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repetitions):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repetitions


def estimate(run: Run) -> float:
    """Good enough to choose between variants: short runs are repeated."""
    single = once(run)
    if single > SHORT_MS:
        return single
    repetitions = max(1, ceil(LEAST_MS / single))
    return min(once(run, repetitions) for _ in range(3))


def samples(run: Run, milliseconds: float) -> tuple[float, ...]:
    """Times of a run that is warm already, taken until the given time is over, at least five."""
    single = once(run)
    repetitions = max(1, ceil(LEAST_MS / single))
    once(run, max(1, int(min(WARM_UP_MS, milliseconds / 4) / single)))
    least, most = SAMPLES
    count = min(most, max(least, int(milliseconds / (repetitions * single))))
    return tuple(once(run, repetitions) for _ in range(count))
