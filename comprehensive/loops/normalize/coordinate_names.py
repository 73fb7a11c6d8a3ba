"""The names of coordinates: where the program has a name for the value of one, that, if nothing else has it.

::

    0 <= y0 < m, 0 <= y1 < n:  c[y0][y1] = 2 * a[y0][y1]   where  int i = i_block*B + i_thread, j = ...
        -->  0 <= i < m, 0 <= j < n:  c[i][j] = 2 * a[i][j]

Kernels, trees and messages then speak of what a person has written.  The values of the program's names go the way of
the bodies, from digits to coordinates, until one of them is a coordinate and nothing else: an iterator that begins at 1
is none, since its value is one more.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.diagnostics import GENERATED
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, Points
from comprehensive.loops.traverse import all_names, declared_names, names_read_in, rename, rename_expr
from comprehensive.metafork.ast import Cast, Declare, Expr, Name
from comprehensive.metafork.rewrite import map_expression, substitute
from comprehensive.metafork.walk import assigned_scalars, reads_data, statements_in
from comprehensive.records import replace


def named_values(nest: Nest) -> dict[str, Expr]:
    """Return what the program calls values that are the same all the time in a thread, over the iterators of the nest.

    The iterator of a loop that a clause has cut is declared in the body; what else was declared for the cut is no name
    of the program.
    """
    loops = (*nest.grid, *nest.thread_loops)
    shown = {loop.shown for loop in loops}
    made = {GENERATED, *(loop.span for loop in loops if loop.cut is not None)}
    found: dict[str, Expr] = {loop.iterator: Name(loop.iterator) for loop in loops if loop.cut is None}
    values: dict[str, Expr] = {name: Name(name) for name in (s.name for s in nest.scalars)}
    values |= {loop.iterator: Name(loop.iterator) for loop in loops}
    for band in nest.bands:
        changed = assigned_scalars(band.body)
        for statement in statements_in(band.body):
            match statement:
                case Declare(type=kind, name=name, initial=initial, dims=()) if (
                    initial is not None
                    and kind.is_integer
                    and name not in changed
                    and names_read(initial) <= values.keys()
                    and not reads_data(initial)
                ):
                    values[name] = Cast(kind, substitute(initial, values))
                    if statement.span not in made or name in shown:
                        found[name] = values[name]
                case _:
                    pass
    return found


def with_names_of_program(nest: Nest, points: Points) -> Points:
    """Return the points with the program's names of their coordinates, and of loops that were some, where these are
    free."""
    bodies = [each.body for each in points.alternatives]
    coordinates = dict.fromkeys(
        (*points.names, *sorted(frozenset[str]().union(*map(declared_names, bodies))))
    )
    taken = all_names(replace(nest, grid=(), body=())).union(coordinates, *map(names_read_in, bodies))
    ring, names = Ring(), dict[str, str]()
    for name, value in points.called:
        number = ring.read(map_expression(value, _without_conversion))
        coordinate = next((c for c in coordinates if number == Polynomial.symbol(c)), None)
        if coordinate is not None and coordinate not in names and name not in taken:
            names[coordinate] = name
            taken |= {name}
    return replace(
        points,
        names=tuple(names.get(name, name) for name in points.names),
        alternatives=tuple(
            replace(
                each,
                condition=None if each.condition is None else rename_expr(each.condition, names),
                body=rename(each.body, names),
            )
            for each in points.alternatives
        ),
        called=(),
    )


def _without_conversion(value: Expr) -> Expr:
    """Return a number without a conversion to a type that holds every positive ``int``."""
    match value:
        case Cast(type=kind, operand=operand) if kind.is_integer and not kind.is_narrow:
            return operand
        case _:
            return value
