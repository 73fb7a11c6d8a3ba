"""Declarations of variables: text in, what is allocated and how it begins out.

declared(".global", ".align 8 .u64 table[2] = {generic(x)+4, 7}")
# (Declared("table", "global", "u64", 16, 8, initial=(Value("x", 4, is_generic=True), Value(None, 7))),)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.values import DTYPES, bytes_of_type, literal


@dataclass(frozen=True, slots=True)
class Value:
    """An element of an initialiser: ``symbol + number``, or ``text`` as a literal where there is no symbol."""

    symbol: str | None
    number: int
    text: str = ""
    is_generic: bool = False
    mask: int = 0
    """The bits of an address that are taken, moved to the lowest place; 0 for all."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared variable: ``size`` is in bytes, 0 where the launch says it (``x[]``).

    Without ``initial`` it begins with zeros or poison.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    initial: tuple[Value, ...] = ()


_ATTRIBUTE = re.compile(r"\.attribute\s*\([^()]*(?:\([^()]*\)[^()]*)*\)")
_WORD = re.compile(r"\s*(\.align\s+\d+|\.\w+(?:::\w+)?)")
_NAME = re.compile(r"\s*([%$A-Za-z_][\w$]*)\s*((?:\[\s*\d*\s*\]\s*)*)(?:<\s*(\d+)\s*>)?\s*$")
_LINKAGE = frozenset({"visible", "extern", "weak", "common"})


def declared(space: str, text: str) -> tuple[Declared, ...]:
    """Return the variables that a declaration declares.

    ``text`` begins with linkage, space or type. Unsupported for what is no plain variable.
    """
    text = _ATTRIBUTE.sub(" ", text).rstrip("; \t\n")
    position, words = 0, list[str]()
    while found := _WORD.match(text, position):
        words.append(found[1].removeprefix("."))
        position = found.end()
    align, lanes, type_ = 0, 1, "b8"
    for word in words:
        if word.startswith("align"):
            align = int(word.split()[1])
        elif word in ("v2", "v4", "v8"):
            lanes = int(word[1:])
        elif word in DTYPES or word == "b128":
            type_ = word
        elif word not in _LINKAGE and word != space.removeprefix("."):
            raise Unsupported(f"variables of type '.{word}'")
    return tuple(_one(part, space.removeprefix("."), type_, lanes, align) for part in _parts(text[position:]))


def _parts(text: str) -> list[str]:
    """Split text at commas outside braces, brackets and parentheses; empty parts are left out."""
    parts, depth, begin = list[str](), 0, 0
    for place, character in enumerate(text):
        depth += (character in "{([") - (character in "})]")
        if character == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [part for part in (*parts, text[begin:]) if part.strip()]


def _one(text: str, space: str, type_: str, lanes: int, align: int) -> Declared:
    head, _, values = text.partition("=")
    found = _NAME.match(head)
    if found is None:
        raise Unsupported(f"the declaration '{text.strip()}'")
    each = bytes_of_type(type_) * lanes
    counts = [int(number) if number else 0 for number in re.findall(r"\[\s*(\d*)\s*\]", found[2])]
    initial = tuple(_value(part) for part in re.findall(r"[^{},]+", values) if part.strip())
    if counts and counts[0] == 0 and initial:
        counts[0] = len(initial)
    size = each
    for count in counts:
        size *= count
    return Declared(found[1], space, type_, size, align or each, initial)


def _value(text: str) -> Value:
    text = text.strip()
    masked = re.fullmatch(r"(0[xX][0-9A-Fa-f]+)\s*\((.*)\)", text)
    if masked:
        return replace(_value(masked[2]), mask=int(masked[1], 16))
    found = re.fullmatch(r"(generic\s*\(\s*)?([%$A-Za-z_][\w$]*)\s*\)?\s*(?:([+-])\s*(\d+))?", text)
    if found is None:
        return Value(None, 0, text)
    number = int(found[4] or 0)
    return Value(found[2], -number if found[3] == "-" else number, "", found[1] is not None)


def initial_bytes(variable: Declared, addresses: dict[str, tuple[int, int]]) -> bytes:
    """Return the bytes with which a variable begins.

    ``addresses`` are those of symbols, in their space and generic.
    """
    dtype = DTYPES[variable.type]
    parts: list[bytes] = []
    for value in variable.initial:
        if value.symbol is None:
            try:
                parts.append(literal(value.text, variable.type).astype(dtype).tobytes())
            except ValueError:
                raise Unsupported(f"the value '{value.text}' in an initialiser") from None
            continue
        if value.symbol not in addresses:
            raise Unsupported(f"the address of '{value.symbol}' in an initialiser")
        address = addresses[value.symbol][1 if value.is_generic else 0] + value.number
        if value.mask:
            address = (address & value.mask) >> ((value.mask & -value.mask).bit_length() - 1)
        parts.append((address % (1 << 64)).to_bytes(8, "little")[: dtype.itemsize])
    return b"".join(parts)[: variable.size].ljust(variable.size, b"\0")
