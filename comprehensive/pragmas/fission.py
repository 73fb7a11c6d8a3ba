"""Fission: what an iteration of a parallel loop does once, and its loops, each in a region of its own.

In: the uncut loops of a region.  Out: the same for each part of what stands inside of them, in the order of the text::

    #pragma omp parallel for                                 meta_for i: a[i][k] /= a[k][k];
    for (i...) {                                       -->   meta_for i, j: a[i][j] -= a[i][k] * a[k][j];
      a[i][k] /= a[k][k];
      for (j...) a[i][j] -= a[i][k] * a[k][j];
    }

Iterations of a parallel loop do not know of each other, so that all may do their first part before one does its
second: where that is proved (`widen.py` sees to it), elements need no other look.  Scalars belong to one part; those
that a later part reads are computed there again, from what no part before it writes, as that of
``l = a[i][k] / a[k][k]; for (j...) a[i][j] -= l * a[k][j]; a[i][k] = l;``, or are read where they have been stored:
``a[i][k] = l`` in front of the loop makes it ``l = a[i][k]`` behind.  Conditions around all stand around each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import names_read_in
from comprehensive.metafork.ast import Assign, Declare, For, If, Index, Name, ScalarType, Stmt
from comprehensive.metafork.walk import arrays_assigned, assigned_scalars, elements, reads_data, statements_in
from comprehensive.pragmas.cutting import Loops
from comprehensive.records import replace

Leaves: TypeAlias = Callable[[Sequence[Declare], Sequence[Stmt]], bool]
"""The proof that no iteration of a body writes what definitions in it read."""


def parted(loops: Loops, leaves: Leaves) -> tuple[Loops, ...]:
    """Return the loops for each part: each loop inside of them, and the statements between two; the loops themselves
    where these are no parts."""
    stored = {p.name: p.type for p in loops.text.parameters if p.is_data}
    parts = _Fission(stored, leaves).parts(loops.inner, ())
    if parts is None:
        return (loops,)
    inside = {s.name for part in parts for s in statements_in(part) if isinstance(s, Declare)}
    local = {name for part in parts for name in assigned_scalars(part)} - inside
    return (loops,) if local else tuple(replace(loops, inner=part) for part in parts)


class _Fission(Struct, frozen=True):
    types: Mapping[str, ScalarType]
    """The types of the elements of arrays."""
    leaves: Leaves

    def parts(self, body: Sequence[Stmt], around: Sequence[Declare]) -> list[tuple[Stmt, ...]] | None:
        """Return the parts of a body behind definitions; None where it has none."""
        match tuple(body):
            case (*first, If(then=then, otherwise=()) as choice) if all(
                isinstance(s, Declare) for s in first
            ):
                pass
            case _:
                return self._of_runs(body, around)
        known = (*around, *(s for s in first if isinstance(s, Declare)))
        header = (replace(choice, then=()),)
        if reads_data(choice.condition) or names_read_in(header) & assigned_scalars(body):
            return None
        outside = _needed(known, header)

        def inside(part: Sequence[Stmt]) -> tuple[Stmt, ...]:
            before = [s for s in known if s in part or s in outside]
            return (*before, replace(choice, then=tuple(s for s in part if s not in before)))

        def leaves(definitions: Sequence[Declare], part: Sequence[Stmt]) -> bool:
            return self.leaves(definitions, inside(part))

        parts = replace(self, leaves=leaves).parts(then, known)
        return None if parts is None else [inside(part) for part in parts]

    def _of_runs(self, body: Sequence[Stmt], around: Sequence[Declare]) -> list[tuple[Stmt, ...]] | None:
        if not any(isinstance(s, For) for s in body) or all(isinstance(s, For | Declare) for s in body):
            return None
        assigned = assigned_scalars(body)
        parts: list[tuple[Stmt, ...]] = []
        known = {s: 0 for s in around}
        for part in _runs(body):
            needed = _needed([*known], part)
            if any(s.initial is None or s.dims or s.name in assigned for s in needed):
                return None
            for definition in needed:
                for each in parts[known[definition] :]:
                    if not self._leaves(definition, needed, each):
                        return None
            known |= {s: len(parts) for s in part if isinstance(s, Declare)}
            if any(not isinstance(s, Declare) for s in part):
                parts.append((*needed, *part))
            stored = {s: self._stored(s, [*known][place + 1 :], part) for place, s in enumerate(known)}
            known = {stored[s] or s: since if stored[s] is None else len(parts) for s, since in known.items()}
        return parts

    def _leaves(self, definition: Declare, needed: Sequence[Declare], part: Sequence[Stmt]) -> bool:
        """Whether a part writes nothing that a definition reads, which reads what others define."""
        if _leaves_arrays(definition, part):
            return True
        return self.leaves((definition,), (*needed, *(s for s in part if s not in needed)))

    def _stored(self, definition: Declare, later: Sequence[Declare], part: Sequence[Stmt]) -> Declare | None:
        """Return the definition of a scalar by the element that a part stores it to, where the part may write what the
        scalar is computed from; None where there is no such element, or it may round the value, or the part may write
        it again, or ``later`` definitions say where it is."""
        if _leaves_arrays(definition, part):
            return None
        for place, statement in enumerate(part):
            match statement:
                case Assign(target=Index() as target, operator="=", value=Name(identifier=name)) if (
                    name == definition.name
                    and self.types.get(target.array) is definition.type
                    and target.array not in arrays_assigned(part[place + 1 :])
                    and not {s.name for s in later} & names_read(target)
                ):
                    return replace(definition, initial=target)
                case _:
                    pass
        return None


def _leaves_arrays(definition: Declare, part: Sequence[Stmt]) -> bool:
    """Whether a part writes no array that a definition reads."""
    read = () if definition.initial is None else elements(definition.initial)
    return not {e.array for e in read} & arrays_assigned(part)


def _runs(body: Sequence[Stmt]) -> Iterator[tuple[Stmt, ...]]:
    """Yield loops alone, and the statements between two of them."""
    run: list[Stmt] = []
    for statement in body:
        if not isinstance(statement, For):
            run.append(statement)
            continue
        yield tuple(run)
        yield (statement,)
        run = []
    yield tuple(run)


def _needed(known: Sequence[Declare], part: Sequence[Stmt]) -> tuple[Declare, ...]:
    """Return the definitions that a part reads, and what these read, in their order."""
    wanted = set(names_read_in(part)) | assigned_scalars(part)
    needed: list[Declare] = []
    for statement in reversed(known):
        if statement.name in wanted:
            needed.insert(0, statement)
            wanted |= names_read_in((statement,))
    return tuple(needed)
