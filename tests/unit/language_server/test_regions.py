"""Editors are told the same of a changing text as if nothing were remembered, and not all of it is looked at again."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import CompileError, DiagnosticSink, SourceFile, render
from comprehensive.driver import Options, understood
from comprehensive.language_server import regions
from comprehensive.language_server.regions import Regions
from comprehensive.loops.ir import Nest

MEETING = """void meet(int n, int x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i * i * i] = x[i] + 1;
  }
}
"""
TWO = """
void two(int n, const int where[n], float x[n], float y[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[where[i]] = 1.0f;
  }
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      y[where[i]] = 2.0f;
  }
}
"""


def told(text: str, known: Regions | None = None) -> list[str]:
    """Return the diagnostics of a text as they are printed."""
    sink = DiagnosticSink()
    source = SourceFile("f.mf", text)
    try:
        if known is None:
            understood(source, sink, Options("estimate"))
        else:
            understood(source, sink, Options("estimate"), known.examine)
    except CompileError as error:
        return [render(each) for each in error.diagnostics]
    return [render(each) for each in sink.diagnostics]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the regions that were looked at, in order."""
    names: list[str] = []
    check = regions.check

    def looked_at(nest: Nest, sink: DiagnosticSink, **options: object) -> None:
        names.append(nest.name)
        check(nest, sink)

    monkeypatch.setattr(regions, "check", looked_at)
    return names


@pytest.mark.parametrize("text", [MEETING, TWO])
def test_places_follow_the_text_when_lines_are_put_before_or_comments_into_a_region(
    text: str, asked: list[str]
) -> None:
    known = Regions()
    assert told(text, known) == told(text)
    first = len(asked)
    for changed in (
        f"\n/* a line */\n{text}",
        text.replace("block(B) {", "block(B) { // a comment\n\n"),
    ):
        found = told(changed, known)
        assert found == told(changed)
        assert found
    assert len(asked) == first


def test_what_messages_quote_is_as_it_is_written_now(asked: list[str]) -> None:
    known = Regions()
    told(TWO, known)
    changed = TWO.replace("x[where", "x [ where")
    assert told(changed, known) == told(changed)
    assert asked == ["two_1", "two_2", "two_1"]


def test_an_edit_of_one_region_leaves_the_others_alone(asked: list[str]) -> None:
    known = Regions()
    told(TWO, known)
    assert asked == ["two_1", "two_2"]
    changed = TWO.replace("y[where[i]] = 2.0f", "\n      y[where[i]] = 3.0f")
    assert told(changed, known) == told(changed)
    assert asked == ["two_1", "two_2", "two_2"]


def test_the_same_words_with_another_meaning_are_looked_at_again(asked: list[str]) -> None:
    text = MEETING.replace("void meet", "#define STEP 1\nvoid meet").replace("x[i] + 1", "x[i + STEP] + 1")
    known = Regions()
    told(text, known)
    changed = text.replace("STEP 1", "STEP 2")
    assert told(changed, known) == told(changed)
    assert asked == ["meet", "meet"]


def test_what_is_said_of_places_outside_of_a_region_is_not_remembered(asked: list[str]) -> None:
    text = MEETING.replace("{\n  meta", "{\n  assert(n < 0);\n  meta", 1)
    known = Regions()
    assert any("assert" in each for each in told(text, known))
    assert told(f"\n{text}", known) == told(f"\n{text}")
    assert len(asked) == 2


def test_analyses_have_the_places_of_the_text_that_they_are_asked_about() -> None:
    assert told(MEETING) != told(f"\n\n{MEETING}")
    assert all("f.mf:5" not in each for each in told(f"\n\n{MEETING}"))
