"""Least and largest values: choices between two integers that are the lesser or the larger of them.

::

    y + r < h ? y + r : h - 1     is the lesser of y + r and h - 1
    (y + r < h ? y + r : h - 1) - (y - r < 0 ? 0 : y - r) + 1
        is the least of y + r + 1, h, 2*r + 1 and h - y + r

A choice is recognised by what it decides, and not by how its comparison is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import ONE, ZERO, Ring, written_anew
from comprehensive.metafork.ast import Binary, Conditional, Expr, Unary
from comprehensive.metafork.rewrite import substitute

MOST = 16
"""The values of which one is the least, above which they are not told apart."""


def at_least_zero(ring: Ring, comparison: Expr) -> Polynomial | None:
    """Return a polynomial that is 0 or more exactly where a comparison of signed integers holds; None for others."""
    match comparison:
        case Binary(operator="<" | "<=" | ">" | ">=" as operator):
            left, right = ring.read(comparison.left), ring.read(comparison.right)
            apart = right - left if operator in ("<", "<=") else left - right
            return apart if "=" in operator else apart - 1
        case Unary(operator="!", operand=operand):
            found = at_least_zero(ring, operand)
            return None if found is None else -found - 1
        case _:
            return None


def lesser(ring: Ring, expr: Expr) -> tuple[Expr, Expr] | None:
    """Return the two expressions of which one is the lesser; None where it is no such choice."""
    return _chosen(ring, expr, 1)


def larger(ring: Ring, expr: Expr) -> tuple[Expr, Expr] | None:
    """Return the two expressions of which one is the larger; None where it is no such choice."""
    return _chosen(ring, expr, -1)


def _chosen(ring: Ring, expr: Expr, sign: int) -> tuple[Expr, Expr] | None:
    if not isinstance(expr, Conditional):
        return None
    holds = at_least_zero(ring, expr.condition)
    apart = (ring.read(expr.otherwise) - ring.read(expr.then)) * sign
    # Where both are equal, it does not matter which one is taken.
    return (expr.then, expr.otherwise) if holds is not None and holds in (apart, apart - 1) else None


def least_of(ring: Ring, value: Polynomial) -> Sequence[Polynomial]:
    """Return polynomials of which a value is the least one; itself, where it is no choice between several."""
    for symbol in value.symbols:
        expr = ring.atom(symbol)
        factor = value.coefficient(symbol, 1)
        if expr is None or value.degree(symbol) != 1 or not factor.is_constant:
            continue
        chosen = lesser(ring, expr) if factor.constant_value() > 0 else larger(ring, expr)
        if chosen is None:
            continue
        rest = value.coefficient(symbol, 0)
        found = [p for each in chosen for p in least_of(ring, rest + factor * ring.read(each))]
        return [value] if len(found) > MOST else list(dict.fromkeys(found))
    return [value]


def largest(ring: Ring, value: Polynomial, limits: Mapping[str, Expr]) -> Expr | None:
    """Return the largest value where names run from 0 to below their limits; None where that is not known."""
    places: dict[str, Expr] = {}
    for name, limit in limits.items():
        sign = slope(ring, value, name)
        if sign is None:
            return None
        places[name] = Binary("-", limit, ONE) if sign > 0 else ZERO
    return written_anew(substitute(ring.write(value), places))


def slope(ring: Ring, value: Polynomial, name: str) -> int | None:
    """Return -1, 0 or 1 by how a value changes with a name in which it is linear; None where that is not known."""
    if name not in ring.names_in(value):
        return 0
    step = value.coefficient(name, 1) if value.degree(name) == 1 else None
    if step is None or not step.is_constant or name in ring.names_in(value.coefficient(name, 0)):
        return None
    return 1 if step.constant_value() > 0 else -1
