"""Whether a nest computes positions in 64 bits.

In: a nest.  Out: True where a scalar, a local or a cast is an integer of 64 bits: what is derived from such a nest must
not be computed in ``int``.
"""

from __future__ import annotations

from itertools import chain

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Cast, Declare, Expr, IntLiteral
from comprehensive.metafork.walk import (
    all_statements_in,
    declared,
    expressions_in,
    own_expressions,
    statements_in,
    subexpressions,
)


def computes_in_long(nest: Nest) -> bool:
    """Whether any value of the nest that is not data is an integer of 64 bits."""
    types = (type for s in all_statements_in(nest.body) for type in declared(s).values())
    defined = (e for s in statements_in(nest.body) if isinstance(s, Declare) for e in own_expressions(s))
    computed = chain(defined, *(expressions_in(band.body) for band in nest.bands))
    return (
        any(s.type.is_wide for s in nest.scalars)
        or any(type.is_wide for type in types)
        or any(map(_has_long, computed))
    )


def _has_long(expr: Expr) -> bool:
    return any(isinstance(e, Cast | IntLiteral) and e.type.is_wide for e in subexpressions(expr))
