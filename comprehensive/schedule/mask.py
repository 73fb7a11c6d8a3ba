"""Mask: a loop under a condition on coordinates is done by all points, and its results hold where the condition does.

::

    float s = 0;  if (j <= i) for (k) s += a[i][k] * b[j][k];  c[i][j] = s;
        -->  float s = 0;  for (k) s += a[i][k] * b[j][k];  s = j <= i ? s : 0;  c[i][j] = s;
    if (j <= i) { float s = 0;  for (k) s += a[i][k] * b[j][k];  c[i][j] = s; } else c[i][j] = -1;
        -->  float s = 0;  for (k) s += a[i][k] * b[j][k];  c[i][j] = j <= i ? s : -1;

so that all points of a block go through the loop together; a block of which no point meets the condition leaves it out.
Legal where what stands under the condition changes nothing but scalars, or both branches end with the same element;
the value of a scalar before it must be one that can be computed again.  Points outside of the condition then read
operands of the loop, too: that these are there is for others to prove, as for a condition around the whole point
(`predicate.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.loops.traverse import declared_names
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Assign,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.scalar_types import common_type
from comprehensive.metafork.walk import (
    assigned_scalars,
    expressions_in,
    reads_data,
    statements_in,
)
from comprehensive.records import replace


def masked(nest: Nest, tile: RegisterTile) -> RegisterTile | None:
    """The tile with such a loop done by all points; None where its only body is another one."""
    match tile.alternatives:
        case (Alternative(condition=None, body=body),):
            pass
        case _:
            return None
    found = [at for at, s in enumerate(body) if isinstance(s, If) and _loops((*s.then, *s.otherwise))]
    if len(found) != 1:
        return None
    (at,) = found
    statement = body[at]
    assert isinstance(statement, If)
    if not _loops(statement.then):
        away = Unary("!", statement.condition)
        statement = replace(statement, condition=away, then=statement.otherwise, otherwise=statement.then)
    known = {c.name for c in tile.coordinates} | {s.name for s in nest.scalars}
    if not names_read(statement.condition) <= known or reads_data(statement.condition):
        return None
    around = _Masked(nest, tile, body[:at], statement, body[at + 1 :])
    done = around.with_else() if statement.otherwise else around.without_else()
    if done is None:
        return None
    return replace(tile, alternatives=(Alternative(None, done),), predicate=statement.condition, masked=True)


class _Masked(Struct, frozen=True):
    """A body of a point: a condition around a loop, and what stands before and after it."""

    nest: Nest
    tile: RegisterTile
    before: tuple[Stmt, ...]
    statement: If
    after: tuple[Stmt, ...]

    def without_else(self) -> tuple[Stmt, ...] | None:
        """Scalars that are assigned under the condition have their first values elsewhere."""
        then = self.statement.then
        if not self._can_be_done_by_all(then):
            return None
        changed = assigned_scalars(then) - declared_names(then)
        kept = [s for s in self.before if isinstance(s, Declare) and s.name in changed]
        if frozenset(s.name for s in kept) != changed or changed & assigned_scalars(self.before):
            return None
        chosen: list[Stmt] = []
        for declared in kept:
            first = declared.initial
            if first is None or reads_data(first) or names_read(first) & self._assigned():
                return None
            value = Conditional(self.statement.condition, Name(declared.name), first)
            chosen.append(Assign(Name(declared.name), "=", value, self.statement.span))
        return (*self.before, *then, *chosen, *self.after)

    def with_else(self) -> tuple[Stmt, ...] | None:
        """The element that both branches end with gets the value of one of them."""
        *then, last = self.statement.then
        match last, self.statement.otherwise:
            case Assign(target=Index() as target, operator="=", value=value), (
                Assign(target=other, operator="=", value=elsewhere),
            ) if target == other:
                pass
            case _:
                return None
        if not self._can_be_done_by_all(then) or assigned_scalars(then) - declared_names(then):
            return None
        if names_read(target) & declared_names(then) or not self._have_one_type(target, value, elsewhere):
            return None
        chosen = Assign(target, "=", Conditional(self.statement.condition, value, elsewhere), last.span)
        return (*self.before, *then, chosen, *self.after)

    def _can_be_done_by_all(self, body: Sequence[Stmt]) -> bool:
        """Whether statements change scalars only, and read data in their one loop only; names are not taken."""
        others = declared_names((*self.before, *self.after))
        targets = (s.target for s in statements_in(tuple(body)) if isinstance(s, Assign))
        beside = tuple(s for s in body if not isinstance(s, For))
        return (
            len(_loops(body)) == 1
            and all(isinstance(s, Declare | Assign) for s in beside)
            and not any(isinstance(target, Index) for target in targets)
            and not any(reads_data(x) for x in expressions_in(beside))
            and not declared_names(body) & others
        )

    def _assigned(self) -> frozenset[str]:
        return assigned_scalars((*self.before, self.statement))

    def _have_one_type(self, target: Index, *values: Expr) -> bool:
        """Whether a choice between the values is converted to the target's type as each of them would be."""
        every = (s for s in statements_in((*self.before, *self.statement.then)) if isinstance(s, Declare))
        points = dict.fromkeys(self.tile.limits, ScalarType.INT)
        types = environment_of(self.nest) | points | {s.name: s.type for s in every}
        first, second = (type_of(value, types) for value in values)
        floats = not first.is_integer and not second.is_integer
        return first is second or floats or common_type(first, second) is self.nest.array(target.array).type


def _loops(body: Sequence[Stmt]) -> list[For]:
    return [s for s in body if isinstance(s, For)]
