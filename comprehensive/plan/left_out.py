"""The share of a region's points that program parameters leave out, by floors in extents that do not divide sizes.

In: a nest.  Out: :class:`Share` for every group of loops that have program parameters in common::

    dim = n / B;  grid i < dim, threads v < B      -->   done: (n / B) * B    whole: (n / 1) * 1

With all parameters 1 nothing is left out.  With others a group does what is ``done``, but counts no more than what is
``whole``: a grid with a ceiling goes beyond its last point.  Loops with the same parameters count together.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.ir import BlockStmt, Nest, Role, Threads
from comprehensive.loops.types import environment_of, exact_product
from comprehensive.metafork.ast import Binary, Declare, Expr, For, IntLiteral, Stmt
from comprehensive.metafork.rewrite import substitute
from comprehensive.plan.host_scalars import over_arguments


class Share(Struct, frozen=True):
    """Iterations of some loops, over scalars of the nest."""

    done: Expr
    whole: Expr
    is_whole: bool
    """Whether nothing is left out, whatever the parameters are."""


def shares(nest: Nest) -> tuple[Share, ...]:
    """Return the shares of points that are computed, in the order of the first loop of each.

    Loops whose extents are known at the launch only are not among them.
    """
    program = {s.name for s in nest.with_role(Role.PROGRAM)}
    ones = dict.fromkeys(program, IntLiteral(1))
    host = {s.name for s in nest.with_role(Role.HOST)}
    groups: list[tuple[set[str], list[Expr], bool]] = []
    for extent, is_cut in _extents(nest):
        expanded = over_arguments(nest, extent)
        if names_read(expanded) & host:
            continue
        names = names_read(expanded) & program
        same = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in same]
        joined = (
            set(names).union(*(group[0] for group in same)),
            [*(e for group in same for e in group[1]), extent],
            is_cut and all(group[2] for group in same),
        )
        groups.append(joined)
    types = environment_of(nest)
    found: list[Share] = []
    for names, extents, is_cut in groups:
        product = extents[0]
        for extent in extents[1:]:
            product = exact_product(product, extent, types)
        whole = fold(substitute(over_arguments(nest, product), ones))
        found.append(Share(product, whole, is_cut or not names))
    return tuple(found)


def leaves_out(nest: Nest) -> bool:
    """Whether some parameters leave points out."""
    return any(not share.is_whole for share in shares(nest))


def _extents(nest: Nest) -> list[tuple[Expr, bool]]:
    """Return the extents of loops that run for every point, and whether a block clause has made each.

    A loop that a block clause has made leaves nothing out.
    """
    scalars = {s.name for s in nest.scalars}
    found = [(loop.extent, loop.cut is not None) for loop in (*nest.grid, *nest.thread_loops)]
    found += [(e, False) for e in _serial(nest.body) if names_read(e) <= scalars]
    return found


def _serial(body: Sequence[BlockStmt | Stmt]) -> list[Expr]:
    """Return how often loops run that have no other one beside them, from the outermost one in."""
    inner = [s for s in body if not isinstance(s, Declare)]
    match inner:
        case [Threads(body=statements)]:
            return _serial(statements)
        case [For() as loop] if loop.relation == "<" and loop.step == IntLiteral(1):
            return [fold(Binary("-", loop.bound, loop.start)), *_serial(loop.body)]
        case _:
            return []
