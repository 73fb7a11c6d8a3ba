"""One rounding of exact results, by integers: slow, for what the vectorised ways do not reach.

    fma(0.1, 10.0, -1.0, "rn")        # 5.551115123125783e-17

A finite number is ``mantissa * 2**exponent``; ``sticky`` says that something smaller, but not zero, follows.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter.values import Array

PRECISION = 53
LOWEST = -1074
"""The exponent of the smallest subnormal number."""
LARGEST = struct.unpack("<d", b"\xff\xff\xff\xff\xff\xff\xef\x7f")[0]


def parts(x: float) -> tuple[int, int]:
    """Mantissa and exponent of a finite number."""
    fraction, exponent = math.frexp(x)
    return int(math.ldexp(fraction, PRECISION)), exponent - PRECISION


def rounded(mantissa: int, exponent: int, mode: str, *, sticky: bool = False) -> float:
    """The double next to ``mantissa * 2**exponent``; zero must be exact and is positive."""
    negative, size = mantissa < 0, abs(mantissa)
    if size == 0:
        return 0.0
    drop = max(size.bit_length() - PRECISION, LOWEST - exponent)
    if drop <= 0:
        # As many bits as a rounding needs: what is sticky lies below them.
        size, exponent, drop = size << (2 - drop), exponent - 2 + drop, 2
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << (drop - 1)
    inexact = rest != 0 or sticky
    if mode == "rn":
        up = rest > half or (rest == half and (sticky or kept & 1 == 1))
    else:
        up = inexact and mode == ("rm" if negative else "rp")
    kept += up
    exponent += drop
    if kept.bit_length() + exponent > 1024:
        towards_zero = mode == "rz" or mode == ("rp" if negative else "rm")
        value = LARGEST if towards_zero else math.inf
    else:
        value = math.ldexp(kept, exponent)
    return -value if negative else value


def fma(a: float, b: float, c: float, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return _product(a, b) + c
    if not math.isfinite(c):
        # Also where the rounded product would be infinite.
        return c
    (ma, ea), (mb, eb), (mc, ec) = parts(a), parts(b), parts(c)
    mantissa, exponent = ma * mb, ea + eb
    if mantissa == 0 and mc == 0:
        return _zero(math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c), mode)
    if mantissa == 0:
        return c
    if mc == 0:
        return rounded(mantissa, exponent, mode)
    low = min(exponent, ec)
    total = (mantissa << (exponent - low)) + (mc << (ec - low))
    if total == 0:
        return -0.0 if mode == "rm" else 0.0
    return rounded(total, low, mode)


def multiply(a: float, b: float, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return _product(a, b)
    (ma, ea), (mb, eb) = parts(a), parts(b)
    return rounded(ma * mb, ea + eb, mode)


def divide(a: float, b: float, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.float64(a) / np.float64(b))
    (ma, ea), (mb, eb) = parts(a), parts(b)
    quotient, rest = divmod(abs(ma) << 120, abs(mb))
    sign = -1 if (ma < 0) != (mb < 0) else 1
    return rounded(sign * quotient, ea - eb - 120, mode, sticky=rest != 0)


def square_root(a: float, mode: str) -> float:
    if not math.isfinite(a) or a <= 0:
        return float(np.sqrt(np.float64(a)))
    mantissa, exponent = parts(a)
    shift = 120 + (exponent & 1)
    root = math.isqrt(mantissa << shift)
    return rounded(root, (exponent - shift) // 2, mode, sticky=root * root != mantissa << shift)


def each(function: Callable[..., float], mode: str, *arrays: Array) -> Array:
    """A function of this module on arrays of doubles."""
    columns = zip(*(array.tolist() for array in np.broadcast_arrays(*arrays)), strict=True)
    return np.array([function(*row, mode) for row in columns], np.float64)


def _product(a: float, b: float) -> float:
    return float(np.float64(a) * np.float64(b))


def _zero(product: float, addend: float, mode: str) -> float:
    """The sum of two zeros, given by their signs."""
    if product == addend:
        return math.copysign(0.0, product)
    return -0.0 if mode == "rm" else 0.0
