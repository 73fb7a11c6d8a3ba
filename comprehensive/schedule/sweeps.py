"""Sweeps between two grids: regions as points in, what takes turns with what, and at which distances, out.

::

    b[y0 + 1][y1 + 1] = a[y0][y1 + 1] + a[y0 + 2][y1 + 1];     reads of a at (-1, 0) and (1, 0)
    a[y0 + 1][y1 + 1] = b[y0 + 1][y1 + 1] / 2;                 reads of b at (0, 0)

A grid is an array, or a part of one, such that every point of a sweep writes one element of it.  An element is where
its point is: the distance of a read is that of the point that wrote the element, for all sizes the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial, whole_times
from comprehensive.loops.access import names_read
from comprehensive.loops.conversions import without_conversions
from comprehensive.loops.integers import IntLiteral, Ring
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Points, Sweep
from comprehensive.loops.traverse import rename
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    HostLoop,
    Index,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import (
    elements,
    elements_in,
    reads_data,
    statements_in,
    subexpressions,
)
from comprehensive.schedule.legality import described


class NoSweepsError(Exception):
    """An error that says why regions are no sweeps between two grids."""


class Start(Struct, frozen=True):
    """Region number ``region``, where ``condition`` holds (None is always), does the first or the second body."""

    region: int
    condition: Expr | None
    second: bool


class Cycle(Struct, frozen=True):
    """A loop of two bodies that take turns."""

    bodies: tuple[tuple[Stmt, ...], tuple[Stmt, ...]]
    starts: tuple[Start, ...]


def cycle_of(regions: Sequence[Points], loop: HostLoop) -> Cycle:
    """The bodies in the order in which the loop runs them. Raises NoSweepsError."""
    if loop.step != 1:
        raise NoSweepsError(f"'{loop.iterator}' does not go up by 1")
    match [region.alternatives for region in regions]:
        case ((first,), (second,)) if first.condition is None and second.condition is None:
            _demand_no_exchange(loop)
            return Cycle((first.body, second.body), (Start(0, None, False), Start(1, None, True)))
        case ((first, second),) if first.condition is not None and second.condition is None:
            if not _alternates(first.condition, loop):
                raise NoSweepsError(f"no condition says whether '{loop.iterator}' is even")
            _demand_no_exchange(loop)
            starts = (Start(0, first.condition, False), Start(0, None, True))
            return Cycle((first.body, second.body), starts)
        case ((only,),) if only.condition is None and loop.exchange:
            return Cycle((only.body, _exchanged(only.body, dict(loop.exchange))), (Start(0, None, False),))
        case _:
            raise NoSweepsError("no two sweeps take turns")


def _demand_no_exchange(loop: HostLoop) -> None:
    if loop.exchange:
        raise NoSweepsError("sweeps that take turns exchange pointers besides")


def _exchanged(body: tuple[Stmt, ...], before: Mapping[str, str]) -> tuple[Stmt, ...]:
    """Return the body of the next turn in the names of this one; ``before`` says where each name pointed to then.

    Raises NoSweepsError unless two turns bring all names back.
    """
    used = {e.array for e in elements_in(body)}
    if any(before.get(before.get(name, name), before.get(name, name)) != name for name in used):
        raise NoSweepsError("pointers come back after more than two turns of the loop")
    return rename(body, {name: before.get(name, name) for name in used})


def _alternates(condition: Expr, loop: HostLoop) -> bool:
    """Whether the condition holds for every other value of the iterator."""
    if not isinstance(loop.start, IntLiteral):  # of a negative one the remainder may be -1
        return False
    parity = fresh("parity", names_read(condition) | {loop.iterator})

    def reduced(e: Expr) -> Expr:
        match e:
            case Binary(operator="%", left=Name(identifier=name), right=IntLiteral(value=2)) if (
                name == loop.iterator
            ):
                return Name(parity)
            case _:
                return e

    of_parity = map_expression(condition, reduced)
    if names_read(of_parity) != frozenset((parity,)):
        return False
    return bool(c_value(of_parity, {parity: 0})) != bool(c_value(of_parity, {parity: 1}))


class _Place(Struct, frozen=True):
    """An element: of the grid ``grid``, ``offset`` away from the point.

    ``pitch`` is the distance of rows where they lie one after the other behind a pointer.
    """

    grid: tuple[str, ...]
    offset: tuple[int, ...]
    pitch: Expr | None


def sweeps_of(
    cycle: Cycle,
    names: Sequence[str],
    types: Mapping[str, ScalarType],
    arrays: frozenset[str],
    scalars: frozenset[str],
) -> tuple[tuple[Sweep, Sweep], tuple[Expr, ...]]:
    """Return both bodies as sweeps over points with coordinates ``names``, and the pitches of rows.

    A pitch is the distance of rows behind a pointer.

    ``types`` are those of all that the bodies read, ``arrays`` the names of data, ``scalars`` those of what is the same
    for all points.  Raises NoSweepsError.
    """
    known = frozenset(names) | scalars
    stores = [_store(body, arrays) for body in cycle.bodies]
    ring = Ring()
    written = [_place(target, names, types, known, ring) for target in stores]
    if written[0].grid == written[1].grid:
        raise NoSweepsError("both sweeps write the same grid")
    found: list[Sweep] = []
    for number, body in enumerate(cycle.bodies):
        reads: dict[Index, tuple[int, ...]] = {}
        for read in _reads(body, {target.array for target in stores}):
            place = _place(read, names, types, known, ring)
            if place.grid != written[1 - number].grid:
                raise NoSweepsError(
                    "a sweep reads something else of what the loop changes than the other grid"
                )
            source = written[1 - number].offset
            reads[read] = tuple(there - here for there, here in zip(place.offset, source, strict=True))
        found.append(Sweep(body, stores[number], tuple(reads.items())))
    pitches = dict.fromkeys(place.pitch for place in written if place.pitch is not None)
    return (found[0], found[1]), tuple(pitches)


def _store(body: Sequence[Stmt], arrays: frozenset[str]) -> Index:
    """Return the element that the only store of a body writes. NoSweepsError where there is no such store."""
    stores = [
        s
        for s in statements_in(tuple(body))
        if isinstance(s, Assign) and isinstance(s.target, Index) and s.target.array in arrays
    ]
    match stores:
        case [Assign(target=Index() as target, operator="=") as store] if store in body:
            return target
        case _:
            raise NoSweepsError("a sweep does not write one element at every point, once")


def _reads(body: Sequence[Stmt], grids: set[str]) -> Iterable[Index]:
    """References to the grids, each of which is surely read for every point."""
    for statement in body:
        match statement:
            case Assign(target=target, value=value):
                subscripts = target.subscripts if isinstance(target, Index) else ()
                expressions: tuple[Expr, ...] = (value, *subscripts)
            case Declare(initial=initial):
                expressions = () if initial is None else (initial,)
            case For():
                expressions = ()
                if any(_of(e, grids) for s in statements_in((statement,)) for e in _expressions(s)):
                    raise NoSweepsError("a loop of a point reads a grid")
            case _:
                raise NoSweepsError(f"{described(statement)} is neither an assignment nor a loop")
        for expression in expressions:
            for part in subexpressions(expression):
                maybe = isinstance(part, Conditional) or (
                    isinstance(part, Binary) and part.operator in ("&&", "||")
                )
                if maybe and _of(part, grids):
                    raise NoSweepsError("what a point reads of a grid depends on a condition")
            yield from _of(expression, grids)


def _expressions(statement: Stmt) -> tuple[Expr, ...]:
    match statement:
        case Assign(target=target, value=value):
            return (target, value)
        case Declare(initial=initial):
            return () if initial is None else (initial,)
        case For(start=start, bound=bound, step=step):
            return (start, bound, step)
        case _:
            return ()


def _of(expression: Expr, grids: set[str]) -> list[Index]:
    return [e for e in elements(expression) if e.array in grids]


def _place(
    index: Index,
    names: Sequence[str],
    types: Mapping[str, ScalarType],
    known: frozenset[str],
    ring: Ring,
) -> _Place:
    """Return where an element is: ``a[N + y + 1]`` is that at a distance of 1 in the grid ``a[N + .]``."""
    grid, offset = [index.array], list[int]()
    pitch: Polynomial | None = None
    wrong = NoSweepsError(f"the subscripts of '{index.array}' are not the coordinates in their order")
    for subscript in index.subscripts:
        kind = promote(type_of(subscript, types))
        if reads_data(subscript) or not (kind.is_exact or kind.is_wide):
            raise NoSweepsError(f"a subscript of '{index.array}' is no sum of signed integers, or of 64 bits")
        if not names_read(subscript) <= known:
            raise NoSweepsError(f"a subscript of '{index.array}' is computed by the point")
        value = ring.read(without_conversions(subscript, types))
        of = [name for name in names if name in ring.names_in(value)]
        if of != list(names[len(offset) : len(offset) + len(of)]) or len(of) > 2:
            raise wrong
        for name in of[:-1]:  # rows one after the other
            pitch = value.coefficient(name, 1)
            if pitch.is_constant or value.degree(name) != 1 or ring.names_in(pitch) & {*names, *grid}:
                raise wrong
            value = value.coefficient(name, 0)
            rows = whole_times(value, pitch)
            if not rows.is_constant:
                raise wrong
            offset.append(int(rows.constant_value()))
            value = value - rows * pitch
        for name in of[-1:]:
            if value.degree(name) != 1 or value.coefficient(name, 1) != 1:
                raise wrong
            value = value.coefficient(name, 0)
            constant = value.evaluate(dict.fromkeys(value.symbols, 0))
            offset.append(int(constant))
            value = value - constant
        if set(names) & ring.names_in(value):
            raise wrong
        grid.append(f"{value}, {len(of)} coordinates")
    if len(offset) != len(names):
        raise wrong
    row = None if pitch is None else ring.write(pitch)
    return _Place((*grid, str(pitch)), tuple(offset), row)


def in_rows(pitches: Iterable[Expr], limit: Expr, halo: int) -> tuple[Expr, ...]:
    """Conditions under which rows behind a pointer are as long as what the sweeps touch of them.

    ``limit`` and ``halo`` are those of the last coordinate.
    """
    return tuple(Binary("<=", plus(limit, IntLiteral(2 * halo)), pitch) for pitch in pitches)


def apart(
    sweeps: tuple[Sweep, Sweep], names: Sequence[str], limits: Sequence[Expr], halo: Sequence[int]
) -> tuple[Expr, ...]:
    """Conditions under which no element is in both grids. Raises NoSweepsError where none is known.

    Arrays do not overlap; of two grids in one array the distance must be more than what the sweeps touch.
    """
    first, second = (sweep.written for sweep in sweeps)
    if first.array != second.array:
        return ()
    ring = Ring()
    for one, other in zip(first.subscripts, second.subscripts, strict=True):
        distance = ring.read(other) - ring.read(one)
        if ring.names_in(distance) & set(names):
            continue
        signs = {term.coefficient > 0 for term in distance.terms()}
        if len(signs) != 1:  # no distance, or one of either sign
            continue
        distance = distance if signs == {True} else -distance
        place = [number for number, name in enumerate(names) if name in ring.names_in(ring.read(one))]
        room: Expr = IntLiteral(1) if not place else plus(limits[place[0]], IntLiteral(halo[place[0]]))
        if len(place) > 1:
            continue
        return (Binary("<=", room, ring.write(distance)),)
    raise NoSweepsError("nothing says that the two grids are apart")


def farthest(sweeps: tuple[Sweep, Sweep], coordinate: int) -> int:
    """Return the greatest distance from a point at which the sweeps read along a coordinate."""
    return max((abs(distance[coordinate]) for sweep in sweeps for _, distance in sweep.reads), default=0)
