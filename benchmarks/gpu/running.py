"""A peer's process with a time limit: what it finds is taken as it comes, and a crash costs one case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from benchmarks.gpu.native import ROOT
from benchmarks.gpu.outcome import Outcome

WORKER = (sys.executable, "-m", "benchmarks.gpu.worker")
DEVICE_LOST = 3
"""Status of a worker that has told an outcome and can do no more."""


def outcomes(
    peer: str, names: Sequence[str], seconds: float, worker: Sequence[str] = WORKER
) -> Iterator[Outcome]:
    """One for every case; a worker that ends early is followed by another one, behind the case that ended it."""
    end = time.monotonic() + seconds
    left = list(names)
    while left and time.monotonic() < end:
        told = 0
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            with _start([*worker, peer, *left], errors) as process:
                timer = threading.Timer(end - time.monotonic(), _kill, [process])
                timer.start()
                try:
                    assert process.stdout is not None
                    for line in process.stdout:
                        found = Outcome.from_line(line)
                        left.remove(found.case)
                        told += 1
                        yield found
                    status = process.wait()
                finally:
                    timer.cancel()
                    _kill(process)
            crashed = status != DEVICE_LOST or told == 0
            if left and crashed and time.monotonic() < end:
                reason = f"the process ended with status {status}: {_last_line(errors)}"
                yield Outcome(left.pop(0), peer, reason=reason)
    for name in left:
        yield Outcome(name, peer, reason=f"not done within the {seconds:.0f} s of this peer")


def _start(command: Sequence[str], errors: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends the process and those that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _last_line(errors: IO[str]) -> str:
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    return lines[-1][:200] if lines else "no message"
