"""MetaFork where sums may be put together in any order: points that are alone share their loop with the whole device.

In: a region as parsed.  Out: the regions that it is; two where it has one point and a loop that puts values together::

    meta_for (int i = 0; i < 1; i++) { float s = 0;  for (int k = 0; k < n; k++) s += x[k];  r[i] = s; }
        -->  meta_for (int k_part = 0; k_part < k_parts; k_part++) ...
             meta_for (int i = 0; i < 1; i++) ...

A region of many points is left to its tiles, which deal a loop out to the threads of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.normalize.local_scalars import declared_late
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    HostScalar,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.blocking import blocked
from comprehensive.metafork.fresh import Namer, fresh
from comprehensive.metafork.notation import MetaFork, RegionText, RegionTree
from comprehensive.metafork.rewrite import map_expression, map_expressions, with_subscripts
from comprehensive.metafork.structure import perfect_run
from comprehensive.metafork.walk import (
    arrays_assigned,
    elements_in,
    names,
    own_expressions,
    statements_in,
    subexpressions,
)
from comprehensive.records import replace
from comprehensive.reductions.accumulators import Obstacle
from comprehensive.reductions.operators import update_of
from comprehensive.reductions.split import Split, split


class InAnyOrder(MetaFork):
    """The keywords of MetaFork, in programs that permit another order of what is put together."""

    def region(self, text: RegionText) -> RegionTree:
        match text.body:
            case (MetaFor() as outermost,) if text.is_understood:
                run = perfect_run(outermost)
                name = Namer(text.taken)
                parted = _parted(text, run, name) if all(map(_is_one, run)) else None
                if parted is not None:
                    second = super().region(text._replace(body=parted.second))
                    return _regions(text, parted.split, second)
            case _:
                pass
        return super().region(text)


def _is_one(loop: MetaFor) -> bool:
    """Whether the loop has one iteration, as the text says."""
    match loop.start, loop.bound, loop.step:
        case IntLiteral(start), IntLiteral(bound), IntLiteral(1):
            return bound - start == (1 if loop.relation == "<" else 0) and loop.relation in ("<", "<=")
        case _:
            return False


class _Parted(Struct, frozen=True):
    """A loop as two regions, the second with the parallel loops of the program."""

    split: Split
    second: tuple[Stmt, ...]


def _parted(text: RegionText, run: Sequence[MetaFor], name: Namer) -> _Parted | None:
    """The one point as two regions; None where its loop cannot be shared."""
    body = declared_late(run[-1].body)
    places = [k for k, s in enumerate(body) if isinstance(s, For)]
    if len(places) != 1 or not isinstance(loop := body[places[0]], For) or loop.type is None:
        return None
    arrays = {p.name: p.type for p in text.parameters if p.is_data}
    arrays |= {a.name: a.type for a in text.around.arrays}
    held, loop = _held(loop, arrays, name)
    if arrays_assigned((loop,)) & arrays.keys():
        return None  # nothing says that its iterations may run in any order
    before, after = body[: places[0]], body[places[0] + 1 :]
    loads = tuple(Declare(arrays[e.array], s, initial=e, span=e.span) for s, e in held.items())
    stores = tuple(Assign(e, "=", Name(s), e.span) for s, e in held.items())
    types = text.types | arrays | {each.iterator: each.type for each in run}
    found = split((*before, *loads), loop, (*stores, *after), types, frozenset(text.types), name)
    if isinstance(found, Obstacle):
        return None
    first, second = found.first_body, found.second_body
    if held:
        # Without iterations there may be no such element; a point that does nothing else is then none.
        runs = Binary("<", IntLiteral(0), found.folded)
        end = len(second) - len(after)
        first = (If(runs, first, span=loop.span),)
        if arrays_assigned((*before, *after)):
            guarded = If(runs, second[len(before) : end], span=loop.span)
            second = (*second[: len(before)], guarded, *second[end:])
        else:
            value = Conditional(runs, IntLiteral(1), IntLiteral(0))
            points = HostScalar(name(f"{loop.iterator}_points"), ScalarType.INT, value, loop.span, added=True)
            bound = Binary("+", run[0].start, Name(points.name))
            run = (replace(run[0], relation="<", bound=bound), *run[1:])
            found = replace(found, scalars=(*found.scalars, points))
    alone = (Declare(each.type, each.iterator, initial=each.start, span=each.span) for each in run)
    read = {n for s in statements_in(first) for expression in own_expressions(s) for n in names(expression)}
    found = replace(found, first_body=(*(s for s in alone if s.name in read), *first))
    for loop_around in reversed(run):
        second = (replace(loop_around, body=second),)
    return _Parted(found, second)


def _held(loop: For, arrays: Mapping[str, ScalarType], name: Namer) -> tuple[dict[str, Index], For]:
    """The loop with a scalar for each element that it only updates, and the elements by these scalars."""
    own = declared_names((loop,))
    held: dict[str, Index] = {}
    for statement in statements_in(loop.body):
        update = update_of(statement)
        if update is None or not isinstance(target := update.target, Index) or target.array not in arrays:
            continue
        spoken = [e for e in elements_in((loop,)) if e.array == target.array]
        is_fixed = (
            not own & set(names(target)) and sum(isinstance(e, Index) for e in subexpressions(target)) == 1
        )
        if is_fixed and target not in held.values() and all(e == target for e in spoken):
            held[name(f"{target.array}_element")] = target
    for scalar, element in held.items():
        (changed,) = _with_scalar((loop,), element, scalar)
        assert isinstance(changed, For)
        loop = changed
    return held, loop


def _with_scalar(body: tuple[Stmt, ...], element: Index, scalar: str) -> tuple[Stmt, ...]:
    """The statements with a scalar in the place of an element, wherever it is read or assigned."""

    def read(expression: Expr) -> Expr:
        return map_expression(expression, lambda e: Name(scalar, e.span) if e == element else e)

    def place(target: Name | Index) -> Name | Index:
        return Name(scalar, target.span) if target == element else with_subscripts(target, read)

    return map_expressions(body, read, place)


def _regions(text: RegionText, parted: Split, second: RegionTree) -> RegionTree:
    """Both regions; ``second`` is the one that puts the parts together, cut into blocks as the program says."""
    added = tuple(
        Parameter(fresh(f"B{number}", text.taken), ScalarType.INT, added=True)
        for number in range(len(parted.first))
        if len(text.block) != len(parted.first)
    )
    extents = tuple(Name(each.name) for each in added) or text.block
    nest: tuple[Stmt, ...] = parted.first_body
    for loop in reversed(parted.first):
        nest = (replace(loop, body=nest),)
    taken = text.taken | {loop.iterator for loop in parted.first} | {each.name for each in added}
    parameters = (*text.parameters, *added)
    first = blocked(nest, extents, parameters, taken, text.unsteady, text.keyword.span, text.sink)
    return RegionTree(
        (first, *second.bodies),
        (*second.scalars, *parted.scalars),
        (*second.added, *added, *parted.memory),
        (*second.preconditions, *parted.preconditions),
        in_any_order=True,
        is_checked=True,
    )
