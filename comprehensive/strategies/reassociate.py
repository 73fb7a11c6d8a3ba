"""Sums in another order: threads share the serial loop of a point, each with every so many of its steps.

::

    sum = 0;  for (k < n) sum += a[y][k] * x[k];
        -->   thread l of D:  part = 0;  for (k of thread l) part += a[y][k] * x[k];
              sum = 0;  sum += part of thread 0 + part of thread 1 + ..   in pairs, a tree

No law of floating-point numbers: results differ in their last bits from those of the source, by at most what the order
of a sum may change, about ``n * 2^-24`` of the sum of the absolute values in single precision (Higham, Accuracy and
Stability of Numerical Algorithms, section 4.2).  Hence only where it is asked for.  On integers it is exact.  The
order is fixed: the same input gives the same bits.
"""

from __future__ import annotations

from dataclasses import replace

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.schedule.operands import serial_loop
from comprehensive.schedule.split_reduction import sums_of


def reassociate(variant: Variant) -> Applied[Variant] | NotApplicable:
    """The variant with threads that share the loop of a point."""
    tile = variant.tile
    assert tile is not None
    loop = None if tile.sweeps is not None else serial_loop(tile.alternatives[0].body)
    if loop is None:
        return NotApplicable("there is no serial loop")
    if len(tile.coordinates) + len(tile.batch) != 1:
        return NotApplicable("there are enough points: more than one coordinate")
    if isinstance(found := sums_of(variant.nest, tile, loop), str):
        return NotApplicable(found)
    changed = replace(tile, reassociated=True)
    return Applied(
        replace(variant, tile=changed), f"{tile.depth} threads share the loop over '{loop.iterator}'"
    )
