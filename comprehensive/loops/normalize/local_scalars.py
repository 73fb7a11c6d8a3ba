"""Scalars declared where they are needed: those of an iteration, and those that a C89 program declares in front.

In: the statements of an iteration, a name, its type.  Out: the same with the variable as a local one, in the innermost
place that holds all that is said of it; iterators are declared by their loops::

    for (j = 0; j < n; j++) { t = a[j]; b[j] = t; }   -->   for (int j = 0; j < n; j++) { float t = a[j]; b[j] = t; }

The variable must not be read before it is assigned (see :mod:`comprehensive.loops.normalize.assigned_first`).
"""

from __future__ import annotations

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.assigned_first import flow, mentions
from comprehensive.loops.traverse import map_bands
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Declare,
    Expr,
    For,
    If,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import names, statements_in
from comprehensive.records import replace


def with_local(
    body: tuple[Stmt, ...], name: str, type: ScalarType, declared: Span = GENERATED
) -> tuple[Stmt, ...]:
    """The statements with their own variable of this name, which the program declares at a place."""
    places = [k for k, statement in enumerate(body) if mentions((statement,), name)]
    if not places:
        return body
    inner = {k: _inside(body[k], name, type, declared) for k in places}
    if all(statement is not None for statement in inner.values()):
        # No value runs from one of the statements to another one: each may have a variable of its own.
        return tuple(inner.get(k) or statement for k, statement in enumerate(body))
    first = places[0]
    match body[first]:
        case Assign(Name(identifier), "=", value, span) if identifier == name and not _reads(value, name):
            own: tuple[Stmt, ...] = (Declare(type, name, initial=value, span=span),)
        case statement:
            own = (Declare(type, name, span=declared), statement)
    return (*body[:first], *own, *body[first + 1 :])


def with_late_declarations(nest: Nest) -> Nest:
    """The nest with every scalar declared where it gets its value."""
    return map_bands(nest, lambda _, body: declared_late(body))


def declared_late(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements with every scalar that is declared without a value which is read declared where it gets one."""
    result: list[Stmt] = []
    placed: set[str] = set()
    rest = body
    while rest:
        statement, rest = rest[0], rest[1:]
        match statement:
            case Declare(name=name, dims=(), initial=None) if name in placed:
                result.append(statement)
            case Declare(type, name, dims=(), initial=initial) if initial is None or (
                any(assigns(s, name) for s in rest) and flow(rest, name).read is None
            ):
                rest = with_local(rest, name, type, statement.span)
                placed.add(name)
            case _:
                result.append(with_bodies(statement, declared_late))
    return tuple(result)


def _inside(statement: Stmt, name: str, type: ScalarType, declared: Span) -> Stmt | None:
    """The statement with a variable that only its inner statements know; None where these need a value from outside,
    or the statement itself speaks of it."""
    match statement:
        case For(type=None, iterator=iterator) if iterator == name:
            changed = any(assigns(s, name) for s in statement.body)
            return None if _reads(statement.start, name) or changed else replace(statement, type=type)
        case For() | MetaFor():
            header = (statement.start, statement.bound, statement.step)
            if any(_reads(e, name) for e in header) or flow(statement.body, name).read is not None:
                return None
            return replace(statement, body=with_local(statement.body, name, type, declared))
        case While(condition, body):
            if _reads(condition, name) or flow(body, name).read is not None:
                return None
            return replace(statement, body=with_local(body, name, type, declared))
        case If(condition, then, otherwise):
            if _reads(condition, name) or any(flow(b, name).read is not None for b in (then, otherwise)):
                return None
            return replace(
                statement,
                then=with_local(then, name, type, declared),
                otherwise=with_local(otherwise, name, type, declared),
            )
        case Block(body):
            return (
                None
                if flow(body, name).read is not None
                else Block(with_local(body, name, type, declared), statement.span)
            )
        case _:
            return None


def _reads(expression: Expr, name: str) -> bool:
    return name in names(expression)


def assigns(statement: Stmt, name: str) -> bool:
    """Whether a statement, or one in it, gives a scalar a value."""
    for inner in statements_in((statement,)):
        match inner:
            case Assign(target=Name(identifier=target)) if target == name:
                return True
            case For(type=None, iterator=iterator) if iterator == name:
                return True
            case _:
                pass
    return False
