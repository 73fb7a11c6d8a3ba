"""Unroll and jam: statements of one point in, the same for all points of a thread out, statement by statement.

::

    float sum = 0;  for (k) sum += a[y];     -->     float sum[U];  for (r < U) sum[r] = 0;
                                                     for (k) for (r < U) sum[r] += a[y(r)];

That is right since points may run in any order, and each keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from msgspec import Struct

from comprehensive.kernel_ir.kernel import KernelStmt
from comprehensive.kernel_ir.terms import constant, counting, least, onward, product
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import rename
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies, with_own_expressions
from comprehensive.metafork.terms import times, value_left
from comprehensive.metafork.walk import (
    declared,
    elements,
    elements_assigned,
    elements_in,
    leaves_loop,
    own_expressions,
    reads_data,
    statements_in,
    subexpressions,
)
from comprehensive.metafork.walk import names as names_in
from comprehensive.records import replace
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented, is_same_for_all_points
from comprehensive.schedule.read_first import read_first
from comprehensive.schedule.short_loops import is_short_nest


class UnrollAndJam(Struct, frozen=True):
    """Statements of one point done for all points of a thread.

    ``scalars`` are those of a point; ``places`` are those of a thread's points in the tile, by coordinate.

    ``reference`` says where a reference to data goes; it is given one whose subscripts are done.
    """

    context: TileContext
    scalars: frozenset[str]
    places: tuple[Expr, ...]
    reference: Callable[[Expr], Expr]
    origins: tuple[Expr, ...] | None = None
    """The origins of the tile, by coordinate, where they are not those of the context."""
    serpentine: bool = False
    """Whether every other row of points is done backwards."""
    cut: bool = False
    """Whether points outside of the limits do what the last ones inside do, but for stores."""

    def all(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements for all points, inside of the limits or not."""
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare():
                    result += self.declared(statement)
                case Assign(atomic=True):
                    result.append(self._updated(statement))
                case Assign(target=Index(array=array)) if array in self.context.strides:
                    result.append(self._stored(statement))
                case Assign():
                    result += self._computed(statement)
                case For() if is_jammed(self.context.nest, statement):
                    # An iterator hides a scalar of the same name.
                    inside = replace(self, scalars=self.scalars - {statement.iterator})
                    result.append(
                        replace(
                            statement,
                            bound=self.context.bound(statement),
                            body=inside.all(statement.body),
                            unrolled=is_short_nest(statement),
                        )
                    )
                case _:
                    result += self.at_points((self.inside(statement),))
        return tuple(result)

    def inside(self, statement: Stmt) -> Stmt:
        """A statement at one point, with all that is in it; what it declares is its own."""
        match statement:
            case For() if statement.type is None and statement.iterator in self.scalars:
                return self._counted(statement)
            case For():
                within = replace(self, scalars=self.scalars - {statement.iterator})
                return replace(
                    statement,
                    start=self.value(statement.start),
                    bound=within.value(self.context.bound(statement)),
                    step=within.value(statement.step),
                    body=within._each_inside(statement.body),
                )
            case Assign():
                return self.one(statement)
            case _:
                return with_bodies(with_own_expressions(statement, self.value), self._each_inside)

    def _each_inside(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(self.inside, body))

    def _counted(self, loop: For) -> Stmt:
        """A loop that counts in a scalar of the point, which is an element of an array, counts in one of its own.

        ``for (w = 9; w > 0; w--) S(w)  -->  int c = w[r]; for (c = 9; c > 0; c--) S(c); w[r] = c;``
        """
        name, count = loop.iterator, self.context.names[f"counter_{loop.iterator}"]
        (renamed,) = rename((loop,), {name: count})
        bodies = (statement for body in self.context.tile.bodies for statement in statements_in(body))
        type = next(declared(statement)[name] for statement in bodies if name in declared(statement))
        before = Declare(type, count, (), self.value(Name(name)))
        after = self.one(Assign(Name(name), "=", Name(count), loop.span))
        return Block((before, self.inside(renamed), after))

    def at_one(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements as they are, with their references to data."""
        return tuple(map(self.inside, body))

    def declared(self, statement: Declare) -> tuple[Stmt, ...]:
        """The scalar as an array with an element for each point, and its first values."""
        array = Declare(statement.type, statement.name, self.shape())
        if statement.initial is None:
            return (array,)
        first = Assign(Name(statement.name), "=", statement.initial, statement.span)
        return (array, *self._computed(first))

    def _computed(self, statement: Assign) -> tuple[Stmt, ...]:
        """An assignment of something that is no data at all points."""
        first = read_first(self.context, statement.value, self.indices(), self.shape(), statement.span)
        if first is None:
            return self.at_points((self.one(statement),))
        reads = self.at_points(tuple(map(self.one, first.reads)))
        after = self.at_points((self.one(replace(statement, value=first.value)),))
        return (Block((*first.declared, *reads, *after)),)

    def _stored(self, statement: Assign) -> Stmt:
        """All values before all stores: after a store the compiler must take it that what it reads has changed."""
        assert isinstance(statement.target, Index)
        held = Index(self.context.names["value"], self.indices())
        computed = self._computed(Assign(held, "=", value_left(statement), statement.span))
        stored = replace(self.one(statement), operator="=", value=held)
        array = Declare(self.context.nest.array(statement.target.array).type, held.array, self.shape())
        return Block((array, *computed, *self.at_points((stored,), guards=self._guards())))

    def _updated(self, statement: Assign) -> Stmt:
        """All places and values before all atomic updates: what these need is then read together."""
        (update,) = self.at_one((statement,))
        assert isinstance(update, Assign)
        assert isinstance(update.target, Index)
        place, value = update.target.subscripts[0], update.value
        declared: list[Stmt] = []
        computed: list[Stmt] = []
        if reads_data(place):
            held = Index(self.context.names["place"], self.indices())
            declared.append(Declare(ScalarType.LONG, held.array, self.shape()))
            computed.append(Assign(held, "=", place, statement.span))
            place = held
        if reads_data(value):
            held = Index(self.context.names["value"], self.indices())
            declared.append(Declare(self.context.element_type(update.target.array), held.array, self.shape()))
            computed.append(Assign(held, "=", value, statement.span))
            value = held
        update = replace(update, target=replace(update.target, subscripts=(place,)), value=value)
        before = self.at_points(computed) if computed else ()
        return Block((*declared, *before, *self.at_points((update,), guards=self._guards())))

    def _guards(self) -> tuple[Expr, ...]:
        """The conditions under which a point stores, by coordinate."""
        return self.context.inside() if self.cut else ()

    def one(self, statement: Stmt) -> Stmt:
        """The statement at one point, its scalars being elements of arrays."""
        (mapped,) = map_expressions((statement,), self.value, self._place)
        return mapped

    def _place(self, target: Name | Index) -> Name | Index:
        found = self.value(target)
        assert isinstance(found, Name | Index)
        return found

    def value(self, expr: Expr) -> Expr:
        """The expression at one point."""
        elements = {name: Index(name, self.indices()) for name in self.scalars}
        return self.reference(substitute(expr, elements))

    def at_points(
        self, body: Sequence[Stmt], *, guards: Sequence[Expr] = (), unrolled: bool = True
    ) -> tuple[Stmt, ...]:
        """The statements at each point; where there are ``guards``, for each coordinate, at those that meet them."""
        context, inner = self.context, tuple(body)
        for number in reversed(range(len(self.places))):
            c = context.tile.coordinates[number]
            origin = context.name(f"o{number}") if self.origins is None else self.origins[number]
            place = onward(origin, self.places[number])
            if guards:
                inner = (If(guards[number], inner),)
            elif self.cut:
                place = self._last_inside(number, place)
            inner = (constant(c.name, place), *inner)
            turn = context.names[f"r{number}"]
            if self.serpentine and number == len(self.places) - 1:
                turn, inner = context.names["turn"], (self._back_and_forth(number), *inner)
            inner = (counting(turn, Name(c.each), inner, unrolled=unrolled),)
        return inner

    def _last_inside(self, number: int, place: Expr) -> Expr:
        """The value of a coordinate, or the one inside of the limits that is nearest to it."""
        found = least(place, Binary("-", self.context.limit(number), ONE))
        is_before = Binary("<", place, ZERO)
        return Conditional(is_before, ZERO, found) if self.context.tile.coordinates[number].shift else found

    def _back_and_forth(self, number: int) -> Stmt:
        """Return the statement that names the point of a row which a turn is for.

        Odd rows are gone through backwards.
        """
        turn, row = self.context.name("turn"), self.context.name(f"r{number - 1}")
        last = Binary("-", Name(self.context.tile.coordinates[number].each), ONE)
        is_odd = Binary("==", Binary("%", row, IntLiteral(2)), ONE)
        return constant(self.context.names[f"r{number}"], Conditional(is_odd, Binary("-", last, turn), turn))

    def indices(self) -> tuple[Expr, ...]:
        """The indices of the thread's point along each coordinate."""
        return tuple(self.context.name(f"r{number}") for number in range(len(self.places)))

    def shape(self) -> tuple[Expr, ...]:
        return tuple(Name(c.each) for c in self.context.tile.coordinates)


def jammed_points(context: TileContext, body: Sequence[Stmt]) -> tuple[UnrollAndJam, tuple[KernelStmt, ...]]:
    """Return the unroll and jam for all points of a thread, and the body where the limits cut the tile.

    There all points do it, some without storing anything, if registers have room for what they read at a time and no
    place depends on what is stored; else it is done point by point.
    """
    scalars = jammed_scalars(context.nest, body)
    jam = UnrollAndJam(context, scalars, context.rows_side_by_side(), context.flat)
    one_by_one: tuple[KernelStmt, ...] = (
        commented(context, "predicate", stored_in(context, body), "points inside of the limits, one by one"),
        *jam.at_points(single_point(context, body), guards=context.inside(), unrolled=False),
    )
    is_together = _is_straight(context.nest, body) and not _looks_up_stored(context, body)
    if context.tile.predicate is not None or not is_together:
        return jam, one_by_one
    points = product([Name(c.each) for c in context.tile.coordinates])
    have_room = Binary("<=", times(points, IntLiteral(_most_reads(context, body))), IntLiteral(MOST_READS))
    does = f"points outside do what the last ones inside do, up to {MOST_READS} reads at a time, and store nothing"
    said = commented(context, "predicate", stored_in(context, body), does)
    return jam, (If(have_room, (said, *replace(jam, cut=True).all(body)), one_by_one),)


def stored_in(context: TileContext, body: Sequence[Stmt]) -> list[str]:
    """The arrays of data that a body stores to, as it comes to them."""
    return [e.array for e in elements_assigned(body) if e.array in context.strides]


def _most_reads(context: TileContext, body: Sequence[Stmt]) -> int:
    """The most reads of data in a statement."""
    data = {array.name for array in context.nest.arrays}
    found = (
        sum(isinstance(e, Index) and e.array in data for x in own_expressions(s) for e in subexpressions(x))
        for s in statements_in(tuple(body))
    )
    return max(found, default=0)


def _is_straight(nest: Nest, body: Sequence[Stmt]) -> bool:
    """Whether all points of a thread do each statement together: nothing is done under a condition."""
    return all(
        isinstance(s, Declare | Assign)
        or (isinstance(s, For) and is_jammed(nest, s) and _is_straight(nest, s.body))
        for s in body
    )


def _looks_up_stored(context: TileContext, body: Sequence[Stmt]) -> bool:
    """Whether a place depends on what the body stores: points outside may read it before the last ones inside store it,
    and the place is none then."""
    stored = set(stored_in(context, body))
    statements = tuple(statements_in(tuple(body)))
    known = 0
    while known < len(stored):
        known = len(stored)
        for statement in statements:
            match statement:
                case Declare(name=name) | Assign(target=Name(identifier=name) | Index(array=name)):
                    if any(_speaks_of(e, stored) for e in own_expressions(statement)):
                        stored.add(name)
                case _:
                    pass
    return any(_speaks_of(place, stored) for e in elements_in(statements) for place in e.subscripts)


def _speaks_of(expr: Expr, names: Set[str]) -> bool:
    return not names.isdisjoint((*names_in(expr), *(e.array for e in elements(expr))))


def single_point(context: TileContext, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The body at one point, with its references to data flat."""
    jam = UnrollAndJam(context, frozenset(), context.rows_side_by_side(), context.flat)
    return jam.at_one(body)


MOST_READS = 24
"""The reads of a thread that are in flight at a time where the limits cut a tile: with 56 of them, those of seven
points for each of eight, a stencil of 101 x 131 x 97 took 1.13 times as long as point by point (one H200)."""


def is_jammed(nest: Nest, loop: For) -> bool:
    """Whether all points go through a loop together: its header is the same for them, and none leaves it early."""
    return is_same_for_all_points(nest, loop) and not leaves_loop(loop.body)


def jammed_scalars(nest: Nest, body: Sequence[Stmt]) -> frozenset[str]:
    """The scalars of a point that have an element for each point of a thread.

    What a statement declares that points do one after the other is its own.
    """
    found: set[str] = set()
    for statement in body:
        match statement:
            case Declare():
                found.add(statement.name)
            case For() if is_jammed(nest, statement):
                found |= jammed_scalars(nest, statement.body)
            case _:
                pass
    return frozenset(found)


def scalars_of(body: Sequence[Stmt]) -> frozenset[str]:
    """The scalars that the body declares."""
    return frozenset(s.name for s in statements_in(tuple(body)) if isinstance(s, Declare))
