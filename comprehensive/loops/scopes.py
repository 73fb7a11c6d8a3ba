"""Every name once on a path: the free names of a region, and local names renamed where they hide others.

In: statements as parsed, where inner scopes may reuse names.  Out: statements in which a name means one thing
wherever it is visible::

    { int x = 1; for (...) { int x = 2; a[x] = x; } }  -->  { int x = 1; for (...) { int x_1 = 2; a[x_1] = x_1; } }
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.types import with_prototypes
from comprehensive.metafork.ast import (
    Assign,
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
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.rewrite import map_expression, with_bodies, with_own_expressions
from comprehensive.metafork.walk import bodies, own_expressions
from comprehensive.records import replace


class Scope(Struct, frozen=True):
    """The meanings of the source's names at a place of the nest.

    ``values`` replaces scalars by expressions and ``arrays`` local arrays by their new names; ``taken`` are the
    names declared on the path; ``avoid`` are those that a new name should not be, for the sake of the reader;
    ``types`` are those of the names on the path.
    """

    values: Mapping[str, Expr]
    arrays: Mapping[str, str]
    taken: frozenset[str]
    avoid: frozenset[str]
    types: Mapping[str, ScalarType]

    def declare(self, name: str, type: ScalarType, value: Expr | None = None) -> tuple[str, Scope]:
        """A name of the source declared: its name in the nest, and the scope after it.

        ``value`` is what reads of the name become, if not the new name itself.
        """
        new = fresh(name, self.avoid | self.taken) if name in self.taken else name
        stands_for = Name(new) if value is None else value
        arrays = {key: array for key, array in self.arrays.items() if key != name}
        values = {**self.values, name: stands_for}
        return new, replace(
            self, values=values, arrays=arrays, taken=self.taken | {new}, types={**self.types, new: type}
        )

    def declare_array(self, name: str, type: ScalarType) -> tuple[str, Scope]:
        new, scope = self.declare(name, type)
        return new, replace(scope, arrays={**scope.arrays, name: new})

    def expr(self, expr: Expr) -> Expr:
        def resolve(e: Expr) -> Expr:
            match e:
                case Name():
                    value = self.values.get(e.identifier, e)
                    return replace(value, span=e.span)
                case Index():
                    return replace(e, array=self.arrays.get(e.array, e.array))
                case _:
                    return e

        return with_prototypes(map_expression(expr, resolve), self.types)

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements of one scope with their names resolved."""
        scope = self
        result: list[Stmt] = []
        for statement in body:
            resolved, scope = scope._statement(statement)
            result.append(resolved)
        return tuple(result)

    def _statement(self, statement: Stmt) -> tuple[Stmt, Scope]:
        match statement:
            case Declare():
                dims = tuple(self.expr(d) for d in statement.dims)
                initial = None if statement.initial is None else self.expr(statement.initial)
                declare = self.declare_array if dims else self.declare
                name, scope = declare(statement.name, statement.type)
                return replace(statement, name=name, dims=dims, initial=initial), scope
            case Assign():
                target = self.expr(statement.target)
                if not isinstance(target, (Name, Index)):
                    raise ValueError("the iterator of a parallel loop is assigned")
                return replace(statement, target=target, value=self.expr(statement.value)), self
            case For():
                start = self.expr(statement.start)
                if statement.type is None:
                    target = self.expr(Name(statement.iterator))
                    if not isinstance(target, Name):
                        raise ValueError("the iterator of a parallel loop is assigned")
                    name, scope = target.identifier, self
                else:
                    name, scope = self.declare(statement.iterator, statement.type)
                bound, step = scope.expr(statement.bound), scope.expr(statement.step)
                body = scope.body(statement.body)
                return replace(statement, iterator=name, start=start, bound=bound, step=step, body=body), self
            case If() | While() | DoWhile() | Block() | Break() | Continue():
                return with_bodies(with_own_expressions(statement, self.expr), self.body), self
            case MetaFor():
                raise ValueError("a meta_for inside a thread's body")
            case _:
                assert_never(statement)


def free_names(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The names that a body uses and does not declare, read or written, scalars and arrays."""
    free: set[str] = set()
    declared: frozenset[str] = frozenset()
    for statement in body:
        free |= _free_in(statement) - declared
        if isinstance(statement, Declare):
            declared |= {statement.name}
    return frozenset(free)


def _free_in(statement: Stmt) -> frozenset[str]:
    match statement:
        case For() | MetaFor():
            inner = names_read(statement.bound) | names_read(statement.step) | free_names(statement.body)
            if statement.type is None:
                inner |= {statement.iterator}
            else:
                inner -= {statement.iterator}
            return names_read(statement.start) | inner
        case _:
            read = map(names_read, own_expressions(statement))
            return frozenset[str]().union(*read, *map(free_names, bodies(statement)))
