"""Loops of a thread trade places, so that the inner one updates one element.

In: a nest.  Out: the same with a loop further out that tells elements apart, and one further in that does not::

    for (z) for (w) c[p][q + w*B] += a[p][z] * b[z][q + w*B];    -->    for (w) for (z) c[p][q + w*B] += ...;

The inner element is then held in a register (`held.py`).  It may be so where no two conflicting iterations differ in
the loop that goes outward (`poly.legality`): what one element goes through keeps its order, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import declared_names, map_bands
from comprehensive.metafork.ast import (
    Assign,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    Index,
    Stmt,
)
from comprehensive.metafork.rewrite import substitute, with_bodies
from comprehensive.metafork.walk import assigned_scalars, bodies, statements_in
from comprehensive.poly.legality import serial_is_parallel
from comprehensive.poly.model import Parallel
from comprehensive.records import replace


def with_updates_inside(nest: Nest) -> Nest:
    """The nest with its pairs of loops in the order in which the inner one updates one element."""
    return map_bands(nest, lambda number, body: _body(nest, number, body))


def _body(nest: Nest, band: int, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(_statement(nest, band, statement) for statement in body)


def _statement(nest: Nest, band: int, statement: Stmt) -> Stmt:
    match statement:
        case For():
            loop = replace(statement, body=_body(nest, band, statement.body))
            match loop.body:
                case (For() as inner,) if _pays(nest, loop, inner) and _may_swap(nest, band, loop, inner):
                    swapped = replace(loop, body=inner.body)
                    return replace(inner, body=(_statement(nest, band, swapped),))
                case _:
                    return loop
        case _:
            return with_bodies(statement, partial(_body, nest, band))


def _pays(nest: Nest, outer: For, inner: For) -> bool:
    """Whether some element of data is updated that the inner loop tells apart, and the outer one does not."""
    data = {a.name for a in nest.arrays}
    return any(
        target.array in data and inner.iterator in read and outer.iterator not in read
        for target, read in _targets(inner.body, {})
    )


def _targets(body: tuple[Stmt, ...], values: Mapping[str, Expr]) -> list[tuple[Index, frozenset[str]]]:
    """Elements that are assigned, with the names on which their places depend."""
    found: list[tuple[Index, frozenset[str]]] = []
    values = dict(values)
    for statement in body:
        match statement:
            case Declare(initial=initial, dims=()) if initial is not None:
                values[statement.name] = substitute(initial, values)
            case Assign(target=Index() as target):
                places = (substitute(s, values) for s in target.subscripts)
                found.append((target, frozenset[str]().union(*map(names_read, places))))
            case _:
                for inner in bodies(statement):
                    found += _targets(inner, values)
    return found


def _may_swap(nest: Nest, band: int, outer: For, inner: For) -> bool:
    if outer.type is None or inner.type is None:
        return False
    headers = [names_read(e) for loop in (outer, inner) for e in (loop.start, loop.bound, loop.step)]
    read = frozenset[str]().union(*headers)
    data = {a.name for a in nest.arrays}
    if read & ({outer.iterator, inner.iterator} | data):
        return False
    # What a body hands on from one iteration to the next one keeps the order of all of them.
    own = declared_names(inner.body)
    handed = assigned_scalars(inner.body) | {target.array for target, _ in _targets(inner.body, {})} - data
    if handed - own or any(isinstance(s, Break | Continue) for s in statements_in(inner.body)):
        return False
    return isinstance(serial_is_parallel(nest, band, inner.iterator), Parallel)
