"""Flows of random programs, beside threads that run them."""

from __future__ import annotations

from random import Random

import pytest

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.symbolic.emulator import MOST_ENTRIES, Emulation, Sighting, emulate
from tests.ptx.random_programs import analysed, random_graph, random_program
from tests.ptx.threads import Thread
from tests.ptx.worth import THREADS, Symbols, follow_phis, thread_of, visits


class Memory:
    """The memory of a thread: where it has loaded last, at each step, and what it has written since."""

    def __init__(self) -> None:
        self.loads: dict[int, tuple[int, int]] = {}

    def load(self, step: int, address: int, stores: int) -> None:
        self.loads[step] = (address, stores)

    def is_valid(self, step: int, address: int, width: int, thread: Thread, wide: int) -> bool:
        if step not in self.loads or self.loads[step][0] != address:
            return False
        return width == 0 or all(
            at + wide <= address or address + width <= at for at, _ in thread.stores[self.loads[step][1] :]
        )


def demand_sightings(emulation: Emulation, analyses: Analyses, thread: Thread) -> int:
    """Check that a sighting of each load is what the thread does; return how many had earlier loads."""
    counts: dict[int, int] = {}
    known = emulation.arithmetic.symbols.all
    symbols = Symbols(analyses, known, thread, counts, dict(enumerate(thread.registers)))
    memory, previous, found = Memory(), 0, 0
    for visit in visits(analyses, thread, counts):
        step = analyses.flow.steps[visit.step]
        block = analyses.cfg.blocks[analyses.cfg.block_of[visit.step]]
        if visit.step == block.start:
            follow_phis(analyses, symbols, previous, block.number)
        previous = block.number
        code = step.instruction.opcode
        if code.base == "ld" and code.space == "global":
            assert any(fits(each, emulation, symbols, memory) for each in emulation.sightings[visit.step]), (
                step.instruction
            )
            found += any(each.earlier for each in emulation.sightings[visit.step])
            memory.load(visit.step, thread.address, len(thread.stores))
        for register, value in zip(step.defines, analyses.ssa.defines[visit.step], strict=True):
            symbols.values[value] = thread.registers[register]
    return found


def fits(sighting: Sighting, emulation: Emulation, symbols: Symbols, memory: Memory) -> bool:
    thread = symbols.thread
    try:
        if sighting.address is not None and symbols.form(sighting.address) != thread.address:
            return False
        for known, signed, low, high in sighting.facts.known():
            number = symbols.form(known)
            if signed and number >> (known.bits - 1):
                number -= 1 << known.bits
            if not low <= number <= high:
                return False
        for earlier in sighting.earlier:
            code = emulation.analyses.flow.steps[earlier.step].instruction.opcode
            # Stores of 8 bytes are taken for such of 4. What is loaded by .nc is not written, which nobody has told
            # the random program.
            width = 0 if "nc" in code.modifiers else bytes_of(code.types[-1])
            if not memory.is_valid(earlier.step, symbols.form(earlier.address), width, thread, 4):
                return False
    except KeyError:
        # A value that this thread never had.
        return False
    return True


@pytest.mark.parametrize(
    "first",
    [first if first < 50 else pytest.param(first, marks=pytest.mark.slow) for first in range(0, 300, 50)],
)
def test_every_load_of_a_thread_is_sighted_with_the_loads_before_it(first: int) -> None:
    found = 0
    for seed in range(first, first + 50):
        random = Random(seed)
        analyses = analysed(random_program(random, 16))
        emulation = emulate(analyses)
        assert max(emulation.entries) <= (MOST_ENTRIES + 2) ** 2
        for n in (0, 7, random.choice([100, 2**31 - 1, 2**31, 2**32 - 3])):
            thread = thread_of(analyses, random.randrange(THREADS), random.choice([0, 1, 2**23]), n, seed)
            found += demand_sightings(emulation, analyses, thread)
    assert found > 5


def test_graphs_with_cycles_of_two_entries_are_not_emulated() -> None:
    irregular = regular = 0
    for seed in range(60):
        analyses = analysed(random_graph(Random(seed), 7))
        emulation = emulate(analyses)
        irregular += bool(analyses.loops.irregular)
        regular += not analyses.loops.irregular
        assert bool(emulation.entries[0]) != bool(analyses.loops.irregular)
    assert min(irregular, regular) > 3
