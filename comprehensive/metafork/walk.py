"""The walker: the parts of expressions and statements, for code that looks at all of them.

In: a node or a body of any IR.  Out: what is in it, in the order of the text::

    children(Binary("+", Name("a"), Name("b"))) == (Name("a"), Name("b"))

One step down are :func:`children` of an expression, :func:`own_expressions` and :func:`bodies` of a statement.
Everything below are :func:`subexpressions` of an expression, and of a body :func:`statements_in`,
:func:`all_statements_in`, :func:`expressions_in` and :func:`subexpressions_in`.  :mod:`rewrite` has the counterparts
that change what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar, assert_never, overload

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
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.own_statement import OwnStatement

Statement: TypeAlias = (
    Declare
    | Assign
    | If["Statement"]
    | For["Statement"]
    | MetaFor
    | While
    | DoWhile
    | Break
    | Continue
    | Block
    | OwnStatement
)
"""A statement of any IR."""

S = TypeVar("S", bound=Statement)
"""The statements of one IR: those that may stand in its bodies."""

Jump: TypeAlias = type[Break] | type[Continue]

# --- one step down -------------------------------------------------------------------------------------------


def children(expression: Expr) -> tuple[Expr, ...]:
    """The operands of an expression."""
    match expression:
        case IntLiteral() | FloatLiteral() | Name():
            return ()
        case Binary():
            return (expression.left, expression.right)
        case Index():
            return expression.subscripts
        case Unary() | Cast():
            return (expression.operand,)
        case Conditional():
            return (expression.condition, expression.then, expression.otherwise)
        case Call():
            return expression.arguments
        case _:
            assert_never(expression)


def own_expressions(statement: Statement) -> tuple[Expr, ...]:
    """The whole expressions of a statement itself, its target among them, but not those of statements in it."""
    match statement:
        case Assign():
            return (statement.target, statement.value)
        case Declare():
            return statement.dims if statement.initial is None else (*statement.dims, statement.initial)
        case If() | While() | DoWhile():
            return (statement.condition,)
        case For() | MetaFor():
            return (statement.start, statement.bound, statement.step)
        case Break() | Continue() | Block():
            return ()
        case OwnStatement():
            return statement.own_expressions
        case _:
            assert_never(statement)


@overload
def bodies(statement: If[S] | For[S]) -> tuple[tuple[S, ...], ...]: ...
@overload
def bodies(statement: MetaFor | While | DoWhile | Block) -> tuple[tuple[Stmt, ...], ...]: ...
@overload
def bodies(statement: Declare | Assign | Break | Continue | OwnStatement) -> tuple[()]: ...
def bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The bodies of a statement, with statements of the same IR: both branches of an ``if``, that of a loop."""
    match statement:
        case Assign() | Declare() | Break() | Continue() | OwnStatement():
            return ()
        case If():
            return (statement.then, statement.otherwise)
        case For() | MetaFor() | While() | DoWhile() | Block():
            return (statement.body,)
        case _:
            assert_never(statement)


def declared(statement: Statement) -> Mapping[str, ScalarType]:
    """The names that a statement itself declares, with their types: a scalar, an array, the iterator of a loop."""
    match statement:
        case Declare():
            return {statement.name: statement.type}
        case For() | MetaFor():
            return {} if statement.type is None else {statement.iterator: statement.type}
        case OwnStatement():
            return statement.declared
        case _:
            return {}


# --- everything below ----------------------------------------------------------------------------------------


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """The expression and everything in it, outer before inner."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


@overload
def statements_in(body: Iterable[Stmt]) -> Iterator[Stmt]: ...
@overload
def statements_in(body: Iterable[S]) -> Iterator[S]: ...
def statements_in(body: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a body and of all bodies in it, outer before inner; those of threads only in such a body."""
    pending = [*body]
    pending.reverse()
    while pending:
        node = pending.pop()
        yield node
        for inner in reversed(bodies(node)):
            pending.extend(reversed(inner))


@overload
def all_statements_in(body: Iterable[Stmt]) -> Iterator[Stmt]: ...
@overload
def all_statements_in(body: Iterable[S]) -> Iterator[S | Stmt]: ...
def all_statements_in(body: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a body and of all bodies in it, those of threads included, outer before inner."""
    for statement in statements_in(body):
        yield statement
        if isinstance(statement, OwnStatement):
            yield from statements_in(statement.thread_body)


def expressions_in(body: Iterable[Statement]) -> Iterator[Expr]:
    """Every whole expression of a body and of all bodies in it; targets are expressions, too."""
    for statement in all_statements_in(body):
        yield from own_expressions(statement)


def subexpressions_in(body: Iterable[Statement]) -> Iterator[Expr]:
    """Every expression of a body and every part of one, outer before inner."""
    for expression in expressions_in(body):
        yield from subexpressions(expression)


# --- what many ask for ---------------------------------------------------------------------------------------


def names(expression: Expr) -> Iterator[str]:
    """The scalars that an expression reads, in order of the text, repeated where they are."""
    return (node.identifier for node in subexpressions(expression) if isinstance(node, Name))


def assigned_scalars(body: Iterable[Statement]) -> frozenset[str]:
    """Return the scalars that statements assign, iterators of loops that do not declare them among these."""
    found: set[str] = set()
    for statement in all_statements_in(body):
        match statement:
            case Assign(target=Name(identifier)):
                found.add(identifier)
            case For(type=None, iterator=iterator):
                found.add(iterator)
            case _:
                pass
    return frozenset(found)


def leaves_loop(body: Iterable[Statement], jumps: Jump | tuple[Jump, ...] = (Break, Continue)) -> bool:
    """Whether one of these jumps of the loop with this body stands in it; those of loops in it are none."""
    return any(
        isinstance(s, jumps)
        or (isinstance(s, If | Block) and any(leaves_loop(inner, jumps) for inner in bodies(s)))
        for s in body
    )


def elements(expression: Expr) -> Iterator[Index]:
    """The elements of arrays that stand in an expression, those in subscripts of others included."""
    return (node for node in subexpressions(expression) if isinstance(node, Index))


def elements_in(body: Iterable[Statement]) -> Iterator[Index]:
    """The elements of arrays that a body reads or assigns."""
    return (node for node in subexpressions_in(body) if isinstance(node, Index))


def elements_assigned(body: Iterable[Statement]) -> Iterator[Index]:
    """The elements of arrays that statements assign, in their order."""
    for statement in statements_in(body):
        if isinstance(statement, Assign) and isinstance(statement.target, Index):
            yield statement.target


def reads_data(expression: Expr) -> bool:
    """Whether an expression reads an element of an array."""
    return any(isinstance(node, Index) for node in subexpressions(expression))


def arrays(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The arrays whose elements statements read or write."""
    return frozenset(element.array for element in elements_in(body))


def arrays_assigned(body: Iterable[Statement]) -> frozenset[str]:
    """The arrays of which statements assign elements."""
    return frozenset(element.array for element in elements_assigned(body))


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
            pending.extend((part, depth + 1) for part in own_expressions(node))
            pending.extend((inner, depth + 1) for body in bodies(node) for inner in body)
        else:
            pending.extend((child, depth + 1) for child in children(node))
    return None
