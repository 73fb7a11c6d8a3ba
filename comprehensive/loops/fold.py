"""Constant folding and the identities that are exact in C.

In: an expression and, where it is not an index expression, the types of its names.  Out: an expression of the
same value and the same promoted type::

    i*1 + 0        -->  i
    (i + 1) + 2    -->  i + 3           integers only: floating-point arithmetic is never reordered
    7/2 - 1        -->  2
    i*3*3          -->  i*9
    0 - i + -j     -->  -i - j          integers only: -0.0f is no 0.0f
    0*a[i]         -->  0               integers only: a[i] may be NaN

A folded expression may be defined where the original overflowed; never the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.loops.types import type_of
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
    ScalarType,
    Unary,
)
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.records import replace

_BOOLEAN = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


def fold(expr: Expr, environment: Mapping[str, ScalarType] | None = None) -> Expr:
    """The expression simplified.

    Without an environment it is an index expression (a subscript, a bound, an extent), whose names are all taken
    for integers.  Arithmetic on data needs the environment, since ``x + 0`` is not ``x`` for ``float x = -0.0f``.
    """
    return map_expression(expr, lambda e: _fold(e, environment))


def _fold(expr: Expr, environment: Mapping[str, ScalarType] | None) -> Expr:
    match expr:
        case Unary(operand=IntLiteral() as operand):
            return _fold_unary(expr, operand)
        case Unary(operator="-", operand=Unary(operator="-", operand=inner)):
            return inner
        case Binary(left=IntLiteral() as left, right=IntLiteral() as right):
            return _fold_literals(expr, left, right)
        case Binary():
            return _fold_binary(expr, environment)
        case Conditional(condition=IntLiteral(value=decided)):
            chosen, other = (expr.then, expr.otherwise) if decided else (expr.otherwise, expr.then)
            return chosen if _same_type(chosen, other, environment) else expr
        case _:
            return expr


def _fold_unary(expr: Unary, operand: IntLiteral) -> Expr:
    if operand.type.wraps:
        return expr
    match expr.operator:
        case "-":
            return _literal(-operand.value, operand.type, expr)
        case "+":
            return operand
        case "~":
            return _literal(~operand.value, operand.type, expr)
        case "!":
            return IntLiteral(int(not operand.value), span=expr.span)
        case _:
            return expr


def _fold_literals(expr: Binary, left: IntLiteral, right: IntLiteral) -> Expr:
    if left.type.wraps or right.type.wraps:
        return expr
    a, b = left.value, right.value
    if expr.operator in _BOOLEAN:
        return IntLiteral(OPERATORS[expr.operator](a, b), span=expr.span)
    if expr.operator in ("<<", ">>"):
        if not (0 <= b < 31 and a >= 0):
            return expr
        return _literal(OPERATORS[expr.operator](a, b), left.type, expr)
    if expr.operator in ("/", "%") and b == 0:
        return expr
    return _literal(OPERATORS[expr.operator](a, b), common_type(left.type, right.type), expr)


def _literal(value: int, type: ScalarType, original: Unary | Binary) -> Expr:
    return IntLiteral(value, type, original.span) if -type.highest <= value <= type.highest else original


def _fold_binary(expr: Binary, environment: Mapping[str, ScalarType] | None) -> Expr:
    left, right = expr.left, expr.right
    if expr.operator in ("&&", "||"):
        return _fold_logical(expr)
    # An identity with a literal of type int leaves the promoted type of the other operand as it is.
    match expr.operator, left, right:
        case "*", _, IntLiteral(value=1, type=ScalarType.INT):
            return left
        case "*", IntLiteral(value=1, type=ScalarType.INT), _:
            return right
        case ("/", _, IntLiteral(value=1, type=ScalarType.INT)) | (
            "-",
            _,
            IntLiteral(value=0, type=ScalarType.INT),
        ):
            return left
        case _:
            pass
    if not (_is_integer(left, environment) and _is_integer(right, environment)):
        return expr
    match expr.operator, left, right:
        case "+" | "<<" | ">>" | "|" | "^", _, IntLiteral(value=0, type=ScalarType.INT):
            return left
        case "+" | "|" | "^", IntLiteral(value=0, type=ScalarType.INT), _:
            return right
        case "*" | "&", IntLiteral(value=0), _:
            return _zero(expr, environment)
        case "*" | "&", _, IntLiteral(value=0):
            return _zero(expr, environment)
        case "%", _, IntLiteral(value=1):
            return _zero(expr, environment)
        case "-", _, _ if left == right:
            return _zero(expr, environment)
        case (
            ("-", IntLiteral(value=0, type=ScalarType.INT), operand)
            | ("*", IntLiteral(value=-1, type=ScalarType.INT), operand)
            | ("*", operand, IntLiteral(value=-1, type=ScalarType.INT))
        ):
            return _fold(Unary("-", operand, expr.span), environment)
        case "*", Binary(operator="*", right=IntLiteral() as inner), IntLiteral():
            return _fold_product(expr, left.left, inner, right)
        case "+" | "-", _, IntLiteral(type=ScalarType.INT):
            return _fold_sum(expr, left, right)
        case "+" | "-", _, Unary(operator="-", operand=operand) if not _may_widen(operand, left, environment):
            operator = "-" if expr.operator == "+" else "+"
            return _fold(replace(expr, operator=operator, right=operand), environment)
        case _:
            return expr


def _fold_product(expr: Binary, factor: Expr, first: IntLiteral, second: IntLiteral) -> Expr:
    """Fold constants of products: ``x * 3 * 3 --> x * 9``."""
    value = first.value * second.value
    if {first.type, second.type} != {ScalarType.INT} or not 0 < abs(value) <= ScalarType.INT.highest:
        return expr
    return replace(expr, left=factor, right=IntLiteral(value, span=second.span))


def _fold_sum(expr: Binary, left: Expr, right: IntLiteral) -> Expr:
    """Fold constants of sums: ``(x + 1) - 3 --> x - 2`` and ``(1 + x) - 1 --> x``."""
    constant = right.value if expr.operator == "+" else -right.value
    match left:
        case Binary(operator="+" | "-", left=inner, right=IntLiteral(type=ScalarType.INT) as literal):
            constant += literal.value if left.operator == "+" else -literal.value
        case Binary(operator="+", left=IntLiteral(type=ScalarType.INT) as literal, right=inner):
            constant += literal.value
        case _:
            inner = left
    if abs(constant) > ScalarType.INT.highest:
        return expr
    if constant == 0:
        return inner
    operator = "+" if constant > 0 else "-"
    return replace(expr, operator=operator, left=inner, right=IntLiteral(abs(constant), span=right.span))


def _may_widen(negated: Expr, other: Expr, environment: Mapping[str, ScalarType] | None) -> bool:
    """Whether a number that wraps around when it is negated may be widened by adding it to another one."""
    if environment is None:
        return True
    type = promote(type_of(negated, environment))
    return type.wraps and common_type(type, type_of(other, environment)) is not type


def _fold_logical(expr: Binary) -> Expr:
    decides = 0 if expr.operator == "&&" else 1
    for literal, other in ((expr.left, expr.right), (expr.right, expr.left)):
        if not isinstance(literal, IntLiteral):
            continue
        if bool(literal.value) == bool(decides):
            # C does not evaluate the right operand after a deciding left one; a pure left one may be left out.
            return IntLiteral(decides, span=expr.span)
        if is_boolean(other):
            return other
    return expr


def is_boolean(expr: Expr) -> bool:
    """Whether the value is 0 or 1, of type int."""
    match expr:
        case IntLiteral():
            return expr.type is ScalarType.INT and expr.value in (0, 1)
        case Unary():
            return expr.operator == "!"
        case Binary():
            return expr.operator in _BOOLEAN
        case _:
            return False


def _is_integer(expr: Expr, environment: Mapping[str, ScalarType] | None) -> bool:
    if environment is not None:
        return type_of(expr, environment).is_integer
    match expr:
        case Name() | IntLiteral() | Index():
            return True
        case FloatLiteral():
            return False
        case Cast():
            return expr.type.is_integer
        case Call():
            return MATH[expr.function].result.is_integer
        case Unary():
            return _is_integer(expr.operand, None)
        case Binary():
            return expr.operator in _BOOLEAN or (
                _is_integer(expr.left, None) and _is_integer(expr.right, None)
            )
        case Conditional():
            return _is_integer(expr.then, None) and _is_integer(expr.otherwise, None)


def _zero(expr: Binary, environment: Mapping[str, ScalarType] | None) -> Expr:
    type = ScalarType.INT if environment is None else promote(type_of(expr, environment))
    return IntLiteral(0, type, expr.span)


def _same_type(chosen: Expr, other: Expr, environment: Mapping[str, ScalarType] | None) -> bool:
    if environment is None:
        return _is_integer(chosen, None) and _is_integer(other, None)
    return promote(type_of(chosen, environment)) is promote(type_of(other, environment))
