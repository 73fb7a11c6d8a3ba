"""What a launch moves of each array at least, whatever its tiles are.

In: a region over tiles, with the names of its limits.  Out: bytes for each combination of values of coordinates (and of
the serial loop) that the subscripts of an array read::

    c[y0][y1] += a[y0][k] * b[k][y1]      c: 8 bytes for each y0, y1;  a: 4 for each y0, k;  b: 4 for each k, y1

Elements count once, however many points read them; a subscript that a point computes is taken to differ at every point.
Where there are several cases, as for the turns of two grids, the first one stands for all.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.codegen.plan import Traffic
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.rewrite import expressions_in, statements_in, subexpressions
from comprehensive.metafork.ast import Assign, Declare, Index, Stmt
from comprehensive.schedule.operands import loops_of


def traffic(nest: Nest, tile: RegisterTile) -> tuple[Traffic, ...]:
    """One entry for each array that a launch accesses."""
    variables = [c.name for c in tile.coordinates] + [loop.iterator for loop in loops_of(nest, tile)]
    variables += [b.name for b in tile.batch]
    body = tile.bodies[0]
    computed = {s.name for s in statements_in(body) if isinstance(s, Declare)}
    found: list[Traffic] = []
    for array in nest.arrays:
        references = [e for e in (*_read(body), *_assigned(body)) if e.array == array.name]
        ways = any(e.array == array.name for e in _read(body)) + any(
            e.array == array.name for e in _assigned(body)
        )
        if not references:
            continue
        names = frozenset[str]().union(*map(names_read, references))
        limits = tuple(n for n, variable in enumerate(variables) if names & computed or variable in names)
        found.append(Traffic(array.name, array.type.size_bytes * ways, limits))
    return tuple(found)


def _read(body: tuple[Stmt, ...]) -> Iterator[Index]:
    """References whose elements are read: in values, conditions and subscripts, and what ``+=`` adds to."""
    targets = {id(e) for e in _assigned(body)}
    for expression in expressions_in(body):
        yield from (e for e in subexpressions(expression) if isinstance(e, Index) and id(e) not in targets)
    for statement in statements_in(body):
        if (
            isinstance(statement, Assign)
            and isinstance(statement.target, Index)
            and statement.operator != "="
        ):
            yield statement.target


def _assigned(body: tuple[Stmt, ...]) -> Iterator[Index]:
    for statement in statements_in(body):
        if isinstance(statement, Assign) and isinstance(statement.target, Index):
            yield statement.target
