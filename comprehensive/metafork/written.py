"""The nodes between parser and tree for what programs write: the parser makes these, :mod:`sequencing` takes them away.

In: C with effects inside of expressions, loops of any form, ``switch``.  Out: the nodes between both, which stand in
trees of :mod:`ast` where an expression or a statement can stand::

    *p++ = x     -->  Evaluate(Update(Sequence(None, p[0], Update(p, "+=", 1)), "=", x))
    for (;;) S   -->  Loop((), None, None, S)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, TypeAlias, cast

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    Initialiser,
    MetaFor,
    Name,
    Stmt,
    While,
)
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import bodies, children, own_expressions

# --- expressions ---------------------------------------------------------------------------------------------


class Update(Struct, frozen=True):
    """``target operator value``, whose value is that of the target afterwards; ``++i`` is ``i += 1``."""

    target: Expr
    operator: str
    value: Expr
    sign: Token
    span: Span


class Sequence(Struct, frozen=True):
    """``value`` with effects: ``first`` is done before it is read, ``then`` afterwards, if they are there.

    ``(first, value)`` is the comma operator, ``i++`` reads ``i`` and then does ``i += 1``.
    """

    first: Expr | Update | None
    value: Expr
    then: Update | None
    sign: Token
    span: Span


class SizeOf(Struct, frozen=True):
    """``sizeof operand``: a number of bytes, of type ``unsigned long``."""

    operand: Expr
    sign: Token
    span: Span


class Discarded(Struct, frozen=True):
    """``(void)operand``, an expression without a value: its operand is there for its effects, or so that it is used."""

    operand: Expr | Update | Sequence | Discarded
    word: Token
    span: Span

    def report(self) -> None:
        """Report CF0120 for one that stands where a value has to be."""
        text = "what is cast to void has no value"
        help = "remove '(void)', or write it as a statement of its own"
        self.word.origin.sink.error("CF0120", text, self.span, help=help)


def report_no_effect(span: Span, sink: DiagnosticSink) -> None:
    """Report a statement that does nothing (CF0120)."""
    help = (
        "assign its value to a variable or an element of an array; memset and memcpy are written as loops, and "
        "functions of the file are called where they write through their parameters"
    )
    sink.error("CF0120", "this statement has no effect: it assigns nothing", span, help=help)


CALLED = "void"
"""The name that a call which stands alone is assigned to, for its effects; no program can have it."""

# --- statements ----------------------------------------------------------------------------------------------


class Evaluate(Struct, frozen=True):
    """``expression;``, whose effects count.  ``atomic`` marks what stands behind ``meta_atomic``."""

    expression: Expr | Update | Sequence | Discarded
    span: Span
    sign: Token
    """Its last token."""
    atomic: bool = False


class Loop(Struct, frozen=True):
    """``for (start; condition; step) body``, ``meta_for`` where it is ``parallel``."""

    start: tuple[Declare | Evaluate, ...]
    condition: Expr | None
    step: Expr | Update | Sequence | None
    body: tuple[Stmt, ...]
    parallel: bool
    keyword: Token
    header: Span
    span: Span


class Label(Struct, frozen=True):
    """``case value:``, ``default:`` where there is no value."""

    value: Expr | None
    span: Span


class Switch(Struct, frozen=True):
    value: Expr
    body: tuple[Stmt, ...]
    keyword: Token
    span: Span


Written: TypeAlias = Update | Sequence | SizeOf | Discarded | Evaluate | Loop | Label | Switch
_Node: TypeAlias = Expr | Stmt | Initialiser | Written


def known(node: object) -> Any:
    """A node as one of any kind: the types of :mod:`ast` do not speak of those that the parser alone sees."""
    return node


def below(node: object) -> tuple[object, ...]:
    """The parts of a node, in no order."""
    match node:
        case Update(target, _, value):
            return (target, value)
        case Sequence(first, value, then):
            return tuple(part for part in (first, value, then) if part is not None)
        case SizeOf(operand) | Discarded(operand):
            return (operand,)
        case Evaluate(expression):
            return (expression,)
        case Loop(start, condition, step, body):
            return (*start, *(part for part in (condition, step) if part is not None), *body)
        case Label(value):
            return () if value is None else (value,)
        case Switch(value, body):
            return (value, *body)
        case Initialiser(items):
            return items
        case Declare(elements=elements):
            inner = own_expressions(node)
            return inner if elements is None else (*inner, elements)
        case Assign() | If() | For() | MetaFor() | While() | DoWhile() | Block() | Break() | Continue():
            statement = cast("Stmt", node)
            return (*own_expressions(statement), *chain.from_iterable(bodies(statement)))
        case _:
            return children(cast(Expr, node))


def nodes(*roots: object) -> Iterator[object]:
    """All nodes of trees as parsed."""
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        pending.extend(below(node))


def effect(root: object) -> Update | Sequence | None:
    """Something in an expression that a pure one does not have, if there is such a thing."""
    return next((node for node in nodes(root) if isinstance(node, Update | Sequence)), None)


def size(root: object) -> SizeOf | None:
    """Something in an expression whose number the types of variables say, if there is such a thing."""
    return next((node for node in nodes(root) if isinstance(node, SizeOf)), None)


def discarded(root: object) -> Discarded | None:
    """Something in an expression that has no value, if there is such a thing."""
    return next((node for node in nodes(root) if isinstance(node, Discarded)), None)


def too_deep(roots: tuple[Stmt, ...], limit: int) -> Span | None:
    """The place of a node that lies more than ``limit`` levels below the roots, if there is one."""
    pending: list[tuple[object, int]] = [(root, 1) for root in reversed(roots)]
    while pending:
        node, depth = pending.pop()
        if depth > limit:
            return cast(_Node, node).span
        inner = depth if isinstance(node, Evaluate) else depth + 1
        pending.extend((part, inner) for part in below(node))
    return None


def updates(expression: object) -> list[Update] | None:
    """The updates that an expression is, one after the other (``i++, j--``); None for what is not only updates."""
    match expression:
        case Update():
            return [expression]
        case Sequence(None, _, Update() as then):
            return [then]
        case Sequence(first, value, None):
            before, after = updates(first), updates(value)
            return None if before is None or after is None else [*before, *after]
        case _:
            return None


def steps_may_follow(root: object) -> bool:
    """Whether the steps ``x++`` in a statement can come behind it: nothing else in it speaks of what they change."""
    every = list(nodes(root))
    spoken = [n.identifier if isinstance(n, Name) else n.array for n in every if isinstance(n, Name | Index)]
    for node in every:
        match node:
            case Sequence(then=Update(Name(name) | Index(name))) if spoken.count(name) > 2:
                return False
            case _:
                pass
    return True
