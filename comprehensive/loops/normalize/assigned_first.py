"""Whether a variable gets a value before it is read, on every way through some statements.

In: statements and a name.  Out: :class:`Flow`.  A variable of which every iteration has its own must not be read first:
what it would read is the value of another iteration::

    t = a[i]; b[i] = t;          not read first, assigned          if (a[i] > 0) t = 1; b[i] = t;      read first
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    MetaFor,
    Name,
    Stmt,
    While,
)
from comprehensive.metafork.walk import own_expressions, statements_in, subexpressions


class Flow(Struct, frozen=True):
    """``read`` is where the variable may be read without a value of this run; ``assigned``: it has one behind."""

    read: Span | None
    assigned: bool


def flow(body: tuple[Stmt, ...], name: str, assigned: bool = False) -> Flow:
    """Follow the value of a variable through statements; ``assigned`` says whether it has one before them."""
    read: Span | None = None
    for statement in body:
        found = _statement(statement, name, assigned)
        read = read or found.read
        assigned = found.assigned
    return Flow(read, assigned)


def mentions(body: Iterable[Stmt], name: str) -> bool:
    """Whether statements read or assign a scalar."""
    for statement in statements_in(tuple(body)):
        if isinstance(statement, For | MetaFor) and statement.iterator == name:
            return True
        if any(_reads(e, name) is not None for e in own_expressions(statement)):
            return True
    return False


def _statement(statement: Stmt, name: str, assigned: bool) -> Flow:
    match statement:
        case Declare(dims=dims, initial=initial):
            return Flow(_first(name, assigned, *dims, initial), assigned)
        case Assign(target, operator, value):
            return _assign(target, operator, value, name, assigned)
        case If(condition, then, otherwise):
            one, other = flow(then, name, assigned), flow(otherwise, name, assigned)
            read = _first(name, assigned, condition) or one.read or other.read
            return Flow(read, one.assigned and other.assigned)
        case For() | MetaFor():
            return _loop(statement, name, assigned)
        case While(condition, body):
            return Flow(_first(name, assigned, condition) or flow(body, name, assigned).read, assigned)
        case DoWhile(body, condition):
            # A jump may leave the body before its end: what it assigns does not count behind it.
            inner = flow(body, name, assigned)
            return Flow(inner.read or _first(name, assigned, condition), assigned)
        case Block(body):
            return flow(body, name, assigned)
        case Break() | Continue():
            return Flow(None, assigned)
        case _:
            assert_never(statement)


def _assign(target: Name | Index, operator: str, value: Expr, name: str, assigned: bool) -> Flow:
    read = _first(name, assigned, value)
    if isinstance(target, Index):
        return Flow(read or _first(name, assigned, *target.subscripts), assigned)
    if target.identifier != name:
        return Flow(read, assigned)
    return Flow(read or (None if operator == "=" or assigned else target.span), True)


def _loop(loop: For | MetaFor, name: str, assigned: bool) -> Flow:
    read = _first(name, assigned, loop.start)
    assigned |= loop.iterator == name
    inner = flow(loop.body, name, assigned)
    return Flow(read or _first(name, assigned, loop.bound, loop.step) or inner.read, assigned)


def _first(name: str, assigned: bool, *read: Expr | None) -> Span | None:
    """Return the first place where expressions read a variable that has no value yet."""
    if assigned:
        return None
    return next((span for e in read if e is not None and (span := _reads(e, name)) is not None), None)


def _reads(expression: Expr, name: str) -> Span | None:
    for node in subexpressions(expression):
        if isinstance(node, Name) and node.identifier == name:
            return node.span
    return None
