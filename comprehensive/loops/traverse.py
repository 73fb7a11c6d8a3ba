"""Pure walks over expressions, statements and nests: map, rename, fresh names.

In: a piece of the IR and a function.  Out: the piece rebuilt; what the function leaves alone stays equal.
Example: ``map_expr(parse("i + n*1"), fold_one)`` visits ``i``, ``n``, ``1``, ``n*1``, ``i + n*1`` in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockDeclare, BlockFor, BlockIf, BlockStmt, Nest, Threads
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
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.substitution import map_stmt_exprs


def map_expr(expr: Expr, fn: Callable[[Expr], Expr]) -> Expr:
    """Apply ``fn`` to every node, operands before operators; what it returns takes the place of the node."""
    match expr:
        case Name() | IntLiteral() | FloatLiteral():
            return fn(expr)
        case Index():
            return fn(replace(expr, subscripts=tuple(map_expr(s, fn) for s in expr.subscripts)))
        case Unary() | Cast():
            return fn(replace(expr, operand=map_expr(expr.operand, fn)))
        case Binary():
            return fn(replace(expr, left=map_expr(expr.left, fn), right=map_expr(expr.right, fn)))
        case Conditional():
            condition = map_expr(expr.condition, fn)
            then, otherwise = map_expr(expr.then, fn), map_expr(expr.otherwise, fn)
            return fn(replace(expr, condition=condition, then=then, otherwise=otherwise))
        case Call():
            return fn(replace(expr, arguments=tuple(map_expr(a, fn) for a in expr.arguments)))
        case _:
            assert_never(expr)


def map_indices(body: tuple[Stmt, ...], fn: Callable[[Index], Index]) -> tuple[Stmt, ...]:
    """Apply ``fn`` to every reference, targets included, and then to those in the subscripts that it returns."""

    def on_expr(expr: Expr) -> Expr:
        match expr:
            case Name() | IntLiteral() | FloatLiteral():
                return expr
            case Index():
                return on_index(expr)
            case Unary() | Cast():
                return replace(expr, operand=on_expr(expr.operand))
            case Binary():
                return replace(expr, left=on_expr(expr.left), right=on_expr(expr.right))
            case Conditional():
                condition, then, otherwise = map(on_expr, (expr.condition, expr.then, expr.otherwise))
                return replace(expr, condition=condition, then=then, otherwise=otherwise)
            case Call():
                return replace(expr, arguments=tuple(map(on_expr, expr.arguments)))
            case _:
                assert_never(expr)

    def on_index(index: Index) -> Index:
        changed = fn(index)
        return replace(changed, subscripts=tuple(map(on_expr, changed.subscripts)))

    def on_statement(statement: Stmt) -> Stmt:
        match statement:
            case Assign(target=Index() as target):
                return replace(statement, target=on_index(target))
            case If():
                then, otherwise = map(on_statement, statement.then), map(on_statement, statement.otherwise)
                return replace(statement, then=tuple(then), otherwise=tuple(otherwise))
            case For() | MetaFor() | While() | DoWhile() | Block():
                return replace(statement, body=tuple(map(on_statement, statement.body)))
            case _:
                return statement

    return tuple(map(on_statement, map_stmt_exprs(body, on_expr, lambda subscript: subscript)))


def map_bands(nest: Nest, fn: Callable[[Threads], Threads]) -> Nest:
    """The nest with every band replaced."""
    return replace(nest, body=expand_bands(nest.body, lambda band: (fn(band),)))


def expand_bands(
    body: tuple[BlockStmt, ...], fn: Callable[[Threads], tuple[BlockStmt, ...]]
) -> tuple[BlockStmt, ...]:
    """The body with every band replaced by any number of block statements."""
    result: list[BlockStmt] = []
    for statement in body:
        match statement:
            case Threads():
                result += fn(statement)
            case BlockFor():
                result.append(replace(statement, body=expand_bands(statement.body, fn)))
            case BlockIf():
                then, otherwise = expand_bands(statement.then, fn), expand_bands(statement.otherwise, fn)
                result.append(replace(statement, then=then, otherwise=otherwise))
            case BlockDeclare():
                result.append(statement)
            case _:
                assert_never(statement)
    return tuple(result)


def rename(body: tuple[Stmt, ...], names: Mapping[str, str]) -> tuple[Stmt, ...]:
    """The statements with names replaced wherever they stand: declared, assigned, read, subscripted."""
    return tuple(_rename_statement(s, names) for s in body)


def rename_expr(expr: Expr, names: Mapping[str, str]) -> Expr:
    """The expression with scalars and arrays renamed."""

    def one(e: Expr) -> Expr:
        match e:
            case Name():
                return replace(e, identifier=names.get(e.identifier, e.identifier))
            case Index():
                return replace(e, array=names.get(e.array, e.array))
            case _:
                return e

    return map_expr(expr, one)


def _rename_statement(statement: Stmt, names: Mapping[str, str]) -> Stmt:
    """Each name is replaced once, so that two names may change places."""

    def head(own: Stmt) -> Stmt:
        (renamed,) = map_stmt_exprs((own,), lambda e: rename_expr(e, names))
        return renamed

    match statement:
        case Declare():
            return replace(head(statement), name=names.get(statement.name, statement.name))
        case Assign():
            found = head(statement)
            assert isinstance(found, Assign)
            target = found.target
            if isinstance(target, Name):
                target = replace(target, identifier=names.get(target.identifier, target.identifier))
            else:
                target = replace(target, array=names.get(target.array, target.array))
            return replace(found, target=target)
        case If():
            then, otherwise = rename(statement.then, names), rename(statement.otherwise, names)
            return replace(head(replace(statement, then=(), otherwise=())), then=then, otherwise=otherwise)
        case For() | MetaFor():
            iterator = names.get(statement.iterator, statement.iterator)
            body = rename(statement.body, names)
            return replace(head(replace(statement, body=())), iterator=iterator, body=body)
        case While() | DoWhile():
            return replace(head(replace(statement, body=())), body=rename(statement.body, names))
        case Block():
            return replace(statement, body=rename(statement.body, names))
        case Break() | Continue():
            return statement
        case _:
            assert_never(statement)


def statements_in(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement of a body and of what it encloses, in program order."""
    for statement in body:
        yield statement
        match statement:
            case If():
                yield from statements_in(statement.then)
                yield from statements_in(statement.otherwise)
            case For() | MetaFor() | While() | DoWhile() | Block():
                yield from statements_in(statement.body)
            case Declare() | Assign() | Break() | Continue():
                pass
            case _:
                assert_never(statement)


