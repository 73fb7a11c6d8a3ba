"""cvt: between all types of numbers, with rounding, saturation and flushes.

operation_of(opcode("cvt.rzi.s32.f32"))      # towards zero; what is too large becomes the largest; NaN 0
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter import small_floats
from comprehensive.ptx.interpreter.floats import fix_mode, flushed, rectified, saturated
from comprehensive.ptx.interpreter.operation import Builder, Operation, element_of, first, has, rounding
from comprehensive.ptx.interpreter.rounding import (
    canonical,
    directed,
    is_subnormal,
    narrow,
    to_odd,
    two_sum,
    widen,
)
from comprehensive.ptx.interpreter.values import DTYPES, ELEMENT, Array, is_float
from comprehensive.ptx.opcodes import Opcode

Function = Callable[[Array], Array]


def conversion(opcode: Opcode) -> Operation | None:
    if len(opcode.types) != 2 or has(opcode, "pack"):
        return None
    to, source = opcode.types
    if to in small_floats.PAIRS or source in small_floats.PAIRS:
        return small_floats.conversion(opcode)
    if to == "tf32":
        return _to_tf32(opcode)
    if to in ELEMENT or source in ELEMENT:
        return _to_pair(opcode, to, source)
    if is_float(to):
        function = _float_to_float(opcode, to, source) if is_float(source) else _to_float(opcode, to, source)
    else:
        function = _to_integer(opcode, to, source) if is_float(source) else _resized(opcode, to, source)
    return Operation((source,), (to,), function)


def _resized(opcode: Opcode, to: str, source: str) -> Function:
    """Integers: bits are cut off or the sign is spread; with ``.sat`` clamped."""
    dtype = DTYPES[to]
    if not has(opcode, "sat"):
        return lambda a: a.astype(dtype)
    low, high = limits(to)
    source_low, source_high = limits(source)
    low, high = max(low, source_low), min(high, source_high)
    of = DTYPES[source].type
    return lambda a: np.clip(a, of(low), of(high)).astype(dtype)


def limits(type_: str) -> tuple[int, int]:
    information = np.iinfo(DTYPES[type_])
    return int(information.min), int(information.max)


def _to_float(opcode: Opcode, to: str, source: str) -> Function:
    mode = rounding(opcode)
    saturate = has(opcode, "sat")

    def function(a: Array) -> Array:
        if a.dtype.itemsize < 8:
            result = narrow(a.astype(np.float64), to, mode)
        else:
            # The halves are exact as doubles.
            high = (a >> a.dtype.type(32)).astype(np.float64) * 2.0**32
            s, e = two_sum(high, (a & a.dtype.type(0xFFFFFFFF)).astype(np.float64))
            if to == "f64":
                # A double that lies on the side of the exact number, for the mode to look at.
                beside = np.where(
                    e > 0, np.nextafter(s, np.inf), np.where(e < 0, np.nextafter(s, -np.inf), s)
                )
                result = directed(s, s, beside, mode)
            else:
                result = narrow(to_odd(s, e), to, mode)
        return saturated(result, to) if saturate else result

    return function


def _to_integer(opcode: Opcode, to: str, source: str) -> Function:
    mode = first(opcode, ("rni", "rzi", "rmi", "rpi")) or "rzi"
    flush = has(opcode, "ftz")
    dtype = DTYPES[to]
    low, high = limits(to)
    # PTX ISA, cvt: what NaN becomes.
    nan = 0 if source != "f64" and dtype.itemsize < 8 else 1 << (8 * dtype.itemsize - 1)
    nan_value = np.array(nan, f"uint{8 * dtype.itemsize}").view(dtype)

    def function(a: Array) -> Array:
        whole = fix_mode(widen(flushed(a, source) if flush else a, source), mode)
        above, below = whole >= float(high) + (high < 2**53), whole <= low
        inside = np.where(above | below | np.isnan(whole), 0.0, whole).astype(dtype)
        result = np.where(above, dtype.type(high), np.where(below, dtype.type(low), inside))
        return np.where(np.isnan(whole), nan_value, result)

    return function


def _float_to_float(opcode: Opcode, to: str, source: str) -> Function:
    mode = rounding(opcode)
    whole = first(opcode, ("rni", "rzi", "rmi", "rpi"))
    flush, saturate, rectify = has(opcode, "ftz"), has(opcode, "sat"), has(opcode, "relu")

    if to == source and to != "f16" and whole is None and not (flush or saturate or rectify):
        return lambda a: a  # ptxas makes a move of it.
    # A move keeps a NaN, and what goes from or to a double; all others give the canonical one.
    is_move = (source, to) == ("bf16", "f32") and not flush
    keeps_nan = to != source and not rectify and (is_move or "f64" in (source, to))

    def function(a: Array) -> Array:
        if flush:
            a = canonical(flushed(a, source), source)
        x = widen(a, source)
        if whole is not None:
            x = fix_mode(x, whole)
        result = narrow(x, to, mode)
        if flush and to == "f32":
            result = np.where(is_subnormal(x, to, mode), np.copysign(np.float32(0), x), result)
        if keeps_nan:
            nan = np.isnan(x)
            result = np.where(nan, moved_nan(a, source, to, not is_move), result) if nan.any() else result
        if saturate:
            result = saturated(result, to)
        return rectified(result, to) if rectify else result

    return function


_FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
"""Bits behind the point."""


def moved_nan(a: Array, source: str, to: str, quiets: bool) -> Array:
    """NaN of another format with the sign and the upper bits that it had; nothing else may be among them."""
    bits = a.view(f"u{a.dtype.itemsize}").astype(np.uint64)
    fraction, width = _FRACTION[to], 8 * DTYPES[to].itemsize
    sign = bits >> np.uint64(8 * a.dtype.itemsize - 1) << np.uint64(width - 1)
    rest = bits << np.uint64(64 - _FRACTION[source]) >> np.uint64(64 - fraction)
    ones = (1 << (width - 1)) - (1 << (fraction - quiets))
    return (sign | rest | np.uint64(ones)).astype(f"u{width // 8}").view(DTYPES[to])


def _to_pair(opcode: Opcode, to: str, source: str) -> Operation | None:
    """Two singles to a pair of 16 bits: the first becomes the upper half."""
    if source != "f32" or to not in ("f16x2", "bf16x2"):
        return None
    element = element_of(to)
    convert = _float_to_float(opcode, element, "f32")

    def function(high: Array, low: Array) -> Array:
        upper, lower = (convert(half).view(np.uint16).astype(np.uint32) for half in (high, low))
        return upper << np.uint32(16) | lower

    return Operation(("f32", "f32"), (to,), function)


def _to_tf32(opcode: Opcode) -> Operation | None:
    """10 bits behind the point; ``rna`` is to the nearest, halves away from zero, and keeps upper bits of NaN."""
    mode, rectify = rounding(opcode), has(opcode, "relu")

    def function(a: Array) -> Array:
        bits = a.view(np.uint32)
        step = {"rna": np.uint32(0x1000), "rz": np.uint32(0)}.get(mode)
        if step is None:
            step = np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
        rounded = np.where(np.isfinite(a), bits + step, bits) & np.uint32(0xFFFFE000)
        if mode != "rna":
            rounded = np.where(np.isnan(a), np.uint32(0x7FFFE000), rounded)
        return rectified(rounded.view(np.float32), "f32").view(np.uint32) if rectify else rounded

    return Operation(("f32",), ("tf32",), function)


BUILDERS: dict[str, Builder] = {"cvt": conversion}
