"""The actions of the grammar: what each rule of ``specs/metafork.lark`` becomes.

In: the values of the parts of a rule, punctuation included.  Out: a node of the tree, or one of the small records
below for what is part of a node.  Every function is pure but for errors, which go to the sink that the tokens
carry::

    statement FOR LPAR header RPAR statement  -->  Loop(...)
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Row
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from comprehensive.diagnostics import Edit, Fix, Span
from comprehensive.metafork.ast import (
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    If,
    Index,
    Initialiser,
    IntLiteral,
    Name,
    Parameter,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.functions import CONVERSIONS
from comprehensive.metafork.literals import (
    SUPPORTED_TYPES,
    character_literal,
    float_literal,
    integer_literal,
    scalar_type,
    type_fix,
    type_to_use,
)
from comprehensive.metafork.local_pointers import address, element
from comprehensive.metafork.precedence import PRECEDENCE
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.written import (
    Evaluate,
    Label,
    Loop,
    Sequence,
    SizeOf,
    Switch,
    Update,
    effect,
    known,
    size,
)


class TypeName(NamedTuple):
    """``[const] type`` with the other qualifiers that stood there."""

    type: ScalarType
    const: bool
    span: Span


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


class Dimension(NamedTuple):
    expression: Expr | None
    span: Span


Children: TypeAlias = Row[Any]
"""The values of the parts of a rule: tokens and what the actions return; the grammar says which stands where."""


def _span(children: Children) -> Span:
    return children[0].span.to(children[-1].span)


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
    head: TypeName = children[0]
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
    return Declarator(children[0], tuple(d.expression for d in children[1:]), None, _span(children))


def initialised_declarator(children: Children) -> Declarator:
    return Declarator(children[0], tuple(d.expression for d in children[1:-2]), children[-1], _span(children))


def listed_declarator(children: Children) -> Declarator:
    dims = tuple(d.expression for d in children[1:-2])
    return Declarator(children[0], dims, None, _span(children), children[-1])


def open_declarator(children: Children) -> Declarator:
    dims = (IntLiteral(0, span=children[1].span), *(d.expression for d in children[3:-2]))
    return Declarator(children[0], dims, None, _span(children), children[-1], is_open=True)


def bare_pointer(children: Children) -> Declarator:
    return Declarator(children[-1], (), None, _span(children), is_pointer=True)


def initialised_pointer(children: Children) -> Declarator:
    return Declarator(children[-3], (), children[-1], _span(children), is_pointer=True)


def initialiser(children: Children) -> Initialiser:
    return Initialiser(tuple(c for c in children if not isinstance(c, Token)), _span(children))


def _with_blanks(span: Span) -> Span:
    """The span with the blanks behind it: what is removed leaves none."""
    behind = span.file.text[span.end :]
    return replace(span, end=span.end + len(behind) - len(behind.lstrip(" \t")))


def type_name(children: Children) -> TypeName:
    words = [token.text for token in children if token.type == "TYPE_WORD"]
    qualifiers = [token for token in children if token.type == "QUALIFIER"]
    sink = children[0].origin.sink
    for token in qualifiers:
        if token.text == "static" and any(q.text == "const" for q in qualifiers):
            continue  # a constant that is made once is one that is made each time
        if token.text not in ("const", "register"):
            sink.error(
                "CF0125",
                f"'{token.text}' is not supported here",
                token.span,
                help="remove it; local variables and scalar parameters may be const, constants static const",
                fix=Fix(f"remove '{token.text}'", (Edit(_with_blanks(token.span), ""),)),
            )
    found = scalar_type(words)
    if found is None:
        shown = " ".join(token.text for token in children)
        if words:
            span = _span(children)
            text = f"type '{shown}' is not supported"
            sink.error("CF0117", text, span, help=type_to_use(shown), fix=type_fix(span))
        else:
            help_text = f"name the type: {SUPPORTED_TYPES}"
            sink.error("CF0117", f"'{shown}' alone names no type", _span(children), help=help_text)
    return TypeName(found or ScalarType.INT, any(q.text == "const" for q in qualifiers), _span(children))


def evaluate(children: Children) -> Part:
    expression, end = children
    return Part((known(Evaluate(expression, _span(children), end)),), _span(children), "other")


def atomic_update(children: Children) -> Part:
    keyword, expression, _ = children
    statement = Evaluate(expression, expression.span, keyword, atomic=True)
    return Part((known(statement),), _span(children), "other")


def empty(children: Children) -> Part:
    return Part((), children[0].span, "other")


def block(children: Children) -> Part:
    span = _span(children)
    return Part((Block(region(children[1:-1]), span),), span, "block")


def if_then(children: Children) -> Part:
    keyword, _, condition, _, then = children
    span = _span(children)
    return Part((If(condition, _body(then, keyword), (), span),), span, "other")


def if_else(children: Children) -> Part:
    keyword, _, condition, _, then, other_keyword, otherwise = children
    span = _span(children)
    statement = If(condition, _body(then, keyword), _body(otherwise, other_keyword), span)
    return Part((statement,), span, "other")


def loop(children: Children) -> Part:
    keyword, _, head, _, body = children
    start, condition, step, span = head
    whole = _span(children)
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
    span = _span(children)
    return Part((known(Switch(value, _body(body, keyword), keyword, span)),), span, "other")


def case_label(children: Children) -> Part:
    span = _span(children)
    return Part((known(Label(children[1], span)),), span, "other")


def default_label(children: Children) -> Part:
    span = _span(children)
    return Part((known(Label(None, span)),), span, "other")


def while_loop(children: Children) -> Part:
    keyword, _, condition, _, body = children
    span = _span(children)
    return Part((While(condition, _body(body, keyword), span),), span, "other")


def do_while(children: Children) -> Part:
    keyword, body, _, _, condition, _, _ = children
    span = _span(children)
    return Part((DoWhile(_body(body, keyword), condition, span),), span, "other")


def break_loop(children: Children) -> Part:
    return Part((Break(children[0].span),), _span(children), "other")


def continue_loop(children: Children) -> Part:
    return Part((Continue(children[0].span),), _span(children), "other")


# --- parameters ----------------------------------------------------------------------------------------------


def scalar_parameter(children: Children) -> Parameter:
    head, name = children
    return Parameter(name.text, head.type, head.const, span=_span(children))


def pointer_parameter(children: Children) -> Parameter:
    head, name = children[0], children[-1]
    return Parameter(name.text, head.type, head.const, pointer=True, span=_span(children))


def array_parameter(children: Children) -> Parameter:
    head, name, *dims = children
    shape = tuple(d.expression for d in dims)
    return Parameter(name.text, head.type, head.const, dims=shape, span=_span(children))


def row_pointer_parameter(children: Children) -> Parameter:
    """``float (*a)[n]`` is ``float a[][n]``"""
    name = next(child for child in children if isinstance(child, Token) and child.type == "NAME")
    shape = (None, *(child.expression for child in children if isinstance(child, Dimension)))
    return Parameter(name.text, children[0].type, children[0].const, dims=shape, span=_span(children))


def dimension(children: Children) -> Dimension:
    return Dimension(children[1], _span(children))


def open_dimension(children: Children) -> Dimension:
    return Dimension(None, _span(children))


def given_dimension(children: Children) -> Dimension:
    return Dimension(_pure(children[-2]), _span(children))


# --- expressions ---------------------------------------------------------------------------------------------


def condition(children: Children) -> Expr:
    return _pure(children[0])


def _pure(expression: Expr) -> Expr:
    """An expression before which no statement can stand; CF0116 where it has effects."""
    unknown = size(expression)
    if unknown is not None:
        text = "sizeof a variable is not supported here"
        unknown.sign.origin.sink.error("CF0124", text, unknown.sign.span, help="write sizeof of its type")
    found = effect(expression)
    if found is not None:
        text = "an assignment cannot be part of this expression"
        found.sign.origin.sink.error(
            "CF0116", text, found.sign.span, help="write it as a statement of its own"
        )
    return expression


def sequence(children: Children) -> Sequence:
    first, sign, value = children
    return Sequence(first, value, None, sign, _span(children))


def assigned(children: Children) -> Update:
    target, sign, value = children
    return Update(target, sign.text, value, sign, _span(children))


def stepped_before(children: Children) -> Update:
    sign, target = children
    return Update(target, sign.text[0] + "=", IntLiteral(1, span=sign.span), sign, _span(children))


def stepped_after(children: Children) -> Sequence:
    target, sign = children
    span = _span(children)
    update = Update(target, sign.text[0] + "=", IntLiteral(1, span=sign.span), sign, span)
    return Sequence(None, target, update, sign, span)


def size_of_type(children: Children) -> Expr:
    kind = ScalarType.UNSIGNED_LONG
    if len(children) > 4:  # with a star
        return IntLiteral(8, kind, _span(children))
    return IntLiteral(children[2].type.size_bytes, kind, _span(children))


def size_of_value(children: Children) -> SizeOf:
    return SizeOf(children[1], children[0], _span(children))


def conditional(children: Children) -> Expr:
    test, _, then, _, otherwise = children
    return Conditional(test, then, otherwise, _span(children))


def operation(children: Children) -> Expr:
    """``unary (operator unary)*`` folded by precedence; every binary operator of C associates to the left."""
    operands: list[Expr] = [children[0]]
    pending: list[str] = []

    def fold(level: int) -> None:
        while pending and PRECEDENCE[pending[-1]] >= level:
            right, left = operands.pop(), operands.pop()
            operands.append(Binary(pending.pop(), left, right, left.span.to(right.span)))

    for k in range(1, len(children), 2):
        sign: str = children[k].text
        fold(PRECEDENCE[sign])
        pending.append(sign)
        operands.append(children[k + 1])
    fold(0)
    return operands[0]


def unary_operation(children: Children) -> Expr:
    return Unary(children[0].text, children[1], _span(children))


def cast(children: Children) -> Expr:
    return Cast(children[1].type, children[3], _span(children))


def name(children: Children) -> Expr:
    return Name(children[0].text, children[0].span)


def index(children: Children) -> Expr:
    return Index(children[0].text, tuple(d.expression for d in children[1:]), _span(children))


def dereferenced(children: Children) -> Expr:
    sign, operand = children
    match operand:
        case Update(Name() as pointer):  # *++p
            found, first, then = element(pointer), operand, None
        case Sequence(first, pointer, then):  # *p++
            found = element(pointer)
        case _:
            found, first, then = element(operand), None, None
    if found is None:
        text = "only an array, or one and an offset, can be dereferenced with '*'"
        sign.origin.sink.error("CF0113", text, sign.span, help="write a[0] for *a, and a[i] for *(a + i)")
        return IntLiteral(0, span=_span(children))
    found = replace(found, span=_span(children))
    return found if first is None and then is None else known(Sequence(first, found, then, sign, found.span))


def address_of(children: Children) -> Expr:
    sign, operand = children
    found = address(operand)
    if found is None:
        text = "the address of a variable cannot be taken"
        help = "let a function return its value, one function for each; elements of arrays are a[i], or &a[i]"
        sign.origin.sink.error("CF0113", text, sign.span, help=help)
        return operand
    return replace(found, span=_span(children))


def call(children: Children) -> Expr:
    function, arguments, span = children[0].text, tuple(children[2:-1:2]), _span(children)
    conversion = CONVERSIONS.get(function)
    if conversion is not None and len(arguments) == 1:
        (given,) = conversion.arguments
        return Cast(conversion.result, Cast(given, arguments[0], span), span)
    return Call(function, arguments, span)


def integer(children: Children) -> Expr:
    token: Token = children[0]
    return _literal(token, integer_literal(token.text, token.span))


def floating(children: Children) -> Expr:
    token: Token = children[0]
    return _literal(token, float_literal(token.text, token.span))


def character(children: Children) -> Expr:
    token: Token = children[0]
    return _literal(token, character_literal(token.text, token.span))


def _literal(token: Token, found: Expr | str) -> Expr:
    if not isinstance(found, str):
        return found
    help_text = "integers are decimal, hexadecimal or octal with suffix u or l; floats have suffix f or none"
    token.origin.sink.error("CF0123", found, token.span, help=help_text)
    return IntLiteral(0, span=token.span)


def parenthesised(children: Children) -> Expr:
    return replace(children[1], span=_span(children))


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
        dimension,
        open_dimension,
        given_dimension,
        condition,
        sequence,
        assigned,
        stepped_before,
        stepped_after,
        size_of_type,
        size_of_value,
        conditional,
        operation,
        unary_operation,
        dereferenced,
        address_of,
        cast,
        name,
        index,
        call,
        integer,
        floating,
        character,
        parenthesised,
    )
} | {"type": type_name}
"""The action of each rule, by the name of the rule or of its alternative."""
