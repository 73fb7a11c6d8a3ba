"""Serial loops count from 0 upward in steps of 1.

::

    for (k = 1; k <= n; k++) S(k)              -->   for (k = 0; k < n; k++) S(1 + k)
    for (k = n - 1; k >= 0; k--) S(k)          -->   for (k = 0; k < n; k++) S(n - 1 - k)
    for (k = lo; k < hi; k += 4) S(k)          -->   for (k = 0; k < (hi - lo + 3)/4; k++) S(lo + k*4)
    for (long k = 0; k < n; k++) S(k)          -->   for (int k = 0; k < n; k++) S((long)k)       where n is an int
    for (size_t k = 1; k < n; k++) S(k)        -->   for (long k = 0; k < (long)n - 1; k++) S((size_t)(1 + k))

The header must read nothing that the loop changes, and no data.  A loop stays as it is where C does not compute what
mathematics says: where an unsigned comparison meets what may be negative, or a step may be 0.  As everywhere, a loop
over an ``int`` has less than 2^31 iterations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from comprehensive.loops.access import assigned_names, names_read
from comprehensive.loops.exactness import is_plain
from comprehensive.loops.ir import BlockDeclare, BlockFor, BlockIf, BlockStmt, Nest, Role, Threads
from comprehensive.loops.normalize.counting import counted_from_zero, split_step
from comprehensive.loops.normalize.iterators import Counted, in_blocks, in_statements, tidy
from comprehensive.loops.normalize.sums import Sum
from comprehensive.loops.sizes import sizes
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Cast,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import subexpressions

_ZERO, _ONE = IntLiteral(0), IntLiteral(1)
_Types = Mapping[str, ScalarType]


def with_counted_loops(nest: Nest) -> Nest:
    """The nest with its serial loops, those of blocks and those of threads, counted from 0."""
    steps = {s.name for s in nest.scalars if s.role in (Role.PROGRAM, Role.TILE)}
    positive = steps | {s.name for s in nest.with_role(Role.DATA)} | sizes(nest)
    walk = _Walk(frozenset(positive), frozenset(steps))
    return replace(nest, body=walk.blocks(nest.body, environment_of(nest)))


@dataclass(frozen=True, slots=True)
class _Walk:
    positive: frozenset[str]
    """Names whose values are not negative."""
    steps: frozenset[str]
    """Names whose values are at least 1."""

    def blocks(self, body: tuple[BlockStmt, ...], types: _Types) -> tuple[BlockStmt, ...]:
        types = dict(types)
        result: list[BlockStmt] = []
        for statement in body:
            match statement:
                case Threads():
                    inside = {**types, **{loop.iterator: ScalarType.INT for loop in statement.loops}}
                    result.append(replace(statement, body=self.body(statement.body, inside)))
                case BlockFor():
                    result.append(self._block_loop(statement, types))
                case BlockIf():
                    then, otherwise = (self.blocks(b, types) for b in (statement.then, statement.otherwise))
                    result.append(replace(statement, then=then, otherwise=otherwise))
                case BlockDeclare():
                    types[statement.name] = statement.type
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result)

    def _block_loop(self, loop: BlockFor, types: _Types) -> BlockFor:
        counted = self._counted(loop, loop.type, types, frozenset())
        if counted is None:
            return replace(loop, body=self.blocks(loop.body, {**types, loop.iterator: loop.type}))
        body = in_blocks(loop, counted, {**types, loop.iterator: counted.type})
        return self._block_loop(replace(loop, body=body, type=counted.type, **_header(counted)), types)

    def body(self, body: tuple[Stmt, ...], types: _Types) -> tuple[Stmt, ...]:
        types = dict(types)
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare():
                    types[statement.name] = statement.type
                    result.append(statement)
                case For(type=type):
                    result.append(self._loop(statement, type, types))
                case If():
                    then, otherwise = self.body(statement.then, types), self.body(statement.otherwise, types)
                    result.append(replace(statement, then=then, otherwise=otherwise))
                case While() | DoWhile() | Block():
                    result.append(replace(statement, body=self.body(statement.body, types)))
                case Assign() | Break() | Continue():
                    result.append(statement)
                case MetaFor():
                    raise ValueError("a meta_for inside a thread's body")
                case _:
                    assert_never(statement)
        return tuple(result)

    def _loop(self, loop: For, type: ScalarType | None, types: _Types) -> For:
        if type is None:
            return replace(loop, body=self.body(loop.body, types))
        counted = self._counted(loop, type, types, assigned_names(loop.body))
        if counted is None:
            return replace(loop, body=self.body(loop.body, {**types, loop.iterator: type}))
        inside = {**types, loop.iterator: counted.type}
        body = loop.body
        if counted.value != Name(loop.iterator):
            body = in_statements(body, loop.iterator, counted, inside)
        # Once more: an extent that has become a number may be counted in another type.
        return self._loop(
            replace(loop, body=body, type=counted.type, **_header(counted)), counted.type, types
        )

    def _counted(
        self, loop: For | BlockFor, type: ScalarType, types: _Types, changed: frozenset[str]
    ) -> Counted | None:
        """The header counted from 0; None where that is not exact, or nothing new."""
        header = (loop.start, loop.bound, loop.step)
        read = frozenset[str]().union(*map(names_read, header))
        if loop.iterator in read | changed or read & changed:
            return None
        parts = [part for e in header for part in subexpressions(e)]
        if any(isinstance(part, Index | FloatLiteral) for part in parts):
            return None
        if not all(type_of(e, types).is_integer for e in header) or not self._is_exact(loop, type, types):
            return None
        is_plain = loop.start == _ZERO and loop.relation == "<" and loop.step == _ONE
        counter = type
        if self._is_int(loop, type, types):
            counter = ScalarType.INT
        elif type.wraps and type.is_wide and not is_plain:
            # The number of iterations may be negative, which is a large number for a counter without a sign.
            counter = ScalarType.LONG
        counted = counted_from_zero(loop, counter, loop.iterator, types, counter)
        if counted is None:
            return None
        place = Name(loop.iterator) if counted.value is None else counted.value
        if counter is type and is_plain and place == Name(loop.iterator):
            return None
        place = tidy(place, {**types, loop.iterator: counter})
        value = place if counter is type else Cast(type, place, loop.span)
        down, _ = split_step(loop.step)
        least = loop.bound if down else loop.start
        return Counted(
            counter,
            tidy(counted.extent, types),
            value,
            place,
            least.value if isinstance(least, IntLiteral) else 0,
        )

    def _is_exact(self, loop: For | BlockFor, type: ScalarType, types: _Types) -> bool:
        """Whether the loop visits what mathematics says, and what it visits can be counted."""
        down, amount = split_step(loop.step)
        if not (isinstance(amount, IntLiteral) and amount.value > 0) and not self._is_positive(amount):
            return False
        if loop.relation == "!=" and amount != _ONE:
            return False
        start, bound = (promote(type_of(e, types)) for e in (loop.start, loop.bound))
        if type is ScalarType.INT:
            if start is not ScalarType.INT:
                return False
            return not bound.wraps or (not down and self._is_plain(loop.start, types))
        if type.is_exact:
            wrapping = [found for found in (start, bound) if found.wraps]
            return not wrapping or (not down and not any(found.is_wide for found in wrapping))
        if not type.wraps:
            return False
        known = all(
            (found.wraps and found.rank <= type.rank) or self._is_plain(e, types)
            for e, found in ((loop.start, start), (loop.bound, bound))
        )
        if not known or (loop.relation == "!=" and (down or loop.start != _ZERO)):
            return False
        if down:
            return amount == _ONE and (loop.relation == ">" or _at_least(loop.bound, 1))
        return isinstance(amount, IntLiteral)

    def _is_int(self, loop: For | BlockFor, type: ScalarType, types: _Types) -> bool:
        """Whether an ``int`` counts the iterations: there are less than 2^31, and what is visited fits into it."""
        if type is ScalarType.INT:
            return True
        down, amount = split_step(loop.step)
        first, last = (loop.bound, loop.start) if down else (loop.start, loop.bound)
        if amount != _ONE or not _at_least(first, 0) or promote(type_of(last, types)) is not ScalarType.INT:
            return False
        # Where the last number is visited too, there is one more.
        return loop.relation in ("<", ">", "!=") or _at_least(first, 1) or Sum.of(last).constant < 0

    def _is_plain(self, expr: Expr, types: _Types) -> bool:
        return is_plain(expr, types, self.positive)

    def _is_positive(self, amount: Expr) -> bool:
        return isinstance(amount, Name) and amount.identifier in self.steps


def _at_least(expr: Expr, least: int) -> bool:
    return isinstance(expr, IntLiteral) and expr.value >= least


def _header(counted: Counted) -> dict[str, Expr | str]:
    return {"start": _ZERO, "relation": "<", "bound": counted.extent, "step": _ONE}
