"""The laws of the walker and the rewriter, on random trees of both IRs that they are for here."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.loops.ir import BlockStmt, Loop, Threads
from comprehensive.loops.traverse import rename, rename_expr
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.printer import print_expr, print_stmts
from comprehensive.metafork.rewrite import (
    map_expression,
    map_expressions,
    replace_statements,
    with_all_bodies,
    with_bodies,
    with_operands,
    with_own_expressions,
)
from comprehensive.metafork.walk import (
    Statement,
    all_statements_in,
    bodies,
    children,
    expressions_in,
    own_expressions,
    statements_in,
    subexpressions,
    subexpressions_in,
)

NAMES = tuple("abcxyz")
RENAMED = {name: f"{name}_new" for name in NAMES}
BACK = {new: name for name, new in RENAMED.items()}

names = st.sampled_from(NAMES)
types = st.sampled_from((ScalarType.INT, ScalarType.LONG, ScalarType.FLOAT))


def _compound(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Index, names, st.tuples(inner)),
        st.builds(Unary, st.sampled_from("-!"), inner),
        st.builds(Cast, types, inner),
        st.builds(Binary, st.sampled_from(("+", "<", "&&")), inner, inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Call, st.just("fminf"), st.tuples(inner, inner)),
    )


expressions: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        st.builds(Name, names),
        st.builds(IntLiteral, st.integers(0, 9)),
        st.just(FloatLiteral("0.5", ScalarType.FLOAT)),
    ),
    _compound,
    max_leaves=6,
)
places = st.one_of(st.builds(Name, names), st.builds(Index, names, st.tuples(expressions, expressions)))
declarations = st.builds(Declare, types, names, st.just(()), st.one_of(st.none(), expressions))
less = st.just("<")


def _around(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    body = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(If, expressions, body, body),
        st.builds(For, st.one_of(st.none(), types), names, expressions, less, expressions, expressions, body),
        st.builds(While, expressions, body),
        st.builds(DoWhile, body, expressions),
        st.builds(Block, body),
    )


statements: st.SearchStrategy[Stmt] = st.recursive(
    st.one_of(
        declarations,
        st.builds(Assign, places, st.sampled_from(("=", "+=")), expressions),
        st.just(Break()),
        st.just(Continue()),
    ),
    _around,
    max_leaves=6,
)
thread_bodies = st.lists(statements, max_size=3).map(tuple)


def _block_if(
    condition: Expr, then: tuple[BlockStmt, ...], otherwise: tuple[BlockStmt, ...]
) -> If[BlockStmt]:
    return If(condition, then, otherwise)


def _block_for(
    type: ScalarType, iterator: str, start: Expr, bound: Expr, step: Expr, body: tuple[BlockStmt, ...]
) -> For[BlockStmt]:
    return For(type, iterator, start, "<", bound, step, body)


def _around_bands(inner: st.SearchStrategy[BlockStmt]) -> st.SearchStrategy[BlockStmt]:
    body = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(_block_if, expressions, body, body),
        st.builds(_block_for, types, names, expressions, expressions, expressions, body),
    )


block_statements: st.SearchStrategy[BlockStmt] = st.recursive(
    st.one_of(
        st.builds(Threads, st.tuples(st.builds(Loop, names, expressions)), thread_bodies), declarations
    ),
    _around_bands,
    max_leaves=4,
)
some_bodies: st.SearchStrategy[tuple[Statement, ...]] = st.one_of(
    thread_bodies, st.lists(block_statements, max_size=3).map(tuple)
)


def _expression_by_hand(expression: Expr) -> list[Expr]:
    found = [expression]
    for child in children(expression):
        found += _expression_by_hand(child)
    return found


def _by_hand(body: tuple[Statement, ...], *, into_bands: bool) -> list[Statement]:
    found: list[Statement] = []
    for statement in body:
        found.append(statement)
        is_entered = into_bands and isinstance(statement, Threads)
        for inner in (statement.body,) if is_entered else bodies(statement):
            found += _by_hand(inner, into_bands=into_bands)
    return found


@given(some_bodies)
def test_a_rewrite_that_changes_nothing_returns_the_very_same_tree(body: tuple[Statement, ...]) -> None:
    assert map_expressions(body, lambda e: map_expression(e, lambda part: part)) is body
    assert replace_statements(body, lambda s: (s,)) is body
    for statement in all_statements_in(body):
        assert with_own_expressions(statement, lambda e: e) is statement
        assert with_all_bodies(statement, lambda inner: inner) is statement


@given(some_bodies)
def test_every_statement_is_visited_once_and_in_order(body: tuple[Statement, ...]) -> None:
    for walk, into_bands in ((all_statements_in, True), (statements_in, False)):
        assert [id(s) for s in walk(body)] == [id(s) for s in _by_hand(body, into_bands=into_bands)]


@given(some_bodies)
def test_every_expression_is_visited_once_and_in_order(body: tuple[Statement, ...]) -> None:
    whole = [e for s in all_statements_in(body) for e in own_expressions(s)]
    assert [id(e) for e in expressions_in(body)] == [id(e) for e in whole]
    assert list(subexpressions_in(body)) == [part for e in whole for part in _expression_by_hand(e)]


@given(expressions)
def test_parts_of_an_expression_come_in_the_order_of_the_text(expression: Expr) -> None:
    spoken = (e for e in subexpressions(expression) if isinstance(e, Name | Index))
    found = [e.identifier if isinstance(e, Name) else e.array for e in spoken]
    assert found == re.findall(r"\b[abcxyz]\b", print_expr(expression))


@given(expressions)
def test_operands_are_rewritten_in_the_order_in_which_they_are_visited(expression: Expr) -> None:
    seen: list[Expr] = []
    with_operands(expression, lambda operand: (seen.append(operand), operand)[1])
    assert seen == list(children(expression))


@given(some_bodies)
def test_what_the_rewriter_changes_is_what_the_walker_finds(body: tuple[Statement, ...]) -> None:
    def turned(expression: Expr) -> Expr:
        return Unary("!", expression)

    changed = map_expressions(body, turned, lambda place: Name("written"))
    expected: list[Expr] = [
        Name("written") if isinstance(s, Assign) and position == 0 else turned(e)
        for s in all_statements_in(body)
        for position, e in enumerate(own_expressions(s))
    ]
    assert list(expressions_in(changed)) == expected


@given(some_bodies)
def test_statements_can_be_dropped_and_doubled_at_any_depth(body: tuple[Statement, ...]) -> None:
    doubled = replace_statements(body, lambda s: (s, s) if isinstance(s, Declare) else (s,))
    before, after = ([s for s in statements_in(b) if isinstance(s, Declare)] for b in (body, doubled))
    assert len(after) >= 2 * len(before)
    none = replace_statements(body, lambda s: () if isinstance(s, Declare) else (s,))
    assert not any(isinstance(s, Declare) for s in statements_in(none))


@given(thread_bodies)
def test_renaming_back_undoes_renaming(body: tuple[Stmt, ...]) -> None:
    renamed = rename(body, RENAMED)
    assert rename(renamed, BACK) == body
    assert not set(re.findall(r"\b[abcxyz]\b", print_stmts(renamed)))


@given(some_bodies)
def test_renaming_expressions_back_undoes_renaming_at_both_levels(body: tuple[Statement, ...]) -> None:
    renamed = map_expressions(body, lambda e: rename_expr(e, RENAMED))
    assert map_expressions(renamed, lambda e: rename_expr(e, BACK)) == body


@given(thread_bodies)
def test_bodies_are_given_out_and_taken_back_in_one_order(body: tuple[Stmt, ...]) -> None:
    for statement in statements_in(body):
        given_out: list[tuple[Stmt, ...]] = []

        def taken(inner: tuple[Stmt, ...], given_out: list[tuple[Stmt, ...]] = given_out) -> tuple[Stmt, ...]:
            given_out.append(inner)
            return (Break(),)

        changed = with_bodies(statement, taken)
        assert tuple(given_out) == bodies(statement)
        assert all(inner == (Break(),) for inner in bodies(changed))
