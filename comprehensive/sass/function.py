"""A kernel in machine code: its procedures, and what a launch of it takes.

What is called inside a section stands behind the kernel in it: functions that were not inlined, and those by which the
assembler divides, takes roots, or shuffles in warps whose lanes have parted.  Each is a :class:`Procedure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from comprehensive.sass.flow import Flow
from comprehensive.sass.instruction import Instruction


@dataclass(frozen=True, slots=True)
class LoopName:
    """A loop of a procedure under the name by which people and callers know it: ``L0``."""

    name: str
    procedure: int
    loop: int
    """Its number in ``flow.loops`` of the procedure."""
    address: int
    """The address of the first instruction of its header."""
    depth: int


@dataclass(frozen=True)
class Procedure:
    """Code that is entered at its first instruction; the first one of a function is the kernel itself."""

    name: str
    flow: Flow

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        return self.flow.instructions


@dataclass(frozen=True)
class SassFunction:
    """A kernel, or a function that is compiled on its own, with what one thread or block of it takes."""

    name: str
    architecture: int
    """Ten times the compute capability."""
    procedures: tuple[Procedure, ...]
    registers_per_thread: int
    shared_bytes: int
    """Static shared memory of a block, without what the system takes."""
    frame_bytes: int
    """Local memory of a thread."""

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions, without the padding behind them."""
        return tuple(instruction for each in self.procedures for instruction in each.instructions)

    @cached_property
    def loops(self) -> tuple[LoopName, ...]:
        """All loops in the order of their headers in the code, named ``L0``, ``L1``, ..."""
        found = sorted(
            (procedure.instructions[procedure.flow.blocks[loop.header].start].address, number, loop)
            for number, procedure in enumerate(self.procedures)
            for loop in procedure.flow.loops.loops
        )
        return tuple(
            LoopName(f"L{index}", number, loop.number, address, loop.depth)
            for index, (address, number, loop) in enumerate(found)
        )

    @cached_property
    def loop_names(self) -> Mapping[tuple[int, int], str]:
        """Names of loops by the numbers of procedure and loop."""
        return {(each.procedure, each.loop): each.name for each in self.loops}

    def procedure(self, name: str) -> int | None:
        """The number of the procedure of that name; None where it is in no section of this function."""
        return next((n for n, each in enumerate(self.procedures) if each.name == name), None)
