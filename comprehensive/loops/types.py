"""The C types of expressions: integer promotions and usual arithmetic conversions (C11 6.3.1.1, 6.3.1.8).

In: an expression and an environment, which gives the type of every scalar and the element type of every array.
Out: a :class:`ScalarType`.  The data model is LP64: ``long`` holds every ``unsigned``.  Example: for
``unsigned char c; float x;``, ``c + 1`` is ``int``, ``c * x`` is ``float`` and ``c < x`` is ``int``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import assert_never

from comprehensive.loops.ir import BlockStmt, Nest, Threads
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.rewrite import map_expression, with_bodies
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import Statement, all_statements_in, bodies, declared
from comprehensive.records import replace

ROUNDED_IN_MEMORY_ALONE = (ScalarType.HALF, ScalarType.BFLOAT16)
"""Scalars of these types are not rounded at every step."""
_BOOLEAN = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


def type_of(expr: Expr, environment: Mapping[str, ScalarType]) -> ScalarType:
    """The type of an expression; raises KeyError for a name that the environment does not know."""
    match expr:
        case IntLiteral() | FloatLiteral() | Cast():
            return expr.type
        case Name():
            return environment[expr.identifier]
        case Index():
            return environment[expr.array]
        case Unary():
            return ScalarType.INT if expr.operator == "!" else promote(type_of(expr.operand, environment))
        case Binary():
            if expr.operator in _BOOLEAN:
                return ScalarType.INT
            left = type_of(expr.left, environment)
            if expr.operator in ("<<", ">>"):
                return promote(left)
            return common_type(left, type_of(expr.right, environment))
        case Conditional():
            return common_type(type_of(expr.then, environment), type_of(expr.otherwise, environment))
        case Call():
            return MATH[expr.function].result
        case _:
            assert_never(expr)


def as_type(value: Expr, type: ScalarType, environment: Mapping[str, ScalarType]) -> Expr:
    """The value as one of a type, converted where it has another one."""
    return value if type_of(value, environment) is type else Cast(type, value)


def with_prototypes(expr: Expr, environment: Mapping[str, ScalarType]) -> Expr:
    """The expression with the arguments of calls converted as C does it by the prototype of the function.

    ``sqrt(x)  -->  sqrt((double)x)`` for ``float x``.  C++ has overloads: there the type of an argument decides
    which function is called and what type the call has, so that no conversion may be left unsaid.
    """

    def converted(e: Expr) -> Expr:
        if not isinstance(e, Call):
            return e
        given = [promote(type_of(argument, environment)) for argument in e.arguments]
        arguments = tuple(
            argument if kind is wanted else Cast(wanted, argument, argument.span)
            for argument, kind, wanted in zip(e.arguments, given, MATH[e.function].wanted(given), strict=True)
        )
        return replace(e, arguments=arguments)

    return map_expression(expr, converted)


def exact_product(left: Expr, right: Expr, environment: Mapping[str, ScalarType]) -> Binary:
    """Return ``left * right``, in ``long`` where C would compute it in an unsigned type and wrap around."""
    if not type_of(Binary("*", left, right), environment).wraps:
        return Binary("*", left, right)
    wide = type_of(right, environment).is_wide
    return Binary("*", Cast(ScalarType.LONG, left), Cast(ScalarType.LONG, right) if wide else right)


def environment_of(nest: Nest, band: int | None = None) -> dict[str, ScalarType]:
    """The types known everywhere in the grid: scalars, arrays (element types), iterators of the grid.

    With the number of a band (in program order) also what its enclosing block statements declare and the
    iterators of its threads.
    """
    types = {s.name: s.type for s in nest.scalars}
    types |= {a.name: a.type for a in nest.arrays}
    types |= {loop.iterator: ScalarType.INT for loop in nest.grid}
    if band is None:
        return types
    found = next(islice(_environments(nest.body, types), band, None), None)
    if found is None:
        raise IndexError(f"nest {nest.name!r} has no band {band}")
    return found


def with_declarations(environment: Mapping[str, ScalarType], body: Iterable[Stmt]) -> dict[str, ScalarType]:
    """The environment after the declarations of a body, without those of its nested scopes."""
    return {**environment, **{s.name: s.type for s in body if isinstance(s, Declare)}}


def within_bodies(
    body: Iterable[Stmt],
    environment: Mapping[str, ScalarType],
    change: Callable[[tuple[Stmt, ...], Mapping[str, ScalarType]], tuple[Stmt, ...]],
) -> tuple[Stmt, ...]:
    """The statements with the bodies in them changed, each by the types of the names that it knows."""

    def changed(statement: Stmt) -> Stmt:
        def within(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return change(inner, {**environment, **declared(statement)})

        return with_bodies(statement, within)

    return tuple(map(changed, body))


def unambiguous(declarations: Iterable[tuple[str, ScalarType]]) -> dict[str, ScalarType]:
    """The types of names, less those that have different types at different places."""
    found: dict[str, set[ScalarType]] = {}
    for name, type in declarations:
        found.setdefault(name, set()).add(type)
    return {name: next(iter(types)) for name, types in found.items() if len(types) == 1}


def _environments(
    body: tuple[BlockStmt, ...], types: Mapping[str, ScalarType]
) -> Iterator[dict[str, ScalarType]]:
    """The types known in each band, in program order."""
    for statement in body:
        inside = {**types, **declared(statement)}
        match statement:
            case Threads():
                yield inside
            case Declare():
                types = inside
            case For() | If():
                for inner in bodies(statement):
                    yield from _environments(inner, inside)
            case _:
                assert_never(statement)


def names_declared(body: Iterable[Statement], types: Set[ScalarType]) -> frozenset[str]:
    """Loop variables and scalars that a body declares with one of these types."""
    return frozenset(
        name for s in all_statements_in(body) for name, type in declared(s).items() if type in types
    )
