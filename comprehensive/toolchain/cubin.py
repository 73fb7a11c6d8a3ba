"""What is in a cubin: bytes of an ELF file in, sections and what each kernel takes out.

    code_of(cubin)["matmul"].registers        # 32
    code_of(one) == code_of(other)            # the same code, constants, shared and local memory

Only what a GPU runs is compared: names of files, times, and debug information are not in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NO_BITS = 8
_TEXT = ".text."
# A record of .nv.info: its form, what it is of, and the length of what follows (of form 4 only).
_RECORD = struct.Struct("<BBH")
_WITH_LENGTH = 4
_REGISTER_COUNT = 0x2F


class CubinError(ValueError):
    """The bytes are no ELF file of 64 bit, or it is cut short."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a cubin; ``size`` is in bytes, content or not."""

    name: str
    size: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a kernel or function: instructions, constant bank 0, and static shared memory.

    Shared memory counts with what the system takes of it; ``registers`` are those of a thread.
    """

    instructions: bytes
    registers: int
    constants: bytes
    shared_bytes: int


def sections(cubin: bytes) -> Mapping[str, Section]:
    """Return the sections by name. CubinError for what is no cubin."""
    try:
        return {section.name: section for section in _sections(cubin)}
    except (struct.error, IndexError, ValueError) as error:
        raise CubinError(f"this is no whole cubin: {error}") from error


def code_of(cubin: bytes) -> Mapping[str, Code]:
    """Return the code of every kernel and function, by name. CubinError for what is no cubin."""
    found = sections(cubin)
    registers = _registers(found)
    names = sorted(name.removeprefix(_TEXT) for name in found if name.startswith(_TEXT))
    return {
        name: Code(
            found[_TEXT + name].content,
            registers.get(name, 0),
            _section(found, f".nv.constant0.{name}").content,
            _section(found, f".nv.shared.{name}").size,
        )
        for name in names
    }


def _sections(cubin: bytes) -> Iterator[Section]:
    header: tuple[Any, ...] = _HEADER.unpack_from(cubin)
    at, size, count, names = (int(header[number]) for number in (6, 11, 12, 13))
    if cubin[:5] != b"\x7fELF\x02":
        raise CubinError("this is no cubin: it is no ELF file of 64 bit")
    rows: list[tuple[int, ...]] = [_SECTION.unpack_from(cubin, at + number * size) for number in range(count)]
    texts = _part(cubin, rows[names][4], rows[names][5])
    for name, kind, _, _, offset, length, *_ in rows:
        content = b"" if kind == _NO_BITS else _part(cubin, offset, length)
        yield Section(_text(texts, name), length, content)


def _part(cubin: bytes, offset: int, length: int) -> bytes:
    if offset + length > len(cubin):
        raise CubinError("this cubin is cut short")
    return cubin[offset : offset + length]


def _text(texts: bytes, start: int) -> str:
    return texts[start : texts.index(b"\0", start)].decode()


def _registers(found: Mapping[str, Section]) -> Mapping[str, int]:
    """Return the registers of a thread, by name of the function."""
    symbols = _section(found, ".symtab").content
    texts = _section(found, ".strtab").content
    info, position = _section(found, ".nv.info").content, 0
    counts: dict[str, int] = {}
    while position + _RECORD.size <= len(info):
        form, kind, length = _RECORD.unpack_from(info, position)
        position += _RECORD.size
        if form == _WITH_LENGTH:
            if kind == _REGISTER_COUNT:
                symbol, count = struct.unpack_from("<II", info, position)
                counts[_text(texts, _SYMBOL.unpack_from(symbols, symbol * _SYMBOL.size)[0])] = count
            position += length
    return counts


def _section(found: Mapping[str, Section], name: str) -> Section:
    return found.get(name, Section(name, 0, b""))
