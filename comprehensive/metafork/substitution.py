"""Trees with other parts: names replaced by expressions, arrays by other arrays, all at one place.

In: a tree and what its names become.  Out: the tree in these terms::

    Substitution({"x": Binary("+", Name("a"), Name("b"))}, {}, here).expression(parsed "x * x")  -->  (a + b) * (a + b)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    MetaFor,
    Name,
    Stmt,
    While,
)
from comprehensive.metafork.rewrite import with_operands


@dataclass(frozen=True, slots=True)
class Part:
    """What an array stands for: elements of another one, from the first subscripts on and so many further."""

    array: str
    subscripts: tuple[Expr, ...] = ()
    offset: Expr | None = None


@dataclass(frozen=True, slots=True)
class Substitution:
    """``names`` become expressions, ``arrays`` parts of others; every node gets the place ``span``, if there is one."""

    names: Mapping[str, Expr]
    arrays: Mapping[str, Part]
    span: Span | None

    def expression(self, expression: Expr) -> Expr:
        match expression:
            case Name(identifier) if identifier in self.names:
                return self.names[identifier]
            case Index(array, subscripts) if array in self.arrays:
                return self._element(
                    self.arrays[array],
                    tuple(map(self.expression, subscripts)),
                    self.span or expression.span,
                )
            case _:
                found = with_operands(expression, self.expression)
                return replace(found, span=self.span or expression.span)

    def _element(self, part: Part, subscripts: tuple[Expr, ...], span: Span) -> Index:
        if part.offset is not None and subscripts:
            subscripts = (Binary("+", part.offset, subscripts[0], span), *subscripts[1:])
        return Index(part.array, (*part.subscripts, *subscripts), span)

    def body(self, statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, statement: Stmt) -> Stmt:
        """The statement; what it declares is called as its name is replaced, if by a name."""
        changed = self._with_parts(statement)
        return replace(changed, span=self.span or statement.span)

    def _with_parts(self, statement: Stmt) -> Stmt:
        here = self.expression
        match statement:
            case Declare(name=name, dims=dims, initial=initial):
                value = None if initial is None else here(initial)
                return replace(statement, name=self._called(name), dims=tuple(map(here, dims)), initial=value)
            case Assign(target=target, value=value):
                written = here(target)
                assert isinstance(written, Name | Index), "what is written is replaced by what can be written"
                return replace(statement, target=written, value=here(value))
            case If(condition, then, otherwise):
                then, otherwise = self.body(then), self.body(otherwise)
                return replace(statement, condition=here(condition), then=then, otherwise=otherwise)
            case For() | MetaFor():
                return replace(
                    statement,
                    iterator=self._called(statement.iterator),
                    start=here(statement.start),
                    bound=here(statement.bound),
                    step=here(statement.step),
                    body=self.body(statement.body),
                )
            case While(condition, body) | DoWhile(body, condition):
                return replace(statement, condition=here(condition), body=self.body(body))
            case Block(body):
                return replace(statement, body=self.body(body))
            case Break() | Continue():
                return statement
            case _:
                assert_never(statement)

    def _called(self, name: str) -> str:
        if name in self.arrays:
            return self.arrays[name].array
        match self.names.get(name):
            case Name(identifier):
                return identifier
            case _:
                return name
