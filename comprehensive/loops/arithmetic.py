"""C arithmetic on Python values: what the reference interpreter calls where an operator is not enough.

Values: ``int`` for the integer types, ``numpy.float32`` for ``float`` (every operation rounds) and for the storage
types below it, Python ``float`` for ``double``.  Integers follow LP64.  Example: ``divide(-7, 2, ...)`` is ``-3``, as
in C and unlike Python.

Functions of ``float`` (``sqrtf``, ``expf``...) are computed in double and rounded once; that is exact for
``sqrtf``, ``fabsf``, ``fminf``, ``floorf`` and the like, and within one unit in the last place for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.c_integers import divided

Value = int | float | np.float32


class UndefinedBehaviour(Exception):  # noqa: N818 - the C standard's noun
    """The program does what C leaves undefined: overflow, division by zero, a subscript out of bounds..."""

    def __init__(self, message: str, span: Span = GENERATED) -> None:
        super().__init__(message if span is GENERATED else f"{span}: {message}")
        self.message = message
        self.span = span


class EndlessLoopError(Exception):
    """A run takes more turns of loops than it may: it does not end, or not soon."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message if span is GENERATED else f"{span}: {message}")
        self.message = message
        self.span = span


class SpanTable:
    """The places of operations that can fail, by the number that the compiled code carries."""

    def __init__(self) -> None:
        self._entries: list[tuple[Span, str]] = []

    def add(self, span: Span, what: str = "") -> int:
        self._entries.append((span, what))
        return len(self._entries) - 1

    def overflow(self, number: int) -> NoReturn:
        self.fail(number, "signed overflow")

    def fail(self, number: int, message: str) -> NoReturn:
        span, what = self._entries[number]
        raise UndefinedBehaviour(f"{message}{what}", span)

    def endless(self, number: int, turns: int) -> NoReturn:
        raise EndlessLoopError(f"this loop has not ended after {turns} turns", self._entries[number][0])

    def bounds(self, number: int, index: int, dimension: int, extent: int) -> NoReturn:
        self.fail(number, f"index {index} is outside 0..{extent - 1} in dimension {dimension} of ")

    def uninitialised(self, number: int) -> NoReturn:
        self.fail(number, "an element is read before it has a value: ")

    # Integer operations that Python does not have in the sense of C, in a type with values from `low` to `high`.

    def divide(self, a: int, b: int, high: int, number: int) -> int:
        if b == 0:
            self.fail(number, "division by zero")
        quotient = divided(a, b)
        if quotient > high:
            self.overflow(number)
        return quotient

    def remainder(self, a: int, b: int, high: int, number: int) -> int:
        return a - self.divide(a, b, high, number) * b

    def shift_left(self, a: int, b: int, low: int, high: int, number: int) -> int:
        if not 0 <= b < (high - low).bit_length():
            self.fail(number, f"shift by {b} bits")
        if low == 0:
            return (a << b) & high
        if a < 0 or a << b > high:
            self.overflow(number)
        return a << b

    def shift_right(self, a: int, b: int, low: int, high: int, number: int) -> int:
        if not 0 <= b < (high - low).bit_length():
            self.fail(number, f"shift by {b} bits")
        return a >> b

    def truncate(self, x: float | np.float32, low: int, high: int, number: int) -> int:
        """Floating point to an integer type that holds ``low`` to ``high``."""
        if not math.isfinite(x) or not low <= (result := int(x)) <= high:
            self.fail(number, f"the integer type cannot hold {float(x)!r}")
        return result

    def absolute(self, a: int, high: int, number: int) -> int:
        if -a > high:
            self.overflow(number)
        return abs(a)


def int_to_float(x: int) -> np.float32:
    """Rounds once, also where the integer does not fit into a double."""
    if -(2**53) <= x <= 2**53:
        return np.float32(x)
    return (np.int64(x) if x < 2**63 else np.uint64(x)).astype(np.float32)


def as_half(x: float | np.float32) -> np.float32:
    """The nearest value of ``half``; a ``double`` is rounded once."""
    return np.float32(np.float16(x))


