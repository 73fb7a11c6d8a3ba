"""A generated function as a Python callable.

In: what the manifest says of it, and the compiled library.  Out: a :class:`GeneratedFunction`::

    matmul(1024, a, b, c)                                  # Launched(leaf=4, cycles=153000, left_out=0)
    matmul(1024, a, b, c, B0=16, ub1=16, s=2, tile=-1)     # with program parameters
    matmul.choose(1024, machine="h200")                    # what would run, without data and GPU
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from msgspec import Struct

from comprehensive.bindings.described import DescribedFunction
from comprehensive.bindings.errors import LaunchError, LoadError
from comprehensive.bindings.memory import DeviceKind, Memory, NoViewError, View
from comprehensive.diagnostics import CompileError
from comprehensive.machine.device import load_device
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import Argument, Interface, fresh
from comprehensive.runtime.choice import Choice
from comprehensive.runtime.structures import MACHINE_NUMBERS, machine_array, params_type
from comprehensive.runtime.values import as_scalar

_ALSO: Mapping[ScalarType, tuple[str, ...]] = MappingProxyType({ScalarType.BFLOAT16: ("int16", "bfloat16")})
"""Further types of numpy that stand for one: bits may have a sign, and ml_dtypes has the type itself."""

ALIGNED = 4096
"""Stands for the address of data that begins where memory that was asked for begins."""

NO_VARIANT, LIMIT, CUDA_ERROR = 1, 5, 6
STATUS: Mapping[int, str] = MappingProxyType(
    {
        NO_VARIANT: "no variant of the kernel fits into the machine",
        2: "a program parameter is less than 1, a size is negative, or there is no such tile",
        3: "an assertion of the program does not hold",
        4: "a size is too large to be computed with",
        LIMIT: "the launch exceeds a limit of the device or of the compiled kernel",
        CUDA_ERROR: "the CUDA runtime reported an error",
    }
)
"""The messages of ``<function>_strerror``, by status."""


class Launched(Struct, frozen=True):
    """The outcome of a call: what it has launched.

    ``leaf`` is the number of what ran last, as in the manifest: leaves first, then tiles; -1 if sizes are
    empty.

    ``cycles`` are those that launches are expected to take, all together; ``left_out`` points of the regions are not
    computed with these parameters, since extents of loops are rounded down.
    """

    leaf: int
    cycles: int
    left_out: int
    candidate: int = 0
    """The number of the version that ran, of those that are tried while the function runs; 0 is the original."""
    adaptation: str = ""
    """The progress of that search, or why there is none; empty where it is not asked for."""


class Chosen(Struct, frozen=True):
    """The kernel that a call would run, as :class:`Launched` has it, with its program parameters and tile."""

    leaf: int
    cycles: int
    left_out: int
    parameters: Mapping[str, int]


class GeneratedFunction:
    """Call it with the arguments of the C function in their order, or by name, without the program parameters.

    Program parameters are given by name, all or none: without them the launcher chooses.  ``stream`` is anything with
    ``__cuda_stream__``, or a handle; ``machine`` the name of a device, or values of all machine parameters and speeds,
    for which is decided.  With ``adapt=True`` (where `gen --adapt` has made candidates) calls try other versions and
    keep the fastest; with ``adapt="split"`` (`gen --adapt-split`) parts of one launch try them, and the call waits for
    these.  All have an underscore behind them where the function has an argument of that name.

    Raises LaunchError with the condition that does not hold, TypeError and ValueError for what is no argument: data
    of another type, too small, or that overlaps what is written.
    """

    def __init__(
        self, described: DescribedFunction, library: Callable[[], ctypes.CDLL], memory: Memory
    ) -> None:
        self._described = described
        self._interface = interface = described.interface
        self._library = library
        self._memory = memory
        self._arguments = interface.arguments
        self._params_type = params_type(interface)
        self._parameters = {a.name: a for a in interface.members}
        taken = frozenset(a.name for a in interface.everything)
        self._stream, self._machine = fresh("stream", taken), fresh("machine", taken)
        self.__name__ = interface.name
        self.__doc__ = self.signature
        for name in ("launch_explained", "choose"):
            self._function(name)

    @property
    def interface(self) -> Interface:
        """The arguments and the program parameters, with their types."""
        return self._interface

    @property
    def device(self) -> DeviceKind:
        """The kind of device that it runs on: ``gpu`` or ``cpu``."""
        return self._memory.device

    @property
    def stream_name(self) -> str:
        """The keyword by which a call gets a stream."""
        return self._stream

    @property
    def signature(self) -> str:
        """The signature as in C, program parameters last."""
        arguments = ", ".join(a.declaration for a in self._arguments)
        program = ", ".join(self._parameters)
        return f"{self.__name__}({arguments}{', *, ' if program else ''}{program})"

    def __repr__(self) -> str:
        return f"<generated function {self.signature}>"

    def __call__(self, /, *positional: Any, **named: Any) -> Launched:
        """Launches on the current device, and does not wait for the end."""
        launch = self._function("launch_explained")  # first: it sees to it that a device is current
        call = self._bound(self._arguments, positional, named)
        stream = self._memory.stream(call.stream)
        scalars = self._scalars(call.given)
        views: dict[Argument, View] = {}  # until the launch: a library may give memory back that nobody sees

        def address(argument: Argument) -> int | None:
            if _is_null(argument, call.given[argument.name]):
                return None
            view = views[argument] = self._view(argument, call.given[argument.name], stream, scalars)
            return view.address

        passed = self._passed(scalars, address)
        _demand_apart(views)
        choice = Choice()
        machine = None if call.machine is None else machine_array(call.machine)
        chosen = None if call.parameters is None else self._params(call.parameters)
        if call.adapts:
            # The wish is a member of the parameters: without any they are those that are chosen.
            chosen = self._chosen(machine, passed) if chosen is None else chosen
            if chosen is not None:
                setattr(chosen, str(self._interface.adapt), call.adapts)
        self._demand_inside(views, scalars, self._parameters_of(chosen, machine, passed))
        status = launch(
            None if machine is None else ctypes.byref(machine),
            *passed,
            None if chosen is None else ctypes.byref(chosen),
            ctypes.c_void_p(stream),
            ctypes.byref(choice),
        )
        self._demand(status, choice)
        said = (choice.adaptation or b"").decode()
        return Launched(choice.leaf, choice.cycles, choice.left_out, choice.candidate, said)

    def choose(self, /, *positional: Any, **named: Any) -> Chosen:
        """Return what a call would run; it takes sizes and other scalars in their order, and data by name only.

        Data counts by where it begins; data that is not given begins at a multiple of 16 bytes.  For a ``machine`` no
        GPU is needed where the functions are loaded for ``cpu``; then neither tuned parameters count, nor limits that
        only a device or a compiled kernel has.  The host code of the function runs, whatever it does.
        """
        function = self._function("choose")
        scalars = tuple(a for a in self._arguments if not a.pointer)
        data = tuple(a for a in self._arguments if a.pointer)
        call = self._bound(scalars, positional, named, optional=data)
        values = self._scalars(call.given)

        def address(argument: Argument) -> int | None:
            if argument.name not in call.given:
                return ALIGNED
            given = call.given[argument.name]
            if _is_null(argument, given):
                return None
            return self._view(argument, given, self._memory.stream(call.stream), values).address

        passed = self._passed(values, address)
        choice, found = Choice(), self._params_type()
        limits = None if call.machine is None else machine_array(call.machine)
        given = None if call.parameters is None else self._params(call.parameters)
        status = function(
            None if limits is None else ctypes.byref(limits),
            *passed,
            None if given is None else ctypes.byref(given),
            ctypes.byref(found),
            ctypes.byref(choice),
        )
        self._demand(status, choice)
        parameters = {name: int(getattr(found, name)) for name in self._parameters}
        return Chosen(choice.leaf, choice.cycles, choice.left_out, MappingProxyType(parameters))

    # --- arguments ---------------------------------------------------------------------------------------

    def _bound(
        self,
        wanted: tuple[Argument, ...],
        positional: tuple[Any, ...],
        named: Mapping[str, Any],
        optional: tuple[Argument, ...] = (),
    ) -> _Call:
        """Return the call with its arguments by name. TypeError, as Python has it, for wrong arguments."""
        if len(positional) > len(wanted):
            raise TypeError(f"{self.signature} takes {len(wanted)} arguments in order, got {len(positional)}")
        given = {a.name: value for a, value in zip(wanted, positional, strict=False)}
        rest = dict(named)
        stream, machine = rest.pop(self._stream, None), rest.pop(self._machine, None)
        adapts = 0 if self._interface.adapt is None else self._adapts(rest.pop(self._interface.adapt, False))
        for argument in (*wanted, *optional):
            if argument.name in rest:
                if argument.name in given:
                    raise TypeError(f"{self.signature} got {argument.name} twice")
                given[argument.name] = rest.pop(argument.name)
        missing = [a.name for a in wanted if a.name not in given]
        if missing:
            raise TypeError(f"{self.signature} misses {', '.join(missing)}")
        parameters = {name: rest.pop(name) for name in self._parameters if name in rest}
        if rest:
            raise TypeError(f"{self.signature} has no argument {', '.join(rest)}")
        return _Call(given, self._complete(parameters), stream, _machine(machine), adapts)

    def _complete(self, parameters: Mapping[str, int]) -> Mapping[str, int] | None:
        missing = [a.name for a in self._interface.program if a.name not in parameters]
        if not parameters:
            return None
        if missing:
            raise TypeError(
                f"{self.signature}: give {', '.join(missing)}, too, or no program parameter: then they are chosen"
            )
        return parameters

    def _scalars(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scalars as C values, by name, with the errors of :func:`_scalar`."""
        found: dict[str, Any] = {}
        for argument in self._arguments:
            if not argument.pointer:
                found[argument.name] = _scalar(argument, given[argument.name])
        return found

    def _passed(self, scalars: Mapping[str, Any], address: Callable[[Argument], int | None]) -> list[Any]:
        """Return the arguments as the C function takes them, with data by its address."""
        return [ctypes.c_void_p(address(a)) if a.pointer else scalars[a.name] for a in self._arguments]

    def _view(self, argument: Argument, data: object, stream: int, scalars: Mapping[str, Any]) -> View:
        """Return a view of data. TypeError for what is no such data, ValueError for too little of it."""
        name, wanted = argument.name, argument.type.numpy_name
        try:
            view = self._memory.view(data, stream)
        except NoViewError as error:
            raise TypeError(f"{name} ({type(data).__name__}) {error}") from error
        others = _ALSO.get(argument.type, ())
        if view.dtype != np.dtype(wanted) and not (view.dtype.isnative and view.dtype.name in others):
            also = "".join(f" or {other}" for other in others)
            raise TypeError(
                f"{name} must have elements of {wanted}{also}, not {view.dtype.str} ({view.dtype})"
            )
        if view.address % argument.type.size_bytes:
            raise TypeError(f"{name} begins at no multiple of {argument.type.size_bytes} bytes; pass a copy")
        if not view.contiguous:
            raise TypeError(f"{name} must be contiguous in the order of C; pass a contiguous copy")
        if not (argument.const or view.writable):
            raise TypeError(f"{name} is written, and the data given is read-only")
        sizes = {key: value.value for key, value in scalars.items()}
        complaint = self._described.extents[name].complaint(view.shape, sizes)
        if complaint is not None:
            raise ValueError(f"{name} {complaint}")
        return view

    def _parameters_of(
        self, chosen: ctypes.Structure | None, machine: Any, passed: Sequence[Any]
    ) -> Mapping[str, int]:
        """The program parameters of a call, as far as sizes of data depend on them; none where it is refused."""
        names = tuple(a.name for a in self._interface.program)
        if chosen is not None:
            return {name: int(getattr(chosen, name)) for name in names}
        if all(needs.names.isdisjoint(names) for needs in self._described.needs.values()):
            return {}
        found = self._chosen(machine, passed)
        return {} if found is None else {name: int(getattr(found, name)) for name in names}

    def _adapts(self, asked: object) -> int:
        """Return the member of the parameters that asks for it: 1 for whole launches, 2 for parts of one."""
        known: Mapping[object, int] = {False: 0, True: 1, "split": 2}
        if not isinstance(asked, bool | str) or asked not in known:
            raise ValueError(
                f"{self.signature}: {self._interface.adapt} is True, False or 'split', not {asked!r}"
            )
        return known[asked]

    def _chosen(self, machine: Any, passed: Sequence[Any]) -> ctypes.Structure | None:
        """Return the parameters that a call without any would choose; None where it is refused: the launch says why."""
        found, choice = self._params_type(), Choice()
        limits = None if machine is None else ctypes.byref(machine)
        status = self._function("choose")(limits, *passed, None, ctypes.byref(found), ctypes.byref(choice))
        return found if status == 0 else None

    def _demand_inside(
        self, views: Mapping[Argument, View], scalars: Mapping[str, Any], parameters: Mapping[str, int]
    ) -> None:
        """Raise ValueError where the call would touch elements that data does not have."""
        sizes = {
            a.name: int(scalars[a.name].value) for a in self._arguments if not a.pointer and a.type.is_integer
        }
        for argument, view in views.items():
            extents = self._described.extents[argument.name]
            unit = "elements" if len(extents.dims) == 1 else "rows"
            complaint = self._described.needs[argument.name].complaint(
                extents.rows(view.shape, sizes), {**sizes, **parameters}, unit=unit
            )
            if complaint is not None:
                raise ValueError(f"{argument.name} {complaint}")

    # --- calls -------------------------------------------------------------------------------------------

    def _function(self, name: str) -> Any:
        """Return a function of the library; LoadError where the library lacks it."""
        try:
            return getattr(self._library(), f"{self.__name__}_{name}")
        except AttributeError as error:
            raise LoadError(f"{error}: manifest and kernels are not of one generation") from error

    def _params(self, values: Mapping[str, Any]) -> ctypes.Structure:
        found = {name: _scalar(self._parameters[name], value).value for name, value in values.items()}
        return self._params_type(**found)

    def _demand(self, status: int, choice: Choice) -> None:
        """Raise LaunchError for a status that is not that of success."""
        if status == 0:
            return
        constraint = (choice.constraint or b"").decode()
        message = f"{self.__name__}: {STATUS.get(status, f'status {status}')}: {constraint}"
        if (choice.needed, choice.available) != (0, 0) and status != CUDA_ERROR:
            message += f" (needed: {choice.needed}, available: {choice.available})"
        if status in (NO_VARIANT, LIMIT):
            message += "; without program parameters feasible ones are chosen"
        raise LaunchError(
            message,
            status=status,
            leaf=choice.leaf,
            constraint=constraint,
            needed=choice.needed,
            available=choice.available,
        )


