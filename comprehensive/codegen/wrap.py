"""Long lines of C code: a line in, lines of at most a width out where the code can be broken at all.

A line breaks after an assignment, a semicolon or a comma, or before an operator, inside as few brackets as possible
and as late as possible::

    c[(long)p * c_stride0 + q] +=
        shared_a[v * B0 + z] * shared_b[z * ub1 + u];
"""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 100
_HANGING = "    "
_BEFORE = frozenset(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "?", ":"))
_AFTER = (";", ",", "=")


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """The line in parts; each after the first hangs four columns deeper than it."""
    margin = line[: len(line) - len(line.lstrip())]
    lines: list[str] = []
    while len(line) > width:
        positions = [p for p in _breaks(line) if p[1] <= width]
        if not positions:
            break
        least = min(depth for depth, _ in positions)
        at = max(position for depth, position in positions if depth == least)
        lines.append(line[:at])
        line = margin + _HANGING + line[at + 1 :]
    return [*lines, line]


def _breaks(line: str) -> Iterator[tuple[int, int]]:
    """(bracket depth, position of the space) of every place where the line may break."""
    depth = 0
    start = len(line) - len(line.lstrip())
    for position, character in enumerate(line):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == " " and position > start:
            following = line[position + 1 :].split(" ", 1)[0]
            before = line[:position].rsplit(" ", 1)[-1]
            is_comparison = before in ("<=", ">=", "==", "!=")
            if following in _BEFORE or (before.endswith(_AFTER) and not is_comparison):
                yield depth, position
