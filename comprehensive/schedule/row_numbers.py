"""Row numbers: what is looked up before a loop, for subscripts in it alone, is looked up where it is read.

::

    int r = at[i];  for (l) s += t[r][l] * b[l][j];    -->    for (l) s += t[at[i]][l] * b[l][j];

The subscript then says of which coordinate it is a number, so that copies of rows look each one up (`operands.py`).  It
is right where no point assigns the array, and nothing assigns what its subscripts read.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.normalize.inlined import is_in_subscripts
from comprehensive.loops.normalize.invariant_reads import read_before
from comprehensive.metafork.ast import Conditional, Declare, Expr, For, Index, Stmt
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.walk import arrays_assigned, assigned_scalars, expressions_in
from comprehensive.records import replace
from comprehensive.schedule.operands import loop_of


def with_row_numbers_inside(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """Return the tile with the numbers of rows in its loop; as it is where there are none, or several alternatives."""
    loop = loop_of(tile)
    if loop is None or len(tile.alternatives) != 1 or loop not in tile.alternatives[0].body:
        return tile
    body = tile.alternatives[0].body
    numbers = {
        s.name: element
        for s in body[: body.index(loop)]
        if isinstance(s, Declare) and (element := _looked_up(nest, body, loop, s)) is not None
    }
    if not numbers:
        return tile
    others = tuple(s for s in body if not (isinstance(s, Declare) and s.name in numbers))
    inside = map_expressions(others, lambda e: substitute(e, numbers))
    return replace(tile, alternatives=(replace(tile.alternatives[0], body=inside),))


def _looked_up(nest: Nest, body: Sequence[Stmt], loop: For, scalar: Declare) -> Expr | None:
    """Return the element that a scalar is, if the subscripts of the loop alone read it."""
    element = scalar.initial
    if isinstance(element, Conditional) and element == read_before(element.then, loop):
        element = element.then
    if not isinstance(element, Index):
        return None
    type = nest.array(element.array).type
    if not (type.is_integer and scalar.type.holds(type)):
        return None  # it is another number in the scalar
    changing = assigned_scalars(body)
    if element.array in arrays_assigned(body) or scalar.name in changing or names_read(element) & changing:
        return None
    others = tuple(s for s in body if s is not loop)
    in_loop = all(is_in_subscripts(scalar.name, whole) for whole in expressions_in(loop.body))
    elsewhere = any(scalar.name in names_read(whole) for whole in expressions_in(others))
    return element if in_loop and not elsewhere else None
