"""Edits that diagnostics hold: making them removes what is wrong, and the command line says what they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from comprehensive.diagnostics import (
    CompileError,
    Diagnostic,
    DiagnosticSink,
    Fix,
    SourceFile,
    render,
    to_json,
)
from comprehensive.driver import Options, understood

HEAD = "void f(int n, int count, float x[n], const float weights[n], int *h, int B)\n{\n"
REGION = HEAD + "  meta_schedule block(B) {\n    meta_for (int i = 0; i < n; i++) {\n%s\n    }\n  }\n}\n"


def found(text: str) -> tuple[Diagnostic, ...]:
    sink = DiagnosticSink()
    try:
        understood(SourceFile("f.mf", text), sink, Options("estimate"))
    except CompileError as error:
        return error.diagnostics
    return sink.diagnostics


def edited(text: str, fix: Fix) -> str:
    """The text with all edits made, the last one first."""
    for edit in sorted(fix.edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def fixes(text: str) -> Iterator[tuple[str, Fix]]:
    return ((each.code, each.fix) for each in found(text) if each.fix is not None)


CASES = [
    ("CF0128", REGION.replace("meta_for", "meta_fro") % "x[i] = 1;", "write 'meta_for'"),
    ("CF0111", REGION % "x[i] = 1", "end the statement with ';'"),
    ("CF0105", REGION % "x[i] = 1; /* one", "close it with '*/'"),
    ("CF0107", (REGION % "x[i] = 1;").removesuffix("}\n"), "add the missing '}'"),
    ("CF0117", REGION % "flaot t = 2; x[i] = t;", "write 'float'"),
    ("CF0117", REGION % "long double t = 2; x[i] = t;", "use double"),
    ("CF0201", REGION % "x[i] = cout;", "write 'count'"),
    ("CF0203", REGION % "x[i] = weight[i];", "write 'weights'"),
    ("CF0203", REGION % "x[i] = weights[i] + wieghts[n - 1 - i];", "write 'weights'"),
    ("CF0212", REGION % "x[i] = weights[0.5f * i];", "cast it: (int)(...)"),
    ("CF0125", REGION % "volatile int k = 0; x[i] = k;", "remove 'volatile'"),
    ("CF0126", REGION % "if (count) int k = 1; x[i] = 1;", "put braces around it"),
    ("CF0218", REGION % "float w[2] = 1; x[i] = w[1];", "put braces around its elements"),
    ("CF0225", REGION % "int k = 0; meta_atomic k += 1; x[i] = k;", "drop meta_atomic"),
]


@pytest.mark.parametrize(("code", "text", "title"), CASES)
def test_the_edits_of_a_diagnostic_remove_what_is_wrong(code: str, text: str, title: str) -> None:
    (first,) = (each for each in fixes(text))
    assert (first[0], first[1].title) == (code, title)
    rest = found(edited(text, first[1]))
    assert [each.code for each in rest if each.severity.value == "error"] == []


@pytest.mark.parametrize(("code", "text", "title"), CASES)
def test_the_command_line_says_what_the_edits_do(code: str, text: str, title: str) -> None:
    (shown,) = (each for each in found(text) if each.code == code and each.fix is not None)
    printed = render(shown)
    assert f"help: {title}" in printed or title in printed.partition("help: ")[2]
    assert printed.count(title) == 1
    document = to_json(shown)["fix"]
    assert document["title"] == title
    assert document["edits"]
    assert all({"span", "text"} == edit.keys() for edit in document["edits"])


@pytest.mark.parametrize(
    "line",
    [
        "x[i] = nothing_like_it;",
        "x[i] = y[i];",
        "x[i] = weights;",
        "pointer t = 2; x[i] = t;",
        "x[i] = weights[0.5f * i] + strlen(n);",
    ],
)
def test_where_it_is_not_clear_what_was_meant_there_is_no_edit(line: str) -> None:
    errors = [each for each in found(REGION % line) if each.code != "CF0212"]
    assert errors
    assert [each.fix for each in errors] == [None] * len(errors)


def test_a_name_that_comes_out_of_a_macro_is_not_edited_where_the_macro_is_used() -> None:
    text = "#define TAKEN cout\n" + REGION % "x[i] = TAKEN;"
    (shown,) = (each for each in found(text) if each.code == "CF0201")
    assert shown.fix is None
