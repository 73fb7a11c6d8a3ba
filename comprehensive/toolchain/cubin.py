"""The contents of a cubin: bytes of an ELF file in, sections and what each kernel takes out.

    code_of(cubin)["matmul"].registers        # 32
    code_of(one) == code_of(other)            # the same code, constants, shared and local memory
    architecture_of(cubin)                    # 90

Only what a GPU runs is compared: names of files, times, and debug information are not in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
NO_BITS = 8
TEXT = ".text."
# A record of .nv.info: its form, what it is of, and the length of what follows (of form 4 only).
RECORD = struct.Struct("<BBH")
WITH_LENGTH = 4
REGISTER_COUNT = 0x2F
FRAME_SIZE = 0x11

# Of the header: the machine that the code is for, and from which ABI on flags have the architecture in their second
# byte instead of the first one (CUDA 13).
_CUDA = 190
_ABI_OF_CUDA_13 = 8

_FAT_BINARY = b"\x50\xed\x55\xba"


class CubinError(ValueError):
    """The bytes are no cubin, or it is cut short; the message says what they are instead where one can tell."""


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
    frame_bytes: int
    """Local memory of a thread: arrays, and what registers are spilled to."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of what the driver has to know of a file or a kernel; ``position`` is where its value begins."""

    kind: int
    position: int
    value: bytes


def architecture_of(cubin: bytes) -> int:
    """Return ten times the compute capability that the code is for. CubinError for what is no cubin."""
    if cubin[:5] != b"\x7fELF\x02":
        raise CubinError(f"this is no cubin, but {_kind_of(cubin)}")
    try:
        header: tuple[Any, ...] = HEADER.unpack_from(cubin)
    except struct.error as error:
        raise CubinError(f"this is no whole cubin: {error}") from error
    machine, flags = int(header[2]), int(header[7])
    if machine != _CUDA:
        raise CubinError(f"this is no cubin, but {_kind_of(cubin)}")
    return flags >> 8 & 0xFF if cubin[8] >= _ABI_OF_CUDA_13 else flags & 0xFF


def sections(cubin: bytes) -> Mapping[str, Section]:
    """Return the sections by name. CubinError for what is no cubin."""
    architecture_of(cubin)
    try:
        return {section.name: section for section in _sections(cubin)}
    except (struct.error, IndexError, ValueError) as error:
        raise CubinError(f"this is no whole cubin: {error}") from error


def code_of(cubin: bytes) -> Mapping[str, Code]:
    """Return the code of every kernel and function, by name. CubinError for what is no cubin."""
    found = sections(cubin)
    registers, frames = _counts(found, REGISTER_COUNT), _counts(found, FRAME_SIZE)
    names = sorted(name.removeprefix(TEXT) for name in found if name.startswith(TEXT))
    return {
        name: Code(
            found[TEXT + name].content,
            registers.get(name, 0),
            _section(found, f".nv.constant0.{name}").content,
            _section(found, f".nv.shared.{name}").size,
            frames.get(name, 0),
        )
        for name in names
    }


def _sections(cubin: bytes) -> Iterator[Section]:
    header: tuple[Any, ...] = HEADER.unpack_from(cubin)
    at, size, count, names = (int(header[number]) for number in (6, 11, 12, 13))
    rows: list[tuple[int, ...]] = [SECTION.unpack_from(cubin, at + number * size) for number in range(count)]
    texts = _part(cubin, rows[names][4], rows[names][5])
    for name, kind, _, _, offset, length, *_ in rows:
        content = b"" if kind == NO_BITS else _part(cubin, offset, length)
        yield Section(text_at(texts, name), length, content)


def _part(cubin: bytes, offset: int, length: int) -> bytes:
    if offset + length > len(cubin):
        raise CubinError("this cubin is cut short")
    return cubin[offset : offset + length]


def text_at(texts: bytes, start: int) -> str:
    return texts[start : texts.index(b"\0", start)].decode()


def records(content: bytes) -> Iterator[Record]:
    """Yield the records of a section `.nv.info`, or `.nv.info.KERNEL`."""
    position = 0
    while position + RECORD.size <= len(content):
        form, kind, length = RECORD.unpack_from(content, position)
        position += RECORD.size
        if form == WITH_LENGTH:
            yield Record(kind, position, content[position : position + length])
            position += length


def _counts(found: Mapping[str, Section], counted: int) -> Mapping[str, int]:
    """Return what records of the kind ``counted`` say of functions, by name."""
    symbols = _section(found, ".symtab").content
    texts = _section(found, ".strtab").content
    counts: dict[str, int] = {}
    for record in records(_section(found, ".nv.info").content):
        if record.kind == counted:
            symbol, count = struct.unpack_from("<II", record.value)
            counts[text_at(texts, SYMBOL.unpack_from(symbols, symbol * SYMBOL.size)[0])] = count
    return counts


def _section(found: Mapping[str, Section], name: str) -> Section:
    return found.get(name, Section(name, 0, b""))


def _kind_of(other: bytes) -> str:
    """Return what a file is that is no cubin, in words."""
    if other.startswith(b"\x7fELF"):
        return "an object or library of the host; `cuobjdump -xelf all FILE` takes the cubins out of it"
    if other.startswith(_FAT_BINARY):
        return "a fat binary; `cuobjdump -xelf all FILE` takes the cubins out of it"
    if other.startswith(b"!<arch>"):
        return "an archive; `cuobjdump -xelf all FILE` takes the cubins out of it"
    if b".version" in other[:4096] and b".target" in other[:4096]:
        return "PTX; `ptxas -arch=sm_90 FILE -o FILE.cubin` assembles it"
    return "no ELF file of 64 bit"
