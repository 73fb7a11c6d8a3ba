"""Brackets in a text of C."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.brackets import closing_of, depths, end_of_group, parts
from comprehensive.metafork.tokens import Origin, Token, tokens


def words(text: str) -> list[Token]:
    return list(tokens(Origin(SourceFile("test", text), DiagnosticSink())))


def test_a_bracket_is_open_from_behind_it_to_what_closes_it() -> None:
    assert list(depths(words("a[i], (b)"))) == [0, 0, 1, 1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize(("text", "closing"), [("(a[i])", 5), ("(a[i]", 5), ("a", 0)])
def test_a_bracket_closes_where_all_in_it_are_closed_or_the_text_ends(text: str, closing: int) -> None:
    assert closing_of(words(text), 0) == closing


@pytest.mark.parametrize(("text", "end"), [("(a) b", 3), ("(a { b", 2), ("a (b)", 0), ("(a", 2)])
def test_a_group_ends_behind_its_parenthesis_or_before_what_it_cannot_have(text: str, end: int) -> None:
    assert end_of_group(words(text), 0) == end


def test_commas_in_brackets_part_nothing() -> None:
    assert ["".join(t.text for t in part) for part in parts(words("a[i, j], {1, 2}, c"))] == [
        "a[i,j]",
        "{1,2}",
        "c",
    ]
