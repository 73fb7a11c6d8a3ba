"""Kernels without idle arithmetic: a body in, the same body with its constants folded out.

::

    in[row * w + w * 0 + (first + 1) + 0]   -->   in[row * w + (first + 1)]

What is folded is exact in C (`loops/fold.py`); the compiler would do it anyway, but not for the reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, assert_never, cast

from comprehensive.kernel_ir.kernel import (
    Barrier,
    Comment,
    KernelParameter,
    KernelStmt,
    OfTiles,
    Plain,
    SharedTile,
    ThreadIf,
    UniformFor,
    UniformIf,
)
from comprehensive.kernel_ir.names import types_in_kernel
from comprehensive.loops.rewrite import fold
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.rewrite import map_expressions

_EXPRESSIONS = (IntLiteral, Name, Index, Unary, Binary, Conditional, Cast, Call)


def folded(body: Sequence[KernelStmt], parameters: Sequence[KernelParameter]) -> tuple[KernelStmt, ...]:
    """The body of a kernel with these parameters, its constants folded."""
    return _body(body, types_in_kernel(body, {p.name: p.type for p in parameters}))


def _body(body: Sequence[KernelStmt], types: Mapping[str, ScalarType]) -> tuple[KernelStmt, ...]:
    return tuple(_statement(statement, types) for statement in body)


def _statement(statement: KernelStmt, types: Mapping[str, ScalarType]) -> KernelStmt:
    def one(expr: Expr) -> Expr:
        return fold(expr, types)

    match statement:
        case Plain():
            return Plain(map_expressions(statement.body, one))
        case UniformFor():
            (header,) = map_expressions((statement.header,), one)
            assert isinstance(header, For)
            return UniformFor(header, _body(statement.body, types))
        case UniformIf() | ThreadIf():
            then, otherwise = _body(statement.then, types), _body(statement.otherwise, types)
            return replace(statement, condition=one(statement.condition), then=then, otherwise=otherwise)
        case SharedTile():
            return replace(statement, offset_words=one(statement.offset_words))
        case Barrier() | Comment():
            return statement
        case OfTiles():
            parts: dict[str, Any] = {f.name: getattr(statement, f.name) for f in fields(statement)}
            found: dict[str, Any] = {}
            for name, part in parts.items():
                if isinstance(part, _EXPRESSIONS):
                    found[name] = one(part)
                elif isinstance(part, tuple):
                    found[name] = tuple(map(one, cast("tuple[Expr, ...]", part)))
            return replace(statement, **found)
        case _:
            assert_never(statement)
