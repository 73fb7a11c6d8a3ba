"""References to memory in a loop of a kernel, in order.

In: a loop, of a block or of a thread.  Out: each reference with the scalars of the loop put in its subscripts
(``int p = i*B + v; c[p]`` is ``c[i*B + v]``) and with what has to hold for it to happen; or the loop with names in
place of some.  Example: in ``for (z) if (p < n) c[p] += a[z]`` the write of ``c`` happens where the loop runs and
``p < n``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct, field

from comprehensive.kernel_ir.kernel import Barrier, Comment, KernelStmt, OfTiles, SharedTile
from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import conditional_parts
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
    Unary,
    While,
)
from comprehensive.metafork.rewrite import map_expression, substitute
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import assigned_scalars, reads_data
from comprehensive.records import replace

Types = Mapping[str, ScalarType]


class Reached(Struct, frozen=True):
    """The conditions for reaching a place in a loop: it is never reached where one of ``conditions`` does not hold.

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


class Reference(Struct, frozen=True):
    """An access with the scalars of the loop put in its subscripts, and when it happens."""

    index: Index
    is_write: bool
    reached: Reached
    band: int
    """The number of the band it is in, of those that all threads run one after the other."""


class Found(Struct):
    """The references of a loop to memory, and the names that do not keep one value in it."""

    references: list[Reference] = field(default_factory=list[Reference])
    atomic: set[str] = field(default_factory=set[str])
    varying: set[str] = field(default_factory=set[str])
    leaves: bool = False
    bands: int = 0


def references_of(loop: For[KernelStmt], types: Types) -> Found:
    """Return what a loop does to memory."""
    found = Found()
    _Walk(types, assigned_scalars((loop,)), _recording(found), found).loop(loop, ALWAYS, {})
    return found


def with_names(loop: For[KernelStmt], types: Types, names: Mapping[Index, str]) -> For[KernelStmt]:
    """The loop with names in place of references; these are as :func:`references_of` gives them."""
    return _Walk(types, assigned_scalars((loop,)), _naming(names)).loop(loop, ALWAYS, {})


def with_reads(loop: For[KernelStmt], types: Types, names: Mapping[Index, Expr]) -> For[KernelStmt]:
    """The loop with something else in place of what it reads; references are as :func:`references_of` gives them."""
    return _Walk(types, assigned_scalars((loop,)), _reading(names)).loop(loop, ALWAYS, {})


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


def _reading(names: Mapping[Index, Expr]) -> _OnReference:
    def read(index: Index, full: Index, is_write: bool, atomic: bool, reached: Reached) -> Expr:
        return index if is_write else names.get(full, index)

    return read


def runs(loop: For[KernelStmt]) -> Expr:
    """Whether the loop does any step."""
    start = loop.start
    if not isinstance(start, IntLiteral) and loop.type is not None:
        start = Cast(loop.type, start)
    return Binary(loop.relation, start, loop.bound)


def _may_share_band(statement: KernelStmt) -> bool:
    """Whether statements beside this one may be of the same band: two bands have braces, or meet between them."""
    match statement:
        case Block() | Barrier() | Comment() | SharedTile() | OfTiles():
            return False
        case For() | If():
            return not statement.uniform
        case _:
            return True


class _Walk(Struct, frozen=True):
    types: Types
    assigned: frozenset[str]
    on_reference: _OnReference
    found: Found = field(default_factory=Found)

    def loop(self, loop: For[KernelStmt], reached: Reached, values: dict[str, Expr]) -> For[KernelStmt]:
        head, inside = self._header(loop, reached, values)
        return replace(head, body=self._body(loop.body, inside, values, together=loop.uniform))

    def _body(
        self,
        body: Sequence[KernelStmt],
        reached: Reached,
        values: Mapping[str, Expr],
        *,
        together: bool = False,
    ) -> tuple[KernelStmt, ...]:
        """Statements one after the other, where a block runs them ``together`` in bands.

        ``values`` are those of scalars around them.
        """
        values = dict(values)
        result: list[KernelStmt] = []
        for statement in body:
            is_apart = together and not _may_share_band(statement)
            self.found.bands += is_apart
            result.append(self._statement(statement, reached, values))
            self.found.bands += is_apart
        return tuple(result)

    def _statement(self, statement: KernelStmt, reached: Reached, values: dict[str, Expr]) -> KernelStmt:
        """A statement; it adds its scalar to ``values`` where it declares one."""
        match statement:
            case Declare(initial=initial):
                if initial is not None:
                    initial = self._expr(initial, reached, values)
                self._declare(statement, values)
                return replace(statement, initial=initial)
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
                return replace(statement, target=target, value=value)
            case For():
                return self.loop(statement, reached, values)
            case If():
                test, then, otherwise = self._test(statement.condition, reached, values)
                first = self._body(statement.then, then, values, together=statement.uniform)
                second = self._body(statement.otherwise, otherwise, values, together=statement.uniform)
                return replace(statement, condition=test, then=first, otherwise=second)
            case While() | DoWhile():
                test = self._expr(statement.condition, reached.perhaps, values)
                inner_body = self._body(statement.body, reached.perhaps, values)
                return replace(statement, condition=test, body=inner_body)
            case Block():
                return replace(statement, body=self._body(statement.body, reached, values))
            case Break() | Continue():
                self.found.leaves = True
                return statement
            case Barrier() | Comment() | SharedTile() | OfTiles():
                return statement
            case MetaFor():
                raise ValueError("a meta_for in a kernel")
            case _:
                assert_never(statement)

    def _declare(self, statement: Declare, values: dict[str, Expr]) -> None:
        """An index scalar stands for its value; any other one is not known before the loop."""
        values.pop(statement.name, None)
        initial = statement.initial
        if (
            initial is not None
            and statement.type in (ScalarType.INT, ScalarType.LONG)
            and promote(type_of(initial, self.types)) is statement.type
            and not (names_read(initial) | {statement.name}) & self.assigned
            and not reads_data(initial)
        ):
            values[statement.name] = substitute(initial, values)
        else:
            self.found.varying.add(statement.name)

    def _header(
        self, loop: For[KernelStmt], reached: Reached, values: dict[str, Expr]
    ) -> tuple[For[KernelStmt], Reached]:
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
