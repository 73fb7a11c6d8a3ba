"""``#line`` in the emitted CUDA: checked by counting lines as a compiler does."""

from __future__ import annotations

import re

import pytest

from comprehensive.codegen.source_lines import GENERATED_LINE, resolved, source_line
from comprehensive.data import spec_directory
from tests.compiled_specs import SPECS, texts


def places(text: str, own: str) -> list[tuple[str, str, int]]:
    """(text, file, line) of every line that is no directive, as a compiler reports it."""
    found: list[tuple[str, str, int]] = []
    file, line = own, 1
    for shown in text.splitlines():
        directive = re.fullmatch(r'#line (\d+) "(.*)"', shown)
        if directive:
            line, file = int(directive[1]), directive[2]
            continue
        found.append((shown, file, line))
        line += 1
    return found


def test_marks_become_directives_only_where_counting_on_would_be_wrong() -> None:
    text = (
        f"a\n{source_line(7)}b\n{source_line(8)}c\n{source_line(8)}d\ne\n"
        f"{GENERATED_LINE}f\n{GENERATED_LINE}g\n{source_line(1)}{GENERATED_LINE}h\n"
    )
    assert resolved(text, "s.mf", "g.cu") == (
        'a\n#line 7 "s.mf"\nb\nc\n#line 8 "s.mf"\nd\ne\n#line 9 "g.cu"\nf\ng\nh\n'
    )
    assert places(resolved(text, "s.mf", "g.cu"), "g.cu") == [
        ("a", "g.cu", 1),
        ("b", "s.mf", 7),
        ("c", "s.mf", 8),
        ("d", "s.mf", 8),
        ("e", "s.mf", 9),
        ("f", "g.cu", 9),
        ("g", "g.cu", 10),
        ("h", "g.cu", 11),
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_generated_lines_have_their_own_number_and_source_lines_that_of_their_statement(spec: str) -> None:
    emitted = texts(spec)[f"{spec}.cu"]
    assert "\x01" not in emitted
    physical = emitted.splitlines()
    source = (spec_directory() / f"{spec}.mf").read_text().splitlines()
    for shown, file, line in places(emitted, f"{spec}.cu"):
        if file == f"{spec}.cu":
            assert physical[line - 1] == shown
        elif declared := re.match(r" *(?:int|float) (\w+) = ", shown):
            # A definition keeps its name on its line, unless a strategy has made it.
            assert re.search(rf"\b{declared[1]}\b", source[line - 1]) or re.fullmatch(
                r"t\d+|m_?\w*", declared[1]
            )
