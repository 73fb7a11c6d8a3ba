"""Runs one command of another program so that nothing of it stays behind.

In: a command line and a limit of time.  Out: :class:`Completed`, whatever the exit code::

    run(("nvcc", "--version"), timeout_s=20).stdout

The command leads a process group of its own: at the limit, or when Python is interrupted, the compiler and every
process it started end together.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class ToolError(Exception):
    """A tool could not be run to its end, or rejected what it was given; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Completed:
    returncode: int
    stdout: str
    stderr: str


def run(
    command: Sequence[str | Path],
    *,
    timeout_s: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Runs to the end without input; ``environment`` is added to the one of this process.

    Raises ToolError if the command cannot be started or takes longer than ``timeout_s`` seconds.
    """
    words = [str(word) for word in command]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as problem:
        raise ToolError(f"cannot run {words[0]}: {problem.strerror}") from problem
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _end_group(process)
            raise ToolError(f"{words[0]} did not end within {timeout_s:g} s") from None
        except BaseException:
            _end_group(process)
            raise
    return Completed(process.returncode, stdout, stderr)


def _end_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
