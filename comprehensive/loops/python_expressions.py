"""Expressions as Python source with C semantics.

In: an expression and the types of its names.  Out: a Python expression with the type of its value in C; helper
functions and constants that it needs go to a :class:`Writer`.  Example: for ``int i, n`` the value of ``i*n`` is ::

    (_t if -2147483648 <= (_t := v_i * v_n) < 2147483648 else _overflow(7))

where 7 is the number of the span in a :class:`SpanTable`.  C names carry a prefix: ``v_`` scalars, ``a_`` arrays
(flat lists), ``d_a_1`` the extent of dimension 1 of ``a``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np
from msgspec import Struct, field

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.loops import arithmetic
from comprehensive.loops.arithmetic import FUNCTIONS, KINDS, TO_INTEGERS, SpanTable
from comprehensive.loops.ir import Array
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
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.records import replace

_MAX_DEPTH = 60  # CPython's tokenizer takes 200 nested parentheses; a level of ours opens at most two
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


class Code(Struct, frozen=True):
    """A Python expression for the value of a C expression of this type."""

    text: str
    type: ScalarType
    depth: int = 1


class Writer(Struct):
    """Collects the lines of one Python function; mutable, and thrown away after compilation."""

    spans: SpanTable = field(default_factory=SpanTable)
    lines: list[str] = field(default_factory=list[str])
    line_spans: list[Span] = field(default_factory=list[Span])
    prologue: list[str] = field(default_factory=list[str])
    """Definitions of helper functions for expressions that are too deep for one Python expression."""
    constants: dict[str, Any] = field(default_factory=dict[str, Any])
    extents: dict[Expr, str] = field(default_factory=dict[Expr, str])
    """The variables that have the extents of the loops of the grid and of bands."""
    backwards: bool = False
    """Whether these loops run from their last turn to the first."""
    level: int = 1

    def line(self, text: str, span: Span = GENERATED) -> None:
        self.lines.append(" " * self.level + text)
        self.line_spans.append(span)

    def names(self) -> dict[str, Any]:
        """The global names of the compiled function."""
        spans = self.spans
        return {
            **self.constants,
            "_f32": np.float32,
            "_int_to_float": arithmetic.int_to_float,
            "_as_half": arithmetic.as_half,
            "_as_bfloat16": arithmetic.as_bfloat16,
            "_divide_double": arithmetic.divide_double,
            "_fma_float": arithmetic.fma_float,
            "_overflow": spans.overflow,
            "_endless": spans.endless,
            "_bounds": spans.bounds,
            "_uninitialised": spans.uninitialised,
            "_divide": spans.divide,
            "_remainder": spans.remainder,
            "_shift_left": spans.shift_left,
            "_shift_right": spans.shift_right,
            "_truncate": spans.truncate,
            "_absolute": spans.absolute,
            **{f"_fn_{name}": function for name, function in (FUNCTIONS | KINDS).items()},
        }


class ExprCompiler(Struct, frozen=True):
    """Compiles expressions where names have the given types.

    Elements of ``local`` arrays may have no value yet; ``data`` are the arrays of the nest.
    """

    writer: Writer
    types: Mapping[str, ScalarType]
    local: frozenset[str] = frozenset()
    data: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def value(self, expr: Expr, to: ScalarType | None = None) -> Code:
        """The value of an expression, converted to a type if one is given."""
        code = self._value(expr)
        if to is not None:
            code = self.convert(code, to, expr.span)
        if code.depth > _MAX_DEPTH:
            name = f"_e{len(self.writer.prologue)}"
            self.writer.prologue.append(f" def {name}(): return {code.text}")
            code = Code(f"{name}()", code.type)
        return code

    def condition(self, expr: Expr) -> Code:
        """A Python expression that is true where the C expression is not 0."""
        match expr:
            case Unary(operator="!"):
                operand = self.condition(expr.operand)
                return Code(f"(not {operand.text})", ScalarType.INT, operand.depth + 1)
            case Binary(operator="&&" | "||"):
                left, right = self.condition(expr.left), self.condition(expr.right)
                word = "and" if expr.operator == "&&" else "or"
                return self._binary(left, word, right, ScalarType.INT)
            case Binary() if expr.operator in _COMPARISONS:
                left, right = self._operands(expr)
                return self._binary(left, expr.operator, right, ScalarType.INT)
            case _:
                return self.value(expr)

    def convert(self, code: Code, to: ScalarType, span: Span) -> Code:
        """The conversion of C11 6.3.1; what does not fit into an integer type wraps, as gcc and CUDA define it."""
        source, text = code.type, code.text
        if source is to:
            return code
        match to:
            case ScalarType.BOOL:
                text = f"(1 if {text} else 0)"
            case ScalarType.DOUBLE:
                text = f"float({text})"
            case ScalarType.FLOAT if source.is_storage:
                return replace(code, type=to)
            case ScalarType.FLOAT:
                text = f"_int_to_float({text})" if source.is_wide else f"_f32({text})"
            case ScalarType.HALF | ScalarType.BFLOAT16:
                if source.is_integer:
                    code = self.convert(code, ScalarType.FLOAT, span)
                function = "_as_half" if to is ScalarType.HALF else "_as_bfloat16"
                return Code(f"{function}({code.text})", to, code.depth + 1)
            case _ if not source.is_integer:
                text = f"_truncate({text}, {to.lowest}, {to.highest}, {self.writer.spans.add(span)})"
            case _ if to.holds(source):
                return replace(code, type=to)
            case _:
                return wrapped(code, to)
        return Code(text, to, code.depth + 1)

    def place(self, index: Index) -> Code:
        """The flat position of an element, every subscript checked against its extent."""
        array, depth, text = index.array, 0, ""
        if array not in self.local and array in self.data and not self.data[array].whole_rows:
            return self._place_in_view(index)
        for dimension, subscript in enumerate(index.subscripts):
            code = self.value(subscript)
            extent = f"d_{array}_{dimension}"
            number = self.writer.spans.add(subscript.span, f"'{array}'")
            otherwise = f"_bounds({number}, _t, {dimension}, {extent})"
            checked = f"(_t if 0 <= (_t := {code.text}) < {extent} else {otherwise})"
            text = checked if dimension == 0 else f"({text} * {extent} + {checked})"
            depth = max(depth, code.depth) + 1
        return Code(text, ScalarType.LONG, depth)

    def _place_in_view(self, index: Index) -> Code:
        """The same where only the data has an extent: a subscript may leave its row, as it may in the program."""
        array, depth, text = index.array, 0, "0"
        for dimension, subscript in enumerate(index.subscripts):
            code = self.value(subscript)
            text = code.text if dimension == 0 else f"({text} * d_{array}_{dimension} + {code.text})"
            depth = max(depth, code.depth) + 1
        number = self.writer.spans.add(index.span, f"'{array}'")
        checked = f"(_t if 0 <= (_t := {text}) < d_{array}_0 else _bounds({number}, _t, 0, d_{array}_0))"
        return Code(checked, ScalarType.LONG, depth + 1)

    def _value(self, expr: Expr) -> Code:
        match expr:
            case IntLiteral():
                return Code(str(expr.value) if expr.value >= 0 else f"({expr.value})", expr.type)
            case FloatLiteral():
                name = f"_k{len(self.writer.constants)}"
                self.writer.constants[name] = arithmetic.float_literal(expr.text, expr.type)
                return Code(name, expr.type)
            case Name():
                return Code(f"v_{expr.identifier}", self.types[expr.identifier])
            case Index():
                return self._element(expr)
            case Cast():
                return self.value(expr.operand, expr.type)
            case Conditional():
                type = common_type(self._type(expr.then), self._type(expr.otherwise))
                condition = self.condition(expr.condition)
                then, otherwise = self.value(expr.then, type), self.value(expr.otherwise, type)
                text = f"({then.text} if {condition.text} else {otherwise.text})"
                return Code(text, type, 1 + max(then.depth, condition.depth, otherwise.depth))
            case Call():
                return self._call(expr)
            case Unary(operator="!"):
                return self._truth(self.condition(expr))
            case Unary():
                return self._unary(expr)
            case Binary():
                if expr.operator in _COMPARISONS or expr.operator in ("&&", "||"):
                    return self._truth(self.condition(expr))
                return self._arithmetic(expr)
            case _:
                assert_never(expr)

    def _type(self, expr: Expr) -> ScalarType:
        return type_of(expr, self.types)

    def _truth(self, condition: Code) -> Code:
        return Code(f"(1 if {condition.text} else 0)", ScalarType.INT, condition.depth + 1)

    def _binary(self, left: Code, operator: str, right: Code, type: ScalarType) -> Code:
        return Code(f"({left.text} {operator} {right.text})", type, 1 + max(left.depth, right.depth))

    def _operands(self, expr: Binary) -> tuple[Code, Code]:
        type = common_type(self._type(expr.left), self._type(expr.right))
        return self.value(expr.left, type), self.value(expr.right, type)

    def _element(self, index: Index) -> Code:
        place = self.place(index)
        return Code(self.element(index, place.text), self.types[index.array], place.depth + 1)

    def element(self, index: Index, place: str) -> str:
        """The element of ``index`` at a flat position; what has no value yet is an error."""
        text = f"a_{index.array}[{place}]"
        if index.array not in self.local:
            return text
        number = self.writer.spans.add(index.span, f"'{index.array}'")
        return f"(_t if (_t := {text}) is not None else _uninitialised({number}))"

    def _unary(self, expr: Unary) -> Code:
        type = promote(self._type(expr.operand))
        operand = self.value(expr.operand, type)
        if expr.operator == "+":
            return operand
        if type.is_integer:
            return self._checked(f"{expr.operator}{operand.text}", type, operand.depth, expr.span)
        return Code(f"({expr.operator}{operand.text})", type, operand.depth + 1)

    def _arithmetic(self, expr: Binary) -> Code:
        if expr.operator in ("<<", ">>"):
            left = self.value(expr.left, promote(self._type(expr.left)))
            return self.shift(expr.operator, left, expr.right, expr.span)
        left, right = self._operands(expr)
        return self.combine(expr.operator, left, right, expr.span)

    def shift(self, operator: str, left: Code, amount: Expr, span: Span) -> Code:
        """A shift of a promoted operand."""
        function = "_shift_left" if operator == "<<" else "_shift_right"
        return self._helper(function, left, self.value(amount), f"{left.type.lowest}, ", span)

    def combine(self, operator: str, left: Code, right: Code, span: Span) -> Code:
        """Return ``left operator right`` for two operands that are already of one type."""
        type, depth = left.type, max(left.depth, right.depth)
        if type.is_integer:
            if operator in ("/", "%"):
                return self._helper("_divide" if operator == "/" else "_remainder", left, right, "", span)
            if operator in ("&", "|", "^"):
                return self._binary(left, operator, right, type)
            return self._checked(f"{left.text} {operator} {right.text}", type, depth, span)
        if operator == "/" and type is ScalarType.DOUBLE:
            return Code(f"_divide_double({left.text}, {right.text})", type, depth + 1)
        return self._binary(left, operator, right, type)

    def _helper(self, function: str, left: Code, right: Code, low: str, span: Span) -> Code:
        number = self.writer.spans.add(span)
        text = f"{function}({left.text}, {right.text}, {low}{left.type.highest}, {number})"
        return Code(text, left.type, 1 + max(left.depth, right.depth))

    def _checked(self, text: str, type: ScalarType, depth: int, span: Span) -> Code:
        if type.wraps:
            return Code(f"(({text}) & {type.highest})", type, depth + 1)
        number = self.writer.spans.add(span)
        text = f"(_t if {type.lowest} <= (_t := {text}) < {type.highest + 1} else _overflow({number}))"
        return Code(text, type, depth + 1)

    def _call(self, expr: Call) -> Code:
        function, type = expr.function, MATH[expr.function].result
        wanted = MATH[function].wanted([promote(self._type(a)) for a in expr.arguments])
        arguments = [self.value(a, t) for a, t in zip(expr.arguments, wanted, strict=True)]
        listed = ", ".join(a.text for a in arguments)
        depth = 2 + max(a.depth for a in arguments)
        if function in KINDS:
            text = f"_fn_{function}({listed})"
        elif (rounding := TO_INTEGERS.get(function.removesuffix("f"))) is not None:
            limits = f"{type.lowest}, {type.highest}, {self.writer.spans.add(expr.span)}"
            text = f"_truncate(_fn_{rounding}(float({listed})), {limits})"
        elif type.is_integer:
            text = f"_absolute({listed}, {type.highest}, {self.writer.spans.add(expr.span)})"
        elif type is ScalarType.DOUBLE:
            text = f"_fn_{function}({listed})"
        elif function == "fmaf":
            text = f"_fma_float({listed})"
        else:
            listed = ", ".join(f"float({a.text})" for a in arguments)
            text = f"_f32(_fn_{function[:-1]}({listed}))"
        return Code(text, type, depth)


def wrapped(code: Code, to: ScalarType) -> Code:
    """An integer modulo ``2**n``, in the range of an integer type of ``n`` bits."""
    mask = 2**to.bits - 1
    text = f"({code.text} & {mask})"
    if to.is_signed:
        text = f"((({code.text} + {-to.lowest}) & {mask}) - {-to.lowest})"
    return Code(text, to, code.depth + 2)
