"""The frame of a kernel on its stack, where nothing but loads and stores at fixed places uses it.

In: a kernel and its words.  Out: :class:`Frame`::

    LDC R1, c[0x0][0x28]         # entry: the stack pointer of the thread
    VIADD R1, R1, -0x10          # adjustment
    STL [R1+0x8], R4             # accesses
    LDL.LU R4, [R1+0x8]

Spills are so, and arrays with constant subscripts.  Anything else that touches the stack pointer can make an address of
it, and is a reason to leave the kernel as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.sass.control import WORD_BYTES
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.spills.local_access import LocalAccess, is_local, local_access
from comprehensive.sass.spills.prologue import REGISTERS, STACK_POINTER

_MASK = 1 << STACK_POINTER
_IMMEDIATES = frozenset({0x810, 0x836})
"""``IADD3 R1, R1, n, RZ`` and ``VIADD R1, R1, n``: the number stands in bits 32 to 63."""
_TARGET = re.compile(r"(?:^|,)(0x[0-9a-f]+)$")
_CALLS = frozenset({"CALL", "JMP", "JMX", "JMXU"})


@dataclass(frozen=True, slots=True)
class Frame:
    """``adjustment`` is the index of the word that moves the stack pointer; ``accesses`` are by index of the word."""

    adjustment: int
    accesses: Mapping[int, LocalAccess]


def frame_of(function: SassFunction, words: Sequence[int]) -> Frame | str:
    """Return the frame of a kernel, or why it cannot be moved."""
    if not function.frame_bytes:
        return "nothing is spilled: it has no local memory"
    if len(function.procedures) > 1:
        behind = function.procedures[1].name
        return f"{behind} stands behind it in its section, where the address of the slots would be made"
    accesses: dict[int, LocalAccess] = {}
    defining: list[Instruction] = []
    for instruction in function.instructions:
        index = instruction.address // WORD_BYTES
        if instruction.base in _CALLS:
            # Of an address it is a jump; what nvdisasm says of its registers is a guess.
            if not _TARGET.search(instruction.operands):
                return _at(instruction, "calls what needs the stack")
        elif instruction.defines.general & _MASK:
            defining.append(instruction)
        elif is_local(words[index]):
            access = local_access(words[index])
            if access is None or access.register != STACK_POINTER:
                return _at(
                    instruction, "is no access at a fixed place of the stack: an array with subscripts"
                )
            if (why := _misplaced(access, function.frame_bytes)) is not None:
                return _at(instruction, why)
            accesses[index] = access
        elif instruction.uses.general & _MASK:
            return _at(instruction, "takes an address on the stack, as for an array or for a call")
    return _checked(function, words, defining, accesses)


def _checked(
    function: SassFunction,
    words: Sequence[int],
    defining: Sequence[Instruction],
    accesses: Mapping[int, LocalAccess],
) -> Frame | str:
    if len(defining) != 2:
        changes = "changes" if len(defining) == 1 else f"is changed {len(defining)} times: it"
        return f"the stack pointer {changes} otherwise than at the beginning of a kernel"
    entry, adjusting = defining
    if entry.address or entry.guard or entry.uses.general or "c[0x0]" not in entry.operands:
        return _at(entry, "is not how a kernel begins")
    if function.registers_per_thread < REGISTERS:
        return f"it has fewer than {REGISTERS} registers"
    index = adjusting.address // WORD_BYTES
    word = words[index]
    moved = -(word >> 32 & 0xFFFFFFFF) & 0xFFFFFFFF
    if adjusting.guard or word & 0xFFF not in _IMMEDIATES or moved != function.frame_bytes:
        return _at(adjusting, f"does not make a frame of {function.frame_bytes} bytes")
    if not accesses:
        return "nothing is spilled: its local memory is not accessed"
    return Frame(index, accesses)


def without_adjustment(word: int) -> int:
    """Return the word that moves the stack pointer such that it leaves it: ``R1 + 0``."""
    return word & ~(0xFFFFFFFF << 32)


def _misplaced(access: LocalAccess, frame_bytes: int) -> str | None:
    if not 0 <= access.offset <= frame_bytes - access.width:
        return f"is outside of the frame of {frame_bytes} bytes"
    return "is not aligned" if access.offset % access.width else None


def _at(instruction: Instruction, why: str) -> str:
    return f"{instruction.text} at {instruction.address:#x} {why}"
