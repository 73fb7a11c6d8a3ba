"""Questions of a region whether data is there at all, as scalars that host code computes right before it.

In: statements, and the pointers of which may be asked.  Out: the statements without such questions, and the scalars::

    if (bias != NULL) s += bias[j];   -->   if (has_bias) s += bias[j];       const int has_bias = bias != 0;

All threads of a launch get the same answer, and stages after the parser see an integer like any other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    DoWhile,
    Expr,
    HostScalar,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.precedence import LOGICAL
from comprehensive.metafork.rewrite import with_bodies, with_operands, with_own_expressions


class NullTests(Struct, frozen=True):
    """The scalars of one function, whose ``names`` are by pointer; ``fresh`` gives names that are free."""

    fresh: Callable[[str], str]
    names: dict[str, str] = field(default_factory=lambda: {})

    def replaced(
        self, body: tuple[Stmt, ...], pointers: Mapping[str, str]
    ) -> tuple[tuple[Stmt, ...], tuple[HostScalar, ...]]:
        """Return the statements with the answers in place of the questions, and the scalars that hold these.

        ``pointers`` are those of which may be asked, with the parameters that they are.
        """
        region = _Region(self, pointers)
        return region.body(body), tuple(region.found.values())

    def name_of(self, pointer: str) -> str:
        """Return the name of the scalar that says whether data is there."""
        if pointer not in self.names:
            self.names[pointer] = self.fresh(f"has_{pointer}")
        return self.names[pointer]


class _Region(Struct, frozen=True):
    tests: NullTests
    pointers: Mapping[str, str]
    found: dict[str, HostScalar] = field(default_factory=lambda: {})

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(self._statement, body))

    def _statement(self, statement: Stmt) -> Stmt:
        is_governed = isinstance(statement, If | While | DoWhile)
        changed = with_own_expressions(statement, self._truth if is_governed else self._value)
        return with_bodies(changed, self.body)

    def _truth(self, expression: Expr) -> Expr:
        """An expression of which is asked only whether it is 0."""
        match expression:
            case Name(pointer) if pointer in self.pointers:
                return self._answer(expression)
            case _:
                return self._value(expression)

    def _value(self, expression: Expr) -> Expr:
        match expression:
            case Binary("==" | "!=", Name(pointer) as asked, Name("NULL") | IntLiteral(0)) | Binary(
                "==" | "!=", Name("NULL") | IntLiteral(0), Name(pointer) as asked
            ) if pointer in self.pointers:
                answer = self._answer(asked)
                return answer if expression.operator == "!=" else Unary("!", answer, expression.span)
            case Unary(operator) | Binary(operator) if operator in LOGICAL:
                return with_operands(expression, self._truth)
            case Conditional(condition, then, otherwise, span):
                return Conditional(self._truth(condition), self._value(then), self._value(otherwise), span)
            case Cast(ScalarType.BOOL):
                return with_operands(expression, self._truth)
            case _:
                return with_operands(expression, self._value)

    def _answer(self, pointer: Name) -> Name:
        parameter = self.pointers[pointer.identifier]
        name = self.tests.name_of(parameter)
        scalar = HostScalar(name, ScalarType.INT, None, added=True, pointer=parameter)
        self.found.setdefault(name, scalar)
        return Name(name, pointer.span)
