"""The profile of a leaf, for the choice of a leaf and its blocks: tables over numbers that a launch computes.

In: made of a kernel by :mod:`comprehensive.model.leaf_sites`.  Out: read by the printers of the header, and evaluated
by :mod:`comprehensive.model.leaf_cost`.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.machine.sites import Context, Sites
from comprehensive.metafork.ast import Expr, IntLiteral


class Profile(Struct, frozen=True):
    """The tables of a leaf from which its cost is computed.

    ``numbers`` are expressions over scalars of the nest and, by :func:`number_name`, over numbers before
    them.
    """

    numbers: tuple[Expr, ...]
    sites: Sites
    assumed: tuple[Span, ...] = ()
    """The loops of which data decides the turns, so that they are taken for a few."""


def number_name(position: int) -> str:
    """Return the name of the number at this position, as expressions use it."""
    return f"cf_n{position}"


NOTHING = Profile(
    (IntLiteral(0), IntLiteral(1)),
    Sites((Context(-1, 1, is_loop=False, instructions=0, wide=0),), (), ()),
)
"""The profile of a kernel of which no more is known than its grid and its blocks."""
