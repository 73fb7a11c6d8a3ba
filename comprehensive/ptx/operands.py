"""Operands of PTX instructions: the text between opcode and semicolon in, immutable values out.

    operands_of("%r1|%p1, [%rd2+-4], {%f1, _}, !%p2")
    # (Pair(Name("%r1"), Name("%p1")), Address(Name("%rd2"), -4), Vector((Name("%f1"), Name("_"))), Not(Name("%p2")))

What a name
stands for (a register, a label, a symbol) depends on where it stands; :mod:`comprehensive.ptx.scopes` says it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

SINK = "_"
"""The name of a destination that nobody reads."""


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register (``%tid.x``), label, symbol, or the sink."""

    text: str

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.text == SINK else (self.text,)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Immediate:
    """A literal as it is written: ``-1``, ``0x1F``, ``0f3F800000``, ``1.5``."""

    text: str

    names: tuple[str, ...] = ()

    @cached_property
    def value(self) -> int | float:
        """The number that the literal stands for, an integer or a floating-point number (NaN included)."""
        text = self.text.removeprefix("-")
        sign = -1 if text != self.text else 1
        if text[:2] in ("0f", "0F"):
            return sign * float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
        if text[:2] in ("0d", "0D"):
            return sign * float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
        if re.search(r"[.eE]", text) and text[:2] not in ("0x", "0X"):
            return sign * float(text)
        digits = text.rstrip("uU")
        if digits[:2] in ("0x", "0X"):
            return sign * int(digits[2:], 16)
        if digits[:2] in ("0b", "0B"):
            return sign * int(digits[2:], 2)
        return sign * int(digits, 8 if digits[:1] == "0" and len(digits) > 1 else 10)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Not:
    """A predicate, negated: ``!%p1``."""

    operand: Name

    @property
    def names(self) -> tuple[str, ...]:
        return self.operand.names

    def __str__(self) -> str:
        return f"!{self.operand}"


@dataclass(frozen=True, slots=True)
class Sum:
    """A symbol and a number of bytes: ``array+16``."""

    base: Name
    offset: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.base.names

    def __str__(self) -> str:
        return f"{self.base}+{self.offset}"


@dataclass(frozen=True, slots=True)
class Address:
    """An address where memory is accessed, such as ``[%rd1+-4]``; ``offset`` is in bytes.

    ``has_zero``: written as ``[%rd1+0]``, of which ptxas makes an addition with -G.
    """

    base: Name | Immediate
    offset: int = 0
    has_zero: bool = field(default=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return self.base.names

    def __str__(self) -> str:
        return f"[{self.base}+{self.offset}]" if self.offset or self.has_zero else f"[{self.base}]"


@dataclass(frozen=True)
class Several:
    """Operands in a row, between ``opening`` and ``closing``."""

    items: tuple[Operand, ...]

    opening = ""
    closing = ""
    separator = ", "

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for item in self.items for name in item.names)

    def __str__(self) -> str:
        return f"{self.opening}{self.separator.join(map(str, self.items))}{self.closing}"


@dataclass(frozen=True)
class Vector(Several):
    """Elements of a vector: ``{%f1, %f2}``."""

    opening = "{"
    closing = "}"


@dataclass(frozen=True)
class Pair(Several):
    """Two destinations of one instruction: ``%r1|%p1``."""

    separator = "|"


@dataclass(frozen=True)
class Arguments(Several):
    """The arguments that a call passes or is given: ``(param0, param1)``."""

    opening = "("
    closing = ")"


@dataclass(frozen=True)
class Place(Several):
    """An address that is more than a sum: ``[texture, {%f1, %f2}]``."""

    opening = "["
    closing = "]"


@dataclass(frozen=True)
class Expression:
    """An operand of no other kind, such as a constant expression, kept as it is written.

    ``names`` are all that occur.
    """

    text: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


Operand: TypeAlias = Name | Immediate | Not | Sum | Address | Several | Expression

