"""Tests in headers: a loop that a test of its iterator leaves, and the loop that ends there.

In: a nest.  Out: the same with the end of each such loop in its header::

    for (i = 0; i < n; i++) { if (!(i < m)) break;  S(i) }     which is  for (i = 0; i < n && i < m; i++) S(i)
        -->  for (i = 0; i < min(n, m); i++) S(i)
    for (u = 0; u < k; u++) { int p = i - u;  if (p < 0) break;  S(u) }
        -->  for (u = 0; u < min(k, i + 1); u++) { int p = i - u;  S(u) }

Legal where the test stands before everything else that a turn does, and compares the iterator of a loop that counts up
with what the loop does not change: where it does not hold once, it holds no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import ONE, Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import map_bands
from comprehensive.loops.types import environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Binary,
    Break,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.rewrite import substitute, with_bodies
from comprehensive.metafork.terms import conjuncts, plus
from comprehensive.metafork.walk import assigned_scalars, declared, reads_data
from comprehensive.records import replace


def with_tests_in_headers(nest: Nest) -> Nest:
    """The nest whose serial loops end where their headers say, as far as tests of their iterators end them."""
    return map_bands(nest, lambda number, body: tests_in_headers(body, environment_of(nest, number)))


def tests_in_headers(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """The body whose loops end where their headers say; ``types`` are those of the names around it."""
    result: list[Stmt] = []
    for statement in body:
        inside = {**types, **declared(statement)}
        statement = with_bodies(statement, partial(tests_in_headers, types=inside))
        result.append(_ended(statement, inside) if isinstance(statement, For) else statement)
        if isinstance(statement, Declare):
            types = inside
    return tuple(result)


def _ended(loop: For, types: Mapping[str, ScalarType]) -> For:
    """The loop without the tests that its turns begin with."""
    while (found := _without_test(loop, types)) is not None:
        loop = found
    return loop


def _without_test(loop: For, types: Mapping[str, ScalarType]) -> For | None:
    step = constant_value(loop.step)
    if loop.type is None or loop.relation not in ("<", "<=") or step is None or step < 1:
        return None
    values: dict[str, Expr] = {}
    types = with_declarations(types, loop.body)
    for place, statement in enumerate(loop.body):
        match statement:
            case Declare(type=kind, name=name, initial=initial, dims=()) if (
                initial is not None and not reads_data(initial) and type_of(initial, types) is kind
            ):
                values[name] = substitute(initial, values)
            case If(condition=condition, then=(Break(),), otherwise=()):
                left = (substitute(part, values) for part in _kept(condition))
                ends = [_end(loop, part, types) for part in left]
                found = [end for end in ends if end is not None]
                if len(found) < len(ends):
                    return None
                bound = loop.bound if loop.relation == "<" else plus(loop.bound, ONE)
                for end in found:
                    bound = Conditional(Binary("<", bound, end), bound, end)
                body = (*loop.body[:place], *loop.body[place + 1 :])
                return replace(loop, relation="<", bound=bound, body=body)
            case _:
                return None
    return None


def _kept(condition: Expr) -> Iterable[Expr]:
    """Return the conditions of which all hold where a loop goes on that it leaves under a condition."""
    match condition:
        case Unary(operator="!", operand=operand):
            return conjuncts(operand)
        case Binary(operator="||", left=left, right=right):
            return (*_kept(left), *_kept(right))
        case _:
            return (Unary("!", condition),)


def _end(loop: For, condition: Expr, types: Mapping[str, ScalarType]) -> Expr | None:
    """The number that the iterator is less than exactly where a condition holds; None where there is none."""
    match condition:
        case Unary(operator="!", operand=Binary(left=left, right=right)) | Binary(left=left, right=right):
            sides = (left, right)
        case _:
            return None
    if reads_data(condition) or any(type_of(side, types) is not ScalarType.INT for side in sides):
        return None
    if loop.type is not ScalarType.INT:
        return None
    ring = Ring()
    room = at_least_zero(ring, condition)
    if room is None or room.degree(loop.iterator) != 1 or room.coefficient(loop.iterator, 1) != -1:
        return None
    rest = room.coefficient(loop.iterator, 0)
    changed = assigned_scalars(loop.body) | {s.name for s in loop.body if isinstance(s, Declare)}
    if ring.names_in(rest) & (changed | {loop.iterator}):
        return None
    return ring.write(rest + 1)
