"""Texts of PTX with something wrong in them, or only something else.

In: a text, others to take parts from, a source of randomness.  Out: another text::

    mutated(text, others, random.Random(0))      # bytes, tokens, lines or statements, removed, doubled, exchanged
    gentle(text, random.Random(0))               # whole statements and single operands: ptxas often takes it
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r'//[^\n]*\n|"[^"\n]*"|[.%$\w]+|\s+|.', re.DOTALL)
_STATEMENT = re.compile(r"[^;{}]*[;{}]|[^;{}]+")
_STRANGE = (
    *("{", "}", "(", ")", "[", "]", ";", ",", "@", "!", "|", "<", ">", ":", '"', "/*", "*/", "//", "\\"),
    *("-1", "0", "09", "0x", "0f", "1e999", "99999999999999999999", "0xffffffffffffffff", "-", "+"),
    *(
        "\0",
        "\xff",
        "\udcff",
        "\ufeff",
        "\x85",
        "\u2028",
        "\r",
        "\v",
        "\x1c",
        "é",
        "٣",
        "_",
        "%",
        "%%",
        "$",
        ".",
    ),
    *(
        ".version 99.9",
        ".target sm_999",
        ".b128",
        ".b",
        ".pred",
        ".reg .v4 .f32 %v;",
        "%r<1>",
        "%tid.x",
        "%r1.x",
    ),
    *(
        "ret;",
        "bra L;",
        "L:",
        "@%p1",
        "add.s32 %r1, %r1, %r1;",
        ".param .b32 p;",
        "{ .reg .b32 %r1;",
        ".align 0",
    ),
)


def mutated(text: str, others: Sequence[str], draw: random.Random) -> str:
    """One to five changes, most of which nobody can make sense of."""
    change = draw.choice((_tokens, _tokens, _bytes, _lines, _statements, _splice, _cut))
    for _ in range(draw.choice((1, 1, 2, 5))):
        text = change(text, others, draw) or " "
    return text


def _tokens(text: str, others: Sequence[str], draw: random.Random) -> str:
    return "".join(_moved(_TOKEN.findall(text), others, draw))


def _lines(text: str, others: Sequence[str], draw: random.Random) -> str:
    return "".join(_moved(text.splitlines(keepends=True), others, draw))


def _statements(text: str, others: Sequence[str], draw: random.Random) -> str:
    return "".join(_moved(_STATEMENT.findall(text), others, draw))


def _moved(parts: list[str], others: Sequence[str], draw: random.Random) -> list[str]:
    """Parts removed, doubled, exchanged, or strange ones in their place."""
    at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    first, last = min(at, other), min(max(at, other), min(at, other) + 40)
    match draw.randrange(8):
        case 0:
            parts[at] = ""
        case 1:
            parts[at] += parts[at]
        case 2:
            parts[at], parts[other] = parts[other], parts[at]
        case 3:
            parts[at] = parts[other]
        case 4:
            parts[at] = draw.choice(_STRANGE)
        case 5:
            del parts[first:last]
        case 6:
            parts[at:at] = draw.choice((" ", "\n", "")) + draw.choice(_STRANGE) + draw.choice((" ", "\n", ""))
        case _:
            parts[at : at + 1] = parts[at : at + draw.randrange(1, 30)] * 2
    return parts


def _bytes(text: str, others: Sequence[str], draw: random.Random) -> str:
    """Return a text that is no UTF-8, as files of PTX hold it."""
    content = bytearray(text.encode("utf-8", "surrogateescape"))
    at = draw.randrange(len(content))
    match draw.randrange(4):
        case 0:
            content[at] ^= 1 << draw.randrange(8)
        case 1:
            content[at] = draw.randrange(256)
        case 2:
            content[at:at] = draw.randbytes(draw.randrange(1, 20))
        case _:
            del content[at : at + draw.randrange(1, 20)]
    return content.decode("utf-8", "surrogateescape")


def _splice(text: str, others: Sequence[str], draw: random.Random) -> str:
    """The beginning of one text and the end of another, or a part of one within another."""
    other = draw.choice(others)
    at, begin = draw.randrange(len(text) + 1), draw.randrange(len(other))
    if draw.random() < 0.5:
        return text[:at] + other[begin:]
    return text[:at] + other[begin : begin + draw.randrange(1, 400)] + text[at:]


def _cut(text: str, others: Sequence[str], draw: random.Random) -> str:
    """Return one end of a text, as of a file that was not written to its end."""
    at = draw.randrange(len(text))
    return text[:at] if draw.random() < 0.8 else text[at:]


_REGISTER = re.compile(r"%[a-z]+(\d+)(?![\w<])")
_NUMBER = re.compile(r"(?<![\w.%$])\d+(?![\w.])")
_LABEL = re.compile(r"(?<=bra )\S+(?=;)|(?<=bra.uni )\s*\S+(?=;)")
_TYPE = re.compile(r"(?<=\.)[busf](?:16|32|64)\b")
_WORD = re.compile(r"(?<=\s)(?:add|sub|and|or|xor|min|max|mul\.lo)(?=\.)")


def gentle(text: str, draw: random.Random) -> str:
    """One to six changes within bodies, each of which leaves a statement a statement."""
    for _ in range(draw.choice((1, 1, 2, 3, 6))):
        lines = text.split("\n")
        places = [
            n for n, line in enumerate(lines) if line.endswith(";") and not line.lstrip().startswith(".")
        ]
        if not places:
            return text
        at, other = draw.choice(places), draw.choice(places)
        near = draw.choice(places[max(0, places.index(at) - 3) : places.index(at) + 4])
        match draw.randrange(10):
            case 0:
                lines[at] = ""
            case 1:
                lines[at] += "\n" + lines[at]
            case 2:
                lines[at], lines[near] = lines[near], lines[at]
            case 3:
                lines[at] += "\n" + lines[other]
            case 4:
                lines[at] = _one(
                    _NUMBER, lines[at], draw, lambda _: str(draw.choice((0, 1, 2, 4, 8, 31, 33)))
                )
            case 5:
                lines[at] = _one(_TYPE, lines[at], draw, lambda found: draw.choice("busf") + found[1:])
            case 6:
                lines[at] = _one(
                    _WORD,
                    lines[at],
                    draw,
                    lambda _: draw.choice(("add", "sub", "and", "or", "xor", "min", "max")),
                )
            case 7:
                label = draw.choice(_LABEL.findall(text) or [""]).strip()
                lines[at] = _one(_LABEL, lines[at], draw, lambda _, by=label: by)
            case 8:
                guards = re.findall(r"%p\d+", text)
                if guards and "@" not in lines[at] and "ret" not in lines[at]:
                    lines[at] = f"@{draw.choice(('', '!'))}{draw.choice(guards)} {lines[at]}"
            case _:
                number = draw.choice(_REGISTER.findall(text) or ["1"])
                lines[at] = _one(
                    _REGISTER, lines[at], draw, lambda found, by=number: found.rstrip("0123456789") + by
                )
        text = "\n".join(lines)
    return text


def _one(pattern: re.Pattern[str], line: str, draw: random.Random, by: Callable[[str], str]) -> str:
    """The line with one of all matches exchanged."""
    found = list(pattern.finditer(line))
    if not found:
        return line
    match = draw.choice(found)
    return line[: match.start()] + by(match[0]) + line[match.end() :]
