"""The value of an expression in one state of a thread, and what goes wrong on the way to it.

In: an expression, a state.  Out: its value with its type in C: a number where parameters and iterators determine it,
else an unknown.  Reads of variables without value and subscripts outside of local arrays are told to a listener::

    w[k] + t    at k = 4 of float w[4], t without a value   -->   unknown; both are told
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, assert_never

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Span
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
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.precedence import COMPARISONS
from comprehensive.metafork.scalar_types import common_type, promote, result_type
from comprehensive.poly.paths import State
from comprehensive.poly.unknowns import Answer, Unknowns, Unset, Value, question


class Listener(Protocol):
    """Is told what happens on paths."""

    def count(self) -> None:
        """One more expression is evaluated."""
        ...

    def read(self, name: str, span: Span, state: State, missing: tuple[int, ...] | None) -> None:
        """A local variable, or an element of a local array, is read; the ``missing`` one where it has no value."""
        ...

    def subscript(self, index: Index, position: int, value: int, extent: int, state: State) -> None:
        """A local array is entered at a subscript."""
        ...

    def asked(self, answer: Answer, condition: Expr) -> None:
        """A condition is true at this answer."""
        ...


class Values(Struct):
    """Evaluates expressions over variables of the given types; ``data`` are the arrays of the nest.

    What the tool has written itself may read what the program does not: a variable before a loop of no turn, in the
    value behind it.  Such reads in what is ``kept`` in a variable are not told: it is without value then, too.
    """

    unknowns: Unknowns
    listener: Listener
    types: dict[str, ScalarType]
    data: Mapping[str, Array]
    scalars: Mapping[str, Value]
    place: Span = GENERATED
    """The statement that is run."""
    is_kept: bool = False
    missing: Unset | None = None

    def value(self, expr: Expr, state: State) -> Value:
        """The value of an expression that is used: it has one."""
        self.listener.count()
        match expr:
            case IntLiteral():
                return expr.value
            case FloatLiteral():
                return self.unknowns.made(expr.text)
            case Name():
                return self._used(self.held(expr, state), expr.identifier, expr.span, state)
            case Index():
                return self._used(self.held(expr, state), expr.array, expr.span, state)
            case Cast():
                return self.converted(self.value(expr.operand, state), self._type(expr.operand), expr.type)
            case Unary(operator="!"):
                return self.unknowns.negated(self.value(expr.operand, state))
            case Unary():
                return self._sign(expr, self.value(expr.operand, state))
            case Binary(operator="&&" | "||"):
                return self._logical(expr, state)
            case Binary():
                return self._binary(expr, state)
            case Conditional():
                return self._chosen(expr, state)
            case Call():
                match expr.function, [self.value(argument, state) for argument in expr.arguments]:
                    case "abs" | "labs", [int(operand)]:
                        return abs(operand)
                    case function, operands:
                        return self.unknowns.made(function, *operands)
            case _:
                assert_never(expr)

    def kept(self, expr: Expr, state: State) -> Value:
        """The value that a variable is given: none where it is a copy of one that has none."""
        if isinstance(expr, Name | Index):
            held = self.held(expr, state)
            if isinstance(held, Unset):
                copied = None if expr.span is GENERATED else expr.span
                return Unset(held.name, held.element, held.span or copied)
        self.is_kept, self.missing = True, None
        value = self.value(expr, state)
        self.is_kept = False
        return self.missing or value

    def held(self, place: Name | Index, state: State) -> Value:
        """Return what is at a place: perhaps nothing yet."""
        if isinstance(place, Name):
            name = place.identifier
            return state.cells[name] if name in state.cells else self.scalars[name]
        subscripts = self.subscripts(place, state)
        if place.array not in state.extents:
            return self._datum(place.array, subscripts, state)
        if place.array in state.blurred or not self.is_inside(place, subscripts, state):
            return self.unknowns.fresh(subscripts)
        element = tuple(s for s in subscripts if isinstance(s, int))
        return state.cells.get((place.array, element), Unset(place.array, element))

    def subscripts(self, index: Index, state: State) -> tuple[Value, ...]:
        return tuple(self.value(subscript, state) for subscript in index.subscripts)

    def is_inside(self, index: Index, subscripts: tuple[Value, ...], state: State) -> bool:
        """Whether it is known which element of a local array an index names; the listener hears of subscripts."""
        known = True
        for position, (value, extent) in enumerate(zip(subscripts, state.extents[index.array], strict=True)):
            if isinstance(value, int):
                self.listener.subscript(index, position, value, extent, state)
            known = known and isinstance(value, int) and 0 <= value < extent
        return known

    def converted(self, value: Value, source: ScalarType, to: ScalarType) -> Value:
        """The conversion of C11 6.3.1."""
        if source is to or isinstance(value, Unset):
            return value
        if to is ScalarType.BOOL:
            return value if isinstance(value, int) and value in (0, 1) else self._truth(value)
        if isinstance(value, int) and to.is_integer:
            return to.wrapped(value)
        if to.is_integer and source.is_integer and not to.is_narrow:
            return value  # what data holds is taken to be kept by conversions between int and wider types
        return self.unknowns.made(f"({to.value})", value)

    def _truth(self, value: Value) -> Value:
        return self.unknowns.negated(self.unknowns.negated(value))

    def _type(self, expr: Expr) -> ScalarType:
        return type_of(expr, self.types)

    def _used(self, value: Value, name: str, span: Span, state: State) -> Value:
        if isinstance(value, Unset):
            if span is GENERATED and self.is_kept:
                self.missing = value
                return self.unknowns.fresh()
            span = self.place if span is GENERATED else span
            self.listener.read(value.name, value.span or span, state, value.element)
            return self.unknowns.fresh()
        if name in state.cells or name in state.extents:
            self.listener.read(name, span, state, None)
        return value

    def _datum(self, array: str, subscripts: tuple[Value, ...], state: State) -> Value:
        known = self.data[array]
        if known.values is not None and known.dims is not None and len(known.dims) == 1:
            match subscripts:
                case (int(place),) if 0 <= place < len(known.values) and isinstance(
                    element := known.values[place], IntLiteral
                ):
                    return element.value
                case _:
                    pass
        return self.unknowns.root((array, state.versions.get(array, 0)), subscripts)

    def _sign(self, expr: Unary, operand: Value) -> Value:
        if isinstance(operand, int):
            value = {"-": -operand, "~": ~operand}.get(expr.operator, operand)
            return self._in_type(value, promote(self._type(expr.operand)))
        return self.unknowns.made(f"{expr.operator} ", operand)

    def _binary(self, expr: Binary, state: State) -> Value:
        left, right = self.value(expr.left, state), self.value(expr.right, state)
        first, second = self._type(expr.left), self._type(expr.right)
        operator, result = expr.operator, result_type(expr.operator, first, second)
        common = promote(first) if operator in ("<<", ">>") else common_type(first, second)
        if operator not in ("<<", ">>"):
            left, right = self.converted(left, first, common), self.converted(right, second, common)
        if isinstance(left, int) and isinstance(right, int):
            if (operator in ("/", "%") and right == 0) or (
                operator in ("<<", ">>") and not 0 <= right < common.bits
            ):
                return self.unknowns.fresh()
            return self._in_type(OPERATORS[operator](left, right), result)
        if operator in COMPARISONS:
            return self.unknowns.compared(operator, left, right, whole=common.is_integer)
        return self.unknowns.made(operator, left, right)

    def _in_type(self, value: int, kind: ScalarType) -> Value:
        """The value in a type; unknown where it overflows."""
        if kind.wraps or kind.lowest <= value <= kind.highest:
            return kind.wrapped(value)
        return self.unknowns.fresh()

    def _logical(self, expr: Binary, state: State) -> Value:
        """The right side is evaluated where the left one leaves the answer open."""
        left = self.answer(expr.left, state)
        goes_on = expr.operator == "&&"
        if isinstance(left, bool):
            return self._truth(self.value(expr.right, state)) if left is goes_on else int(left)
        asked, wanted = left
        right = self.value(expr.right, state.given((asked, wanted is goes_on)))
        return self.unknowns.made(expr.operator, *self._sides(left), self._truth(right))

    def _chosen(self, expr: Conditional, state: State) -> Value:
        condition = self.answer(expr.condition, state)
        kind = self._type(expr)

        def side(chosen: Expr, where: State) -> Value:
            return self.converted(self.value(chosen, where), self._type(chosen), kind)

        if isinstance(condition, bool):
            return side(expr.then if condition else expr.otherwise, state)
        asked, wanted = condition
        then = side(expr.then, state.given((asked, wanted)))
        otherwise = side(expr.otherwise, state.given((asked, not wanted)))
        return self.unknowns.made("?", *self._sides(condition), then, otherwise)

    def _sides(self, answer: Answer) -> tuple[Value, ...]:
        asked, wanted = answer
        return (asked if wanted else self.unknowns.negated(asked),)

    def answer(self, condition: Expr, state: State) -> bool | Answer:
        """Whether a condition is true in a state, or at which answer it is."""
        found = question(self.value(condition, state))
        if isinstance(found, bool):
            return found
        asked, wanted = found
        if asked in state.answers:
            return state.answers[asked] is wanted
        self.listener.asked(found, condition)
        return found
