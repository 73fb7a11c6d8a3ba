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

from comprehensive.metafork.ast import DoWhile, For, IntLiteral, ScalarType, Stmt, While
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import RegionText
from comprehensive.metafork.walk import statements
from comprehensive.pragmas.clauses import reductions
from comprehensive.pragmas.directives import Directive

_DEALT_OUT = frozenset("+-*")
"""Operators of reductions whose loop the threads of a block share."""


def once(loop: For, stores: Sequence[Stmt], name: Namer) -> For:
    """A loop of one iteration around all of it."""
    zero, one = IntLiteral(0), IntLiteral(1)
    return For(ScalarType.INT, name("once"), zero, "<", one, one, (loop, *stores), loop.span)


def check_order(text: RegionText, loop: For, own: Sequence[Directive], reassociate: bool) -> bool:
    """Whether several threads may put together what a loop reduces to; CF1115 if that was not asked for.

    What they cannot put together, one thread computes (CF1116, a warning).
    """
    nested = any(isinstance(s, For | While | DoWhile) for s in statements(loop.body))
    for found in (r for each in own for r in reductions(each)):
        names = " and ".join(f"'{name}'" for name, _ in found.items)
        is_sum = found.operator in _DEALT_OUT
        if is_sum and not reassociate:
            text.sink.error(
                "CF1115",
                f"the directive lets iterations add up {names} in any order, and the tool keeps that of the C code",
                found.clause.span,
                help="give --reassociate: sums of integers stay exact, and those of float and double differ in last "
                "bits",
            )
            return False
        if nested or not is_sum:
            reason = "loops in each other are" if is_sum else f"'{found.operator}' is"
            text.sink.warning(
                "CF1116",
                f"one thread computes {names}: {reason} not dealt out to threads",
                found.clause.span,
                help="let every row of the data have a result in an array, and reduce these in a second loop",
            )
    return True
