"""Instructions out of PTX text, for tests of the table: opcode and operands, without the parser of the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from comprehensive.ptx.opcodes import bits, opcode

FOLDER = Path(__file__).parent

WIDTHS = {"%p": 1, "%b": 8, "%h": 16, "%r": 32, "%rd": 64, "%q": 128, "%f": 32, "%fd": 64}
"""Registers of ``instructions.ptx`` are named after the bits they have."""


@dataclass(frozen=True)
class Line:
    """``text`` as written; ``more``: its operands need more of version or target than the opcode shows."""

    text: str
    more: bool = False

    @property
    def opcode(self) -> str:
        return self.text.split(maxsplit=1)[0]

    @property
    def operands(self) -> list[str]:
        return split_operands(self.text[len(self.opcode) :])


def split_operands(text: str) -> list[str]:
    """Split text at the commas that are in no bracket of any kind."""
    parts: list[str] = [""]
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    stripped = [part.strip() for part in parts]
    return stripped if any(stripped) else []


def listed() -> list[Line]:
    """The instructions of ``instructions.ptx``."""
    found: list[Line] = []
    for line in (FOLDER / "instructions.ptx").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("//"):
            text, _, comment = line.partition(";")
            found.append(Line(text, "more" in comment))
    return found


def instructions_of(module: str) -> Iterator[Line]:
    """Yield the instructions of the functions in a module that nvcc printed."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", module, flags=re.DOTALL)
    for body in re.findall(r"^\{$(.*?)^\}$", text, flags=re.DOTALL | re.MULTILINE):
        for statement in re.split(
            r"[;{}](?=\s)|\n(?=\$?\w+:)", re.sub(r"^\s*\$?\w+\s*:(?!:)", "", body, flags=re.M)
        ):
            yield from _instruction(" ".join(statement.split()))


def _instruction(statement: str) -> Iterator[Line]:
    # Inline assembly has scopes of its own, whose brace may touch the first word.
    text = re.sub(r"^\{(?=[a-z])", "", re.sub(r"^@!?%?\w+ ", "", statement))
    if text and not text.startswith("."):
        yield Line(text)


def widths_of(module: str) -> dict[str, int]:
    """Bits of the registers that a module declares, by name without number, where the name says it."""
    found: dict[str, set[int]] = {}
    for kind, names in re.findall(r"\.reg\s+\.(\w+)\s+([^;]+);", module):
        for name in names.split(","):
            found.setdefault(name.strip().partition("<")[0], set()).add(bits(kind))
    return {name: widths.pop() for name, widths in found.items() if len(widths) == 1}


def misfits(line: Line, widths: Mapping[str, int]) -> list[str]:
    """Registers of another width than the type that the table gives."""
    op, operands = opcode(line.opcode), line.operands
    found: list[str] = []
    for position, operand in enumerate(operands):
        kind = op.operand_type(position, len(operands))
        elements = split_operands(operand.partition("|")[0].strip("{}"))
        for element in elements if kind else ():
            has = widths.get(element.rstrip("0123456789"))
            width = bits(kind) // (len(elements) if op.base == "mov" else 1)
            # These put a narrow value into the low bits of a register, and extend it.
            narrow = op.base in ("ld", "st", "cvt")
            if has is not None and (width > has or (width < has and not narrow)):
                found.append(f"{line.text}: {element} for {kind}")
    return found
