"""The invariants of the IR.  A nest that breaks one was built by a faulty rewrite: a bug, never a user error.

In: a nest.  Out: nothing, or :class:`VerificationError` naming the invariant and the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockStmt, Loop, Nest, Role, Threads
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Call,
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
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import bodies, declared, own_expressions, subexpressions


class VerificationError(Exception):
    """A nest breaks an invariant of the IR."""


class _Scope(Struct, frozen=True):
    """Names visible at a place: their ranks (0 for scalars), their types, and those that may not be assigned."""

    ranks: Mapping[str, int]
    types: Mapping[str, ScalarType]
    fixed: frozenset[str]

    def declare(self, name: str, type: ScalarType, rank: int = 0, *, fixed: bool = False) -> _Scope:
        if name in self.ranks:
            raise VerificationError(f"{name!r} is declared twice on a path")
        kept = self.fixed | {name} if fixed else self.fixed
        return _Scope({**self.ranks, name: rank}, {**self.types, name: type}, kept)

    def within(self, statement: BlockStmt) -> _Scope:
        """The scope with what a statement of the block declares."""
        scope = self
        for name, type in declared(statement).items():
            scope = scope.declare(name, type, fixed=True)
        return scope


def verify(nest: Nest) -> None:
    """Raises VerificationError if

    a name is used that is not declared, or declared twice on a path; a subscript has another rank than its array;
    scalars are not defined in order; an extent reads anything but scalars; bands are missing or have different
    extents; a loop of a block does not declare its iterator, or a declaration of it is no constant; a uniform scalar,
    a scalar of the nest or the iterator of a parallel or block loop is assigned; const data is written; a cached array
    does not exist; a ``meta_for`` is left in a body; ``break`` or ``continue`` stands outside a loop; an argument of a
    call has another type than the prototype of the function.
    """
    try:
        _verify(nest)
    except VerificationError as error:
        raise VerificationError(f"nest {nest.name!r}: {error}") from None


def _verify(nest: Nest) -> None:
    scope = _Scope({}, {}, frozenset())
    for scalar in nest.scalars:
        if scalar.value is not None:
            if scalar.role is not Role.HOST:
                raise VerificationError(
                    f"{scalar.name!r} has a definition but is an argument of the function"
                )
            _scalars_only(scalar.value, scope, f"the definition of {scalar.name!r}")
        scope = scope.declare(scalar.name, scalar.type, fixed=True)
    launch = scope
    for array in nest.arrays:
        for dim in array.dims or ():
            if dim is not None:
                _scalars_only(dim, launch, f"a dimension of {array.name!r}")
        scope = scope.declare(array.name, array.type, array.rank, fixed=array.const)
    for condition in nest.preconditions:
        _scalars_only(condition, launch, "a precondition")
    _parallel_loops(nest.grid, launch, "grid")
    for loop in nest.grid:
        scope = scope.declare(loop.iterator, ScalarType.INT, fixed=True)
    missing = [name for name in nest.cached if name not in {a.name for a in nest.arrays}]
    if missing:
        raise VerificationError(f"the cached array {missing[0]!r} does not exist")
    if not nest.bands:
        raise VerificationError("there is no band of threads")
    extents = [loop.extent for loop in nest.thread_loops]
    for band in nest.bands:
        _parallel_loops(band.loops, launch, "thread")
        if [loop.extent for loop in band.loops] != extents:
            raise VerificationError("bands have different extents")
    _block_body(nest.body, scope)


def _parallel_loops(loops: tuple[Loop, ...], launch: _Scope, kind: str) -> None:
    if not loops:
        raise VerificationError(f"there are no {kind} loops")
    for loop in loops:
        _scalars_only(loop.extent, launch, f"the extent of {kind} loop {loop.iterator!r}")


def _scalars_only(expr: Expr, launch: _Scope, what: str) -> None:
    for name in sorted(names_read(expr)):
        if launch.ranks.get(name) != 0:
            raise VerificationError(f"{what} reads {name!r}, which is no scalar known at the launch there")


def _block_body(body: tuple[BlockStmt, ...], scope: _Scope) -> None:
    for statement in body:
        match statement:
            case Threads():
                _body(statement.body, scope.within(statement), in_loop=False)
            case Declare(name=name):
                if statement.dims or statement.initial is None or not statement.const:
                    raise VerificationError(
                        f"{name!r} of the block is no constant scalar with its definition"
                    )
                _exprs(own_expressions(statement), scope)
                scope = scope.within(statement)
            case For() | If():
                if isinstance(statement, For) and statement.type is None:
                    raise VerificationError(f"a loop of the block assigns {statement.iterator!r}")
                _exprs(own_expressions(statement), scope)
                for inner in bodies(statement):
                    _block_body(inner, scope.within(statement))
            case _:
                assert_never(statement)


def _body(body: tuple[Stmt, ...], scope: _Scope, *, in_loop: bool) -> None:
    for statement in body:
        match statement:
            case Declare():
                _exprs(statement.dims, scope)
                if statement.initial is not None:
                    _exprs((statement.initial,), scope)
                rank = len(statement.dims)
                scope = scope.declare(statement.name, statement.type, rank, fixed=statement.const)
            case Assign():
                _exprs((statement.value, statement.target), scope)
                target = statement.target
                _assignable(target.identifier if isinstance(target, Name) else target.array, scope)
            case If():
                _exprs((statement.condition,), scope)
                _body(statement.then, scope, in_loop=in_loop)
                _body(statement.otherwise, scope, in_loop=in_loop)
            case For():
                _exprs((statement.start, statement.bound, statement.step), scope)
                if statement.type is None:
                    if scope.ranks.get(statement.iterator) != 0:
                        raise VerificationError(f"loop iterator {statement.iterator!r} is not declared")
                    _assignable(statement.iterator, scope)
                    _body(statement.body, scope, in_loop=True)
                else:
                    _body(statement.body, scope.declare(statement.iterator, statement.type), in_loop=True)
            case While() | DoWhile():
                _exprs((statement.condition,), scope)
                _body(statement.body, scope, in_loop=True)
            case Block():
                _body(statement.body, scope, in_loop=in_loop)
            case Break() | Continue():
                if not in_loop:
                    raise VerificationError("break or continue outside a loop of the thread")
            case MetaFor():
                raise VerificationError(f"meta_for {statement.iterator!r} inside a thread's body")
            case _:
                assert_never(statement)


def _assignable(name: str, scope: _Scope) -> None:
    if name in scope.fixed:
        raise VerificationError(f"{name!r} may not be assigned")


def _exprs(exprs: tuple[Expr, ...], scope: _Scope) -> None:
    for expr in exprs:
        for part in subexpressions(expr):
            match part:
                case Call():
                    _call(part, scope)
                    continue
                case Name(identifier=name):
                    rank = 0
                case Index(array=name):
                    rank = len(part.subscripts)
                case _:
                    continue
            if name not in scope.ranks:
                raise VerificationError(f"{name!r} is not declared")
            if scope.ranks[name] != rank:
                raise VerificationError(f"{name!r} has rank {scope.ranks[name]} and is used with rank {rank}")


def _call(call: Call, scope: _Scope) -> None:
    """The conversions of a call are written out, since C++ would choose an overload by the type of an argument."""
    try:
        given = [promote(type_of(argument, scope.types)) for argument in call.arguments]
    except KeyError as error:
        raise VerificationError(f"{error.args[0]!r} is not declared") from None
    for found, wanted in zip(given, MATH[call.function].wanted(given), strict=True):
        if found is not wanted:
            raise VerificationError(
                f"an argument of {call.function!r} is of type {found.value}, not {wanted.value}"
            )
