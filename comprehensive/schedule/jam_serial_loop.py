"""Jam serial loop: some turns of a loop with another loop in it do that one together, and the rest in order.

::

    for (c < k) { float s = 0;  for (j < d) s += f(x[i][j], y[c][j]);  best = min(best, s); }
        -->  for (q < (k + 1) / 2) {
               float s_0 = 0, s_1 = 0;
               for (j < d) { s_0 += f(x[i][j], y[2*q][j]);
                             s_1 = 2*q + 1 < k ? s_1 + f(x[i][j], y[2*q + 1][j]) : s_1; }
               best = min(best, s_0);  best = 2*q + 1 < k ? min(best, s_1) : best;
             }

so that what the inner loop reads for a point (``x[i][j]``) serves several turns.  Every sum keeps its order, and so do
the turns for what is behind the inner loop.  Legal where what a turn assigns up to the end of its inner loop is its
own, and nothing of what is read there is assigned behind it, by this turn or by another one.
Source: Callahan, Carr and Kennedy, Improving register allocation for subscripted variables, PLDI 1990 (unroll and jam).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from itertools import groupby

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.traverse import all_names, rename
from comprehensive.metafork.ast import Binary, Expr, For, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expressions, replace_statements, substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import (
    arrays_assigned,
    assigned_scalars,
    declared,
    expressions_in,
    leaves_loop,
    statements_in,
)
from comprehensive.records import replace
from comprehensive.schedule.conditions_inside import under
from comprehensive.schedule.context import ONE, ZERO
from comprehensive.schedule.legality import types_in
from comprehensive.schedule.operands import loops_of
from comprehensive.schedule.short_loops import is_short_nest

MOST_STATEMENTS = 256
"""The statements of a loop that turns done together may make."""


def with_jammed_loop(nest: Nest, tile: RegisterTile, turns: int) -> RegisterTile | None:
    """Return the tile with so many turns together of the innermost loop of which that is legal; None without one."""
    alternative, *others = tile.alternatives
    if others:
        return None
    for loop in reversed(loops_of(nest, tile)[:-1]):
        jammed = _jammed(nest, tile, loop, turns)
        if jammed is not None:
            body = replace_statements(alternative.body, partial(_in_place, loop, jammed))
            conditions = tuple(dict.fromkeys((*tile.conditions, at_most(loop.bound))))
            return replace(tile, alternatives=(replace(alternative, body=body),), conditions=conditions)
    return None


def _in_place(loop: For, jammed: For, statement: Stmt) -> tuple[Stmt, ...]:
    return (jammed if statement == loop else statement,)


def _jammed(nest: Nest, tile: RegisterTile, loop: For, turns: int) -> For | None:
    """Return the loop with so many turns together; None where that is not legal."""
    statements = tuple(statements_in(loop.body))
    if turns * len(statements) > MOST_STATEMENTS or not _counts_up(nest, loop):
        return None
    *_, last = (number for number, s in enumerate(loop.body) if _is_long(s))
    together, behind = loop.body[: last + 1], loop.body[last + 1 :]
    if not _are_independent(nest, loop, together, behind):
        return None
    taken = all_names(nest) | tile.limits.keys() | set(tile.sizes)
    name = Namer(taken | {name for body in tile.bodies for s in statements_in(body) for name in declared(s)})
    group = name(f"{loop.iterator}_group")
    own = [each for s in statements if not _is_long(s) for each in declared(s)]
    first, types = times(IntLiteral(turns), Name(group)), types_in(nest, tile)
    each = [
        _Turn(
            loop,
            fold(plus(first, IntLiteral(turn))),
            {n: name(f"{n}_{turn}") for n in own},
            turn > 0,
            types,
            name,
        )
        for turn in range(turns)
    ]
    try:
        body = (*_all(together, each), *(s for turn in each for s in turn.done(behind)))
    except _NotUnderError:
        return None
    bound = Binary("/", plus(loop.bound, IntLiteral(turns - 1)), IntLiteral(turns))
    return replace(loop, iterator=group, bound=bound, body=body, written=loop.shown)


def _counts_up(nest: Nest, loop: For) -> bool:
    """Whether a loop counts from 0 to a number that scalars of the nest say, and nothing leaves it."""
    header = (loop.type, loop.start, loop.relation, loop.step)
    known = bool(names_read(loop.bound)) and names_read(loop.bound) <= {s.name for s in nest.scalars}
    return known and header == (ScalarType.INT, ZERO, "<", ONE) and not leaves_loop(loop.body)


def _is_long(statement: Stmt) -> bool:
    """Whether a statement is a loop of more than a few constant steps, or has one in it."""
    return any(isinstance(s, For) and not is_short_nest(s) for s in statements_in((statement,)))


def _are_independent(nest: Nest, loop: For, together: tuple[Stmt, ...], behind: tuple[Stmt, ...]) -> bool:
    """Whether turns of a loop may do the first statements together, ahead of those behind."""
    names = [name for s in statements_in(loop.body) for name in declared(s)]
    own = {name for s in statements_in(together) for name in declared(s)}
    if len({*names, loop.iterator}) <= len(names) or loop.iterator in assigned_scalars(loop.body):
        return False  # a name that stands for two things
    data = {a.name: a.pointer for a in nest.arrays}
    changed, changed_behind = (
        {data.get(name, name) for name in assigned_scalars(body) | arrays_assigned(body)}
        for body in (together, behind)
    )
    read = {data.get(name, name) for e in expressions_in(together) for name in names_read(e)}
    is_own = changed <= own and read.isdisjoint(changed_behind - own)
    return is_own and _are_the_same(together, own | {loop.iterator})


def _are_the_same(body: Sequence[Stmt], own: Set[str]) -> bool:
    """Whether long loops stand in each other alone, and no names that turns have of their ``own`` bound them."""
    for statement in body:
        if not _is_long(statement):
            continue
        if not isinstance(statement, For):
            return False
        header = (statement.start, statement.bound, statement.step)
        if any(names_read(e) & own for e in header) or not _are_the_same(statement.body, own):
            return False
    return True


def _all(body: tuple[Stmt, ...], each: Sequence[_Turn]) -> tuple[Stmt, ...]:
    """The statements for all turns: long loops once, and what is between them one turn after the other."""
    made: list[Stmt] = []
    for _, group in groupby(body, lambda s: id(s) if _is_long(s) else None):
        (first, *_) = statements = tuple(group)
        if isinstance(first, For) and _is_long(first):
            made.append(replace(first, body=_all(first.body, each)))
        else:
            made += (s for turn in each for s in turn.done(statements))
    return tuple(made)


class _NotUnderError(Exception):
    """Statements cannot be done under a condition."""


class _Turn(Struct, frozen=True):
    """The turn of a loop with a number, and the names that it has for what it declares.

    There may be turns before one that is ``optional`` where it is not.
    """

    loop: For
    number: Expr
    names: Mapping[str, str]
    optional: bool
    types: Mapping[str, ScalarType]
    name: Namer

    def done(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements of this turn, where it is there."""
        is_there = Binary("<", self.number, self.loop.bound)
        found = under(is_there, body, self.types, self.name) if self.optional else body
        if found is None:
            raise _NotUnderError
        value = {self.loop.iterator: self.number}
        return map_expressions(rename(found, dict(self.names)), lambda e: fold(substitute(e, value)))
