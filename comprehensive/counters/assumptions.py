"""The assumptions that always hold of the scalars of a nest: a nest in, atoms out."""

from __future__ import annotations

from comprehensive.algebra import Atom, Polynomial, at_least
from comprehensive.loops.ir import Nest, Role


def assumptions(nest: Nest) -> tuple[Atom, ...]:
    """Bounds on the integer scalars: program parameters and sizes of tiles are at least 1, all else is not negative."""
    return tuple(
        at_least(Polynomial.symbol(s.name), 1 if s.role in (Role.PROGRAM, Role.TILE) else 0)
        for s in nest.scalars
        if s.type.is_integer
    )
