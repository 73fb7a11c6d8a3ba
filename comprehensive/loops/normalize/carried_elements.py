"""An element that a loop has stored in the turn before is held in a scalar.

::

    y[0] = x[0];  for (j = 1; j < n; j++) y[j] = y[j - 1] + x[j];
        -->  float y_before = x[0];  y[0] = y_before;
             for (j = 1; j < n; j++) { y_before = y_before + x[j];  y[j] = y_before; }

which is how sums so far are written with a scalar.  Where a turn stores under a condition that reads the element, the
next turn reads what is there in any case, and nothing more is stored::

    for (j = 1; j < n; j++) if (y[j - 1] < y[j]) y[j] = y[j - 1] + 1;
        -->  float y_before = y[0];
             for (j = 1; j < n; j++) {
                 float y_here = y[j];
                 if (y_before < y_here) { y_here = y_before + 1;  y[j] = y_here; }
                 y_before = y_here;
             }

Legal where every turn stores one element of the array, or may, reads the one that the turn before has stored, and no
others that the loop stores; what a scalar of the element's type holds is what the element holds.  The first turn reads
what has been stored in front of the loop, or the element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import Array, Nest
from comprehensive.loops.normalize.equality import same
from comprehensive.loops.traverse import all_names, always_evaluated, declared_names, map_bands
from comprehensive.loops.types import ROUNDED_IN_MEMORY_ALONE, environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Break,
    Conditional,
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
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute, with_bodies
from comprehensive.metafork.terms import value_left
from comprehensive.metafork.walk import (
    arrays_assigned,
    assigned_scalars,
    elements_in,
    reads_data,
    statements_in,
)
from comprehensive.records import replace


def with_carried_elements_held(nest: Nest) -> Nest:
    """The nest with such elements in scalars."""
    held = _Held(nest.arrays, Namer(all_names(nest)))
    return map_bands(nest, lambda number, body: held.body(body, environment_of(nest, number)))


class _Held(Struct, frozen=True):
    arrays: tuple[Array, ...]
    name: Namer

    def body(self, body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        types = with_declarations(types, body)
        for statement in body:
            match statement:
                case For(type=ScalarType() as kind):
                    inner = {**types, statement.iterator: kind}
                    loop = replace(statement, body=self.body(statement.body, inner))
                    result = [*self._held(result, loop, inner)]
                case _:
                    result.append(with_bodies(statement, partial(self.body, types=types)))
        return tuple(result)

    def _held(self, before: Sequence[Stmt], loop: For, types: Mapping[str, ScalarType]) -> list[Stmt]:
        """Return the statements up to a loop, and the loop, with the element that it carries in a scalar."""
        found = self._carried(loop, types)
        if found is None:
            return [*before, loop]
        place, stored, read, first = found
        held = Name(self.name(f"{stored.array}_before"))
        type = types[stored.array]

        def put(expression: Expr) -> Expr:
            return held if isinstance(expression, Index) and same(expression, read, types) else expression

        *early, store = map_expressions(loop.body[: place + 1], lambda e: map_expression(e, put))
        match store:
            case If(condition=condition, then=(Assign() as perhaps,)):
                here = Name(self.name(f"{stored.array}_here"))

                def is_here(expression: Expr) -> Expr:
                    return (
                        here
                        if isinstance(expression, Index) and same(expression, stored, types)
                        else expression
                    )

                update = map_expression(value_left(perhaps), is_here)
                then = (
                    replace(perhaps, target=here, operator="=", value=update),
                    replace(perhaps, operator="=", value=here),
                )
                steps: tuple[Stmt, ...] = (
                    Declare(type, here.identifier, initial=stored, span=store.span),
                    replace(store, condition=map_expression(condition, is_here), then=then),
                    Assign(held, "=", here, store.span),
                )
            case Assign():
                steps = (
                    Assign(held, "=", value_left(store), store.span),
                    Assign(stored, "=", held, store.span),
                )
            case _:
                raise ValueError("a loop stores by an assignment")
        changed = replace(loop, body=(*early, *steps, *loop.body[place + 1 :]))
        match before[-1:]:
            case [Assign(target=Index() as target, operator="=", value=value, atomic=False) as last] if same(
                target, first, types
            ):
                known = (Declare(type, held.identifier, initial=value), replace(last, value=held))
                return [*before[:-1], *known, changed]
            case _:
                runs = fold(Binary(loop.relation, loop.start, loop.bound))
                value = first if isinstance(runs, IntLiteral) else Conditional(runs, first, IntLiteral(0))
                return [*before, Declare(type, held.identifier, initial=value), changed]

    def _carried(self, loop: For, types: Mapping[str, ScalarType]) -> tuple[int, Index, Index, Index] | None:
        """Return by which statement a loop stores an element in each turn, the element, the one of the turn before,
        and which one that is for the first turn; None where no statement reads it."""
        kind, step = loop.type, loop.step
        if kind is None or kind.is_narrow or not isinstance(step, IntLiteral):
            return None
        start = replace(loop.start, type=kind) if isinstance(loop.start, IntLiteral) else loop.start
        if any(map(reads_data, (start, loop.bound))) or type_of(start, types) is not kind:
            return None
        if fold(Binary(loop.relation, start, loop.bound)) == IntLiteral(0):
            return None
        changing = assigned_scalars(loop.body) | declared_names(loop.body)
        if loop.iterator in changing or any(
            isinstance(s, Break | Continue) for s in statements_in(loop.body)
        ):
            return None
        before = Binary("-", Name(loop.iterator), replace(step, type=kind))
        for place, statement in enumerate(loop.body):
            match statement:
                case Assign(target=Index() as stored, atomic=False) if self._is_alone(
                    stored, loop.body, place
                ):
                    pass
                case If(
                    condition=condition, then=(Assign(target=Index() as stored, atomic=False),), otherwise=()
                ) if self._is_alone(stored, loop.body, place) and any(
                    isinstance(e, Index) and same(e, stored, types) for e in always_evaluated(condition)
                ):
                    pass
                case _:
                    continue
            if loop.iterator not in names_read(stored) or names_read(stored) & changing:
                continue
            if any(map(reads_data, stored.subscripts)):
                continue
            read = _at(stored, loop.iterator, before)
            until, behind = (
                [e for e in elements_in(part) if e.array == stored.array and not same(e, stored, types)]
                for part in (loop.body[: place + 1], loop.body[place + 1 :])
            )
            if until and not behind and all(same(e, read, types) for e in until):
                return place, stored, read, _at(read, loop.iterator, start)
        return None

    def _is_alone(self, stored: Index, body: Sequence[Stmt], place: int) -> bool:
        """Whether nothing else stores to the array, which the nest has under one name, in elements that hold what a
        scalar does."""
        array = next((a for a in self.arrays if a.name == stored.array), None)
        if array is None or array.type in ROUNDED_IN_MEMORY_ALONE:
            return False
        others = (*body[:place], *body[place + 1 :])
        is_only_name = sum(a.pointer == array.pointer for a in self.arrays) == 1
        return is_only_name and stored.array not in arrays_assigned(others)


def _at(element: Index, iterator: str, value: Expr) -> Index:
    return replace(
        element, subscripts=tuple(fold(substitute(s, {iterator: value})) for s in element.subscripts)
    )
