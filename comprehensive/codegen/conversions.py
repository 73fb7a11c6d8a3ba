"""Conversions of storage types, said: what is read of `half` and `bfloat16` is a float, what is written is rounded.

In: a kernel or statements, and the types of names.  Out: the same with CUDA's functions wherever C++ would convert
in a way of its own, or compute in 16 bits::

    y[i] += alpha * x[i];   -->   y[i] = __float2half_rn(__half2float(y[i]) + alpha * __half2float(x[i]));
    y[i] = x[i];            stays: an element of the same type is copied

A ``double`` is rounded once; an integer becomes a ``float`` first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, overload

from msgspec import Struct

from comprehensive.kernel_ir.kernel import OPAQUE, Kernel, KernelStmt, SharedTile
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    Index,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.rewrite import with_bodies, with_operands, with_own_expressions, with_subscripts
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.terms import value_left
from comprehensive.metafork.walk import declared
from comprehensive.records import replace

_Types: TypeAlias = defaultdict[str, ScalarType]
"""What is not declared is an ``int``: ``threadIdx.x``, a constant of a template."""


class _Functions(Struct, frozen=True):
    """CUDA's conversions of a type; ``header`` declares them, and ``name`` is in all their names and in no other."""

    header: str
    name: str
    to_float: str
    of_float: str
    of_double: str


_FUNCTIONS = {
    ScalarType.HALF: _Functions("cuda_fp16.h", "half", "__half2float", "__float2half_rn", "__double2half"),
    ScalarType.BFLOAT16: _Functions(
        "cuda_bf16.h", "bfloat16", "__bfloat162float", "__float2bfloat16_rn", "__double2bfloat16"
    ),
}


def storage_headers(texts: Iterable[str]) -> tuple[str, ...]:
    """The headers of CUDA that declare the storage types which kernels, as text, mention."""
    everything = "\n".join(texts)
    return tuple(f.header for f in _FUNCTIONS.values() if re.search(rf"\b__\w*{f.name}", everything))


def with_conversions(kernel: Kernel) -> Kernel:
    """The kernel with all conversions of storage types as calls."""
    return replace(kernel, body=_in_body(kernel.body, _types({p.name: p.type for p in kernel.parameters})))


def converted(body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Statements with all conversions of storage types as calls; ``types`` are those of names around them."""
    return _in_body(body, _types(types))


def _types(known: Mapping[str, ScalarType]) -> _Types:
    return defaultdict(lambda: ScalarType.INT, known)


@overload
def _in_body(body: Sequence[Stmt], outside: _Types) -> tuple[Stmt, ...]: ...
@overload
def _in_body(body: Sequence[KernelStmt], outside: _Types) -> tuple[KernelStmt, ...]: ...
def _in_body(body: Sequence[KernelStmt], outside: _Types) -> tuple[KernelStmt, ...]:
    types = outside.copy()
    result: list[KernelStmt] = []
    for statement in body:
        result.append(_statement(statement, types))
        if isinstance(statement, Declare | SharedTile):
            types[statement.name] = statement.type
    return tuple(result)


def _statement(statement: KernelStmt, types: _Types) -> KernelStmt:
    match statement:
        case Declare():
            initial = None if statement.initial is None else _stored(statement.initial, statement.type, types)
            return replace(statement, initial=initial)
        case Assign():
            return _assignment(statement, types)
        case OwnStatement():
            return statement
        case _:
            inside = types.copy()
            inside.update(declared(statement))
            changed = with_own_expressions(statement, lambda e: _value(e, inside))
            return with_bodies(changed, lambda body: _in_body(body, inside))


def _assignment(statement: Assign, types: _Types) -> Assign:
    """The operation of an update of a storage type is one in float, with its result rounded."""
    target = statement.target
    type = types[target.identifier if isinstance(target, Name) else target.array]
    if type.is_storage:
        statement = replace(statement, operator="=", value=value_left(statement))
    return replace(statement, target=_place(target, types), value=_stored(statement.value, type, types))


def _place(target: Name | Index, types: _Types) -> Name | Index:
    return with_subscripts(target, lambda subscript: _value(subscript, types))


def _value(expr: Expr, types: _Types) -> Expr:
    """The expression with its value in the type in which one computes."""
    match expr:
        case Name() | Index():
            element = _element_type(expr, types)
            place = _place(expr, types)
            return place if element is None else Call(_FUNCTIONS[element].to_float, (place,), expr.span)
        case Cast() if expr.type.is_storage:
            rounded = _stored(expr.operand, expr.type, types)
            return Call(_FUNCTIONS[expr.type].to_float, (rounded,), expr.span)
        case Cast(ScalarType.FLOAT, operand) if type_of(operand, types).is_storage:
            return _value(operand, types)
        case Call() if (element := _element_type(expr, types)) is not None:
            return Call(_FUNCTIONS[element].to_float, (expr,), expr.span)
        case _:
            return with_operands(expr, lambda operand: _value(operand, types))


def _stored(expr: Expr, type: ScalarType, types: _Types) -> Expr:
    """The value of an expression as what a variable of this type holds."""
    if not type.is_storage:
        return _value(expr, types)
    if isinstance(expr, Cast) and expr.type is type:
        return _stored(expr.operand, type, types)
    if isinstance(expr, Name | Index | Call) and _element_type(expr, types) is type:
        return expr if isinstance(expr, Call) else _place(expr, types)
    functions, value, computed = _FUNCTIONS[type], _value(expr, types), promote(type_of(expr, types))
    if isinstance(expr, Conditional) and computed is not ScalarType.DOUBLE:
        then, otherwise = _stored(expr.then, type, types), _stored(expr.otherwise, type, types)
        return replace(expr, condition=_value(expr.condition, types), then=then, otherwise=otherwise)
    match computed:
        case ScalarType.DOUBLE:
            return Call(functions.of_double, (value,), expr.span)
        case ScalarType.FLOAT:
            return Call(functions.of_float, (value,), expr.span)
        case _:
            return Call(functions.of_float, (Cast(ScalarType.FLOAT, value),), expr.span)


def _element_type(expr: Name | Index | Call, types: _Types) -> ScalarType | None:
    """The storage type of what is read; else None."""
    match expr:
        case Name(identifier):
            type = types[identifier]
        case Index(array):
            type = types[array]
        case Call(function=function, arguments=arguments):
            # The compiler forgets where the value comes from, which is an element all the same.
            (again,) = arguments if function == OPAQUE else (None,)
            return _element_type(again, types) if isinstance(again, Name | Index) else None
    return type if type.is_storage else None
