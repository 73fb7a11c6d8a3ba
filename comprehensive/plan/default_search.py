"""The search for program parameters that a caller leaves open: the exponents that are tried, and what is known then.

In: a region and the interface of its function.  Out: what the launcher, and :mod:`comprehensive.model.defaults` as it
does, may ask before host code runs::

    known_early(region, host).scalars     the scalars that host code computes from arguments, which costs read
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Scalar
from comprehensive.metafork.ast import Expr
from comprehensive.plan.host_scalars import computed_before
from comprehensive.plan.interface import Interface
from comprehensive.plan.plan import RegionPlan
from comprehensive.plan.sizes_read import cost_sizes, selection_sizes

LARGEST_EXPONENT = 10
"""Searches among powers of two end at 2**10: no extent of a block is larger."""

MOST_TRIED = 6
"""Parameters of a function for which the choice of defaults tries several values of each."""


def coarse_exponents(parameters: int) -> tuple[int, ...]:
    """Return the exponents of the powers of two with which each program parameter is tried first.

    They give some dozens of candidates in all.
    """
    if parameters <= 1:
        return tuple(range(LARGEST_EXPONENT + 1))
    if parameters > MOST_TRIED:
        return (0,)
    return {2: (0, 1, 3, 5, 7, 9), 3: (0, 2, 4, 6, 8), 4: (0, 3, 5)}.get(parameters, (0, 4))


def neighbours(parameters: int) -> int:
    """Return the number of candidates that differ from one by a factor of two, or not at all, in each parameter."""
    return 3**parameters if 2 <= parameters <= 4 else 0


class KnownEarly(Struct, frozen=True):
    """The knowledge of a region before host code runs.

    ``scalars`` are those that host code computes, in order, with their values; None where one is known at the launch
    only, and the choice leaves the region out.
    """

    scalars: tuple[tuple[Scalar, Expr], ...] | None
    tiles: bool
    """Whether what tiles of one sweep cost is known, too."""


def known_early(region: RegionPlan, host: Interface) -> KnownEarly:
    """Return what is known of a region before host code runs."""
    passed = [a.name for a in host.everything]
    sizes = (*selection_sizes(region, host.program_names), *cost_sizes(region, host.program_names))
    wanted = frozenset(s.name for s in sizes)
    of_tiles = frozenset(
        name for plan in region.single for _, limit in plan.kernel.limits for name in names_read(limit)
    )
    with_tiles = computed_before(region.nest, wanted | of_tiles, passed)
    if with_tiles is None or not of_tiles <= {*passed, *(scalar.name for scalar, _ in with_tiles)}:
        return KnownEarly(computed_before(region.nest, wanted, passed), False)
    return KnownEarly(with_tiles, any(plan.instances for plan in region.single))
