"""Expressions: names, ranks and types.

In: an expression and the scope in which it stands.  Out: its type, or None after errors (CF0201-CF0206, CF0212,
CF0214, CF0221), each reported once; a warning (CF0222) for constants that their type does not hold.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import assert_never

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Fix, Note, Span
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
from comprehensive.metafork.constants import (
    Constant,
    Folded,
    NoValue,
    changed_by,
    constant,
    constant_value,
    without_value,
)
from comprehensive.metafork.functions import MATH, TRUTHS
from comprehensive.metafork.literals import shorten
from comprehensive.metafork.precedence import INTEGER_ONLY, LOGICAL
from comprehensive.metafork.preprocessor.includes import defining_header
from comprehensive.metafork.scalar_types import common_type, promote, result_type
from comprehensive.metafork.scope import Kind, Scope
from comprehensive.records import replace

_LIKENESS = 0.6
"""The part of two names that must agree, as difflib measures it: 'cout' and 'count' have 0.89, 'xs' and 'x' 0.67."""
_LIKENESS_OF_FUNCTIONS = 0.8
"""The same of functions, of which there are many: 'sqrrf' and 'sqrtf' have 0.8, 'foo' and 'floor' 0.75."""


class NamesOutside(Struct, frozen=True):
    """Names that are there but that a region cannot use: declared in other words of C, or macros.

    ``missing`` are files that the program includes and that were not found; ``of_file`` is declared at file level.
    """

    opaque: frozenset[str]
    macros: frozenset[str]
    missing: tuple[str, ...] = ()
    of_file: frozenset[str] = frozenset()

    def help_for(self, name: str, otherwise: str) -> str:
        if name in self.macros:
            return (
                f"the macro '{name}' comes back to itself, or lacks its arguments: write what it stands for"
            )
        if name in self.opaque:
            return "its declaration is not one that regions can use; the types are those of parameters"
        if name in self.of_file:
            return (
                f"'{name}' of the file is no scalar, pointer or array of constant extents that this file defines with "
                "a type of regions: pass it as a parameter"
            )
        header = defining_header(name)
        if header is not None:
            return f"add '#include <{header}>', which defines it"
        return self.help_if_missing(otherwise)

    def help_if_missing(self, otherwise: str) -> str:
        """Return what to do about a name that a file which was not found may define."""
        if not self.missing:
            return otherwise
        files = ", ".join(f"'{name}'" for name in self.missing)
        return f"{otherwise}; where {files} defines it, say where that is with -I DIR"


class ExpressionChecker(Struct, frozen=True):
    outside: NamesOutside
    sink: DiagnosticSink
    knows_arguments: bool = True
    """Whether what data is can be seen, of which only some may be null; it cannot in a function that regions call."""
    is_reached: bool = True
    """Whether it can run; of what a constant condition keeps from that, names and types alone are checked."""

    def where(self, condition: Expr, wanted: bool) -> ExpressionChecker:
        """The checker of what runs where a condition is true, or, unless ``wanted``, false."""
        value = constant_value(condition)
        return self if value is None or bool(value) == wanted else replace(self, is_reached=False)

    def integer(self, expression: Expr, scope: Scope, what: str) -> None:
        """An expression that must have an integer type; ``what`` it is begins the message."""
        kind = self.type_of(expression, scope)
        if kind is not None and not kind.is_integer:
            text = f"{what} must be an integer, this is {kind.value}"
            fix = Fix.around("cast it: (int)(...)", expression.span, "(int)(", ")")
            self.sink.error("CF0212", text, expression.span, fix=fix)

    def truth_of(self, condition: Expr, scope: Scope) -> ScalarType | None:
        """The type of an expression of which is asked only whether it is 0."""
        match condition:
            case Call(function) if function in TRUTHS:
                return self._call(condition, scope)
            case Name() if self._is_asked_for(condition, condition, scope):
                return ScalarType.INT
            case _:
                return self.type_of(condition, scope)

    def type_of(self, expression: Expr, scope: Scope) -> ScalarType | None:
        match expression:
            case IntLiteral(_, kind) | FloatLiteral(_, kind):
                return kind
            case Name():
                return self._name(expression, scope)
            case Index():
                return self._index(expression, scope)
            case Unary(operator, operand):
                kind = (self.truth_of if operator == "!" else self.type_of)(operand, scope)
                self._needs_integers(operator, (operand, kind))
                return ScalarType.INT if operator in LOGICAL else None if kind is None else promote(kind)
            case Binary("==" | "!=", Name() as pointer, Name("NULL") | IntLiteral(0)) | Binary(
                "==" | "!=", Name("NULL") | IntLiteral(0), Name() as pointer
            ) if self._is_asked_for(pointer, expression, scope):
                return ScalarType.INT
            case Binary(operator, left, right):
                behind = self.where(left, operator == "&&") if operator in ("&&", "||") else self
                asks = _asks_for_0(expression)
                first = (self.truth_of if asks else self.type_of)(left, scope)
                second = (behind.truth_of if asks else behind.type_of)(right, scope)
                self._needs_integers(operator, (left, first), (right, second))
                self.has_a_value(operator, first, right, constant(expression), expression.span)
                return None if first is None or second is None else result_type(operator, first, second)
            case Conditional(condition, then, otherwise):
                self.truth_of(condition, scope)
                first = self.where(condition, True).type_of(then, scope)
                second = self.where(condition, False).type_of(otherwise, scope)
                return None if first is None or second is None else common_type(first, second)
            case Cast(kind, operand):
                (self.truth_of if kind is ScalarType.BOOL else self.type_of)(operand, scope)
                return kind
            case Call(function) if function in TRUTHS:
                self.sink.error(
                    "CF0235",
                    f"C leaves open which value '{function}' has where it is not 0",
                    expression.span,
                    fix=Fix.around("ask whether it is 0: (... != 0)", expression.span, "(", " != 0)"),
                )
                return ScalarType.INT
            case Call():
                return self._call(expression, scope)
            case _:
                assert_never(expression)

    def has_a_value(
        self, operator: str, left: ScalarType | None, right: Expr, result: Folded, span: Span
    ) -> None:
        """CF0221 for an operation whose ``result`` C leaves undefined, or whatever is on its left."""
        found = result if left is None else without_value(operator, left, right) or result
        if isinstance(found, NoValue) and self.is_reached:
            self.sink.error("CF0221", f"C gives this no value: {found.reason}", span, help=found.remedy)

    def keeps_value(self, value: Expr, kind: ScalarType) -> None:
        """CF0222 for a constant that becomes another number in the integer type in which it is stored."""
        found = constant(value)
        if not isinstance(found, Constant) or not kind.is_integer or not self.is_reached:
            return
        stored = changed_by(found, kind)
        if stored is not None:
            text = f"{found.value} becomes {stored} in {kind.value}"
            help_text = "write the number that is meant, or declare a type that holds it"
            self.sink.warning("CF0222", text, value.span, help=help_text)

    def _needs_integers(self, operator: str, *operands: tuple[Expr, ScalarType | None]) -> None:
        if operator not in INTEGER_ONLY:
            return
        for operand, kind in operands:
            if kind is not None and not kind.is_integer:
                text = f"'{operator}' needs integers, this is {kind.value}"
                help_text = "cast to int, or use another operation"
                self.sink.error("CF0212", text, operand.span, help=help_text)

    def _name(self, name: Name, scope: Scope) -> ScalarType | None:
        symbol = scope.get(name.identifier)
        if symbol is None:
            self.sink.error(
                "CF0201",
                f"'{shorten(name.identifier)}' is not declared",
                name.span,
                help=self.outside.help_for(
                    name.identifier, "declare it as a parameter of the function, or correct its name"
                ),
                fix=_nearest_name(name.identifier, name.span, scope, arrays=False),
            )
            return None
        if symbol.is_array:
            self.sink.error(
                "CF0205",
                f"the array '{name.identifier}' is used without subscripts",
                name.span,
                notes=(Note("declared here", symbol.span),),
                help=f"write {_subscripted(name.identifier, symbol.rank)}",
            )
            return None
        return symbol.type

    def _is_asked_for(self, pointer: Name, question: Expr, scope: Scope) -> bool:
        """Whether a question is whether data is there that is no parameter, CF0205, or not seen here."""
        name = pointer.identifier
        symbol = scope.get(name)
        if symbol is None or symbol.kind is not Kind.DATA:
            return False
        if self.knows_arguments:
            self.sink.error(
                "CF0205",
                f"a region cannot ask whether '{name}' is null, which is not what the caller has passed",
                question.span,
                notes=(Note("declared here", symbol.span),),
                help="ask it of a pointer parameter that host code leaves as it is, or remove the question",
            )
        return True

    def _index(self, index: Index, scope: Scope) -> ScalarType | None:
        for subscript in index.subscripts:
            self.integer(subscript, scope, "a subscript")
        symbol = scope.get(index.array)
        if symbol is None:
            self.sink.error(
                "CF0203",
                f"array '{shorten(index.array)}' is not declared",
                index.span,
                help=self.outside.help_for(
                    index.array, "declare it as a parameter of the function, or correct its name"
                ),
                fix=_nearest_name(index.array, index.span, scope, arrays=True),
            )
            return None
        if not symbol.is_array:
            self.sink.error(
                "CF0206",
                f"'{index.array}' is a scalar and takes no subscripts",
                index.span,
                notes=(Note("declared here", symbol.span),),
                help="remove the subscripts, or declare it as an array",
            )
            return None
        if len(index.subscripts) != symbol.rank:
            given = len(index.subscripts)
            self.sink.error(
                "CF0204",
                f"the array '{index.array}' takes {symbol.rank} subscript{'s' * (symbol.rank != 1)}, not {given}",
                index.span,
                notes=(Note("declared here", symbol.span),),
                help=f"write {_subscripted(index.array, symbol.rank)}",
            )
        return symbol.type

    def _call(self, call: Call, scope: Scope) -> ScalarType | None:
        for argument in call.arguments:
            self.type_of(argument, scope)
        signature = MATH.get(call.function)
        if signature is None:
            if call.function == "assert":
                help_text = "put the assert before the region"
            else:
                help_text = self.outside.help_for(call.function, _known_functions(call.function))
            self.sink.error(
                "CF0202", f"function '{shorten(call.function)}' is not known", call.span, help=help_text
            )
            return None
        wanted, given = len(signature.arguments), len(call.arguments)
        if wanted != given:
            self.sink.error(
                "CF0214",
                f"'{call.function}' takes {wanted} argument{'s' * (wanted != 1)}, not {given}",
                call.span,
                help=f"its prototype is {_prototype(call.function)}",
            )
        return signature.result


def _known_functions(name: str) -> str:
    """Return what to write in place of a function that is not known: its name spelt right, if it is nearly one."""
    match get_close_matches(name, MATH, 3, _LIKENESS):
        case [nearest, *_] if get_close_matches(name, [nearest], 1, _LIKENESS_OF_FUNCTIONS):
            return f"write '{nearest}', or define '{name}' in the file"
        case [*near]:
            alike = f", such as {', '.join(map(repr, near))}" if near else ""
            return f"define it in the file, or use one of the pure functions of <math.h>{alike}"


def _asks_for_0(operation: Binary) -> bool:
    """Whether an operation looks only at whether its operands are 0."""
    if operation.operator in ("&&", "||"):
        return True
    sides = (operation.left, operation.right)
    return operation.operator in ("==", "!=") and any(
        isinstance(s, IntLiteral) and s.value == 0 for s in sides
    )


def _subscripted(name: str, rank: int) -> str:
    """``a[i][j]``"""
    return name + "".join(f"[{'ijklmnpq'[k % 8]}]" for k in range(rank))


def _prototype(function: str) -> str:
    signature = MATH[function]
    arguments = "x" if signature.of_any_width else ", ".join(kind.value for kind in signature.arguments)
    return f"{signature.result.value} {function}({arguments})"


def _nearest_name(name: str, span: Span, scope: Scope, *, arrays: bool) -> Fix | None:
    """Write the name in scope that is almost the same, an array or none; ``span`` begins with the name."""
    known = [other for other, symbol in scope.all().items() if symbol.is_array == arrays]
    close = get_close_matches(name, known, 1, _LIKENESS)
    place = replace(span, end=span.start + len(name))
    # What comes out of a macro has the place of its use.
    return Fix.write(place, close[0]) if close and place.text == name else None
