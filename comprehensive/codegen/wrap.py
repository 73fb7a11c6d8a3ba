"""Long lines of C code: a line in, lines of at most a width out where the code can be broken at all.

A line breaks after an assignment, a semicolon or a comma, or before an operator, inside as few brackets as possible,
in a list between its parts, before the operator that binds least, and as late as possible; a text in quotes only where
nothing else helps, into two that the compiler joins::

    c[(long)p * c_stride0 + q] += shared_a[v * B0 + z] * shared_b[z * ub1 + u]
        + shared_a[v * B0];

:func:`laid_out` does so for a whole text, comments included: one that stands behind code goes before it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from comprehensive.metafork.precedence import CONDITIONAL, PRECEDENCE, PRIMARY

WIDTH = 100
"""The width of what is printed statement by statement: some columns are left for changes by hand."""
MOST = 120
"""No line of a generated file is longer, but in code of the user's and where nothing can be broken."""
_HANGING = "    "
_BEFORE = {"?": CONDITIONAL, ":": CONDITIONAL, **PRECEDENCE}
"""The operators that a line breaks before, with how tightly they bind."""
_AFTER = (";", ",", "=")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_COMMENT = re.compile(r"\s*(//.*|/\*((?!\*/).)*\*/)$")


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """The line in parts; each after the first hangs four columns deeper than it. A comment stays a line."""
    if line.lstrip().startswith("//"):
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    lines: list[str] = []
    while len(line) > width:
        places = [place for place in _breaks(line) if place[-1] <= width]
        if not places:
            break
        *_, at = max(places)
        lines.append(line[:at])
        line = margin + _HANGING + line[at + 1 :]
    return [*lines, line]


def laid_out(text: str, width: int = MOST) -> str:
    """The text of a file with no line longer than that, but directives of the preprocessor."""
    lines = iter(text.split("\n"))
    return "\n".join(part for line in lines for part in _parts(line, lines, width))


def _parts(line: str, following: Iterator[str], width: int) -> Iterable[str]:
    """Return the lines that replace a line; for a comment of several lines, taken from ``following``, for all."""
    code = line.lstrip()
    if code.startswith("/*") and "*/" not in code:
        comment = [line]
        while "*/" not in comment[-1]:
            comment.append(next(following))
        return (
            comment
            if max(map(len, comment)) <= width
            else _filled(" ".join(map(str.strip, comment)), line, width)
        )
    if len(line) <= width or code.startswith("#"):
        return (line,)
    if code.startswith(("//", "/*")):
        return _filled(code, line, width)
    found = _COMMENT.search(_without_quoted(line))
    if found:
        comment, code = line[found.start() :].strip(), line[: found.start()]
        return (*_filled(comment, line, width), *broken(code, width))
    return broken(line, width)


def _filled(comment: str, line: str, width: int) -> list[str]:
    """A comment in lines, with the margin of a line."""
    margin = line[: len(line) - len(line.lstrip())]
    hanging = "// " if comment.startswith("//") else "   "
    return textwrap.wrap(
        comment,
        width,
        initial_indent=margin,
        subsequent_indent=margin + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def broken(line: str, width: int = MOST) -> list[str]:
    """The line in parts; where no part of it can be broken, in the middle of a text in quotes."""
    margin = line[: len(line) - len(line.lstrip())]
    found: list[str] = []
    for part in wrapped(line, width):
        while len(part) > width and (at := _break_of_text(part, width)) is not None:
            found.append(f'{part[:at]}"')
            part = f'{margin}{_HANGING}"{part[at:]}'
        found.append(part)
    return found


def _break_of_text(line: str, width: int) -> int | None:
    """The last place behind a space in a text in quotes at which the line is short enough; None without one."""
    places = [
        found.start() + space.end()
        for found in _QUOTED.finditer(line)
        if found[0].startswith('"')
        for space in re.finditer(r"(?<!^\")\s", found[0])
    ]
    return max((place for place in places if place < width), default=None)


def _without_quoted(line: str) -> str:
    return _QUOTED.sub(lambda found: "_" * len(found[0]), line)


def _is_argument_list(line: str, position: int) -> bool:
    """Whether a '<' opens arguments of a template, which is printed without a space before and behind it."""
    return line[position - 1 : position].isidentifier() and line[position + 1 : position + 2].isalnum()


def _breaks(line: str) -> Iterator[tuple[int, bool, int, int]]:
    """Yield how good every place is where the line may break, and its position: the best place is the largest.

    Outside of brackets is best; in the same brackets between the parts of a list, then before what binds least, then
    late.
    """
    open_brackets: list[str] = []
    line = _without_quoted(line)
    start = len(line) - len(line.lstrip())
    for position, character in enumerate(line):
        depth = len(open_brackets)
        if character in "([{" or (character == "<" and _is_argument_list(line, position)):
            open_brackets.append(character)
        elif open_brackets and (character in ")]}" or (character == ">" and open_brackets[-1] == "<")):
            open_brackets.pop()
        elif character == " " and position > start:
            following = line[position + 1 :].split(" ", 1)[0]
            before = line[:position].rsplit(" ", 1)[-1]
            is_comparison = before in ("<=", ">=", "==", "!=")
            if following in _BEFORE or (before.endswith(_AFTER) and not is_comparison):
                tightly = _BEFORE.get(following, PRIMARY)
                yield -depth, before.endswith((",", ";")), -tightly, position
