"""The text of a pipeline: what it stands for, and where it is wrong."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import CommandLineError, render
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.registry import PASSES, class_of, described


@pytest.mark.parametrize("text", ["", "  ", "\t"])
def test_no_text_is_no_pass(text: str) -> None:
    assert passes_of(text) == ()


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("dce", ["dce"]),
        (" dce , lower-version ", ["dce", "lower-version"]),
        ("dce{}", ["dce"]),
        ("dce,dce", ["dce", "dce"]),
    ],
)
def test_passes_stand_in_their_order(text: str, spelled: list[str]) -> None:
    assert [each.spelled for each in passes_of(text)] == spelled


@pytest.mark.parametrize(
    ("text", "code", "caret", "words"),
    [
        ("dce,", "CF1021", 5, "the name of a pass is missing"),
        (",dce", "CF1021", 1, "the name of a pass is missing"),
        ("dce lower-version", "CF1021", 5, "a comma is missing here"),
        ("dce}", "CF1021", 4, "a comma is missing here"),
        ("dce{", "CF1021", 4, "this brace is not closed"),
        ("dce{=4}", "CF1021", 5, "an option is missing here"),
        ("dce{a=[]}", "CF1021", 6, "this is no option"),
        ("dce,dec", "CF1022", 5, "did you mean 'dce'?"),
        ("zzzzzz", "CF1022", 1, "known are "),
        ("dce,dce{width=4}", "CF1023", 9, "'dce' has no option 'width'"),
        ("dce{a=1 a=2}", "CF1023", 9, "'a' is given twice"),
        ("dce\N{GREEK SMALL LETTER ALPHA}", "CF1021", 4, "a comma is missing here"),
    ],
)
def test_what_is_wrong_has_a_caret(text: str, code: str, caret: int, words: str) -> None:
    with pytest.raises(CommandLineError) as found:
        passes_of(text)
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.span is not None
    assert diagnostic.span.position == (1, caret)
    assert words in render(diagnostic)


def test_every_pass_that_is_listed_can_be_made_and_is_described() -> None:
    for name in PASSES:
        assert class_of(name).name == name
        assert passes_of(name)[0] == class_of(name)()
        assert f"\n{name} " in f"\n{described()}"
