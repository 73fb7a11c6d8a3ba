"""A limit of time for passes: one that hangs must not stop a build.

    with time_limit(300): ...      # TimeLimitError inside, when 300 seconds are over; 0 is no limit

An alarm of this process: no thread and no other process, so that nothing can stay behind.
"""

from __future__ import annotations

import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

SECONDS = "COMPREHENSIVE_PTXAS_SECONDS"
DEFAULT = 300.0
_MOST = 1e6


class TimeLimitError(BaseException):
    """The time is over; no Exception, so that no pass takes it for an error of its own."""


def seconds_of(environment: Mapping[str, str]) -> float:
    """Return the limit that the variable sets; the default where that is no number of seconds."""
    try:
        seconds = float(environment.get(SECONDS) or DEFAULT)
    except ValueError:
        return DEFAULT
    return min(seconds, _MOST) if seconds >= 0 else DEFAULT


@contextmanager
def time_limit(seconds: float) -> Generator[None, None, None]:
    """Raise TimeLimitError within this context once the seconds are over."""
    before = signal.signal(signal.SIGALRM, _over)
    try:
        # Once; what becomes of this process must not inherit it.
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _over(_: int, __: FrameType | None) -> NoReturn:
    raise TimeLimitError
