"""The control bits of an instruction's 128-bit word, which tell the scheduler when to issue it.

    control_of(word).stall          # 4: cycles until the next instruction of the warp may be issued
    control_of(word).waits          # (0, 2): scoreboards that must be clear before this one is issued

Positions of the bits hold from sm_75 on; they were checked against what nvdisasm prints, see README.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SCOREBOARDS = 6
"""Counters of a warp; what takes an unknown time raises one when it is issued, and lowers it when it is done."""

OLDEST_ARCHITECTURE = 75
WORD_BYTES = 16

_STALL, _YIELD, _WRITE, _READ, _WAIT, _REUSE = 105, 109, 110, 113, 116, 122
_NO_SCOREBOARD = 7


@dataclass(frozen=True, slots=True)
class Control:
    """The control bits of an instruction.

    ``write`` is the scoreboard that is lowered when the results are written, ``read`` the one that is lowered when the
    operands have been read; None for what needs neither.
    """

    stall: int
    """Cycles to the next instruction of the warp, 0 to 15."""
    yields: bool
    """The scheduler is told to prefer another warp next."""
    write: int | None
    read: int | None
    wait_mask: int
    """Bit i: wait until scoreboard i is 0."""
    reuse_mask: int
    """Bit i: the register of source i stays in the operand cache for the next instruction."""

    @property
    def waits(self) -> tuple[int, ...]:
        return tuple(number for number in range(SCOREBOARDS) if self.wait_mask >> number & 1)


def control_of(word: int) -> Control:
    """Return the control bits of an instruction word of 128 bits."""

    def field(low: int, width: int) -> int:
        return word >> low & (1 << width) - 1

    return Control(
        stall=field(_STALL, 4),
        yields=field(_YIELD, 1) == 0,
        write=_scoreboard(field(_WRITE, 3)),
        read=_scoreboard(field(_READ, 3)),
        wait_mask=field(_WAIT, SCOREBOARDS),
        reuse_mask=field(_REUSE, 4),
    )


def control_word(control: Control) -> int:
    """Return the word that has these control bits and no others: the inverse of :func:`control_of`."""
    return (
        control.stall << _STALL
        | (not control.yields) << _YIELD
        | _number(control.write) << _WRITE
        | _number(control.read) << _READ
        | control.wait_mask << _WAIT
        | control.reuse_mask << _REUSE
    )


def words_of(code: bytes) -> tuple[int, ...]:
    """Return the instruction words of a section of code."""
    starts = range(0, len(code) - WORD_BYTES + 1, WORD_BYTES)
    return tuple(int.from_bytes(code[start : start + WORD_BYTES], "little") for start in starts)


def code_of_words(words: Iterable[int]) -> bytes:
    """Return a section of code of instruction words: the inverse of :func:`words_of`."""
    return b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)


def _scoreboard(number: int) -> int | None:
    return None if number == _NO_SCOREBOARD else number


def _number(scoreboard: int | None) -> int:
    return _NO_SCOREBOARD if scoreboard is None else scoreboard
