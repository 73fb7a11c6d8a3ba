"""Pure walks over expressions, statements and nests: map, rename, fresh names.

In: a piece of the IR and a function.  Out: the piece rebuilt; what the function leaves alone stays equal.
Example: ``map_expr(parse("i + n*1"), fold_one)`` visits ``i``, ``n``, ``1``, ``n*1``, ``i + n*1`` in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockStmt, Nest, Threads
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Expr,
    Index,
    Name,
    Stmt,
)
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.rewrite import (
    map_expression,
    map_expressions,
    replace_statements,
    with_bodies,
    with_name,
    with_operands,
    with_own_expressions,
    with_subscripts,
)
from comprehensive.metafork.walk import (
    Statement,
    all_statements_in,
    children,
    declared,
    expressions_in,
    subexpressions,
)
from comprehensive.records import replace


def map_indices(body: tuple[Stmt, ...], fn: Callable[[Index], Index]) -> tuple[Stmt, ...]:
    """Apply ``fn`` to every reference, targets included, and then to those in the subscripts that it returns."""

    def on_expression(expression: Expr) -> Expr:
        return (
            on_index(expression)
            if isinstance(expression, Index)
            else with_operands(expression, on_expression)
        )

    def on_index(index: Index) -> Index:
        return with_subscripts(fn(index), on_expression)

    def on_place(place: Name | Index) -> Name | Index:
        return on_index(place) if isinstance(place, Index) else place

    return map_expressions(body, on_expression, on_place)


def map_bands(nest: Nest, change: Callable[[int, tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Nest:
    """The nest with the body of every band changed, which is told its number; itself where that changes nothing."""
    bodies = [change(number, band.body) for number, band in enumerate(nest.bands)]
    if all(body == band.body for body, band in zip(bodies, nest.bands, strict=True)):
        return nest
    left = iter(bodies)
    return replace(nest, body=expand_bands(nest.body, lambda band: (replace(band, body=next(left)),)))


def expand_bands(
    body: tuple[BlockStmt, ...], fn: Callable[[Threads], tuple[BlockStmt, ...]]
) -> tuple[BlockStmt, ...]:
    """The body with every band replaced by any number of block statements."""
    return replace_statements(body, lambda s: fn(s) if isinstance(s, Threads) else (s,))


def rename(body: tuple[Stmt, ...], names: Mapping[str, str]) -> tuple[Stmt, ...]:
    """The statements with names replaced wherever they stand: declared, assigned, read, subscripted.

    Each is replaced once, so that two names may change places.
    """

    def expression(e: Expr) -> Expr:
        return rename_expr(e, names)

    def place(written: Name | Index) -> Name | Index:
        return _called(with_subscripts(written, expression), names)

    def inside(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(one, inner))

    def one(statement: Stmt) -> Stmt:
        changed = with_bodies(with_own_expressions(statement, expression, place), inside)
        return with_name(changed, lambda name: names.get(name, name))

    return inside(body)


def rename_expr(expr: Expr, names: Mapping[str, str]) -> Expr:
    """The expression with scalars and arrays renamed."""
    return map_expression(expr, lambda e: _called(e, names) if isinstance(e, Name | Index) else e)


def _called(place: Name | Index, names: Mapping[str, str]) -> Name | Index:
    if isinstance(place, Name):
        return replace(place, identifier=names.get(place.identifier, place.identifier))
    return replace(place, array=names.get(place.array, place.array))


def conditional_parts(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression that are evaluated only where something else in it says so."""
    for e in subexpressions(expr):
        match e:
            case Conditional(then=then, otherwise=otherwise):
                yield from (then, otherwise)
            case Binary(operator="&&" | "||", right=right):
                yield right
            case _:
                pass


def always_evaluated(expr: Expr) -> Iterator[Expr]:
    """The expression and its parts, without those that a condition may leave out."""
    yield expr
    match expr:
        case Conditional(condition=always) | Binary(operator="&&" | "||", left=always):
            yield from always_evaluated(always)
        case _:
            for operand in children(expr):
                yield from always_evaluated(operand)


def declared_names(body: Iterable[Statement]) -> frozenset[str]:
    """Return the names that a body declares at any depth: scalars and arrays, iterators of its loops."""
    return frozenset(name for s in all_statements_in(body) for name in declared(s))


def names_read_in(body: Iterable[Statement]) -> frozenset[str]:
    """The scalars and arrays that a body reads or assigns elements of, at any depth."""
    return frozenset[str]().union(*map(names_read, expressions_in(body)))


def all_names(nest: Nest) -> frozenset[str]:
    """Every name that stands anywhere in the nest, its own excepted."""
    names = {s.name for s in (*nest.scalars, *nest.state.scalars)}
    names |= {a.name for a in nest.arrays} | {g.iterator for g in nest.grid}
    for expr in (
        *(s.value for s in nest.scalars if s.value is not None),
        *(d for a in nest.arrays for d in a.dims or () if d is not None),
        *nest.preconditions,
        *(g.extent for g in nest.grid),
    ):
        names |= names_read(expr)
    names |= declared_names(nest.body)
    return frozenset(names) | names_read_in(nest.body)


def fresh_name(nest: Nest, base: str) -> str:
    """Return ``base``, or ``base_1``, ``base_2``...: the first that occurs nowhere in the nest."""
    return fresh(base, all_names(nest))
