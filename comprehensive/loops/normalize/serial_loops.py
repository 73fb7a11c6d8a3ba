"""Serial loops count from 0 upward in steps of 1.

::

    for (k = 1; k <= n; k++) S(k)              -->   for (k = 0; k < n; k++) S(1 + k)
    for (k = n - 1; k >= 0; k--) S(k)          -->   for (k = 0; k < n; k++) S(n - 1 - k)
    for (k = lo; k < hi; k += 4) S(k)          -->   for (k = 0; k < (hi - lo + 3)/4; k++) S(lo + k*4)
    for (k = i*n; k < (i + 1)*n; k++) S(k)     -->   for (k = 0; k < n; k++) S(i*n + k)
    for (long k = 0; k < n; k++) S(k)          -->   for (int k = 0; k < n; k++) S((long)k)       where n is an int
    for (size_t k = 1; k < n; k++) S(k)        -->   for (long k = 0; k < (long)n - 1; k++) S((size_t)(1 + k))

The header must read nothing that the loop changes, and no data.  A loop stays as it is where C does not compute what
mathematics says: where an unsigned comparison meets what may be negative, or a step may be 0.  As everywhere, a loop
over an ``int`` has less than 2^31 iterations.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.exactness import is_plain
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.normalize.counting import counted_from_zero
from comprehensive.loops.normalize.iterators import Counted, in_statements, tidy, without_idle_names
from comprehensive.loops.normalize.sums import Sum
from comprehensive.loops.sizes import sizes
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Cast,
    Declare,
    Expr,
    FloatLiteral,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.headers import split_step
from comprehensive.metafork.rewrite import with_all_bodies
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import S, Statement, assigned_scalars, declared, subexpressions
from comprehensive.records import replace

_ZERO, _ONE = IntLiteral(0), IntLiteral(1)
_Types = Mapping[str, ScalarType]


def with_counted_loops(nest: Nest) -> Nest:
    """The nest with its serial loops, those of blocks and those of threads, counted from 0."""
    steps = {s.name for s in nest.scalars if s.role in (Role.PROGRAM, Role.TILE)}
    positive = steps | {s.name for s in nest.with_role(Role.DATA)} | sizes(nest)
    walk = _Walk(frozenset(positive), frozenset(steps))
    return replace(nest, body=walk.body(nest.body, environment_of(nest)))


class _Walk(Struct, frozen=True):
    positive: frozenset[str]
    """Names whose values are not negative."""
    steps: frozenset[str]
    """Names whose values are at least 1."""

    def body(self, body: tuple[S, ...], types: _Types) -> tuple[S, ...]:
        result: list[S] = []
        for statement in body:
            if isinstance(statement, Declare):
                types = {**types, **declared(statement)}
            result.append(self._statement(statement, types))
        return tuple(result)

    def _statement(self, statement: S, types: _Types) -> S:
        inside = {**types, **declared(statement)}
        if isinstance(statement, For) and statement.type is not None:
            changed = assigned_scalars(statement.body)
            counted = self._counted(statement, statement.type, types, changed)
            if counted is not None:
                inside[statement.iterator] = counted.type
                body = statement.body
                if counted.value != Name(statement.iterator):
                    body = in_statements(body, statement.iterator, counted, inside)
                # Once more: an extent that has become a number may be counted in another type.
                return self._statement(
                    replace(statement, body=body, type=counted.type, **_header(counted)), types
                )
        return with_all_bodies(statement, lambda inner: self.body(inner, inside))

    def _counted(
        self, loop: For[Statement], type: ScalarType, types: _Types, changed: frozenset[str]
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
        is_plain = loop.counts_up
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
            without_idle_names(tidy(counted.extent, types), types),
            value,
            place,
            least.value if isinstance(least, IntLiteral) else 0,
        )

    def _is_exact(self, loop: For[Statement], type: ScalarType, types: _Types) -> bool:
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
        if not down and type.is_wide and not _adds(loop.start):
            return False  # a difference that is negative is a large number, from which no loop counts up
        if down:
            return amount == _ONE and (loop.relation == ">" or _at_least(loop.bound, 1))
        return isinstance(amount, IntLiteral)

    def _is_int(self, loop: For[Statement], type: ScalarType, types: _Types) -> bool:
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


def _adds(expr: Expr) -> bool:
    """Whether nothing is subtracted in a sum."""
    found = Sum.of(expr)
    return found.constant >= 0 and all(
        sign > 0 and (not isinstance(term, Cast) or _adds(term.operand)) for sign, term in found.terms
    )


def _at_least(expr: Expr, least: int) -> bool:
    return isinstance(expr, IntLiteral) and expr.value >= least


def _header(counted: Counted) -> dict[str, Expr | str]:
    return {"start": _ZERO, "relation": "<", "bound": counted.extent, "step": _ONE}
