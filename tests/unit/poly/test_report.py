"""The messages to the user: errors with witnesses, warnings with terms, silence for right programs."""

from __future__ import annotations

import re

import pytest

from comprehensive.diagnostics import Diagnostic, DiagnosticSink, render
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.poly.bounds import out_of_bounds
from comprehensive.poly.report import check
from tests.unit.metafork.trees import parse_clean
from tests.unit.poly.enumeration import host, touches
from tests.unit.poly.nests import (
    assign,
    jacobi,
    let,
    matadd,
    matmul,
    nest,
    stencil,
    threads,
    transposition,
    when,
)


def region(
    statement: str, *, guard: str = "1", size: str = "n", dim: str = "n/B", given: tuple[str, ...] = ()
) -> Nest:
    return nest(
        threads("j < B", let("p", "i*B + j"), when(guard, assign(statement))),
        grid="i < dim",
        arrays={"a": size, "b": "n", "c": "n"},
        data="n",
        program="B",
        scalar="shift",
        host={"dim": dim},
        given=given,
        cached=("a",),
    )


def report(subject: Nest) -> tuple[Diagnostic, ...]:
    sink = DiagnosticSink()
    check(subject, sink)
    return sink.diagnostics


@pytest.mark.parametrize(
    "subject",
    [jacobi(), jacobi(whole=True), transposition(), matmul(), matadd(), stencil(), stencil(ceiling=True)],
    ids=["jacobi", "jacobi with both cells", "transposition", "matmul", "matadd", "stencil", "ceiling"],
)
def test_nothing_is_said_about_right_programs(subject: Nest) -> None:
    assert report(subject) == ()


def test_a_dependence_is_an_error_that_shows_both_iterations() -> None:
    found = report(region("a[p] = a[n - 1 - p]"))
    assert {d.code for d in found} == {"CF0401", "CF0412"}
    first = found[0]
    assert "'meta_for i'" in first.message
    assert "'a'" in first.message
    assert "written at i = " in first.notes[0].message
    assert "used at i = " in first.notes[1].message
    assert "n = " in first.notes[2].message


def test_a_subscript_outside_its_array_is_an_error_with_values() -> None:
    found = report(region("a[p] = b[p + 1]"))
    assert [d.code for d in found] == ["CF0402"]
    assert found[0].message.startswith("subscript 1 of array 'b' is 1, outside 0 to 0")


@pytest.mark.parametrize(
    "subject",
    [
        region("a[p] = b[p + 1]", guard="p + 1 < n"),
        region("a[p] = b[p + 1]", dim="(n - 1)/B"),
        region("a[p] = b[p + shift]"),
        region("a[p] = 1", size="2*n"),
        region("a[p] = b[p - 1 if p > 0 else 0]"),
    ],
    ids=["guarded", "short grid", "argument that is no size", "larger array", "clamped"],
)
def test_no_false_alarm_about_subscripts(subject: Nest) -> None:
    assert out_of_bounds(subject) == ()


def test_an_assert_excludes_the_values_of_a_witness() -> None:
    wrong = nest(
        threads("j < B", assign("a[i*B + j] = 1")),
        grid="i < dim",
        arrays={"a": "n"},
        data="n m",
        program="B",
        host={"dim": "m/B"},
    )
    assert len(out_of_bounds(wrong)) == 1
    right = nest(
        threads("j < B", assign("a[i*B + j] = 1")),
        grid="i < dim",
        arrays={"a": "n"},
        data="n m",
        program="B",
        host={"dim": "m/B"},
        given=("m <= n",),
    )
    assert out_of_bounds(right) == ()


def test_every_out_of_bounds_witness_is_real() -> None:
    subject = region("a[p] = b[p + 1] + c[p - 1]")
    for found in out_of_bounds(subject):
        point = host(subject, {k: found.point[k] for k in ("n", "B", "shift")})
        assert any(
            t.access.array == found.array and t.element == (found.value,) for t in touches(subject, point)
        )
        assert not 0 <= found.value < found.extent
    assert [f.array for f in out_of_bounds(subject)] == ["b", "c"]


