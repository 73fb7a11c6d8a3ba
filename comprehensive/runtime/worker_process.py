"""A module of this package that works in a process of its own, with streams to it.

In: the module and its argument.  Out: a process that takes all that it has started with it when it ends::

    worker = WorkerProcess("comprehensive.tuning.worker", settings)
    worker.stdin.write(job)
    worker.words()    # after it has ended: "SIGSEGV", "status 1: ValueError: no such device"
    worker.end()

Imports the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def python_path() -> str:
    """Return the ``PYTHONPATH`` with which the package is found as here, wherever a process starts."""
    return os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))


class WorkerProcess:
    def __init__(self, module: str, argument: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lasts as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, argument],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": python_path()},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin = self._process.stdin
        self.stdout = self._process.stdout

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def words(self, status: str = "status") -> str:
        """Return a text that says how the process has ended, with the last line that it wrote."""
        code = self._process.wait()
        name = signal.Signals(-code).name if code < 0 else f"{status} {code}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{name}: {last[:300]}" if last else name

    def end(self) -> None:
        """Ends the process and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self.stdin, self.stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()
