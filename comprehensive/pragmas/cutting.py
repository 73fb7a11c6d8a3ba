"""Parallel loops and what an iteration of all of them does, cut into blocks of threads.

In: a :class:`Loops`, the form in which a region with a directive waits until it is known which of its loops are
parallel.  Out: the body of the region, and parameters ``B0``, ``B1``... that its function gets for the shape of its
blocks, since the text has none::

    for (i = n; i > 0; i--) for (j = 0; j < m; j++) S   -->   meta_for ... block(B0, B1)

Regions of one function share these parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, DiagnosticSink
from comprehensive.metafork.ast import (
    Cut,
    Declare,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.blocking import blocked
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.notation import RegionText
from comprehensive.metafork.rewrite import substitute
from comprehensive.pragmas.dimension import MAXIMUM_LOOPS, Dimension, grid_of
from comprehensive.records import replace


class Loops(Struct, frozen=True):
    """``inner`` is what one iteration of all ``dimensions`` does, serial loops included."""

    text: RegionText
    dimensions: tuple[Dimension, ...]
    inner: tuple[Stmt, ...]


def cut(loops: Loops) -> tuple[tuple[Stmt, ...], tuple[Parameter, ...]] | None:
    """The body of the region and the parameters of its blocks; None where the loops do not make a grid."""
    extents = [Name(fresh(f"B{number}", loops.text.taken)) for number in range(len(loops.dimensions))]
    added = tuple(Parameter(extent.identifier, ScalarType.INT, added=True) for extent in extents)
    body = _cut(loops, extents, added)
    return None if body is None else (body, added)


def single(loops: Loops) -> tuple[Stmt, ...] | None:
    """The body of the region in blocks of one iteration: the loops of its grid are those of the program."""
    return _cut(loops, [IntLiteral(1)] * len(loops.dimensions), ())


def _cut(
    loops: Loops, extents: Sequence[Name | IntLiteral], added: tuple[Parameter, ...]
) -> tuple[Stmt, ...] | None:
    text, run, inner = loops.text, loops.dimensions, loops.inner
    grid = grid_of(run)
    if grid is None or not 1 <= len(run) <= MAXIMUM_LOOPS:
        return None
    for each in reversed(run):
        if each.value is not None:
            kind = each.loop.type or ScalarType.INT
            inner = (Declare(kind, each.iterator, initial=each.value, span=each.loop.span), *inner)
    for loop in reversed(grid):
        inner = (replace(loop, body=inner),)
    taken = text.taken | {each.counted.iterator for each in run} | {parameter.name for parameter in added}
    quiet = DiagnosticSink()
    body = blocked(inner, extents, (*text.parameters, *added), taken, frozenset(), GENERATED, quiet)
    return None if quiet.has_errors else _with_cuts(body, {each.counted.iterator: each for each in run})


def _with_cuts(body: tuple[Stmt, ...], run: Mapping[str, Dimension]) -> tuple[Stmt, ...]:
    """The loops of blocks and threads, which say of which loop of the program they are parts."""
    match body:
        case (MetaFor(cut=Cut(iterator=counted, value=number)) as loop,):
            each = run[counted]
            value = number if each.value is None else substitute(each.value, {counted: number})
            inner = _with_cuts(loop.body, run)
            return (replace(loop, cut=Cut(each.iterator, value), body=inner),)
        case _:
            return body
