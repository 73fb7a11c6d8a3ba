"""Counted ``while`` loops: those whose number of turns is known before the first one, as ``for`` loops.

In: a ``while`` loop.  Out: a number from before the loop, a loop that counts, and what the last test does behind it::

    while (p < end) { s += a[p];  p++; }
        -->  int first = p;  for (int t = 0; t < end - first; t++) { s += a[p];  p++; }
    while (1) { k--;  if (!(k >= 0)) break;  s += a[k]; }          which is  while (--k >= 0) s += a[k];
        -->  int first = k;  for (int t = 0; t < first; t++) { k--;  s += a[k]; }   k--;

What the body changes by the same in every turn stays in it: `inductions.py` makes functions of the iterator of that.

    while (k--) s += a[k];                   with k without a sign: it comes to 0 after k turns, whatever k is
        -->  size_t first = k;  for (size_t t = 0; t < first; t++) { k--;  s += a[k]; }   k--;

Legal where one variable that the condition bounds moves towards its bound by a constant in every turn, in statements of
the body itself, and nothing else leaves the loop.  The condition reads no data, and nothing else that the body changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.normalize.counting import counted_from_zero
from comprehensive.loops.normalize.iterators import tidy, without_idle_names
from comprehensive.loops.types import type_of, with_declarations
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Break,
    Declare,
    Expr,
    For,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.headers import condition_of, step_of
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import assigned_scalars, leaves_loop, reads_data


class CountedWhile(Struct, frozen=True):
    first: Declare
    """The variable as it is before the loop."""
    loop: For
    behind: tuple[Assign, ...]
    """The changes that belong to the test that ends the loop."""


def counted(
    loop: While, values: Mapping[str, Expr], types: Mapping[str, ScalarType], name: Namer
) -> CountedWhile | None:
    """The loop as one that counts, or None; ``types`` are those of the names around it, some of which have these
    ``values``, and ``name`` gives free ones."""
    test = _test(loop, types)
    if test is None:
        return None
    body = (*test.ahead, *test.rest)
    changed = assigned_scalars(body)
    if leaves_loop(body, Break) or reads_data(test.condition):
        return None
    for tested in sorted(names_read(test.condition)):
        variable, offset = test.places.get(tested, (tested, 0))
        kind, step = types.get(variable, ScalarType.FLOAT), _step(variable, body)
        relation, bound = _relation(tested, test.condition)
        if step is None or relation is None or kind.is_narrow or not kind.is_integer:
            continue
        if kind.wraps and not (step == -1 and relation in ("!=", ">") and bound == ZERO):
            continue
        if names_read(bound) & (changed | {s.name for s in body if isinstance(s, Declare)}):
            continue
        if relation == "!=" and abs(step) != 1:
            continue
        if not kind.wraps and type_of(Binary("+", Name(variable), bound), types).wraps:
            continue  # compared without a sign
        first = Declare(kind, name(f"{variable}_first"), initial=Name(variable), span=loop.span)
        fixed = {n: v for n, v in values.items() if not names_read(v) & changed}
        if variable in fixed:
            fixed[first.name] = fixed[variable]
        known = with_declarations(types, (first,))
        if not type_of(bound, known).is_integer:
            continue
        behind = plus(bound, IntLiteral(-offset)) if offset else bound
        header = For(
            kind,
            variable,
            Name(first.name),
            relation,
            behind,
            IntLiteral(step),
            tuple[Stmt, ...](),
            loop.span,
        )
        turns = _turns_to_zero(header) if kind.wraps else _turns(header, kind, known)
        if turns is not None:
            extent = without_idle_names(tidy(substitute(turns, fixed), known), known)
            turn = For(
                kind, name(f"{variable}_turn"), ZERO, "<", extent, ONE, body, loop.span, written=variable
            )
            return CountedWhile(first, turn, tuple(s for s in test.ahead if isinstance(s, Assign)))
    return None


def _relation(tested: str, condition: Expr) -> tuple[str | None, Expr]:
    """Return how a variable is compared with a bound; the variable alone is compared with 0."""
    return ("!=", ZERO) if condition == Name(tested) else condition_of(tested, condition)


def _turns(header: For, kind: ScalarType, types: Mapping[str, ScalarType]) -> Expr | None:
    found = counted_from_zero(header, kind, header.iterator, types, kind)
    return None if found is None else found.extent


def _turns_to_zero(header: For) -> Expr:
    """Return the turns of a loop that counts down by 1 in a type without a sign, until it comes to a number: all turns
    are there, whatever the number that it begins with."""
    return header.start if header.bound == ZERO else Binary("-", header.start, header.bound, header.span)


class _Test(Struct, frozen=True):
    """The condition of a turn, the statements before it and behind it; ``places`` are variables in the condition that
    are so much more than a variable was before the turn."""

    condition: Expr
    ahead: tuple[Stmt, ...]
    rest: tuple[Stmt, ...]
    places: Mapping[str, tuple[str, int]]


def _test(loop: While, types: Mapping[str, ScalarType]) -> _Test | None:
    if constant_value(loop.condition) is None:
        return _Test(loop.condition, (), loop.body, {})
    places: dict[str, tuple[str, int]] = {}
    for place, statement in enumerate(loop.body):
        match statement:
            case Declare(type=kind, name=name, initial=Name(identifier=value), dims=()) if (
                types.get(value) is kind
            ):
                places[name] = places.get(value, (value, 0))
            case Assign(target=Name(identifier=name), value=value, operator=operator):
                step = step_of(name, statement.target, operator, value)
                number = None if step is None else constant_value(step)
                if number is None or name in {s.name for s in loop.body if isinstance(s, Declare)}:
                    return None
                places[name] = (name, places.get(name, (name, 0))[1] + number)
            case If(Unary(operator="!", operand=condition), (Break(),), ()) if constant_value(loop.condition):
                return _Test(condition, loop.body[:place], loop.body[place + 1 :], places)
            case _:
                return None
    return None


def _step(name: str, body: Sequence[Stmt]) -> int | None:
    """Return by how much statements change a variable, each time; None where that is not known."""
    total = 0
    for statement in body:
        if isinstance(statement, Assign) and statement.target == Name(name):
            step = step_of(name, statement.target, statement.operator, statement.value)
            value = None if step is None else constant_value(step)
            if value is None:
                return None
            total += value
        elif name in assigned_scalars((statement,)):
            return None
    return total or None
