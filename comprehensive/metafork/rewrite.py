"""The rewriter: expressions and statements with other parts, for code that leaves most of a tree as it is.

In: a node or a body of any IR and a function.  Out: the node or the body rebuilt; what nothing changes is the very same
node, not a copy::

    map_expression(parsed "i + n*1", fold)  calls fold for  i, n, 1, n*1, i + n*1

One step down are :func:`with_operands`, :func:`with_own_expressions`, :func:`with_bodies` and
:func:`with_all_bodies`; everything below are :func:`map_expression`, :func:`substitute`,
:func:`map_expressions` and :func:`replace_statements`.  Each answers to a walk of :mod:`walk`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, TypeAlias, TypeVar, assert_never, cast, overload

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
from comprehensive.metafork.own_statement import OnExpression, OnPlace, OwnStatement
from comprehensive.metafork.walk import S, Statement
from comprehensive.records import replace

OnBody: TypeAlias = Callable[[tuple[Any, ...]], tuple[Any, ...]]
"""The change of a body of any IR: a body of the same one."""

_New = TypeVar("_New", bound=Statement)
_Around = TypeVar("_Around", bound=MetaFor | While | DoWhile | Block)
_Simple = TypeVar("_Simple", bound=Declare | Assign | Break | Continue | OwnStatement)
_Part = TypeVar("_Part")

# --- one step down -------------------------------------------------------------------------------------------


def with_operands(expression: Expr, change: OnExpression) -> Expr:
    """The expression with every operand changed."""
    match expression:
        case IntLiteral() | FloatLiteral() | Name():
            return expression
        case Binary(operator, left, right, span):
            new_left, new_right = change(left), change(right)
            if new_left is left and new_right is right:
                return expression
            return Binary(operator, new_left, new_right, span)
        case Index():
            return with_subscripts(expression, change)
        case Unary() | Cast():
            operand = change(expression.operand)
            return expression if operand is expression.operand else replace(expression, operand=operand)
        case Conditional(condition, then, otherwise, span):
            changed = (change(condition), change(then), change(otherwise))
            same = changed[0] is condition and changed[1] is then and changed[2] is otherwise
            return expression if same else Conditional(*changed, span)
        case Call(function, arguments, span):
            changed = _each(arguments, change)
            return expression if changed is arguments else Call(function, changed, span)
        case _:
            assert_never(expression)


@overload
def with_subscripts(place: Index, change: OnExpression) -> Index: ...
@overload
def with_subscripts(place: Name | Index, change: OnExpression) -> Name | Index: ...
def with_subscripts(place: Name | Index, change: OnExpression) -> Name | Index:
    """A variable as it is, an element with every subscript changed."""
    if isinstance(place, Name):
        return place
    subscripts = _each(place.subscripts, change)
    return place if subscripts is place.subscripts else Index(place.array, subscripts, place.span)


def with_own_expressions(statement: S, change: OnExpression, place: OnPlace | None = None) -> S:
    """The statement with each of its :func:`own_expressions <walk.own_expressions>` changed.

    What it writes is a ``place`` and becomes one; without that function its subscripts are changed.
    """

    def subscripts(written: Name | Index) -> Name | Index:
        return with_subscripts(written, change)

    on_place = place or subscripts
    match statement:
        case Assign():
            target, value = on_place(statement.target), change(statement.value)
            same = target is statement.target and value is statement.value
            return statement if same else replace(statement, target=target, value=value)
        case Declare():
            initial = None if statement.initial is None else change(statement.initial)
            dims = _each(statement.dims, change)
            same = initial is statement.initial and dims is statement.dims
            return statement if same else replace(statement, dims=dims, initial=initial)
        case If() | While() | DoWhile():
            condition = change(statement.condition)
            return statement if condition is statement.condition else replace(statement, condition=condition)
        case For() | MetaFor():
            start, bound, step = change(statement.start), change(statement.bound), change(statement.step)
            same = start is statement.start and bound is statement.bound and step is statement.step
            return statement if same else replace(statement, start=start, bound=bound, step=step)
        case Break() | Continue() | Block():
            return statement
        case OwnStatement():
            return statement.with_own_expressions(change, on_place)
        case _:
            assert_never(statement)


def with_name(statement: S, change: Callable[[str], str]) -> S:
    """The statement with another name for the variable that it declares, or for the iterator that it counts."""
    match statement:
        case Declare():
            return replace(statement, name=change(statement.name))
        case For() | MetaFor():
            return replace(statement, iterator=change(statement.iterator))
        case _:
            return statement


@overload
def with_bodies(statement: If[S], change: Callable[[tuple[S, ...]], tuple[_New, ...]]) -> If[_New]: ...
@overload
def with_bodies(statement: For[S], change: Callable[[tuple[S, ...]], tuple[_New, ...]]) -> For[_New]: ...
@overload
def with_bodies(statement: _Around, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> _Around: ...
@overload
def with_bodies(statement: _Simple, change: Callable[..., object]) -> _Simple: ...
def with_bodies(statement: Statement, change: Callable[..., object]) -> Statement:
    """The statement with each of its :func:`bodies <walk.bodies>` changed, also to one of another IR."""
    on_body = cast("Callable[[object], tuple[Stmt, ...]]", change)
    match statement:
        case Assign() | Declare() | Break() | Continue() | OwnStatement():
            return statement
        case If():
            then, otherwise = on_body(statement.then), on_body(statement.otherwise)
            same = then is statement.then and otherwise is statement.otherwise
            return statement if same else replace(statement, then=then, otherwise=otherwise)
        case For() | MetaFor() | While() | DoWhile() | Block():
            body = on_body(statement.body)
            return statement if body is statement.body else replace(statement, body=body)
        case _:
            assert_never(statement)


def with_all_bodies(statement: S, change: OnBody) -> S:
    """The statement with each of its bodies changed, that of one thread included."""
    changed = cast("S", with_bodies(statement, change))
    return changed.with_thread_body(change) if isinstance(changed, OwnStatement) else changed


# --- everything below ----------------------------------------------------------------------------------------


def map_expression(expression: Expr, change: OnExpression) -> Expr:
    """Apply ``change`` to every node, operands before operators; what it returns takes the place of the node."""
    return change(with_operands(expression, lambda operand: map_expression(operand, change)))


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return ``expr`` with names replaced by expressions (all at once)."""
    if not values:
        return expr

    def one(e: Expr) -> Expr:
        return values.get(e.identifier, e) if isinstance(e, Name) else with_operands(e, one)

    return one(expr)


