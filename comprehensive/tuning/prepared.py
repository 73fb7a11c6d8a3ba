"""A problem in the memory of a device: its data, and whether what a candidate computes is right.

In: the file of a problem.  Out: a :class:`Prepared`, which runs candidates on fresh data and compares with what the
serial C has computed, or, where that takes too long, with another candidate.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.soundness.difference import first_difference
from comprehensive.tuning.data import c_scalar, drawn, written
from comprehensive.tuning.native import Native, RunError


class Prepared:
    """The arrays on the host, as they are drawn, and room for them on the device."""

    def __init__(self, problem_file: str, native: Native) -> None:
        self.problem: Mapping[str, Any] = json.loads(Path(problem_file).read_text(encoding="utf-8"))
        arguments = [a for a in self.problem["arguments"] if not a["program"]]
        self._arrays = drawn(self.problem["arguments"], self.problem["seed"])
        self._written = written(arguments)
        self._native = native
        self._memory: dict[str, int] = {}
        self._others: dict[str, Any] | None = None
        try:
            for name, array in self._arrays.items():
                self._memory[name] = native.allocate(array.nbytes)
                native.copy_in(self._memory[name], array)
        except RunError:
            self.close()
            raise
        self._held = [
            ctypes.c_void_p(self._memory[a["name"]]) if a["pointer"] else c_scalar(a, a["value"])
            for a in arguments
        ]
        addresses = [ctypes.cast(ctypes.pointer(held), ctypes.c_void_p) for held in self._held]
        self.values = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        """The addresses of the arguments, in the order of the function."""

    def close(self) -> None:
        """Gives the memory of the device back."""
        for memory in self._memory.values():
            self._native.free(memory)
        self._memory.clear()

    def run(self, native: Native, parameters: Sequence[int]) -> int:
        """Runs once on fresh data; which leaf or tile ran last."""
        for name in self._written:
            native.copy_in(self._memory[name], self._arrays[name])
        return native.run(self.problem["function"], self.values, parameters)

    def demand_right(self, native: Native) -> None:
        """Raise RunError (wrong) where the last run has not left what the serial C computes."""
        reference = Path(self.problem["reference"])
        for name in self._written:
            expected = np.load(reference / f"{name}.npy", mmap_mode="r")
            self._demand_equal({name: expected}, {name: self._result(native, name)}, "the serial C")

    def remember(self, native: Native, other: Sequence[int]) -> None:
        """Runs with other parameters, unless that has been done, and keeps what comes out."""
        if self._others is not None:
            return
        try:
            self.run(native, other)
        except RunError as error:
            reason = f"nothing to compare with at these sizes: the launcher's own choice: {error.reason}"
            raise RunError(error.status, reason) from error
        self._others = {name: self._result(native, name) for name in self._written}

    def demand_like_remembered(self, native: Native) -> None:
        """Raise RunError (wrong) where the last run has left something else than the remembered one."""
        assert self._others is not None
        for name in self._written:
            actual = {name: self._result(native, name)}
            self._demand_equal({name: self._others[name]}, actual, "the launcher's own choice")

    def _demand_equal(self, expected: Mapping[str, Any], actual: Mapping[str, Any], by: str) -> None:
        bits = {a["name"] for a in self.problem["arguments"] if a.get("bits")}
        difference = first_difference(expected, actual, self.problem["tolerances"], bits)
        if difference is not None:
            raise RunError("wrong", f"{difference} by {by}")

    def _result(self, native: Native, name: str) -> Any:
        array = np.empty_like(self._arrays[name])
        native.copy_out(array, self._memory[name])
        return array
