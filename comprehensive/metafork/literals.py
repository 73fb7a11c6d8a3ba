"""Words and literals to values: scalar types, integers, floating-point numbers.

In: the text of tokens.  Out: nodes of the tree, typed as C types them on a 64-bit device, or a reason why not::

    integer_literal("0xffu", span)  -->  IntLiteral(255, UNSIGNED)
    scalar_type(["long", "int"])    -->  ScalarType.LONG
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import FloatLiteral, IntLiteral, ScalarType

_TYPES: dict[tuple[str, ...], ScalarType] = {
    ("int",): ScalarType.INT,
    ("signed",): ScalarType.INT,
    ("int", "signed"): ScalarType.INT,
    ("unsigned",): ScalarType.UNSIGNED,
    ("int", "unsigned"): ScalarType.UNSIGNED,
    ("long",): ScalarType.LONG,
    ("int", "long"): ScalarType.LONG,
    ("long", "signed"): ScalarType.LONG,
    ("int", "long", "signed"): ScalarType.LONG,
    ("char", "unsigned"): ScalarType.UNSIGNED_CHAR,
    ("float",): ScalarType.FLOAT,
    ("double",): ScalarType.DOUBLE,
}

_INSTEAD = {
    "short": "int",
    "char": "unsigned char or int",
    "bool": "int",
    "_Bool": "int",
    "size_t": "long",
    "ptrdiff_t": "long",
    "ssize_t": "long",
    "int8_t": "int",
    "int16_t": "int",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned",
    "uint32_t": "unsigned",
    "uint64_t": "long",
    "half": "float",
    "_Float16": "float",
}

SUPPORTED_TYPES = "int, unsigned, long, unsigned char, float and double"

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uU]?[lL]?|[lL][uU])\Z")
_FLOATING = re.compile(
    r"((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)([fF]?)\Z"
)


def scalar_type(words: Iterable[str]) -> ScalarType | None:
    """The type that the type words of a declaration name, in any order; None for another type of C."""
    return _TYPES.get(tuple(sorted(words)))


def type_to_use(name: str) -> str:
    """What to write instead of a type of C outside the language, as the help of a diagnostic."""
    words = name.split()
    if words.count("long") > 1 or words == ["long", "unsigned"] or words == ["unsigned", "long"]:
        return f"use long; the types are {SUPPORTED_TYPES}"
    for word in words:
        if word in _INSTEAD:
            return f"use {_INSTEAD[word]}; the types are {SUPPORTED_TYPES}"
    return f"the types are {SUPPORTED_TYPES}"


def integer_literal(text: str, span: Span) -> IntLiteral | str:
    """An integer constant with its type by the rules of C, or the reason why it is none."""
    match = _INTEGER.match(text)
    if match is None:
        return f"'{shorten(text)}' is not a number of the language"
    digits, suffix = match.group(1), match.group(2).lower()
    if len(digits) > 30:
        return f"the integer {shorten(text)} does not fit in long"
    decimal = not digits.startswith("0") or digits == "0"
    try:
        value = int(digits, 0) if decimal or digits[1] in "xX" else int(digits, 8)
    except ValueError:
        return f"'{text}' is not an octal number"
    if "u" in suffix:
        if value < 2**32 and "l" not in suffix:
            return IntLiteral(value, ScalarType.UNSIGNED, span)
        return f"the integer {text} has type unsigned long, which is not in the language"
    if value < 2**31 and suffix == "":
        return IntLiteral(value, ScalarType.INT, span)
    if value < 2**32 and suffix == "" and not decimal:
        return IntLiteral(value, ScalarType.UNSIGNED, span)
    if value < 2**63:
        return IntLiteral(value, ScalarType.LONG, span)
    return f"the integer {text} does not fit in long"


def float_literal(text: str, span: Span) -> FloatLiteral | str:
    """A floating constant, or the reason why it is none."""
    match = _FLOATING.match(text)
    if match is None:
        return f"'{shorten(text)}' is not a number of the language"
    return FloatLiteral(match.group(1), ScalarType.FLOAT if match.group(2) else ScalarType.DOUBLE, span)


def shorten(text: str, length: int = 40) -> str:
    """Text for a message: one line of printable characters, cut where it is long."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: length + 1])
    return shown if len(shown) <= length else shown[: length - 3] + "..."
