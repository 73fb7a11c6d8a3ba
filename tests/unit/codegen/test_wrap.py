"""Long lines are broken where a person would, and nothing but white space changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.codegen.wrap import laid_out, wrapped


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


def test_a_comment_is_not_broken_as_code_is() -> None:
    line = "  // stage(a): some elements, all in one line"
    assert wrapped(line, 20) == [line]
    assert laid_out(line, 30) == "  // stage(a): some elements,\n  // all in one line"


def test_a_list_breaks_between_its_parts() -> None:
    assert wrapped("  f<a, b + 1, c * d>(e);", 18) == ["  f<a, b + 1,", "      c * d>(e);"]


def test_a_comparison_is_not_taken_for_an_assignment() -> None:
    assert wrapped("if (aaaaaaaaaa <= bbbbbbbbbb)", 20) == ["if (aaaaaaaaaa", "    <= bbbbbbbbbb)"]


def test_a_line_breaks_before_the_operator_that_binds_least() -> None:
    assert wrapped("  x = aa + b * c <= d + ee && f < g;", 28) == [
        "  x = aa + b * c <= d + ee",
        "      && f < g;",
    ]
    assert wrapped("  x = aa * b + c * d;", 19) == ["  x = aa * b", "      + c * d;"]
    assert wrapped("  x = aa < b ? c && d : eeee;", 24) == ["  x = aa < b ? c && d", "      : eeee;"]
    assert wrapped("  xxxxxxx = aaaaaaaaaa;", 14) == ["  xxxxxxx =", "      aaaaaaaaaa;"]


def test_what_cannot_be_broken_stays_long() -> None:
    assert wrapped("x" * 200, 100) == ["x" * 200]


def test_arguments_of_a_template_are_inside_brackets() -> None:
    assert wrapped("  copies<float, D, T0 * T1> copy_a(&a[o0], stride, n - o0);", 44) == [
        "  copies<float, D, T0 * T1> copy_a(&a[o0],",
        "      stride, n - o0);",
    ]
    assert wrapped("  x = aaaa < bbbb + cccc;", 20) == ["  x = aaaa", "      < bbbb + cccc;"]


def test_a_text_in_quotes_breaks_where_nothing_else_does() -> None:
    assert laid_out('  case 1: return "one, two and; three";', 30) == (
        '  case 1: return "one, two "\n      "and; three";'
    )
    assert laid_out("  f('\"', g);  // \"not a text", 24) == "  // \"not a text\n  f('\"', g);"


def test_a_comment_behind_long_code_goes_before_it() -> None:
    assert laid_out("  { 1, 2, 3 }, /* what it is */", 20) == "  /* what it is */\n  { 1, 2, 3 },"
    assert laid_out("  a(); // what b is", 12) == "  // what b\n  // is\n  a();"


def test_a_comment_of_several_lines_is_filled_where_one_is_long() -> None:
    short = "  /* one\n     two */"
    assert laid_out(short, 20) == short
    assert (
        laid_out("  /* one two three four\n     five */\nf();", 16)
        == "  /* one two\n     three four\n     five */\nf();"
    )


def test_directives_and_short_lines_stay() -> None:
    text = '#error "a long directive of the preprocessor"\nf();\n'
    assert laid_out(text, 20) == text


tokens = st.lists(
    st.sampled_from(["a", "b[i", "]", "(", ")", "+", "*", "=", "+=", "f(x,", "1;", "&&"]), min_size=1
)


@given(tokens, st.integers(8, 60))
def test_only_white_space_changes(words: list[str], width: int) -> None:
    line = "    " + " ".join(words)
    parts = wrapped(line, width)
    assert " ".join(part.strip() for part in parts) == line.strip()
    assert all(len(part) > 8 or len(parts) == 1 for part in parts[1:])
