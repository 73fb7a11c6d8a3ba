"""The values of expressions with effects, in one scope of a region: what is to be done before and behind them.

In: an expression as written.  Out: one that changes nothing; the assignments that it stood for go to a list::

    s + *p++    -->   s + *p,   behind it: p += 1
    v = a[i]    -->   v,        before it: v = a[i]
    sizeof w / sizeof w[0]   -->   16ul / 4ul, of  float w[4];

A scope knows the variables and arrays that are declared where the expression stands, and under which names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.jumps import negated
from comprehensive.metafork.loop_forms import Variable
from comprehensive.metafork.rewrite import with_operands
from comprehensive.metafork.substitution import Part, Substitution
from comprehensive.metafork.written import Discarded, Sequence, SizeOf, Update, effect
from comprehensive.records import replace


@dataclass(slots=True)
class RegionScope:
    """One scope of a region; ``name`` gives names that are free."""

    variables: dict[str, Variable]
    arrays: dict[str, Declare]
    name: Callable[[str], str]
    sink: DiagnosticSink
    outer: frozenset[str] = frozenset()
    """Names that the scopes around this one declare."""
    called: dict[str, str] = field(default_factory=lambda: {})
    """The new names of what hides another variable."""
    own: set[str] = field(default_factory=lambda: set(), init=False)
    after: list[Stmt] | None = field(default=None, init=False)
    """The list for effects that come behind the statement at hand; None where they have to come at once."""

    def inner(self) -> RegionScope:
        """A scope right inside of this one."""
        outer = self.outer | self.own
        return RegionScope(
            dict(self.variables), dict(self.arrays), self.name, self.sink, outer, dict(self.called)
        )

    def entered(self, name: str, variable: Variable | Declare) -> str:
        """The name of what this scope declares, from now on."""
        given = self.name(name) if name in self.outer and name not in self.own else name
        self.own.add(name)
        self.called.pop(name, None)
        if given != name:
            self.called[name] = given
        for each in (name, given):
            self.variables.pop(each, None)
            self.arrays.pop(each, None)
            if isinstance(variable, Variable):
                self.variables[each] = variable
            else:
                self.arrays[each] = variable
        return given

    def pure(self, expression: Expr) -> Expr:
        """An expression without effects."""
        return self.expression(expression, [])

    def expression(
        self, expression: Expr | Update | Sequence | SizeOf | Discarded, before: list[Stmt]
    ) -> Expr:
        """The value of an expression; its effects go to the end of ``before``, or behind the statement."""
        match expression:
            case Update():
                return self._updated(expression, before)
            case Sequence(first, value, then):
                if first is not None:
                    self._now(first, before)
                found = self.expression(value, before)
                if then is None:
                    return found
                target = found if then.target is value else then.target
                return self._stepped(found, replace(then, target=target), before)
            case Discarded():
                expression.report()
                return IntLiteral(0, span=expression.span)
            case SizeOf():
                return size_of(expression, self.variables, self.arrays, self.sink)
            case Name(identifier) if identifier in self.called:
                return replace(expression, identifier=self.called[identifier])
            case Index(array, subscripts):
                found = tuple(self.expression(each, before) for each in subscripts)
                return replace(expression, array=self.called.get(array, array), subscripts=found)
            case Binary("&&" | "||" as operator, left, right):
                return self._chosen(expression, operator, left, right, before)
            case Conditional(condition, then, otherwise):
                test = self._now(condition, before)
                inner: list[Stmt] = []
                first, second = self._now(then, inner), self._now(otherwise, inner)
                if inner:
                    found = effect(then) or effect(otherwise)
                    assert found is not None, "what is to be done comes from an effect"
                    text = "an assignment inside of a choice cannot be part of a larger expression"
                    help = "write if and else, with a statement of its own in each"
                    self.sink.error("CF0116", text, found.sign.span, help=help)
                return replace(expression, condition=test, then=first, otherwise=second)
            case _:
                return with_operands(expression, lambda operand: self.expression(operand, before))

    def _now(self, expression: Expr | Update, before: list[Stmt]) -> Expr:
        """The value of an expression all of whose effects come before what follows."""
        kept, self.after = self.after, None
        found = self.expression(expression, before)
        self.after = kept
        return found

    def written(self, update: Update, before: list[Stmt]) -> Assign | None:
        target = self.expression(update.target, before)
        value = self.expression(update.value, before)
        match target:
            case Name() | Index():
                return Assign(target, update.operator, value, update.span)
            case _:
                self.sink.error(
                    "CF0121",
                    "only a variable or an element of an array can be assigned",
                    target.span,
                    help="write the name of a variable, or an array with its subscripts, to the left of the sign",
                )
                return None

    def _updated(self, update: Update, before: list[Stmt]) -> Expr:
        """The value of ``x = e`` after it is done: that of ``x``, or ``e`` where any type has that number."""
        kept, self.after = self.after, None
        written = self.written(update, before)
        self.after = kept
        if written is None:
            return IntLiteral(0, span=update.span)
        before.append(written)
        match written.operator, written.value:
            case "=", IntLiteral(0 | 1) as value:
                return value
            case "=", FloatLiteral() as value if _is_zero_or_one(value):
                return value
            case _:
                return written.target

    def _stepped(self, value: Expr, then: Update, before: list[Stmt]) -> Expr:
        """The value that ``x++`` has, with its step behind it."""
        written = self.written(then, before)
        if written is None:
            return value
        if self.after is not None:
            self.after.append(written)
            return value
        match written.target:
            case Name(stepped) if stepped in self.variables:
                variable = self.variables[stepped]
                old = self._holding(stepped, written.target, variable, before)
                before.append(written)
                return Substitution({stepped: old}, {stepped: Part(old.identifier)}, None).expression(value)
            case Index(array) if array in self.arrays:
                old = self._holding(array, written.target, Variable(self.arrays[array].type), before)
                before.append(written)
                return old
            case Name():
                before.append(written)  # of what cannot be changed, which is an error of its own
                return value
            case _:
                text = "a step of an element cannot be part of a condition"
                help = "write it as a statement of its own"
                self.sink.error("CF0116", text, then.sign.span, help=help)
                return value

    def _holding(self, wish: str, value: Expr, variable: Variable, before: list[Stmt]) -> Name:
        """A new variable that holds a value."""
        name = self.name(f"{wish}_before")
        declare = Declare(variable.type, name, initial=value, span=value.span, is_pointer=variable.is_pointer)
        before.append(declare)
        return Name(name, value.span)

    def _chosen(self, whole: Binary, operator: str, left: Expr, right: Expr, before: list[Stmt]) -> Expr:
        """``left && right``, of which the second may have effects that come to pass only sometimes."""
        test = self._now(left, before)
        inner: list[Stmt] = []
        last = self._now(right, inner)
        if not inner:
            return replace(whole, left=test, right=last)
        span = whole.span
        name = self.name("holds")
        result = Name(name, span)
        before.append(Declare(ScalarType.INT, name, initial=_truth(test), span=span))
        asks = result if operator == "&&" else negated(result)
        before.append(If(asks, (*inner, Assign(result, "=", _truth(last), span)), (), span))
        return result


def _is_zero_or_one(number: FloatLiteral) -> bool:
    text = number.text
    return (float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)) in (0, 1)


def _truth(condition: Expr) -> Expr:
    """1 where a condition holds, else 0."""
    match condition:
        case Binary("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"):
            return condition
        case _:
            return Binary("!=", condition, IntLiteral(0, span=condition.span), condition.span)


def size_of(
    size: SizeOf, variables: Mapping[str, Variable], arrays: Mapping[str, Declare], sink: DiagnosticSink
) -> IntLiteral:
    """The number that ``sizeof`` is, of type ``unsigned long``; CF0124 where it is not known."""
    kind = ScalarType.UNSIGNED_LONG
    match size.operand:
        case Name(name) if name in variables and not variables[name].is_pointer:
            return IntLiteral(variables[name].type.size_bytes, kind, size.span)
        case Name(name) | Index(name) if name in arrays and not arrays[name].is_open:
            given = len(size.operand.subscripts) if isinstance(size.operand, Index) else 0
            found = [constant_value(dim) for dim in arrays[name].dims[given:]]
            dims = [dim for dim in found if dim is not None]
            if len(dims) == len(found):
                return IntLiteral(arrays[name].type.size_bytes * prod(dims), kind, size.span)
        case _:
            pass
    text = "sizeof of this is not supported"
    help = "regions know sizeof of types, of their scalars, of their arrays and of constant ones: write the number"
    sink.error("CF0124", text, size.sign.span, help=help)
    return IntLiteral(1, kind, size.span)
