"""Times of a run as a graph of launches, so that what the host does does not count."""

from __future__ import annotations

from math import ceil

import torch

from benchmarks.gpu import clock

GRAPH_MS = 2.0
"""The time of the runs of a graph together: a replay costs about ten microseconds, whatever is in it."""
MOST = 200
REPLAYS = 7
LONG_MS = 5.0
"""A run that takes longer is timed by itself."""
SLOW_MS = 200.0
SLOW_REPEATS = 3


def in_graphs(run: clock.Run) -> tuple[float, ...]:
    """Milliseconds of a run, several times; its data are warm."""
    single = clock.once(run)
    if single > LONG_MS:
        return by_events(run)
    repetitions = max(1, min(MOST, ceil(GRAPH_MS / clock.estimate(run))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repetitions):
            run()
    graph.replay()
    times = tuple(clock.once(graph.replay) / repetitions for _ in range(REPLAYS))
    graph.reset()
    return times


def by_events(run: clock.Run) -> tuple[float, ...]:
    """The same of what cannot stand in a graph."""
    single = clock.once(run)
    repetitions = 1 if single > LONG_MS else max(1, min(MOST, ceil(GRAPH_MS / single)))
    return tuple(clock.once(run, repetitions) for _ in range(SLOW_REPEATS if single > SLOW_MS else REPLAYS))
