"""Trees with other parts: names replaced by expressions, arrays by other arrays, all at one place.

In: a tree and what its names become.  Out: the tree in these terms::

    Substitution({"x": Binary("+", Name("a"), Name("b"))}, {}, here).expression(parsed "x * x")  -->  (a + b) * (a + b)

Which values may be written more than once is said here, too: arguments of functions, whether a variable need hold them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import with_bodies, with_name, with_operands, with_own_expressions
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace


class Part(Struct, frozen=True):
    """The part of another array that an array stands for: the elements from ``subscripts`` on, ``offset`` further."""

    array: str
    subscripts: tuple[Expr, ...] = ()
    offset: Expr | None = None


class Substitution(Struct, frozen=True):
    """``names`` become expressions, ``arrays`` parts of others; every node gets the place ``span``, if there is one."""

    names: Mapping[str, Expr]
    arrays: Mapping[str, Part]
    span: Span | None

    def expression(self, expression: Expr) -> Expr:
        match expression:
            case Name(identifier) if identifier in self.names:
                return self.names[identifier]
            case Name(identifier) if identifier in self.arrays:
                # Whether it is null: C has no sums with null pointers, so that a part is there where the array is.
                return Name(self.arrays[identifier].array, self.span or expression.span)
            case Index(array, subscripts) if array in self.arrays:
                return self._element(
                    self.arrays[array],
                    tuple(map(self.expression, subscripts)),
                    self.span or expression.span,
                )
            case _:
                found = with_operands(expression, self.expression)
                return found if self.span is None else replace(found, span=self.span)

    def _element(self, part: Part, subscripts: tuple[Expr, ...], span: Span) -> Index:
        if part.offset is not None and subscripts:
            subscripts = (Binary("+", part.offset, subscripts[0], span), *subscripts[1:])
        return Index(part.array, (*part.subscripts, *subscripts), span)

    def body(self, statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, statement: Stmt) -> Stmt:
        """The statement; what it declares is called as its name is replaced, if by a name."""
        changed = with_own_expressions(statement, self.expression, self._place)
        changed = with_name(with_bodies(changed, self.body), self._called)
        return changed if self.span is None else replace(changed, span=self.span)

    def _place(self, place: Name | Index) -> Name | Index:
        found = self.expression(place)
        assert isinstance(found, Name | Index), "what is written is replaced by what can be written"
        return found

    def _called(self, name: str) -> str:
        if name in self.arrays:
            return self.arrays[name].array
        match self.names.get(name):
            case Name(identifier):
                return identifier
            case _:
                return name


def is_light(value: Expr) -> bool:
    """Whether a value costs nothing to write twice."""
    match value:
        case IntLiteral() | FloatLiteral() | Name() | Index():
            return True
        case Unary("-", operand) | Cast(_, operand):
            return isinstance(operand, IntLiteral | FloatLiteral | Name)
        case _:
            return False


def is_cheap(value: Expr) -> bool:
    """Whether a value is arithmetic on scalars, which a compiler does once however often it is written."""
    scalar = (IntLiteral, FloatLiteral, Name, Binary, Unary, Cast)
    return is_light(value) or all(isinstance(e, scalar) for e in subexpressions(value))
