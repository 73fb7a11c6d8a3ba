"""Sizes of 64 bits, or unsigned ones, that are ``int`` in a tile, as what is counted up to them is.

In: a nest and its points.  Out: the nest over ``int`` sizes, and what has to hold of a launch for that::

    void f(size_t n, float a[n])                     void f(int n, float a[n])
    0 <= y < n:  b[y] = a[(y + n - 1) % n]   -->     0 <= y < n:  b[y] = a[((size_t)y + (size_t)n - 1) % (size_t)n]
                                                     0 <= n, n <= 2147418112

A tile counts in ``int``, so that a launch looks at its limits anyway; sizes that are one, or the length of a row, or in
the bound of a serial loop whose extent differs between points, are as small.  What is computed with them is converted
where the program converts it; most conversions are idle then (`narrow.py`).  Others, as the place of a first element
among those of other devices, stay as wide as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import POLYNOMIAL_OPERATORS, ZERO
from comprehensive.loops.ir import Nest, Points, Role, Scalar
from comprehensive.loops.normalize.counters import at_most, is_uniform, ranges_of
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Expr,
    For,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace

_ROLES = (Role.DATA, Role.SCALAR)


def sizes_that_fit(nest: Nest, points: Points) -> frozenset[str]:
    """The scalars of other integer types than ``int`` that a launch of a tile can demand to fit into it."""
    wide = {s.name for s in nest.scalars if _is_wide(s)}
    if not wide:
        return frozenset()
    found = {name for limit in points.limits for name in _bounding(limit)}
    found |= {name for condition in points.conditions for name in _bounded(condition)}
    for array in nest.arrays:
        found |= {name for dim in (array.dims or ())[1:] if dim is not None for name in names_read(dim)}
    scalars = {s.name for s in nest.scalars}
    for alternative in points.alternatives:
        for loop in statements_in(alternative.body):
            if isinstance(loop, For) and not is_uniform(loop.bound, scalars):
                found |= names_read(loop.bound)
    return frozenset(found & wide)


def _is_wide(scalar: Scalar) -> bool:
    """Whether an argument is an integer of another type than ``int``; those of host code are not as callers say."""
    is_integer = scalar.type.is_integer and promote(scalar.type) is not ScalarType.INT
    return is_integer and scalar.role in _ROLES


def with_sizes_in_int(nest: Nest, sizes: Set[str]) -> tuple[Nest, tuple[Expr, ...]]:
    """The nest with these scalars in ``int``, and the conditions under which they are."""
    changed = [s for s in nest.scalars if s.name in sizes and _is_wide(s)]
    if not changed:
        return nest, ()
    values = {s.name: Cast(s.type, Name(s.name)) for s in changed}

    def converted(expr: Expr) -> Expr:
        return expr if names_read(expr).isdisjoint(values) else substitute(expr, values)

    lengths = [dim for array in nest.arrays for dim in array.dims or () if dim is not None and _is_sum(dim)]
    computed = [e for e in lengths if not isinstance(e, Name) and not names_read(e).isdisjoint(values)]
    least = ranges_of(nest)
    conditions: dict[Expr, None] = {}
    for scalar in changed:
        is_size = not scalar.type.is_signed or (scalar.name in least and least[scalar.name].least >= 0)
        lowest = ZERO if is_size else IntLiteral(-ScalarType.INT.highest)
        conditions[Binary("<=", lowest, Name(scalar.name))] = None
        conditions[at_most(Name(scalar.name))] = None
    # As mathematics says, and so as C computes it where it is no more.
    conditions |= dict.fromkeys(c for e in computed for c in (Binary("<=", ZERO, e), at_most(e)))
    scalars = tuple(
        replace(s, type=ScalarType.INT, passed=s.type)
        if s.name in values
        else s
        if s.value is None
        else replace(s, value=converted(s.value))
        for s in nest.scalars
    )
    return (
        replace(
            nest,
            scalars=scalars,
            arrays=tuple(
                replace(a, dims=tuple(d if d is None or _is_sum(d) else converted(d) for d in a.dims))
                if a.dims is not None
                else a
                for a in nest.arrays
            ),
            preconditions=(*map(converted, nest.preconditions), *conditions),
            grid=tuple(replace(loop, extent=converted(loop.extent)) for loop in nest.grid),
            body=map_expressions(nest.body, converted),
        ),
        tuple(conditions),
    )


def _is_sum(expr: Expr) -> bool:
    """Whether an expression is a polynomial in scalars."""
    match expr:
        case Name() | IntLiteral():
            return True
        case Unary("-" | "+", operand):
            return _is_sum(operand)
        case Binary(operator, left, right) if operator in POLYNOMIAL_OPERATORS:
            return _is_sum(left) and _is_sum(right)
        case _:
            return False


def _bounding(limit: Expr) -> Iterator[str]:
    """Yield the scalars that are about as small as a limit: those of which it is the sum, or the smaller one.

    What is yielded in vain is demanded of launches that could do without; nothing else depends on it.
    """
    match limit:
        case Name(identifier):
            yield identifier
        case Cast(operand=operand) | Binary("-", operand, IntLiteral()) | Binary("*", IntLiteral(), operand):
            yield from _bounding(operand)
        case Binary("+", left, right) | Conditional(then=left, otherwise=right):
            yield from (*_bounding(left), *_bounding(right))
        case _:
            return


def _bounded(condition: Expr) -> Iterator[str]:
    match condition:
        case Binary("<=", number, IntLiteral()):
            yield from _bounding(number)
        case _:
            return
