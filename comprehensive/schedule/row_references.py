"""Which references go along a row: a subscript in, the row and the place in it out.

::

    a[y0][j + 1], j < n      -->      row (a, y0), offset 1, end n + 1

What decides is the value of subscripts as polynomials, not how they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.rewrite import always_evaluated
from comprehensive.metafork.ast import Assign, Declare, Expr, For, Index, Name, Stmt
from comprehensive.metafork.walk import subexpressions


@dataclass(frozen=True, slots=True)
class Place:
    """The elements that a reference in a loop comes to: from ``offset`` up to ``end`` along a row of ``storage``.

    ``prefix`` are the values of all subscripts but the last one.
    """

    storage: str
    prefix: tuple[Polynomial, ...]
    offset: Polynomial
    end: Polynomial

    @property
    def row(self) -> tuple[str, tuple[Polynomial, ...], Polynomial]:
        return self.storage, self.prefix, self.end


@dataclass(frozen=True, slots=True)
class Access:
    """One reference of a statement; ``loop`` is the loop around it, if there is one."""

    reference: Index
    loop: For | None
    writes: bool
    always: bool = True
    """Whether it is made in every step; else a condition decides."""


@dataclass(frozen=True)
class RowReferences:
    """Reads the references of a point; equal subscripts are equal polynomials in all of them."""

    nest: Nest
    tile: RegisterTile
    _ring: Ring = field(default_factory=Ring, compare=False)

    def storage(self, array: str) -> str:
        """What the data of an array is called, whatever name a reference has for it."""
        return next((a.pointer for a in self.nest.arrays if a.name == array), array)

    def is_data(self, array: str) -> bool:
        return any(a.name == array for a in self.nest.arrays)

    def values(self, reference: Index) -> tuple[Polynomial, ...]:
        return tuple(map(self._ring.read, reference.subscripts))

    def names(self, value: Polynomial) -> frozenset[str]:
        """The names that a value reads."""
        return self._ring.names_in(value)

    def written(self, value: Polynomial) -> Expr:
        return self._ring.write(value)

    def difference(self, left: Expr, right: Expr) -> int | None:
        """``left - right``, where that is a number."""
        difference = self._ring.read(left) - self._ring.read(right)
        return int(difference.constant_value()) if difference.is_constant else None

    def place(self, reference: Index, loop: For | None) -> Place | None:
        """Where a reference in a loop goes along a row; None where it does not, or data decides."""
        if loop is None:
            return None
        known = {s.name for s in self.nest.scalars} | {loop.iterator}
        known |= {c.name for c in (*self.tile.coordinates, *self.tile.batch)}
        parts = [e for s in reference.subscripts for e in subexpressions(s)]
        if any(isinstance(e, Index) or (isinstance(e, Name) and e.identifier not in known) for e in parts):
            return None
        *prefix, last = self.values(reference)
        offset = last.coefficient(loop.iterator, 0)
        if last.degree(loop.iterator) != 1 or last.coefficient(loop.iterator, 1) != 1:
            return None
        if any(loop.iterator in self._ring.names_in(value) for value in (*prefix, offset)):
            return None
        end = offset + self._ring.read(loop.bound)
        return Place(self.storage(reference.array), tuple(prefix), offset, end)


def accesses(statement: Stmt, loop: For | None) -> Iterator[Access]:
    """The references of a statement in the order in which they are made."""
    match statement:
        case Declare(initial=initial):
            if initial is not None:
                yield from _reads(initial, loop)
        case Assign(target=target, value=value):
            yield from _reads(value, loop)
            if isinstance(target, Index):
                for subscript in target.subscripts:
                    yield from _reads(subscript, loop)
                if statement.operator != "=":
                    yield Access(target, loop, writes=False)
                yield Access(target, loop, writes=True)
        case _:
            pass


def _reads(expr: Expr, loop: For | None) -> Iterator[Access]:
    always = {id(e) for e in always_evaluated(expr)}
    for e in subexpressions(expr):
        if isinstance(e, Index):
            yield Access(e, loop, writes=False, always=id(e) in always)
