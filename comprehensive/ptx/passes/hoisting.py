"""The number of words that ptxas may keep in registers through a loop, where loads of inner loops do not change in it.

    for j:                          with vectors ptxas unrolls the inner loop and loads x[0..127] once,
        for d in 0..127:    -->     before the loop over j: 128 registers
            s += x[d] * y[j][d]

ptxas 13.0 does so with vectors where it leaves as many loads of single words in the loop, so that a kernel of 32
registers gets 168.
"""

from __future__ import annotations

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.loops import Loop
from comprehensive.ptx.analysis.symbols import Symbol
from comprehensive.ptx.passes.memory import Memory


def hoisted_words(analyses: Analyses, load: int, words: int) -> int:
    """Return the words that a step loads in all rounds of the loops in which its address changes.

    It is 0 unless a loop around these leaves the address unchanged and nothing in that loop writes there.
    ``words`` are those of one load.
    """
    affine = analyses.affine
    address = affine.addresses[load]
    if address is None:
        return 0
    changes_in = {loop for number, _ in address.terms for loop in _changes_in(affine.symbols[number])}
    for loop in analyses.loops.around(analyses.cfg.block_of[load]):
        if loop.number not in changes_in:
            return 0 if _is_written(analyses, load, loop) else words
        trips = affine.trips.get(loop.number)
        if trips is None or trips.constant is None:
            return 0
        words *= trips.constant + 1
    return 0


def _changes_in(symbol: Symbol) -> frozenset[int]:
    """Loops in which it is another number from one round to the next, if inner loops are done as often as before."""
    match symbol.kind, symbol.key:
        case "count", (int() as loop,):
            return frozenset((loop,))
        case _:
            return symbol.loops


def _is_written(analyses: Analyses, load: int, loop: Loop) -> bool:
    memory = Memory(analyses)
    steps = (step for block in loop.blocks for step in analyses.cfg.blocks[block].steps)
    return any(memory.may_write(step, load) for step in steps)
