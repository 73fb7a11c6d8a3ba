"""Hypothesis strategies for syntax trees that the parser can produce, and helpers to parse small texts."""

from __future__ import annotations

from hypothesis import strategies as st

from comprehensive.diagnostics import DiagnosticSink, SourceFile
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
    MetaFor,
    Name,
    Program,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.grammar import parse as parse_tokens
from comprehensive.metafork.parse import parse
from comprehensive.metafork.precedence import PRECEDENCE
from comprehensive.metafork.tokens import Origin, Token, tokens

identifiers = st.sampled_from(["a", "b", "i", "n", "x1", "_t", "cache", "Zeta"])
types = st.sampled_from(list(ScalarType))

int_literals = st.one_of(
    st.integers(0, 2**31 - 1).map(IntLiteral),
    st.integers(0, 2**32 - 1).map(lambda v: IntLiteral(v, ScalarType.UNSIGNED)),
    st.integers(0, 2**63 - 1).map(lambda v: IntLiteral(v, ScalarType.LONG)),
)
float_literals = st.builds(
    FloatLiteral,
    st.sampled_from(["1.", ".5", "0.25", "1e-3", "12.5E+7", "3e8", "0x1.8p3"]),
    st.sampled_from([ScalarType.FLOAT, ScalarType.DOUBLE]),
)
leaves = st.one_of(int_literals, float_literals, identifiers.map(Name))


def _operations(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Binary, st.sampled_from(sorted(PRECEDENCE)), inner, inner),
        st.builds(Unary, st.sampled_from(["-", "+", "!", "~"]), inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Cast, types, inner),
        st.builds(Index, identifiers, several),
        st.builds(Call, st.sampled_from(sorted(MATH)), st.lists(inner, max_size=3).map(tuple)),
    )


exprs: st.SearchStrategy[Expr] = st.recursive(leaves, _operations, max_leaves=12)
indices = st.builds(Index, identifiers, st.lists(exprs, min_size=1, max_size=2).map(tuple))
assigns = st.builds(
    Assign,
    st.one_of(identifiers.map(Name), indices),
    st.sampled_from(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]),
    exprs,
    atomic=st.booleans(),
)
declares = st.one_of(
    st.builds(Declare, types, identifiers, st.just(()), st.none() | exprs, st.booleans()),
    st.builds(
        Declare,
        types,
        identifiers,
        st.lists(exprs, min_size=1, max_size=2).map(tuple),
        st.none(),
        st.booleans(),
    ),
)


def _is_normal_step(step: Expr) -> bool:
    """Whether a header's step can be this: ``i += -2`` is IntLiteral(-2), and ``i -= 2u`` is a negation."""
    match step:
        case Unary("-", IntLiteral(_, kind)):
            return kind is ScalarType.UNSIGNED
        case Unary("-", Unary("-", IntLiteral())):  # printed as `i -= -2`, which is IntLiteral(2)
            return False
        case _:
            return True


steps = st.one_of(
    exprs.filter(_is_normal_step),
    st.integers(-9, -1).map(IntLiteral),
    st.builds(Unary, st.just("-"), exprs).filter(_is_normal_step),
)
relations = st.sampled_from(["<", "<=", ">", ">=", "!="])


def _compounds(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    body = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(If, exprs, body, body),
        st.builds(For, st.none() | types, identifiers, exprs, relations, exprs, steps, body),
        st.builds(MetaFor, types, identifiers, exprs, relations, exprs, steps, body),
        st.builds(While, exprs, body),
        st.builds(DoWhile, body, exprs),
        st.builds(Block, body),
    )


stmts: st.SearchStrategy[Stmt] = st.recursive(
    st.one_of(assigns, declares, st.just(Break()), st.just(Continue())), _compounds, max_leaves=8
)
bodies = st.lists(stmts, max_size=4).map(tuple)


def parse_as(start: str, text: str) -> object:
    """The tree of a text by a start symbol of the grammar; fails on any diagnostic."""
    sink = DiagnosticSink()
    origin = Origin(SourceFile("t.mf", text), sink)
    tree = parse_tokens(start, list(tokens(origin)), Token("$END", "", len(text), len(text), origin))
    assert sink.diagnostics == ()
    return tree


def parse_text(text: str) -> tuple[Program, DiagnosticSink]:
    sink = DiagnosticSink()
    return parse(SourceFile("t.mf", text), sink), sink


def parse_clean(text: str) -> Program:
    """The program of a text without errors."""
    program, sink = parse_text(text)
    assert [d.message for d in sink.diagnostics] == []
    return program
