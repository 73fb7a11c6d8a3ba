"""Has candidates measured by a process of their own, and survives what they do to it.

In: a job, plain data.  Out: an answer: what :mod:`comprehensive.tuning.worker` says, or how its process ended::

    measure(job)    # {"status": "ok", "times_us": [...], ...}
    measure(job)    # {"status": "crash", "reason": "the measuring process ended by SIGSEGV"}
    measure(job)    # {"status": "hang", "reason": "no end within 60 s"}

:func:`measure` is what executors are given: each thread that calls it keeps one measuring process from call to call.
Imports the standard library alone.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Mapping
from typing import Any, TypeAlias

from comprehensive.runtime.worker_process import WorkerProcess

Job: TypeAlias = Mapping[str, Any]
"""The job that the worker reads, with ``run``, ``settings`` (the worker's), ``prepare_s`` and ``limit_s`` beside it."""
Answer: TypeAlias = dict[str, Any]


class EndedError(Exception):
    """The process has ended without an answer."""


class TimeOverError(Exception):
    """An error where there was no answer in time."""


class MeasuringProcess:
    """A worker; it has its device when it is made. EndedError where it does not come so far."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._pending = b""
        self._process = WorkerProcess("comprehensive.tuning.worker", json.dumps(settings))
        try:
            self._stage(None)  # however long others have the device
        except BaseException:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        return self._process.alive

    def ask(self, job: Job) -> Answer:
        """The worker's answer. EndedError, TimeOverError (the process is then ended)."""
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise EndedError(self.words()) from error
        answer = self._stage(job["prepare_s"])
        if answer["stage"] == "prepared":
            answer = self._stage(job["limit_s"])
        return answer

    def _stage(self, seconds: float | None) -> Answer:
        line = self._line(None if seconds is None else time.monotonic() + seconds)
        if line is None:
            self.end()
            raise TimeOverError(f"no end within {seconds:g} s")
        if not line:
            raise EndedError(self.words())
        return json.loads(line)

    def _line(self, deadline: float | None) -> bytes | None:
        """Return the next line; None when the time is over, and an empty one where the process says no more."""
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([descriptor], [], [], left)
            if not ready:
                return None
            part = os.read(descriptor, 1 << 16)
            if not part:
                return b""
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def words(self) -> str:
        """Return a text that says how the process has ended, with the last line that it wrote."""
        return f"the measuring process ended by {self._process.words()}"

    def end(self) -> None:
        """Ends the process and all that it has started."""
        self._process.end()


_lock = threading.Lock()
_processes: dict[tuple[str, int], MeasuringProcess] = {}
"""The measuring processes by run and thread."""


def measure(job: Job) -> Answer:
    """Return what becomes of a candidate; whatever the candidate does, nothing is raised for it."""
    key = (job["run"], threading.get_ident())
    try:
        process, fresh = _process(key, job)
        try:
            answer = process.ask(job)
        except EndedError:
            # It may have ended by itself, after a long rest, when the job was on its way.
            if fresh or process.words() != "the measuring process ended by status 0":
                raise
            _drop(key)
            process, _ = _process(key, job)
            answer = process.ask(job)
    except TimeOverError as error:
        _drop(key)
        return {"status": "hang", "reason": str(error)}
    except EndedError as error:
        _drop(key)
        return {"status": "crash", "reason": str(error)}
    except OSError as error:
        _drop(key)
        return {"status": "lost", "reason": f"{type(error).__name__}: {error}"}
    if answer["status"] in ("crash", "lost"):
        _drop(key)
    return {name: value for name, value in answer.items() if name != "stage"}


def _process(key: tuple[str, int], job: Job) -> tuple[MeasuringProcess, bool]:
    """The process of this thread, and whether it is a fresh one."""
    kept = _processes.get(key)
    if kept is not None and kept.alive:
        return kept, False
    _drop(key)
    made = MeasuringProcess(job["settings"])
    with _lock:
        _processes[key] = made
    return made, True


def _drop(key: tuple[str, int]) -> None:
    with _lock:
        process = _processes.pop(key, None)
    if process is not None:
        process.end()


def end(run: str) -> None:
    """Ends all measuring processes of a run that this process has started."""
    for key in [key for key in _processes if key[0] == run]:
        _drop(key)
