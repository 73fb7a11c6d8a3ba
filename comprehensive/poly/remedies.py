"""The remedy for iterations that depend on each other: an assert where parameters decide it, an ``if`` where none does.

In: a nest and two iterations that touch one element.  Out: what its author can write::

    c[i * ldc + j], ldc = 0      -->  exclude these values by assert(ldc >= n)
    path[i][j] and path[i][k]    -->  leave out iterations by an 'if', or read a copy of 'path'

Where the two iterations touch one element whatever the parameters are, no assert on these keeps them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from comprehensive.loops.access import Access, names_read
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Expr
from comprehensive.poly.domains import references
from comprehensive.poly.model import Witness
from comprehensive.poly.row_lengths import assert_on_rows
from comprehensive.poly.search import NotEvaluableError, evaluate

_OTHERWISE = (1, 2, 7)
"""The amounts by which parameters are changed, to see whether the two iterations still touch one element."""


def remedies(nest: Nest, witness: Witness) -> tuple[str, ...]:
    """Return what can be written in the place of a serial loop."""
    excluded = f"exclude these values by {assert_on_rows(nest) or 'assert(...)'}"
    if min(witness.ordinals) < 0:
        return (excluded,)
    every = references(nest)
    one, other = (every[ordinal].access for ordinal in witness.ordinals)
    given = {s.name for s in nest.scalars if s.role not in (Role.HOST, Role.PROGRAM, Role.TILE)}
    given &= witness.parameters.keys()
    if any(_decides(guard, given) for access in (one, other) for guard in access.context.guards):
        return (excluded,)
    read = {name for access in (one, other) for s in access.subscripts for name in names_read(s)} & given
    for name in sorted(read):
        for more in _OTHERWISE:
            parameters = {**witness.parameters, name: witness.parameters[name] + more}
            if not _meet(one, other, witness, parameters):
                return (excluded,)
    apart = "leave out the iterations that meet by an 'if'"
    if one.mode.reads or other.mode.reads:
        return (
            apart,
            f"read a copy of '{witness.array}' from before the region where its old values are meant",
        )
    return (apart,)


def _decides(guard: Expr, given: Set[str]) -> bool:
    """Whether a condition looks at parameters alone, so that an assert can say how it comes out."""
    read = names_read(guard)
    return bool(read) and read <= given


def _meet(one: Access, other: Access, witness: Witness, parameters: Mapping[str, int]) -> bool:
    """Whether the two iterations touch one element with these parameters; False where that is not known."""
    points = {**parameters, **witness.first}, {**parameters, **witness.second}
    try:
        first, second = (
            [evaluate(s, point) for s in access.subscripts]
            for access, point in zip((one, other), points, strict=True)
        )
    except (NotEvaluableError, ZeroDivisionError, ValueError, OverflowError, KeyError):
        return False
    return first == second
