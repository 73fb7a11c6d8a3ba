"""A sum of all iterations in a scalar: one point of the grid runs the loop, and its threads share it.

In: a loop with ``reduction(+: s)`` and the assignments behind it that take the sum.  Out: a region of one point, the
loop of which `--reassociate` deals out to the threads of a block::

    float s = 0;
    #pragma omp parallel for reduction(+: s)        meta_for (int once = 0; once < 1; once++) {
    for (i = 0; i < n; i++) s += a[i];        -->     float s_1 = s;
    *result = s;                                      for (int i = 0; i < n; i++) s_1 += a[i];
                                                      result[0] = s_1; }
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.metafork.ast import For, IntLiteral, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import RegionText
from comprehensive.pragmas.clauses import reductions
from comprehensive.pragmas.directives import Directive

_DEALT_OUT = frozenset("+-*")
"""Operators of reductions whose loop the threads of a block share."""


def once(loop: For, stores: Sequence[Stmt], name: Namer) -> For:
    """A loop of one iteration around all of it."""
    zero, one = IntLiteral(0), IntLiteral(1)
    return For(ScalarType.INT, name("once"), zero, "<", one, one, (loop, *stores), loop.span)


def check_order(text: RegionText, own: Sequence[Directive], reassociate: bool) -> bool:
    """Whether several threads may put together what a region reduces to; CF1115 if that was not asked for.

    What they cannot put together, one thread computes (CF1116, a warning).
    """
    for found in (r for each in own for r in reductions(each)):
        names = " and ".join(f"'{name}'" for name, _ in found.items)
        if found.operator not in _DEALT_OUT:
            text.sink.warning(
                "CF1116",
                f"one thread computes {names}: '{found.operator}' is not dealt out to threads",
                found.clause.span,
                help="let every row of the data have a result of its own, and reduce these in a second loop",
            )
        elif not reassociate:
            text.sink.error(
                "CF1115",
                f"the directive lets iterations add up {names} in any order, and the tool keeps that of the C code",
                found.clause.span,
                help="give --reassociate: sums of integers stay exact, and those of float and double differ in last "
                "bits",
            )
            return False
    return True
