"""The data of a problem: its description in JSON in, numpy arrays and C values out.

Needs numpy and the standard library alone, as everything that a measuring process imports::

    {"name": "a", "dtype": "float32", "pointer": true, "written": false, "shape": [8, 8], ...}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from comprehensive.loops.bfloat16 import to_bits


def drawn(arguments: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    """Arrays for all data by name, the same for the same description.

    Integers are within their bounds, and those that shall be ``distinct`` differ where the bounds leave room.  Where
    elements are ``bits``, they are those of ``bfloat16``.
    """
    arrays: dict[str, Any] = {}
    for number, argument in enumerate(arguments):
        if not argument["pointer"]:
            continue
        rng = np.random.default_rng((seed, number))
        shape, dtype = tuple(argument["shape"]), np.dtype(argument["dtype"])
        if argument.get("bits"):
            arrays[argument["name"]] = to_bits(rng.standard_normal(size=shape, dtype=np.float32))
        elif dtype.kind == "f":
            drawn_in: Any = np.float64 if dtype.itemsize == 8 else np.float32
            arrays[argument["name"]] = rng.standard_normal(size=shape, dtype=drawn_in)
            arrays[argument["name"]] = arrays[argument["name"]].astype(dtype, copy=False)
        elif argument.get("distinct") and argument["high"] - argument["low"] >= np.prod(shape, dtype=object):
            values: Any = np.arange(argument["low"], argument["high"], dtype=np.int64)
            order = rng.permutation(values).astype(dtype)
            arrays[argument["name"]] = order[: int(np.prod(shape))].reshape(shape)
        else:
            arrays[argument["name"]] = rng.integers(
                argument["low"], argument["high"], size=shape, dtype=dtype
            )
    return arrays


def written(arguments: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of the arrays that the function may write."""
    return tuple(a["name"] for a in arguments if a["pointer"] and a["written"])


def c_scalar(argument: Mapping[str, Any], value: float) -> Any:
    """The value of a scalar as C passes it."""
    type = np.ctypeslib.as_ctypes_type(np.dtype(argument["dtype"]))
    return type(value if np.dtype(argument["dtype"]).kind == "f" else int(value))
