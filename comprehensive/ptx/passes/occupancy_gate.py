"""The most registers that a pass may have ptxas use before fewer blocks fit a multiprocessor: one gate for all passes.

    gate = RegisterGate.of(before, build)
    gate.is_passed(after)                                        # what passes ask while they choose
    gated(ptx_pass, before_module, after_module, remarks, build) # what the pipeline asks behind each pass

Passes go by live values: 0.87 of the greatest number of live words, without those that are the same in all threads of a
warp or cheap to compute again, and 12.5; over 189 kernels for sm_90 ptxas 13.0 is 7.2 registers away from that on
average (r = 0.935).  What ptxas makes of longer lives, of vectors for instance, is not in them, so that the pipeline
goes by ptxas itself where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from comprehensive.machine.device import Device, load_device
from comprehensive.machine.occupancy import occupancy, register_cliffs
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.build import REGISTER_STEP, Build, tuning_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.toolchain.usage import MOST_REGISTERS, Usage

# Of which nothing is known is taken to be this one.
_DEVICE = "sm_90"
_ENOUGH_WARPS = 32
"""So many warps on a multiprocessor, and fewer blocks do no harm: more than 28 never paid on the H200 (5 kernels)."""
PREDICTION_ERROR = 7.2
"""The prediction is that far from what ptxas uses, on average."""


def predicted_registers(analyses: Analyses) -> int:
    return _registers_for(analyses.pressure.ml2)


def _registers_for(words: int) -> int:
    return round(0.87 * words + 12.5)


def next_cliff(registers: int, threads: int, device: Device) -> int:
    """The most registers with which as many blocks fit as with ``registers``; 255 where there is none above.

    >>> next_cliff(36, 256, load_device("sm_90"))    # at 41 registers six blocks of 256 threads become five
    40
    """
    return min((cliff for cliff in _cliffs(device, threads) if cliff >= registers), default=MOST_REGISTERS)


@cache
def _cliffs(device: Device, threads: int) -> tuple[int, ...]:
    cliffs = register_cliffs(device, threads_per_block=threads, shared_bytes_per_block=0)
    return tuple(registers for registers, _ in cliffs)


def register_cap(function: Function, build: Build, device: Device) -> int:
    """The most registers that ptxas may use, by what is stated for the kernel."""
    stated = tuning_of(function, build.limits)
    threads = -(-(stated.threads or 1) // device.warp_threads) * device.warp_threads
    of_blocks = device.registers_per_sm // (threads * stated.blocks) // REGISTER_STEP * REGISTER_STEP
    return max(REGISTER_STEP, min(MOST_REGISTERS, of_blocks, stated.registers or MOST_REGISTERS))


def is_near_cap(registers: int, cap: int) -> bool:
    """Whether ptxas may have to make do with fewer registers than it wants: predictions are not exact.

    >>> is_near_cap(118, 128), is_near_cap(100, 128)
    (True, False)
    """
    return -(-(registers + PREDICTION_ERROR) // REGISTER_STEP) * REGISTER_STEP >= cap


@dataclass(frozen=True, slots=True)
class RegisterGate:
    """The bound that a pass has to keep; ``words`` are the most that may be live, summed over the text, None where only
    the most at once counts."""

    registers: int
    words: int | None

    @classmethod
    def of(cls, before: Analyses, build: Build) -> RegisterGate:
        device = _device(build, before.module)
        cap = register_cap(before.function, build, device)
        registers = predicted_registers(before)
        if is_near_cap(registers, cap):
            return cls(max(registers, cap), sum(before.live_words))
        return cls(min(cap, next_cliff(registers, build.threads_of(before.function), device)), None)

    def is_passed(self, after: Analyses) -> bool:
        # What is live says much, and takes less than to find what of it counts.
        if self.words is not None and sum(after.live_words) > self.words:
            return False
        most = _registers_for(max(after.live_words, default=0))
        return most <= self.registers or predicted_registers(after) <= self.registers

    def most_passed(self, count: int, with_first: Callable[[int], Analyses]) -> int:
        """Return how many of the changes, from the first, pass the gate; ``with_first`` makes the first few of them."""
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


def gated(
    ptx_pass: PtxPass, before: Module, after: Module, remarks: Sequence[Remark], build: Build
) -> tuple[Module, tuple[Remark, ...]]:
    """Put kernels back that take more registers than a pass may make them take, and say so in a remark."""
    refused: dict[str, str] = {}
    if ptx_pass.is_gated:
        for name, kernel in after.kernels.items():
            old = before.kernels[name]
            why = None if kernel is old else _refusal(before, old, after, kernel, build)
            if why is not None:
                refused[name] = why
    if not refused:
        return after, tuple(remarks)
    kept = [r for r in remarks if r.kind is not Kind.APPLIED or r.function not in refused]
    for name, why in refused.items():
        kept.append(Remark(Kind.MISSED, ptx_pass.name, name, None, f"'{name}' is as it was: {why}"))
    return after.with_functions({name: before.kernels[name] for name in refused}), tuple(kept)


def _refusal(before: Module, old: Function, after: Module, new: Function, build: Build) -> str | None:
    """Return why a kernel takes too many registers; None where it does not."""
    one = build.usage(before, old)
    two = None if one is None else build.usage(after, new)
    if one is None or two is None:
        gate = RegisterGate.of(Analyses(old, before), build)
        # Passes have asked for themselves; behind them only what is certain counts.
        is_beyond = predicted_registers(Analyses(new, after)) > gate.registers + PREDICTION_ERROR
        return gate.why if is_beyond else None
    if two.spill_bytes > one.spill_bytes:
        return f"ptxas spills {two.spill_bytes} bytes of it, not {one.spill_bytes}"
    threads, device = build.threads_of(old), _device(build, before)
    blocks, fewer = (_blocks(device, threads, usage) for usage in (one, two))
    if fewer >= blocks or fewer * -(-threads // device.warp_threads) >= _ENOUGH_WARPS:
        return None
    return (
        f"with {two.registers_per_thread} registers, not {one.registers_per_thread}, "
        f"a multiprocessor holds {fewer} blocks of {threads} threads, not {blocks}"
    )


def _blocks(device: Device, threads: int, usage: Usage) -> int:
    return occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=usage.registers_per_thread,
        shared_bytes_per_block=usage.shared_bytes,
    ).blocks_per_sm


def _device(build: Build, module: Module | None) -> Device:
    known = None if module is None else build.device(module)
    return load_device(_DEVICE) if known is None else known
