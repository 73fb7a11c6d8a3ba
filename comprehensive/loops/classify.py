"""The classes of a region's scalars: data and program parameters (comprehensive, Definition 1, refined).

In: scalars with provisional roles, arrays, extents.  Out: the scalars with their roles.  Example: in

    void f(int n, const float *a, float c[n], int B, float alpha)      grid n/B, threads B

``n`` is DATA (it gives a dimension of ``c``), ``B`` PROGRAM (an extent of threads), ``alpha`` SCALAR.  What host
scalars are defined by counts as written out: with ``int dim = n/B;`` and a grid of ``dim`` blocks, the divisor of
the grid's extent is ``B``.
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Array, Role, Scalar
from comprehensive.metafork.ast import Binary, Conditional, Expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace


def classify(
    scalars: tuple[Scalar, ...], arrays: tuple[Array, ...], grid: Iterable[Expr], threads: Iterable[Expr]
) -> tuple[Scalar, ...]:
    """The scalars with roles; HOST scalars stay HOST.

    ``grid`` and ``threads`` are the extents of the parallel loops.  A parameter that gives a dimension is never a
    program parameter, even if it also shapes tiles; program parameters are integers.
    """
    definitions: dict[str, Expr] = {}
    for scalar in scalars:
        if scalar.value is not None:
            definitions[scalar.name] = substitute(scalar.value, definitions)
    dims = [substitute(d, definitions) for a in arrays for d in a.dims or () if d is not None]
    data = frozenset[str]().union(*(names_read(d) for d in dims))
    shaping = [substitute(extent, definitions) for extent in threads]
    for extent in grid:
        shaping += _divisors(substitute(extent, definitions))
    program = frozenset[str]().union(*(names_read(e) for e in shaping))

    def role(scalar: Scalar) -> Role:
        if scalar.role is Role.HOST:
            return Role.HOST
        if not scalar.type.is_integer:
            return Role.SCALAR
        if scalar.name in data:
            return Role.DATA
        return Role.PROGRAM if scalar.name in program else Role.SCALAR

    return tuple(replace(scalar, role=role(scalar)) for scalar in scalars)


def _divisors(expr: Expr) -> list[Expr]:
    """Return what an expression divides by, but for choices, which see for themselves to what they divide by."""
    found = [e.right for e in subexpressions(expr) if isinstance(e, Binary) and e.operator in ("/", "%")]
    return [e for e in found if not any(isinstance(part, Conditional) for part in subexpressions(e))]
