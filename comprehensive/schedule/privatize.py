"""Privatize: each block updates its own copy of an array in shared memory, and adds it to the array at its end.

::

    for all points: atomic h[x[y]] += 1;
        -->  shared_h[..] = 0;  barrier;
             for all points of the block: atomic shared_h[x[y]] += 1;
             barrier;  for (z) if (shared_h[z] != 0) atomic h[z] += shared_h[z];

Legal where all that the nest does with the data is to update it atomically, with operators of one kind: such updates
may come in any order, and the operators are associative (sums of floating-point numbers are not; ``meta_atomic`` takes
them only where the program lets sums be added up in any order).  The elements that no point has updated are not
touched.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import product
from comprehensive.loops.access import atomically_updated
from comprehensive.loops.ir import Array, Nest, RegisterTile
from comprehensive.loops.traverse import map_indices
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Declare,
    Expr,
    For,
    If,
    Index,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.walk import elements_in, statements_in
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, TileContext

_KIND = {"-=": "+="}
"""The operator that puts copies together, where it is another one than that of the updates."""


class PrivateCopy(Struct, frozen=True):
    """A copy of ``array`` for each block."""

    array: Array
    operator: str
    """The operator that adds the copy to the array."""

    @property
    def first(self) -> Expr:
        """The value of an element that no point has updated."""
        return Unary("~", ZERO) if self.operator == "&=" else ZERO

    @property
    def count(self) -> Expr:
        """The number of elements, over scalars of the nest."""
        return product([d for d in self.array.dims or () if d is not None])


def private_copies(nest: Nest, tile: RegisterTile) -> tuple[PrivateCopy, ...] | str:
    """Return the copies of all arrays that points update atomically; or why there cannot be any."""
    found: list[PrivateCopy] = []
    for name in atomically_updated(nest):
        array = nest.array(name)
        views = {a.name for a in nest.arrays if a.pointer == array.pointer}
        updates = [s for s in _updates(tile) if isinstance(s.target, Index) and s.target.array in views]
        operators = {_KIND.get(s.operator, s.operator) for s in updates}
        references = sum(e.array in views for body in tile.bodies for e in elements_in(body))
        if array.dims is None or None in array.dims:
            return f"how many elements '{array.pointer}' has is not declared"
        if len(views) > 1 or len(operators) != 1 or references != len(updates):
            return f"'{array.pointer}' is used in more than one way"
        found.append(PrivateCopy(array, operators.pop()))
    return tuple(found)


def _updates(tile: RegisterTile) -> Iterator[Assign]:
    for body in tile.bodies:
        yield from (s for s in statements_in(body) if isinstance(s, Assign) and s.atomic)


def with_copies(
    context: TileContext, copies: tuple[PrivateCopy, ...], body: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    """Return the body of a point with copies in the places of arrays: an element lies as far from the first one."""
    names = {copy.array.name: context.names[f"shared_{copy.array.name}"] for copy in copies}

    def in_copy(reference: Index) -> Index:
        if reference.array not in names:
            return reference
        return replace(flat(reference, context.strides), array=names[reference.array])

    return map_indices(body, in_copy)


def begun(context: TileContext, copies: tuple[PrivateCopy, ...], elements: Expr, threads: Expr) -> Stmt:
    """Return what all threads of a block do first: every element of the copies gets its first value."""
    z = context.name("z")
    return _over(
        context,
        elements,
        threads,
        tuple(Assign(Index(context.names[f"shared_{c.array.name}"], (z,)), "=", c.first) for c in copies),
    )


def put_together(
    context: TileContext, copies: tuple[PrivateCopy, ...], elements: Expr, threads: Expr
) -> Stmt:
    """Return what they do last: what the copies have is added to the arrays."""
    z, value = context.name("z"), context.name("value")
    body: list[Stmt] = []
    for number, copy in enumerate(copies):
        held = value.identifier if number == 0 else context.names[f"value_{copy.array.name}"]
        element = Index(context.names[f"shared_{copy.array.name}"], (z,))
        update = Assign(Index(copy.array.name, (z,)), copy.operator, Name(held), atomic=True)
        body += [
            Declare(copy.array.type, held, initial=element, const=True),
            If(Binary("!=", Name(held), copy.first), (update,)),
        ]
    return _over(context, elements, threads, tuple(body))


def _over(context: TileContext, elements: Expr, threads: Expr, body: tuple[Stmt, ...]) -> Stmt:
    z = context.names["z"]
    return For(ScalarType.INT, z, context.name("thread"), "<", elements, threads, body)