def test_what_cannot_be_decided_is_one_warning_that_names_the_term() -> None:
    found = [d for d in report(region("a[b[p]] = 1")) if d.code == "CF0411"]
    assert len(found) == 1
    assert "'i', 'j'" in found[0].message
    assert "depends on data" in found[0].message


def test_an_array_that_cannot_be_cached_is_a_warning_with_the_reason() -> None:
    found = [d for d in report(region("a[b[p]] = 1")) if d.code == "CF0412"]
    assert len(found) == 1
    assert "'a' cannot be cached" in found[0].message


def program(statements: str, parameters: str, cached: str) -> tuple[Diagnostic, ...]:
    head = f"void f({parameters}) {{ meta_schedule cache({cached}) {{"
    loops = "meta_for (int v = 0; v < n / B; v++) meta_for (int u = 0; u < B; u++)"
    nest, *_ = build(parse_clean(f"{head} {loops} {{ {statements} }} }} }}"), DiagnosticSink())
    return report(nest)


def test_a_reference_that_stays_in_global_memory_is_a_warning_with_its_condition() -> None:
    statements = "int i = v*B + u; b[i] = a[i]; if (i % 3 == 0) b[i] += a[i + 1];"
    (found,) = program(statements, "int n, int B, const float *a, float *b", "a")
    assert found.code == "CF0414"
    assert found.message.startswith("'a[i + 1]' is read in global memory, although 'a' is cached")
    assert "where 'i % 3 == 0' holds" in found.message
    assert found.help == "declare the extents of 'a' to have it read from the cache"
    assert program(statements, "int n, int B, const float a[n + 1], float *b", "a") == ()


def test_an_unsigned_index_is_undecided_because_it_may_wrap() -> None:
    found = program("unsigned i = v*B + u; i += 1u; a[i] = 1;", "int n, int B, float *a", "a")
    assert [d.code for d in found] == ["CF0411", "CF0412"]
    assert all("'i' is computed in unsigned arithmetic, which may wrap around" in d.message for d in found)


@pytest.mark.parametrize("index", ["i - 1u", "i + 4 - 1u*2u", "i + (-1u)", "i - (unsigned)1", "1u - i"])
def test_a_difference_with_an_unsigned_literal_is_not_mathematics(index: str) -> None:
    statements = f"int i = v*B + u; if (i > 0) a[{index}] = 1;"
    found = [d for d in program(statements, "int n, int B, float *a", "a") if d.code == "CF0411"]
    assert len(found) == 1
    assert "may wrap around, being unsigned" in found[0].message


def test_a_sum_with_an_unsigned_literal_is_read() -> None:
    assert program("int i = v*B + u; a[i + 1u] = 1;", "int n, int B, float *a", "a") == ()


@pytest.mark.parametrize(
    ("statement", "cached", "words"),
    [
        ("b[v*B + u] = a[s[u]];", "a", "it is read in global memory"),
        ("b[s[u]] = a[u];", "b", "it is written in global memory"),
        ("b[s[u]] += a[u];", "b", "it is read and written in global memory"),
    ],
)
def test_the_help_says_how_an_array_is_used(statement: str, cached: str, words: str) -> None:
    found = program(statement, "int n, int B, const float *a, float *b, const int *s", cached)
    (warning,) = (d for d in found if d.code == "CF0412")
    assert warning.help is not None
    assert words in warning.help


def test_a_tile_that_may_have_a_negative_width_is_cached_with_the_assert_that_the_help_gives() -> None:
    text = (
        "void f(int n, int B, int TI, const float a[n][n], float *b) {{ {} meta_schedule cache(a) {{\n"
        "  meta_for (int v = 0; v < n / B; v++) meta_for (int u = 0; u < B; u++)\n"
        "    for (int k = 0; k < TI - 1; k++) b[v*B + u] += a[v*B + u][k]; }} }}"
    )
    nest, *_ = build(parse_clean(text.format("")), DiagnosticSink())
    (warning,) = (d for d in report(nest) if d.code == "CF0412")
    advice = "assert(TI - 1 >= 1);"
    assert f"write '{advice}' in the host code before the region to have it cached, or drop" in (
        warning.help or ""
    )
    nest, *_ = build(parse_clean(text.format(advice)), DiagnosticSink())
    assert report(nest) == ()


