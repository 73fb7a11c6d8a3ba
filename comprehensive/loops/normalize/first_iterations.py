"""First iterations that are written in front of a loop become iterations of the loop.

::

    s = a[0]*b[0];  for (k = 1; k < n; k++) s += a[k]*b[k];
        -->  s = -0.0f;  for (k = 0; k < n; k++) s += a[k]*b[k];         where n >= 1 is proved
    m = a[0];  for (k = 1; k < n; k++) m = fmaxf(m, a[k]);
        -->  m = a[0];  for (k = 0; k < n; k++) m = fmaxf(m, a[k]);

A value that takes the place of the first one leaves what is joined with it as it is, to the bit: ``-0.0 + x`` is x for
every x, ``0.0 + x`` is not (for x = -0.0).  A choice between the old value and the new one needs no such value: doing
the first iteration a second time changes nothing.
"""

from __future__ import annotations

from functools import partial
from typing import assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockStmt, Nest, Threads
from comprehensive.loops.normalize.equality import same
from comprehensive.loops.normalize.joining import joined_in, neutral
from comprehensive.loops.normalize.known import Known
from comprehensive.loops.normalize.sums import Sum
from comprehensive.loops.traverse import names_read_in
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies
from comprehensive.metafork.walk import assigned_scalars, own_expressions, statements_in
from comprehensive.records import replace

_ZERO, _ONE = IntLiteral(0), IntLiteral(1)


def with_first_iterations(nest: Nest) -> Nest:
    """The nest with iterations taken out by hand put back into their loops."""
    known = Known.of(nest)
    for loop in nest.grid:
        known = known.running(loop.iterator, loop.extent)
    return replace(nest, body=_blocks(nest.body, known))


def _blocks(body: tuple[BlockStmt, ...], known: Known) -> tuple[BlockStmt, ...]:
    result: list[BlockStmt] = []
    for statement in body:
        match statement:
            case Threads():
                inside = known
                for loop in statement.loops:
                    inside = inside.running(loop.iterator, loop.extent)
                result.append(replace(statement, body=_body(statement.body, inside)))
            case For():
                inside = _inside_loop(statement, known)
                result.append(replace(statement, body=_blocks(statement.body, inside)))
            case If():
                then = _blocks(statement.then, known.where(statement.condition))
                result.append(replace(statement, then=then, otherwise=_blocks(statement.otherwise, known)))
            case Declare():
                for value in own_expressions(statement):
                    known = known.defining(statement.name, statement.type, value)
                result.append(statement)
            case _:
                assert_never(statement)
    return tuple(result)


def _inside_loop(loop: For[object], known: Known) -> Known:
    if loop.type is None:
        return known
    if loop.counts_up:
        return known.running(loop.iterator, loop.bound, loop.type)
    return known.declaring(loop.iterator, loop.type)


def _body(body: tuple[Stmt, ...], known: Known) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    changing = assigned_scalars(body)
    for statement in body:
        match statement:
            case Declare(dims=(), initial=initial) if (
                initial is not None and not (names_read(initial) | {statement.name}) & changing
            ):
                known = known.defining(statement.name, statement.type, initial)
                result.append(statement)
            case Declare():
                known = known.declaring(statement.name, statement.type)
                result.append(statement)
            case For():
                loop = statement
                for _ in result[:]:
                    rolled = _rolled(tuple(result), loop, known)
                    if rolled is None:
                        break
                    before, loop, again = rolled
                    result = list(before)
                    if not again:
                        break
                result.append(replace(loop, body=_body(loop.body, _inside_loop(loop, known))))
            case If():
                then = _body(statement.then, known.where(statement.condition))
                result.append(replace(statement, then=then, otherwise=_body(statement.otherwise, known)))
            case _:
                result.append(with_bodies(statement, partial(_body, known=known)))
    return tuple(result)


class _Turn(Struct, frozen=True):
    """The rest of a statement in front of the loop; ``needed`` says that the loop has to do its work."""

    left: tuple[Stmt, ...]
    needed: bool


