"""Arithmetic of floating-point numbers with PTX's rounding modes: arrays in, arrays of the same type out.

    arithmetic("fma", "f32", "rz")(a, b, c)

``f32`` and narrower formats are computed in doubles so that one rounding is left to do; doubles by exact integers where
the vectorised ways do not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from comprehensive.ptx.interpreter import exact
from comprehensive.ptx.interpreter.rounding import (
    CANONICAL,
    SMALLEST_NORMAL,
    canonical,
    is_subnormal,
    moved,
    narrow,
    to_odd,
    two_product,
    two_sum,
    widen,
)
from comprehensive.ptx.interpreter.values import DTYPES, Array, Computation, callable_of, unary

_TINY32 = float(np.finfo(np.float32).tiny)
_SAFE = (2.0**-400, 2.0**400)
"""The sizes between which no step of the fused multiply-add of doubles over- or underflows."""


def arithmetic(base: str, type_: str, mode: str) -> Computation:
    """Return the function of ``base`` (add, sub, mul, div, fma, sqrt, rcp) in a mode (rn, rz, rm, rp)."""
    if type_ == "f64":
        return _double(base, mode)
    if base == "sub":
        add = callable_of(arithmetic("add", type_, mode))
        return lambda a, b: add(a, _negated(b, type_))
    if base == "rcp":
        divide = callable_of(arithmetic("div", type_, mode))
        one = np.array(1, np.float32)
        return unary(lambda a: divide(np.broadcast_to(one, a.shape), a))
    if type_ == "f32":
        return _NATIVE[base] if mode == "rn" else _single(base, mode)
    return _short(base, type_, mode)


def _negated(x: Array, type_: str) -> Array:
    return x ^ np.uint16(0x8000) if type_ == "bf16" else -x


# --- single precision ----------------------------------------------------------------------------------------


def _fma32(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c`` rounded to single precision, by way of a double.

    Where rounding twice could differ from rounding once, the double is rounded to odd.
    """
    product = a.astype(np.float64) * b
    total = product + c
    result = total.astype(np.float32)
    # The second rounding sees a tie that the first has made, or has fewer bits than usual.
    doubtful = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    doubtful |= (np.abs(total) < _TINY32 * 2) & (total != 0)
    if doubtful.any():
        again = np.flatnonzero(doubtful)
        odd = to_odd(*two_sum(product[again], c[again].astype(np.float64)))
        result[again] = odd.astype(np.float32)
    return canonical(result, "f32")


_NATIVE: dict[str, Computation] = {
    "add": lambda a, b: canonical(a + b, "f32"),
    "mul": lambda a, b: canonical(a * b, "f32"),
    "div": lambda a, b: canonical(a / b, "f32"),
    "sqrt": unary(lambda a: canonical(np.sqrt(a), "f32")),
    "fma": _fma32,
}


def _single(base: str, mode: str) -> Computation:
    if base == "div":
        return lambda a, b: _divided(a, b, mode)
    if base == "sqrt":
        return unary(lambda a: _root(a, mode))
    return _short(base, "f32", mode)


def _divided(a: Array, b: Array, mode: str) -> Array:
    nearest = a / b
    wide, a64, b64 = nearest.astype(np.float64), a.astype(np.float64), b.astype(np.float64)
    # The product of two singles is exact: it tells on which side of the quotient the nearest lies.
    finite = np.isfinite(a64) & np.isfinite(b64) & (b64 != 0)
    product = np.where(np.isinf(wide), np.sign(wide) * np.sign(b64) * np.inf, wide * b64)
    side = np.where(finite, np.sign(a64 - product) * np.sign(b64), 0.0)
    return canonical(moved(nearest, side, a64 * b64 < 0, mode), "f32")


def _root(a: Array, mode: str) -> Array:
    nearest = np.sqrt(a)
    wide, a64 = nearest.astype(np.float64), a.astype(np.float64)
    side = np.where(np.isfinite(wide), np.sign(a64 - wide * wide), 0.0)
    return canonical(moved(nearest, side, a64 < 0, mode), "f32")


# --- formats that a double holds with room to spare ----------------------------------------------------------


def _short(base: str, type_: str, mode: str) -> Computation:
    def add(a: Array, b: Array) -> Array:
        return _sum(widen(a, type_), widen(b, type_), type_, mode)

    def multiply(a: Array, b: Array) -> Array:
        return narrow(widen(a, type_) * widen(b, type_), type_, mode)

    def fma(a: Array, b: Array, c: Array) -> Array:
        return _sum(widen(a, type_) * widen(b, type_), widen(c, type_), type_, mode)

    return {"add": add, "mul": multiply, "fma": fma}[base]


