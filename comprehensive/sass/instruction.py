"""One instruction: what nvdisasm prints of it, its control bits, and the registers that it touches."""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.sass.control import Control
from comprehensive.sass.registers import Registers


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of a function; ``address`` is in bytes from the start of its section.

    ``defines`` and ``uses`` are what it writes and reads; under a guard it may not write. ``live`` is what holds a
    value while it is executed: what it reads, what it writes, and what a later instruction reads.
    """

    address: int
    guard: str
    """``@P0``, ``@!UP1``; empty where it is always executed."""
    opcode: str
    """The mnemonic with all modifiers: ``LDG.E.64.CONSTANT``."""
    operands: str
    control: Control
    defines: Registers
    uses: Registers
    live: Registers

    @property
    def base(self) -> str:
        """The mnemonic without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(self.opcode.split(".")[1:])

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.guard, self.opcode, self.operands.replace(",", ", ")) if part)
