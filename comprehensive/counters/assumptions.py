"""The assumptions that always hold of the scalars of a nest where there is something to do: a nest in, atoms out."""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.algebra import Atom, Polynomial, at_least
from comprehensive.counters.threads import extent_of
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import Binary, Expr
from comprehensive.metafork.walk import subexpressions


def assumptions(nest: Nest) -> tuple[Atom, ...]:
    """Bounds on the integer scalars: program parameters and sizes of tiles are at least 1, all else is not negative.

    A block has threads: nothing is launched otherwise.  With ``meta_for (int u = 1; u < n - 1; u++)`` of threads that
    is ``1 <= n - 2``.
    """
    scalars = (
        at_least(Polynomial.symbol(s.name), 1 if s.role in (Role.PROGRAM, Role.TILE) else 0)
        for s in nest.scalars
        if s.type.is_integer
    )
    return (*scalars, *_threads(nest))


def _threads(nest: Nest) -> Iterator[Atom]:
    types = environment_of(nest)
    for loop in nest.thread_loops:
        if not isinstance(loop.extent, Binary) or any(
            type_of(part, types).wraps for part in subexpressions(loop.extent)
        ):
            continue
        if _holds_unrounded(loop.extent):
            extent = extent_of(loop).as_polynomial()
            if extent is not None and extent.symbols:
                yield at_least(extent, 1)


def _holds_unrounded(extent: Expr) -> bool:
    """Whether an extent that is at least 1 in C is so as the polynomial that it is without rounding."""
    match extent:
        case Binary(operator="/"):
            return not (_rounds(extent.left) or _rounds(extent.right))
        case _:
            return not _rounds(extent)


def _rounds(expr: Expr) -> bool:
    return any(
        isinstance(part, Binary) and part.operator not in ("+", "-", "*") for part in subexpressions(expr)
    )
