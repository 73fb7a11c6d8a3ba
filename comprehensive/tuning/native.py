"""The functions of ``templates/host/tuning.cu.j2`` in a compiled library, called from a measuring process.

In: the path of the library.  Out: a :class:`Native`; what goes wrong on the device is a :class:`RunError` with the
status of the candidate and the reason::

    native = Native("libmatmul.so")
    leaf = native.run("matmul", values, [16, 16, 2, 0])
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from comprehensive.runtime.choice import Choice

OK, CUDA_ERROR = 0, 6


class RunError(Exception):
    """An error of a run.

    ``status`` is that of the candidate; after a ``crash`` the device is of no more use to this process.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Native:
    """A loaded library. OSError where it cannot be loaded."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        size = self._library["cf_measure_choice_bytes"]()
        if size != ctypes.sizeof(Choice):
            raise OSError(f"cf_choice has {size} bytes in {path}, {ctypes.sizeof(Choice)} here")
        self._words = self._function("cf_measure_words", ctypes.c_char_p)
        self._message = self._function("cf_measure_message", ctypes.c_char_p)

    def _function(self, name: str, result: Any = ctypes.c_int) -> Any:
        function = self._library[name]
        function.restype = result
        return function

    def device(self) -> tuple[str, str]:
        """Name and compute capability (``9.0``) of the device in use."""
        name = ctypes.create_string_buffer(256)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._demand(
            self._function("cf_measure_device")(name, 256, ctypes.byref(major), ctypes.byref(minor)), "lost"
        )
        return name.value.decode(), f"{major.value}.{minor.value}"

    def allocate(self, bytes: int) -> int:
        """The address of so much device memory; RunError (refused) where there is not so much."""
        memory = ctypes.c_void_p()
        error = self._function("cf_measure_allocate")(ctypes.byref(memory), ctypes.c_longlong(bytes))
        if error:
            raise RunError("refused", f"{bytes} bytes of device memory: {self._words(error).decode()}")
        return memory.value or 0

    def free(self, memory: int) -> None:
        self._demand(self._function("cf_measure_free")(ctypes.c_void_p(memory)), "crash")

    def copy_in(self, memory: int, array: Any) -> None:
        copy = self._function("cf_measure_copy_in")
        self._demand(copy(ctypes.c_void_p(memory), _address(array), ctypes.c_longlong(array.nbytes)), "crash")

    def copy_out(self, array: Any, memory: int) -> None:
        copy = self._function("cf_measure_copy_out")
        self._demand(copy(_address(array), ctypes.c_void_p(memory), ctypes.c_longlong(array.nbytes)), "crash")

    def run(self, function: str, values: Any, parameters: Sequence[int]) -> int:
        """Runs a function to its end; which leaf or tile ran last."""
        choice = Choice()
        run = self._function(f"cf_measure_run_{function}")
        self._judge(run(values, _integers(parameters), None, ctypes.byref(choice)), choice)
        self._demand(self._function("cf_measure_synchronize")(), "crash")
        return choice.leaf

    def time_us(
        self, function: str, values: Any, parameters: Sequence[int], launches: int, samples: int
    ) -> tuple[float, ...]:
        """Microseconds of a launch, for each sample the mean of so many in a row."""
        choice, found = Choice(), (ctypes.c_float * samples)()
        run = ctypes.cast(self._library[f"cf_measure_run_{function}"], ctypes.c_void_p)
        status = self._function("cf_measure_time")(
            run, values, _integers(parameters), launches, samples, found, ctypes.byref(choice)
        )
        self._judge(status, choice)
        return tuple(1000.0 * float(milliseconds) for milliseconds in found)

    def _judge(self, status: int, choice: Choice) -> None:
        if status == OK:
            return
        constraint = (choice.constraint or b"").decode()
        if status == CUDA_ERROR:
            more = self._message().decode()
            raise RunError("crash", f"{constraint}: {more}" if more else constraint)
        raise RunError("refused", f"{constraint}: needed {choice.needed}, available {choice.available}")

    def _demand(self, error: int, status: str) -> None:
        if error:
            raise RunError(status, self._words(error).decode())


def _address(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _integers(values: Sequence[int]) -> Any:
    return (ctypes.c_longlong * max(1, len(values)))(*values)
