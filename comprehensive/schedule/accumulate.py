"""Accumulate: an element that loops add to is held in a scalar of the point, and stored once.

::

    y[i] = a[i][0];  for (j) y[i] += a[i][j];
        -->  float held = a[i][0];  for (j) held += a[i][j];  y[i] = held;

Legal where a statement of the point assigns the element before the loops, whatever these do, and where the point refers
to the array nowhere else: then the element is there, and nobody else sees it meanwhile.  The scalar has the type of the
element, so that every value is rounded as in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.loops.rewrite import all_names
from comprehensive.metafork.ast import Assign, Declare, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.walk import elements_in, statements_in, subexpressions

ROUNDED_IN_MEMORY_ALONE = (ScalarType.HALF, ScalarType.BFLOAT16)
"""Scalars of these types are not rounded at every step."""


def accumulated(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """Return the tile with such elements of its only body in scalars."""
    match tile.alternatives:
        case (Alternative(condition=None, body=body),):
            pass
        case _:
            return tile
    name = Namer(all_names(nest) | {c.name for c in (*tile.coordinates, *tile.batch)} | set(tile.sizes))
    for array in nest.arrays:
        element = _accumulator(nest, body, array.pointer)
        if element is not None and array.name == element.array and array.type not in ROUNDED_IN_MEMORY_ALONE:
            body = _held(body, element, array.type, name(f"{array.pointer}_held"))
    return replace(tile, alternatives=(Alternative(None, body),))


def _accumulator(nest: Nest, body: Sequence[Stmt], pointer: str) -> Index | None:
    """Return the element of an array that loops add to and a statement before them assigns, if it is the only one."""
    views = {a.name for a in nest.arrays if a.pointer == pointer}
    of_array = [e for e in elements_in(body) if e.array in views]
    in_loops = {
        s.target
        for loop in body
        if isinstance(loop, For)
        for s in statements_in(loop.body)
        if isinstance(s, Assign) and isinstance(s.target, Index) and s.target.array in views
    }
    if len(set(of_array)) != 1 or not in_loops:
        return None
    (element,) = in_loops
    declared = {s.iterator for s in statements_in(tuple(body)) if isinstance(s, For)}
    declared |= {s.name for s in statements_in(tuple(body)) if isinstance(s, Declare)}
    first = next((s for s in body if element in elements_in((s,))), None)
    if not isinstance(first, Assign) or (first.target, first.operator) != (element, "="):
        return None
    if element in subexpressions(first.value) or names_read(element) & declared:
        return None
    return element


def _held(body: tuple[Stmt, ...], element: Index, type: ScalarType, name: str) -> tuple[Stmt, ...]:
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
    rest = tuple(map(of, map_expressions(body[first + 1 :], replaced)))
    declared = Declare(type, name, initial=begun.value, span=begun.span)
    return (*body[:first], declared, *rest, Assign(element, "=", scalar, begun.span))
