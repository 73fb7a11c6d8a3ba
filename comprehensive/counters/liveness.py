"""The number of words of registers alive at once: three-address code in, the maximum over all points out.

A register is alive where a later instruction may read the value it holds.  Sets of registers are integers, one
bit a register; the least solution of the data-flow equations is found by iteration (Aho et al., section 9.2.5).
Example: in ``r0 = ...; r1 = ...; r2 = r0 + r1`` two registers are alive before the last instruction.
"""

from __future__ import annotations

from comprehensive.counters.three_address import ThreeAddressCode


def max_live_words(code: ThreeAddressCode) -> int:
    """The largest number of 32-bit words alive at one point of the code."""
    live_in = [0] * len(code.blocks)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(code.blocks))):
            live = _through(code, number, _live_out(code, number, live_in))
            if live != live_in[number]:
                live_in[number], changed = live, True
    return max(
        (_peak(code, number, _live_out(code, number, live_in)) for number in range(len(code.blocks))),
        default=0,
    )


def _live_out(code: ThreeAddressCode, number: int, live_in: list[int]) -> int:
    live = 0
    for successor in code.blocks[number].successors:
        live |= live_in[successor]
    return live


def _through(code: ThreeAddressCode, number: int, live: int) -> int:
    for instruction in reversed(code.blocks[number].instructions):
        live = (live & ~_mask(instruction.writes)) | _mask(instruction.reads)
    return live


def _peak(code: ThreeAddressCode, number: int, live: int) -> int:
    peak = _words(code, live)
    for instruction in reversed(code.blocks[number].instructions):
        # The result needs its register even where nothing reads it.
        peak = max(peak, _words(code, live | _mask(instruction.writes)))
        live = (live & ~_mask(instruction.writes)) | _mask(instruction.reads)
        peak = max(peak, _words(code, live))
    return peak


def _mask(registers: tuple[int, ...]) -> int:
    mask = 0
    for register in registers:
        mask |= 1 << register
    return mask


def _words(code: ThreeAddressCode, live: int) -> int:
    total = 0
    while live:
        lowest = live & -live
        total += code.words[lowest.bit_length() - 1]
        live ^= lowest
    return total