def test_a_serial_loop_in_larger_steps_is_one_warning_that_names_the_steps() -> None:
    found = program(
        "int i = v*B + u; for (int k = 0; k < n; k += 2) c[i][k] = a[i][k] + b[i][k];",
        "int n, int B, const float a[n][n], const float b[n][n], float c[n][n]",
        "a, b, c",
    )
    (warning,) = found
    assert warning.code == "CF0412"
    assert "arrays 'a', 'b', 'c' cannot be cached" in warning.message
    assert "in steps of k" in warning.message
    assert [note.message for note in warning.notes] == ["'b[i][k]' likewise", "'c[i][k]' likewise"]


def told_of_blocks(statement: str, clause: str = "B") -> str:
    """Return the messages about a nest over ``i`` from 1 on, and ``j``, that a block clause cuts."""
    program = parse_clean(
        "void f(int n, int B, int C, const int x[n], int y[n], int z[n][n]) {"
        f" meta_schedule block({clause}) {{ meta_for (int i = 1; i < n; i++)"
        f" {'meta_for (int j = 0; j < n; j++)' if ',' in clause else ''} {statement} }} }}"
    )
    sink = DiagnosticSink()
    check(build(program, sink)[0], sink)
    text = "\n".join(render(d) for d in sink.diagnostics)
    assert "_block" not in text
    assert "_thread" not in text
    return text


def test_a_dependence_between_points_is_told_once_in_the_loops_of_the_program() -> None:
    text = told_of_blocks("y[i] = y[i - 1];")
    assert text.count("[CF0401]") == 1
    assert "the iterations of 'meta_for i' depend on each other" in text
    assert "y[2] is written at i = 2" in text
    assert "and used at i = 3" in text


SERIAL, ASSERT = "help: make the loop over 'i' a serial 'for'", "exclude these values by assert(...)"
APART = "leave out the iterations that meet by an 'if'"
COPY = "read a copy of 'y' from before the region where its old values are meant"


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("y[i] = y[i - 1];", f"{SERIAL}, {APART}, or {COPY}\n"),  # whatever n is
        ("y[0] = x[i];", f"{SERIAL}, or {APART}\n"),
        ("y[i / n] = x[i];", f"{SERIAL}, or {APART}\n"),  # it is 0 for every n
        ("y[i] = y[n - 1 - i];", f"{SERIAL}, or {ASSERT}\n"),
        ("if (n > 5) y[i] = y[i - 1];", f"{SERIAL}, or {ASSERT}\n"),
    ],
)
def test_an_assert_is_asked_for_only_where_parameters_decide(statement: str, help: str) -> None:
    assert help in told_of_blocks(statement) + "\n"


def test_each_loop_has_a_dependence_of_its_own() -> None:
    text = told_of_blocks("{ z[i][j] = 1; y[0] = x[i]; }", "B, C")
    assert text.count("'meta_for i' depend on each other through array 'y'") == 1
    assert text.count("'meta_for j' depend on each other through array 'y'") == 1
    assert text.count("[CF0401]") == 2


def test_subscripts_out_of_bounds_and_what_is_not_known_speak_of_the_program_too() -> None:
    assert re.search(r"at B = 1, n = 2, i = 1$", told_of_blocks("y[i] = x[i + 1];"), re.MULTILINE)
    assert "the iterations of 'i' are independent" in told_of_blocks("y[x[i]] = 1;")
    assert "the iterations of 'i' may meet" in told_of_blocks("y[x[i]] += 1;")


