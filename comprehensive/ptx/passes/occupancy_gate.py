"""How many registers a pass may have ptxas use before fewer blocks fit a multiprocessor.

    next_cliff(36, 256)      # 40: at 41 registers five blocks of 256 threads become four

Registers by live values: 0.87 of the greatest number of live words, without those that are the same in all threads of a
warp or cheap to compute again, and 12.5; over 189 kernels for sm_90 ptxas 13.0 is 7.2 registers away from that on
average (r = 0.935).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import Function

# Of a multiprocessor, sm_80 and sm_90; those with 1536 threads have their first cliff at 40.
_REGISTERS = 65536
_THREADS = 2048
_BLOCKS = 32
_MOST_A_THREAD = 255
# ptxas rounds registers up to a multiple of 8 per thread.
_STEP = 8
PREDICTION_ERROR = 7.2
"""The prediction is that far from what ptxas uses, on average."""


def predicted_registers(analyses: Analyses) -> int:
    return round(0.87 * analyses.pressure.ml2 + 12.5)


def next_cliff(registers: int, threads: int) -> int:
    """The most registers with which as many blocks fit as with ``registers``; 255 where there is none above."""
    threads = -(-threads // 32) * 32
    blocks = min(_THREADS // threads, _BLOCKS)
    cliffs = (_REGISTERS // (threads * n) // _STEP * _STEP for n in range(blocks, 0, -1))
    return next((r for r in cliffs if registers <= r < _MOST_A_THREAD), _MOST_A_THREAD)


def threads_of(function: Function, otherwise: int) -> int:
    """Return the threads of a block by the directives of a function; ``otherwise`` where it has none."""
    return prod(function.tuning("reqntid") or function.tuning("maxntid") or (otherwise,))


def register_cap(function: Function) -> int:
    """The most registers that ptxas may use, by the directives of a function."""
    threads = threads_of(function, 1)
    blocks = prod(function.tuning("minnctapersm")[:1]) or 1
    threads = -(-max(threads, 1) // 32) * 32
    of_blocks = _REGISTERS // (threads * blocks) // _STEP * _STEP
    stated = [number for number in function.tuning("maxnreg")[:1] if number]
    return max(_STEP, min(_MOST_A_THREAD, of_blocks, *stated))


def is_near_cap(registers: int, cap: int) -> bool:
    """Whether ptxas may have to make do with fewer registers than it wants: predictions are not exact.

    >>> is_near_cap(118, 128), is_near_cap(100, 128)
    (True, False)
    """
    return -(-(registers + PREDICTION_ERROR) // _STEP) * _STEP >= cap


@dataclass(frozen=True, slots=True)
class RegisterGate:
    """How far a pass may go; ``words`` are the most that may be live, summed over the text, None where only the most at
    once counts."""

    registers: int
    words: int | None

    @classmethod
    def of(cls, before: Analyses, threads: int) -> RegisterGate:
        cap = register_cap(before.function)
        registers = predicted_registers(before)
        if is_near_cap(registers, cap):
            return cls(max(registers, cap), sum(before.pressure.words))
        return cls(min(cap, next_cliff(registers, threads_of(before.function, threads))), None)

    def is_passed(self, after: Analyses) -> bool:
        if predicted_registers(after) > self.registers:
            return False
        return self.words is None or sum(after.pressure.words) <= self.words

    def most_passed(self, count: int, with_first: Callable[[int], Analyses]) -> int:
        """How many of so many changes, from the first, pass the gate; ``with_first`` makes the first few of them."""
        if not count or self.is_passed(with_first(count)):
            return count
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if self.is_passed(with_first(middle)):
                low = middle
            else:
                high = middle
        return low

    @property
    def why(self) -> str:
        if self.words is not None:
            return f"it would live longer where nearly {self.registers} registers are taken, and there are no more"
        return f"it would take more than {self.registers} registers, a cliff of the occupancy"
