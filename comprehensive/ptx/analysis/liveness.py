"""Live registers: bit ``r`` of a mask is register number ``r`` of the flow.

In: a :class:`Cfg`.  Out: a :class:`Liveness`::

    live = liveness_of(cfg)
    live.live_in[2]            # mask at the beginning of block 2
    live.before[7]             # mask before step 7
    numbers_in(live.before[7])   # (0, 3): their numbers

A definition under a guard does not end a value.  Result registers of a function are read where it is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.cfg import Cfg


@dataclass(frozen=True)
class Liveness:
    """Masks at the borders of blocks."""

    cfg: Cfg
    live_in: tuple[int, ...]
    live_out: tuple[int, ...]

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The registers that are live before every step, as masks."""
        return tuple(mask for mask, _ in self._around)

    @cached_property
    def after(self) -> tuple[int, ...]:
        """The registers that are live behind every step, as masks.

        What the step defines counts only where it is read.
        """
        return tuple(mask for _, mask in self._around)

    @cached_property
    def _around(self) -> tuple[tuple[int, int], ...]:
        steps = self.cfg.flow.steps
        bits = _bits(self.cfg)
        found: list[tuple[int, int]] = [(0, 0)] * len(steps)
        for block in self.cfg.blocks:
            live = self.live_out[block.number]
            for number in reversed(block.steps):
                step = steps[number]
                after = live
                if step.guard is None:
                    for register in step.defines:
                        live &= ~bits[register]
                for register in step.reads:
                    live |= bits[register]
                found[number] = (live, after)
        return tuple(found)

    @cached_property
    def ranges(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The stretches of steps ``[first, last)`` before which each register is live."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.cfg.flow.registers]
        begun: dict[int, int] = {}
        last = 0
        for number, mask in enumerate((*self.before, 0)):
            changed = mask ^ last
            if changed:
                for register in numbers_in(changed):
                    if mask >> register & 1:
                        begun[register] = number
                    else:
                        found[register].append((begun.pop(register), number))
            last = mask
        return tuple(map(tuple, found))


def liveness_of(cfg: Cfg) -> Liveness:
    """Masks by iteration from the ends; blocks that cannot be reached are looked at, too.

    >>> liveness_of(cfg).live_in    # doctest: +SKIP
    (0, 6, 2)
    """
    bits = _bits(cfg)
    read: list[int] = []
    kept: list[int] = []
    for block in cfg.blocks:
        used, defined = _summary(cfg, block.steps, bits)
        read.append(used)
        kept.append(~defined)
    results = results_of(cfg)
    live_in = list(read)
    live_out = [results if block.leaves else 0 for block in cfg.blocks]
    order = [*reversed(cfg.order), *reversed(cfg.unreachable)]
    waiting = bytearray(b"\1" * len(cfg.blocks))
    changed = True
    while changed:
        changed = False
        for number in order:
            if not waiting[number]:
                continue
            waiting[number] = 0
            block = cfg.blocks[number]
            out = live_out[number]
            for successor in block.successors:
                out |= live_in[successor]
            live_out[number] = out
            into = read[number] | (out & kept[number])
            if into != live_in[number]:
                live_in[number] = into
                for predecessor in block.predecessors:
                    waiting[predecessor] = 1
                    changed = True
    return Liveness(cfg, tuple(live_in), tuple(live_out))


def numbers_in(mask: int) -> Iterator[int]:
    """The numbers whose bits are set, least first.

    >>> list(numbers_in(0b1010))
    [1, 3]
    """
    data = mask.to_bytes((mask.bit_length() + 7) // 8, "little")
    for index, byte in enumerate(data):
        if byte:
            for bit in range(8):
                if byte >> bit & 1:
                    yield index * 8 + bit


def _bits(cfg: Cfg) -> list[int]:
    return [1 << number for number in range(len(cfg.flow.registers))]


def _summary(cfg: Cfg, steps: range, bits: list[int]) -> tuple[int, int]:
    """Return masks of registers that are read before they are surely defined, and of those surely defined."""
    used: set[int] = set()
    defined: set[int] = set()
    for number in steps:
        step = cfg.flow.steps[number]
        for register in step.reads:
            if register not in defined:
                used.add(register)
        if step.guard is None:
            defined.update(step.defines)
    return _mask(used, bits), _mask(defined, bits)


def _mask(registers: set[int], bits: list[int]) -> int:
    """Sums of single bits; few of them, so that this is not worth a table of bytes."""
    found = 0
    for register in registers:
        found |= bits[register]
    return found


def results_of(cfg: Cfg) -> int:
    """The registers that a function gives back."""
    flow = cfg.flow
    return sum(
        1 << flow.names[r.name] for r in flow.function.returns if r.is_register and r.name in flow.names
    )
