"""A value that a loop reads in every turn, read before it: a loop that has no turn reads nothing.

In: a loop that counts up, and the value.  Out: what is read before it::

    for (k < n) ... a[i] ...     -->  k < n ? a[i] : 0
    for (k < 3) ... a[i] ...     -->  a[i]
"""

from __future__ import annotations

from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ZERO
from comprehensive.metafork.ast import Binary, Conditional, Expr, For, IntLiteral


def read_before(loop: For, value: Expr) -> Expr:
    """The value if the loop has a turn."""
    runs = fold(Binary("<", loop.start, loop.bound))
    if isinstance(runs, IntLiteral):
        return value if runs.value else ZERO
    return Conditional(runs, value, ZERO)
