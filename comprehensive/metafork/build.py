"""The actions of the grammar: the tree that each rule of ``specs/metafork.lark`` becomes.

In: the values of the parts of a rule, punctuation included.  Out: a node of the tree, or one of the small records
below for what is part of a node; :mod:`build_expressions` has those of expressions.  Every function is pure but for
errors, which go to the sink that the tokens carry::

    statement FOR LPAR header RPAR statement  -->  Loop(...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from comprehensive.diagnostics import Fix, Span
from comprehensive.metafork.ast import (
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    If,
    Initialiser,
    IntLiteral,
    Parameter,
    Stmt,
    While,
)
from comprehensive.metafork.build_expressions import (
    EXPRESSION_ACTIONS,
    Children,
    Dimension,
    TypeName,
    of_value,
    span_of,
)
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.written import (
    Evaluate,
    Label,
    Loop,
    Switch,
    effect,
    known,
)


class Part(NamedTuple):
    """A statement on its way up: nothing for ``;``, several declarations for ``int a, b;``."""

    statements: tuple[Stmt, ...]
    span: Span
    kind: str
    """"block", "declaration" or "other"."""


class Declarator(NamedTuple):
    name: Token
    dims: tuple[Expr, ...]
    initial: Expr | None
    span: Span
    elements: Initialiser | None = None
    is_open: bool = False
    is_pointer: bool = False


def _body(part: Part, keyword: Token) -> tuple[Stmt, ...]:
    if part.kind == "declaration":
        keyword.origin.sink.error(
            "CF0126",
            f"a declaration cannot be the body of '{keyword.text}'",
            part.span,
            help="put braces around it, or remove it",
            fix=Fix.around("put braces around it", part.span, "{ ", " }"),
        )
    match part:
        case Part((Block(body),), kind="block"):
            return body
        case _:
            return part.statements


# --- statements ----------------------------------------------------------------------------------------------


def region(children: Children) -> tuple[Stmt, ...]:
    return tuple(statement for part in children for statement in part.statements)


def declare(children: Children) -> Part:
    statements: tuple[Declare, ...] = children[0]
    return Part(statements, statements[0].span.to(children[1].span), "declaration")


def declaration(children: Children) -> tuple[Declare, ...]:
    head: TypeName = of_value(children[0])
    declarators: list[Declarator] = [child for child in children[1:] if isinstance(child, Declarator)]
    for declarator in declarators:
        if declarator.dims and declarator.initial is not None:
            declarator.name.origin.sink.error(
                "CF0218",
                f"the local array '{declarator.name.text}' is initialised by one value",
                declarator.span,
                help="put braces around its elements: '= {1, 2}'",
                fix=Fix.around("put braces around its elements", declarator.initial.span, "{", "}"),
            )
    spans = [head.span.to(d.span) if k == 0 else d.span for k, d in enumerate(declarators)]
    return tuple(
        Declare(
            head.type,
            d.name.text,
            d.dims,
            d.initial,
            head.const and not d.is_pointer,
            span,
            d.elements,
            d.is_open,
            d.is_pointer,
        )
        for d, span in zip(declarators, spans, strict=True)
    )


def bare_declarator(children: Children) -> Declarator:
    return Declarator(children[0], tuple(d.expression for d in children[1:]), None, span_of(children))


def initialised_declarator(children: Children) -> Declarator:
    return Declarator(
        children[0], tuple(d.expression for d in children[1:-2]), children[-1], span_of(children)
    )


def listed_declarator(children: Children) -> Declarator:
    dims = tuple(d.expression for d in children[1:-2])
    return Declarator(children[0], dims, None, span_of(children), children[-1])


def open_declarator(children: Children) -> Declarator:
    dims = (IntLiteral(0, span=children[1].span), *(d.expression for d in children[3:-2]))
    return Declarator(children[0], dims, None, span_of(children), children[-1], is_open=True)


def bare_pointer(children: Children) -> Declarator:
    return Declarator(children[-1], (), None, span_of(children), is_pointer=True)


def initialised_pointer(children: Children) -> Declarator:
    return Declarator(children[-3], (), children[-1], span_of(children), is_pointer=True)


def initialiser(children: Children) -> Initialiser:
    return Initialiser(tuple(c for c in children if not isinstance(c, Token)), span_of(children))


def evaluate(children: Children) -> Part:
    expression, end = children
    return Part((known(Evaluate(expression, span_of(children), end)),), span_of(children), "other")


def atomic_update(children: Children) -> Part:
    keyword, expression, _ = children
    statement = Evaluate(expression, expression.span, keyword, atomic=True)
    return Part((known(statement),), span_of(children), "other")


def empty(children: Children) -> Part:
    return Part((), children[0].span, "other")


def block(children: Children) -> Part:
    span = span_of(children)
    return Part((Block(region(children[1:-1]), span),), span, "block")


def if_then(children: Children) -> Part:
    keyword, _, condition, _, then = children
    span = span_of(children)
    return Part((If(condition, _body(then, keyword), (), span),), span, "other")


def if_else(children: Children) -> Part:
    keyword, _, condition, _, then, other_keyword, otherwise = children
    span = span_of(children)
    statement = If(condition, _body(then, keyword), _body(otherwise, other_keyword), span)
    return Part((statement,), span, "other")


def loop(children: Children) -> Part:
    keyword, _, head, _, body = children
    start, condition, step, span = head
    whole = span_of(children)
    parallel = keyword.type == "META_FOR"
    found = Loop(start, condition, step, _body(body, keyword), parallel, keyword, span, whole)
    return Part((known(found),), whole, "other")


def header(children: Children) -> tuple[tuple[Declare | Evaluate, ...], Expr | None, Expr | None, Span]:
    start, first, *rest = children
    second = next(k for k, child in enumerate(rest) if isinstance(child, Token))
    condition = rest[0] if second > 0 else None
    step = rest[second + 1] if second + 1 < len(rest) else None
    begin = start[0].span if start else first.span
    return start, condition, step, begin.to(rest[-1].span)


def declared_start(children: Children) -> tuple[Declare, ...]:
    return children[0] if children else ()


def evaluated_start(children: Children) -> tuple[Evaluate, ...]:
    (expression,) = children
    found = effect(expression)
    return () if found is None else (Evaluate(expression, expression.span, found.sign),)


def switch(children: Children) -> Part:
    keyword, _, value, _, body = children
    span = span_of(children)
    return Part((known(Switch(value, _body(body, keyword), keyword, span)),), span, "other")


def case_label(children: Children) -> Part:
    span = span_of(children)
    return Part((known(Label(children[1], span)),), span, "other")


def default_label(children: Children) -> Part:
    span = span_of(children)
    return Part((known(Label(None, span)),), span, "other")


def while_loop(children: Children) -> Part:
    keyword, _, condition, _, body = children
    span = span_of(children)
    return Part((While(condition, _body(body, keyword), span),), span, "other")


def do_while(children: Children) -> Part:
    keyword, body, _, _, condition, _, _ = children
    span = span_of(children)
    return Part((DoWhile(_body(body, keyword), condition, span),), span, "other")


def break_loop(children: Children) -> Part:
    return Part((Break(children[0].span),), span_of(children), "other")


def continue_loop(children: Children) -> Part:
    return Part((Continue(children[0].span),), span_of(children), "other")


# --- parameters ----------------------------------------------------------------------------------------------


def scalar_parameter(children: Children) -> Parameter:
    head, name = of_value(children[0]), children[1]
    return Parameter(name.text, head.type, head.const, span=span_of(children))


def pointer_parameter(children: Children) -> Parameter:
    head, name = of_value(children[0]), children[-1]
    return Parameter(name.text, head.type, head.const, pointer=True, span=span_of(children))


def array_parameter(children: Children) -> Parameter:
    _, name, *dims = children
    head = of_value(children[0])
    shape = tuple(d.expression for d in dims)
    return Parameter(name.text, head.type, head.const, dims=shape, span=span_of(children))


def row_pointer_parameter(children: Children) -> Parameter:
    """``float (*a)[n]`` is ``float a[][n]``"""
    name = next(child for child in children if isinstance(child, Token) and child.type == "NAME")
    shape = (None, *(child.expression for child in children if isinstance(child, Dimension)))
    head = of_value(children[0])
    return Parameter(name.text, head.type, head.const, dims=shape, span=span_of(children))


ACTIONS: dict[str, Callable[[Children], Any]] = {
    action.__name__: action
    for action in (
        region,
        declare,
        declaration,
        bare_declarator,
        initialised_declarator,
        listed_declarator,
        open_declarator,
        bare_pointer,
        initialised_pointer,
        initialiser,
        evaluate,
        atomic_update,
        empty,
        block,
        if_then,
        if_else,
        loop,
        while_loop,
        do_while,
        break_loop,
        continue_loop,
        header,
        declared_start,
        evaluated_start,
        switch,
        case_label,
        default_label,
        scalar_parameter,
        pointer_parameter,
        array_parameter,
        row_pointer_parameter,
    )
} | EXPRESSION_ACTIONS
"""The action of each rule, by the name of the rule or of its alternative."""
