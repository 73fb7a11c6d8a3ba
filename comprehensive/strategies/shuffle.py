"""Reads of what the next thread along x has read become warp shuffles: fewer words of global memory a thread.

    b[j] = a[j - 1] + a[j] + a[j + 1]      -->      one load of a, two shuffles; the ends of rows and warps load

The nest stays: it is the kernel that has the shuffles (``lowering/shuffles.py``, which says why they are right), and
wherever they cannot be, loads.  Arrays that are in shared memory have none left to save.  A shuffle keeps a value, the
lanes that there are and the address for those at the ends in registers; the counter of registers sees the kernel as it
is and may refuse it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, NotApplicable


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Threads take from their neighbours what these have read."""

    name: str = "shuffle"
    improves: tuple[str, ...] = ("intensity", "coalescing")
    on_ir: bool = True
    decision: tuple[str, str] = ("", "")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        from comprehensive.counters.shared_words import KERNEL_NAME
        from comprehensive.lowering.lower import lower

        if fragment.tile is not None:
            return NotApplicable("a kernel over tiles has ways of its own to share what it reads")
        every = tuple(array.name for array in fragment.nest.arrays)
        shuffled = lower(replace(fragment, shuffled=every), KERNEL_NAME).shuffled
        if not shuffled:
            return NotApplicable("no thread reads in global memory what its neighbour has read")
        if set(shuffled) <= set(fragment.shuffled):
            return NotApplicable(f"shuffled already: {', '.join(shuffled)}")
        return Applied(replace(fragment, shuffled=shuffled), f"shuffled: {', '.join(shuffled)}")