class _Call(Struct, frozen=True):
    """A sorted call: ``parameters`` are all members of the parameters or None, ``machine`` likewise."""

    given: Mapping[str, Any]
    parameters: Mapping[str, int] | None
    stream: object
    machine: Mapping[str, int] | None
    adapts: int = 0


def _is_null(argument: Argument, data: object) -> bool:
    """Whether data is passed as a null pointer, which only those are that the function asks about."""
    return data is None and argument.may_be_null


def _demand_apart(views: Mapping[Argument, View]) -> None:
    """Raise ValueError for written data that overlaps other data: kernels are made for arrays that do not."""
    for (one, first), (other, second) in combinations(views.items(), 2):
        if one.const and other.const:
            continue
        ends = first.address + _bytes(one, first), second.address + _bytes(other, second)
        if first.address < ends[1] and second.address < ends[0]:
            raise ValueError(f"{one.name} and {other.name} overlap in memory; pass a copy of one of them")


def _bytes(argument: Argument, view: View) -> int:
    return math.prod(view.shape) * argument.type.size_bytes


def _scalar(argument: Argument, value: Any) -> Any:
    """Return a number as its C value.

    TypeError for what is no number, OverflowError for one that its type does not hold.
    """
    wanted = argument.type.value
    if isinstance(value, str | bytes):
        raise TypeError(f"{argument.name} must be a number ({wanted}), not {value!r}")
    try:
        number = index(value) if argument.type.is_integer else float(value)
        converted = as_scalar(argument, number)
    except OverflowError as error:
        raise OverflowError(f"{argument.name} = {value!r} does not fit into {wanted}") from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"{argument.name} must be a number ({wanted}), not {value!r}") from error
    if math.isfinite(number) and not math.isfinite(converted.value):
        raise OverflowError(f"{argument.name} = {value!r} does not fit into {wanted}")
    return converted


def _machine(machine: Any) -> Mapping[str, int] | None:
    """Return the numbers of a machine; None for None. ValueError for a device or values that are unknown."""
    if machine is None:
        return None
    if isinstance(machine, str | Path):
        return _described_machine(str(machine))
    if not isinstance(machine, Mapping):
        raise TypeError(f"a machine is the name of a device, a file, or numbers by name, not {machine!r}")
    found = cast(Mapping[str, Any], machine)
    missing = [name for name in MACHINE_NUMBERS if name not in found]
    unknown = [name for name in found if name not in MACHINE_NUMBERS]
    if missing or unknown:
        told = [f"misses {', '.join(missing)}"] if missing else []
        told += [f"has {', '.join(unknown)}, which is no parameter of machines"] if unknown else []
        raise ValueError(f"the machine {' and '.join(told)}")
    return {name: _scalar(Argument(name, ScalarType.LONG), value).value for name, value in found.items()}


@lru_cache(maxsize=32)
def _described_machine(machine: str) -> Mapping[str, int]:
    try:
        return load_device(machine).machine()
    except CompileError as error:
        raise ValueError(str(error)) from error