def _rolled(before: tuple[Stmt, ...], loop: For, known: Known) -> tuple[tuple[Stmt, ...], For, bool] | None:
    """The statements before the loop and the loop, with one iteration more in it; and whether there may be another."""
    size = len(loop.body)
    kind = loop.type
    if kind is None or kind.is_narrow or not kind.is_integer or not 0 < size <= len(before):
        return None
    if not isinstance(loop.step, IntLiteral):
        return None
    if any(isinstance(s, Break | Continue) for s in statements_in(loop.body)):
        return None
    header = names_read(loop.start) | names_read(loop.bound)
    changed = {*_written(loop.body), *_written(before[-size:])}
    if header & (changed | {loop.iterator}) or loop.iterator in changed:
        return None
    first = (Sum.of(loop.start) - Sum(loop.step.value)).expression()
    types = {**known.types, loop.iterator: kind}
    if kind is ScalarType.INT:
        if {type_of(loop.start, types), type_of(loop.bound, types)} != {ScalarType.INT}:
            return None
    elif not isinstance(first, IntLiteral) or first.value < 0 or not type_of(loop.bound, types).is_integer:
        return None
    value = replace(first, type=kind) if isinstance(first, IntLiteral) else first
    turns: list[_Turn] = []
    for done, repeated in zip(before[-size:], loop.body, strict=True):
        (expected,) = map_expressions((repeated,), lambda e: substitute(e, {loop.iterator: value}))
        turn = _turn(done, expected, known)
        if turn is None:
            return None
        turns.append(turn)
    if not _may_trade_places(before[-size:], turns):
        return None
    needed = any(turn.needed for turn in turns)
    for done in before[-size:]:
        match done:
            case Declare(initial=initial) if initial is not None:
                known = known.touching(initial)
            case Assign(target=target, value=assigned):
                known = known.touching(assigned).touching(target)
            case _:
                pass
    if needed and not _runs(loop, first, known):
        return None
    left = tuple(s for turn in turns for s in turn.left)
    return (*before[:-size], *left), replace(loop, start=first), needed


def _runs(loop: For, first: Expr, known: Known) -> bool:
    """Whether the loop, beginning with ``first``, runs at all."""
    match loop.relation:
        case "<" | "<=":
            return known.holds(first, loop.relation, loop.bound)
        case ">" | ">=":
            return known.holds(loop.bound, "<" if loop.relation == ">" else "<=", first)
        case _:
            return False


def _may_trade_places(done: tuple[Stmt, ...], turns: list[_Turn]) -> bool:
    """Whether what is left in front of the loop may come before all that the first iteration does: what comes behind
    finds the values that it has found before."""
    for number, turn in enumerate(turns):
        if not turn.left:
            continue
        touched = _written(turn.left) | _written((done[number],)) | names_read_in((done[number],))
        if any(touched & _written((s,)) for s in done[:number]):
            return False
        written = _written((done[number],))
        if any(written & names_read_in((s,)) for s in done[:number]):
            return False
    return True


def _written(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Scalars and arrays that statements give a value."""
    names: set[str] = set()
    for statement in statements_in(body):
        match statement:
            case Declare(name=name):
                names.add(name)
            case Assign(target=Name(identifier=name)) | Assign(target=Index(array=name)):
                names.add(name)
            case For(iterator=name):
                names.add(name)
            case _:
                pass
    return frozenset(names)


# --- one statement in front of the loop and what it would be in the loop


def _turn(done: Stmt, expected: Stmt, known: Known) -> _Turn | None:
    if isinstance(done, Declare):
        if done.dims or done.initial is None or done.const:
            return None
        types = {**known.types, done.name: done.type}
        target: Name | Index = Name(done.name)
        type, value = done.type, done.initial
    else:
        types = known.types
        if same(done, expected, types):
            return _Turn((), needed=True)
        if not isinstance(done, Assign) or done.operator != "=":
            return None
        target, value = done.target, done.value
        type = type_of(target, types)
    name = target.identifier if isinstance(target, Name) else target.array
    joined = joined_in(expected, target, types)
    if joined is None or name in names_read(value) | names_read(joined.value):
        return None
    if isinstance(target, Index) and any(name in names_read(s) for s in target.subscripts):
        return None
    sign = Unary("-", joined.value) if joined.operator == "-" else joined.value
    if not same(value, sign, types):
        return None
    if joined.operator == "choice":
        return _Turn((done,), needed=False)
    begin = neutral(joined.operator, type)
    if begin is None:
        return None
    left = replace(done, initial=begin) if isinstance(done, Declare) else replace(done, value=begin)
    return _Turn((left,), needed=True)
