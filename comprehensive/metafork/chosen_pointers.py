"""Local pointers that a condition chooses: what follows is done for each choice.

In: the statements of a region as parsed.  Out: the same in which pointers have a place from the start::

    float *p = c ? a : b;  S                   -->   if (c) { float *p = a; S } else { float *p = b; S }
    float *p;  if (c) p = a; else p = b;  S    -->   the same
    float *p;  T  p = a + i;  S                -->   T  float *p = a + i;  S

    f(c ? a : b, x)                            -->   c ? f(a, x) : f(b, x)

Choices within one array stay expressions: such a pointer has one array from the start.  Where one condition chooses
several pointers, as those of two grids that change places, there are two copies all the same.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from comprehensive.metafork.ast import Assign, Call, Conditional, Declare, Expr, If, Name, Stmt
from comprehensive.metafork.pointer_places import place
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import arrays as arrays_in
from comprehensive.metafork.walk import assigned_scalars, declared, names, reads_data, subexpressions_in
from comprehensive.records import replace

MOST_CHOICES = 4
"""Choices in each other, each of which doubles the copies of what follows."""


def with_chosen_pointers(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with a copy of what follows for each choice of a pointer."""
    return _Chosen().body(body)


def chosen_call(call: Call, is_array: Callable[[str], bool]) -> Conditional | None:
    """The choice between two calls that a call is one of whose arguments is a choice between arrays."""
    for k, argument in enumerate(call.arguments):
        if (
            not isinstance(argument, Conditional)
            or not _chooses(argument, is_array)
            or place(argument) is not None
        ):
            continue
        then, otherwise = (
            replace(call, arguments=(*call.arguments[:k], value, *call.arguments[k + 1 :]))
            for value in (argument.then, argument.otherwise)
        )
        return Conditional(argument.condition, then, otherwise, call.span)
    return None


def _chooses(argument: Expr, is_array: Callable[[str], bool]) -> bool:
    """Whether an argument points into one of several arrays."""
    if isinstance(argument, Conditional):
        return _chooses(argument.then, is_array) and _chooses(argument.otherwise, is_array)
    found = place(argument)
    return found is not None and is_array(found.array)


class _Chosen(Struct, frozen=True):
    """The statements under so many choices; ``known`` are those among them that nothing changes, and how they fall."""

    depth: int = 0
    known: tuple[tuple[Expr, bool], ...] = ()

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for position, statement in enumerate(body):
            found = self._from(statement, body[position + 1 :])
            if found is not None:
                return (*result, *found)
            result.append(with_bodies(statement, self.body))
        return tuple(result)

    def _from(self, statement: Stmt, rest: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
        """Return what the declaration of a pointer and all behind it become; None for anything else."""
        match statement:
            case Declare(is_pointer=True, initial=Conditional(condition, then, otherwise) as initial):
                if place(initial) is not None:
                    return None
                given = (replace(statement, initial=then),), (replace(statement, initial=otherwise),)
                return self._either(If(condition, *given, span=statement.span), rest)
            case Declare(is_pointer=True, initial=None, name=name):
                at = next((k for k, s in enumerate(rest) if _mentions(s, name)), len(rest))
                match rest[at : at + 1]:
                    case (Assign(target=Name(first), operator="=", value=value),) if first == name:
                        begun = replace(statement, initial=value)
                        return (
                            None if name in names(value) else self.body((*rest[:at], begun, *rest[at + 1 :]))
                        )
                    case (If() as choice,) if name in assigned_scalars((choice,)):
                        given = (statement, *choice.then), (statement, *choice.otherwise)
                        found = self._either(
                            replace(choice, then=given[0], otherwise=given[1]), rest[at + 1 :]
                        )
                        return None if found is None else (*self.body(rest[:at]), *found)
                    case _:
                        return None
            case _:
                return None

    def _either(self, choice: If, rest: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
        """A choice with the rest behind both of its branches; None where these would be too many copies."""
        then, otherwise = choice.then, choice.otherwise
        decided = next((holds for condition, holds in self.known if condition == choice.condition), None)
        if decided is not None:
            return self.body((*(then if decided else otherwise), *rest))
        if self.depth == MOST_CHOICES or _declared((*then, *otherwise)) & _declared(rest):
            return None
        changed = assigned_scalars((*then, *otherwise, *rest))
        is_steady = not reads_data(choice.condition) and not changed & set(names(choice.condition))
        branches = (
            _Chosen(
                self.depth + 1, (*self.known, (choice.condition, holds)) if is_steady else self.known
            ).body((*branch, *rest))
            for branch, holds in ((then, True), (otherwise, False))
        )
        return (If(choice.condition, *branches, span=choice.span),)


def _declared(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(name for s in body for name in declared(s))


def _mentions(statement: Stmt, name: str) -> bool:
    read = (e.identifier for e in subexpressions_in((statement,)) if isinstance(e, Name))
    return name in read or name in arrays_in((statement,)) | assigned_scalars((statement,))
