"""Loop headers: the three parts between the parentheses of ``for`` and ``meta_for``, in normal form.

In: ``int i = 0; n > i; i = i + 2`` as parsed.  Out: the :class:`Header` with iterator ``i``, start ``0``, relation
``<``, bound ``n``, step ``2``.
"""

from __future__ import annotations

from typing import NamedTuple

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.tokens import Token

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


class Header(NamedTuple):
    """The fields of a loop; ``type`` is None where the header declares no iterator."""

    type: ScalarType | None
    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: Expr
    span: Span


def loop_header(
    kind: ScalarType | None,
    iterator: Token,
    start: Expr,
    condition: Expr,
    step: tuple[Expr, str, Expr, Span],
    span: Span,
) -> Header:
    """The header in normal form; reports CF0122 where the condition or the step has another form."""
    name = iterator.text
    sink = iterator.origin.sink
    relation, bound = _condition(name, condition)
    if relation is None:
        sink.error(
            "CF0122",
            f"the condition of this loop must compare its iterator '{name}' with a bound",
            condition.span,
            help=f"write '{name} < bound', or another of <= > >= !=; a 'while' loop takes any condition",
        )
    increment = _step(name, *step[:3])
    if increment is None:
        sink.error(
            "CF0122",
            f"the step of this loop must add to its iterator '{name}', or subtract from it",
            step[3],
            help=f"write '{name}++', '{name}--', '{name} += step' or '{name} -= step'",
        )
    return Header(kind, name, start, relation or "<", bound, increment or IntLiteral(1), span)


def _condition(name: str, condition: Expr) -> tuple[str | None, Expr]:
    match condition:
        case Binary(relation, Name(left), bound) if left == name and relation in _MIRRORED:
            return relation, bound
        case Binary(relation, bound, Name(right)) if right == name and relation in _MIRRORED:
            return _MIRRORED[relation], bound
        case _:
            return None, condition


def _step(name: str, target: Expr, operator: str, value: Expr) -> Expr | None:
    if not isinstance(target, Name) or target.identifier != name:
        return None
    match operator, value:
        case "+=", increment:
            return _normal(increment, 1)
        case "-=", decrement:
            return _normal(decrement, -1)
        case "=", Binary("+", Name(left), increment) if left == name:
            return _normal(increment, 1)
        case "=", Binary("+", increment, Name(right)) if right == name:
            return _normal(increment, 1)
        case "=", Binary("-", Name(left), decrement) if left == name:
            return _normal(decrement, -1)
        case _:
            return None


def _normal(step: Expr, sign: int) -> Expr:
    """One form for ``i += -2``, ``i -= 2`` and ``i = i - 2``: IntLiteral(-2)."""
    match step:
        case IntLiteral(value, type_of_literal) if not type_of_literal.wraps:
            return IntLiteral(sign * value, type_of_literal, step.span)
        case Unary("-", IntLiteral(value, type_of_literal)) if type_of_literal is not ScalarType.UNSIGNED:
            return IntLiteral(-sign * value, type_of_literal, step.span)
        case _:
            return step if sign > 0 else Unary("-", step, step.span)
