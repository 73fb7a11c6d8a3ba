"""The integer locals of a nest with their conversions written out, so that they can be substituted.

In: a nest.  Out: the same nest in which an integer local holds the exact value of its definition::

    unsigned q = p - 1;   -->   long q = (unsigned)(p - 1);

For evaluation only: where such a local is read without being substituted, its type is no longer the declared one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockDeclare, BlockFor, BlockIf, BlockStmt, Nest, Threads
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Cast,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    MetaFor,
    ScalarType,
    Stmt,
    While,
)


def with_conversions(nest: Nest, types: Mapping[str, ScalarType]) -> Nest:
    """The nest with a cast around the definition of every integer local that it may change.

    ``types`` are those of the names of the nest, as far as they have one.
    """
    return replace(nest, body=tuple(_block(statement, types) for statement in nest.body))


def _block(statement: BlockStmt, types: Mapping[str, ScalarType]) -> BlockStmt:
    match statement:
        case Threads():
            return replace(statement, body=_body(statement.body, types))
        case BlockFor():
            return replace(statement, body=tuple(_block(s, types) for s in statement.body))
        case BlockIf():
            then = tuple(_block(s, types) for s in statement.then)
            return replace(
                statement, then=then, otherwise=tuple(_block(s, types) for s in statement.otherwise)
            )
        case BlockDeclare():
            value, type = _converted(statement.value, statement.type, types)
            return replace(statement, type=type, value=value)
        case _:
            assert_never(statement)


def _body(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    return tuple(_statement(statement, types) for statement in body)


def _statement(statement: Stmt, types: Mapping[str, ScalarType]) -> Stmt:
    match statement:
        case Declare():
            if statement.initial is None:
                return statement
            initial, type = _converted(statement.initial, statement.type, types)
            return replace(statement, type=type, initial=initial)
        case If():
            then, otherwise = _body(statement.then, types), _body(statement.otherwise, types)
            return replace(statement, then=then, otherwise=otherwise)
        case For() | MetaFor() | While() | DoWhile() | Block():
            return replace(statement, body=_body(statement.body, types))
        case Assign() | Break() | Continue():
            return statement
        case _:
            assert_never(statement)


def _converted(value: Expr, type: ScalarType, types: Mapping[str, ScalarType]) -> tuple[Expr, ScalarType]:
    """The value of a local and the type that holds it exactly."""
    if not type.is_integer:
        return value, type
    known = all(name in types for name in names_read(value))
    same = known and type_of(value, types) is type
    return value if same else Cast(type, value), ScalarType.LONG
