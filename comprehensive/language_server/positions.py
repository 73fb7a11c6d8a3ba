"""Places in a text as editors count them: lines from 0, and in a line units of UTF-16.

range_of(Span(source, 10, 14)),  offset_at(source, Position(0, 10))
"""

from __future__ import annotations

from lsprotocol import types

from comprehensive.diagnostics import SourceFile, Span


def range_of(span: Span) -> types.Range:
    """The place of a span."""
    return types.Range(_position(span.file, span.start), _position(span.file, span.end))


def offset_at(source: SourceFile, position: types.Position) -> int:
    """The offset in characters of a position; that of the end of the line for what is behind it."""
    lines = source.text.splitlines(keepends=True)
    if position.line >= len(lines):
        return len(source.text)
    line, units = lines[position.line], 0
    start = sum(map(len, lines[: position.line]))
    for column, character in enumerate(line):
        if units >= position.character or character in "\r\n":
            return start + column
        units += _units(character)
    return start + len(line)


def _position(file: SourceFile, offset: int) -> types.Position:
    line, column = file.position(offset)
    before = file.line(line)[: column - 1]
    return types.Position(line - 1, sum(map(_units, before)))


def _units(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1
