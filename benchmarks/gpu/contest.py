"""One peer on one problem: each of its attempts is checked and timed once, the fastest right one is timed well."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import Tensor

from benchmarks.gpu import clock
from benchmarks.gpu.outcome import Outcome, PeerError
from benchmarks.gpu.problems import Problem

TRYING_S = 6.0
"""The seconds after which no further attempt is begun; the note says how many are left."""
SAMPLING_MS = 250.0


@dataclass(frozen=True, slots=True)
class Ready:
    """An attempt that is ready.

    ``run`` may be called again and again; its first call leaves ``result()`` as the problem wants it.

    ``what`` tells after a run what ran.
    """

    run: clock.Run
    result: Callable[[], Tensor]
    what: Callable[[], str] = str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A way to compute a problem; ``make`` is called on a problem as it begins.

    The note tells the time of one that is ``reported`` even where another one wins.
    """

    label: str
    make: Callable[[], Ready]
    reported: bool = False


class DeviceLostError(Exception):
    """An error after which nothing more runs in the process."""


def in_a_row(run: clock.Run) -> tuple[float, ...]:
    """Times of runs that the host launches one after the other."""
    return clock.samples(run, SAMPLING_MS)


def contest(
    peer: str,
    problem: Problem,
    attempts: Iterable[Attempt],
    samples: Callable[[clock.Run], tuple[float, ...]] = in_a_row,
) -> Outcome:
    begin = time.monotonic()
    name = problem.case.name
    timed: list[tuple[float, Attempt]] = []
    refused: list[str] = []
    left = 0
    for attempt in attempts:
        if time.monotonic() - begin > TRYING_S:
            left += 1
            continue
        try:
            timed.append((_tried(problem, attempt), attempt))
        except Exception as error:  # whatever a peer does wrong is a finding about it
            refused.append(": ".join(filter(None, (attempt.label, words(error)))))
            _still_there(refused[-1])
    note = _note(timed, refused, left)
    if not timed:
        return Outcome(name, peer, reason=note)
    _, best = min(timed, key=lambda pair: pair[0])
    problem.reset()
    ready = best.make()
    ready.run()
    times = samples(ready.run)
    return Outcome(name, peer, times, "; ".join(filter(None, (best.label, ready.what()))), note)


def words(error: BaseException) -> str:
    """The first line of an error, short enough for a table."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = "" if isinstance(error, PeerError) else type(error).__name__
    return ": ".join(filter(None, (kind, *lines[:1])))[:200]


def _tried(problem: Problem, attempt: Attempt) -> float:
    """Milliseconds of a run, the result of the first one having been found right."""
    problem.reset()
    ready = attempt.make()
    ready.run()
    error = problem.error(ready.result())
    if not error <= problem.kind.tolerance:  # NaN is wrong
        raise PeerError(f"wrong result, off by {error:.1e} of the largest element")
    return clock.estimate(ready.run)


def _still_there(happened: str) -> None:
    try:
        clock.once(lambda: None)
    except Exception as error:
        raise DeviceLostError(happened) from error


def _note(timed: list[tuple[float, Attempt]], refused: list[str], left: int) -> str:
    tried = len(timed) + len(refused)
    parts = [f"{attempt.label} {time_ms:.3f} ms" for time_ms, attempt in timed if attempt.reported]
    if tried + left > 1:
        parts.append(f"{len(timed)} of {tried + left} ran")
    if left:
        parts.append(f"{left} left for lack of time")
    if refused:
        parts.append(refused[0] + (f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""))
    return "; ".join(parts)
