"""Arguments of a launch: Python values in, bytes of parameters out, arrays copied to global memory and back.

    place_arguments(kernel, [numpy_array, 3, 0.5, b"..."], memory)

An array stands for a pointer to its first element; a view that is not contiguous is written back element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from comprehensive.diagnostics import CompileError, Span
from comprehensive.ptx.interpreter.memory import Allocation, Memory
from comprehensive.ptx.interpreter.values import DTYPES, Array, integer, is_float
from comprehensive.ptx.module import Function, Parameter

Argument: TypeAlias = "Array | int | float | bool | bytes | np.generic[Any] | None"
"""None is a null pointer."""


@dataclass(frozen=True)
class Passed:
    """An array and where it is; ``bytes`` of each parameter."""

    arrays: tuple[tuple[Array, Allocation], ...]
    parameters: tuple[bytes, ...]


def launch_error(message: str, help: str, function: Function | None = None) -> CompileError:
    span = None
    if function is not None:
        text = function.file.text
        # What stands between a function and the one before belongs to it.
        start = function.start + len(text[function.start :]) - len(text[function.start :].lstrip())
        end = text.find("\n", start)
        span = Span(function.file, start, end if end > 0 else function.end)
    return CompileError.of("CF1017", message, span, help=help)


def place_arguments(kernel: Function, arguments: Sequence[Argument], memory: Memory) -> Passed:
    """Allocates what arrays need. CompileError (CF1017) for what does not fit the kernel's parameters."""
    if len(arguments) != len(kernel.parameters):
        raise launch_error(
            f"the number of arguments, {len(arguments)}, is not that of the parameters of kernel '{kernel.symbol}', "
            f"{len(kernel.parameters)}",
            "give an argument for each parameter",
            kernel,
        )
    arrays: list[tuple[Array, Allocation]] = []
    known: dict[int, Allocation] = {}
    parameters: list[bytes] = []
    for number, (argument, parameter) in enumerate(zip(arguments, kernel.parameters, strict=True)):
        if isinstance(argument, np.ndarray) and argument.ndim + argument.size > 0 and parameter.bytes == 8:
            # The same array given twice is one array.
            allocation = known.get(id(argument))
            if allocation is None:
                allocation = memory.spaces["global"].allocate(
                    f"argument {number} '{parameter.name}'",
                    argument.nbytes,
                    align=256,
                    writable=argument.flags.writeable,
                )
                known[id(argument)] = allocation
                arrays.append((argument, allocation))
            parameters.append(allocation.start.to_bytes(8, "little"))
        else:
            parameters.append(_scalar(number, argument, parameter))
    return Passed(tuple(arrays), tuple(parameters))


def _scalar(number: int, argument: Argument, parameter: Parameter) -> bytes:
    if argument is None and parameter.bytes == 8:
        return bytes(8)
    if isinstance(argument, bytes | bytearray):
        if len(argument) == parameter.bytes:
            return bytes(argument)
    elif isinstance(argument, np.generic):
        if argument.nbytes == parameter.bytes:
            return argument.tobytes()
        if argument.dtype.kind in "iub" and not is_float(parameter.type):
            return _scalar(number, int(argument), parameter)
        if argument.dtype.kind == "f" and is_float(parameter.type):
            return _scalar(number, float(argument), parameter)
    elif isinstance(argument, bool | int | float) and _takes(parameter, argument):
        # A parameter of bits takes a Python float as the float of its width.
        type_ = parameter.type
        if isinstance(argument, float):
            if not is_float(type_):
                type_ = f"f{8 * parameter.bytes}"
            return np.array(argument, DTYPES[type_]).tobytes()
        if is_float(type_):
            return np.array(argument, DTYPES[type_]).tobytes()
        if DTYPES[type_].itemsize == parameter.bytes and -(
            2 ** (8 * parameter.bytes - 1)
        ) <= argument < 2 ** (8 * parameter.bytes):
            return integer(argument, type_).tobytes()
    raise launch_error(
        f"argument {number} does not fit parameter '{parameter.name}', .{parameter.type} of {parameter.bytes} bytes",
        "give an array for a pointer, a number for a scalar, bytes of its size for a structure",
    )


def _takes(parameter: Parameter, argument: float) -> bool:
    if parameter.type not in DTYPES or parameter.bytes > 8:
        return False
    return not isinstance(argument, float) or parameter.type[0] not in "us"


def copy_in(passed: Passed, memory: Memory) -> None:
    for array, allocation in passed.arrays:
        memory.fill(allocation, array.tobytes())


def copy_out(passed: Passed, memory: Memory) -> None:
    for array, allocation in passed.arrays:
        if array.flags.writeable:
            array[...] = np.frombuffer(memory.contents(allocation), array.dtype).reshape(array.shape)
