"""Loops that are unrolled by hand, with what is left of them in a loop behind: the loops that they were.

In: a nest.  Out: the same with each such loop as one that does a turn at a time, and loops that go on where the one
before ends as one::

    for (k = 0; k < n - 1; k += 2) { s += a[k];  s += a[k + 1]; }    -->   for (k = 0; k < n/2*2; k++) s += a[k];
    for (k = 0; k < n/2*2; k++) s += a[k];
    for (k = 0 < n - 1 ? n/2*2 : 0; k < n; k++) s += a[k];           -->   for (k = 0; k < n; k++) s += a[k];

The steps keep their order, so that it is right whatever they do: a body is unrolled where its parts are what the first
one is with a larger iterator (`equality.py`).  Two loops with one body are one where the second begins at the end of
the first, as `inductions.py` writes it, or at the last multiple of its step; then it ends at the larger one of both
ends, which is the second where that is ``n`` and the first is ``n/2*2``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.counting import end_of
from comprehensive.loops.normalize.equality import same
from comprehensive.loops.traverse import declared_names, map_bands, names_read_in
from comprehensive.loops.types import environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Binary,
    Break,
    Conditional,
    Continue,
    Declare,
    Expr,
    For,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import assigned_scalars, declared, reads_data, statements_in
from comprehensive.records import replace

_ONE = IntLiteral(1)


def with_rolled_loops(nest: Nest) -> Nest:
    """The nest with loops of its threads that are unrolled by hand rolled up, and with the loops behind them in one."""
    values = {s.name: s.value for s in nest.scalars if s.value is not None and s.type is ScalarType.INT}
    return map_bands(nest, lambda number, body: _Rolling(values).body(body, environment_of(nest, number)))


class _Ended(Struct, frozen=True):
    """A loop over an ``int`` in steps of one; ``end`` is where its iterator ends, ``step`` the step that it had, and
    ``bound`` the bound: it runs where it starts below that."""

    loop: For
    end: Expr
    step: int
    bound: Expr


class _Rolling(Struct, frozen=True):
    values: Mapping[str, Expr]
    """The definitions of scalars of the nest by host code."""

    def body(self, body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
        """Return statements with their loops rolled up; ``types`` are those of the names around them."""
        result: list[Stmt] = []
        before: _Ended | None = None
        between = set[str]()
        for statement in body:
            types = with_declarations(types, (statement,))
            inside = {**types, **declared(statement)}
            statement = with_bodies(statement, partial(self.body, types=inside))
            ended = self._ended(statement, inside) if isinstance(statement, For) else None
            joined = None
            if ended is not None and before is not None and not between & names_read_in((ended.loop,)):
                joined = self._joined(before, ended, inside)
            if joined is not None and before is not None:
                result[result.index(before.loop)] = joined.loop
                # What is declared between the loops does not speak of the first one's work.
                ended = joined
            elif ended is not None:
                result.append(ended.loop)
            else:
                result.append(statement)
            if ended is not None:
                before, between = ended, set[str]()
            elif before is None or not self._may_stand_behind(statement, before.loop):
                before = None
            else:
                between |= declared(statement).keys()
        return tuple(result)

    def _ended(self, loop: For, types: Mapping[str, ScalarType]) -> _Ended | None:
        """Return a loop rolled up, or as it is where it steps by one; None for others."""
        if loop.type is not ScalarType.INT or loop.relation != "<" or not isinstance(loop.step, IntLiteral):
            return None
        changed = assigned_scalars(loop.body) | declared_names(loop.body) | {loop.iterator}
        header = (loop.start, loop.bound)
        if any(names_read(e) & changed or reads_data(e) for e in header):
            return None
        if any(promote(type_of(e, types)) is not ScalarType.INT for e in (loop.start, loop.bound)):
            return None
        header = replace(loop, bound=self._known(loop.bound), start=self._known(loop.start))
        end = end_of(header, loop.iterator, ScalarType.INT, types)
        step = loop.step.value
        if end is None or any(isinstance(s, Break | Continue) for s in statements_in(loop.body)):
            return None
        if step == 1:
            return _Ended(loop, end, 1, header.bound)
        if step < 1 or len(loop.body) % step:
            return None
        size = len(loop.body) // step
        first = loop.body[:size]
        for turn in range(1, step):
            place = {loop.iterator: plus(Name(loop.iterator), IntLiteral(turn))}
            expected = map_expressions(first, partial(substitute, values=place))
            written = loop.body[turn * size : (turn + 1) * size]
            known = with_declarations(types, loop.body)
            if not all(same(a, b, known) for a, b in zip(expected, written, strict=True)):
                return None
        return _Ended(replace(loop, bound=end, step=_ONE, body=first), end, step, header.bound)

    def _known(self, expression: Expr) -> Expr:
        for _ in self.values:
            expression = substitute(expression, self.values)
        return expression

    def _joined(self, first: _Ended, second: _Ended, types: Mapping[str, ScalarType]) -> _Ended | None:
        """Return the loop that two loops are, one after the other; None where the second is none that goes on."""
        a, b = first.loop, second.loop
        if second.step != 1 or len(a.body) != len(b.body):
            return None
        ring = Ring()
        start, end, last = (ring.read(self._known(e)) for e in (a.start, first.end, b.bound))
        is_last = _is_last_multiple(ring, end - start, last - start, first.step)
        begins = self._known(b.start)
        match begins:
            case Conditional(condition=Binary("<", left, right), then=then, otherwise=otherwise):
                ends = [ring.read(e) for e in (left, right, then, otherwise)]
                goes_on = ends == [start, ring.read(self._known(first.bound)), end, start]
            case _:
                goes_on = is_last and ring.read(begins) == end
        known = {**with_declarations(types, (*a.body, *b.body)), a.iterator: ScalarType.INT}
        body = map_expressions(b.body, lambda e: substitute(e, {b.iterator: Name(a.iterator)}))
        if not goes_on or not all(same(one, other, known) for one, other in zip(a.body, body, strict=True)):
            return None
        bound = b.bound if is_last else Conditional(Binary("<", first.end, b.bound), b.bound, first.end)
        whole = replace(a, bound=bound)
        return _Ended(whole, bound, 1, bound)

    def _may_stand_behind(self, statement: Stmt, loop: For) -> bool:
        """Whether a statement between two loops may as well stand behind both: a declaration of what they leave."""
        match statement:
            case Declare(initial=initial, dims=()):
                read = frozenset[str]() if initial is None else names_read(initial)
                own = assigned_scalars(loop.body) | declared_names((loop,))
                return (
                    not read & own
                    and not (initial is not None and reads_data(initial))
                    and statement.name not in names_read_in(loop.body)
                )
            case _:
                return False


def _is_last_multiple(ring: Ring, end: Polynomial, last: Polynomial, step: int) -> bool:
    """Whether an end is the last multiple of a step up to another one: ``n/4*4`` of ``n``."""
    whole = integral_quotient(end, Polynomial.constant(step))
    atoms = [] if whole is None else [ring.atom(symbol) for symbol in whole.symbols]
    match atoms:
        case [Binary(operator="/", left=left, right=IntLiteral(value=divisor)) as atom]:
            return divisor == step and ring.read(left) == last and whole == ring.read(atom)
        case _:
            return False
