"""Predicate: a condition on coordinates around a point becomes one around its accesses.

::

    if (j <= i) { float s = 0;  for (k) s += a[i][k] * b[j][k];  c[i][j] = s; }
        -->  float s = 0;  for (k) s += a[i][k] * b[j][k];  if (j <= i) c[i][j] = s;

so that all points of a block go through the loop together.  Points outside of the condition then read operands too, and
nothing else: it is right where other points read the same elements anyway, which is proved (:func:`reads_no_more`).
A block of which no point meets the condition does nothing (:func:`some_point`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from msgspec import Struct

from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Alternative, Nest, RegisterTile, Role, Scalar
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, If, Index, Name, ScalarType
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import conjuncts
from comprehensive.metafork.walk import reads_data
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.mask import masked


def predicated(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """The tile with the condition around its only body as its predicate, or that around its loop; else as it is."""
    match tile.alternatives:
        case (Alternative(condition=None, body=(If(condition=condition, then=then, otherwise=()),)),):
            points = {c.name for c in tile.coordinates}
            known = points | {s.name for s in nest.scalars}
            if names_read(condition) <= known and not reads_data(condition):
                return replace(tile, alternatives=(Alternative(None, then),), predicate=condition)
        case _:
            pass
    return masked(nest, tile) or tile


def reads_no_more(nest: Nest, tile: RegisterTile, name: str) -> bool:
    """Whether for each value of a coordinate below its limit some point meets the predicate.

    Then what is read along this coordinate is read by the program, too.  Values of the other coordinates that may meet
    it are tried: the first one, the last one, and that of the coordinate itself.
    """
    # isl is slow to import.
    from comprehensive.poly.always import always_holds

    if tile.predicate is None:
        return True
    others = [c for c in (*tile.coordinates, *tile.batch) if c.name != name]
    (own,) = (c for c in tile.coordinates if c.name == name)
    facts = [Binary("<=", ZERO, Name(name)), Binary("<", Name(name), own.limit)]
    facts += [Binary("<", ZERO, c.limit) for c in others]
    known = replace(
        nest,
        scalars=(*nest.scalars, Scalar(name, ScalarType.INT, Role.HOST)),
        preconditions=(*nest.preconditions, *facts),
    )
    choices = [(ZERO, Binary("-", c.limit, ONE), Name(name)) for c in others]
    for values in product(*choices):
        chosen = {c.name: value for c, value in zip(others, values, strict=True)}
        holds = [Binary("<", value, c.limit) for c, value in zip(others, values, strict=True)]
        asked = conjunction([*holds, substitute(tile.predicate, chosen)])
        if always_holds(known, asked):
            return True
    return False


def stays_inside(nest: Nest, tile: RegisterTile, reference: Index, number: int, name: str) -> bool:
    """Whether a subscript that is a coordinate and what does not change stays inside of the declared extent.

    Elements inside of it are there, whether the program reads them or not.
    """
    from comprehensive.poly.always import always_holds

    array = nest.array(reference.array)
    extent = array.dims[number] if array.dims is not None and array.whole_rows else None
    if extent is None:
        return False
    (own,) = (c for c in tile.coordinates if c.name == name)
    first = substitute(reference.subscripts[number], {name: ZERO})
    behind = substitute(reference.subscripts[number], {name: own.limit})
    known = replace(nest, preconditions=(*nest.preconditions, Binary("<", ZERO, own.limit)))
    return always_holds(known, Binary("&&", Binary("<=", ZERO, first), Binary("<=", behind, extent)))


class Edge(Struct, frozen=True):
    """A comparison of the predicate that is linear in coordinates: ``less < more``, or ``<=``.

    ``steps`` are 1 or -1: the difference of both sides with each coordinate.
    """

    less: Expr
    more: Expr
    relation: str
    steps: Mapping[str, int]

    def at(self, places: Mapping[str, Expr]) -> Expr:
        """The comparison at these values of coordinates."""
        return Binary(self.relation, substitute(self.less, places), substitute(self.more, places))

    def easiest(self, context: TileContext, origins: Mapping[str, Expr]) -> dict[str, Expr]:
        """The values of coordinates in the tile with these origins at which the comparison is most easily met."""
        return {
            c.name: Binary("-", Binary("+", origins[c.name], c.extent), ONE)
            if self.steps[c.name] == 1
            else origins[c.name]
            for c in context.tile.coordinates
            if c.name in self.steps
        }


def some_point(context: TileContext) -> Expr | None:
    """The condition that some point of the block's tile may meet the predicate; None where that is not known.

    Each comparison that is linear in the coordinates, with steps of one, is taken where it is most easily met.
    """
    origins: dict[str, Expr] = {
        c.name: context.name(f"o{number}") for number, c in enumerate(context.tile.coordinates)
    }
    found = [
        edge.at(
            {name: Cast(ScalarType.LONG, place) for name, place in edge.easiest(context, origins).items()}
        )
        for edge in edges(context)
    ]
    return conjunction(found) if found else None


def edges(context: TileContext) -> tuple[Edge, ...]:
    """The comparisons of the predicate that are linear in the coordinates, with steps of one."""
    if context.tile.predicate is None:
        return ()
    types = environment_of(context.nest) | {c.name: ScalarType.INT for c in context.tile.coordinates}
    found = (_edge(context, part, types) for part in conjuncts(context.tile.predicate))
    return tuple(edge for edge in found if edge is not None)


def _edge(context: TileContext, comparison: Expr, types: dict[str, ScalarType]) -> Edge | None:
    match comparison:
        case Binary(operator="<" | "<=" | ">" | ">=" as relation, left=left, right=right):
            less, more = (left, right) if relation in ("<", "<=") else (right, left)
        case _:
            return None
    sides = (less, more)
    if not all(type_of(side, types).is_integer and not type_of(side, types).wraps for side in sides):
        return None
    ring = Ring()
    values = [ring.read(side) for side in sides]
    room = values[1] - values[0]
    steps: dict[str, int] = {}
    for c in context.tile.coordinates:
        degree = room.degree(c.name)
        step = room.coefficient(c.name, 1)
        if degree == 0 and c.name not in ring.names_in(room):
            continue
        if degree != 1 or step not in (1, -1) or c.name in ring.names_in(room.coefficient(c.name, 0)):
            return None
        steps[c.name] = 1 if step == 1 else -1
    return Edge(less, more, "<" if relation in ("<", ">") else "<=", steps)
