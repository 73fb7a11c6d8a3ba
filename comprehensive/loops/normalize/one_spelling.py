"""One spelling: references to one element, as they are written first.

::

    c[i][j + 1] = 0;  for (k) c[i][1 + j] += a[i][k + 1] * b[k - 1 + 2][j];
        -->  c[i][j + 1] = 0;  for (k) c[i][j + 1] += a[i][k + 1] * b[k + 1][j];

so that stages behind may ask whether references are equal.  Subscripts are compared as polynomials of one type, and
are otherwise left as the program has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.traverse import map_indices
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Expr, Index, ScalarType, Stmt
from comprehensive.records import replace

_Key = tuple[str, tuple[tuple[Polynomial, ScalarType], ...]]


def in_one_spelling(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Return the body with every element called as it is first; ``types`` are those of all names in it."""
    ring = Ring()
    first: dict[_Key, Index] = {}

    def key(subscript: Expr) -> tuple[Polynomial, ScalarType]:
        return ring.read(subscript), type_of(subscript, types)

    def one(reference: Index) -> Index:
        if not all(type_of(subscript, types).is_exact for subscript in reference.subscripts):
            return reference
        known = first.setdefault((reference.array, tuple(map(key, reference.subscripts))), reference)
        # A place in the text that is written stays another object than one that is read.
        return reference if known == reference else replace(reference, subscripts=known.subscripts)

    return map_indices(body, one)
