"""What is in a cubin: bytes of an ELF file in, sections and what each kernel takes out.

    code_of(cubin)["matmul"].registers        # 32
    code_of(one) == code_of(other)            # the same code, constants, shared and local memory

Only what a GPU runs is compared: names of files, times, and debug information are not in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BITS = 8
_TEXT = ".text."


class CubinError(ValueError):
    """The bytes are no ELF file of 64 bit, or it is cut short."""


@dataclass(frozen=True, slots=True)
class Section:
    """``info`` has the number of registers of code in its highest byte; ``size`` in bytes, content or not."""

    name: str
    info: int
    size: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Code:
    """Of a kernel or function: instructions, constant bank 0, and bytes of static shared memory with what the system takes."""

    instructions: bytes
    registers: int
    constants: bytes
    shared_bytes: int


def sections(cubin: bytes) -> tuple[Section, ...]:
    """CubinError for what is no cubin."""
    try:
        return tuple(_sections(cubin))
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise CubinError(f"this is no whole cubin: {error}") from error


def code_of(cubin: bytes) -> Mapping[str, Code]:
    """By name of kernel or function. CubinError for what is no cubin."""
    found = {section.name: section for section in sections(cubin)}
    return {
        name.removeprefix(_TEXT): Code(
            section.content,
            section.info >> 24,
            _content(found, f".nv.constant0.{name.removeprefix(_TEXT)}"),
            _size(found, f".nv.shared.{name.removeprefix(_TEXT)}"),
        )
        for name, section in sorted(found.items())
        if name.startswith(_TEXT)
    }


def _sections(cubin: bytes) -> Iterator[Section]:
    header = _HEADER.unpack_from(cubin)
    identity, at, size, count, names = header[0], header[6], header[11], header[12], header[13]
    if identity[:5] != b"\x7fELF\x02":
        raise CubinError("this is no cubin: it is no ELF file of 64 bit")
    rows: list[tuple[int, ...]] = [_SECTION.unpack_from(cubin, at + number * size) for number in range(count)]
    table = rows[names]
    texts = cubin[table[4] : table[4] + table[5]]
    for name, kind, _, _, offset, length, _, info, _, _ in rows:
        content = b"" if kind == _NO_BITS else cubin[offset : offset + length]
        if kind != _NO_BITS and len(content) != length:
            raise CubinError("this cubin is cut short")
        yield Section(texts[name : texts.index(b"\0", name)].decode(), info, length, content)


def _content(found: Mapping[str, Section], name: str) -> bytes:
    return found[name].content if name in found else b""


def _size(found: Mapping[str, Section], name: str) -> int:
    return found[name].size if name in found else 0
