"""The references that name a place which depends on data.

In: a nest.  Out: the ordinals of its references with a subscript that reads an array, or a local scalar into which a
value of an array has come: by an assignment, or because a condition on data decides how often it is assigned::

    int k = 0;  if (x[i] > 3) k = 1;  h[k] += 1;      h[k] depends on data
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.loops.access import accesses
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import (
    Assign,
    Declare,
    Expr,
    For,
    Index,
    Name,
    Stmt,
)
from comprehensive.metafork.walk import bodies, own_expressions, subexpressions
from comprehensive.poly.memo import remembered


@remembered
def data_dependent(nest: Nest) -> frozenset[int]:
    """The ordinals of the references whose place depends on data."""
    names = tainted_names(nest)
    return frozenset(
        access.ordinal for access in accesses(nest) if any(_depends(s, names) for s in access.subscripts)
    )


@remembered
def tainted_names(nest: Nest) -> frozenset[str]:
    """The arrays of the nest, and the local scalars and arrays that may hold what depends on their elements."""
    names = frozenset(array.name for array in nest.arrays)
    while True:
        found = names.union(*(_assigned(band.body, names, False) for band in nest.bands))
        if found == names:
            return names
        names = found


def _depends(expr: Expr, names: frozenset[str]) -> bool:
    return any(
        (isinstance(e, Name) and e.identifier in names) or (isinstance(e, Index) and e.array in names)
        for e in subexpressions(expr)
    )


def _assigned(body: Iterable[Stmt], names: frozenset[str], decided: bool) -> frozenset[str]:
    """Return the names assigned from these names; all of them where data has ``decided`` that they run."""
    found: frozenset[str] = frozenset()
    for statement in body:
        match statement:
            case Declare(name=name, initial=initial):
                if initial is not None and _depends(initial, names):
                    found |= {name}
            case Assign(target=target, value=value):
                if decided or _depends(value, names):
                    found |= {target.identifier if isinstance(target, Name) else target.array}
            case _:
                inside = decided or any(_depends(e, names) for e in own_expressions(statement))
                if inside and isinstance(statement, For) and statement.type is None:
                    found |= {statement.iterator}
                for inner in bodies(statement):
                    found |= _assigned(inner, names, inside)
    return found
