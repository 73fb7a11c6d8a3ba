"""The code that puts the number of a thread in its block into ``R1``, instead of the stack pointer.

    R1 = (tid.z * ntid.y + tid.y) * ntid.x + tid.x        [* bytes of a cell]  [+ rank of the block in its cluster]

It stands behind the kernel: what was at its beginning jumps there, and it jumps back.  Nothing else moves, so that
branches, tables and records of the kernel hold.  All other registers are free where a kernel begins.

Where the register is not scaled by the instructions, its upper 8 bits are the rank of the block, from sm_90 on, as in
all addresses that ptxas makes there.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.sass.control import WORD_BYTES, Control, control_word

STACK_POINTER = 1
REGISTERS = 7
"""The number of registers that the code uses, from R0 on."""

_FIRST_WITH_RANKS = 90
_FIRST_WITH_SPLIT_DISTANCE = 90
_RANK_SCALE = 1 << 24
_TID_X, _TID_Y, _TID_Z, _RANK = 0x21, 0x22, 0x23, 0x88
_NTID_X, _NTID_Y = 0x0, 0x4
"""Offsets in bank 0 of constants, up to sm_90."""
_ALWAYS = 7 << 12
_NONE = 0xFF
"""The register RZ."""
_FIXED_LATENCY = 6
_MULTIPLY_ADD = 0x078E02 << 72
"""Signed, without a carry."""


def prologue(address: int, back: int, architecture: int, *, scale: int | None) -> tuple[int, ...]:
    """Return the words of the code at ``address``, which ends with a jump to ``back``; both in bytes.

    ``scale`` is what the number of the thread is multiplied by; None leaves it, and the rank of the block, to the
    instructions that use it.
    """
    words = tuple(_number_of_thread(architecture, scale))
    return (*words, branch(architecture, address + len(words) * WORD_BYTES, back))


def _number_of_thread(architecture: int, scale: int | None) -> Iterator[int]:
    has_rank = scale is not None and architecture >= _FIRST_WITH_RANKS
    for register, special in ((1, _TID_Z), (2, _TID_Y), (3, _TID_X), *(((6, _RANK),) if has_rank else ())):
        yield _special(register, special)
    yield _constant(4, _NTID_Y)
    yield _constant(5, _NTID_X)
    yield _multiply_add(1, 1, 4, 2, wait_mask=0b11)
    yield _multiply_add(1, 1, 5, 3)
    if scale is not None:
        yield _multiply_add_immediate(1, 1, scale, _NONE)
    if has_rank:
        yield _multiply_add_immediate(1, 6, _RANK_SCALE, 1)


def branch(architecture: int, address: int, target: int) -> int:
    """``BRA target``: the word at ``address``, both in bytes."""
    # Counted from the next instruction, in units of 4 bytes.
    distance = (target - address - WORD_BYTES) // 4
    if architecture < _FIRST_WITH_SPLIT_DISTANCE:
        operands = (distance & (1 << 48) - 1) << 34
    else:
        operands = (distance & 0xFF) << 16 | (distance >> 8 & (1 << 48) - 1) << 34
    return 0x947 | _ALWAYS | operands | 7 << 87 | _control(5)


def filling(architecture: int, address: int, end: int) -> tuple[int, ...]:
    """Return what ptxas fills a section with: a jump to itself, that nothing behind code is fetched, and ``NOP``."""
    count = (end - address) // WORD_BYTES
    nothing = 0x918 | _ALWAYS | _control(0)
    return (branch(architecture, address, address), *(nothing for _ in range(count - 1)))


def _special(register: int, number: int) -> int:
    """``S2R register, SR``: scoreboard 0."""
    return 0x919 | _ALWAYS | register << 16 | number << 72 | _control(2, write=0)


def _constant(register: int, offset: int) -> int:
    """``LDC register, c[0x0][offset]``: scoreboard 1."""
    return 0xB82 | _ALWAYS | register << 16 | _NONE << 24 | offset << 38 | 4 << 73 | _control(2, write=1)


def _multiply_add(result: int, one: int, other: int, added: int, wait_mask: int = 0) -> int:
    """``IMAD result, one, other, added``."""
    operands = result << 16 | one << 24 | other << 32 | added << 64
    return 0x224 | _ALWAYS | operands | _MULTIPLY_ADD | _control(_FIXED_LATENCY, wait_mask=wait_mask)


def _multiply_add_immediate(result: int, one: int, number: int, added: int) -> int:
    """``IMAD result, one, number, added``."""
    operands = result << 16 | one << 24 | number << 32 | added << 64
    return 0x824 | _ALWAYS | operands | _MULTIPLY_ADD | _control(_FIXED_LATENCY)


def _control(stall: int, write: int | None = None, wait_mask: int = 0) -> int:
    return control_word(
        Control(stall, yields=stall == 0, write=write, read=None, wait_mask=wait_mask, reuse_mask=0)
    )
