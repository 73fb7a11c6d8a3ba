"""Headers of parallel loops: the three parts between the parentheses of ``meta_for``, in normal form.

In: ``int i = 0; n > i; i = i + 2`` as parsed.  Out: the :class:`Header` with iterator ``i``, start ``0``, relation
``<``, bound ``n``, step ``2``.
"""

from __future__ import annotations

from typing import NamedTuple

from comprehensive.metafork.ast import Binary, Declare, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.written import Evaluate, Loop, Sequence, Update, effect, updates
from comprehensive.records import replace

MOST_AHEAD = 2**16
"""A constant that is added to an iterator is less than this, so that no literal beside it changes its type."""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


class Header(NamedTuple):
    """The fields of a parallel loop, whose condition compares its iterator and so much more with the bound."""

    type: ScalarType
    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: Expr
    ahead: int = 0


def parallel_header(loop: Loop) -> Header | None:
    """The header of a ``meta_for`` in normal form; None after reporting CF0122, where it has another form."""
    sink = loop.keyword.origin.sink
    steps = None if loop.step is None else updates(loop.step)
    match loop.start:
        case (Declare(initial=start, is_pointer=False) as declare,) if start is not None and not declare.dims:
            pass
        case (Evaluate(Update(Name(iterator), "=")),):
            help = f"write 'meta_for (int {iterator} = ...'"
            sink.error("CF0122", "a meta_for declares its iterator", loop.header, help=help)
            return None
        case (_, _, *_) | (Evaluate(Sequence()),):
            return _several(loop)
        case _:
            return _incomplete(loop)
    if steps is not None and len(steps) > 1:
        return _several(loop)
    if loop.condition is None or loop.step is None:
        return _incomplete(loop)
    for part in (start, loop.condition, *(u.value for u in steps or ())):
        found = effect(part)
        if found is not None:
            name = declare.name
            text = "the header of a parallel loop changes nothing but its iterator, in the step"
            help = f"count down behind the condition, 'meta_for (int {name} = n; {name} > 0; {name}--)'"
            sink.error("CF0122", text, found.sign.span, help=help)
            return None
    name = declare.name
    ahead, condition = looking_ahead(name, declare.type, loop.condition)
    relation, bound = condition_of(name, condition)
    if relation is None:
        sink.error(
            "CF0122",
            f"the condition of this loop must compare its iterator '{name}' with a bound",
            loop.condition.span,
            help=f"write '{name} < bound', or another of <= > >= !=; what else decides is an 'if' in the body",
        )
    increment = None if not steps else step_of(name, steps[0].target, steps[0].operator, steps[0].value)
    if increment is None:
        sink.error(
            "CF0122",
            f"the step of this loop must add to its iterator '{name}', or subtract from it",
            loop.step.span,
            help=f"write '{name}++', '{name}--', '{name} += step' or '{name} -= step'",
        )
    if relation is None or increment is None:
        return None
    return Header(declare.type, name, start, relation, bound, increment, ahead)


def _several(loop: Loop) -> None:
    text = "a parallel loop has one iterator"
    help = "compute the others from it in the body: 'int j = n - 1 - i;'"
    loop.keyword.origin.sink.error("CF0122", text, loop.header, help=help)


def _incomplete(loop: Loop) -> None:
    text = "the header of a parallel loop gives its iterator a start, a bound and a step"
    help = "write 'meta_for (int i = start; i < bound; i += step)'"
    loop.keyword.origin.sink.error("CF0122", text, loop.header, help=help)


def condition_of(name: str, condition: Expr) -> tuple[str | None, Expr]:
    """The relation of an iterator to its bound, and that; no relation where a condition is none between these."""
    match condition:
        case Binary(relation, Name(left), bound) if left == name and relation in _MIRRORED:
            return relation, bound
        case Binary(relation, bound, Name(right)) if right == name and relation in _MIRRORED:
            return _MIRRORED[relation], bound
        case _:
            return None, condition


def looking_ahead(name: str, kind: ScalarType, condition: Expr) -> tuple[int, Expr]:
    """Return ``c`` and ``i < bound`` for ``i + c < bound``, however it is written; 0 and the condition for others.

    A loop whose iterator begins ``c`` later and whose body reads ``i - c`` does the same turns, where the sum has the
    ``kind`` of the iterator: the sum is what the other iterator is, where it wraps around, too.
    """
    match condition:
        case Binary(relation, (Binary("+") as left), right) if relation in _MIRRORED:
            found = _constant_besides(name, kind, left)
            return (
                (0, condition) if found is None else (found, Binary(relation, Name(name, left.span), right))
            )
        case Binary(relation, left, (Binary("+") as right)) if relation in _MIRRORED:
            found = _constant_besides(name, kind, right)
            return (
                (0, condition) if found is None else (found, Binary(relation, left, Name(name, right.span)))
            )
        case _:
            return 0, condition


def _constant_besides(name: str, kind: ScalarType, addition: Expr) -> int | None:
    match addition:
        case Binary("+", Name(iterator), IntLiteral() as constant) | Binary(
            "+", IntLiteral() as constant, Name(iterator)
        ) if iterator == name and constant.value < MOST_AHEAD:
            # Narrow types are added up in int.
            is_sum = kind.is_integer and common_type(promote(kind), constant.type) is kind
            return constant.value if is_sum else None
        case _:
            return None


def step_of(name: str, target: Expr, operator: str, value: Expr) -> Expr | None:
    """Return what an assignment adds to an iterator; None for any other one."""
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


def split_step(step: Expr) -> tuple[bool, Expr]:
    """Whether a step counts down, and by how much: ``-e`` is ``i -= e``, in whatever type ``e`` is."""
    match step:
        case IntLiteral(value) if value < 0:
            return True, replace(step, value=-value)
        case Unary("-", amount):
            return True, amount
        case _:
            return False, step
