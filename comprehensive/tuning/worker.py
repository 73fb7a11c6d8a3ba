"""The measuring process of one device: ``python -m comprehensive.tuning.worker SETTINGS``, a candidate a line.

In: on the standard input one JSON object a line.  Out: on the standard output, for each, that everything is there and
then what was found, one JSON object a line::

    {"library": "...", "problem": "...", "parameters": [16, 16, 2, 0], "partner": null, "hopeless_us": null, ...}
    {"stage": "prepared"}
    {"stage": "done", "status": "ok", "times_us": [812.5, ...], "leaf": 0, "verified": "..."}

A candidate that crashes takes this process with it, and nothing else.  Every result is compared before it is timed.
The process ends when its input does, when the process that has started it is gone, and when nobody asks for long.
Imports nothing but numpy and the standard library besides its neighbours, which do not either.
"""

from __future__ import annotations

import json
import math
import os
import select
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from comprehensive.tuning.gpus import visible
from comprehensive.tuning.lease import lease
from comprehensive.tuning.native import Native, RunError
from comprehensive.tuning.prepared import Prepared

IDLE_S = 3.0
"""The seconds without a candidate after which the process ends: another one may be waiting for the device."""
KEPT_PROBLEMS = 2
SAMPLE_US = 500.0
"""A sample has as many launches as take this long, so that the steps of the clock do not count."""
MOST_LAUNCHES = 500
SAMPLES, FEW_SAMPLES = 9, 3
LAUNCH_US = 20.0
"""The time that a launch alone may take more than one of many in a row."""
LONG_US = 200_000.0
"""Launches that take longer are timed a few times only."""


def main(settings_text: str) -> int:
    settings: dict[str, Any] = json.loads(settings_text)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # What the program prints is no answer.
    with os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8") as answers:
        os.dup2(2, 1)
        devices = settings["devices"] or [gpu.identifier for gpu in visible(os.environ)]
        held = lease(devices, Path(settings["leases"]))
        if settings["on_gpu"]:
            os.environ["CUDA_VISIBLE_DEVICES"] = held.device
        _tell(answers, {"stage": "ready", "device": held.device})
        worker = Worker(answers)
        for line in _lines(0):
            answer = worker.answer(json.loads(line))
            _tell(answers, {"stage": "done", "measured_on": held.device, **answer})
            if answer["status"] in ("crash", "lost"):
                break  # the device is of no more use to this process
    return 0


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _tell(answers: IO[str], answer: Mapping[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines as they come, until the input ends or rests for long."""
    pending = b""
    while True:
        line, newline, rest = pending.partition(b"\n")
        if newline:
            pending = rest
            yield line
            continue
        ready, _, _ = select.select([descriptor], [], [], IDLE_S)
        part = os.read(descriptor, 1 << 16) if ready else b""
        if not part:
            return
        pending += part


class Worker:
    """The state that stays from one candidate to the next: libraries, and the last problems with their data."""

    def __init__(self, answers: IO[str]) -> None:
        self._answers = answers
        self._libraries: dict[str, Native] = {}
        self._problems: dict[str, Prepared] = {}

    def answer(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is found of a candidate, whatever becomes of it."""
        try:
            return self._measured(job)
        except RunError as error:
            return {"status": error.status, "reason": error.reason}
        except MemoryError as error:
            return {"status": "refused", "reason": f"memory of the host: {error}"}
        except OSError as error:
            return {"status": "lost", "reason": f"{type(error).__name__}: {error}"}

    def _measured(self, job: Mapping[str, Any]) -> dict[str, Any]:
        native = self._library(job)
        tuned = self._problem(job["problem"], native)
        smaller = None
        if job["smaller"] is not None:
            smaller = self._problem(job["smaller"], native)
            tuned.remember(native, job["partner"])
        _tell(self._answers, {"stage": "prepared"})
        parameters: Sequence[int] = job["parameters"]
        if smaller is None:
            leaf = tuned.run(native, parameters)
            tuned.demand_right(native)
        else:
            smaller.run(native, parameters)
            smaller.demand_right(native)
            leaf = tuned.run(native, parameters)
            tuned.demand_like_remembered(native)
        found = timed(native, tuned, parameters, job["hopeless_us"])
        return {**found, "leaf": leaf}

    def _library(self, job: Mapping[str, Any]) -> Native:
        path = job["library"]
        if path not in self._libraries:
            native = Native(path)
            (name, capability), (wanted, needed) = native.device(), job["device"]
            if (
                not name.startswith(wanted) or capability != needed
            ):  # the name of a part of a GPU says which part
                raise RunError("lost", f"the device is {name} ({capability}), not {wanted} ({needed})")
            self._libraries[path] = native
        return self._libraries[path]

    def _problem(self, path: str, native: Native) -> Prepared:
        kept = self._problems.pop(path, None)
        if kept is None:
            while len(self._problems) >= KEPT_PROBLEMS:
                self._problems.pop(next(iter(self._problems))).close()
            kept = Prepared(path, native)
        self._problems[path] = kept  # the last one used is the last one to go
        return kept


def timed(
    native: Native, problem: Prepared, parameters: Sequence[int], hopeless_us: float | None
) -> dict[str, Any]:
    """The median of several samples; of one launch alone where that takes longer than ``hopeless_us``."""
    function = problem.problem["function"]
    single = min(native.time_us(function, problem.values, parameters, 1, 2))
    if hopeless_us is not None and single > hopeless_us + LAUNCH_US:
        reason = f"{single:.1f} us for one launch, more than {hopeless_us:.1f} us and what a launch may take"
        return {"status": "hopeless", "reason": reason, "times_us": [single], "launches": 1}
    launches = max(1, min(MOST_LAUNCHES, math.ceil(SAMPLE_US / max(single, 1e-3))))
    samples = FEW_SAMPLES if single > LONG_US else SAMPLES
    times = native.time_us(function, problem.values, parameters, launches, samples)
    return {
        "status": "ok",
        "reason": "",
        "times_us": list(times),
        "median_us": statistics.median(times),
        "launches": launches,
    }


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # destructors of a device in trouble may wait for ever
