"""The functions of the C library that a region may call: pure, and there on every device.

In: a name.  Out: its signature; the device has all of them under the same name::

    MATH["fmaf"] == Signature((FLOAT, FLOAT, FLOAT), FLOAT)
"""

from __future__ import annotations

from typing import NamedTuple

from comprehensive.metafork.ast import ScalarType

_F, _D, _I, _L = ScalarType.FLOAT, ScalarType.DOUBLE, ScalarType.INT, ScalarType.LONG


class Signature(NamedTuple):
    """Arguments are converted to these types, as by a prototype in C."""

    arguments: tuple[ScalarType, ...]
    result: ScalarType


_ONE_ARGUMENT = (
    *("sqrt", "cbrt", "fabs", "floor", "ceil", "trunc", "round", "rint"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_TWO_ARGUMENTS = ("fmin", "fmax", "fdim", "fmod", "copysign", "pow", "hypot", "atan2")

MATH: dict[str, Signature] = {
    **{f"{name}f": Signature((_F,), _F) for name in _ONE_ARGUMENT},
    **{name: Signature((_D,), _D) for name in _ONE_ARGUMENT},
    **{f"{name}f": Signature((_F, _F), _F) for name in _TWO_ARGUMENTS},
    **{name: Signature((_D, _D), _D) for name in _TWO_ARGUMENTS},
    "fmaf": Signature((_F, _F, _F), _F),
    "fma": Signature((_D, _D, _D), _D),
    "abs": Signature((_I,), _I),
    "labs": Signature((_L,), _L),
}
"""The signatures of mathematical functions, by name."""

_H, _B = ScalarType.HALF, ScalarType.BFLOAT16

CONVERSIONS: dict[str, Signature] = {
    "__half2float": Signature((_H,), _F),
    **dict.fromkeys(("__float2half", "__float2half_rn"), Signature((_F,), _H)),
    "__double2half": Signature((_D,), _H),
    "__bfloat162float": Signature((_B,), _F),
    **dict.fromkeys(("__float2bfloat16", "__float2bfloat16_rn"), Signature((_F,), _B)),
    "__double2bfloat16": Signature((_D,), _B),
}
"""The conversions of storage types as CUDA calls them, by name: in a region they are casts."""
