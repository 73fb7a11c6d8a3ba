"""Differences in unsigned types that a range of a parallel loop is computed with: a nest in, an assert about them out.

``for (size_t i = 1; i < n - 1; i++)`` runs nearly 2^64 times where ``n`` is 0, and with such a range nothing is proved.
What the program means is ``assert(n >= 2)``, which C and the tool then know.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import Binary
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.walk import subexpressions
from comprehensive.poly.indices import NotPolynomialError, scope_of


def assert_against_wrapping(nest: Nest) -> str | None:
    """Return the assert under which the ranges of parallel loops do not wrap around; None where none may do so, or
    where it is not that simple."""
    ring, scope, types = Ring(), scope_of(nest), environment_of(nest)
    found: list[Polynomial] = []
    for loop in (*nest.grid, *(loop for band in nest.bands for loop in band.loops)):
        try:
            scope.read(loop.extent)
        except NotPolynomialError:
            found += [
                ring.read(e)
                for e in subexpressions(loop.extent)
                if isinstance(e, Binary) and e.operator == "-" and type_of(e, types).wraps
            ]
    scalars = {s.name for s in nest.scalars}
    plain = [d for d in found if d.constant_term < 0 and scalars.issuperset(d.symbols)]
    if not plain:
        return None
    least = min(plain, key=lambda difference: difference.constant_term)
    size = ring.write(least - least.constant_term)
    return f"assert({print_expr(size)} >= {-least.constant_term})"
