"""Loops one after the other that go through the same turns, and do not know of each other, are one loop.

::

    for (j < n) most = fmaxf(most, a[j]);  float sum = 0;  for (k < n) sum += a[k];
        -->  float sum = 0;  for (j < n) { most = fmaxf(most, a[j]); sum += a[j]; }

Legal where neither loop writes what the other one reads or writes: scalars by their names, data by its pointer.  What
stands between them comes first, so it must not touch what the first loop does either.  Every loop keeps its order.
Loops of a constant number of turns are left alone: these are unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.normalize.outward import header_of
from comprehensive.loops.traverse import declared_names, rename
from comprehensive.metafork.ast import Assign, Break, Continue, Declare, For, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.walk import assigned_scalars, expressions_in, statements_in, subexpressions
from comprehensive.records import replace


def fused(body: tuple[Stmt, ...], pointers: Mapping[str, str]) -> tuple[Stmt, ...]:
    """The body with such loops in one; ``pointers`` are the arguments through which arrays are reached."""
    result: list[Stmt] = []
    for statement in body:
        place = _partner(result, statement, pointers) if isinstance(statement, For) else None
        if place is None:
            result.append(statement)
            continue
        first = result.pop(place)
        assert isinstance(first, For)
        assert isinstance(statement, For)
        second = rename(statement.body, {statement.iterator: first.iterator})
        result.append(replace(first, body=(*first.body, *second)))
    return tuple(result)


def _partner(before: Sequence[Stmt], loop: For, pointers: Mapping[str, str]) -> int | None:
    """Return the place of the last loop before one, if the two can be one."""
    place = next((k for k in reversed(range(len(before))) if isinstance(before[k], For)), None)
    if place is None:
        return None
    first = before[place]
    assert isinstance(first, For)
    if header_of(first) != header_of(loop) or isinstance(loop.bound, IntLiteral) or not _counts(first, loop):
        return None
    between = before[place + 1 :]
    if not all(isinstance(s, Declare | Assign) for s in between):
        return None
    ours, theirs = _Touched.of((first,), pointers), _Touched.of((*between, loop), pointers)
    return place if ours.is_apart(theirs) and not _declared_twice(first, loop) else None


def _counts(*loops: For) -> bool:
    """Whether the turns of loops are known before the first one: nothing in them leaves one or changes its header."""
    for loop in loops:
        inside = list(statements_in(loop.body))
        header = names_read(loop.start) | names_read(loop.bound) | names_read(loop.step) | {loop.iterator}
        assigned = assigned_scalars(loop.body)
        data = any(
            isinstance(e, Index) for x in (loop.start, loop.bound, loop.step) for e in subexpressions(x)
        )
        if (
            loop.type is None
            or data
            or assigned & header
            or any(isinstance(s, Break | Continue) for s in inside)
        ):
            return False
    return True


def _declared_twice(first: For, second: For) -> bool:
    names = declared_names(first.body) & declared_names(second.body)
    hides = {first.iterator, second.iterator} & (declared_names(first.body) | declared_names(second.body))
    return bool(names | hides)


class _Touched(Struct, frozen=True):
    """The scalars and the data, by its pointer, that statements read and write."""

    reads: frozenset[str]
    writes: frozenset[str]

    @staticmethod
    def of(body: tuple[Stmt, ...], pointers: Mapping[str, str]) -> _Touched:
        inside = list(statements_in(body))
        targets = [s.target for s in inside if isinstance(s, Assign)]
        compound = {id(s.target) for s in inside if isinstance(s, Assign) and s.operator != "="}
        reads: set[str] = set()
        writes = {s.name for s in body if isinstance(s, Declare)}
        for target in targets:
            name = target.array if isinstance(target, Index) else target.identifier
            writes.add(pointers.get(name, name))
            if id(target) in compound:
                reads.add(pointers.get(name, name))
        for whole in expressions_in(body):
            if isinstance(whole, Name) and any(whole is t for t in targets):
                continue
            for e in subexpressions(whole):
                match e:
                    case Name(identifier):
                        reads.add(identifier)
                    case Index(array=array):
                        reads.add(pointers.get(array, array))
                    case _:
                        pass
        own = declared_names(tuple(s for s in body if isinstance(s, For)))
        return _Touched(frozenset(reads - own), frozenset(writes - own))

    def is_apart(self, other: _Touched) -> bool:
        return not (self.writes & (other.reads | other.writes) or other.writes & self.reads)
