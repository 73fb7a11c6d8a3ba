"""The listing of nvdisasm with life ranges to registers, labels, and targets of jumps through tables.

In: the text of ``nvdisasm -c -plr -lrm narrow``.  Out: one :class:`Ranges` a section of code, by name of the function::

    ranges = life_ranges(text)["k"]
    ranges.rows[0x10].defines.names      # ("R0",)
    ranges.labels[0xd80]                 # ("$k$_Z4slowf",)
    ranges.jumps[0x620]                  # (0x720, 0x7e0, 0x630)

Of every instruction the listing shows each register of the function as one character, behind a count::

    // |  # 0123456789  | # 012  |  # 01  |
    // |  5 v:::  ^     | 1 ^    |        |

``^`` is written, ``v`` is read, ``x`` is both, ``:`` holds a value that is read later.  The tool knows how many
registers each operand stands for; that is why this is not computed here from mnemonics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from comprehensive.sass.registers import Registers

_SECTION = re.compile(r"\t\.section\t\.text\.([^,]+),")
_INSTRUCTION = re.compile(r" +/\*([0-9a-f]{4,})\*/ ")
_LABEL = re.compile(r"(?!\.text\.)(\S+):\s")
_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
_FILE_NAMES = re.compile(r"// \| +GPR ")
_FILES = {"GPR": 0, "PRED": 1, "UGPR": 2, "UPRED": 3}


@dataclass(frozen=True, slots=True)
class Row:
    """The registers of one instruction."""

    defines: Registers
    uses: Registers
    live: Registers


@dataclass(frozen=True, slots=True)
class Ranges:
    """The contents of a section of the listing: by address of instructions, in bytes from its start."""

    rows: Mapping[int, Row]
    labels: Mapping[int, tuple[str, ...]]
    jumps: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Column:
    """The columns of a line in which the marks of one file of registers stand."""

    file: int
    start: int
    end: int


def life_ranges(text: str) -> Mapping[str, Ranges]:
    """Return what the listing says of every section of code. ValueError for a text of another form."""
    lines = text.splitlines()
    starts = [(number, found[1]) for number, line in enumerate(lines) if (found := _SECTION.match(line))]
    ends = [number for number, _ in starts[1:]] + [len(lines)]
    return {
        name.strip('"'): _section(lines[start:end]) for (start, name), end in zip(starts, ends, strict=True)
    }


def _section(lines: Sequence[str]) -> Ranges:
    columns: tuple[_Column, ...] | None = None
    rows: dict[int, Row] = {}
    labels: dict[int, tuple[str, ...]] = {}
    jumps: dict[int, list[str]] = {}
    waiting: list[str] = []
    for number, line in enumerate(lines):
        if found := _INSTRUCTION.match(line):
            if columns is None:
                raise ValueError("the listing of nvdisasm has no columns of registers")
            address = int(found[1], 16)
            rows[address] = _row(line, columns)
            if waiting:
                labels[address], waiting = tuple(waiting), []
            if targets := _TARGETS.search(line):
                jumps[address] = targets[1].split(",")
        elif columns is None and _FILE_NAMES.search(line):
            columns = tuple(_columns(line, lines[number + 1 :]))
        elif label := _LABEL.match(line):
            waiting.append(label[1])
    address_of = {label: address for address, names in labels.items() for label in names}
    return Ranges(
        rows, labels, {address: tuple(address_of[name] for name in names) for address, names in jumps.items()}
    )


def _columns(names: str, below: Sequence[str]) -> Iterator[_Column]:
    """Find the columns by the line that names the files, and by the line of last digits, with ``#``, below it."""
    digits = next(line for line in below if "#" in line)
    borders = [found.start() for found in re.finditer(r"\|", names)]
    for left, right in pairwise(borders):
        file = _FILES[names[left + 1 : right].strip()]
        yield _Column(file, digits.index("#", left) + 2, right)


def _row(line: str, columns: Sequence[_Column]) -> Row:
    defines, uses, live = [0] * len(_FILES), [0] * len(_FILES), [0] * len(_FILES)
    for column in columns:
        for number, mark in enumerate(line[column.start : column.end].rstrip()):
            if mark == " ":
                continue
            bit = 1 << number
            live[column.file] |= bit
            if mark in "^x":
                defines[column.file] |= bit
            if mark in "vx":
                uses[column.file] |= bit
    return Row(Registers(*defines), Registers(*uses), Registers(*live))
