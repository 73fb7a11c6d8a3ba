"""Machine code written down for tests: one instruction a line, 16 bytes each, from address 0.

code('''
    stall=4 write=0 | LDG.E R4,[R2.64]
    wait=0          | @P0 BRA 0x0
''')

Before the bar stand control bits: `write`, `read` and `wait` are scoreboards, `wait=02` two of them.
"""

from __future__ import annotations

from comprehensive.sass.control import Control
from comprehensive.sass.flow import Flow, flow_of
from comprehensive.sass.function import Procedure, SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.registers import NONE


def code(text: str) -> tuple[Instruction, ...]:
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(_instruction(16 * number, line) for number, line in enumerate(lines))


def flow(text: str, jumps: dict[int, tuple[int, ...]] | None = None) -> Flow:
    return flow_of(code(text), jumps or {})


def function(*texts: str, registers: int = 32, frame_bytes: int = 0, shared_bytes: int = 0) -> SassFunction:
    """The kernel, then what it calls: `f1`, `f2`, ..., each from address 0."""
    procedures = [Procedure(f"f{number}", flow(text)) for number, text in enumerate(texts)]
    return SassFunction("f0", 90, tuple(procedures), registers, shared_bytes, frame_bytes)


def _instruction(address: int, line: str) -> Instruction:
    before, _, text = line.rpartition("|")
    said = dict(word.split("=") for word in before.split())
    words = text.split()
    guard = words.pop(0) if words[0].startswith("@") else ""
    control = Control(
        int(said.get("stall", 1)),
        False,
        int(said["write"]) if "write" in said else None,
        int(said["read"]) if "read" in said else None,
        sum(1 << int(digit) for digit in said.get("wait", "")),
        0,
    )
    return Instruction(address, guard, words[0], "".join(words[1:]), control, NONE, NONE, NONE)
