"""Types of PTX as dtypes of numpy, and literals as values.

    DTYPES["s32"]                       # numpy.int32
    literal("0f3F800000", "f32")        # array(1., dtype=float32), without dimensions

``bf16`` has no dtype of numpy and packed types are pairs in one word: these are their bits.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from comprehensive.ptx.operands import Immediate

Array: TypeAlias = npt.NDArray[Any]
Unary: TypeAlias = Callable[[Array], Any]
Computation: TypeAlias = (
    Callable[[Array, Array], Any]
    | Callable[[Array, Array, Array], Any]
    | Callable[[Array, Array, Array, Array], Any]
    | Callable[..., Any]
)
"""A function on arrays of one length; the number of sources is known where it is made and where it is
called."""


def unary(function: Unary) -> Computation:
    """A lambda of one source, for which no other form is meant."""
    return function


def callable_of(function: Computation) -> Callable[..., Any]:
    """Return the function typed so that it can be called with as many sources as there are."""
    return cast("Callable[..., Any]", function)


DTYPES: dict[str, np.dtype[Any]] = {
    **{f"{kind}{bits}": np.dtype(f"uint{bits}") for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "bf16": np.dtype("uint16"),
    "f16x2": np.dtype("uint32"),
    "bf16x2": np.dtype("uint32"),
    "u16x2": np.dtype("uint32"),
    "s16x2": np.dtype("uint32"),
    "f32x2": np.dtype("uint64"),
    "e4m3x2": np.dtype("uint16"),
    "e5m2x2": np.dtype("uint16"),
    "tf32": np.dtype("uint32"),
    "pred": np.dtype("bool"),
}
"""``b128`` is not among them: its registers are two words of 64 bits."""

ELEMENT = {"f16x2": "f16", "bf16x2": "bf16", "u16x2": "u16", "s16x2": "s16", "f32x2": "f32"}
"""The types of the halves of packed types."""

POISON = 0xFF
"""Every byte of what nobody has written: NaN as a float, -1 as an integer."""


def bytes_of_type(type_: str) -> int:
    return 16 if type_ == "b128" else DTYPES[type_].itemsize


def is_signed(type_: str) -> bool:
    return type_[0] == "s"


def is_float(type_: str) -> bool:
    return type_[0] == "f" or type_ == "bf16"


_PLAIN = re.compile(r"-?\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?")


def literal(text: str, type_: str) -> Array:
    """The literal as a value of a type; an array without dimensions. An integer wraps around."""
    dtype = DTYPES[type_]
    bare = text.removeprefix("-")
    if bare[:2] in ("0f", "0F", "0d", "0D") and re.fullmatch(r"0[fFdD][0-9A-Fa-f]{8,16}", bare):
        code, wide = (">f", "f32") if bare[1] in "fF" else (">d", "f64")
        bits = np.array(int(bare[2:], 16), DTYPES["b32" if wide == "f32" else "b64"])
        if wide == "f32" and type_ == "f64":
            # ptxas 13.0 takes the bits, though it makes an f32 of what is written as a double.
            return bits.astype(np.uint64).view(dtype)
        if wide == type_ or not is_float(type_):
            return bits.view(dtype) if bits.dtype.itemsize == dtype.itemsize else bits.astype(dtype)
        return np.array(struct.unpack(code, bytes.fromhex(bare[2:]))[0], dtype)
    value = Immediate(text).value if _PLAIN.fullmatch(text) else constant_expression(text)
    if type_ == "pred":
        return np.array(bool(value))
    if dtype.kind == "f":
        return np.array(value, dtype)
    return integer(int(value), type_)


def _quotient(a: int, b: int) -> int:
    """Return the quotient, rounded towards zero as in C."""
    return int(Fraction(a, b))


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.Div: _quotient,
    ast.Mod: _remainder,
    ast.LShift: int.__lshift__,
    ast.RShift: int.__rshift__,
    ast.BitAnd: int.__and__,
    ast.BitOr: int.__or__,
    ast.BitXor: int.__xor__,
}
_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.Invert: int.__invert__,
    ast.USub: int.__neg__,
    ast.UAdd: int.__pos__,
}


def constant_expression(text: str) -> int:
    """Return the value of an expression such as ``(1 << 4) + 3``.

    ValueError for one with other operators or names.
    """
    try:
        return _evaluated(ast.parse(re.sub(r"(?<=\d)[uU]\b", "", text.strip()), mode="eval").body)
    except SyntaxError:
        raise ValueError(text) from None


def _evaluated(node: ast.expr) -> int:
    match node:
        case ast.Constant(int(value)):
            return value
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluated(left), _evaluated(right))
        case ast.UnaryOp(op, operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_evaluated(operand))
        case _:
            raise ValueError(ast.unparse(node))


def integer(value: int, type_: str) -> Array:
    """An integer as a value of a type: it wraps around."""
    dtype = DTYPES[type_]
    bits = np.array(value % (1 << (8 * dtype.itemsize)), f"uint{8 * dtype.itemsize}")
    return bits.view(dtype)
