"""Common subexpressions of integer arithmetic: a body in, the body with each computed once out.

Sums and products of names and literals are compared as polynomials, by sympy, so that parts written in another
order are found as well; the identities used are those of a commutative ring, exact in ``int`` and ``long``::

    int np = N + p;  int np1 = N + p + 1;  a[p + 1] = ...      -->      int np = N + p;  int np1 = np + 1;  ...

A new scalar stands before the statement that first needs it, in the innermost body that holds all its uses.  It
is computed there even where a branch does not need it, which is harmless: additions and multiplications only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from comprehensive.loops.access import names_read
from comprehensive.loops.types import with_declarations, within_bodies
from comprehensive.metafork.ast import (
    Binary,
    Declare,
    Expr,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.fresh import FreshNames
from comprehensive.metafork.rewrite import map_expressions, substitute, with_operands
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import children, declared, expressions_in, statements_in
from comprehensive.records import replace
from comprehensive.strategies.effects import reads_name
from comprehensive.strategies.sums import Shared, eliminate

_OPERATORS = ("+", "-", "*")


def share_integers(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType], fresh: FreshNames, changing: frozenset[str]
) -> tuple[Stmt, ...]:
    """Share integer subexpressions of a body.

    ``types`` are those of what is visible; ``changing`` are the scalars assigned anywhere in the band.
    """
    types = with_declarations(types, body)
    body = _share_here(body, types, fresh, changing)
    share = partial(share_integers, fresh=fresh, changing=changing)
    return within_bodies(body, with_declarations(types, body), share)


# --- one body ------------------------------------------------------------------------------------------------


def _share_here(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType], fresh: FreshNames, changing: frozenset[str]
) -> tuple[Stmt, ...]:
    visible = frozenset(types) - changing
    sites = _sites(body, types, changing)
    if len(sites) < 2:
        return body
    rewritten, shared = eliminate(sites, visible, types, fresh)
    result = list(map_expressions(body, lambda e: _replace_sites(e, rewritten)))
    for entry in reversed(shared):
        position = next((k for k, s in enumerate(result) if reads_name((s,), entry.name)), None)
        assert position is not None
        result = _introduce(result, position, entry)
    return tuple(result)


def _introduce(body: list[Stmt], position: int, entry: Shared) -> list[Stmt]:
    first = body[position]
    if isinstance(first, Declare) and first.initial == Name(entry.name) and first.type is entry.type:
        # The source has a name for it already.
        values: dict[str, Expr] = {entry.name: Name(first.name)}
        rest = map_expressions(tuple(body[position + 1 :]), lambda e: substitute(e, values))
        return [*body[:position], replace(first, initial=entry.value), *rest]
    definition = Declare(entry.type, entry.name, (), entry.value, const=True, span=first.span)
    return [*body[:position], definition, *body[position:]]


def _sites(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType], changing: frozenset[str]
) -> tuple[Expr, ...]:
    """The largest integer sums and products over names that do not change, in program order."""
    known = {**types, **{name: type for s in statements_in(body) for name, type in declared(s).items()}}
    return tuple(
        site
        for expr in expressions_in(body)
        for site in _sites_in(expr, known)
        if not names_read(site) & changing
    )


def _sites_in(expr: Expr, types: Mapping[str, ScalarType]) -> Iterator[Expr]:
    if isinstance(expr, Binary) and _is_ring_tree(expr, types):
        yield expr
        return
    for part in children(expr):
        yield from _sites_in(part, types)


def _is_ring_tree(expr: Expr, types: Mapping[str, ScalarType]) -> bool:
    match expr:
        case Name():
            return promote(types[expr.identifier]).is_exact
        case IntLiteral():
            return expr.type.is_exact
        case Unary(operator="-"):
            return _is_ring_tree(expr.operand, types)
        case Binary() if expr.operator in _OPERATORS:
            return _is_ring_tree(expr.left, types) and _is_ring_tree(expr.right, types)
        case _:
            return False


def _replace_sites(expr: Expr, rewritten: Mapping[Expr, Expr]) -> Expr:
    if expr in rewritten:
        return rewritten[expr]
    return with_operands(expr, lambda operand: _replace_sites(operand, rewritten))
