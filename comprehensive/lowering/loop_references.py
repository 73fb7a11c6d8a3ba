"""References to memory in a loop of a kernel, in order.

In: a loop, of a block or of a thread.  Out: each reference with the scalars of the loop put in its subscripts
(``int p = i*B + v; c[p]`` is ``c[i*B + v]``) and with what has to hold for it to happen; or the loop with names in
place of some.  Example: in ``for (z) if (p < n) c[p] += a[z]`` the write of ``c`` happens where the loop runs and
``p < n``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never, cast

from comprehensive.kernel_ir.kernel import (
    Barrier,
    Comment,
    KernelStmt,
    OfTiles,
    Plain,
    SharedTile,
    ThreadIf,
    UniformFor,
    UniformIf,
)
from comprehensive.loops.access import names_read, substitute
from comprehensive.loops.rewrite import conditional_parts
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Cast,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import assigned_scalars, subexpressions

Types = Mapping[str, ScalarType]


@dataclass(frozen=True, slots=True)
class Reached:
    """When a place in a loop is reached: never where one of ``conditions`` does not hold.

    ``surely`` says whether it is reached wherever all of them hold: the body of a ``while`` loop need not be.
    """

    conditions: tuple[Expr, ...] = ()
    surely: bool = True

    def under(self, *conditions: Expr) -> Reached:
        return replace(self, conditions=(*self.conditions, *conditions))

    @property
    def perhaps(self) -> Reached:
        return replace(self, surely=False)


ALWAYS = Reached()


@dataclass(frozen=True, slots=True)
class Reference:
    """An access with the scalars of the loop put in its subscripts, and when it happens."""

    index: Index
    is_write: bool
    reached: Reached
    band: int
    """The number of the statement it is in, of those that all threads run one after the other."""


@dataclass(slots=True)
class Found:
    """The references of a loop to memory, and the names that do not keep one value in it."""

    references: list[Reference] = field(default_factory=list[Reference])
    atomic: set[str] = field(default_factory=set[str])
    varying: set[str] = field(default_factory=set[str])
    leaves: bool = False
    bands: int = 0


def references_of(loop: For | UniformFor, types: Types) -> Found:
    """Return what a loop does to memory."""
    found = Found()
    walk = _Walk(types, _assigned(loop), _recording(found), found)
    if isinstance(loop, For):
        walk.plain((loop,), ALWAYS, {})
    else:
        walk.kernel((loop,), ALWAYS, {})
    return found


Loop = TypeVar("Loop", For, UniformFor)


def with_names(loop: Loop, types: Types, names: Mapping[Index, str]) -> Loop:
    """The loop with names in place of references; these are as :func:`references_of` gives them."""
    walk = _Walk(types, _assigned(loop), _naming(names))
    (replaced,) = (
        walk.plain((loop,), ALWAYS, {}) if isinstance(loop, For) else walk.kernel((loop,), ALWAYS, {})
    )
    return cast("Loop", replaced)


_OnReference = Callable[[Index, Index, bool, bool, Reached], Expr]
"""Called with a reference as it is, with scalars of the loop put in, whether it is written and whether that is atomic,
and when it happens; returns what takes its place."""


def _recording(found: Found) -> _OnReference:
    def record(index: Index, full: Index, is_write: bool, atomic: bool, reached: Reached) -> Expr:
        found.references.append(Reference(full, is_write, reached, found.bands))
        if atomic:
            found.atomic.add(index.array)
        return index

    return record


def _naming(names: Mapping[Index, str]) -> _OnReference:
    def named(index: Index, full: Index, is_write: bool, atomic: bool, reached: Reached) -> Expr:
        return Name(names[full]) if full in names else index

    return named


def runs(loop: For) -> Expr:
    """Whether the loop does any step."""
    start = loop.start
    if not isinstance(start, IntLiteral) and loop.type is not None:
        start = Cast(loop.type, start)
    return Binary(loop.relation, start, loop.bound)


def _assigned(loop: For | UniformFor) -> frozenset[str]:
    """Scalars that statements of a loop assign."""
    if isinstance(loop, For):
        return assigned_scalars((loop,))
    return frozenset[str]().union(*map(_assigned_in, loop.body))


def _assigned_in(statement: KernelStmt) -> frozenset[str]:
    match statement:
        case Plain(body=body):
            return assigned_scalars(body)
        case UniformFor():
            return _assigned(statement)
        case UniformIf(then=then, otherwise=otherwise) | ThreadIf(then=then, otherwise=otherwise):
            return frozenset[str]().union(*map(_assigned_in, (*then, *otherwise)))
        case Barrier() | Comment() | SharedTile() | OfTiles():
            return frozenset()
        case _:
            assert_never(statement)


@dataclass(frozen=True, slots=True)
class _Walk:
    types: Types
    assigned: frozenset[str]
    on_reference: _OnReference
    found: Found = field(default_factory=Found)

    def kernel(
        self, body: Sequence[KernelStmt], reached: Reached, values: Mapping[str, Expr]
    ) -> tuple[KernelStmt, ...]:
        values = dict(values)
        result: list[KernelStmt] = []
        for statement in body:
            match statement:
                case Plain():
                    self.found.bands += 1
                    result.append(Plain(self._scope(statement.body, reached, values)))
                case UniformFor(header=header):
                    head, inside = self._header(header, reached, values)
                    result.append(UniformFor(head, self.kernel(statement.body, inside, values)))
                case UniformIf() | ThreadIf():
                    test, then, otherwise = self._test(statement.condition, reached, values)
                    both = (
                        self.kernel(statement.then, then, values),
                        self.kernel(statement.otherwise, otherwise, values),
                    )
                    result.append(replace(statement, condition=test, then=both[0], otherwise=both[1]))
                case Barrier() | Comment() | SharedTile() | OfTiles():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result)

    def plain(self, body: Sequence[Stmt], reached: Reached, values: Mapping[str, Expr]) -> tuple[Stmt, ...]:
        return self._scope(body, reached, dict(values))

    def _scope(self, body: Sequence[Stmt], reached: Reached, values: dict[str, Expr]) -> tuple[Stmt, ...]:
        """Statements one after the other; ``values`` are those of scalars, which they add to."""
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare(initial=initial):
                    if initial is not None:
                        initial = self._expr(initial, reached, values)
                    self._declare(statement, values)
                    result.append(replace(statement, initial=initial))
                case Assign(target=target):
                    value = self._expr(statement.value, reached, values)
                    if isinstance(target, Index):
                        inner = tuple(self._expr(s, reached, values) for s in target.subscripts)
                        target = replace(target, subscripts=inner)
                        found = self._reference(target, True, statement.atomic, reached, values)
                        assert isinstance(found, Name | Index)
                        target = found
                    else:
                        self.found.varying.add(target.identifier)
                    result.append(replace(statement, target=target, value=value))
                case For():
                    head, inside = self._header(statement, reached, values)
                    result.append(replace(head, body=self.plain(statement.body, inside, values)))
                case If():
                    test, then, otherwise = self._test(statement.condition, reached, values)
                    first = self.plain(statement.then, then, values)
                    second = self.plain(statement.otherwise, otherwise, values)
                    result.append(replace(statement, condition=test, then=first, otherwise=second))
                case While() | DoWhile():
                    test = self._expr(statement.condition, reached.perhaps, values)
                    inner_body = self.plain(statement.body, reached.perhaps, values)
                    result.append(replace(statement, condition=test, body=inner_body))
                case Block():
                    result.append(replace(statement, body=self.plain(statement.body, reached, values)))
                case Break() | Continue():
                    self.found.leaves = True
                    result.append(statement)
                case MetaFor():
                    raise ValueError("a meta_for in a kernel")
                case _:
                    assert_never(statement)
        return tuple(result)

    def _declare(self, statement: Declare, values: dict[str, Expr]) -> None:
        """An index scalar stands for its value; any other one is not known before the loop."""
        values.pop(statement.name, None)
        initial = statement.initial
        if (
            initial is not None
            and statement.type in (ScalarType.INT, ScalarType.LONG)
            and promote(type_of(initial, self.types)) is statement.type
            and not (names_read(initial) | {statement.name}) & self.assigned
            and not any(isinstance(e, Index) for e in subexpressions(initial))
        ):
            values[statement.name] = substitute(initial, values)
        else:
            self.found.varying.add(statement.name)

    def _header(self, loop: For, reached: Reached, values: dict[str, Expr]) -> tuple[For, Reached]:
        start, bound, step = (self._expr(e, reached, values) for e in (loop.start, loop.bound, loop.step))
        self.found.varying.add(loop.iterator)
        values.pop(loop.iterator, None)
        inside = reached.perhaps if loop.type is None else reached.under(substitute(runs(loop), values))
        return replace(loop, start=start, bound=bound, step=step), inside

    def _test(
        self, condition: Expr, reached: Reached, values: Mapping[str, Expr]
    ) -> tuple[Expr, Reached, Reached]:
        test = self._expr(condition, reached, values)
        full = substitute(condition, values)
        return test, reached.under(full), reached.under(Unary("!", full))

    def _expr(self, expr: Expr, reached: Reached, values: Mapping[str, Expr]) -> Expr:
        if any(conditional_parts(expr)):
            reached = reached.perhaps

        def one(e: Expr) -> Expr:
            if not isinstance(e, Index):
                return e
            return self._reference(e, False, False, reached, values)

        return map_expression(expr, one)

    def _reference(
        self, index: Index, is_write: bool, atomic: bool, reached: Reached, values: Mapping[str, Expr]
    ) -> Expr:
        full = replace(index, subscripts=tuple(substitute(s, values) for s in index.subscripts))
        return self.on_reference(index, full, is_write, atomic, reached)