_NAME = r"(?:[%$]?+[A-Za-z_$%][\w$.]*+(?:::[\w$.]++)*+)"
_NUMBER = (
    r"-?(?:0[fF][0-9A-Fa-f]{8}\b|0[dD][0-9A-Fa-f]{16}\b|0[xX][0-9A-Fa-f]+[uU]?\b|0[bB][01]+[uU]?\b"
    r"|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w.])|\d+[uU]\b)"
)
_WHOLE_NAME = re.compile(rf"{_NAME}|_")
_WHOLE_NUMBER = re.compile(_NUMBER)
_ANY_NAME = re.compile(_NAME)
_SUM = re.compile(rf"({_NAME}|{_NUMBER})\s*([+-])\s*(-?\s*(?:0[xX][0-9A-Fa-f]+|\d+))")
_COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
_CAST = re.compile(r"\(\s*\.\w+\s*\)")
# No operator between two words, as where a semicolon is missing, or what no operand has.
_STRANGE = re.compile(r"[\w$)\]}]\s+(?:[\w$\[{]|%\w)|[^\w$%.\s()\[\]{},+\-*/<>=!&|^~?:]|(?<![=!<>])=(?!=)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class OperandError(ValueError):
    """Brackets that do not match, or nothing where an operand should be."""


class _Operands(dict[str, Operand]):
    """Texts of single operands to operands. Equal ones are one object, as long as there are not too many."""

    def __missing__(self, text: str) -> Operand:
        if text[:1] == "%" and text[1:].isalnum():  # most are registers
            found: Operand = Name(text)
        else:
            stripped = text.strip()
            found = _operand(text) if stripped == text else self[stripped]
        if len(self) >= MOST_KEPT:
            self.clear()
        self[text] = found
        return found


def renamed(operand: Operand, names: Callable[[str], str]) -> Operand:
    """The operand with other names; the text of an expression is searched for them."""
    match operand:
        case Name(text):
            return operand if text == SINK else Name(names(text))
        case Not(Name(text)):
            return Not(Name(names(text)))
        case Sum(Name(text), offset):
            return Sum(Name(names(text)), offset)
        case Address(Name(text), offset):
            return Address(Name(names(text)), offset, operand.has_zero)
        case Several(items):
            return type(operand)(tuple(renamed(item, names) for item in items))
        case Expression(text, known):
            changed = _ANY_NAME.sub(lambda found: names(found[0]), text)
            return Expression(changed, tuple(map(names, known)))
        case Immediate() | Address():
            return operand


MOST_KEPT = 1 << 17
MOST_NESTED = 50
_KNOWN = _Operands()
_known = _KNOWN.__getitem__


def operands_of(text: str) -> tuple[Operand, ...]:
    """The operands between opcode and semicolon. OperandError where they are not well formed."""
    if "/" in text:
        text = _COMMENT.sub(" ", text)
    text = text.strip()
    if "{" in text or "(" in text:
        return tuple(map(_known, _split(text, ",")))
    return tuple(map(_known, text.replace(", ", ",").split(","))) if text else ()


def _operand(text: str) -> Operand:
    if _WHOLE_NAME.fullmatch(text):
        return Name(text)
    if _WHOLE_NUMBER.fullmatch(text):
        return _literal(text)
    if not text:
        raise OperandError("an operand is missing")
    if text[0] == ".":
        raise OperandError("an operand begins with a modifier")
    first, last = text[0], text[-1]
    if first == "[" and last == "]" and "[" not in text[1:] and "{" not in text:
        return _address(text[1:-1].strip())
    if first in _CLOSING and last == _CLOSING[first] and _closes_at_end(text):
        inside = text[1:-1].strip()
        if first == "[":
            return _address(inside)
        kind: Callable[[tuple[Operand, ...]], Operand] = Vector if first == "{" else Arguments
        return kind(tuple(_operand(part) for part in _split(inside, ",")) if inside else ())
    if first == "!" and _WHOLE_NAME.fullmatch(text[1:].strip()):
        return Not(Name(text[1:].strip()))
    parts = _split(text, "|")
    if len(parts) == 2 and all(_WHOLE_NAME.fullmatch(part) for part in parts):
        return Pair(tuple(Name(part) for part in parts))
    found = _SUM.fullmatch(text)
    if found and _WHOLE_NAME.fullmatch(found[1]):
        return Sum(Name(found[1]), _offset(found))
    if _STRANGE.search(_CAST.sub("", text)):
        raise OperandError("an operand goes on where it should end")
    return Expression(text, tuple(_ANY_NAME.findall(re.sub(_NUMBER, " ", text))))


def _address(inside: str) -> Operand:
    if not inside:
        raise OperandError("an address is missing")
    if _WHOLE_NAME.fullmatch(inside):
        return Address(Name(inside))
    if _WHOLE_NUMBER.fullmatch(inside):
        return Address(_literal(inside))
    found = _SUM.fullmatch(inside)
    if found:
        base = Name(found[1]) if _WHOLE_NAME.fullmatch(found[1]) else _literal(found[1])
        offset = _offset(found)
        return Address(base, offset, has_zero=offset == 0)
    return Place(tuple(_operand(part) for part in _split(inside, ",")))


def _literal(text: str) -> Immediate:
    """Return the number as an operand.

    OperandError for digits that are no number, such as ``09``: a number that begins with 0 is octal.
    """
    found = Immediate(text)
    try:
        _ = found.value
    except ValueError:
        raise OperandError(f"'{text[:40]}' is no number") from None
    return found


def _offset(found: re.Match[str]) -> int:
    value = int(_literal(re.sub(r"\s", "", found[3])).value)
    return -value if found[2] == "-" else value


def _split(text: str, separator: str) -> list[str]:
    """Split text at separators outside brackets, and strip white space around the parts.

    OperandError where brackets do not match or are nested too deeply.
    """
    if not any(bracket in text for bracket in "([{)]}"):
        return [part.strip() for part in text.split(separator)]
    parts: list[str] = []
    open_: list[str] = []
    begin = 0
    for position, character in enumerate(text):
        if character in _CLOSING:
            open_.append(_CLOSING[character])
            if len(open_) > MOST_NESTED:
                raise OperandError("brackets are nested too deeply")
        elif character in ")]}":
            if not open_ or open_.pop() != character:
                raise OperandError(f"'{character}' closes nothing")
        elif character == separator and not open_:
            parts.append(text[begin:position].strip())
            begin = position + 1
    if open_:
        raise OperandError(f"'{open_[-1]}' is missing")
    return [*parts, text[begin:].strip()]


def _closes_at_end(text: str) -> bool:
    """Whether the bracket at the beginning is closed by the one at the end."""
    depth = 0
    for position, character in enumerate(text):
        if character in _CLOSING:
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return position == len(text) - 1
    return False
