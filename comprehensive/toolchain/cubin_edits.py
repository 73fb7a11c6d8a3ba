"""Cubins with other contents: bytes of an ELF file in, bytes of one out.

    with_content(cubin, ".text.k", code)              # what stands behind it moves
    with_empty_section(cubin, ".nv.shared.k", 1024, of=".text.k")
    with_function_bytes(cubin, "k", len(code))        # what the table of symbols says

The addresses of a cubin are those in its sections, so that nothing but offsets and sizes in tables changes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from comprehensive.toolchain.cubin import HEADER, NO_BITS, SECTION, SYMBOL, CubinError, sections, text_at

_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOADED, _WRITABLE = 1, 2
_FUNCTION = 2
_SHARED_FLAGS = 0x43
"""SHF_WRITE, SHF_ALLOC, and SHF_INFO_LINK: whose shared memory it is."""
SHARED_ALIGNMENT = 16
# No section asks for more, and what moves keeps its alignment.
_STEP = 128


@dataclass(frozen=True, slots=True)
class _Row:
    """A section in the table of sections, in the order of its fields."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def end(self) -> int:
        """Return the offset in the file at which the contents of the section end."""
        return self.offset + (0 if self.kind == NO_BITS else self.size)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment that is loaded, in the order of the fields of the table of segments."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    alignment: int


@dataclass(frozen=True)
class _File:
    """A cubin with its tables; ``header`` has the fields of the ELF header."""

    content: bytes
    header: tuple[Any, ...]
    rows: tuple[_Row, ...]
    segments: tuple[_Segment, ...]

    @property
    def names(self) -> _Row:
        """The section with the names of sections."""
        return self.rows[int(self.header[13])]

    @property
    def texts(self) -> bytes:
        return self.content[self.names.offset : self.names.end]

    def number(self, name: str) -> int:
        """The number of a section. CubinError where there is none of that name."""
        found = [number for number, row in enumerate(self.rows) if text_at(self.texts, row.name) == name]
        if not found:
            raise CubinError(f"this cubin has no section {name}")
        return found[0]


def alignment_of(cubin: bytes, name: str) -> int:
    """Return the alignment of a section in bytes. CubinError where there is none of that name."""
    file = _read(cubin)
    return max(1, file.rows[file.number(name)].alignment)


def with_content(cubin: bytes, name: str, content: bytes) -> bytes:
    """Return the cubin with another content of a section, which is no shorter than it was.

    CubinError for what is no cubin, and where there is no section of that name.
    """
    file = _read(cubin)
    number = file.number(name)
    row = file.rows[number]
    growth = len(content) - row.size
    if growth < 0 or row.kind == NO_BITS:
        raise ValueError(f"{name} has {row.size} bytes, not {len(content)}")
    moved = _inserted(file, row.end, bytes(growth))
    start = moved.content[: row.offset] + content
    kept = replace(moved, content=start + moved.content[row.offset + len(content) :])
    return _written(replace(kept, rows=_with(kept.rows, number, replace(row, size=len(content)))))


def with_empty_section(cubin: bytes, name: str, size: int, *, of: str) -> bytes:
    """Return the cubin with one more section of shared memory, of so many bytes, for the code in section ``of``."""
    file = _read(cubin)
    # The names of sections first: the table of sections, which grows next, stands behind them.
    texts = file.texts
    file = _read(with_content(cubin, text_at(texts, file.names.name), texts + name.encode() + b"\0"))
    code = file.number(of)
    row = _Row(len(texts), NO_BITS, _SHARED_FLAGS, 0, file.rows[code].end, size, 0, code, SHARED_ALIGNMENT, 0)
    end = file.header[6] + len(file.rows) * SECTION.size
    grown = _inserted(file, end, bytes(SECTION.size))
    header = (*grown.header[:12], len(file.rows) + 1, *grown.header[13:])
    segments = tuple(
        replace(each, memory_size=each.memory_size + size)
        if each.kind == _LOADED and each.flags & _WRITABLE
        else each
        for each in grown.segments
    )
    return _written(replace(grown, header=header, rows=(*grown.rows, row), segments=segments))


def with_function_bytes(cubin: bytes, function: str, size: int) -> bytes:
    """Return the cubin with another size of a function in the table of symbols."""
    found = sections(cubin)
    symbols, texts = found[".symtab"].content, found[".strtab"].content
    changed = [
        (*fields[:5], size)
        if fields[1] & 0xF == _FUNCTION and text_at(texts, fields[0]) == function
        else fields
        for fields in SYMBOL.iter_unpack(symbols)
    ]
    return with_content(cubin, ".symtab", b"".join(SYMBOL.pack(*fields) for fields in changed))


def _read(cubin: bytes) -> _File:
    sections(cubin)
    header: tuple[Any, ...] = HEADER.unpack_from(cubin)
    rows = (_Row(*fields) for fields in _table(cubin, SECTION, header[6], header[12]))
    segments = (_Segment(*fields) for fields in _table(cubin, _SEGMENT, header[5], header[10]))
    return _File(cubin, header, tuple(rows), tuple(segments))


def _table(cubin: bytes, form: struct.Struct, at: int, count: int) -> Iterator[tuple[Any, ...]]:
    try:
        yield from (form.unpack_from(cubin, at + number * form.size) for number in range(count))
    except struct.error as error:
        raise CubinError(f"this is no whole cubin: {error}") from error


def _written(file: _File) -> bytes:
    """Return the bytes of a file, with its tables where its header says."""
    content = bytearray(file.content)
    HEADER.pack_into(content, 0, *file.header)
    for form, at, entries in (
        (SECTION, file.header[6], file.rows),
        (_SEGMENT, file.header[5], file.segments),
    ):
        for number, entry in enumerate(entries):
            fields = (getattr(entry, name) for name in entry.__dataclass_fields__)
            form.pack_into(content, at + number * form.size, *fields)
    return bytes(content)


def _inserted(file: _File, position: int, new: bytes) -> _File:
    """Return the file with bytes in front of what begins at a position; segments that end there end behind them."""
    if not new:
        return file
    moved = len(new) + -len(new) % _STEP

    def offset(old: int) -> int:
        return old + moved if old >= position else old

    def segment(old: _Segment) -> _Segment:
        end = old.offset + old.file_size
        if not old.offset < position <= end:
            return replace(old, offset=offset(old.offset))
        # What stands behind the new bytes in the segment has moved.
        growth = len(new) if end == position else moved
        return replace(old, file_size=old.file_size + growth, memory_size=old.memory_size + growth)

    content = file.content[:position] + new.ljust(moved, b"\0") + file.content[position:]
    header = (*file.header[:5], offset(file.header[5]), offset(file.header[6]), *file.header[7:])
    rows = tuple(replace(row, offset=offset(row.offset)) for row in file.rows)
    return _File(content, header, rows, tuple(segment(each) for each in file.segments))


def _with(rows: Sequence[_Row], number: int, row: _Row) -> tuple[_Row, ...]:
    return (*rows[:number], row, *rows[number + 1 :])