@pytest.mark.parametrize("type", ["unsigned", "unsigned long"])
@pytest.mark.parametrize(("asserted", "codes"), [("n >= 1", []), ("n >= 0", ["CF0411"])])
def test_a_difference_of_sizes_is_read_where_an_assert_says_that_it_is_no_negative_one(
    type: str, asserted: str, codes: list[str]
) -> None:
    text = (
        f"void f({type} m, {type} n, const float *a, float *b, int B0, int B1)\n"
        f"{{ assert({asserted}); meta_schedule block(B0, B1) {{ meta_for ({type} i = 0; i < m; i++)"
        f" meta_for ({type} j = 1; j < n - 1; j++) b[i * n + j] = a[i * n + j - 1] + a[i * n + j + 1]; }} }}"
    )
    nest, *_ = build(parse_clean(text), DiagnosticSink())
    assert [d.code for d in report(nest)] == codes


ROWS = """void f(int b, int m, int n, int ld, int s, const float *a, float *c, int B0, int B1)
{
  %s
  meta_schedule block(1, B0, B1) {
    meta_for (int l = 0; l < b; l++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++)
          c[%s] = a[l];
  }
}
"""


@pytest.mark.parametrize(
    ("subscript", "asserted"),
    [
        ("l * m * ld + i * ld + j", "assert(ld >= n);"),
        ("l * s + i * n + j", "assert(s >= m * n);"),
        ("l * s + i + j * ld", "assert(s >= ld * n && ld >= m);"),
        ("(l * m * n + i * n + j) * s", "assert(s >= 1);"),
        ("l + i + j * s", None),
    ],
)
def test_the_assert_on_rows_that_proves_loops_parallel_is_named(subscript: str, asserted: str | None) -> None:
    nest, *_ = build(parse_clean(ROWS % ("", subscript)), DiagnosticSink())
    found = [d for d in report(nest) if d.code in ("CF0401", "CF0411")]
    assert found
    if asserted is None:
        assert [d.help for d in found if re.search(r"assert\(\w", d.help or "")] == []
        return
    assert [d.help for d in found if asserted.removesuffix(";") not in (d.help or "")] == []
    nest, *_ = build(parse_clean(ROWS % (asserted, subscript)), DiagnosticSink())
    assert report(nest) == ()


def test_the_assert_on_rows_says_nothing_twice() -> None:
    """Rows with an element have more than -1, and that they have more than one element less needs no words."""
    source = """void f(int m, int n, float *w, int B)
{
  meta_schedule block(B) {
    meta_for (int l = 0; l < m; l++) {
      w[l * n] = 1;
      for (int i = 1; i < n; i++) w[l * n + i] = w[l * n + i - 1] * 2;
      for (int i = n - 2; i >= 0; i--) w[l * n + i] -= w[l * n + i + 1];
    }
  }
}
"""
    nest, *_ = build(parse_clean(source), DiagnosticSink())
    (found,) = report(nest)
    assert (found.help or "").startswith("write 'assert(n >= 1);' before the region")


@pytest.mark.parametrize("wrong", [True, False])
def test_constant_extents_are_judged_however_long_they_are(wrong: bool) -> None:
    text = (
        "void f(float a[300][400], float b[400][300], int B) { meta_schedule block(B, 8) {"
        " meta_for (int i = 0; i < 300; i++) meta_for (int j = 0; j < 400; j++)"
        f" b[j][i] = a[i][{'j + 1' if wrong else 'j'}]; }} }}"
    )
    nest, *_ = build(parse_clean(text), DiagnosticSink())
    assert [found.value for found in out_of_bounds(nest)] == [400] * wrong


def test_what_is_wrong_is_not_said_to_be_undecided_as_well() -> None:
    text = (
        "void f(int n, int m, float *a, const float *x, int B, int C) { meta_schedule block(B, C) {"
        " meta_for (int i = 0; i < n; i++) meta_for (int j = 0; j <= m; j++) a[i * m + j] = x[j] + i; } }"
    )
    nest, *_ = build(parse_clean(text), DiagnosticSink())
    assert [found.code for found in report(nest)] == ["CF0401", "CF0401"]
