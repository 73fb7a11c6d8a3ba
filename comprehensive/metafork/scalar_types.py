"""The scalar types of the language: one table of what C says of each.

In: a type.  Out: its width, its signedness, its rank, its spelling, its name in numpy, and the conversions between
types (C11 6.3.1)::

    ScalarType.SHORT.highest == 32767
    common_type(ScalarType.UNSIGNED, ScalarType.LONG) is ScalarType.LONG
    common_type(ScalarType.HALF, ScalarType.HALF) is ScalarType.FLOAT

The data model is LP64: ``long`` and ``long long`` have 64 bits, and ``char`` has a sign, as on x86-64.  ``half`` and
``bfloat16``, which bear the names that CUDA gives them, are storage types: what is read of them is a ``float``, and
what is written to them is rounded to the nearest of their values, ties to even (``loops/storage.py``).
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

from comprehensive.metafork.precedence import COMPARISONS, LOGICAL


class _Traits(NamedTuple):
    """``rank`` orders integers as C11 6.3.1.1 does, and puts floating types above them, the wider ones higher.

    ``numpy`` is the name of the elements in numpy, which has no ``bfloat16``: their bits are ``uint16`` there.
    """

    bits: int
    signed: bool
    rank: int
    numpy: str
    integer: bool = True


_TRAITS = {
    "bool": _Traits(8, False, 0, "bool"),
    "char": _Traits(8, True, 1, "int8"),
    "signed char": _Traits(8, True, 1, "int8"),
    "unsigned char": _Traits(8, False, 1, "uint8"),
    "short": _Traits(16, True, 2, "int16"),
    "unsigned short": _Traits(16, False, 2, "uint16"),
    "int": _Traits(32, True, 3, "int32"),
    "unsigned": _Traits(32, False, 3, "uint32"),
    "long": _Traits(64, True, 4, "int64"),
    "unsigned long": _Traits(64, False, 4, "uint64"),
    "long long": _Traits(64, True, 5, "int64"),
    "unsigned long long": _Traits(64, False, 5, "uint64"),
    "__nv_bfloat16": _Traits(16, True, 6, "uint16", integer=False),
    "__half": _Traits(16, True, 6, "float16", integer=False),
    "float": _Traits(32, True, 7, "float32", integer=False),
    "double": _Traits(64, True, 8, "float64", integer=False),
}


class ScalarType(Enum):
    """The element types of the language, by their spelling in C and CUDA."""

    _value_: str
    BOOL = "bool"
    CHAR = "char"
    SIGNED_CHAR = "signed char"
    UNSIGNED_CHAR = "unsigned char"
    SHORT = "short"
    UNSIGNED_SHORT = "unsigned short"
    INT = "int"
    UNSIGNED = "unsigned"
    LONG = "long"
    UNSIGNED_LONG = "unsigned long"
    LONG_LONG = "long long"
    UNSIGNED_LONG_LONG = "unsigned long long"
    BFLOAT16 = "__nv_bfloat16"
    HALF = "__half"
    FLOAT = "float"
    DOUBLE = "double"

    def __init__(self, spelling: str) -> None:
        # Attributes and no properties: types are asked for these at every node of every expression.
        traits = _TRAITS[spelling]
        self.is_integer = traits.integer
        self.is_signed = traits.signed
        self.bits = traits.bits
        """The width in memory, on the device as on the host."""
        self.size_bytes = traits.bits // 8
        self.rank = traits.rank
        self.numpy_name = traits.numpy
        self.is_narrow = traits.integer and traits.rank < _TRAITS["int"].rank
        """Whether C computes with its values in ``int``."""

    @property
    def lowest(self) -> int:
        """The least value of an integer type."""
        return -(2 ** (self.bits - 1)) if self.is_signed else 0

    @property
    def highest(self) -> int:
        """The greatest value of an integer type."""
        if self is ScalarType.BOOL:
            return 1
        return 2 ** (self.bits - self.is_signed) - 1

    @property
    def is_storage(self) -> bool:
        """Whether it is a floating type that is only stored: one computes with its values in ``float``."""
        return self in (ScalarType.HALF, ScalarType.BFLOAT16)

    @property
    def is_wide(self) -> bool:
        """Whether it is an integer of 64 bits."""
        return self.is_integer and self.bits == 64

    @property
    def wraps(self) -> bool:
        """Whether C computes with its values modulo ``2**bits``: ``unsigned`` and wider."""
        return self.is_integer and not self.is_signed and not self.is_narrow

    @property
    def is_exact(self) -> bool:
        """Whether C computes in it, and as mathematics does wherever it says what the result is: ``int`` and wider."""
        return self.is_integer and self.is_signed and not self.is_narrow

    def holds(self, other: ScalarType) -> bool:
        """Whether every value of the other integer type is one of this integer type."""
        return self.lowest <= other.lowest and other.highest <= self.highest

    def wrapped(self, value: int) -> int:
        """An integer converted to this integer type, as gcc and CUDA define it: modulo ``2**bits``."""
        if self is ScalarType.BOOL:
            return int(value != 0)
        low = value % 2**self.bits
        return low - 2**self.bits if low > self.highest else low


INTEGER_TYPES = tuple(type for type in ScalarType if type.is_integer)

_UNSIGNED = {
    ScalarType.INT: ScalarType.UNSIGNED,
    ScalarType.LONG: ScalarType.UNSIGNED_LONG,
    ScalarType.LONG_LONG: ScalarType.UNSIGNED_LONG_LONG,
}


def promote(type: ScalarType) -> ScalarType:
    """The type in which one computes with a value of this type: ``unsigned char`` becomes ``int``, and ``half`` a
    ``float``."""
    if type.is_storage:
        return ScalarType.FLOAT
    return ScalarType.INT if type.is_narrow else type


def wrapping(type: ScalarType) -> ScalarType:
    """The type in which an integer of this type is computed without overflow: the unsigned one as wide as its own."""
    promoted = promote(type)
    return _UNSIGNED.get(promoted, promoted)


@cache
def common_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """The type in which an operation on two types is carried out (the usual arithmetic conversions)."""
    lower, higher = sorted((promote(left), promote(right)), key=lambda type: type.rank)
    if lower.rank == higher.rank:
        return lower if lower.wraps else higher
    if not higher.is_integer or higher.wraps or lower.is_signed:
        return higher
    return higher if higher.holds(lower) else _UNSIGNED[higher]


def result_type(operator: str, left: ScalarType, right: ScalarType) -> ScalarType:
    """The type of ``left operator right``."""
    if operator in COMPARISONS or operator in LOGICAL:
        return ScalarType.INT
    if operator in ("<<", ">>"):
        return promote(left)
    return common_type(left, right)
