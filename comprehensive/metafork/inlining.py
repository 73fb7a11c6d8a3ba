"""Calls of functions of the file in a region: each becomes what the function does.

In: statements with calls, and the definitions at file level.  Out: statements without; errors (CF0214, CF0230 to
CF0233)::

    c[i] = relu(a[i] + b);   -->   float relu_x = a[i] + b; c[i] = relu_x > 0 ? relu_x : 0;

Everything after the parser sees no functions but those of the C library: dependences, footprints and the choice of
tiles are those of the code as if its author had written it without functions.  What runs under a condition in the
source (``c ? f(a[i]) : 0``) runs under it still.  What is inlined has the place of the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct, field

from comprehensive.diagnostics import GENERATED, Diagnostic, DiagnosticSink, Note, Span
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    ConstantArray,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.chosen_pointers import chosen_call
from comprehensive.metafork.expression_check import ExpressionChecker, NamesOutside
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.helpers import Helper, has_value, name_of, read_helper
from comprehensive.metafork.items import Item
from comprehensive.metafork.named_constants import Constants
from comprehensive.metafork.names import check_helper
from comprehensive.metafork.pointer_places import place
from comprehensive.metafork.returns import Choice, Returns, Value, last_value, needs_flag, value_names
from comprehensive.metafork.rewrite import with_bodies, with_operands, with_own_expressions
from comprehensive.metafork.scope import Kind, Scope, Symbol
from comprehensive.metafork.substitution import Part, Substitution, is_cheap, is_light
from comprehensive.metafork.terms import truth
from comprehensive.metafork.tokens import Origin
from comprehensive.metafork.walk import (
    assigned_scalars,
    reads_data,
    statements_in,
    subexpressions,
    subexpressions_in,
)
from comprehensive.metafork.written import CALLED, report_no_effect
from comprehensive.records import replace

MAXIMUM_SIZE = 20_000
"""Operations and statements that calls in one file may become."""


def scope_of_tables(tables: Mapping[str, ConstantArray]) -> Scope:
    """The names of constant arrays."""
    symbols = {
        table.name: Symbol(Kind.DATA, table.type, table.span, len(table.lengths), const=True)
        for table in tables.values()
    }
    return Scope(None, symbols)


class Helpers(Struct):
    """The functions at file level by name, read when they are first called."""

    definitions: Mapping[str, Item]
    constants: Constants
    tables: Mapping[str, ConstantArray]
    outside: NamesOutside
    fresh: Namer
    size: int = 0
    _read: dict[str, tuple[Helper | None, tuple[Diagnostic, ...]]] = field(default_factory=lambda: {})
    _reading: list[str] = field(default_factory=lambda: [])

    @staticmethod
    def of(
        items: Iterable[Item],
        constants: Constants,
        tables: Mapping[str, ConstantArray],
        outside: NamesOutside,
        taken: Iterable[str],
    ) -> Helpers:
        """Make the helpers of the functions among ``items``; the names ``taken`` are not given to what is inlined."""
        named = ((name_of(item), item) for item in items)
        definitions = {name.text: item for name, item in named if name is not None}
        return Helpers(definitions, constants, tables, outside, Namer(taken))

    def get(self, name: str, place: Span, sink: DiagnosticSink) -> Helper | None:
        """A function that is defined and that a region can call; else None, and what is wrong goes to the sink."""
        if name in self._reading:
            chain = " calls ".join(
                f"'{each}'" for each in (*self._reading[self._reading.index(name) :], name)
            )
            help = "write it as a loop"
            sink.error(
                "CF0230", f"a region cannot call functions that call themselves: {chain}", place, help=help
            )
            return None
        if name not in self._read:
            self._read[name] = self._new(name)
        helper, found = self._read[name]
        # One is enough to say why a function that calls this one is none either.
        for d in found[:1] if self._reading else found:
            notes = (*d.notes, Note("called here", place))
            sink.error(d.code, d.message, d.span, notes=notes, help=d.help)
        return helper

    def _new(self, name: str) -> tuple[Helper | None, tuple[Diagnostic, ...]]:
        """The function, its own calls inlined."""
        item = self.definitions[name]
        sink = DiagnosticSink()
        origin = Origin(item.tokens[0].origin.file, sink)
        quiet = replace(item, tokens=tuple(t._replace(origin=origin) for t in item.tokens))
        helper = read_helper(quiet, self.constants, self.tables.values())
        if helper is not None:
            self._reading.append(name)
            inliner = Inliner(self, _scope(helper, scope_of_tables(self.tables)), sink)
            helper = replace(helper, body=inliner.body(helper.body))
            self._reading.pop()
            if not sink.has_errors:
                tables = scope_of_tables(self.tables)
                check_helper(helper.parameters, helper.type, helper.body, self.outside, tables, sink)
        return (None if sink.has_errors else helper), sink.diagnostics


def _scope(helper: Helper, outer: Scope) -> Scope:
    symbols = {
        p.name: Symbol(
            Kind.DATA if p.is_data else Kind.LOCAL, p.type, p.span, 1 if p.pointer else len(p.dims)
        )
        for p in helper.parameters
    }
    return Scope(outer, symbols)


class Inliner:
    """Inlines calls in statements; ``scope`` has the names around them, and learns those that they declare."""

    def __init__(self, helpers: Helpers, scope: Scope, sink: DiagnosticSink) -> None:
        self._helpers = helpers
        self._scope = scope.inner()
        self._sink = sink
        self._types = ExpressionChecker(helpers.outside, DiagnosticSink())
        self._is_once = True
        """Whether calls of the statement at hand are done once each time that it is."""
        self._asked: set[Span] = set()
        """The places of the calls in conditions so far."""

    # --- statements --------------------------------------------------------------------------------------

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements without calls of functions of the file."""
        if not self._has_calls(body):
            return body
        return tuple(inner for statement in body for inner in self._statement(statement))

    def _has_calls(self, body: tuple[Stmt, ...]) -> bool:
        return any(
            isinstance(node, Call) and node.function in self._helpers.definitions
            for node in subexpressions_in(body)
        ) or any(isinstance(s, Assign) and s.target == Name(CALLED) for s in statements_in(body))

    def _statement(self, statement: Stmt) -> list[Stmt]:
        before: list[Stmt] = []
        self._is_once = not isinstance(statement, If | While) or self._is_first(statement.condition)
        match statement:
            case Declare(kind, name, dims, initial):
                value = None if initial is None else self._lifted(initial, before)
                self._declare(name, kind, Kind.LOCAL_ARRAY if dims else Kind.LOCAL, len(dims))
                return [*before, replace(statement, initial=value)]
            case Assign(target=Name(identifier), value=call, span=sign) if identifier == CALLED:
                self._perform(call, sign, before)
                return before
            case Assign() | If():
                changed = with_own_expressions(statement, lambda e: self._lifted(e, before))
                return [*before, with_bodies(changed, self.body)]
            case For() | MetaFor():
                return [self._loop(statement)]
            case While(condition, body):
                test = self._lifted(condition, before)
                if not before:
                    return [replace(statement, condition=test, body=self.body(body))]
                leave = If(Unary("!", test), (Break(statement.span),), span=statement.span)
                return [replace(statement, condition=IntLiteral(1), body=(*before, leave, *self.body(body)))]
            case DoWhile(body, condition):
                inner = self.body(body)
                return [replace(statement, body=inner, condition=self._in_header(condition))]
            case Block() | Break() | Continue():
                return [with_bodies(statement, self.body)]
            case _:
                assert_never(statement)

    def _is_first(self, condition: Expr) -> bool:
        """Whether the calls of a condition stand in no other one, as those of a ``switch`` do."""
        calls = {e.span for e in subexpressions(condition) if isinstance(e, Call)}
        is_first = calls.isdisjoint(self._asked)
        self._asked |= calls
        return is_first

    def _loop(self, loop: For | MetaFor) -> For | MetaFor:
        start = self._in_header(loop.start)
        if loop.type is not None:
            self._declare(loop.iterator, loop.type, Kind.ITERATOR)
        bound, step = self._in_header(loop.bound), self._in_header(loop.step)
        return replace(loop, start=start, bound=bound, step=step, body=self.body(loop.body))

    def _in_header(self, expression: Expr) -> Expr:
        """An expression before which no statement can stand."""
        before: list[Stmt] = []
        found = self._lifted(expression, before, hoists=False)
        if before:
            self._sink.error(
                "CF0233",
                "the head of a loop calls a function that does more than return an expression",
                expression.span,
                help="compute the value into a variable before the loop, and write that there",
            )
        return found

    def _declare(self, name: str, kind: ScalarType, what: Kind = Kind.LOCAL, rank: int = 0) -> None:
        self._scope.symbols[name] = Symbol(what, kind, GENERATED, rank)

    # --- expressions -------------------------------------------------------------------------------------

    def expression(self, expression: Expr) -> Expr:
        """The expression without calls, or as it is where one of them takes statements or is wrong."""
        before: list[Stmt] = []
        found = self._lifted(expression, before, hoists=False)
        return expression if before or self._sink.has_errors else found

    def _lifted(self, expression: Expr, before: list[Stmt], *, hoists: bool = True) -> Expr:
        """The expression without calls; what has to run before it goes to the end of ``before``.

        ``hoists``: whether a variable before it may hold an argument, which is then computed whatever happens.
        """
        match expression:
            case Call(function, arguments) if function in self._helpers.definitions:
                if (choice := chosen_call(expression, self._is_array)) is not None:
                    return self._lifted(choice, before, hoists=hoists)
                given = [self._lifted(argument, before, hoists=hoists) for argument in arguments]
                return self._called(expression, given, before, hoists)
            case Conditional(condition, then, otherwise):
                test = self._lifted(condition, before, hoists=hoists)
                first: list[Stmt] = []
                second: list[Stmt] = []
                chosen = self._lifted(then, first, hoists=False)
                other = self._lifted(otherwise, second, hoists=False)
                whole = replace(expression, condition=test, then=chosen, otherwise=other)
                if not first and not second:
                    return whole
                result = self._variable("value", self._type(whole), None, before, expression.span)
                ends = [
                    (*lines, Assign(result, "=", value, expression.span))
                    for lines, value in ((first, chosen), (second, other))
                ]
                before.append(If(test, ends[0], ends[1], expression.span))
                return result
            case Binary("&&" | "||" as operator, left, right):
                test = self._lifted(left, before, hoists=hoists)
                inner: list[Stmt] = []
                last = self._lifted(right, inner, hoists=False)
                if not inner:
                    return replace(expression, left=test, right=last)
                result = self._variable("holds", ScalarType.INT, truth(test), before, expression.span)
                asks = result if operator == "&&" else Unary("!", result, expression.span)
                ending = Assign(result, "=", truth(last), expression.span)
                before.append(If(asks, (*inner, ending), span=expression.span))
                return result
            case _:
                return with_operands(expression, lambda operand: self._lifted(operand, before, hoists=hoists))

    def _called(self, call: Call, given: Sequence[Expr], before: list[Stmt], hoists: bool) -> Expr:
        """Return the expression that a call stands for."""
        helper = self._helpers.get(call.function, call.span, self._sink)
        result = ScalarType.INT if helper is None else helper.type
        if (
            helper is None
            or not has_value(helper, call.span, self._sink, may_write=self._is_once)
            or not self._fits(helper, call, given)
        ):
            return Cast(result, IntLiteral(0), call.span)
        if helper.store() is not None:
            # What else the expression calls may write what the value is read from.
            value = self._with_statements(
                helper, call, *self._steady_arguments(helper, given, before), before
            )
            return self._held(helper, result, "value", value, before)
        arrays, bound = self._parts(helper, given), _scalars(helper, given)
        match last_value(helper.body):
            case ((), value) if hoists or not isinstance(value, Choice) or all(map(is_cheap, given)):
                uses = Counter(value_names(value))
                own = {
                    p.name: self._argument(helper, p, v, before, hoists and uses[p.name] > 1)
                    for p, v in bound
                }
                return self._value(value, Substitution(own, arrays, call.span), result)
            case _:
                return self._with_statements(helper, call, bound, arrays, before)

    def _perform(self, call: Expr, sign: Span, before: list[Stmt]) -> None:
        """Add what a call does that stands alone; ``sign`` is the place of its semicolon."""
        if not isinstance(call, Call) or call.function not in self._helpers.definitions:
            report_no_effect(sign, self._sink)
            return
        if (choice := chosen_call(call, self._is_array)) is not None:
            test = self._lifted(choice.condition, before)
            calls = (Assign(Name(CALLED), "=", each, sign) for each in (choice.then, choice.otherwise))
            before.append(If(test, *(self.body((each,)) for each in calls), span=call.span))
            return
        given = [self._lifted(argument, before) for argument in call.arguments]
        helper = self._helpers.get(call.function, call.span, self._sink)
        if helper is None or not self._fits(helper, call, given):
            return
        if helper.store() is None:
            report_no_effect(sign, self._sink)
            return
        self._with_statements(
            helper, call, *self._steady_arguments(helper, given, before), before, wanted=False
        )

    def _steady_arguments(
        self, helper: Helper, given: Sequence[Expr], before: list[Stmt]
    ) -> tuple[list[tuple[Parameter, Expr]], dict[str, Part]]:
        """The scalars and arrays of a call, as they are before the function writes anything."""
        held = [
            (p, self._held(helper, p.type, p.name, v, before) if reads_data(v) else v)
            for p, v in _scalars(helper, given)
        ]
        arrays = {
            name: replace(part, offset=self._steady(helper, name, part.offset, before))
            for name, part in self._parts(helper, given).items()
        }
        return held, arrays

    def _steady(self, helper: Helper, name: str, offset: Expr | None, before: list[Stmt]) -> Expr | None:
        """A place in an array that does not change when elements are written."""
        if offset is None or not reads_data(offset):
            return offset
        return self._held(helper, self._type(offset), f"{name}_offset", offset, before)

    def _held(self, helper: Helper, kind: ScalarType, wish: str, value: Expr, before: list[Stmt]) -> Name:
        return self._variable(f"{helper.name}_{wish}", kind, value, before, value.span)

    def _parts(self, helper: Helper, given: Sequence[Expr]) -> dict[str, Part]:
        """The arrays that the parameters of a call stand for."""
        return {
            p.name: part
            for p, value in zip(helper.parameters, given, strict=True)
            if p.is_data and (part := self._part(value)) is not None
        }

    def _with_statements(
        self,
        helper: Helper,
        call: Call,
        bound: Sequence[tuple[Parameter, Expr]],
        arrays: Mapping[str, Part],
        before: list[Stmt],
        *,
        wanted: bool = True,
    ) -> Expr:
        """Return the value of a call whose statements go to the end of ``before``; 0 where it is not ``wanted``."""
        changed = assigned_scalars(helper.body)
        own: dict[str, Expr] = {}
        for p, value in bound:
            if p.name in changed:
                own[p.name] = self._variable(f"{helper.name}_{p.name}", p.type, value, before, call.span)
            else:
                own[p.name] = self._argument(helper, p, value, before, hoists=True)
        renamed = dict(arrays)
        for name, kind, rank in helper.variables:
            fresh = self._helpers.fresh(f"{helper.name}_{name}")
            self._declare(fresh, kind, Kind.LOCAL_ARRAY if rank else Kind.LOCAL, rank)
            own[name] = Name(fresh, call.span)
            renamed[name] = Part(fresh)
        substitution = Substitution(own, renamed, call.span)
        if wanted and (last := last_value(helper.body)) is not None:
            statements, value = last
            before += substitution.body(statements)
            return self._value(value, substitution, helper.type)
        result: Name | None = None
        if wanted:
            result = self._variable(f"{helper.name}_value", helper.type, None, before, call.span)
        done: Name | None = None
        if needs_flag(helper.body):
            done = self._variable(f"{helper.name}_done", ScalarType.INT, IntLiteral(0), before, call.span)
        returns = Returns(*(None if name is None else name.identifier for name in (result, done)))
        before += substitution.body(returns.structured(helper.body))
        return IntLiteral(0) if result is None else result

    def _value(self, value: Value, substitution: Substitution, kind: ScalarType) -> Expr:
        """Return what a call stands for, in the terms of its place; each value has the type of the function."""
        if isinstance(value, Choice):
            condition = substitution.expression(value.condition)
            then, otherwise = (self._value(v, substitution, kind) for v in (value.then, value.otherwise))
            return Conditional(condition, then, otherwise, substitution.span or condition.span)
        return self._converted(substitution.expression(value), kind)

    def _argument(self, helper: Helper, p: Parameter, value: Expr, before: list[Stmt], hoists: bool) -> Expr:
        if hoists and not is_light(value):
            return self._variable(f"{helper.name}_{p.name}", p.type, value, before, value.span)
        return self._converted(value, p.type)

    def _variable(
        self, wish: str, kind: ScalarType, value: Expr | None, before: list[Stmt], span: Span
    ) -> Name:
        name = self._helpers.fresh(wish)
        self._declare(name, kind)
        before.append(Declare(kind, name, initial=value, span=span))
        return Name(name, span)

    # --- arguments ---------------------------------------------------------------------------------------

    def _fits(self, helper: Helper, call: Call, given: Sequence[Expr]) -> bool:
        """Whether arguments are those of a function, and the region does not become too long by it."""
        wanted = len(helper.parameters)
        if len(given) != wanted:
            text = f"'{helper.name}' takes {wanted} argument{'s' * (wanted != 1)}, not {len(given)}"
            notes = (Note("its definition", helper.span),)
            help = f"write {helper.name}({', '.join(p.name for p in helper.parameters)})"
            self._sink.error("CF0214", text, call.span, notes=notes, help=help)
            return False
        for p, value in zip(helper.parameters, given, strict=True):
            if p.is_data and self._part(value) is None:
                text = f"the argument for '{p.name}' of '{helper.name}' is no array"
                help = "write the name of an array, 'a + offset' for a pointer, or 'a[i]' for a row"
                self._sink.error(
                    "CF0233", text, value.span, notes=(Note("the parameter", p.span),), help=help
                )
                return False
        self._helpers.size += helper.size
        if self._helpers.size > MAXIMUM_SIZE:
            text = f"the regions of this file become too long: calls are more than {MAXIMUM_SIZE} operations"
            self._sink.error("CF0233", text, helper.span, help="write what the functions do as loops")
            return False
        return True

    def _part(self, argument: Expr) -> Part | None:
        """Return the array, and the place in it, that an argument points to."""
        part = place(argument)
        if part is not None and self._is_array(part.array):
            return part
        match argument:
            case Binary("+", offset, pointer) if (part := self._part(pointer)) is not None:
                sum = offset if part.offset is None else Binary("+", part.offset, offset, argument.span)
                return replace(part, offset=sum)
            case _:
                return None

    def _is_array(self, name: str) -> bool:
        symbol = self._scope.get(name)
        return symbol is not None and symbol.is_array

    def _type(self, expression: Expr) -> ScalarType:
        """The type of an expression; int where it has an error, which the check reports."""
        return self._types.type_of(expression, self._scope) or ScalarType.INT

    def _converted(self, value: Expr, kind: ScalarType) -> Expr:
        """The value as C converts it to the type of a parameter or of a result."""
        if self._types.type_of(value, self._scope) in (kind, None):
            return value
        match value:
            case _ if kind.is_storage:
                pass
            case IntLiteral(number) if not kind.is_integer and number < 2**24:
                return FloatLiteral(f"{number}.0", kind, value.span)
            case Unary("-", IntLiteral(number)) if not kind.is_integer and 0 < number < 2**24:
                return Unary("-", FloatLiteral(f"{number}.0", kind, value.span), value.span)
            case _:
                pass
        return Cast(kind, value, value.span)


def _scalars(helper: Helper, given: Sequence[Expr]) -> list[tuple[Parameter, Expr]]:
    """The parameters that are numbers, each with its argument."""
    return [(p, v) for p, v in zip(helper.parameters, given, strict=True) if not p.is_data]