def as_bfloat16(x: float | np.float32) -> np.float32:
    """The nearest value of ``bfloat16``, ties to even; a ``double`` is rounded once."""
    with np.errstate(all="ignore"):
        near = np.float32(x)
        if not np.isfinite(near):
            return near
        # Where the double is between two floats, the one of the two whose last bit is set decides as the double does.
        inexact = float(near) != float(x)
        if inexact and int(near.view(np.uint32)) & 1 == 0:
            near = np.nextafter(near, np.float32(math.copysign(math.inf, float(x) - float(near))))
    bits = int(near.view(np.uint32))
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.uint32(rounded).view(np.float32)


def divide_double(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def float_literal(text: str, type: ScalarType) -> float | np.float32:
    """The value of a floating literal, rounded to its type once."""
    value = float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)
    if type is ScalarType.DOUBLE:
        return value
    if value == 0.0 or not math.isfinite(value) or text[:2] in ("0x", "0X"):
        return np.float32(value)
    return round_to_float(Fraction(text))


def round_to_float(exact: Fraction) -> np.float32:
    """The nearest ``float``, ties to even."""
    with np.errstate(all="ignore"):
        near = np.float32(float(exact))
        if not np.isfinite(near):
            return near
        # Rounding to double first can only go wrong on a tie: the neighbours tell.
        below, above = np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))
    candidates = [c for c in (below, near, above) if np.isfinite(c)]
    return min(candidates, key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view(np.uint32)) & 1))


# --- functions of the C library (metafork/functions.py) ------------------------------------------------------


def _of_numpy(function: Callable[..., Any]) -> Callable[..., float]:
    """The function on Python's numbers; like C's it has values where Python's own would raise."""

    def computed(*arguments: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, arguments)))

    return computed


def _sqrt(x: float) -> float:
    return math.nan if x < 0.0 else math.sqrt(x)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x == 0.0:
        return -math.inf
    return math.nan if x < 0.0 else math.log(x)


def _sin(x: float) -> float:
    return math.nan if math.isinf(x) else math.sin(x)


def _cos(x: float) -> float:
    return math.nan if math.isinf(x) else math.cos(x)


def _round(x: float) -> float:
    """Round to the nearest integer, halves away from zero."""
    if not math.isfinite(x):
        return x
    whole = math.trunc(x)
    away = abs(x - whole) >= 0.5
    return math.copysign(float(abs(whole) + away), x)


def _difference(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return x - y if x > y else 0.0


def _min(x: float, y: float) -> float:
    return y if math.isnan(x) or y < x else x


def _max(x: float, y: float) -> float:
    return y if math.isnan(x) or y > x else x


def _fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return x * y + z  # the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fma_float(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
    """Return what ``fmaf`` returns, rounded once."""
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return np.float32(x * y + z)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    return round_to_float(exact) if exact else np.float32(x * y + z)


FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": _sqrt,
    "fabs": math.fabs,
    "exp": _exp,
    "log": _log,
    "sin": _sin,
    "cos": _cos,
    "erf": math.erf,
    "erfc": math.erfc,
    "round": _round,
    "fdim": _difference,
    **{
        name: _of_numpy(getattr(np, numpy_name))
        for name, numpy_name in (
            *((same, same) for same in ("cbrt", "trunc", "rint", "exp2", "expm1", "log2", "log10", "log1p")),
            *(
                (same, same)
                for same in ("floor", "ceil", "tan", "sinh", "cosh", "tanh", "fmod", "copysign", "hypot")
            ),
            ("pow", "float_power"),
            *((f"a{name}", f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")),
        )
    },
    "fmin": _min,
    "fmax": _max,
    "fma": _fma,
}
"""The functions by their names for ``double``; the name for ``float`` ends in ``f``."""

TO_INTEGERS = {"lrint": "rint", "lround": "round", "llrint": "rint", "llround": "round"}
"""The functions that round to integers, by their names for ``double``, and those that find the number."""


KINDS: dict[str, Callable[[float], int]] = {
    "isnan": lambda x: int(math.isnan(x)),
    "isinf": lambda x: int(math.isinf(x)),
    "isfinite": lambda x: int(math.isfinite(x)),
    "signbit": lambda x: int(math.copysign(1.0, x) < 0),
}
"""The functions that say of which kind a number is, of ``float`` and ``double`` alike."""
