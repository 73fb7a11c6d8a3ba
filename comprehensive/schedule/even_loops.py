"""Even loops: loops that are longer at some points become loops that all points do, with conditions inside.

::

    for (u = 0; u < n - y; u++) s += x[u] * x[u + y];
        -->  for (u = 0; u < n; u++) s = u < n - y ? s + x[u] * x[u + y] : s;
    for (u = max(0, y - r); u <= min(h - 1, y + r); u++) s += a[u];
        -->  for (t = 0; t < 2*r + 1; t++) s = 0 <= y - r + t && y - r + t < h ? s + a[y - r + t] : s;

The number of steps is the least of some polynomials (`loops/extremes.py`).  One of them that is the same for all points
is the new number, the others are conditions; without such a one it is the largest value that one of them has.  Where a
loop begins at the larger of two values, it begins at the one that goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import larger, largest, least_of
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.loops.traverse import all_names
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Expr,
    For,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import substitute, with_bodies
from comprehensive.metafork.walk import elements_in, subexpressions
from comprehensive.records import replace
from comprehensive.schedule.conditions_inside import conditions_inside, under
from comprehensive.schedule.equalize import with_moved_iterator
from comprehensive.schedule.legality import types_in


def with_even_loops(nest: Nest, tile: RegisterTile, *, stores: bool = False) -> RegisterTile:
    """Return the tile with loops that all points do, and no conditions around them, as far as it can be had.

    ``stores`` says whether loops may assign elements under conditions.
    """
    types = types_in(nest, tile)
    name = Namer({*all_names(nest), *types, *tile.sizes})
    alternatives: list[Alternative] = []
    for alternative in tile.alternatives:
        even = _Even(nest, types, tile.limits, name, stores)
        body = conditions_inside(even.all(alternative.body), types, name, stores=stores)
        alternatives.append(alternative if body == alternative.body else replace(alternative, body=body))
    return replace(tile, alternatives=tuple(alternatives))


class _Even(Struct, frozen=True):
    nest: Nest
    types: Mapping[str, ScalarType]
    limits: Mapping[str, Expr]
    """The coordinates, and the iterators of the loops around, each with its limit."""
    name: Namer
    stores: bool

    def all(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(
            with_bodies(s, self.all) if isinstance(s, If) else self._loop(s) if isinstance(s, For) else s
            for s in body
        )

    def _loop(self, loop: For) -> For:
        even = self._even(loop)
        if not names_read(even.bound) <= self._scalars:
            return loop
        inside = replace(self, limits={**self.limits, even.iterator: even.bound})
        return replace(even, body=inside.all(even.body))

    @property
    def _scalars(self) -> set[str]:
        return {s.name for s in self.nest.scalars}

    def _even(self, loop: For) -> For:
        """Return the loop as one that all points do; as it is where it is one, or cannot be."""
        header = (loop.type, loop.start, loop.relation, loop.step)
        names = names_read(loop.bound)
        if names <= self._scalars or header != (ScalarType.INT, ZERO, "<", ONE):
            return loop
        if not names <= self._scalars | set(self.limits) or not self._is_signed(loop.bound):
            return loop
        ring = Ring()
        for shift in (*self._begins(ring, loop), *self._added(ring, loop), Polynomial.constant(0)):
            found = self._with(ring, loop, shift)
            if found is not None:
                return found
        return loop

    def _is_signed(self, bound: Expr) -> bool:
        """Whether an expression computes and compares signed integers alone, as mathematics does."""
        return all(
            self.types[e.identifier].is_integer and self.types[e.identifier].is_signed
            if isinstance(e, Name)
            else e.type.is_signed
            if isinstance(e, IntLiteral)
            else isinstance(e, Unary | Binary | Conditional)
            for e in subexpressions(bound)
        )

    def _begins(self, ring: Ring, loop: For) -> list[Polynomial]:
        """Return how many steps before its first one the loop may begin: at a value of those of which it begins at the
        larger one.  Values that differ between points come first: what is around a point is less than all there is."""
        bound = ring.read(loop.bound)
        found: list[Polynomial] = []
        for symbol in bound.symbols:
            first = ring.atom(symbol)
            chosen = None if first is None else larger(ring, first)
            if chosen is not None and bound.degree(symbol) == 1 and bound.coefficient(symbol, 1) == -1:
                around_point = sorted(chosen, key=lambda each: names_read(each) <= self._scalars)
                found += [Polynomial.symbol(symbol) - ring.read(each) for each in around_point]
        return found

    def _added(self, ring: Ring, loop: For) -> list[Polynomial]:
        """Return what subscripts add to the iterator that differs between points, if it is the same in all of them:
        of ``for (j < n - i) s += a[i + j]`` the steps are those of a loop over ``n`` that the point begins late."""
        name = loop.iterator
        found: set[Polynomial] = set()
        for reference in elements_in(loop.body):
            for value in map(ring.read, reference.subscripts):
                if name in ring.names_in(value):
                    rest = value.coefficient(name, 0)
                    if value.degree(name) != 1 or value.coefficient(name, 1) != 1:
                        return []
                    found.add(
                        rest - ring.read(substitute(ring.write(rest), dict.fromkeys(self.limits, ZERO)))
                    )
        return [shift for shift in found if len(found) == 1 and not shift.is_constant]

    def _with(self, ring: Ring, loop: For, shift: Polynomial) -> For | None:
        """Return the loop that begins so many steps earlier; None where that has no known number of steps."""
        iterator = Polynomial.symbol(loop.iterator)
        counts = least_of(ring, ring.read(loop.bound) + shift)
        same = [count for count in counts if ring.names_in(count) <= self._scalars]
        bound = ring.write(same[0]) if same else None
        if bound is None and shift.is_constant:
            bound = next(filter(None, (largest(ring, count, self.limits) for count in counts)), None)
        if bound is None:
            return None
        starts = [start for start in least_of(ring, -shift) if start != Polynomial.constant(0)]
        conditions = [Binary("<=", ZERO, ring.write(iterator + start)) for start in starts]
        conditions += [
            Binary("<", Name(loop.iterator), ring.write(count)) for count in counts if count not in same[:1]
        ]
        moved = ring.write(iterator - shift)
        body = with_moved_iterator(loop.body, loop.iterator, moved)
        inside = under(conjunction(conditions), body, self.types, self.name, stores=self.stores)
        return None if inside is None else replace(loop, bound=bound, body=inside)