def map_expressions(body: tuple[S, ...], change: OnExpression, place: OnPlace | None = None) -> tuple[S, ...]:
    """Apply ``change`` to every whole expression of a body and of all bodies in it, those of threads included.

    What is written is a ``place``; without that function its subscripts are whole expressions to ``change``.
    """

    def one(statement: Any) -> Any:
        return with_all_bodies(with_own_expressions(statement, change, place), inside)

    def inside(inner: tuple[Any, ...]) -> tuple[Any, ...]:
        return _each(inner, one)

    return inside(body)


def replace_statements(body: tuple[S, ...], change: Callable[[S], Iterable[S]]) -> tuple[S, ...]:
    """Every statement of a body and of all bodies in it replaced by any number of others, innermost first."""

    def inside(inner: tuple[Any, ...]) -> tuple[Any, ...]:
        return replace_statements(inner, change)

    found: list[S] = []
    for statement in body:
        found += change(cast("S", with_bodies(statement, inside)))
    return body if len(found) == len(body) and all(map(is_, found, body)) else tuple(found)


def _each(parts: tuple[_Part, ...], change: Callable[[_Part], _Part]) -> tuple[_Part, ...]:
    """Every part changed; the very same tuple where that leaves all of them."""
    changed = tuple(map(change, parts))
    return parts if all(map(is_, changed, parts)) else changed
