"""Names and types: every name is declared, used as what it is, and written only where it may be.

In: a function and one of its regions.  Out: CF02xx errors.  Within a region no name hides another one, since variables
that do so have got other names (:mod:`sequencing`); later stages may move and substitute statements without renaming.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, DiagnosticSink, Note, Span
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    Function,
    If,
    Index,
    MetaFor,
    MetaSchedule,
    Name,
    Parameter,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.atomic_check import check_atomic
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.expression_check import ExpressionChecker, NamesOutside
from comprehensive.metafork.precedence import INTEGER_ONLY
from comprehensive.metafork.reserved import is_machine_symbol, report_reserved, why_reserved
from comprehensive.metafork.scope import Kind, Scope, Symbol, scope_of_region
from comprehensive.metafork.walk import subexpressions_in
from comprehensive.records import replace

__all__ = ["NamesOutside", "check_names", "check_parameters"]


def check_parameters(function: Function, outside: NamesOutside, sink: DiagnosticSink) -> None:
    """Parameters have different names, and the dimensions of arrays read integer parameters before them."""
    scope = Scope(None, {})
    checker = ExpressionChecker(outside, sink)
    for p in function.parameters:
        _check_reserved(p.name, p.span, sink)
        _check_symbol(p.name, p.span, sink)
        earlier = scope.symbols.get(p.name)
        if earlier is not None:
            _redeclared(p.name, p.span, earlier, sink)
        for dim in p.dims:
            if dim is not None:
                checker.integer(dim, scope, "a dimension of an array")
        for dim in p.dims[1:]:
            if dim is None:
                text = f"only the first dimension of '{p.name}' may be left open"
                sink.error("CF0216", text, p.span, help="give the length of every row, as C asks for")
        if p.type.is_storage and not p.is_data:
            _passed_by_value(p.name, p.type, p.span, sink)
        kind = Kind.DATA if p.is_data else Kind.PARAMETER
        rank = 1 if p.pointer else len(p.dims)
        scope.symbols[p.name] = Symbol(kind, p.type, p.span, rank, p.const)


def _passed_by_value(name: str, type: ScalarType, span: Span, sink: DiagnosticSink) -> None:
    """CF0223: compilers of C pass values of 16 bits in different ways, or have no such type."""
    text = f"'{name}' is a scalar of type {type.value}, which host code cannot pass to a region"
    sink.error("CF0223", text, span, help=f"make it a float; where it shall be rounded, ({type.value}){name}")


def check_names(
    function: Function, region: MetaSchedule, outside: NamesOutside, sink: DiagnosticSink
) -> None:
    """Checks one region."""
    scope = scope_of_region(function, region, outside.opaque)
    checker = ExpressionChecker(outside, sink)
    used = {node.identifier for node in subexpressions_in(region.body) if isinstance(node, Name)}
    for pointer in region.pointers:
        _check_reserved(pointer.name, pointer.span, sink)
    for scalar in region.scalars:
        _check_reserved(scalar.name, scalar.span, sink)
        _check_symbol(scalar.name, scalar.span, sink)
        if scalar.type.is_storage and scalar.name in used:
            _passed_by_value(scalar.name, scalar.type, scalar.span, sink)
        if scalar.value is not None:
            checker.type_of(scalar.value, scope)
            checker.keeps_value(scalar.value, scalar.type)
    _Checker(checker, sink).body(region.body, scope)


def check_helper(
    parameters: Sequence[Parameter],
    result: ScalarType,
    body: tuple[Stmt, ...],
    outside: NamesOutside,
    tables: Scope,
    sink: DiagnosticSink,
) -> None:
    """Checks the body of a function that a region calls, whose parameters are variables.

    ``tables`` are the constant arrays of the file.
    """
    scope = Scope(None, {**tables.symbols, "return": Symbol(Kind.LOCAL, result, GENERATED)})
    for p in parameters:
        rank = 1 if p.pointer else len(p.dims)
        kind = Kind.DATA if p.is_data else Kind.LOCAL
        scope.symbols[p.name] = Symbol(kind, p.type, p.span, rank, p.const)
    _Checker(ExpressionChecker(outside, sink, knows_arguments=False), sink).body(body, scope)


def _check_reserved(name: str, span: Span, sink: DiagnosticSink) -> None:
    reason = why_reserved(name)
    if reason is not None:
        report_reserved(name, reason, span, sink)


def _check_symbol(name: str, span: Span, sink: DiagnosticSink) -> None:
    if is_machine_symbol(name):
        sink.error(
            "CF0220", f"'{name}' stands for the machine in the conditions of the tree", span, help="rename it"
        )


def _redeclared(name: str, span: Span, earlier: Symbol, sink: DiagnosticSink) -> None:
    notes = (Note(f"the {earlier.kind.value} declared first", earlier.span),)
    sink.error("CF0210", f"'{name}' is declared twice", span, notes=notes, help="rename one of the two")


class _Checker(Struct, frozen=True):
    expressions: ExpressionChecker
    sink: DiagnosticSink

    def body(self, statements: tuple[Stmt, ...], scope: Scope) -> None:
        inner = scope.inner()
        for statement in statements:
            self.statement(statement, inner)

    def statement(self, statement: Stmt, scope: Scope) -> None:
        match statement:
            case Declare():
                self._declare(statement, scope)
            case Assign(target, operator, value):
                kind = self.expressions.type_of(value, scope)
                self._write(target, operator, kind, value, scope)
                if statement.atomic:
                    check_atomic(statement, kind, scope, self.sink)
            case If(condition, then, otherwise):
                self.expressions.truth_of(condition, scope)
                replace(self, expressions=self.expressions.where(condition, True)).body(then, scope)
                replace(self, expressions=self.expressions.where(condition, False)).body(otherwise, scope)
            case For() | MetaFor():
                self._loop(statement, scope)
            case While(condition, body):
                self.expressions.truth_of(condition, scope)
                self.body(body, scope)
            case DoWhile(body, condition):
                self.body(body, scope)
                self.expressions.truth_of(condition, scope)
            case Block(body):
                self.body(body, scope)
            case Break() | Continue():
                pass
            case _:
                assert_never(statement)

    # --- declarations ------------------------------------------------------------------------------------

    def _declare(self, declare: Declare, scope: Scope) -> None:
        for dim in declare.dims:
            length = constant_value(dim)
            if length is None or length < 1:
                self.sink.error(
                    "CF0213",
                    f"the length of the local array '{declare.name}' is not a positive integer constant",
                    dim.span,
                    help="write a number: local arrays live in registers",
                )
        if declare.initial is not None:
            self.expressions.type_of(declare.initial, scope)
            self.expressions.keeps_value(declare.initial, declare.type)
        kind = Kind.LOCAL_ARRAY if declare.dims else Kind.LOCAL
        symbol = Symbol(kind, declare.type, declare.span, len(declare.dims), declare.const)
        self._enter(declare.name, symbol, scope)

    def _enter(self, name: str, symbol: Symbol, scope: Scope) -> None:
        _check_reserved(name, symbol.span, self.sink)
        same_scope = scope.symbols.get(name)
        hidden = scope.get(name)
        if same_scope is not None:
            _redeclared(name, symbol.span, same_scope, self.sink)
        elif hidden is not None:
            self.sink.error(
                "CF0211",
                f"'{name}' hides the {hidden.kind.value} of the same name",
                symbol.span,
                notes=(Note("declared here", hidden.span),),
                help=f"rename the inner '{name}'",
            )
        scope.symbols[name] = symbol

    # --- loops -------------------------------------------------------------------------------------------

    def _loop(self, loop: For | MetaFor, scope: Scope) -> None:
        self.expressions.integer(loop.start, scope, "the start of a loop")
        inner = scope.inner()
        # Errors about the header point at it, not at the whole loop.
        header = Span(loop.span.file, loop.span.start, max(loop.step.span.end, loop.bound.span.end))
        if loop.type is not None:
            if not loop.type.is_integer:
                self._not_integer_iterator(loop.iterator, header)
            self.expressions.keeps_value(loop.start, loop.type)
            self._enter(loop.iterator, Symbol(Kind.ITERATOR, loop.type, header), inner)
        else:
            self._outer_iterator(loop, header, scope, inner)
        self.expressions.integer(loop.bound, inner, "the bound of a loop")
        self.expressions.integer(loop.step, inner, "the step of a loop")
        self.body(loop.body, inner)

    def _outer_iterator(self, loop: For | MetaFor, header: Span, scope: Scope, inner: Scope) -> None:
        name = Name(loop.iterator, header)
        found = scope.get(loop.iterator)
        self._write(name, "=", None, None, scope)
        if found is not None and found.kind is Kind.LOCAL:
            if not found.type.is_integer:
                self._not_integer_iterator(loop.iterator, header)
            inner.symbols[loop.iterator] = Symbol(Kind.ITERATOR, found.type, header)

    def _not_integer_iterator(self, name: str, span: Span) -> None:
        self.sink.error("CF0212", f"the iterator '{name}' is not an integer", span, help="declare it as int")

    # --- writes ------------------------------------------------------------------------------------------

    def _write(
        self, target: Name | Index, operator: str, kind: ScalarType | None, value: Expr | None, scope: Scope
    ) -> None:
        written = self.expressions.type_of(target, scope)
        name = target.identifier if isinstance(target, Name) else target.array
        symbol = scope.get(name)
        if symbol is None or written is None:
            return
        self._may_be_written(name, symbol, target.span)
        if operator == "=" and value is not None:
            self.expressions.keeps_value(value, written)
        if operator != "=" and value is not None:
            self.expressions.has_a_value(operator[:-1], written, value, None, value.span)
        if operator.rstrip("=") in INTEGER_ONLY and value is not None:
            for operand, span in ((written, target.span), (kind, value.span)):
                if operand is not None and not operand.is_integer:
                    text = f"'{operator}' needs integers, this is {operand.value}"
                    self.sink.error("CF0212", text, span, help="cast to int, or use another operation")

    def _may_be_written(self, name: str, symbol: Symbol, span: Span) -> None:
        note = (Note("declared here", symbol.span),)
        match symbol.kind:
            case Kind.ITERATOR:
                self.sink.error(
                    "CF0207",
                    f"the iterator '{name}' is changed inside its loop",
                    span,
                    notes=note,
                    help="only the header of a loop changes its iterator; copy it to a local variable",
                )
            case Kind.PARAMETER | Kind.HOST:
                self.sink.error(
                    "CF0208",
                    f"the {symbol.kind.value} '{name}' is changed inside a region",
                    span,
                    notes=note,
                    help="parameters are fixed while a region runs (every thread reads them): use a local variable",
                )
            case Kind.DATA | Kind.LOCAL | Kind.LOCAL_ARRAY:
                if symbol.const:
                    self.sink.error(
                        "CF0209",
                        f"'{name}' is const and is changed here",
                        span,
                        notes=note,
                        help="remove 'const' from its declaration, or write to another array",
                    )
