"""The number of parts of a shared loop, and the number of steps in which each goes through its iterations.

In: the loops that are shared, outermost first.  Out: expressions over scalars that the launcher computes::

    for (i < n)                 i_parts = n / 4 between 1 and 131072,  i_steps = n / i_parts rounded up
    for (i < n) for (j < m)     j_parts of the inner loop first, so that neighbours read neighbours; i_parts of the rest
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Expr,
    For,
    HostScalar,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.fresh import Namer

MOST_PARTS = 1 << 17
"""The most parts of a loop: so many threads keep enough accesses in flight, and their parts are soon put together."""
ROWS = 512
"""Parts of the outer of two shared loops before the inner one gets more than so many would leave it."""
INNER = 32
"""Parts of an inner loop whose number of iterations the launcher does not know."""
LEAST_STEPS = 4
"""Iterations of a part, where there are as many."""
_ZERO, _ONE = IntLiteral(0), IntLiteral(1)
_INT_MAX = 2**31 - 1


class Level(Struct, frozen=True):
    """A loop that parts share: ``extent`` iterations, of which number ``number`` has the iterator at ``value``."""

    loop: For
    extent: Expr
    value: Expr | None
    counter: ScalarType
    number: str
    part: str
    turn: str


class Counts(Struct, frozen=True):
    """The parts and the steps of each level, as expressions over ``scalars``; ``folded`` parts are put together."""

    parts: tuple[Expr, ...]
    steps: tuple[Expr, ...]
    folded: Expr
    scalars: tuple[HostScalar, ...]


def counts_of(levels: Sequence[Level], host: frozenset[str], name: Namer) -> Counts:
    scalars: list[HostScalar] = []

    def defined(wish: str, value: Expr, type: ScalarType = ScalarType.INT) -> Expr:
        scalars.append(HostScalar(name(wish), type, value, levels[0].loop.span, added=True))
        return Name(scalars[-1].name)

    def steps(level: Level, of: Expr) -> Expr:
        return Binary("/", Binary("-", Binary("+", level.extent, of), _ONE), of)

    outer, *inner = levels
    most = MOST_PARTS
    of_inner: list[Expr] = []
    steps_of_inner: list[Expr] = []
    limit: Expr = IntLiteral(most)
    known = [outer.extent]
    for level in inner:
        own = level.loop.iterator
        if names_read(level.extent) <= host:
            known.append(level.extent)
            rows = defined(f"{own}_rows", _between(outer.extent, IntLiteral(ROWS)))
            of = defined(f"{own}_parts", _between(level.extent, Binary("/", IntLiteral(most), rows)))
            steps_of_inner.append(defined(f"{own}_steps", steps(level, of), level.counter))
            limit = Binary("/", IntLiteral(most), of)
        else:
            of = IntLiteral(INNER)
            steps_of_inner.append(steps(level, of))
            limit = IntLiteral(most // INNER)
        of_inner.append(of)
    own = outer.loop.iterator
    of_outer = defined(f"{own}_parts", _between(outer.extent, limit))
    steps_of_outer = defined(f"{own}_steps", steps(outer, of_outer), outer.counter)
    every: Expr = of_outer
    for of in of_inner:
        every = Binary("*", every, of)
    for extent in reversed(known):
        every = Conditional(Binary("<", extent, _ONE), _ZERO, every)
    folded = defined(f"{own}_folded", every)
    return Counts((of_outer, *of_inner), (steps_of_outer, *steps_of_inner), folded, tuple(scalars))


def _between(extent: Expr, limit: Expr) -> Expr:
    """Return as many parts as give each some steps; 1 at least and the limit at most."""
    wanted = Binary("/", Binary("+", extent, IntLiteral(LEAST_STEPS - 1)), IntLiteral(LEAST_STEPS))
    most = Conditional(Binary("<", wanted, limit), wanted, limit)
    return Conditional(Binary("<", wanted, _ONE), _ONE, most)


def may_overflow(level: Level) -> bool:
    """Whether the number of an iteration behind the last one may be too large for ``int``."""
    return level.counter is ScalarType.INT and not isinstance(level.extent, IntLiteral)


def small_enough(level: Level) -> Expr:
    return Binary("<=", level.extent, IntLiteral(_INT_MAX - MOST_PARTS))
