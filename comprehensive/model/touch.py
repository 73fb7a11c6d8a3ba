"""One access of a block to memory, as whoever watches a walk through its kernel is told of it (`block.py`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from comprehensive.metafork.ast import Index
from comprehensive.model.accesses import Mask


class Touch(Struct, frozen=True, eq=False):
    """An access of all active threads, as the kernel writes it: nothing is left out that is read before.

    ``begin`` is the byte where each begins, from the begin of the array or of shared memory; None where data decides.
    """

    reference: Index
    """The reference of the access; for several in a row, as of vectors, the first one."""
    is_shared: bool
    writes: bool
    begin: Any
    width: int
    """The bytes of a thread."""
    active: Mask | None
    """The threads that take part; None where all do."""
    times: float
    """The number of times that it is done, with turns of loops that are not gone through but alike."""
