"""How many elements behind a pointer a nest touches at concrete parameters.

In: a nest and the values of its scalars.  Out: for each pointer the number of elements that its buffer needs, so
that tests can allocate it exactly and catch what reads past its end::

    reach(reverse, {"n": 10, "B": 4, "s": 2, ...}) == {"in": 10, "out": 10}

Every loop is expanded into numpy columns; conditions on data count as true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

import numpy as np

from comprehensive.loops.access import Access, SerialLoop, accesses
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    Unary,
)

Columns: TypeAlias = dict[str, Any]
"""Per iterator an int64 column with one entry an iteration; scalars are plain numbers."""


class NotEvaluableError(Exception):
    """A subscript or a bound depends on data; the message names the term."""


def reach(nest: Nest, arguments: Mapping[str, int | float]) -> dict[str, int]:
    """Elements needed behind each pointer, and rows of an array with an open first extent; 0 where none is touched.

    ``arguments`` give every scalar of the nest.  Raises NotEvaluableError where a subscript depends on data.
    """
    needed = {a.name: 0 for a in nest.arrays if a.dims is None or a.dims[0] is None}
    for access in accesses(nest):
        if access.array in needed:
            columns = _iterations(nest, access, arguments)
            index: Any = np.asarray(_evaluate(access.subscripts[0], columns))
            if len(_column(columns)):
                needed[access.array] = max(needed[access.array], int(index.max()) + 1)
    return needed


def _is_column(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _column(columns: Columns) -> Any:
    return next(v for v in columns.values() if _is_column(v))


def _iterations(nest: Nest, access: Access, arguments: Mapping[str, int | float]) -> Columns:
    columns: Columns = dict(arguments)
    band = nest.bands[access.context.band]
    columns["@"] = np.zeros(1, dtype=np.int64)
    for loop in (*nest.grid, *band.loops):
        columns = _expand(columns, loop.iterator, 0, int(c_value(loop.extent, arguments)))
    for serial in access.context.loops:
        columns = _expand_serial(columns, serial)
    for guard in access.context.guards:
        try:
            holds = np.asarray(_evaluate(guard, columns)) != 0
        except NotEvaluableError:
            continue
        columns = _select(columns, np.broadcast_to(holds, _column(columns).shape))
    return columns


def _expand(columns: Columns, iterator: str, first: int, extent: int) -> Columns:
    count = len(_column(columns))
    extent = max(0, extent)
    expanded: Columns = {k: np.repeat(v, extent) if _is_column(v) else v for k, v in columns.items()}
    expanded[iterator] = np.tile(np.arange(first, first + extent, dtype=np.int64), count)
    return expanded


def _expand_serial(columns: Columns, loop: SerialLoop) -> Columns:
    shape = _column(columns).shape

    def column(expr: Expr) -> Any:
        return np.broadcast_to(np.asarray(_evaluate(expr, columns), dtype=np.int64), shape)

    start, bound, step = column(loop.start), column(loop.bound), column(loop.step)
    match loop.relation:
        case "<":
            trips = -((start - bound) // step)
        case "<=":
            trips = -((start - bound - 1) // step)
        case ">":
            trips = -((start - bound) // step)
        case ">=":
            trips = -((start - bound + 1) // step)
        case _:
            trips = (bound - start) // step
    trips = np.maximum(trips, 0)
    expanded: Columns = {k: np.repeat(v, trips) if _is_column(v) else v for k, v in columns.items()}
    ends = np.cumsum(trips)
    number = np.arange(int(trips.sum()), dtype=np.int64) - np.repeat(ends - trips, trips)
    expanded[loop.iterator] = np.repeat(start, trips) + number * np.repeat(step, trips)
    return expanded


def _select(columns: Columns, keep: Any) -> Columns:
    return {k: v[keep] if _is_column(v) else v for k, v in columns.items()}


def _evaluate(expr: Expr, columns: Columns) -> Any:
    """The value of an integer expression on all iterations at once, with C's division."""
    match expr:
        case IntLiteral():
            return expr.value
        case Name():
            if expr.identifier not in columns:
                raise NotEvaluableError(expr.identifier)
            return columns[expr.identifier]
        case Unary():
            operand = _evaluate(expr.operand, columns)
            match expr.operator:
                case "-":
                    return -operand
                case "!":
                    return np.asarray(operand) == 0
                case "~":
                    return ~operand
                case _:
                    return operand
        case Binary():
            return _binary(expr.operator, _evaluate(expr.left, columns), _evaluate(expr.right, columns))
        case Conditional():
            condition: Any = np.asarray(_evaluate(expr.condition, columns)) != 0
            then, otherwise = _evaluate(expr.then, columns), _evaluate(expr.otherwise, columns)
            where: Any = np.where
            return where(condition, then, otherwise)
        case Cast() if expr.type.is_integer:
            return _evaluate(expr.operand, columns)
        case Index() | Call() | FloatLiteral() | Cast():
            raise NotEvaluableError(repr(expr))
        case _:
            assert_never(expr)


def _binary(operator: str, left: Any, right: Any) -> Any:
    left, right = np.asarray(left), np.asarray(right)
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%":
            safe = np.where(right == 0, 1, right)
            quotient = np.sign(left) * np.sign(safe) * (np.abs(left) // np.abs(safe))
            return quotient if operator == "/" else left - quotient * safe
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
        case "!=":
            return left != right
        case "&&":
            return (left != 0) & (right != 0)
        case "||":
            return (left != 0) | (right != 0)
        case "<<":
            return left << right
        case ">>":
            return left >> right
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case _:
            raise NotEvaluableError(operator)
