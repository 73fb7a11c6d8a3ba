"""The actions of the grammar for expressions, types and extents.

In: the values of the parts of a rule, punctuation included.  Out: an expression, with the effects in it as
:mod:`written` has them; what cannot be an expression is an error::

    unary (operator unary)*  -->  Binary(...), by precedence
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Row
from typing import Any, NamedTuple, TypeAlias

from comprehensive.diagnostics import DiagnosticSink, Edit, Fix, Span
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
from comprehensive.metafork.functions import CONVERSIONS, NOT_A_NUMBER
from comprehensive.metafork.literals import (
    SUPPORTED_TYPES,
    character_literal,
    float_literal,
    integer_literal,
    scalar_type,
    type_fix,
    type_to_use,
)
from comprehensive.metafork.pointer_places import address, element, place
from comprehensive.metafork.precedence import PRECEDENCE
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.written import Discarded, Sequence, SizeOf, Update, discarded, effect, known, size
from comprehensive.records import replace


class TypeName(NamedTuple):
    """``[const] type`` with the other qualifiers that stood there."""

    type: ScalarType
    const: bool
    span: Span
    void: Token | None = None
    """The only word of ``void``, which is no type of a value: :func:`of_value` reports it."""


class Dimension(NamedTuple):
    expression: Expr | None
    span: Span


Children: TypeAlias = Row[Any]
"""The values of the parts of a rule: tokens and what the actions return; the grammar says which stands where."""


def span_of(children: Children) -> Span:
    return children[0].span.to(children[-1].span)


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
    if [token.text for token in children] == ["void"]:
        return TypeName(ScalarType.INT, False, span_of(children), children[0])
    if found is None:
        shown = " ".join(token.text for token in children)
        if words:
            _not_supported(shown, span_of(children), sink)
        else:
            help_text = f"name the type: {SUPPORTED_TYPES}"
            sink.error("CF0117", f"'{shown}' alone names no type", span_of(children), help=help_text)
    return TypeName(found or ScalarType.INT, any(q.text == "const" for q in qualifiers), span_of(children))


def _not_supported(shown: str, span: Span, sink: DiagnosticSink) -> None:
    text = f"type '{shown}' is not supported"
    sink.error("CF0117", text, span, help=type_to_use(shown), fix=type_fix(span))


def of_value(head: TypeName) -> TypeName:
    """Return the type of a value; CF0117 for ``void``."""
    if head.void is not None:
        _not_supported("void", head.span, head.void.origin.sink)
    return head


def dimension(children: Children) -> Dimension:
    return Dimension(children[1], span_of(children))


def open_dimension(children: Children) -> Dimension:
    return Dimension(None, span_of(children))


def given_dimension(children: Children) -> Dimension:
    return Dimension(pure(children[-2]), span_of(children))


def condition(children: Children) -> Expr:
    return pure(children[0])


def pure(expression: Expr) -> Expr:
    """An expression before which no statement can stand; CF0116 where it has effects."""
    unknown = size(expression)
    if unknown is not None:
        text = "sizeof a variable is not supported here"
        unknown.sign.origin.sink.error("CF0124", text, unknown.sign.span, help="write sizeof of its type")
    dropped = discarded(expression)
    if dropped is not None:
        dropped.report()
    found = effect(expression)
    if found is not None:
        text = "an assignment cannot be part of this expression"
        found.sign.origin.sink.error(
            "CF0116", text, found.sign.span, help="write it as a statement of its own"
        )
    return expression


def sequence(children: Children) -> Sequence:
    first, sign, value = children
    return Sequence(first, value, None, sign, span_of(children))


def assigned(children: Children) -> Update:
    target, sign, value = children
    return Update(target, sign.text, value, sign, span_of(children))


def stepped_before(children: Children) -> Update:
    sign, target = children
    return Update(target, sign.text[0] + "=", IntLiteral(1, span=sign.span), sign, span_of(children))


def stepped_after(children: Children) -> Sequence:
    target, sign = children
    span = span_of(children)
    update = Update(target, sign.text[0] + "=", IntLiteral(1, span=sign.span), sign, span)
    return Sequence(None, target, update, sign, span)


def size_of_type(children: Children) -> Expr:
    kind = ScalarType.UNSIGNED_LONG
    if len(children) > 4:  # with a star
        return IntLiteral(8, kind, span_of(children))
    return IntLiteral(of_value(children[2]).type.size_bytes, kind, span_of(children))


def size_of_value(children: Children) -> SizeOf:
    return SizeOf(children[1], children[0], span_of(children))


def conditional(children: Children) -> Expr:
    test, _, then, _, otherwise = children
    return Conditional(test, then, otherwise, span_of(children))


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
    return Unary(children[0].text, children[1], span_of(children))


def cast(children: Children) -> Expr:
    head: TypeName = children[1]
    if head.void is not None:
        return known(Discarded(children[3], head.void, span_of(children)))
    return Cast(children[1].type, children[3], span_of(children))


def name(children: Children) -> Expr:
    return Name(children[0].text, children[0].span)


def index(children: Children) -> Expr:
    return Index(children[0].text, tuple(d.expression for d in children[1:]), span_of(children))


def subscripted(children: Children) -> Expr:
    """``(a)[i]``, ``(a + k)[i][j]``, as macros write it: the element that is so far behind what is in parentheses."""
    opening, pointer, _, *dimensions = children
    part = place(pointer)
    if part is None:
        text = "only an array, or one and an offset, can have a subscript"
        opening.origin.sink.error("CF0113", text, pointer.span, help="write a[i], or (a + k)[i]")
        return IntLiteral(0, span=span_of(children))
    first, *others = (d.expression for d in dimensions)
    first = first if part.offset is None else Binary("+", part.offset, first, first.span)
    return Index(part.array, (*part.subscripts, first, *others), span_of(children))


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
        return IntLiteral(0, span=span_of(children))
    found = replace(found, span=span_of(children))
    return found if first is None and then is None else known(Sequence(first, found, then, sign, found.span))


def address_of(children: Children) -> Expr:
    sign, operand = children
    found = address(operand)
    if found is None:
        text = "the address of what is no local variable and no element of an array cannot be taken"
        help = "copy it to a local variable of the region before, and take the address of that"
        sign.origin.sink.error("CF0113", text, sign.span, help=help)
        return operand
    return replace(found, span=span_of(children))


def call(children: Children) -> Expr:
    function, arguments, span = children[0].text, tuple(children[2:-1:2]), span_of(children)
    if function == NOT_A_NUMBER and not arguments:
        return FloatLiteral("nan", ScalarType.FLOAT, span)
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
    return replace(children[1], span=span_of(children))


EXPRESSION_ACTIONS: dict[str, Callable[[Children], Any]] = {
    action.__name__: action
    for action in (
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
        cast,
        name,
        index,
        subscripted,
        dereferenced,
        address_of,
        call,
        integer,
        floating,
        character,
        parenthesised,
    )
} | {"type": type_name}
"""The action of each of these rules, by the name of the rule or of its alternative."""
