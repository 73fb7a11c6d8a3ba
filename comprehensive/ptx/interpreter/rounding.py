"""Exact results as doubles that remember whether they are exact, and these rounded once to any format and mode.

A sum of doubles is ``s + e`` without an error (Knuth's two-sum); rounded to odd it is one double from which every
narrower format is reached with a single rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums")::

    narrow(to_odd(*two_sum(a, b)), "f32", "rz")
"""

from __future__ import annotations

import numpy as np

from comprehensive.ptx.interpreter.values import DTYPES, Array

CANONICAL = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}
"""The one NaN that arithmetic gives (PTX ISA, "Floating point instructions"); doubles keep what they are given."""


SMALLEST_NORMAL = {"f32": 2.0**-126, "f16": 2.0**-14}
_PRECISION = {"f32": 24, "f16": 11}
_TOWARDS = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``s`` and ``e`` with ``s + e == a + b``, ``s`` the rounded sum.

    ``e`` is NaN where ``s`` is not finite.
    """
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``p`` and ``e`` with ``p + e == a * b`` where nothing over- or underflows (Dekker)."""
    p = a * b
    ah, bh = _high(a), _high(b)
    al, bl = a - ah, b - bh
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def _high(a: Array) -> Array:
    """The upper 26 bits."""
    c = a * 134217729.0
    return c - (c - a)


def to_odd(s: Array, e: Array) -> Array:
    """Return ``s + e`` rounded to odd: where ``e`` is not zero the last bit is one."""
    inexact = (e != 0) & np.isfinite(s)
    if not inexact.any():
        return s
    bits = s.view(np.int64)
    outwards = (e > 0) == (s > 0)
    moved = np.where(outwards, bits + 1, bits - 1)
    return np.where(inexact & (bits & 1 == 0), moved, bits).view(np.float64)


def narrow(x: Array, type_: str, mode: str) -> Array:
    """Doubles to a narrower format (``f64`` leaves them); NaN becomes canonical."""
    if type_ == "f64":
        return x
    if type_ == "bf16":
        return _to_bf16(x, mode)
    nearest = x.astype(DTYPES[type_])
    result = directed(nearest, nearest.astype(np.float64), x, mode) if mode != "rn" else nearest
    return canonical(result, type_)


def is_subnormal(x: Array, type_: str, mode: str) -> Array:
    """Return whether doubles round below the normal numbers of a format as though exponents had no end.

    So does ``.ftz`` look at it.  ``narrow`` knows coarser steps there, which lead from further below up to a normal
    number.
    """
    size, normal = np.abs(x), SMALLEST_NORMAL[type_]
    step = normal * 2.0 ** -_PRECISION[type_]
    if mode == "rn":
        return size < normal - step / 2
    if mode == "rz":
        return size < normal
    outwards = (x < 0) == (mode == "rm")
    return np.where(outwards, size <= normal - step, size < normal)


def directed(nearest: Array, value: Array, exact: Array, mode: str) -> Array:
    """Return the number to which ``mode`` rounds the ``exact`` result.

    The number nearest to it is given, and as ``value`` what that is as a double.
    """
    return moved(nearest, (exact > value) - 1 * (exact < value), exact < 0, mode)


def moved(nearest: Array, side: Array, negative: Array, mode: str) -> Array:
    """Return the number to which ``mode`` rounds, given the nearest one.

    ``side`` is the sign of the exact result less the nearest.
    """
    if mode not in _TOWARDS:
        return nearest
    is_beyond = (
        np.where(negative, side > 0, side < 0) if mode == "rz" else side < 0 if mode == "rm" else side > 0
    )
    return np.where(is_beyond, np.nextafter(nearest, nearest.dtype.type(_TOWARDS[mode])), nearest)


def canonical(x: Array, type_: str) -> Array:
    """Return the numbers with the canonical NaN of the type in the place of every other NaN."""
    if type_ == "bf16":
        return np.where((x & 0x7FFF) > 0x7F80, np.uint16(CANONICAL["bf16"]), x)
    nan = np.isnan(x)
    if nan.any() and type_ in CANONICAL:
        word = DTYPES["b32" if type_ == "f32" else "b16"].type
        return np.where(nan, word(CANONICAL[type_]), x.view(word)).view(DTYPES[type_])
    return x


def widen(x: Array, type_: str) -> Array:
    """Any format to doubles, without an error."""
    if type_ == "bf16":
        return (x.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return x.astype(np.float64)


def _to_bf16(x: Array, mode: str) -> Array:
    nearest = x.astype(np.float32)
    wide = nearest.astype(np.float64)
    towards_zero = directed(nearest, wide, x, "rz")
    bits = towards_zero.view(np.uint32) | (towards_zero.astype(np.float64) != x).astype(np.uint32)
    high, rest = bits >> np.uint32(16), bits & np.uint32(0xFFFF)
    negative = (bits >> np.uint32(31)) != 0
    if mode == "rn":
        up = (rest > 0x8000) | ((rest == 0x8000) & (high & 1 != 0))
    elif mode == "rz":
        up = np.zeros(x.shape, np.bool_)
    else:
        up = (rest != 0) & (negative if mode == "rm" else ~negative)
    result = (high + up).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(CANONICAL["bf16"]), result)
