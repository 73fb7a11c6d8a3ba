"""Collapse coordinates: neighbours along several coordinates whose elements lie on one line in memory, numbered as one.

::

    0 <= i < w, 0 <= k < c:  b[i][k] = a[i + 1][k] * s[k]   -->   0 <= i_k < w*c:  b[i_k] = a[i_k + c] * s[i_k % c]

Short rows, as the channels of a pixel or the parts of a vector, leave most threads of a warp idle that are laid out
along them.  Whatever their length, neighbours on the line are neighbours in memory.  An array that all of these
coordinates lead through has to lie in the order of the points, each row as long as their coordinate; the others are
read by digits of the number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ZERO, Ring, addends, sum_of_addends
from comprehensive.loops.ir import Array, Nest, RegisterTile
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.loops.types import environment_of, exact_product
from comprehensive.metafork.ast import (
    Binary,
    DoWhile,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute
from comprehensive.metafork.walk import (
    arrays_assigned,
    children,
    elements_in,
    statements_in,
)
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace


def collapsed(nest: Nest, tile: RegisterTile) -> tuple[Nest, RegisterTile] | NotApplicable | None:
    """Return the tile with as many of its last coordinates as lie on one line as one, and the nest with arrays of such
    lines.

    NotApplicable says which elements are on none; None stands for points along one coordinate, or with long loops.
    """
    every = (s for body in tile.bodies for s in statements_in(body))
    if len(tile.coordinates) < 2 or any(map(_is_long, every)):
        return None
    array = ""
    for first in range(len(tile.coordinates) - 1):
        try:
            return _Line(nest, tile, first, len(tile.coordinates)).collapsed()
        except _NotOnALineError as error:
            array = str(error)
    return NotApplicable(f"neighbouring points do not have neighbouring elements of '{array}', row by row")


def with_lines_joined(nest: Nest, tile: RegisterTile) -> tuple[Nest, RegisterTile]:
    """Return the tile with those coordinates as one that nothing tells apart, and the nest with arrays of such lines.

    Every element of points with long loops that one of these coordinates leads to lies where their number says, so that
    there is nothing to lose: ``x[i][s][l] * w[j][l]`` is a product of matrices with rows ``i_s``.
    """
    every = (s for body in tile.bodies for s in statements_in(body))
    if not any(map(_is_long, every)):
        return nest, tile
    count = len(tile.coordinates)
    for first, behind in ((i, k) for i in range(count) for k in range(count, i + 1, -1)):
        try:
            found = _Line(nest, tile, first, behind, alone=True).collapsed()
        except _NotOnALineError:
            continue
        return with_lines_joined(*found)
    return nest, tile


def has_rows(limit: Expr, length: Polynomial) -> bool:
    """Whether a coordinate with that limit numbers the elements of several rows of a length that is no constant."""
    rows = None if length.is_constant else integral_quotient(Ring().read(limit), length)
    return rows is not None and not rows.is_constant


class _NotOnALineError(Exception):
    """The message is the name of an array."""


class _Line:
    """The coordinates of a tile from the number ``first`` on as one, up to the one before ``behind``.

    With ``alone`` nothing may lead through one of them alone, and no loop along the line.
    """

    def __init__(
        self, nest: Nest, tile: RegisterTile, first: int, behind: int, *, alone: bool = False
    ) -> None:
        self._nest, self._tile, self._alone = nest, tile, alone
        self._before, self._behind = tile.coordinates[:first], tile.coordinates[behind:]
        self._joined = tile.coordinates[first:behind]
        self._names = frozenset(c.name for c in self._joined)
        self._arrays = {a.name: a for a in nest.arrays if a.values is None}
        self._subscripts = Subscripts.of(nest, tile.bodies, {c.name: c.limit for c in tile.coordinates})
        self._ring = self._subscripts.ring
        self._demanded: dict[Expr, None] = {}
        taken = all_names(nest) | {c.name for c in tile.coordinates}
        self._name = fresh(
            "_".join(c.name for c in self._joined),
            taken | {n for body in tile.bodies for n in declared_names(body)},
        )

    def collapsed(self) -> tuple[Nest, RegisterTile]:
        """Return the nest and the tile; an error says which elements are on no line."""
        lines = self._lines()
        limit = self._limit()
        shown = " and ".join(dict.fromkeys(c.shown for c in self._joined))
        joined = replace(self._joined[0], name=self._name, limit=limit, shown=shown)
        alternatives = tuple(
            replace(alternative, body=self._body(alternative.body, lines))
            for alternative in self._tile.alternatives
        )
        arrays = tuple(
            replace(a, dims=self._dims(a, *lines[a.name])) if a.name in lines else a
            for a in self._nest.arrays
        )
        conditions = tuple(dict.fromkeys((*self._tile.conditions, *self._demanded, at_most(limit))))
        coordinates = (*self._before, joined, *self._behind)
        tile = replace(self._tile, coordinates=coordinates, alternatives=alternatives, conditions=conditions)
        return replace(self._nest, arrays=arrays), tile

    def _limit(self) -> Expr:
        # isl is slow to import.
        from comprehensive.poly.always import one_not_negative

        limit, *others = (c.limit for c in self._joined)
        for inner in others:
            self._demanded |= dict.fromkeys(one_not_negative(self._nest, limit, inner))
            limit = exact_product(limit, inner, environment_of(self._nest))
        return limit

    # --- what lies on the line

    def _lines(self) -> dict[str, tuple[int, int]]:
        """Return the dimensions of arrays that become one: the first of them, and the one behind the last."""
        found: dict[str, tuple[int, int]] = {}
        for reference in self._references(self._tile.bodies):
            line = self._line(reference)
            if line is not None and found.setdefault(reference.array, line) != line:
                raise _NotOnALineError(reference.array)
        for array in arrays_assigned(chain.from_iterable(self._tile.bodies)):
            if array in self._arrays and array not in found:
                raise _NotOnALineError(array)
        return found

    def _references(self, bodies: Iterable[tuple[Stmt, ...]]) -> Iterator[Index]:
        return (e for e in chain.from_iterable(map(elements_in, bodies)) if e.array in self._arrays)

    def _line(self, reference: Index) -> tuple[int, int] | None:
        """Return the dimensions along which all of the coordinates lead to a reference; None where not all do."""
        read = [self._names & _names_of(s) for s in reference.subscripts]
        if not self._names <= frozenset().union(*read):
            if self._alone and any(read):
                raise _NotOnALineError(reference.array)
            return None
        varying = [k for k, names in enumerate(read) if names]
        line = varying[0], varying[-1] + 1
        value = self._value(reference, *line)
        if value is None or self._apart & self._ring.names_in(value - self._number):
            raise _NotOnALineError(reference.array)
        return line

    @cached_property
    def _apart(self) -> frozenset[str]:
        """The names of which the distance of elements from the points may not be a function."""
        if not self._alone:
            return self._names
        declared = (name for body in self._tile.bodies for name in declared_names(body))
        return self._names.union(declared)

    @cached_property
    def _number(self) -> Polynomial:
        """The number of a point, of its coordinates."""
        number = Polynomial.constant(0)
        for coordinate in self._joined:
            number = number * self._ring.read(coordinate.limit) + Polynomial.symbol(coordinate.name)
        return number

    def _value(self, reference: Index, first: int, behind: int) -> Polynomial | None:
        """Return the place of an element along dimensions as one; None where it is no sum."""
        dims = self._arrays[reference.array].dims or (None,)
        total = Polynomial.constant(0)
        for subscript, dim in zip(reference.subscripts[first:behind], dims[first:behind], strict=True):
            value, conversions = self._subscripts.linear(subscript), self._subscripts.conversions(subscript)
            if value is None or conversions is None:
                return None
            self._demanded |= dict.fromkeys(conversions)
            row = ZERO if dim is None else dim
            total = total * self._ring.read(row) + value
        return total

    # --- the points in terms of their number

    def _dims(self, array: Array, first: int, behind: int) -> tuple[Expr | None, ...]:
        dims = array.dims or (None,)
        types = environment_of(self._nest)
        line: Expr | None = dims[behind - 1]
        for dim in reversed(dims[first : behind - 1]):
            line = None if dim is None or line is None else exact_product(dim, line, types)
        return (*dims[:first], line, *dims[behind:])

    def _body(self, body: tuple[Stmt, ...], lines: Mapping[str, tuple[int, int]]) -> tuple[Stmt, ...]:
        def on_line(expression: Expr) -> Expr:
            if isinstance(expression, Index) and expression.array in lines:
                return self._on_line(expression, *lines[expression.array])
            return expression

        def changed(expression: Expr) -> Expr:
            found = map_expression(expression, on_line)
            if self._alone and self._names & names_read(found):
                raise _NotOnALineError(self._name)
            return substitute(found, self._digits)

        def written(place: Name | Index) -> Name | Index:
            found = changed(place)
            assert isinstance(found, Name | Index)
            return found

        return map_expressions(body, changed, written)

    def _on_line(self, reference: Index, first: int, behind: int) -> Index:
        value = self._value(reference, first, behind)
        held = self._held(value)
        if value is None or held is None:
            raise _NotOnALineError(reference.array)
        self._demanded |= dict.fromkeys(held)
        rest = value - self._number
        if self._names & self._ring.names_in(rest):
            place = self._ring.write(value)
        else:
            place = sum_of_addends([(1, Name(self._name)), *addends(self._ring.write(rest))])
        before, after = reference.subscripts[:first], reference.subscripts[behind:]
        return replace(reference, subscripts=(*before, place, *after))

    def _held(self, value: Polynomial | None) -> tuple[Expr, ...] | None:
        """Return under which conditions ``int`` holds a place; the number of a point it holds anyway."""
        if value is None:
            return None
        return () if value == self._number else self._subscripts.within(value, ScalarType.INT)

    @cached_property
    def _digits(self) -> Mapping[str, Expr]:
        """The coordinates, of the number of the point."""
        found: dict[str, Expr] = {}
        number: Expr = Name(self._name)
        for coordinate in reversed(self._joined[1:]):
            found[coordinate.name] = Binary("%", number, coordinate.limit)
            number = Binary("/", number, coordinate.limit)
        return found | {self._joined[0].name: number}


def _names_of(subscript: Expr) -> frozenset[str]:
    """The names in a subscript, but for those by which it looks elements up."""
    if isinstance(subscript, Name):
        return frozenset((subscript.identifier,))
    parts = () if isinstance(subscript, Index) else children(subscript)
    return frozenset[str]().union(*map(_names_of, parts))


def _is_long(statement: Stmt) -> bool:
    """Whether a statement is a loop of any number of turns."""
    match statement:
        case For(bound=IntLiteral()):
            return False
        case _:
            return isinstance(statement, For | While | DoWhile)
