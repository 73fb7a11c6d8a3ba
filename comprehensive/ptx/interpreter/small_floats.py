"""Floats of 8 bits, e4m3 and e5m2, which only conversions know: decoded by a table, encoded by its search.

encode(np.array([448., 1e9]), "e4m3")       # array([0x7e, 0x7e]): saturated to the largest finite number
"""

from __future__ import annotations

import numpy as np

from comprehensive.ptx.interpreter.operation import Operation, has
from comprehensive.ptx.interpreter.rounding import narrow, widen
from comprehensive.ptx.interpreter.values import Array
from comprehensive.ptx.opcodes import Opcode

PAIRS = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}
_MANTISSA = {"e4m3": 3, "e5m2": 2}
_BIAS = {"e4m3": 7, "e5m2": 15}
_LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B}
_NAN = {"e4m3": 0x7F, "e5m2": 0x7F}


def _table(type_: str) -> Array:
    """The values of the 128 codes without a sign."""
    codes = np.arange(128)
    bits, bias = _MANTISSA[type_], _BIAS[type_]
    exponent, fraction = codes >> bits, codes & ((1 << bits) - 1)
    scale = 2.0 ** (np.maximum(exponent, 1) - bias - bits)
    values = (fraction + np.where(exponent > 0, 1 << bits, 0)) * scale
    values[_LARGEST[type_] + 1 :] = np.nan
    if type_ == "e5m2":
        values[0x7C] = np.inf
    return values


_TABLES = {type_: _table(type_) for type_ in _MANTISSA}


def decode(codes: Array, type_: str) -> Array:
    """Return codes of an 8-bit format as doubles."""
    values = _TABLES[type_][codes & 0x7F]
    return np.where(codes & 0x80 != 0, -values, values)


def encode(x: Array, type_: str) -> Array:
    """Doubles to the nearest, ties to even, what is too large to the largest finite."""
    finite = _TABLES[type_][: _LARGEST[type_] + 1]
    size = np.minimum(np.where(np.isnan(x), 0.0, np.abs(x)), finite[-1])
    above = np.minimum(np.searchsorted(finite, size), len(finite) - 1)
    below = np.maximum(above - 1, 0)
    middle = (finite[above] + finite[below]) / 2
    up = (size > middle) | ((size == middle) & (above % 2 == 0))
    codes = np.where(up | (finite[above] == size), above, below)
    codes = np.where(np.isnan(x), _NAN[type_], codes | np.where(np.signbit(x), 0x80, 0))
    return codes.astype(np.uint8)


def conversion(opcode: Opcode) -> Operation | None:
    """Two singles or a pair of halves to two bytes, and two bytes to a pair of halves."""
    to, source = opcode.types
    rectify = has(opcode, "relu")
    if to in PAIRS and source in ("f32", "f16x2", "bf16x2"):
        small = PAIRS[to]

        def shrink(*sources: Array) -> Array:
            if source == "f32":
                high, low = (part.astype(np.float64) for part in sources)
            else:
                high, low = (widen(half, source[:-2]) for half in _halves(sources[0], source))
            if rectify:
                high, low = (np.where(part < 0, 0.0, part) for part in (high, low))
            upper, lower = (encode(part, small).astype(np.uint16) for part in (high, low))
            return upper << np.uint16(8) | lower

        return Operation((source,) * (2 if source == "f32" else 1), (to,), shrink)
    if source in PAIRS and to == "f16x2":
        small = PAIRS[source]

        def grow(pair: Array) -> Array:
            upper, lower = (
                narrow(decode(code, small), "f16", "rn").view(np.uint16).astype(np.uint32)
                for code in (pair >> np.uint16(8), pair & np.uint16(0xFF))
            )
            return upper << np.uint32(16) | lower

        return Operation((source,), (to,), grow)
    return None


def _halves(pair: Array, type_: str) -> tuple[Array, Array]:
    """Return the upper and the lower half of each pair."""
    halves = ((pair >> np.uint32(16)).astype(np.uint16), pair.astype(np.uint16))
    return halves if type_ == "bf16x2" else (halves[0].view(np.float16), halves[1].view(np.float16))
