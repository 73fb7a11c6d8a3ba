"""Equalize: a serial loop that is longer at some points becomes one of which each point does a part.

::

    for (j = 0; j < i + 1; j++) sum += a[i][j] * x[j];
        -->  for (j = 0; j < m; j++) if (j < i + 1) sum += a[i][j] * x[j];
    for (j = 0; j < n - i; j++) sum += a[i][j + i] * x[j + i];
        -->  for (j = 0; j < n; j++) if (i <= j) sum += a[i][j] * x[j];

so that all points of a block go through the loop together.  A block begins with the first step that one of its points
does and ends behind the last one (:class:`BlockSteps`); steps that all of its points do need no condition.  Operands
are then read at points and in steps that do nothing, too: it is right where these elements are there
(:func:`is_inside`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import BLOCK_FIRST, BLOCK_STEPS
from comprehensive.kernel_ir.terms import conjunction, constant, least
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import largest, slope
from comprehensive.loops.integers import ONE, ZERO, Ring, written_anew
from comprehensive.loops.ir import Alternative, Nest, RegisterTile, StepRange
from comprehensive.loops.traverse import map_indices
from comprehensive.metafork.ast import Binary, Call, Expr, For, Index, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import elements_in
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext, is_same_for_all_points


def equalized(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """Return the tile with the longest loop in the place of its only one; as it is where that is no such loop."""
    match tile.alternatives:
        case (Alternative(condition=None, body=body),):
            pass
        case _:
            return tile
    loops = [s for s in body if isinstance(s, For)]
    if len(loops) != 1 or is_same_for_all_points(nest, loops[0]) or tile.steps is not None or tile.masked:
        return tile
    (loop,) = loops
    found = _Uneven(nest, tile, loop).even()
    if found is None:
        return tile
    even, steps = found
    done = tuple(even if s is loop else s for s in body)
    return replace(tile, alternatives=(Alternative(None, done),), steps=steps)


class _Uneven(Struct, frozen=True):
    """A loop whose number of steps is linear in coordinates."""

    nest: Nest
    tile: RegisterTile
    loop: For

    def even(self) -> tuple[For, StepRange] | None:
        """Return the loop that all points do, and which of its steps each of them does; None where it is not known."""
        loop, known = self.loop, {s.name for s in self.nest.scalars} | set(self.tile.limits)
        if (loop.type, loop.start, loop.relation, loop.step) != (ScalarType.INT, ZERO, "<", ONE):
            return None
        if not names_read(loop.bound) <= known or any(c.shift for c in self.tile.coordinates):
            return None
        ring = Ring()
        first = self._shift(ring)
        behind = first + ring.read(loop.bound)
        most = largest(ring, behind, self.tile.limits)
        if most is None or largest(ring, -first, self.tile.limits) is None:
            return None
        steps = StepRange(ring.write(first), ring.write(behind), loop.bound)
        body = loop.body
        if steps.first != ZERO:
            moved = Binary("-", Name(loop.iterator), steps.first)
            body = with_moved_iterator(body, loop.iterator, moved)
        return replace(loop, bound=most, body=body), steps

    def _shift(self, ring: Ring) -> Polynomial:
        """Return what subscripts add to the iterator that differs between points: 0, or the same in all of them.

        It is 0, too, where it may be negative: the longest loop begins at 0.
        """
        name = self.loop.iterator
        for reference in elements_in(self.loop.body):
            for subscript in reference.subscripts:
                value = ring.read(subscript)
                if value.degree(name) == 1 and value.coefficient(name, 1) == Polynomial.constant(1):
                    rest = value.coefficient(name, 0)
                    same = rest
                    for point in self.tile.limits:
                        same = same.coefficient(point, 0)
                    apart = rest - same
                    rises = all((slope(ring, apart, point) or 0) >= 0 for point in self.tile.limits)
                    if apart != Polynomial.constant(0):
                        return apart if rises else Polynomial.constant(0)
        return Polynomial.constant(0)


def mean_steps(tile: RegisterTile) -> Expr | None:
    """Return the mean of the steps that points of an equalized tile do: of those at the corners of the coordinates.

    It is exact, but for what rounds, since the number of steps is linear in the coordinates, as long as it is nowhere
    negative.  None where all points do the same steps.
    """
    if tile.steps is None:
        return None
    read = names_read(tile.steps.count)
    ends = [
        (c.name, (ZERO, Binary("-", c.limit, ONE)))
        for c in (*tile.coordinates, *tile.batch)
        if c.name in read
    ]
    names = [name for name, _ in ends]
    ring = Ring()
    corners = [
        ring.read(substitute(tile.steps.count, dict(zip(names, corner, strict=True))))
        for corner in product(*(places for _, places in ends))
    ]
    return Binary("/", ring.write(sum(corners, Polynomial.constant(0))), IntLiteral(len(corners)))


def with_moved_iterator(body: tuple[Stmt, ...], iterator: str, value: Expr) -> tuple[Stmt, ...]:
    """Return statements with a value in the place of an iterator, and subscripts written anew: of ``a[j + i]`` for
    ``j - i`` there is ``a[j]``."""
    moved = map_expressions(body, lambda expr: substitute(expr, {iterator: value}))
    return map_indices(moved, lambda e: replace(e, subscripts=tuple(map(written_anew, e.subscripts))))


def is_inside(nest: Nest, tile: RegisterTile, loop: For, reference: Index) -> bool:
    """Whether a reference of the loop stays inside of its array at all points and in all steps of the longest loop.

    Subscripts are one variable and what does not change.  Of an array with declared extents whose rows are whole they
    stay inside of these.  Of other data the program has to read the element of the largest subscripts, at some point
    and in a step that does something: all elements before it, from the first one on, belong to the same object.
    """
    array = nest.array(reference.array)
    if array.whole_rows and array.dims is not None and None not in array.dims:
        return is_in_extents(nest, tile, loop, reference)
    return is_before_one_that_is_read(nest, tile, loop, reference, [(reference, ())])


def is_before_one_that_is_read(
    nest: Nest,
    tile: RegisterTile,
    loop: For,
    reference: Index,
    reads: Iterable[tuple[Index, tuple[Expr, ...] | None]],
) -> bool:
    """Whether the element of the largest subscripts of a reference is one of those that the program ``reads``, each
    under comparisons, at some point and in a step that does something: all elements before it are there."""
    # isl is slow to import.
    from comprehensive.poly.always import always_holds

    variables, known = _ranges(nest, tile, loop)
    below = [Binary("<=", ZERO, substitute(s, dict.fromkeys(variables, ZERO))) for s in reference.subscripts]
    if not all(always_holds(known, each) for each in below):
        return False
    last = {name: Binary("-", limit, ONE) for name, limit in variables.items()}
    ring, array = Ring(), nest.array(reference.array)
    end = [ring.read(substitute(s, last)) for s in reference.subscripts]
    for read, under in reads:
        other = nest.array(read.array)
        if under is None or (other.pointer, other.dims) != (array.pointer, array.dims):
            continue
        if [ring.read(substitute(s, last)) for s in read.subscripts] != end:
            continue
        conditions = (tile.predicate, _condition(tile.steps, loop), *under)
        done = [part for part in conditions if part is not None]
        others = [name for name in variables if name not in names_read(read)]
        for values in product(*((ZERO, last[name]) for name in others)):
            at = last | dict(zip(others, values, strict=True))
            if always_holds(known, conjunction([substitute(part, at) for part in done])):
                return True
    return False


def is_in_extents(nest: Nest, tile: RegisterTile, loop: For, reference: Index) -> bool:
    """Whether a reference of the loop stays inside of the declared extents of its array, at all points and in all
    steps: its elements are there, whether the program reads them or not."""
    from comprehensive.poly.always import always_holds

    array = nest.array(reference.array)
    if not array.whole_rows or array.dims is None or None in array.dims:
        return False
    variables, known = _ranges(nest, tile, loop)
    return all(
        always_holds(known, inside)
        for subscript, extent in zip(reference.subscripts, array.dims, strict=True)
        for inside in _bounds(subscript, extent, variables)
    )


def _ranges(nest: Nest, tile: RegisterTile, loop: For) -> tuple[Mapping[str, Expr], Nest]:
    """Return the limits of coordinates, batch and loop, and the nest where none of these is empty."""
    variables = tile.limits | {loop.iterator: loop.bound}
    some = [Binary("<", ZERO, limit) for limit in variables.values()]
    return variables, replace(nest, preconditions=(*nest.preconditions, *some))


def _bounds(subscript: Expr, extent: Expr | None, variables: Mapping[str, Expr]) -> list[Expr]:
    assert extent is not None
    first = substitute(subscript, dict.fromkeys(variables, ZERO))
    last = substitute(subscript, {name: Binary("-", limit, ONE) for name, limit in variables.items()})
    return [Binary("<=", ZERO, first), Binary("<", last, extent)]


def _condition(steps: StepRange | None, loop: For) -> Expr | None:
    return None if steps is None else steps.condition(Name(loop.iterator))


class BlockSteps(Struct, frozen=True):
    """The steps of the longest loop that a block does: so many, from a multiple of the depth of a piece on."""

    context: TileContext
    limit: Expr
    """The steps of the longest loop."""

    @property
    def _steps(self) -> StepRange:
        assert self.context.tile.steps is not None
        return self.context.tile.steps

    @property
    def begin(self) -> Expr:
        """The first step, in the first piece."""
        return ZERO if self._steps.first == ZERO else self.context.name("begin")

    @property
    def count(self) -> Expr:
        """The steps of all pieces."""
        return self.context.name("count")

    def is_whole(self, piece: Expr) -> Expr:
        """Return the condition that all points of the block do all steps of a piece."""
        depth = Name(self.context.tile.depth)
        behind = Binary("<", piece, Binary("/", self.context.name("common"), depth))
        if self._steps.first == ZERO:
            return behind
        return Binary("&&", Binary("<=", self.context.name("common_from"), Binary("*", piece, depth)), behind)

    def declared(self) -> tuple[Stmt, ...]:
        """Return the statements that say which steps these are."""
        names, steps, depth = self.context.names, self._steps, Name(self.context.tile.depth)
        found: list[Stmt] = []
        left = self.limit
        if steps.first != ZERO:
            found.append(self._first("earliest", most=False))
            in_pieces = Binary("*", Binary("/", self.context.name("earliest"), depth), depth)
            found.append(constant(names["begin"], in_pieces))
            left = Binary("-", self.limit, self.begin)
        for name, most in (("count", True), ("common", False)):
            behind = self._corner(steps.behind, most=most)
            own = behind if steps.first == ZERO else Binary("-", behind, self.begin)
            found.append(constant(names[name], Call(BLOCK_STEPS, (left, own))))
        if steps.first != ZERO:
            found.append(self._first("latest", most=True))
            found.append(constant(names["common_from"], Binary("-", self.context.name("latest"), self.begin)))
        return tuple(found)

    def _first(self, name: str, *, most: bool) -> Stmt:
        """Return the statement that names the earliest, or latest, first step of a point."""
        own = self._corner(self._steps.first, most=most)
        return constant(self.context.names[name], Call(BLOCK_FIRST, (self.limit, own)))

    def _corner(self, value: Expr, *, most: bool) -> Expr:
        """Return the largest or the least value at the points of the block."""
        ring = Ring()
        read = ring.read(value)
        places: dict[str, Expr] = {}
        for number, c in enumerate(self.context.tile.coordinates):
            sign = slope(ring, read, c.name)
            assert sign is not None
            origin = self.context.name(f"o{number}")
            behind = least(plus(origin, c.extent), self.context.limit(number))
            places[c.name] = Binary("-", behind, ONE) if (sign > 0) == most else origin
        return substitute(value, places)
