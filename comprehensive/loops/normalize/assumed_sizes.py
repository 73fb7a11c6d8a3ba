"""Sizes that need not be any: bounds of serial loops and what quotients are made of, of which a launch tests the sign.

In: subscripts over scalars of a nest.  Out: the same over scalars that are not negative, with the conditions::

    int gs = C / G;  for (c = 0; c < gs; c++) for (i = 0; i < img; i++) y[(b*C + g*gs + c)*img + i] = 0;
        -->  0 <= C, 0 <= G, 0 <= img        so that   0 <= gs   and   G*gs <= C

A loop up to a negative number is one that does nothing, so that no launcher refuses a negative bound; nobody wants one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.integers import ZERO
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.metafork.ast import Binary, Expr, For, Name, Stmt
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace


def assuming_sizes(
    nest: Nest, subscripts: Subscripts, bodies: Sequence[tuple[Stmt, ...]]
) -> tuple[Subscripts, tuple[Expr, ...]]:
    """The subscripts with what holds where all sizes are not negative, and the conditions that say so."""
    scalars = {s.name: s for s in nest.scalars}
    named = [n for body in bodies for loop in _loops(body) for n in names_read(loop.bound)]
    named += [name for limits in subscripts.limits.values() for limit in limits for name in names_read(limit)]
    sizes: dict[str, None] = {}
    facts: list[Polynomial] = []
    while named:
        name = named.pop()
        scalar = scalars.get(name)
        if name in sizes or scalar is None or not scalar.type.is_integer or scalar.role is Role.TILE:
            continue
        sizes[name] = None
        match scalar.value:
            case Binary("/", left, right) if is_exact(scalar.value, subscripts.types):
                whole = Polynomial.symbol(name) * subscripts.ring.read(right)
                facts.append(subscripts.ring.read(left) - whole)
                named += (*names_read(left), *names_read(right))
            case _:
                pass
    unknown = tuple(name for name in sizes if name not in subscripts.nonnegative)
    assumed = replace(subscripts, nonnegative=subscripts.nonnegative | sizes.keys(), facts=tuple(facts))
    return assumed, tuple(Binary("<=", ZERO, Name(name)) for name in unknown)


def _loops(body: Iterable[Stmt]) -> Iterable[For]:
    return (s for s in statements_in(tuple(body)) if isinstance(s, For))
