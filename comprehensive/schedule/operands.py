"""The operand tiles of a serial loop: a point with such a loop in, the parts of arrays that a block needs at once out.

::

    for (k) sum += a[y0][k] * b[k][y1]     -->     a: rows along y0, columns along k;  b: rows along k, columns along y1

A subscript of a piece is one variable and what is the same for all points, or, before the last one, what an array says
for it: ``a[at[y0]][k]`` has the rows whose numbers are ``at[y0]``, ``a[of[b]][y0][k]`` those of a matrix that is the
same for all points of a block.  Elements that are the same in all steps, as in
``c[y0][y1] += ...``, are no pieces: they are held in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import always_evaluated, conditional_parts
from comprehensive.loops.types import environment_of, type_of, with_declarations
from comprehensive.metafork.ast import Binary, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.walk import (
    arrays_assigned,
    elements,
    elements_assigned,
    elements_in,
    expressions_in,
    reads_data,
    statements_in,
    subexpressions,
)
from comprehensive.schedule.bounded_reads import read_under
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.equalize import is_before_one_that_is_read, is_in_extents, is_inside
from comprehensive.schedule.legality import division_obstacle, jam_obstacle
from comprehensive.schedule.predicate import reads_no_more, stays_inside
from comprehensive.schedule.short_loops import is_short_nest
from comprehensive.schedule.unroll_and_jam import is_jammed


class Axis(Struct, frozen=True):
    """A direction of a piece: along ``variable`` (a coordinate, the iterator, or None for one element)."""

    variable: str | None
    rest: Expr
    """The subscript where the variable is 0, or what is added to a number that is looked up."""
    looked_up: Index | None = None
    """The number of a row is there: an element whose last subscript is the variable and what does not change."""
    downward: bool = False
    """Whether the variable, the iterator then, is subtracted: ``a[n - 1 - k]``."""


class OperandTile(Struct, frozen=True):
    """The part of an array that the loop reads, by subscript.

    ``row`` is the subscript along which the rows lie, if there are several of them. Along all others but the
    last one there is one element.
    """

    array: str
    axes: tuple[Axis, ...]
    row: int | None

    @property
    def rows(self) -> Axis:
        return Axis(None, ZERO) if self.row is None else self.axes[self.row]

    @property
    def columns(self) -> Axis:
        return self.axes[-1]


MOST_COORDINATES = 2
"""The most coordinates along which operands are shared: rows and columns of a block's tile."""


class _NoPieceError(Exception):
    pass


def serial_loop(body: Sequence[Stmt]) -> For | None:
    """The loop of a point if it has one that is no loop of a few constant steps."""
    loops = [s for s in statements_in(tuple(body)) if isinstance(s, For) and not is_short_nest(s)]
    return loops[0] if loops else None


def loops_of(nest: Nest, tile: RegisterTile) -> tuple[For, ...]:
    """The serial loops of the points of a tile that stand in each other, outermost first, of the deepest such loops.

    All points go through them together.  Loops of a few constant steps are none where no longer one stands in them, and
    several sweeps have none.
    """
    return max((_nested(nest, alternative.body) for alternative in tile.alternatives), key=len, default=())


def _nested(nest: Nest, body: Sequence[Stmt]) -> tuple[For, ...]:
    found: tuple[For, ...] = ()
    for statement in body:
        if isinstance(statement, For) and is_jammed(nest, statement):
            inside = _nested(nest, statement.body)
            inner = (statement, *inside) if inside or not is_short_nest(statement) else ()
            found = inner if len(inner) > len(found) else found
    return found


def loop_of(tile: RegisterTile) -> For | None:
    """The serial loop of the points of a tile, if they have one; several sweeps have none."""
    return next((serial_loop(alternative.body) for alternative in tile.alternatives), None)


def loops_beside(nest: Nest, tile: RegisterTile) -> tuple[For, ...]:
    """The serial loops of the points of a tile that stand beside each other; none where there are loops in each other,
    or conditions that all of them stand under, or a single one."""
    if len(tile.alternatives) != 1:
        return ()
    body = tile.alternatives[0].body
    loops = tuple(s for s in body if isinstance(s, For) and not is_short_nest(s))
    if len(loops) < 2 or not all(is_jammed(nest, loop) and serial_loop(loop.body) is None for loop in loops):
        return ()
    return loops


def reduction_loops(nest: Nest, tile: RegisterTile) -> tuple[For, ...]:
    """The serial loops of the points of a tile that are done one after the other: those beside each other, or the
    only one."""
    loop = loop_of(tile)
    return loops_beside(nest, tile) or (() if loop is None else (loop,))


def has_steps(limit: Expr) -> Expr:
    """The condition that a loop up to a limit runs at all."""
    return Binary("<", ZERO, limit)


