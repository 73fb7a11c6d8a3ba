"""The order in which people read the symbols of a nest: a nest in, names out."""

from __future__ import annotations

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest


def reading_order(nest: Nest) -> tuple[str, ...]:
    """The scalars, those that shape a block last: a granularity before the extents that it multiplies, `2*s*B`."""
    shape = {name for loop in nest.thread_loops for name in names_read(loop.extent)}
    names = [s.name for s in nest.scalars]
    return (*(name for name in names if name not in shape), *(name for name in names if name in shape))
