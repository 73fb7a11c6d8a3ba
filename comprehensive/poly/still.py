"""Numbers that are looked up where loops stand still, as parameters: for proofs about iterations that agree in them.

In: a nest, and iterators of its grid and of its bands.  Out: the nest with a scalar of host code in the place of each
element of an array that it only reads, where subscripts depend on these iterators alone::

    y[p[i] * m + j], i stands still     -->   y[p_still * m + j]
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Role, Scalar
from comprehensive.metafork.ast import Assign, Declare, Expr, Index, Name
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.walk import all_statements_in, declared
from comprehensive.poly.domains import references
from comprehensive.records import replace


def with_still_elements(nest: Nest, still: AbstractSet[str]) -> Nest:
    """The nest in which elements that only ``still`` iterators choose are scalars."""
    written = {r.access.array for r in references(nest) if r.access.mode.writes}
    types = {a.name: a.type for a in nest.arrays if a.name not in written and a.type.is_integer}
    every = tuple(all_statements_in(nest.body))
    names = [name for s in every for name in declared(s)]
    changed = {s.target.identifier for s in every if isinstance(s, Assign) and isinstance(s.target, Name)}
    changed |= {name for name in names if names.count(name) > 1}
    known = {s.name for s in nest.scalars} | still | types.keys()
    for statement in every:
        match statement:
            case Declare(dims=(), initial=initial) if initial is not None and statement.name not in changed:
                known |= {statement.name} if names_read(initial) <= known else frozenset()
            case _:
                pass
    loops = {loop.iterator for loop in (*nest.grid, *nest.thread_loops)}
    name = Namer(loops.union(known, written, names))
    found: dict[Expr, Scalar] = {}

    def taken(expr: Expr) -> Expr:
        if not isinstance(expr, Index) or expr.array not in types or not names_read(expr) <= known:
            return expr
        if expr not in found:
            found[expr] = Scalar(name(f"{expr.array}_still"), types[expr.array], Role.HOST)
            known.add(found[expr].name)
        return Name(found[expr].name)

    body = map_expressions(nest.body, lambda expr: map_expression(expr, taken))
    return replace(nest, body=body, scalars=(*nest.scalars, *found.values())) if found else nest
