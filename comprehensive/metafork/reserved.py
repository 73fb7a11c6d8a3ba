"""Names that C allows and generated CUDA C++ does not.

In: nothing.  Out: the names that no parameter, host scalar or local of a region may have, and those that only a
local may have.
"""

from __future__ import annotations

_CPP_ONLY = """
alignas alignof and and_eq asm auto bitand bitor bool catch class compl concept const_cast constexpr
decltype delete dynamic_cast explicit export extern false friend inline mutable namespace new noexcept
not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires restrict
static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t
xor xor_eq
"""

_CUDA = """
threadIdx blockIdx blockDim gridDim warpSize
"""

RESERVED = frozenset((_CPP_ONLY + _CUDA).split())
"""Keywords of C++ that are none in C, and the built-in variables of CUDA."""

MACHINE_SYMBOLS = frozenset(
    ["R_B", "Z_B", "T_B", "R_SM", "Z_SM", "T_SM", "W_SM", "B_SM", "R_U", "Q_SM", "Z_U", "Z_0", "O_W", "F_SM"]
)
"""What conditions and trees call the limits of the machine."""


def is_machine_symbol(name: str) -> bool:
    """Whether the name has a meaning of its own in the conditions of a tree; ``P_...`` are performance levels."""
    return name in MACHINE_SYMBOLS or name.startswith("P_")


def is_reserved(name: str) -> bool:
    """Whether no name of a program may be this one: names that begin with ``cf_`` are those of generated code."""
    return name in RESERVED or name.startswith("cf_")