def reduction_obstacle(
    nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], loops: Sequence[For]
) -> str | None:
    """Return why the operands of the loops, which are all that the body has, cannot go through shared memory; None
    where they can."""
    if (obstacle := jam_obstacle(nest, body)) is not None:
        return obstacle
    if len(tile.alternatives) > 1:
        return "there is a serial loop under a condition"
    if any(loop not in body or any(isinstance(s, For) for s in statements_in(loop.body)) for loop in loops):
        return "there are loops in each other"
    if sum(isinstance(s, For) for s in body) > len(loops):
        return "there are several loops"
    if len(loops) > 1 and tile.masked:
        return "there are several loops, which are not the same for all points"
    done_by_all = body if tile.masked else tuple(s for loop in loops for s in loop.body)
    if (obstacle := division_obstacle(nest, tile, done_by_all)) is not None:
        return obstacle
    for loop in loops:
        if not loop.counts_up:
            return f"the loop over '{loop.shown}' does not count up from 0"
    if len(tile.coordinates) > MOST_COORDINATES:
        return "there are more than two coordinates beside the serial loop"
    try:
        for loop in loops:
            operands_of(nest, tile, body, loop)
    except _NoPieceError as error:
        return str(error)
    return None


def operands_of(
    nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], loop: For
) -> tuple[dict[str, Index], dict[str, OperandTile]]:
    """The elements that the loop assigns, and the pieces that it reads, by array."""
    data = {a.name: a.pointer for a in nest.arrays}  # which the program calls so
    held: dict[str, Index] = {}
    for target in elements_assigned(loop.body):
        held.setdefault(target.array, target)
    pieces: dict[str, OperandTile] = {}
    found: dict[str, Index] = {}
    all_read = _references(loop.body, data)
    looked_up = {e.array for reference in all_read for e in _lookups(reference)}
    in_lookups = Counter(e for reference in all_read for e in _lookups(reference))
    for reference, times in Counter(all_read).items():
        if times <= in_lookups[reference]:
            continue  # it is read for the number of a row alone
        known = held.get(reference.array) or found.setdefault(reference.array, reference)
        if known != reference:
            raise _NoPieceError(f"the loop reads different elements of '{data[reference.array]}'")
    for name, reference in held.items():
        if loop.iterator in names_read(reference):
            raise _NoPieceError(f"the loop assigns other elements of '{data[name]}' in each step")
    around = tuple(s for s in body if s is not loop)
    for reference in _references(around, data):
        if reference.array in held and reference != held[reference.array]:
            raise _NoPieceError(f"'{data[reference.array]}' is used in the loop and beside it")
    if perhaps := _conditional(around, data) & set(held.values()):
        raise _NoPieceError(
            f"'{data[min(e.array for e in perhaps)]}' is used beside the loop, under a condition"
        )
    written = arrays_assigned(around)
    shared = {c.name for c in tile.coordinates}
    if assigned := looked_up & (set(held) | written):
        raise _NoPieceError(f"'{data[min(assigned)]}' has numbers of rows, and is assigned")
    variables = {c.name: c.shown for c in tile.coordinates} | {loop.iterator: loop.shown}
    types = with_declarations(environment_of(nest), body) | dict.fromkeys(variables, ScalarType.INT)
    types |= {b.name: ScalarType.INT for b in tile.batch}
    known = {s.name for s in nest.scalars} | {b.name for b in tile.batch} | set(variables)
    for name, reference in (*held.items(), *found.items()):
        read = [e for s in reference.subscripts for e in subexpressions(s)]
        names = {e.identifier for e in read if isinstance(e, Name)}
        if (name in held and _lookups(reference)) or not names <= known:
            raise _NoPieceError(f"a subscript of '{data[name]}' is computed by the point or read from data")
    parts = [part for x in expressions_in(loop.body) for part in conditional_parts(x)]
    conditional = {e.array for part in parts for e in subexpressions(part) if isinstance(e, Index)} & set(
        found
    )
    conditional -= {
        e.array for x in expressions_in(loop.body) for e in always_evaluated(x) if isinstance(e, Index)
    }
    reads = [*read_under(expressions_in(loop.body))] if conditional else []
    for name in sorted(conditional):
        if _lookups(found[name]) or not (
            is_in_extents(nest, tile, loop, found[name])
            or is_before_one_that_is_read(nest, tile, loop, found[name], reads)
        ):
            raise _NoPieceError(
                f"'{data[name]}' is read under a condition, and may not be there where it does not hold"
                f"{_if_declared(nest, found[name], data[name])}"
            )
    for name, reference in found.items():
        if name in written:
            raise _NoPieceError(f"'{data[name]}' is read in the loop and assigned beside it")
        if loop.iterator in names_read(reference):
            # What may not be there is known of subscripts that grow.
            may_fall = tile.steps is None and name not in conditional
            pieces[name] = _piece(reference, data[name], variables, loop.iterator if may_fall else None)
            for subscript, axis in zip(reference.subscripts, pieces[name].axes, strict=True):
                is_sum = axis.rest != ZERO if axis.looked_up is not None else axis.variable is not None
                if reads_data(subscript) and is_sum and type_of(subscript, types).wraps:
                    raise _NoPieceError(f"a subscript of '{data[name]}' may wrap around, being unsigned")
            is_there = not _lookups(reference) and is_inside(nest, tile, loop, reference)
            if tile.steps is not None and not is_there:
                raise _NoPieceError(
                    f"the loop over '{loop.shown}' is longer at some points, and '{data[name]}' may not be there "
                    f"where another point would read it{_if_declared(nest, reference, data[name])}"
                )
            for number, axis in enumerate(pieces[name].axes):
                if (
                    tile.steps is None
                    and axis.variable in shared
                    and not (
                        reads_no_more(nest, tile, axis.variable)
                        or stays_inside(nest, tile, reference, number, axis.variable)
                    )
                ):
                    raise _NoPieceError(f"not all of '{data[name]}' is read under the condition")
        elif set(variables) & names_read(reference):
            raise _NoPieceError(f"the element of '{data[name]}' is the same in all steps")
    if not pieces:
        raise _NoPieceError("the loop reads nothing that changes from step to step")
    return held, pieces


