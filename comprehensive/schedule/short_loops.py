"""Loops of a few constant steps, which are unrolled whole instead of being done in pieces.

::

    for (y < 3) for (x < 3) sum += in[i + y][j + x] * w[y][x]                  is short: 9 steps
    for (c < 3) for (y < 16) for (x < 16) sum += in[c][..][..] * w[c][y][x]    is not, though each of its loops is
"""

from __future__ import annotations

from comprehensive.metafork.ast import For, IntLiteral
from comprehensive.metafork.walk import statements_in

SHORT = 32
"""Steps of a loop that is unrolled whole."""
SHORT_NEST = 128
"""Steps of loops in each other that are unrolled whole, and not worth pieces in shared memory: points do 11 x 11."""


def is_short(loop: For) -> bool:
    """Whether the loop alone has a few constant steps."""
    return isinstance(loop.bound, IntLiteral) and loop.bound.value <= SHORT


def is_short_nest(loop: For) -> bool:
    """Whether the loop has a few constant steps, and few with those of the loops in it."""
    return is_short(loop) and _steps(loop) <= SHORT_NEST


def _steps(loop: For) -> int:
    """The steps of a loop and of the loops in it, of which one of a run-time length counts for one."""
    inner = max((_steps(s) for s in statements_in(loop.body) if isinstance(s, For)), default=1)
    return loop.bound.value * inner if isinstance(loop.bound, IntLiteral) else inner
