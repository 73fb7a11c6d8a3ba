"""A reduction to scalars: its loop is shared by the whole device, in two regions, or run by one thread.

In: a loop with ``reduction(+: s)`` and the assignments behind it that take the sum.  Out: the loops of two regions, as
:mod:`comprehensive.reductions.split` has them, or a region of one point where the loop cannot be shared::

    float s = 0;
    #pragma omp parallel for reduction(+: s)        parts of the sum, then  meta_for (int once = 0; once < 1; once++) {
    for (i = 0; i < n; i++) s += a[i];        -->     float s_1 = s;
    *result = s;                                      for (...) s_1 += parts[...];
                                                      result[0] = s_1; }
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from comprehensive.metafork.ast import Declare, For, IntLiteral, MetaFor, Parameter, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import RegionText, RegionTree
from comprehensive.metafork.walk import arrays_assigned, statements_in
from comprehensive.pragmas.clauses import reductions
from comprehensive.pragmas.cutting import Loops, cut
from comprehensive.pragmas.dimension import Dimension, dimension
from comprehensive.pragmas.directives import Directive
from comprehensive.records import replace
from comprehensive.reductions.accumulators import Accumulator, Obstacle, accumulators
from comprehensive.reductions.operators import operator_called
from comprehensive.reductions.split import Split, split


def once(loop: For, stores: Sequence[Stmt], name: Namer) -> For:
    """A loop of one iteration around all of it."""
    zero, one = IntLiteral(0), IntLiteral(1)
    return For(ScalarType.INT, name("once"), zero, "<", one, one, (loop, *stores), loop.span)


class Shared(Struct, frozen=True):
    """The two regions that a loop with a reduction becomes.

    ``first`` are the uncut loops of the one with the parts.  Where iterations store elements, ``claim`` is the loop
    with accumulators of their own for all iterations: they must not depend on each other, and those of ``inner``, a
    shared loop inside of it, must not either.
    """

    tree: RegionTree
    first: Loops
    claim: Loops | None
    inner: For | None


def shared(
    loops: Loops,
    own: Sequence[Directive],
    called: Mapping[str, str],
    host: frozenset[str],
    name: Namer,
    serial: AbstractSet[int],
) -> Shared | None:
    """A loop that the whole device shares; None where one thread runs it, with a warning (CF1116).

    ``loops`` are the one iteration around the loop and what stands in it; ``called`` are the variables of the program
    by the names that accumulators have now; ``serial`` are the offsets of loops that are not shared where they store
    elements.
    """
    text = loops.text
    at = next(k for k, s in enumerate(loops.inner) if isinstance(s, For))
    loop = loops.inner[at]
    assert isinstance(loop, For)
    types = {**text.types, **{p.name: p.type for p in text.parameters if p.is_data}}
    types |= {a.name: a.type for a in text.around.arrays}
    types |= {s.name: s.type for s in loops.inner[:at] if isinstance(s, Declare)}
    found = accumulators(loop.body, types)
    if not isinstance(found, Obstacle) and not _are_as_said(text, own, found, called):
        return None
    before, after = loops.inner[:at], loops.inner[at + 1 :]
    parts = split(before, loop, after, types, host, name, lambda each: each.span.start not in serial)
    if isinstance(parts, Obstacle):
        _warn(text, own, parts, called)
        return None
    claim = inner = None
    if not isinstance(found, Obstacle) and arrays_assigned(loop.body):
        kept = tuple(Declare(each.type, each.name, initial=IntLiteral(0)) for each in found)
        owned = _with_own(loop, loop if parts.inner is None else parts.inner, kept)
        claim = Loops(text, (dimension(loop, types, name),), owned.body)
        inner = next((s for s in statements_in(owned.body) if _is_at(s, parts.inner)), None)
        assert inner is None or isinstance(inner, For)
    return _regions(loops, parts, claim, inner)


def _is_at(statement: Stmt, loop: For | None) -> bool:
    """Whether a statement is the same loop of the program, with whatever names."""
    return loop is not None and isinstance(statement, For) and statement.span == loop.span


def _with_own(loop: For, owner: For, kept: tuple[Stmt, ...]) -> For:
    """The loop with definitions before everything that an iteration of ``owner``, itself or a loop in it, does."""
    if _is_at(loop, owner):
        return replace(loop, body=(*kept, *loop.body))
    body = tuple(_with_own(s, owner, kept) if isinstance(s, For) else s for s in loop.body)
    return replace(loop, body=body)


def _regions(loops: Loops, parts: Split, claim: Loops | None, inner: For | None) -> Shared | None:
    first = Loops(loops.text, tuple(map(_dimension, parts.first)), parts.first_body)
    both = [cut(each) for each in (first, Loops(loops.text, loops.dimensions, parts.second_body))]
    bodies: list[tuple[Stmt, ...]] = []
    added: dict[str, Parameter] = {}
    for made in both:
        if made is None:
            return None
        bodies.append(made[0])
        added |= {parameter.name: parameter for parameter in made[1]}
    tree = RegionTree(
        tuple(bodies),
        parts.scalars,
        (*added.values(), *parts.memory),
        parts.preconditions,
        in_any_order=True,
        is_checked=claim is not None,
    )
    return Shared(tree, first, claim, inner)


def _dimension(loop: MetaFor) -> Dimension:
    serial = For(loop.type, loop.iterator, loop.start, loop.relation, loop.bound, loop.step, (), loop.span)
    return Dimension(serial, loop, None)


def _are_as_said(
    text: RegionText, own: Sequence[Directive], found: Sequence[Accumulator], called: Mapping[str, str]
) -> bool:
    """Whether the loop does what the clauses say; CF1118 where it does something else."""
    done = {called.get(each.name, each.name): each.operator for each in found}
    fine = True
    for said in (r for each in own for r in reductions(each)):
        operator = operator_called(said.operator)
        for variable, section in said.items:
            does = done.get(variable, operator)
            if section or operator is None or does is None or does == operator:
                continue
            if does.constant is None or operator.neutral is not None:
                fine = False
                text.sink.error(
                    "CF1118",
                    f"the clause puts '{variable}' together with '{said.operator}', and the loop with '{does.symbol}'",
                    said.clause.span,
                    help=f"write reduction({'||' if does.constant is not None else does.symbol}: {variable})",
                )
    return fine


def _warn(text: RegionText, own: Sequence[Directive], obstacle: Obstacle, called: Mapping[str, str]) -> None:
    reason = re.sub(r"'(\w+)'", lambda found: f"'{called.get(found[1], found[1])}'", obstacle.reason)
    said = [r for each in own for r in reductions(each)]
    listed = " and ".join(f"'{variable}'" for each in said for variable, _ in each.items)
    text.sink.warning(
        "CF1116",
        f"one thread computes {listed}: {reason}",
        obstacle.span,
        help="update it in one way in every iteration, as in 's += ...' or 'if (x > m) m = x', and read it behind the "
        "loop only",
    )
