"""The functions of the C library that a region may call: pure, and there on every device.

In: a name.  Out: its signature; the device has all of them under the same name::

    MATH["fmaf"] == Signature((FLOAT, FLOAT, FLOAT), FLOAT)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from comprehensive.metafork.ast import ScalarType

_F, _D, _I, _L = ScalarType.FLOAT, ScalarType.DOUBLE, ScalarType.INT, ScalarType.LONG
_X = ScalarType.LONG_LONG


class Signature(NamedTuple):
    """Arguments are converted to these types, as by a prototype in C.

    A macro for all floating-point types keeps an argument that is a ``float`` (``of_any_width``).
    """

    arguments: tuple[ScalarType, ...]
    result: ScalarType
    of_any_width: bool = False

    def wanted(self, given: Sequence[ScalarType]) -> tuple[ScalarType, ...]:
        """Return the types to which promoted arguments of these types are converted."""
        if not self.of_any_width:
            return self.arguments
        return tuple(_F if kind is _F else other for kind, other in zip(given, self.arguments, strict=True))


_ONE_ARGUMENT = (
    *("sqrt", "cbrt", "fabs", "floor", "ceil", "trunc", "round", "rint"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_TO_INTEGERS = {"lrint": _L, "lround": _L, "llrint": _X, "llround": _X}
_OF_A_KIND = ("isnan", "isinf", "isfinite", "signbit")
_TWO_ARGUMENTS = ("fmin", "fmax", "fdim", "fmod", "copysign", "pow", "hypot", "atan2")

MATH: dict[str, Signature] = {
    **{f"{name}f": Signature((_F,), _F) for name in _ONE_ARGUMENT},
    **{name: Signature((_D,), _D) for name in _ONE_ARGUMENT},
    **{f"{name}f": Signature((_F, _F), _F) for name in _TWO_ARGUMENTS},
    **{name: Signature((_D, _D), _D) for name in _TWO_ARGUMENTS},
    "fmaf": Signature((_F, _F, _F), _F),
    "fma": Signature((_D, _D, _D), _D),
    **{f"{name}f": Signature((_F,), result) for name, result in _TO_INTEGERS.items()},
    **{name: Signature((_D,), result) for name, result in _TO_INTEGERS.items()},
    **{name: Signature((_D,), _I, of_any_width=True) for name in _OF_A_KIND},
    "abs": Signature((_I,), _I),
    "labs": Signature((_L,), _L),
}
"""The signatures of mathematical functions, by name."""

TRUTHS = frozenset(("isinf", "signbit"))
"""Functions of which C says only that they are not 0: compilers give 1, -1 (``isinf`` of glibc) or another number."""

NOT_A_NUMBER = "__builtin_nanf"
"""The name under which ``specs/headers/math.h`` has NAN: no quotient of constants has its sign with every compiler."""

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
