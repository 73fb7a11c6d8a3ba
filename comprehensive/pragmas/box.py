"""Loops whose ranges depend on each other in the smallest box around them, with a condition inside.

In: parallel loops, outermost first, and what an iteration of all of them does.  Out: the same iterations in loops whose
ranges depend on no other one, as those of a grid must::

    for (i = 0; i < n; i++) for (j = 0; j <= i; j++) S   -->   for (i = 0; i < n; i++) for (j = 0; j <= n - 1; j++)
                                                                 if (j <= i) S

A range that grows or falls with an outer iterator is as wide as at that end of the outer loop where it is widest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from comprehensive.loops.traverse import map_expr
from comprehensive.metafork.ast import Binary, Expr, If, IntLiteral, MetaFor, Name, Stmt, Unary
from comprehensive.metafork.walk import names
from comprehensive.pragmas.dimension import Dimension


def in_box(
    run: Sequence[Dimension], inner: tuple[Stmt, ...]
) -> tuple[tuple[Dimension, ...], tuple[Stmt, ...]] | None:
    """The loops and what stands in them; None where a range depends on another loop in a way that is not seen
    through."""
    iterators = {each.iterator for each in run}
    boxed: list[Dimension] = []
    conditions: list[Expr] = []
    for each in run:
        loop = each.counted
        if not each.reads & iterators:
            boxed.append(each)
            continue
        known = {outer.iterator: outer.counted for outer in boxed if outer.value is None}
        start, bound = _end(loop.start, known, -1), _end(loop.bound, known, 1)
        if each.value is not None or start is None or bound is None:
            return None
        if start != loop.start:
            conditions.append(Binary(">=", Name(loop.iterator), loop.start, loop.span))
        if bound != loop.bound:
            conditions.append(Binary(loop.relation, Name(loop.iterator), loop.bound, loop.span))
        boxed.append(replace(each, counted=replace(loop, start=start, bound=bound)))
    if any(each.reads & iterators for each in boxed):
        return None
    for condition in reversed(conditions):
        inner = (If(condition, inner, span=condition.span),)
    return tuple(boxed), inner


def _end(expression: Expr, outer: Mapping[str, MetaFor], direction: int) -> Expr | None:
    """The largest value of an expression over all iterations of outer loops, or the smallest for direction -1."""
    values: dict[str, Expr] = {}
    for name in dict.fromkeys(names(expression)):
        if name not in outer:
            continue
        sign = _direction(expression, name)
        if sign is None:
            return None
        values[name] = _last(outer[name]) if sign * direction > 0 else outer[name].start
    return map_expr(expression, lambda e: values.get(e.identifier, e) if isinstance(e, Name) else e)


def _last(loop: MetaFor) -> Expr:
    """The iterator in the last iteration."""
    if loop.relation == "<=":
        return loop.bound
    return Binary("-", loop.bound, IntLiteral(1), loop.span)


def _direction(expression: Expr, name: str) -> int | None:
    """Whether an expression grows with a name (1), falls (-1) or does not depend on it (0); None if not seen."""
    if name not in names(expression):
        return 0
    match expression:
        case Name():
            return 1
        case Unary("-", operand):
            return _negative(_direction(operand, name))
        case Binary("+" | "-" as operator, left, right):
            one, other = _direction(left, name), _direction(right, name)
            other = other if operator == "+" else _negative(other)
            if one is None or other is None or one * other < 0:
                return None
            return one or other
        case Binary("*", IntLiteral(factor), other) | Binary("*", other, IntLiteral(factor)):
            sign = _direction(other, name)
            return sign if factor > 0 or sign is None else -sign
        case Binary("/", dividend, IntLiteral(divisor)) if divisor > 0:
            return _direction(dividend, name)
        case _:
            return None


def _negative(sign: int | None) -> int | None:
    return None if sign is None else -sign
