"""The parts of expressions and statements, for code that looks at all of them.

In: a node.  Out: its parts, in the order of the text::

    children(Binary("+", Name("a"), Name("b"))) == (Name("a"), Name("b"))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    Stmt,
    Unary,
    While,
)


def children(expression: Expr) -> tuple[Expr, ...]:
    """The operands of an expression."""
    match expression:
        case IntLiteral() | FloatLiteral() | Name():
            return ()
        case Index(_, subscripts):
            return subscripts
        case Unary(_, operand) | Cast(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case Call(_, arguments):
            return arguments
        case _:
            assert_never(expression)


def parts(statement: Stmt) -> tuple[tuple[Expr, ...], tuple[Stmt, ...]]:
    """The expressions of a statement itself, and the statements in it."""
    match statement:
        case Declare(_, _, dims, initial):
            return (*dims, *(() if initial is None else (initial,))), ()
        case Assign(target, _, value):
            return (target, value), ()
        case If(condition, then, otherwise):
            return (condition,), (*then, *otherwise)
        case For(_, _, start, _, bound, step, body) | MetaFor(_, _, start, _, bound, step, body):
            return (start, bound, step), body
        case While(condition, body) | DoWhile(body, condition):
            return (condition,), body
        case Break() | Continue():
            return (), ()
        case Block(body):
            return (), body
        case _:
            assert_never(statement)


def expressions(expression: Expr) -> Iterator[Expr]:
    """The expression and everything in it, outer before inner."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """The statements and everything in them, outer before inner."""
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(parts(node)[1]))


def names(expression: Expr) -> Iterator[str]:
    """The scalars that an expression reads, in order of the text, repeated where they are."""
    return (node.identifier for node in expressions(expression) if isinstance(node, Name))


def assigned_scalars(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Return the scalars that statements assign, iterators of loops that do not declare them among these."""
    found = [
        s.target.identifier for s in statements(body) if isinstance(s, Assign) and isinstance(s.target, Name)
    ]
    return frozenset(
        [*found, *(s.iterator for s in statements(body) if isinstance(s, For) and s.type is None)]
    )


def arrays(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The arrays whose elements statements read or write."""
    return frozenset(
        node.array
        for statement in statements(body)
        for part in parts(statement)[0]
        for node in expressions(part)
        if isinstance(node, Index)
    )


def too_deep(roots: tuple[Stmt, ...] | tuple[Expr, ...], limit: int) -> Expr | Stmt | None:
    """A node that lies more than ``limit`` levels below the roots, if there is one."""
    pending: list[tuple[Expr | Stmt, int]] = [(root, 1) for root in reversed(roots)]
    while pending:
        node, depth = pending.pop()
        if depth > limit:
            return node
        if isinstance(
            node, Assign | Declare | If | For | MetaFor | While | DoWhile | Break | Continue | Block
        ):
            expressions_of_node, statements_of_node = parts(node)
            pending.extend((child, depth + 1) for child in (*expressions_of_node, *statements_of_node))
        else:
            pending.extend((child, depth + 1) for child in children(node))
    return None
