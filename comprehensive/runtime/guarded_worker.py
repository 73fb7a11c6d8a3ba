"""The process that runs compiled code on guarded arrays: ``python -m comprehensive.runtime.guarded_worker GUARDS``.

In: the path of the compiled ``templates/host/guard_pages.c``, and on the standard input one pickled job after the
other.  Out: on the standard output one pickled answer each::

    {"kind": "serial", "library": "libf_serial.so", "symbol": "f", "passed": [("c_int", 5), 0], "arrays": [x], ...}
    {"arrays": [x afterwards], "faults": [(0, 20, 20, 0)], ...}

Compiled code that leaves its arrays for somewhere far away takes this process with it, and nothing else.  Imports
nothing but numpy and the standard library besides its neighbour, which does not either.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from comprehensive.runtime.choice import Choice

CLOSED_BYTES = 16 << 20
"""The bytes on both sides of an array within which an access is attributed to it; one further away ends this
process."""
CANARY = 0xA5
"""Fills the rest of the page on the open side of an array; what changes there was written out of bounds."""
SCALARS: Mapping[str, Any] = {
    type.__name__: type
    for type in (
        ctypes.c_bool,
        *(getattr(ctypes, f"c_{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)),
        ctypes.c_float,
        ctypes.c_double,
    )
}
LENGTH = struct.Struct("<q")
PAGE = os.sysconf("SC_PAGESIZE")


class _Recorded(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_longlong),
        ("farthest", ctypes.c_longlong),
        ("pages", ctypes.c_longlong),
        ("writes", ctypes.c_int),
    ]


@dataclass(frozen=True, slots=True)
class _Outside:
    """An access outside of an array, in bytes from its first element; ``writes`` is -1 where nobody knows."""

    array: int
    first: int
    farthest: int
    writes: int


class Guards:
    """The functions of ``guard_pages.c``."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        self._place = library.cf_guard_place
        self._place.restype = ctypes.c_void_p
        self._place.argtypes = [ctypes.c_longlong, ctypes.c_longlong, ctypes.c_int, ctypes.c_longlong]
        self._close = library.cf_guard_close
        self._close.argtypes = [ctypes.c_int, ctypes.c_longlong]
        self._faults = library.cf_guard_faults
        self._clear = library.cf_guard_clear
        failed = library.cf_guard_install()
        if failed:
            raise OSError(f"cf_guard_install failed at step {failed}")

    def placed(self, arrays: Sequence[Any], visible: Sequence[int], at_begin: bool) -> list[Any]:
        """Copies of the arrays, all of which lie there, with so many bytes of each that may be touched."""
        copies: list[Any] = []
        for number, (array, bytes) in enumerate(zip(arrays, visible, strict=True)):
            address = self._place(array.nbytes, bytes, at_begin, CLOSED_BYTES)
            if address is None:
                raise MemoryError(f"no room for an array of {array.nbytes} bytes between closed pages")
            ctypes.memset(address - address % PAGE, CANARY, address % PAGE)
            ctypes.memset(address + array.nbytes, CANARY, -(address + array.nbytes) % PAGE)
            if array.nbytes:
                ctypes.memmove(address, array.ctypes.data, array.nbytes)
            self._close(number, bytes)
            copies.append(_view(address, array))
        return copies

    def outside(self, arrays: Sequence[Any], visible: Sequence[int]) -> list[_Outside]:
        """Return what was touched outside of the arrays, or only written on the open side."""
        found: list[_Outside] = []
        for number, (array, bytes) in enumerate(zip(arrays, visible, strict=True)):
            recorded = (_Recorded * 2)()
            self._faults(number, recorded)
            found += [_Outside(number, r.first, r.farthest, r.writes) for r in recorded if r.pages]
            address = array.ctypes.data
            if bytes == array.nbytes:
                found += _overwritten(number, address, bytes, recorded)
        return found

    def clear(self) -> None:
        self._clear()


def _overwritten(number: int, address: int, bytes: int, recorded: Any) -> list[_Outside]:
    """Return what has changed in the rest of the first and the last page of an array."""
    found: list[_Outside] = []
    for side, start, length in (
        (0, address - address % PAGE, address % PAGE),
        (1, address + bytes, -(address + bytes) % PAGE),
    ):
        if length == 0 or recorded[side].pages:
            continue
        rest = np.frombuffer(ctypes.string_at(start, length), dtype=np.uint8)
        changed = np.flatnonzero(rest != CANARY)
        if len(changed):
            at = start - address + int(changed[-1 if side == 0 else 0])
            found.append(_Outside(number, at, at, 1))
    return found


def _view(address: int, like: Any) -> Any:
    if like.nbytes == 0:
        empty = np.frombuffer((ctypes.c_uint8 * like.itemsize).from_address(address), dtype=like.dtype)
        return empty[:0].reshape(like.shape)
    memory = (ctypes.c_uint8 * like.nbytes).from_address(address)
    return np.frombuffer(memory, dtype=like.dtype).reshape(like.shape)


