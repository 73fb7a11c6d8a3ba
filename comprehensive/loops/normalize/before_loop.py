"""A value that a loop reads in every turn, read before it: a loop that has no turn reads nothing.

In: a loop that counts up, and the value.  Out: what is read before it::

    for (k < n) ... a[i] ...     -->  k < n ? a[i] : 0
    for (k < 3) ... a[i] ...     -->  a[i]
"""

from __future__ import annotations

from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ZERO
from comprehensive.metafork.ast import Binary, Conditional, Expr, For, IntLiteral
from comprehensive.metafork.terms import conjunction


def read_before(value: Expr, *loops: For) -> Expr:
    """Return the value if all these loops have a turn."""
    runs = [fold(Binary("<", loop.start, loop.bound)) for loop in loops]
    if any(isinstance(e, IntLiteral) and not e.value for e in runs):
        return ZERO
    conditions = dict.fromkeys(e for e in runs if not isinstance(e, IntLiteral))
    if not conditions:
        return value
    return Conditional(conjunction(tuple(conditions)), value, ZERO)
