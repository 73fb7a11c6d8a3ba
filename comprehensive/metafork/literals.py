"""Words and literals to values: scalar types, integers, floating-point numbers.

In: the text of tokens.  Out: nodes of the tree, typed as C types them on a 64-bit device, or a reason why not::

    integer_literal("0xffu", span)  -->  IntLiteral(255, UNSIGNED)
    scalar_type(["long", "int"])    -->  ScalarType.LONG
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from difflib import get_close_matches

from comprehensive.diagnostics import Edit, Fix, Span
from comprehensive.metafork.ast import Cast, Expr, FloatLiteral, IntLiteral, ScalarType

_TYPES: dict[tuple[str, ...], ScalarType] = {
    tuple(sorted((*sign, *width, *word))): type
    for sign, types in (
        ((), (ScalarType.SHORT, ScalarType.INT, ScalarType.LONG, ScalarType.LONG_LONG)),
        (("signed",), (ScalarType.SHORT, ScalarType.INT, ScalarType.LONG, ScalarType.LONG_LONG)),
        (
            ("unsigned",),
            (
                ScalarType.UNSIGNED_SHORT,
                ScalarType.UNSIGNED,
                ScalarType.UNSIGNED_LONG,
                ScalarType.UNSIGNED_LONG_LONG,
            ),
        ),
    )
    for width, type in zip((("short",), (), ("long",), ("long", "long")), types, strict=True)
    for word in ((), ("int",))
    if sign or width or word
} | {
    ("char",): ScalarType.CHAR,
    ("char", "signed"): ScalarType.SIGNED_CHAR,
    ("char", "unsigned"): ScalarType.UNSIGNED_CHAR,
    ("bool",): ScalarType.BOOL,
    ("_Bool",): ScalarType.BOOL,
    ("__half",): ScalarType.HALF,
    ("__nv_bfloat16",): ScalarType.BFLOAT16,
    ("float",): ScalarType.FLOAT,
    ("double",): ScalarType.DOUBLE,
}
"""The types by the words of a declaration, sorted."""

_LIKENESS = 0.75
"""The part of two words that must agree, as difflib measures it: 'flaot' and 'float' have 0.8."""

SUPPORTED_TYPES = "the integers of C and stdint.h, bool, half, bfloat16, float and double"

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uU]?(?:[lL]|ll|LL)?|(?:[lL]|ll|LL)[uU])\Z")
_LITERAL_TYPES = (
    (ScalarType.INT, ScalarType.UNSIGNED),
    (ScalarType.LONG, ScalarType.UNSIGNED_LONG),
    (ScalarType.LONG_LONG, ScalarType.UNSIGNED_LONG_LONG),
)
"""Signed and unsigned, by the letters ``l`` of the suffix."""
_FLOATING = re.compile(
    r"((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)([fF]?)\Z"
)


_COMPLEX = frozenset(("complex", "_Complex"))


def scalar_type(words: Iterable[str]) -> ScalarType | None:
    """The type that the type words of a declaration name, in any order; None for another type of C."""
    return _TYPES.get(tuple(sorted(words)))


def type_to_use(name: str) -> str:
    """Return the help of a diagnostic: what to write instead of a type of C outside the language."""
    words = name.split()
    if not _COMPLEX.isdisjoint(words):
        return (
            "write a structure of two numbers, 'typedef struct { float re, im; } number;', and what is computed with "
            "its members: p[i].re"
        )
    if "double" in words:
        return f"use double; the types are {SUPPORTED_TYPES}"
    return f"the types are {SUPPORTED_TYPES}, and names that typedef gives to these"


def type_fix(span: Span) -> Fix | None:
    """Write the type that was meant: the one that is almost written so, or the largest for a larger one of C."""
    words = span.text.split()
    if not _COMPLEX.isdisjoint(words):
        return None
    if len(words) > 1:
        return Fix("use double", (Edit(span, "double"),)) if "double" in words else None
    types = sorted({word for key in _TYPES for word in key})
    close = get_close_matches(span.text, types, 1, _LIKENESS)
    return Fix.write(span, close[0]) if close else None


_ESCAPE = re.compile(r"\\(?:([abfnrtv'\"?\\])|([0-7]{1,3})|x([0-9a-fA-F]{1,8}))")
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "'": 39, '"': 34, "?": 63, "\\": 92}
"""The characters that stand behind a backslash, with their values in ASCII."""


def integer_literal(text: str, span: Span) -> IntLiteral | str:
    """An integer constant with its type by the rules of C, or the reason why it is none."""
    match = _INTEGER.match(text)
    if match is None:
        return f"'{shorten(text)}' is not a number of the language"
    digits, suffix = match.group(1), match.group(2).lower()
    if len(digits) > 30:
        return f"the integer {shorten(text)} does not fit in any type"
    decimal = not digits.startswith("0") or digits == "0"
    try:
        value = int(digits, 0) if decimal or digits[1] in "xX" else int(digits, 8)
    except ValueError:
        return f"'{text}' is not an octal number"
    for signed, unsigned in _LITERAL_TYPES[suffix.count("l") :]:
        if "u" not in suffix and value <= signed.highest:
            return IntLiteral(value, signed, span)
        if ("u" in suffix or not decimal) and value <= unsigned.highest:
            return IntLiteral(value, unsigned, span)
    return (
        f"the integer {text} does not fit in {'long' if decimal and 'u' not in suffix else 'unsigned long'}"
    )


def character_literal(text: str, span: Span) -> IntLiteral | str:
    """Return the int that a character constant is (ISO C 6.4.4.4), or the reason why it is none that is read here."""
    inside = text[1:-1]
    match = _ESCAPE.fullmatch(inside)
    if match is not None:
        simple, octal, hexadecimal = match.groups()
        value = _ESCAPES[simple] if simple else int(octal, 8) if octal else int(hexadecimal, 16)
        if value > 255:
            return f"the character constant {shorten(text)} does not fit in a char"
        return IntLiteral(value - 256 if value > 127 else value, span=span)
    if len(inside) == 1 and inside.isascii() and inside != "\\":
        return IntLiteral(ord(inside), span=span)
    return f"{shorten(text)} is no character constant of one byte"


def float_literal(text: str, span: Span) -> FloatLiteral | str:
    """A floating constant, or the reason why it is none."""
    match = _FLOATING.match(text)
    if match is None:
        return f"'{shorten(text)}' is not a number of the language"
    return FloatLiteral(match.group(1), ScalarType.FLOAT if match.group(2) else ScalarType.DOUBLE, span)


def stored_literal(number: FloatLiteral | IntLiteral, kind: ScalarType) -> Expr:
    """Return the value of a variable of a storage type after it was given the number: a constant of type ``float``."""
    if isinstance(number, IntLiteral):
        value = float(number.value) if number.value < 2**24 else math.inf
    else:
        text = number.text
        value = float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)
    try:
        if not isinstance(number, FloatLiteral) or number.type is ScalarType.FLOAT:
            (value,) = struct.unpack("f", struct.pack("f", value))
        if kind is ScalarType.HALF:
            (value,) = struct.unpack("e", struct.pack("e", value))
        else:
            # Of the 53 significant bits 8 stay: what is added carries into them where the others are more than a half.
            (bits,) = struct.unpack("Q", struct.pack("d", value))
            bits = (bits + (1 << 44) - 1 + (bits >> 45 & 1)) >> 45 << 45
            (value,) = struct.unpack("d", struct.pack("Q", bits))
            struct.pack("f", value)
    except OverflowError:
        return Cast(kind, number, number.span)
    if not math.isfinite(value) or (value != 0 and abs(value) < 2**-126):
        return Cast(kind, number, number.span)
    return FloatLiteral(repr(value), ScalarType.FLOAT, number.span)


def shorten(text: str, length: int = 40) -> str:
    """Text for a message: one line of printable characters, cut where it is long."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: length + 1])
    return shown if len(shown) <= length else shown[: length - 3] + "..."