def _sum(a: Array, b: Array, type_: str, mode: str) -> Array:
    s, e = two_sum(a, b)
    s = to_odd(s, e)
    if mode == "rm":
        s = _cancelled(s, a, b)
    return narrow(s, type_, mode)


def _cancelled(s: Array, a: Array, b: Array) -> Array:
    """Rounding down, what cancels is minus zero."""
    return np.where((s == 0) & ((a != 0) | (np.signbit(a) != np.signbit(b))), -0.0, s)


# --- double precision ----------------------------------------------------------------------------------------


_LATER = {
    "add": (0, 1),
    "sub": (0, 1),
    "mul": (0, 1),
    "fma": (0, 2, 1),
    "div": (1, 0),
    "sqrt": (0,),
    "rcp": (0,),
}
"""The sources in the order in which a double's NaN is chosen: it is that of the last one that is NaN."""


def _double(base: str, mode: str) -> Computation:
    function, order = callable_of(_numbers64(base, mode)), _LATER[base]

    def complete(*sources: Array) -> Array:
        result = function(*sources)
        nan = np.isnan(result)
        return _payload(result, nan, [sources[place] for place in order]) if nan.any() else result

    return complete


def _numbers64(base: str, mode: str) -> Computation:
    """Return the function on doubles, right but for what a NaN is."""
    if base == "sub":
        add = callable_of(_numbers64("add", mode))
        return lambda a, b: add(a, -b)
    if base == "rcp":
        divide = callable_of(_numbers64("div", mode))
        return unary(lambda a: divide(np.ones(a.shape), a))
    if mode == "rn":
        nearest: dict[str, Computation] = {
            "add": np.add,
            "mul": np.multiply,
            "div": np.divide,
            "sqrt": np.sqrt,
            "fma": _fma64,
        }
        return nearest[base]
    if base == "add":
        return lambda a, b: _sum64(a, b, mode)
    return _exactly(_EXACT[base], mode)


_EXACT: dict[str, Callable[..., float]] = {
    "mul": exact.multiply,
    "div": exact.divide,
    "sqrt": exact.square_root,
    "fma": exact.fma,
}


def _exactly(function: Callable[..., float], mode: str) -> Computation:
    def rounded(*sources: Array) -> Array:
        return exact.each(function, mode, *sources)

    return rounded


def _payload(result: Array, nan: Array, sources: list[Array]) -> Array:
    """NaN of doubles: the last source that is one, made quiet, or the default of the hardware."""
    bits = np.array(result).view(np.uint64)
    value = np.full(bits.shape, 0xFFF8000000000000, np.uint64)
    for source in sources:
        source64 = np.broadcast_to(source, bits.shape)
        value = np.where(np.isnan(source64), quiet(source64).view(np.uint64), value)
    return np.where(nan, value, bits).view(np.float64)


def quiet(x: Array) -> Array:
    """NaN of doubles made quiet; nothing else may be among them where it counts."""
    return (np.ascontiguousarray(x).view(np.uint64) | np.uint64(1 << 51)).view(np.float64)


def _sum64(a: Array, b: Array, mode: str) -> Array:
    s, e = two_sum(a, b)
    side = np.where(np.isfinite(s), np.sign(e), np.where(np.isfinite(a) & np.isfinite(b), -np.sign(s), 0.0))
    # Near the largest number the error term overflows.
    large = (np.abs(s) > 2.0**1022) & np.isfinite(a) & np.isfinite(b)
    result = moved(s, side, s < 0, mode)
    if large.any():
        one = np.ones(1)
        result[large] = exact.each(exact.fma, mode, a[large], one, b[large])
    return _cancelled(result, a, b) if mode == "rm" else result


def _fma64(a: Array, b: Array, c: Array) -> Array:
    """Boldo and Melquiond's, where nothing over- or underflows; elsewhere by integers."""
    p = a * b
    size, addend = np.abs(p), np.abs(c)
    low, high = _SAFE
    safe = (size > low) & (size < high) & (((addend > low) & (addend < high)) | (addend == 0))
    safe &= (np.abs(a) < high) & (np.abs(b) < high)
    # A factor that is zero or not finite makes no rounding but that of the sum.
    plain = ~safe & ((a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c))
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    result = vh + to_odd(*two_sum(tl, vl))
    if plain.any():
        # A finite product that overflows does not count beside an infinity.
        beside = np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c)
        result = np.where(plain, np.where(beside, c, p + c), result)
    rest = np.flatnonzero(~(safe | plain))
    if len(rest):
        result[rest] = exact.each(exact.fma, "rn", a[rest], b[rest], c[rest])
    return result


