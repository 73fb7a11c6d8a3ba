"""A task in a forked process: whatever it does to itself, the caller learns how far it came.

In: a task that is given a function to say what it does next.  Out: what the task returns, or :class:`Lost`::

    isolated(lambda stage: examine(path, ..., stage), timeout_s=120)

All modules are loaded already and all caches warm, so that a process costs some milliseconds.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import struct
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Result = TypeVar("Result")
_LENGTH = struct.Struct("<q")
MEMORY_BYTES = 12 << 30


@dataclass(frozen=True, slots=True)
class Lost:
    """The process ended without a result: ``how`` and what it did last."""

    how: str
    stage: str
    seconds: float


class TaskError(Exception):
    """The task raised an exception; carries its traceback."""


def isolated(task: Callable[[Callable[[str], None]], Result], timeout_s: float, cpu_s: int) -> Result | Lost:
    """Runs the task in a child of this process, which may use so much time. TaskError."""
    reading, writing = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(task, writing, cpu_s)
    os.close(writing)
    stage = ""
    try:
        while True:
            message = _receive(reading, begun + timeout_s)
            if isinstance(message, str):
                os.killpg(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                how = message or _ending(status)
                return Lost(how, stage, time.monotonic() - begun)
            kind, value = message
            if kind == "stage":
                stage = value
                continue
            os.waitpid(child, 0)
            if kind == "error":
                raise TaskError(f"the task failed at '{stage}':\n{value}")
            return value
    finally:
        os.close(reading)


def _serve(task: Callable[[Callable[[str], None]], object], writing: int, cpu_s: int) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def send(kind: str, value: object) -> None:
        content = pickle.dumps((kind, value))
        os.write(writing, _LENGTH.pack(len(content)))
        done = 0
        while done < len(content):
            done += os.write(writing, content[done:])

    try:
        send("done", task(lambda text: send("stage", text)))
    except BaseException:
        send("error", traceback.format_exc())
    finally:
        os._exit(0)


def _receive(reading: int, deadline: float) -> Any:
    """A message; a string where none will come: why, or "" where the process has ended."""
    head = _read(reading, _LENGTH.size, deadline)
    if isinstance(head, str):
        return head
    content = _read(reading, _LENGTH.unpack(head)[0], deadline)
    return content if isinstance(content, str) else pickle.loads(content)


def _read(reading: int, length: int, deadline: float) -> bytes | str:
    parts: list[bytes] = []
    while length > 0:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return "takes too long"
        part = os.read(reading, length)
        if not part:
            return ""
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "takes too long" if number == signal.SIGXCPU else signal.Signals(number).name
    return f"exit status {os.waitstatus_to_exitcode(status)}"