def expressions_in(body: tuple[Stmt, ...]) -> Iterator[Expr]:
    """Every whole expression of a body, in program order; targets count as expressions."""
    for statement in statements_in(body):
        match statement:
            case Declare():
                yield from statement.dims
                if statement.initial is not None:
                    yield statement.initial
            case Assign():
                yield statement.value
                yield statement.target
            case If() | While() | DoWhile():
                yield statement.condition
            case For() | MetaFor():
                yield from (statement.start, statement.bound, statement.step)
            case Break() | Continue() | Block():
                pass
            case _:
                assert_never(statement)


def conditional_parts(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression that are evaluated only where something else in it says so."""
    for e in subexpressions(expr):
        match e:
            case Conditional(then=then, otherwise=otherwise):
                yield from (then, otherwise)
            case Binary(operator="&&" | "||", right=right):
                yield right
            case _:
                pass


def always_evaluated(expr: Expr) -> Iterator[Expr]:
    """The expression and its parts, without those that a condition may leave out."""
    yield expr
    match expr:
        case Index():
            for subscript in expr.subscripts:
                yield from always_evaluated(subscript)
        case Unary() | Cast():
            yield from always_evaluated(expr.operand)
        case Binary():
            yield from always_evaluated(expr.left)
            if expr.operator not in ("&&", "||"):
                yield from always_evaluated(expr.right)
        case Conditional():
            yield from always_evaluated(expr.condition)
        case Call():
            for argument in expr.arguments:
                yield from always_evaluated(argument)
        case Name() | IntLiteral() | FloatLiteral():
            pass
        case _:
            assert_never(expr)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it, outermost first, left to right."""
    yield expr
    match expr:
        case Name() | IntLiteral() | FloatLiteral():
            pass
        case Index():
            for subscript in expr.subscripts:
                yield from subexpressions(subscript)
        case Unary() | Cast():
            yield from subexpressions(expr.operand)
        case Binary():
            yield from subexpressions(expr.left)
            yield from subexpressions(expr.right)
        case Conditional():
            for part in (expr.condition, expr.then, expr.otherwise):
                yield from subexpressions(part)
        case Call():
            for argument in expr.arguments:
                yield from subexpressions(argument)
        case _:
            assert_never(expr)


def declared_names(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Return the names that a body declares at any depth: local scalars and arrays, iterators of its loops."""
    names: set[str] = set()
    for statement in statements_in(body):
        match statement:
            case Declare():
                names.add(statement.name)
            case For() | MetaFor() if statement.type is not None:
                names.add(statement.iterator)
            case _:
                pass
    return frozenset(names)


def all_names(nest: Nest) -> frozenset[str]:
    """Every name that stands anywhere in the nest, its own excepted."""
    names = {s.name for s in (*nest.scalars, *nest.state.scalars)}
    names |= {a.name for a in nest.arrays} | {g.iterator for g in nest.grid}
    for expr in (
        *(s.value for s in nest.scalars if s.value is not None),
        *(d for a in nest.arrays for d in a.dims or () if d is not None),
        *nest.preconditions,
        *(g.extent for g in nest.grid),
    ):
        names |= names_read(expr)
    return frozenset(names) | _names_of(nest.body)


def _names_of(body: tuple[BlockStmt, ...]) -> frozenset[str]:
    names: set[str] = set()
    for statement in body:
        match statement:
            case Threads():
                for loop in statement.loops:
                    names |= {loop.iterator} | names_read(loop.extent)
                names |= declared_names(statement.body)
                for expr in expressions_in(statement.body):
                    names |= names_read(expr)
            case BlockFor():
                names.add(statement.iterator)
                for expr in (statement.start, statement.bound, statement.step):
                    names |= names_read(expr)
                names |= _names_of(statement.body)
            case BlockIf():
                names |= names_read(statement.condition)
                names |= _names_of(statement.then) | _names_of(statement.otherwise)
            case BlockDeclare():
                names |= {statement.name} | names_read(statement.value)
            case _:
                assert_never(statement)
    return frozenset(names)


def fresh_name(nest: Nest, base: str) -> str:
    """Return ``base``, or ``base_1``, ``base_2``...: the first that occurs nowhere in the nest."""
    return fresh(base, all_names(nest))


def uniform_names(nest: Nest) -> frozenset[str]:
    """Scalars that all threads of a block agree on: those of the nest, grid iterators, what blocks declare."""
    names = {s.name for s in nest.scalars} | {g.iterator for g in nest.grid}
    return frozenset(names) | _block_names(nest.body)


def _block_names(body: tuple[BlockStmt, ...]) -> frozenset[str]:
    names: set[str] = set()
    for statement in body:
        match statement:
            case Threads():
                pass
            case BlockFor():
                names |= {statement.iterator} | _block_names(statement.body)
            case BlockIf():
                names |= _block_names(statement.then) | _block_names(statement.otherwise)
            case BlockDeclare():
                names.add(statement.name)
            case _:
                assert_never(statement)
    return frozenset(names)
