"""Scalars that host code computes: over the arguments of a call, and before host code runs.

In: a nest.  Out: conditions over arguments, and the definitions by which a choice that comes first knows such scalars::

    int m = n / 2;  assert(m >= 1)     -->   assert(n / 2 >= 1)
    computed_before(nest, ["m"], ["n"])      m, whose value n / 2 reads arguments alone
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from comprehensive.kernel_ir.c_expr import is_wide
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Scalar
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Cast, Expr, IntLiteral
from comprehensive.metafork.rewrite import substitute


def over_arguments(nest: Nest, condition: Expr, kept: Container[str] = ()) -> Expr:
    """The condition with the definitions of host scalars in their places, but for those that are ``kept``."""
    types = {s.name: s.type for s in nest.scalars}
    for scalar in reversed(nest.scalars):
        if scalar.value is None or scalar.name in kept or scalar.name not in names_read(condition):
            continue
        fits = names_read(scalar.value) <= types.keys() and type_of(scalar.value, types) is scalar.type
        value = scalar.value if fits else Cast(scalar.type, scalar.value)
        condition = substitute(condition, {scalar.name: value})
    return condition


def computed_before(
    nest: Nest, names: Iterable[str], arguments: Iterable[str]
) -> tuple[tuple[Scalar, Expr], ...] | None:
    """The host scalars behind names with their values, in order of definition; None where one has no known value.

    Data counts as there.
    """
    types = {s.name: s.type for s in nest.scalars}
    passed = frozenset(arguments)
    needed = set(names) - passed
    found: list[tuple[Scalar, Expr]] = []
    for scalar in reversed(nest.scalars):
        if scalar.name not in needed:
            continue
        value = scalar.value if scalar.pointer is None else IntLiteral(1)
        if value is None or not is_wide(value, types):
            return None
        needed |= names_read(value) - passed
        found.append((scalar, value))
    return tuple(reversed(found))