# --- what changes operands and results -----------------------------------------------------------------------


def flushed(x: Array, type_: str) -> Array:
    """Subnormal numbers to zeros of their sign (``.ftz``)."""
    if type_ == "f32":
        return np.where(np.abs(x) < np.float32(_TINY32), np.copysign(np.float32(0), x), x)
    if type_ == "f16":
        return np.where(np.abs(x) < np.float16(2.0**-14), np.copysign(np.float16(0), x), x)
    return x


def flushed_result(result: Array, base: str, type_: str, mode: str, sources: Sequence[Array]) -> Array:
    """Results to zeros (``.ftz``), also where only the coarse steps of subnormal numbers lead up to a normal one."""
    result = flushed(result, type_)
    if base not in ("mul", "fma", "div"):
        return result
    border = np.flatnonzero(np.abs(result) == DTYPES[type_].type(SMALLEST_NORMAL[type_]))
    if len(border):
        a, b, *addend = (widen(source[border], type_) for source in sources)
        product = a / b if base == "div" else a * b
        precise = to_odd(*two_sum(product, addend[0])) if addend else product
        result[border] = np.where(
            is_subnormal(precise, type_, mode), np.copysign(result[border] * 0, precise), result[border]
        )
    return result


def saturated(x: Array, type_: str) -> Array:
    """Clamp numbers to [0, 1]; NaN becomes 0 (``.sat``)."""
    if type_ == "bf16":
        wide = (x.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return (saturated(wide, "f32").view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    one = x.dtype.type
    return np.where(x > 0, np.minimum(x, one(1)), one(0))


def rectified(x: Array, type_: str) -> Array:
    """Negative numbers to 0 (``.relu``); NaN stays."""
    if type_ == "bf16":
        return np.where((x >= 0x8000) & (x <= 0xFF80), np.uint16(0), x)
    return np.where((x < 0) | (x == 0), x.dtype.type(0), x)


# --- minimum, maximum, sign ----------------------------------------------------------------------------------


def extreme(type_: str, largest: bool, propagates_nan: bool, xors_sign: bool) -> Computation:
    """min and max: NaN counts as missing, or wins with ``.NaN``; minus zero is less than zero."""

    def choose(a: Array, b: Array) -> Array:
        negative = (np.signbit(a) != np.signbit(b)) & xors_sign
        if xors_sign:
            a, b = np.abs(a), np.abs(b)
        before = (a > b) | ((a == b) & (np.signbit(a) < np.signbit(b)))
        if not largest:
            before = (a < b) | ((a == b) & (np.signbit(a) > np.signbit(b)))
        nan_a, nan_b = np.isnan(a), np.isnan(b)
        result = np.where(before, a, b)
        if propagates_nan:
            result = np.where(nan_a, a, result)
        else:
            result = np.where(nan_b, a, result)
        result = np.where(negative & ~np.isnan(result), -result, result)
        if type_ == "f64":
            return np.where(nan_a & nan_b, quiet(b), result)
        return canonical(result, type_)

    if type_ != "bf16":
        return choose

    wide_choice = callable_of(extreme("f32", largest, propagates_nan, xors_sign))

    def choose_bf16(a: Array, b: Array) -> Array:
        wide = wide_choice(widen(a, "bf16").astype(np.float32), widen(b, "bf16").astype(np.float32))
        bits = (wide.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(wide), np.uint16(CANONICAL["bf16"]), bits)

    return choose_bf16


def magnitude(x: Array, type_: str) -> Array:
    """Return the operation abs, an addition to the hardware: NaN is that of additions, with its own sign."""
    if type_ == "f64":
        return np.where(np.isnan(x), quiet(x), np.abs(x))
    return canonical(x & np.uint16(0x7FFF) if type_ == "bf16" else np.abs(x), type_)


def opposite(x: Array, type_: str) -> Array:
    """Return the negated numbers; NaN as in :func:`magnitude`."""
    if type_ == "f64":
        return np.where(np.isnan(x), quiet(x), -x)
    return canonical(_negated(x, type_), type_)


def fix_mode(x: Array, mode: str) -> Array:
    """Round to whole numbers as the mode says: rni, rzi, rmi or rpi."""
    return {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](x)
