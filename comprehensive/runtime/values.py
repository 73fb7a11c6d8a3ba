"""Arguments of generated and serial functions: Python values and numpy arrays in, C values out.

    as_scalar(Argument("n", ScalarType.INT), 5)      -->  ctypes.c_int(5)
    as_pointer(Argument("a", ScalarType.FLOAT, pointer=True), array)  -->  the address of its elements

Arrays are used in place: they must be contiguous, of the element type, and writable where a function writes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import Argument

if TYPE_CHECKING:
    import numpy

Array: TypeAlias = "numpy.ndarray[Any, Any]"
Value: TypeAlias = "int | float | Array | None"
"""The value of an argument; None is a null pointer."""

_BY_NAME: Mapping[str, Any] = {
    "bool": ctypes.c_bool,
    **{
        f"{kind}int{bits}": getattr(ctypes, f"c_{kind}int{bits}")
        for kind in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def c_type(type: ScalarType) -> Any:
    """The type of :mod:`ctypes` for values of a type."""
    return _BY_NAME[type.numpy_name]


def as_scalar(argument: Argument, value: Value) -> Any:
    """The value as C passes it. OverflowError for an integer that its type does not hold."""
    assert value is not None, f"{argument.name} is a scalar"
    if not argument.type.is_integer:
        return c_type(argument.type)(float(value))
    number = int(value)
    converted = c_type(argument.type)(number)
    if converted.value != number:
        raise OverflowError(f"{argument.name} = {number} does not fit into {argument.type.value}")
    return converted


def as_array(argument: Argument, value: Value) -> Array:
    """The array itself. TypeError where it is none of the right type and layout."""
    import numpy

    wanted = argument.type.numpy_name
    if not isinstance(value, numpy.ndarray) or value.dtype != wanted:
        raise TypeError(f"{argument.name} must be an array of {wanted}")
    if not value.flags.c_contiguous or not (argument.const or value.flags.writeable):
        raise TypeError(f"{argument.name} must be contiguous and writable")
    return value


def as_pointer(argument: Argument, value: Value) -> ctypes.c_void_p:
    """The address of the elements, or null; the caller keeps the array alive."""
    return ctypes.c_void_p(None) if value is None else ctypes.c_void_p(as_array(argument, value).ctypes.data)