def _if_declared(nest: Nest, reference: Index, shown: str) -> str:
    """Return what to write where nothing says which elements an array has along each of its subscripts."""
    array = nest.array(reference.array)
    if array.whole_rows and array.dims is not None and None not in array.dims:
        return ""
    extents = "".join(f"[{name}]" for name in "jklmn"[-len(reference.subscripts) :])
    return f": declare its extents, as in '{shown}{extents}', and write a subscript for each"


def _lookups(reference: Index) -> list[Index]:
    """Return the elements that subscripts of a reference read, those for the subscripts of others included."""
    return [e for s in reference.subscripts for e in elements(s)]


def _conditional(body: tuple[Stmt, ...], data: Container[str]) -> set[Index]:
    """References to data that statements make only where a condition holds."""
    parts = (part for x in expressions_in(body) for part in conditional_parts(x))
    return {e for part in parts for e in subexpressions(part) if isinstance(e, Index) and e.array in data}


def _references(body: tuple[Stmt, ...], data: Container[str]) -> list[Index]:
    """References to data, targets included."""
    return [e for e in (*elements_in(body), *elements_assigned(body)) if e.array in data]


def _piece(
    reference: Index, called: str, variables: Mapping[str, str], falling: str | None = None
) -> OperandTile:
    """Return the piece that a reference reads.

    ``variables`` are coordinates and the iterator, each with what the program calls it; of ``falling`` subscripts may
    be less in each step.
    """
    axes = tuple(_axis(called, subscript, variables, falling) for subscript in reference.subscripts)
    if axes[-1].looked_up is not None or reads_data(axes[-1].rest):
        raise _NoPieceError(f"the last subscript of '{called}' is read from data")
    rows = [number for number, axis in enumerate(axes[:-1]) if axis.variable is not None]
    if len(rows) > 1:
        raise _NoPieceError(f"several subscripts of '{called}' before the last one vary")
    return OperandTile(reference.array, axes, rows[0] if rows else None)


def _axis(array: str, subscript: Expr, variables: Mapping[str, str], falling: str | None = None) -> Axis:
    ring = Ring()
    value = ring.read(subscript)
    found = [v for v in variables if v in ring.names_in(value)]
    shown = [f"'{variables[v]}'" for v in found]
    if len(found) > 1:
        raise _NoPieceError(f"a subscript of '{array}' reads several of {', '.join(shown)}")
    if not found:
        return Axis(None, subscript)
    if (looked_up := _looked_up(array, ring, value, variables)) is not None:
        return looked_up
    rest, times = value.coefficient(found[0], 0), value.coefficient(found[0], 1)
    falls = found[0] == falling and times == -1
    if value.degree(found[0]) != 1 or not (falls or times == 1) or found[0] in ring.names_in(rest):
        raise _NoPieceError(f"a subscript of '{array}' is not {shown[0]} and what does not change")
    return Axis(found[0], ring.write(rest), downward=falls)


def _looked_up(array: str, ring: Ring, value: Polynomial, variables: Mapping[str, str]) -> Axis | None:
    """Return the axis whose numbers an element says; None where the subscript reads none that differs between points or
    steps."""
    atoms = {
        symbol: atom
        for symbol in value.symbols
        if isinstance(atom := ring.atom(symbol), Index) and names_read(atom) & set(variables)
    }
    if len(atoms) != 1:
        return None
    ((symbol, element),) = atoms.items()
    rest = value.coefficient(symbol, 0)
    if value.degree(symbol) != 1 or value.coefficient(symbol, 1) != 1 or ring.names_in(rest) & set(variables):
        raise _NoPieceError(f"a subscript of '{array}' is more than a number that is looked up")
    if _lookups(element):
        raise _NoPieceError(f"a number of a row of '{array}' is looked up where data says")
    places = [_axis(element.array, subscript, variables) for subscript in element.subscripts]
    if places[-1].variable is None or any(place.variable is not None for place in places[:-1]):
        raise _NoPieceError(f"numbers of rows of '{array}' do not lie beside each other")
    return Axis(places[-1].variable, ring.write(rest), element)
