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
from comprehensive.pragmas.clauses import Reduction, reductions
from comprehensive.pragmas.directives import Directive


def once(loop: For, stores: Sequence[Stmt], name: Namer) -> For:
    """A loop of one iteration around all of it."""
    zero, one = IntLiteral(0), IntLiteral(1)
    return For(ScalarType.INT, name("once"), zero, "<", one, one, (loop, *stores), loop.span)


def check_order(text: RegionText, own: Sequence[Directive], reassociate: bool) -> bool:
    """Whether the sums of a region may be added up by several threads; CF1115 if that was not asked for."""
    found: list[Reduction] = [r for each in own for r in reductions(each)]
    if reassociate or not found:
        return True
    names = ", ".join(f"'{name}'" for name, _ in found[0].items)
    text.sink.error(
        "CF1115",
        f"the directive lets iterations add up {names} in any order, and the tool keeps the order of the C code",
        found[0].clause.span,
        help="give --reassociate: sums of integers stay exact, and those of float and double differ in last bits",
    )
    return False
