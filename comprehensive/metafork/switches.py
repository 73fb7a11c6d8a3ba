"""``switch``, written as conditions: a choice between constants in, a chain of ``if`` and ``else`` out.

::

    switch (x) { case 0: S; break;  case 1: case 2: T; break;  default: U; }
        -->   if (x == 0) S  else if (x == 1 || x == 2) T  else U

A part that does not end with ``break`` goes on with the next one, of which it gets a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from comprehensive.metafork.ast import Binary, Block, Break, Continue, Declare, Expr, If, Name, Stmt
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.jumps import without_jumps
from comprehensive.metafork.written import Evaluate, Label, Switch, Update, known, nodes

MAXIMUM_COPIES = 200
"""Statements that parts of a switch may have in all because others go on with them."""


class _Part(NamedTuple):
    """``values`` of its labels; ``is_default`` says that ``default`` is among these."""

    values: tuple[Expr, ...]
    is_default: bool
    body: tuple[Stmt, ...]


def chain(switch: Switch, name: Callable[[str], str]) -> tuple[Stmt, ...]:
    """The statements that a switch is; its value is written at each comparison, and has no effects.

    Errors (CF0112) go to the sink of its keyword.
    """
    first, found = _split(switch.body)
    sink = switch.keyword.origin.sink
    hidden = next((n for s in switch.body if not isinstance(known(s), Label) for n in _labels(s)), None)
    if hidden is not None:
        text = "a label of a switch stands inside of another statement"
        sink.error("CF0112", text, hidden.span, help="put it right between the braces of its switch")
        return ()
    for value in (value for part in found for value in part.values):
        if constant_value(value) is None:
            text = "a case of a switch is no integer constant"
            sink.error("CF0112", text, value.span, help="compare with '==' in an if")
            return ()
    bodies = [_whole(found, k) for k in range(len(found))]
    if sum(map(len, bodies)) > MAXIMUM_COPIES + sum(len(part.body) for part in found):
        text = "too many cases of this switch go on with the next one"
        sink.error("CF0112", text, switch.keyword.span, help="end them with 'break', or write if and else")
        return ()
    otherwise: tuple[Stmt, ...] = ()
    for part, body in zip(found, bodies, strict=True):
        if part.is_default:
            otherwise = without_jumps(body, Break, name)
    for part, body in reversed(list(zip(found, bodies, strict=True))):
        if part.is_default:
            continue
        tests = [Binary("==", switch.value, value, value.span) for value in part.values]
        condition: Expr = tests[0]
        for test in tests[1:]:
            condition = Binary("||", condition, test, condition.span.to(test.span))
        inner = without_jumps(body, Break, name)
        otherwise = (If(condition, inner, otherwise, switch.span),)
    return (Block((*first, *otherwise), switch.span),) if first else otherwise


def _labels(statement: Stmt) -> list[Label]:
    """Return the labels in a statement that belong to the switch around it."""
    pending: list[object] = [statement]
    found: list[Label] = []
    for node in nodes(*pending):
        if isinstance(node, Switch):
            return []  # those in there are its own, or are found where it is looked at
        if isinstance(node, Label):
            found.append(node)
    return found


def _split(body: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], list[_Part]]:
    """The declarations before the first label, and the parts behind labels."""
    first: list[Stmt] = []
    found: list[_Part] = []
    open_part = False
    for statement in body:
        label = known(statement)
        if isinstance(label, Label):
            if not open_part or found[-1].body:
                found.append(_Part((), False, ()))
                open_part = True
            part = found[-1]
            values = part.values if label.value is None else (*part.values, label.value)
            found[-1] = part._replace(values=values, is_default=part.is_default or label.value is None)
        elif found:
            found[-1] = found[-1]._replace(body=(*found[-1].body, statement))
        elif isinstance(statement, Declare):
            first.append(statement)
    return tuple(first), found


def _whole(found: list[_Part], position: int) -> tuple[Stmt, ...]:
    """Return the statements that run from a part on: it, and those behind it up to one that ends with a jump."""
    body: list[Stmt] = []
    for part in found[position:]:
        body += part.body
        if _ends(part.body):
            break
    return tuple(body)


def _ends(body: tuple[Stmt, ...]) -> bool:
    """Whether the end of a part is never reached."""
    match body[-1:]:
        case (Block(inner),):
            return _ends(inner)
        case (If(_, then, otherwise),):
            return _ends(then) and _ends(otherwise)
        case (Break() | Continue(),):
            return True
        case (last,):
            return _is_return(last)
        case _:
            return False


def _is_return(statement: Stmt) -> bool:
    match known(statement):
        case Evaluate(Update(Name("return"))):
            return True
        case _:
            return False
