"""The sizes of scalars beside the coordinates and turns that points compare them with.

In: a tile.  Out: the scalars that are small, and those that are beyond all that steps come to::

    0 <= y + i - pad && y + i - pad < h                  -->  pad is small: it is in both ends of what y + i is between
    i * stride + k < h                                   -->  stride and k are small, as what is added to coordinates is
    for (turn) if (turn * parts + part < n) while (..)   -->  n is beyond

so that conditions hold at a point as they do at most points.  Limits of coordinates and loops are never small, nor is
an end alone, of which nothing says on which side of it most points are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from comprehensive.algebra import Polynomial
from comprehensive.algebra.polynomial import sum_of
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ZERO, Ring, addends
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Binary, Cast, Declare, DoWhile, Expr, For, Name, Stmt, While
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import assigned_scalars, expressions_in, statements_in, subexpressions
from comprehensive.model.leaf_values import without_casts

COMPARISONS = frozenset(("<", "<=", ">", ">="))


def small_scalars(nest: Nest, tile: RegisterTile) -> frozenset[str]:
    """The scalars that are small beside coordinates and turns."""
    varying = {c.name for c in (*tile.coordinates, *tile.batch)}
    varying |= {s.iterator for body in tile.bodies for s in statements_in(body) if isinstance(s, For)}
    scalars, ring = {s.name for s in nest.scalars if s.type.is_integer}, Ring()
    small: set[str] = set()
    ends: dict[Polynomial, set[Polynomial]] = {}
    for place, end in (between for body in tile.bodies for between in _comparisons(body)):
        apart = ring.read(place) - ring.read(end)
        terms = [Polynomial.from_terms((term,)) for term in apart.terms()]
        moving = [term for term in terms if ring.names_in(term) & varying]
        if not moving:
            continue
        sign = 1 if moving[0].terms()[0].coefficient > 0 else -1
        moved = sum_of(moving) * sign
        ends.setdefault(moved, set()).add(moved - apart * sign)
        small |= {name for term in moving for name in term.symbols}
    for values in ends.values():
        steps = [{name: _step(value, name) for name in value.symbols} for value in values]
        small |= {name for each in steps for name, step in each.items() if step < 0}
        if len(steps) > 1:
            small |= {name for name in steps[0] if all(each.get(name, 0) > 0 for each in steps)}
    return frozenset(small & scalars - _extents(tile, scalars))


def far_ends(tile: RegisterTile) -> frozenset[str]:
    """The scalars that numbers of steps are compared with in loops with others in them, as the ends of what is there:
    they are beyond these, so that the inner loop runs and does something."""
    every = (s for body in tile.bodies for s in statements_in(body) if isinstance(s, For))
    around = (
        loop for loop in every if any(isinstance(s, For | While | DoWhile) for s in statements_in(loop.body))
    )
    read = (e for loop in around for whole in expressions_in(loop.body) for e in subexpressions(whole))
    return frozenset(name for e in read if isinstance(e, Binary) for name in _far_ends(e))


def _far_ends(comparison: Binary) -> Iterator[str]:
    """Yield the scalars that have to be larger than what several scalars and steps make."""
    match comparison:
        case Binary(operator="<" | "<=", left=place, right=end):
            pass
        case Binary(operator=">" | ">=", left=end, right=place):
            pass
        case _:
            return
    if any(isinstance(e, Binary) and e.operator == "*" for e in subexpressions(place)):
        yield from (term.identifier for sign, term in addends(end) if sign > 0 and isinstance(term, Name))


def _comparisons(body: Sequence[Stmt]) -> Iterator[tuple[Expr, Expr]]:
    """Yield the sides of comparisons, with what integers stand for that are declared and never changed.

    One of numbers without a sign is one with 0 as well.
    """
    changed = assigned_scalars(body)
    known: dict[str, Expr] = {}
    for statement in statements_in(body):
        if isinstance(statement, Declare) and statement.initial is not None and statement.name not in changed:
            known[statement.name] = substitute(without_casts(statement.initial), known)
    for e in (e for whole in expressions_in(body) for e in subexpressions(whole)):
        if isinstance(e, Binary) and e.operator in COMPARISONS:
            left, right = (substitute(without_casts(side), known) for side in (e.left, e.right))
            yield left, right
            if any(isinstance(part, Cast) and part.type.wraps for part in subexpressions(e)):
                yield left, ZERO


def _step(value: Polynomial, name: str) -> int:
    """Return -1, 0 or 1 by how a value changes with a scalar that is added to it."""
    step = value.coefficient(name, 1) if value.degree(name) == 1 else Polynomial.constant(0)
    return 0 if not step.is_constant else 1 if step.constant_value() > 0 else -1


def _extents(tile: RegisterTile, scalars: Set[str]) -> frozenset[str]:
    """The scalars that say how much there is: of coordinates, and of turns of loops that all points do alike."""
    limits = [c.limit for c in (*tile.coordinates, *tile.batch)]
    limits += [s.bound for body in tile.bodies for s in statements_in(body) if isinstance(s, For)]
    return frozenset(name for e in limits if names_read(e) <= scalars for name in names_read(e))
