"""An element whose place a loop remembers is remembered itself.

::

    int best = 0;  for (j) if (a[j] > a[best]) best = j;
        -->  int best = 0;  float a_at = 0 < n ? a[best] : 0;  for (j) if (a[j] > a_at) { best = j;  a_at = a[j]; }

The subscript of the element then no longer depends on data.  Legal where the points do not write the array, where every
turn reads the element before anything else (so that the first one does, too), and where the place that is remembered
has been read in that turn: nothing is read that the program does not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE
from comprehensive.loops.normalize.equality import same
from comprehensive.loops.normalize.invariant_reads import read_before
from comprehensive.loops.traverse import always_evaluated, declared_names
from comprehensive.metafork.ast import (
    Assign,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Index,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute
from comprehensive.metafork.walk import assigned_scalars, statements_in
from comprehensive.records import replace


def with_carried_reads_held(
    body: tuple[Stmt, ...],
    read_only: Mapping[str, ScalarType],
    types: Mapping[str, ScalarType],
    name: Namer,
) -> tuple[Stmt, ...]:
    """The body with such elements in scalars.

    ``read_only`` are the types of the arrays that no point writes, ``types`` those of all names.
    """
    result: list[Stmt] = []
    local = {s.name for s in body if isinstance(s, Declare) and not s.dims}
    for statement in body:
        if isinstance(statement, For):
            for element, place in _carried(statement, local, read_only):
                held = _Held(element, place, Name(name(f"{element.array}_at")), types)
                changed = held.body(statement.body)
                if changed is None:
                    continue
                initial = read_before(element, statement)
                kind = read_only[element.array]
                result.append(Declare(kind, held.scalar.identifier, initial=initial, span=statement.span))
                statement = replace(statement, body=changed)
        result.append(statement)
    return tuple(result)


def _carried(
    loop: For, local: set[str], read_only: Mapping[str, ScalarType]
) -> tuple[tuple[Index, str], ...]:
    """The elements that every turn of a loop reads first, each with the one scalar of its place that turns assign."""
    leaves_early = any(isinstance(s, Break | Continue) for s in statements_in(loop.body))
    if leaves_early or (loop.relation, loop.step) != ("<", ONE) or not loop.body:
        return ()
    counted = {s.iterator for s in statements_in((loop,)) if isinstance(s, For)}
    changing = assigned_scalars(loop.body) | declared_names(loop.body) | {loop.iterator}
    found: dict[tuple[Index, str], None] = {}
    for e in _read_first(loop.body[0]):
        changed = names_read(e) & changing
        if e.array in read_only and len(changed) == 1 and changed <= local - counted:
            found[e, next(iter(changed))] = None
    return tuple(found)


def _read_first(statement: Stmt) -> list[Index]:
    """The elements that a statement reads whatever it goes on to do."""
    match statement:
        case If(condition=whole) | Assign(value=whole) | Declare(initial=whole) if whole is not None:
            return [e for e in always_evaluated(whole) if isinstance(e, Index)]
        case _:
            return []


class _Held(Struct, frozen=True):
    """An element of an array, the scalar that says its place, and the scalar that holds it."""

    element: Index
    place: str
    scalar: Name
    types: Mapping[str, ScalarType]

    def body(self, body: Sequence[Stmt], read: Sequence[Index] = ()) -> tuple[Stmt, ...] | None:
        """The statements, after ``read`` has been read; None where a place is remembered that has not been read."""
        result: list[Stmt] = []
        known = list(read)
        for statement in body:
            known += _read_first(statement)
            match statement:
                case Assign(target=Name(identifier=place)) if place == self.place:
                    there = substitute(self.element, {place: statement.value})
                    if statement.operator != "=" or not any(same(there, e, self.types) for e in known):
                        return None
                    (assigned,) = self._with_scalar((statement,))
                    result += [assigned, Assign(self.scalar, "=", there, statement.span)]
                case If():
                    then, otherwise = self.body(statement.then, known), self.body(statement.otherwise, known)
                    if then is None or otherwise is None:
                        return None
                    (head,) = self._with_scalar((replace(statement, then=(), otherwise=()),))
                    assert isinstance(head, If)
                    result.append(replace(head, then=then, otherwise=otherwise))
                case Assign() | Declare():
                    result += self._with_scalar((statement,))
                case _:
                    return None
            # An element of a place that has changed since has not been read.
            changed = assigned_scalars((statement,)) | declared_names((statement,))
            known = [e for e in known if not names_read(e) & changed]
        return tuple(result)

    def _with_scalar(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        def replaced(expr: Expr) -> Expr:
            return self.scalar if expr == self.element else expr

        return map_expressions(body, lambda e: map_expression(e, replaced))
