"""Small arrays: elements of a point that constants number alone, as scalars.

In: a nest.  Out: the same with such local arrays as scalars, beside loops of many steps; loops of a few steps through
their elements are done step by step::

    float s[2];  for (q < 2) s[q] = 0;  for (k < n) for (q < 2) s[q] += a[k] * b[q][k];
        -->  float s_0, s_1;  s_0 = 0;  s_1 = 0;  for (k < n) { s_0 += a[k] * b[0][k];  s_1 += a[k] * b[1][k]; }

A sum in an element is then a sum in a scalar, which recipes hold in a register for each point.  Legal where every
subscript of the array is a constant then; nothing else changes, and steps keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import prod

from comprehensive.loops.fold import fold
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import all_names, declared_names, map_bands, rename
from comprehensive.metafork.ast import Assign, Declare, Expr, For, Index, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import (
    map_expression,
    map_expressions,
    replace_statements,
    substitute,
    with_bodies,
)
from comprehensive.metafork.walk import elements_in, leaves_loop, names, statements_in
from comprehensive.records import replace

MOST_ELEMENTS = 16
"""The elements of an array that a thread has registers for, beside those for its other points."""
MOST_STATEMENTS = 128
"""The statements of a point that loops done step by step may make."""
SHORT = 32
"""The most steps of a loop that is no loop of many steps."""
_NOT_ROUNDED_AS_SCALARS = (ScalarType.HALF, ScalarType.BFLOAT16)


def with_small_arrays_as_scalars(nest: Nest) -> Nest:
    """The nest whose threads have scalars for the elements of small arrays, beside loops of many steps."""
    name = Namer(all_names(nest))

    def of(_: int, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        loops = [s for s in statements_in(body) if isinstance(s, For)]
        is_long = any(not isinstance(s.bound, IntLiteral) or s.bound.value > SHORT for s in loops)
        return _body(body, name) if is_long else body

    return map_bands(nest, of)


def _body(body: tuple[Stmt, ...], name: Namer) -> tuple[Stmt, ...]:
    body = tuple(with_bodies(statement, partial(_body, name=name)) for statement in body)
    for place, statement in enumerate(body):
        if not isinstance(statement, Declare) or not statement.dims or not _is_small(statement):
            continue
        rest = _step_by_step(body[place + 1 :], statement.name, name)
        if len(list(statements_in(rest))) > MOST_STATEMENTS or not _is_numbered(statement, rest):
            continue
        scalars = {
            number: name(f"{statement.name}_{'_'.join(map(str, number))}") for number in _numbers(statement)
        }
        declared = (Declare(statement.type, scalar, span=statement.span) for scalar in scalars.values())
        found = _with_scalars(rest, statement.name, scalars)
        return _body((*body[:place], *declared, *found), name)
    return body


def _is_small(array: Declare) -> bool:
    extents = [e.value for e in array.dims if isinstance(e, IntLiteral)]
    return (
        len(extents) == len(array.dims)
        and 0 < prod(extents) <= MOST_ELEMENTS
        and array.type not in _NOT_ROUNDED_AS_SCALARS
    )


def _numbers(array: Declare) -> Iterator[tuple[int, ...]]:
    """Yield the subscripts of all elements."""
    return product(*(range(e.value) for e in array.dims if isinstance(e, IntLiteral)))


def _references(body: Sequence[Stmt], array: str) -> Iterator[Index]:
    """Yield all references to an array."""
    yield from (e for e in elements_in(body) if e.array == array)
    targets = (s.target for s in statements_in(tuple(body)) if isinstance(s, Assign))
    yield from (t for t in targets if isinstance(t, Index) and t.array == array)


def _is_numbered(array: Declare, body: Sequence[Stmt]) -> bool:
    """Whether constants number the elements in all references to an array, and nothing else has its name."""
    known = set(_numbers(array))
    return array.name not in declared_names(body) and all(
        tuple(s.value if isinstance(s, IntLiteral) else -1 for s in reference.subscripts) in known
        for reference in _references(body, array.name)
    )


def _step_by_step(body: tuple[Stmt, ...], array: str, name: Namer) -> tuple[Stmt, ...]:
    """The body without loops of a few steps whose iterators number elements of an array."""

    def of(statement: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(statement, For) or not _is_through(statement, array):
            return (statement,)
        assert isinstance(statement.bound, IntLiteral)
        steps = (_step(statement, number, name) for number in range(statement.bound.value))
        return tuple(s for step in steps for s in step)

    return replace_statements(body, of)


def _is_through(loop: For, array: str) -> bool:
    """Whether a loop of a few steps counts up from 0 through elements of an array."""
    if not loop.counts_up or not isinstance(loop.bound, IntLiteral) or loop.bound.value > MOST_ELEMENTS:
        return False
    subscripts = (s for reference in _references(loop.body, array) for s in reference.subscripts)
    return not leaves_loop(loop.body) and any(loop.iterator in names(s) for s in subscripts)


def _step(loop: For, number: int, name: Namer) -> tuple[Stmt, ...]:
    """The body of a loop in one of its steps."""
    own = {each: name(each) for each in sorted(declared_names(loop.body))}
    value = {loop.iterator: IntLiteral(number)}
    return map_expressions(rename(loop.body, own), lambda e: fold(substitute(e, value)))


def _with_scalars(
    body: tuple[Stmt, ...], array: str, scalars: dict[tuple[int, ...], str]
) -> tuple[Stmt, ...]:
    def scalar(element: Index) -> Name:
        numbers = tuple(s.value for s in element.subscripts if isinstance(s, IntLiteral))
        return Name(scalars[numbers], element.span)

    def replaced(expression: Expr) -> Expr:
        return map_expression(
            expression, lambda e: scalar(e) if isinstance(e, Index) and e.array == array else e
        )

    def place(target: Name | Index) -> Name | Index:
        if not isinstance(target, Index):
            return target
        if target.array == array:
            return scalar(target)
        return replace(target, subscripts=tuple(map(replaced, target.subscripts)))

    return map_expressions(body, replaced, place)
