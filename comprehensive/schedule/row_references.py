"""The references that go along a row: a subscript in, the row and the place in it out.

::

    a[y0][j + 1], j < n      -->      row (a, y0), offset 1, end n + 1

What decides is the value of subscripts as polynomials, not how they are written.  Steps may also come to one element
each in another way, as in ``y[j][y0]``, or in ``y[j / h][y0][j % h]``: that is a place, but no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import always_evaluated
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, For, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import bodies, own_expressions, subexpressions
from comprehensive.records import replace
from comprehensive.schedule.flatten import Digit, digits_of


class Along(Struct, frozen=True):
    """A subscript that goes with the steps of a loop: ``times`` a digit of their number, and ``rest``."""

    digit: Digit
    times: Polynomial
    rest: Polynomial


class Place(Struct, frozen=True):
    """The elements that a reference in a loop comes to: from ``offset`` up to ``end`` along a row of ``storage``.

    ``prefix`` are the values of all subscripts but the last one.  Where the elements are no row, it has all subscripts,
    and what goes with the steps in some of them; steps of loops with equal prefixes come to the same elements.
    """

    storage: str
    prefix: tuple[Polynomial | Along, ...]
    offset: Polynomial
    end: Polynomial
    is_row: bool = True

    @property
    def row(self) -> tuple[str, tuple[Polynomial | Along, ...], Polynomial]:
        return self.storage, self.prefix, self.end


class Access(Struct, frozen=True):
    """One reference of a statement; ``loop`` is the loop around it, if there is one."""

    reference: Index
    loop: For | None
    writes: bool
    always: bool = True
    """Whether it is made in every step; else a condition decides."""
    nested: bool = False
    """Whether a statement makes it that stands in a loop or under a condition of a step."""


@dataclass(frozen=True)
class RowReferences:
    """Reads the references of a point; equal subscripts are equal polynomials in all of them."""

    nest: Nest
    tile: RegisterTile
    _ring: Ring = field(default_factory=Ring, compare=False)

    def storage(self, array: str) -> str:
        """Return the name of an array's data, whatever name a reference has for it."""
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
        """Return the place of a reference in a loop; None where steps may come to the same element, or data decides."""
        if loop is None:
            return None
        digits = digits_of(loop, self._ring)
        of_steps = digits.keys() | {loop.iterator}
        known = of_steps | self._same_in_all_steps
        parts = [e for s in reference.subscripts for e in subexpressions(s)]
        if any(isinstance(e, Index) or (isinstance(e, Name) and e.identifier not in known) for e in parts):
            return None
        if any(isinstance(e, Name) and e.identifier == loop.iterator for e in parts):
            digits = {loop.iterator: Digit(())}
        storage, end = self.storage(reference.array), self._ring.read(loop.bound)
        found: list[Polynomial | Along] = []
        seen: list[str] = []
        for value in self.values(reference):
            names = sorted(self._ring.names_in(value) & of_steps)
            along = self._along(value, names, digits)
            if along is None:
                return None
            found.append(along)
            seen += names
        if sorted(seen) != sorted(digits):
            return None
        match found:
            case [*prefix, Along(digit=Digit(divisions=()), times=times, rest=rest)] if times == _ONE:
                return Place(storage, tuple(prefix), rest, rest + end)
            case _:
                return Place(storage, tuple(found), Polynomial.constant(0), end, is_row=False)

    def is_there(self, reference: Index, loop: For) -> bool:
        """Whether a reference of a loop stays inside of the declared extents of its array, at all points and in all
        steps."""
        # isl is slow to import.
        from comprehensive.poly.always import always_holds

        array = self.nest.array(reference.array)
        if not array.whole_rows or array.dims is None:
            return False
        limits = self.tile.limits | {loop.iterator: loop.bound}
        some = [Binary("<", IntLiteral(0), limit) for limit in limits.values()]
        known = replace(self.nest, preconditions=(*self.nest.preconditions, *some))
        for subscript, value, extent in zip(
            reference.subscripts, self.values(reference), array.dims, strict=True
        ):
            names = self._ring.names_in(value)
            along = sorted(names & limits.keys())
            if extent is None or not names <= self._same_in_all_steps | limits.keys() or len(along) > 1:
                return False
            if any(value.degree(name) != 1 for name in along):
                return False
            for end in (IntLiteral(0), *(Binary("-", limits[name], IntLiteral(1)) for name in along)):
                place = substitute(subscript, dict.fromkeys(along, end))
                inside = Binary("&&", Binary("<=", IntLiteral(0), place), Binary("<", place, extent))
                if not always_holds(known, inside):
                    return False
        return True

    @property
    def _same_in_all_steps(self) -> frozenset[str]:
        names = frozenset(s.name for s in self.nest.scalars)
        return names.union(c.name for c in (*self.tile.coordinates, *self.tile.batch))

    def _along(
        self, value: Polynomial, names: Sequence[str], digits: Mapping[str, Digit]
    ) -> Polynomial | Along | None:
        """Return a subscript as the digit that it goes along, if it does; None where it is no multiple of one digit."""
        if not names:
            return value
        name, *others = names
        if others or name not in digits or value.degree(name) != 1:
            return None
        times, rest = value.coefficient(name, 1), value.coefficient(name, 0)
        if not times.is_constant or name in self._ring.names_in(rest):
            return None
        return Along(digits[name], times, rest)


_ONE = Polynomial.constant(1)


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
            for expression in own_expressions(statement):
                yield from _reads(expression, loop)
            for body in bodies(statement):
                for inner in body:
                    for access in accesses(inner, loop):
                        yield replace(access, always=False, nested=True)


def _reads(expr: Expr, loop: For | None) -> Iterator[Access]:
    always = {id(e) for e in always_evaluated(expr)}
    for e in subexpressions(expr):
        if isinstance(e, Index):
            yield Access(e, loop, writes=False, always=id(e) in always)
