"""Serial loops of tiles count in ``int``, whatever type the program counts them in.

In: a nest in normal form, whose serial loops count from 0.  Out: the nest with loops of other integer types over
``int``, and what has to hold of a launch for that::

    for (unsigned long k = 0; k < n; k++) s += a[k];   -->   for (int k = 0; k < n; k++) s += a[(unsigned long)k];
                                                             n <= 2147418112

The bound reads scalars of the nest alone, so that a launch can tell.  Where it cannot be that large, nothing has to
hold.  The same holds for loops that are over ``int`` and have a bound of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ZERO
from comprehensive.loops.intervals import Interval, Ranges, values_of
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.normalize.iterators import Counted, in_statements
from comprehensive.loops.sizes import sizes
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Declare,
    Expr,
    For,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.rewrite import with_all_bodies
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import S, Statement, assigned_scalars, declared, reads_data
from comprehensive.records import replace

LARGEST_COUNT = 2**31 - 1 - 0xFFFF
"""Up to which coordinates and serial loops of a tile count: in ``int``, and by some thousands beyond their limits."""


def at_most(number: Expr, largest: int = LARGEST_COUNT) -> Expr:
    """Return the condition that what is counted up to a number fits into ``int``."""
    return Binary("<=", number, IntLiteral(largest))


def ranges_of(nest: Nest) -> dict[str, Interval]:
    """Return the known ranges of scalars: those that a launch sees to, program parameters are at least 1, and sizes are
    no negative numbers."""
    known = sizes(nest) | {s.name for s in nest.with_role(Role.DATA)}
    least = {s.name: 1 for role in (Role.PROGRAM, Role.TILE) for s in nest.with_role(role)}
    least |= dict.fromkeys(known, 0)
    longest = ScalarType.LONG.highest
    found = {
        s.name: Interval(max(least[s.name], s.type.lowest), min(s.type.highest, longest))
        for s in nest.scalars
        if s.name in least and s.type.is_integer
    }
    for scalar in nest.scalars:
        if scalar.type.is_exact:
            whole = found.get(scalar.name, Interval(scalar.type.lowest, scalar.type.highest))
            some = _demanded(scalar.name, whole, nest.preconditions)
            if some != whole:
                found[scalar.name] = some
    return found


def _demanded(name: str, whole: Interval, conditions: Iterable[Expr]) -> Interval:
    """Return the part of a range in which all conditions hold that compare a scalar with a number."""
    for condition in conditions:
        match condition:
            case Binary(operator="<=", left=Name(identifier), right=IntLiteral(value) as bound) if (
                identifier == name and not bound.type.wraps
            ):
                whole = Interval(whole.least, min(whole.greatest, value))
            case Binary(operator="<=", left=IntLiteral(value) as bound, right=Name(identifier)) if (
                identifier == name and not bound.type.wraps
            ):
                whole = Interval(max(whole.least, value), whole.greatest)
            case _:
                pass
    return whole


def counted_in_int(nest: Nest) -> tuple[Nest, tuple[Expr, ...]]:
    """The nest with its serial loops over ``int`` where a launch can tell that they are, and what has to hold."""
    walk = _Walk(frozenset(s.name for s in nest.scalars), ranges_of(nest), {})
    counted = replace(nest, body=walk.body(nest.body, environment_of(nest)))
    return counted, tuple(walk.conditions)


class _Walk(Struct, frozen=True):
    scalars: frozenset[str]
    ranges: Ranges
    conditions: dict[Expr, None]

    def body(self, body: tuple[S, ...], types: Mapping[str, ScalarType]) -> tuple[S, ...]:
        result: list[S] = []
        for statement in body:
            if isinstance(statement, Declare):
                types = {**types, **declared(statement)}
            result.append(self._statement(statement, types))
        return tuple(result)

    def _statement(self, statement: S, types: Mapping[str, ScalarType]) -> S:
        inside = {**types, **declared(statement)}
        if isinstance(statement, For) and statement.type is not None:
            counted = self._counted(statement, statement.type, types)
            if counted is not None:
                inside[statement.iterator] = counted.type
                within = in_statements(statement.body, statement.iterator, counted, inside)
                statement = replace(statement, type=counted.type, body=within)
        return with_all_bodies(statement, lambda inner: self.body(inner, inside))

    def _counted(
        self, loop: For[Statement], kind: ScalarType, types: Mapping[str, ScalarType]
    ) -> Counted | None:
        """The loop over an ``int``, and its old iterator in terms of that; None where it stays as it is."""
        changed = assigned_scalars(loop.body)
        if not loop.counts_up or loop.iterator in changed:
            return None
        if not is_uniform(loop.bound, self.scalars) or not type_of(loop.bound, types).is_integer:
            return None
        values = values_of(loop.bound, types, self.ranges)
        if common_type(kind, type_of(loop.bound, types)).wraps and values.least < 0:
            # A negative bound is a large number there.
            self.conditions[Binary("<=", ZERO, loop.bound)] = None
        if values.greatest > min(kind.highest, ScalarType.INT.highest):
            self.conditions[at_most(loop.bound, min(LARGEST_COUNT, kind.highest))] = None
        if kind is ScalarType.INT:
            return None
        number = Name(loop.iterator, loop.span)
        return Counted(ScalarType.INT, loop.bound, Cast(promote(kind), number, loop.span), number, 0)


def is_uniform(expr: Expr, scalars: Set[str]) -> bool:
    """Whether an expression reads scalars of the nest and nothing else."""
    return names_read(expr) <= scalars and not reads_data(expr)


def range_of(loop: For, scalars: Set[str], types: Mapping[str, ScalarType], ranges: Ranges) -> Interval:
    """The values of the iterator of a loop over ``int`` that counts from 0, after :func:`counted_in_int`."""
    most = ScalarType.INT.highest
    if is_uniform(loop.bound, scalars):
        greatest = values_of(loop.bound, types, ranges).greatest
        most = greatest if greatest <= most else LARGEST_COUNT
    return Interval(0, max(0, most - 1))
