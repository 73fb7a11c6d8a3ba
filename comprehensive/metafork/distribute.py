"""Imperfect nests of parallel loops, distributed into perfect ones that run one after the other.

In: a region with statements between its parallel loops.  Out: a nest for each part of it, in the order of the text::

    meta_for (i) { float s = 2*x[i]; y[i] = s; meta_for (j) z[i][j] = s; }
        -->  meta_for (i) { float s = 2*x[i]; y[i] = s; }
             meta_for (i) meta_for (j) { float s = 2*x[i]; z[i][j] = s; }

Iterations of a parallel loop may run in any order, so all may do their first part before one does its second.  What
that takes is proved by names: elements that two parts share, and one writes, belong to one iteration of the loops
around both (an iterator is a subscript of its own); a scalar that a later part reads is computed there again, from
what no part writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import Assign, Declare, Expr, Index, MetaFor, Name, Stmt
from comprehensive.metafork.walk import (
    arrays_assigned,
    assigned_scalars,
    own_expressions,
    statements_in,
    subexpressions,
    subexpressions_in,
)
from comprehensive.records import replace


class _Part(Struct, frozen=True):
    """Statements inside of loops, outermost first."""

    loops: tuple[MetaFor, ...]
    body: tuple[Stmt, ...]

    @property
    def nest(self) -> tuple[Stmt, ...]:
        body = self.body
        for loop in reversed(self.loops):
            body = (replace(loop, body=body),)
        return body


class _RefusedError(Exception):
    def __init__(self, why: str, span: Span) -> None:
        super().__init__(why)
        self.why = why
        self.span = span


def distributed(body: tuple[Stmt, ...], sink: DiagnosticSink) -> tuple[tuple[Stmt, ...], ...]:
    """The bodies of the regions that the region becomes; the body itself where it is no imperfect nest.

    None where a nest cannot be distributed, with the reason (CF0331).
    """
    match body:
        case (MetaFor() as outermost,):
            pass
        case _:
            return (body,)
    try:
        found = tuple(_parts(outermost, (), ()))
        for number, later in enumerate(found):
            for earlier in found[:number]:
                _check_shared(earlier, later)
    except _RefusedError as refused:
        sink.error(
            "CF0331",
            f"the statements between these parallel loops cannot be run on their own: {refused.why}",
            refused.span,
            help="write a meta_schedule for each part, in their order, or move the statements into the inner loop",
        )
        return ()
    return tuple(part.nest for part in found)


def _parts(loop: MetaFor, around: tuple[MetaFor, ...], before: tuple[Stmt, ...]) -> Iterator[_Part]:
    """The parts of a loop inside of others; ``before`` are definitions there, which its parts may need."""
    loops = (*around, loop)
    if not any(isinstance(s, MetaFor) for s in loop.body):
        yield _Part(loops, (*_needed(before, loop.body), *loop.body))
        return
    plain: list[Stmt] = []
    known = list(before)
    for statement in loop.body:
        if not isinstance(statement, MetaFor):
            plain.append(statement)
            continue
        yield from _plain_part(loops, known, plain)
        known += _definitions(plain, loop.body)
        plain = []
        yield from _parts(statement, loops, tuple(known))
    yield from _plain_part(loops, known, plain)


def _plain_part(loops: tuple[MetaFor, ...], known: Sequence[Stmt], plain: Sequence[Stmt]) -> Iterator[_Part]:
    """A part of its own for statements that write elements."""
    body = tuple(plain)
    if arrays_assigned(body):
        yield _Part(loops, (*_needed(known, body), *body))


def _definitions(plain: Sequence[Stmt], whole: tuple[Stmt, ...]) -> Iterator[Declare]:
    """The scalars that are defined once: other parts can compute them again."""
    assigned = assigned_scalars(whole)
    written = _elements(whole, writes=True).keys()
    for statement in plain:
        if not isinstance(statement, Declare):
            continue
        read = {
            node.array
            for e in own_expressions(statement)
            for node in subexpressions(e)
            if isinstance(node, Index)
        }
        if statement.initial is None or statement.name in assigned or statement.dims or read & written:
            # Harmless where no later part reads it.
            yield replace(statement, initial=None)
        else:
            yield statement


def _needed(known: Sequence[Stmt], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The definitions that the statements read, and what these read, in their order."""
    wanted = _read(body)
    needed: list[Stmt] = []
    for statement in reversed(known):
        if isinstance(statement, Declare) and statement.name in wanted:
            if statement.initial is None:
                why = f"'{statement.name}' is read by another part and computed from what changes"
                raise _RefusedError(why, statement.span)
            needed.insert(0, statement)
            wanted |= _read((statement,))
    return tuple(needed)


def _read(body: tuple[Stmt, ...]) -> set[str]:
    """Scalars and arrays that statements speak of."""
    return {
        node.identifier if isinstance(node, Name) else node.array
        for node in subexpressions_in(body)
        if isinstance(node, Name | Index)
    }


def _elements(body: tuple[Stmt, ...], *, writes: bool = False) -> dict[str, list[Index]]:
    """The elements that statements speak of, or those that they write, by array; local arrays are none."""
    own = {s.name for s in statements_in(body) if isinstance(s, Declare)}
    found: dict[str, list[Index]] = {}
    for statement in statements_in(body):
        spoken: tuple[Expr, ...] = own_expressions(statement)
        if writes:
            spoken = (statement.target,) if isinstance(statement, Assign) else ()
        for part in spoken:
            for node in (part,) if writes else subexpressions(part):
                if isinstance(node, Index) and node.array not in own:
                    found.setdefault(node.array, []).append(node)
    return found


def _check_shared(earlier: _Part, later: _Part) -> None:
    """Elements of both parts, which one writes, are those of one iteration of the loops around both."""
    common = [loop for loop, other in zip(earlier.loops, later.loops, strict=False) if loop is other]
    first, second = _elements(earlier.body), _elements(later.body)
    written = _elements(earlier.body, writes=True).keys() | _elements(later.body, writes=True).keys()
    for array in (name for name in first if name in second and name in written):
        elements = [*first[array], *second[array]]
        for loop in common:
            own = [
                {k for k, s in enumerate(element.subscripts) if s == Name(loop.iterator)}
                for element in elements
            ]
            if not own[0].intersection(*own[1:]):
                why = f"elements of '{array}' may belong to other iterations of '{loop.iterator}'"
                raise _RefusedError(why, second[array][0].span)
