"""Long lines are broken where a person would, and nothing but white space changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.codegen.wrap import wrapped


def test_short_lines_stay() -> None:
    assert wrapped("  int p = i * B0 + v;", 40) == ["  int p = i * B0 + v;"]


def test_a_line_breaks_inside_the_fewest_brackets_and_late() -> None:
    assert wrapped("  c[p * n + q] += a[v * m + z] * b[z * m + u];", 36) == [
        "  c[p * n + q] += a[v * m + z]",
        "      * b[z * m + u];",
    ]
    assert wrapped("  c[p] = f(a[v * m + z] + b[z * m + u], 1);", 32) == [
        "  c[p] =",
        "      f(a[v * m + z]",
        "      + b[z * m + u], 1);",
    ]


def test_a_comparison_is_not_taken_for_an_assignment() -> None:
    assert wrapped("if (aaaaaaaaaa <= bbbbbbbbbb)", 20) == ["if (aaaaaaaaaa <= bbbbbbbbbb)"]


def test_what_cannot_be_broken_stays_long() -> None:
    assert wrapped("x" * 200, 100) == ["x" * 200]


tokens = st.lists(
    st.sampled_from(["a", "b[i", "]", "(", ")", "+", "*", "=", "+=", "f(x,", "1;", "&&"]), min_size=1
)


@given(tokens, st.integers(8, 60))
def test_only_white_space_changes(words: list[str], width: int) -> None:
    line = "    " + " ".join(words)
    parts = wrapped(line, width)
    assert " ".join(part.strip() for part in parts) == line.strip()
    assert all(len(part) > 8 or len(parts) == 1 for part in parts[1:])
