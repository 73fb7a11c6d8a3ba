"""Accumulate: an element that loops add to is held in a scalar of the point, and stored once.

::

    y[i] = a[i][0];  for (j) y[i] += a[i][j];
        -->  float held = a[i][0];  for (j) held += a[i][j];  y[i] = held;

    c[i][j] = 0;  for (k) c[i][j] += a[k][i] * a[k][j];  c[j][i] = c[i][j];
        -->  float held = 0;  for (k) held += a[k][i] * a[k][j];  c[i][j] = held;  c[j][i] = held;

Legal where a statement of the point assigns the element before the loops, whatever these do, and where the point refers
to the array nowhere else until they are done: then the element is there, and nobody else sees it meanwhile.  It is
stored before the first statement that speaks of other elements.  The scalar has the type of the element, so that every
value is rounded as in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.loops.traverse import all_names
from comprehensive.loops.types import ROUNDED_IN_MEMORY_ALONE
from comprehensive.metafork.ast import Assign, Declare, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.walk import elements_assigned, elements_in, statements_in, subexpressions
from comprehensive.records import replace


def accumulated(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """Return the tile with such elements of its only body in scalars."""
    match tile.alternatives:
        case (Alternative(condition=None, body=body),):
            pass
        case _:
            return tile
    name = Namer(all_names(nest) | tile.limits.keys() | set(tile.sizes))
    for array in nest.arrays:
        found = _accumulator(nest, body, array.pointer)
        if found is None or array.type in ROUNDED_IN_MEMORY_ALONE:
            continue
        element, end = found
        if array.name == element.array:
            body = _held(body, element, end, array.type, name(f"{array.pointer}_held"))
    return replace(tile, alternatives=(Alternative(None, body),))


def _accumulator(nest: Nest, body: Sequence[Stmt], pointer: str) -> tuple[Index, int] | None:
    """Return the element of an array that loops add to and a statement before them assigns, and the number of
    statements that refer to no other one; None where another one is referred to before the loops are done."""
    views = {a.name for a in nest.arrays if a.pointer == pointer}
    loops = [number for number, s in enumerate(body) if isinstance(s, For)]
    in_loops = {e for number in loops for e in elements_assigned((body[number],)) if e.array in views}
    if len(in_loops) != 1:
        return None
    (element,) = in_loops
    others = (n for n, s in enumerate(body) if any(e.array in views and e != element for e in _elements(s)))
    end = next(others, len(body))
    if any(element in _elements(body[number]) for number in loops if number >= end):
        return None
    declared = {s.iterator for s in statements_in(tuple(body)) if isinstance(s, For)}
    declared |= {s.name for s in statements_in(tuple(body)) if isinstance(s, Declare)}
    first = next((s for s in body if element in elements_in((s,))), None)
    if not isinstance(first, Assign) or (first.target, first.operator) != (element, "="):
        return None
    if element in subexpressions(first.value) or names_read(element) & declared:
        return None
    return (element, end) if body.index(first) < end else None


def _elements(statement: Stmt) -> set[Index]:
    """All elements that a statement refers to."""
    targets = (s.target for s in statements_in((statement,)) if isinstance(s, Assign))
    return {*elements_in((statement,)), *(t for t in targets if isinstance(t, Index))}


def _held(body: tuple[Stmt, ...], element: Index, end: int, type: ScalarType, name: str) -> tuple[Stmt, ...]:
    """The body with the element of its first ``end`` statements in a scalar, which the next one may read, too."""
    scalar = Name(name)

    def replaced(expression: Expr) -> Expr:
        return map_expression(expression, lambda e: scalar if e == element else e)

    def of(statement: Stmt) -> Stmt:
        match statement:
            case For():
                return replace(statement, body=tuple(map(of, statement.body)))
            case Assign() if statement.target == element:
                return replace(statement, target=scalar)
            case _:
                return statement

    first = next(k for k, s in enumerate(body) if isinstance(s, Assign) and s.target == element)
    begun = body[first]
    assert isinstance(begun, Assign)
    meanwhile = tuple(map(of, map_expressions(body[first + 1 : end], replaced)))
    declared = Declare(type, name, initial=begun.value, span=begun.span)
    stored = Assign(element, "=", scalar, begun.span)
    following = body[end : end + 1]
    if all(isinstance(s, Assign) for s in following):
        following = map_expressions(following, replaced)
    return (*body[:first], declared, *meanwhile, stored, *following, *body[end + 1 :])
