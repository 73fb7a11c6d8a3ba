"""Compiled functions on arrays between pages that nothing may touch, in a process of their own.

In: libraries of :mod:`comprehensive.runtime.serial` and :mod:`comprehensive.runtime.cpu`, and arguments.  Out: the
arrays afterwards and every array that was left, with the first element outside of it::

    guards = build(Path("work"), compiler=c)
    with GuardedProcess(guards) as process:
        process.extents(serial, "f", {"n": 5, "x": x, "y": y}, {"x", "y"})     # {"x": 5, "y": 5}, what is touched
        process.kernels(kernels, "f", {"n": 5, "x": x, "y": y}, {"B": 4}, edge=Edge.END).faults
        # (Outside("x", element=5, size=5, writes=False),)

An array is placed so that its first element or the one behind its last lies on such a page (:class:`Edge`), so that two
runs see both ends; on the other side what is written is seen, not what is read. Arguments are never changed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from comprehensive.data import template_directory
from comprehensive.plan.interface import Argument
from comprehensive.runtime.cpu import CpuFaultError, CpuLibrary, Outcome
from comprehensive.runtime.guarded_worker import LENGTH
from comprehensive.runtime.serial import SerialLibrary, entry
from comprehensive.runtime.structures import machine_values, params
from comprehensive.runtime.values import Array, Value, as_array, as_scalar
from comprehensive.runtime.worker_process import WorkerProcess
from comprehensive.toolchain.host import Compiler
from comprehensive.toolchain.unit import compile_unit, write_binary

BUILD_TIMEOUT_S = 120.0
CALL_TIMEOUT_S = 60.0


class Edge(Enum):
    """The end of every array that lies beside a page that nothing may touch."""

    BEGIN = "begin"
    END = "end"


@dataclass(frozen=True, slots=True)
class Outside:
    """An array of ``size`` elements was left: the first access is to ``element``, one to ``farthest`` followed.

    Elements count from the first one of the array, whatever its dimensions. ``writes`` is None where the processor does
    not say what the first access was.
    """

    array: str
    element: int
    size: int
    writes: bool | None
    farthest: int

    def __str__(self) -> str:
        does = {True: "writes", False: "reads", None: "touches"}[self.writes]
        more = "" if self.farthest == self.element else f", and others up to {self.farthest}"
        return f"{does} element {self.element} of '{self.array}', which has {self.size}{more}"


@dataclass(frozen=True, slots=True)
class Guarded:
    """The answer of a run: ``arrays`` are by name."""

    arrays: Mapping[str, Array]
    faults: tuple[Outside, ...]


@dataclass(frozen=True, slots=True)
class GuardedKernels(Guarded):
    """The answer of a run of kernels, with what the launch returned."""

    outcome: Outcome


class TooLargeError(Exception):
    """The serial program leaves arrays that were not said to be open, or reads before the beginning of one."""

    def __init__(self, faults: tuple[Outside, ...]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def build(work: Path, *, compiler: Compiler) -> Path:
    """Compiles the guards into the directory ``work``. ToolError where the C compiler does not."""
    work.mkdir(parents=True, exist_ok=True)
    source, target = template_directory() / "host" / "guard_pages.c", work / "libguard_pages.so"
    command = (*compiler.command, "-std=gnu99", "-O1", "-shared", "-fPIC")
    write_binary(compile_unit(command, source, timeout_s=BUILD_TIMEOUT_S), target)
    return target.absolute()


class GuardedProcess:
    """A process that is started at the first call, and again after a call that has ended it."""

    def __init__(self, guards: Path, *, timeout_s: float = CALL_TIMEOUT_S) -> None:
        self._guards = guards
        self._timeout_s = timeout_s
        self._process: WorkerProcess | None = None

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serial(
        self, library: SerialLibrary, function: str, arguments: Mapping[str, Value], *, edge: Edge = Edge.END
    ) -> Guarded:
        """Runs the serial program. CpuFaultError where it ends the process."""
        job = _serial_job(library, function, arguments) | {"kind": "serial", "at_begin": edge is Edge.BEGIN}
        answer = self._ask(job)
        return Guarded(_named(job, answer), _faults(job, answer["faults"]))

    def kernels(
        self,
        library: CpuLibrary,
        function: str,
        arguments: Mapping[str, Value],
        parameters: Mapping[str, int] | None,
        *,
        machine: Mapping[str, int] | None = None,
        backwards: bool = False,
        attributes: Mapping[int, int] | None = None,
        kernel_threads: int = 1024,
        edge: Edge = Edge.END,
    ) -> GuardedKernels:
        """Run as ``CpuLibrary.call`` does, on a library that was built without sanitizers."""
        if library.sanitize:
            raise ValueError("sanitizers and guarded pages do not go together")
        interface = library.interfaces[function]
        job = _passed(interface.arguments, arguments) | {
            "kind": "kernels",
            "library": str(library.path),
            "symbol": f"{function}_launch_explained",
            "at_begin": edge is Edge.BEGIN,
            "backwards": backwards,
            "kernel_threads": kernel_threads,
            "attributes": tuple(sorted((attributes or {}).items())),
            "limits": None if machine is None else machine_values(machine),
            "parameters": None if parameters is None else bytes(params(interface, parameters)),
        }
        answer = self._ask(job)
        outcome = Outcome(
            answer["status"],
            answer["leaf"],
            answer["constraint"],
            answer["needed"],
            answer["available"],
            answer["message"],
        )
        return GuardedKernels(_named(job, answer), _faults(job, answer["faults"]), outcome)

    def extents(
        self, library: SerialLibrary, function: str, arguments: Mapping[str, Value], open: Set[str]
    ) -> dict[str, int]:
        """Return the number of elements of each array in ``open`` that the serial program touches with these contents.

        TooLargeError where it leaves an array, CpuFaultError where it ends the process.
        """
        job = _serial_job(library, function, arguments) | {"kind": "extents"}
        names = job["names"]
        answer = self._ask(job | {"open": frozenset(k for k, name in enumerate(names) if name in open)})
        if answer["faults"]:
            raise TooLargeError(_faults(job, answer["faults"]))
        return {
            name: elements for name, elements in zip(names, answer["elements"], strict=True) if name in open
        }

    def close(self) -> None:
        """Ends the process and all that it has started."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None:
            process = self._process = WorkerProcess("comprehensive.runtime.guarded_worker", str(self._guards))
        content = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
        with contextlib.suppress(OSError):  # of a process that has ended the answer says so
            process.stdin.write(LENGTH.pack(len(content)) + content)
            process.stdin.flush()
        deadline = time.monotonic() + self._timeout_s
        head = self._read(process, LENGTH.size, deadline)
        return pickle.loads(self._read(process, LENGTH.unpack(head)[0], deadline))

    def _read(self, process: WorkerProcess, length: int, deadline: float) -> bytes:
        descriptor = process.stdout.fileno()
        parts: list[bytes] = []
        while length > 0:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.close()
                raise CpuFaultError(f"no end within {self._timeout_s:g} s")
            part = os.read(descriptor, length)
            if not part:
                words = process.words("exit status")
                self.close()
                raise CpuFaultError(words)
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def _serial_job(library: SerialLibrary, function: str, arguments: Mapping[str, Value]) -> dict[str, Any]:
    passed = tuple(
        Argument(p.name, p.type, pointer=p.is_data, const=p.const)
        for p in library.functions[function].written_parameters
    )
    symbol = entry(library.functions[function])
    return _passed(passed, arguments) | {"library": str(library.path), "symbol": symbol}


def _passed(arguments: tuple[Argument, ...], values: Mapping[str, Value]) -> dict[str, Any]:
    passed: list[int | tuple[str, int | float] | None] = []
    names: list[str] = []
    arrays: list[Array] = []
    for argument in arguments:
        value = values[argument.name]
        if value is None:
            passed.append(None)
        elif argument.pointer:
            passed.append(len(arrays))
            names.append(argument.name)
            arrays.append(as_array(argument, value))
        else:
            scalar = as_scalar(argument, value)
            passed.append((type(scalar).__name__, scalar.value))
    return {"passed": tuple(passed), "arrays": arrays, "names": tuple(names)}


def _named(job: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Array]:
    return dict(zip(job["names"], answer["arrays"], strict=True))


def _faults(job: Mapping[str, Any], found: list[tuple[int, int, int, int]]) -> tuple[Outside, ...]:
    faults: list[Outside] = []
    for number, first, farthest, writes in found:
        array: Array = job["arrays"][number]
        faults.append(
            Outside(
                job["names"][number],
                first // array.itemsize,
                array.size,
                None if writes < 0 else bool(writes),
                farthest // array.itemsize,
            )
        )
    return tuple(faults)