@cache
def _library(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


def _arguments(passed: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """A number stands for that array, a pair for a scalar of that type, None for a null pointer."""

    def argument(one: Any) -> Any:
        if one is None:
            return ctypes.c_void_p(None)
        return ctypes.c_void_p(arrays[one].ctypes.data) if isinstance(one, int) else SCALARS[one[0]](one[1])

    return list(map(argument, passed))


def _serial(job: Mapping[str, Any], arrays: Sequence[Any]) -> dict[str, Any]:
    called = _library(job["library"])[job["symbol"]]
    called.restype = None
    called(*_arguments(job["passed"], arrays))
    return {}


def _kernels(job: Mapping[str, Any], arrays: Sequence[Any]) -> dict[str, Any]:
    library = _library(job["library"])
    for attribute, value in job["attributes"]:
        library.cf_cpu_set_attribute(attribute, value)
    library.cf_cpu_set_kernel_threads(job["kernel_threads"])
    library.cf_cpu_set_order(int(job["backwards"]))
    library.cf_cpu_error.restype = ctypes.c_char_p
    limits = None if job["limits"] is None else (ctypes.c_longlong * len(job["limits"]))(*job["limits"])
    given = None if job["parameters"] is None else ctypes.create_string_buffer(job["parameters"])
    choice = Choice()
    status = library[job["symbol"]](
        limits, *_arguments(job["passed"], arrays), given, None, ctypes.byref(choice)
    )
    return {
        "status": status,
        "leaf": choice.leaf,
        "constraint": (choice.constraint or b"").decode(),
        "needed": choice.needed,
        "available": choice.available,
        "message": library.cf_cpu_error().decode() if status != 0 else "",
    }


def _run(guards: Guards, job: Mapping[str, Any]) -> dict[str, Any]:
    arrays: Sequence[Any] = job["arrays"]
    visible = [array.nbytes for array in arrays]
    placed = guards.placed(arrays, visible, job["at_begin"])
    try:
        answer = (_serial if job["kind"] == "serial" else _kernels)(job, placed)
        outside = guards.outside(placed, visible)
        faults = [(o.array, o.first, o.farthest, o.writes) for o in outside]
        return {**answer, "arrays": [array.copy() for array in placed], "faults": faults}
    finally:
        del placed
        guards.clear()


def _extents(guards: Guards, job: Mapping[str, Any]) -> dict[str, Any]:
    """The least number of elements of each open array with which the serial program stays inside.

    The contents of an array do not depend on how much of it is visible, so that every run does the same.
    """
    arrays: Sequence[Any] = job["arrays"]
    least = [0 if k in job["open"] else array.size for k, array in enumerate(arrays)]
    enough = [array.size for array in arrays]
    for at_begin in (True, False):
        outside = _left(guards, job, enough, at_begin)
        if outside:
            return {"faults": [(o.array, o.first, o.farthest, o.writes) for o in outside]}
    first = True
    while least != enough:
        # Most sizes are right to begin with, which takes one run to see.
        tried = [e - 1 if first and s < e else (s + e) // 2 for s, e in zip(least, enough, strict=True)]
        first = False
        outside = _left(guards, job, tried, False)
        touched = {o.array: o.farthest // arrays[o.array].itemsize for o in outside}
        for k in range(len(arrays)):
            if k in touched:
                least[k] = max(least[k], touched[k] + 1)
            elif tried[k] < enough[k]:
                enough[k] = tried[k]
        # A program that does not do the same in every run may touch more than was enough before.
        enough = [max(pair) for pair in zip(least, enough, strict=True)]
    return {"faults": [], "elements": enough}


def _left(guards: Guards, job: Mapping[str, Any], elements: Sequence[int], at_begin: bool) -> list[_Outside]:
    """Return what the serial program touches outside of so many elements of each array."""
    arrays: Sequence[Any] = job["arrays"]
    visible = [count * array.itemsize for count, array in zip(elements, arrays, strict=True)]
    placed = guards.placed(arrays, visible, at_begin)
    try:
        _serial(job, placed)
        return guards.outside(placed, visible)
    finally:
        del placed
        guards.clear()


def main(guard_library: str) -> int:
    # What the program prints is no answer.
    with os.fdopen(os.dup(1), "wb") as answers:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        guards = Guards(guard_library)
        while head := sys.stdin.buffer.read(LENGTH.size):
            job = pickle.loads(sys.stdin.buffer.read(LENGTH.unpack(head)[0]))
            answer = (_extents if job["kind"] == "extents" else _run)(guards, job)
            content = pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
            answers.write(LENGTH.pack(len(content)) + content)
            answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
