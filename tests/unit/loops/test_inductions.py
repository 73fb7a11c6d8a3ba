"""Induction variables: closed forms of what loops change by the same in every turn."""

from __future__ import annotations

import pytest

from comprehensive.metafork.ast import For
from comprehensive.metafork.printer import print_stmts
from comprehensive.metafork.walk import statements_in
from tests.laws.nests import nests_of

PROGRAM = """void f(int n, int m, unsigned u, long w, const float *a, const float *b, float *y, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
LOOP = "for (int j = 0; j < m; j++)"


def _body(statements: str) -> str:
    (nest,) = nests_of(PROGRAM.format(body=statements))
    (band,) = nest.bands
    return print_stmts(band.body, 0)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s;",
            f"int p = i; float s = 0; {LOOP} s += a[p + j]; y[i] = s;",
        ),
        (  # before its step a variable has one value, behind it another one
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p += 2; s += b[p]; p += n; }} y[i] = s;",
            f"int p = i; float s = 0; {LOOP} {{ s += a[p + j * (2 + n)]; s += b[p + j * (2 + n) + 2]; }} y[i] = s;",
        ),
        (  # the product would be less wide than the variable
            f"long p = i; float s = 0; {LOOP} {{ s += a[p]; p -= n; }} y[i] = s;",
            f"long p = i; float s = 0; {LOOP} s += a[p + (long)j * -n]; y[i] = s;",
        ),
        (  # a number without a sign is not negated in its own type, which is less wide
            f"long p = i; float s = 0; {LOOP} {{ s += a[p]; p -= u; }} y[i] = s;",
            f"long p = i; float s = 0; {LOOP} s += a[p + j * -(long)u]; y[i] = s;",
        ),
        (  # a product that may wrap around, as the sum does
            f"unsigned h = i; {LOOP} {{ y[h % 64] = 0; h += 665443576; }}",
            f"unsigned h = i; {LOOP} {{ y[(h + (unsigned)j * 665443576) % 64] = 0; }}",
        ),
        (  # read behind the loop
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s * p;",
            f"int p = i; float s = 0; {LOOP} s += a[p + j]; int p_1 = p + (0 < m ? m : 0); y[i] = s * p_1;",
        ),
        (  # so that the next loop goes on from there
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; }} {LOOP} {{ s += b[p]; p += 2; }} y[i] = s;",
            f"int p = i; float s = 0; {LOOP} s += a[p + j]; int p_1 = p + (0 < m ? m : 0); "
            f"{LOOP} s += b[p_1 + j * 2]; y[i] = s;",
        ),
        (  # several steps a turn
            "int p = i; float s = 0; for (int j = 0; j <= m; j += 4) { s += a[p]; p += 4 * n; } y[i] = s * p;",
            "int p = i; float s = 0; for (int j = 0; j <= m; j += 4) s += a[p + j * n]; "
            "int p_1 = p + (0 <= m ? (m + 4) / 4 * 4 * n : 0); y[i] = s * p_1;",
        ),
        (  # what an inner loop adds is what the outer one adds in each turn, and there is some in the inner loop
            f"int p = 0; float s = 0; {LOOP} {{ for (int k = 1; k <= n; k++) {{ s += a[p]; p++; }} p += 3; }} "
            "y[i] = s;",
            f"int p = 0; float s = 0; {LOOP} for (int k = 1; k <= n; k++) s += a[p + j * (n - 1 + 1 + 3) + (k - 1)]; "
            "y[i] = s;",
        ),
        (
            "int p = 8; float s = 0; for (int j = m; j > 2; j -= 2) { s += a[p]; p -= 4; } y[i] = s;",
            "int p = 8; float s = 0; for (int j = m; j > 2; j -= 2) s += a[p + (m - j) * -2]; y[i] = s;",
        ),
        (
            "unsigned p = u; float s = 0; for (long j = 0; j < w; j++) { s += a[p]; p--; } y[i] = s;",
            "unsigned p = u; float s = 0; for (long j = 0; j < w; j++) s += a[(unsigned)(p + j * -1)]; y[i] = s;",
        ),
    ],
)
def test_an_induction_variable_is_a_function_of_the_iterator(written: str, expected: str) -> None:
    assert _body(written) == _body(expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "float s = 0; int j; for (j = 0; j + 3 < m; j += 4) s += a[j]; for (; j < m; j++) s += b[j]; y[i] = s;",
            "float s = 0; for (int j = 0; j < m - 3; j += 4) s += a[j]; "
            "for (int j = 0 < m - 3 ? m / 4 * 4 : 0; j < m; j++) s += b[j]; y[i] = s;",
        ),
        (
            "float s = 0; long j = n; for (; j > w; j -= 3) s += a[j]; y[i] = s + j;",
            "float s = 0; for (long j = (long)n; j > w; j -= 3) s += a[j]; "
            "long j_1 = (long)n > w ? (long)n - ((long)n - w + 2) / 3 * 3 : (long)n; y[i] = s + j_1;",
        ),
        (
            "int j; for (j = 1; j < m; j++) y[j] = 0; y[0] = j;",
            "for (int j = 1; j < m; j++) y[j] = 0; int j_1 = 1 < m ? m : 1; y[0] = j_1;",
        ),
        (  # a variable that is read before the loop keeps its name
            "int j = n; y[j] = 1; for (j = 1; j < m; j++) y[j] = 0; y[0] = j;",
            "int j = n; y[j] = 1; for (int j_1 = 1; j_1 < m; j_1++) y[j_1] = 0; int j_2 = 1 < m ? m : 1; y[0] = j_2;",
        ),
    ],
)
def test_a_variable_that_is_read_behind_its_loop_has_its_last_value(written: str, expected: str) -> None:
    assert _body(written) == _body(expected)


@pytest.mark.parametrize(
    "body",
    [
        "unsigned j; for (j = 0; j < u; j += 2) y[j] = 0; y[0] = j;",  # wraps
        "int j; for (j = 0; j < m; j++) if (a[j] > 2) break; y[i] = j;",
        "int j; for (j = 0; j != m; j += 2) y[j] = 0; y[0] = j;",
        "int j; for (j = 0; j < (int)y[j]; j++) y[j] = 0; y[0] = j;",
        "int j = 3; for (int k = 0; k < m; k++) { y[j] = 0; for (j = 0; j < k; j++) y[k] = j; } y[0] = j;",
    ],
)
def test_other_last_values_are_left_alone(body: str) -> None:
    assert "j_1" not in _body(body)


@pytest.mark.parametrize(
    "body",
    [
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; if (s > 3) p++; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p += j; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p *= 2; p++; }} y[i] = s;",
        f"short p = 3; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; if (s > 4) break; p++; }} y[i] = s + p;",
        "int p = i; float s = 0; for (int j = 0; j < m; j += 2) { s += a[p]; p++; } y[i] = s;",
        f"int q = 2, p = i; float s = 0; {LOOP} {{ s += a[p]; p += q; if (s < 0) q = 3; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; if (s > 3) j++; }} y[i] = s;",
        "int p = m; float s = 0; for (int j = 0; j < p; j++) { s += a[p]; p--; } y[i] = s + p;",
        "int p = i, m2 = m; float s = 0; for (int j = 0; j < m2; j++) { s += a[p]; p++; if (s > 9) m2 = j; } y[p] = s;",
    ],
)
def test_other_variables_are_left_alone(body: str) -> None:
    assert "p + " not in _body(body)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "float s = 0; int p = i, end = p + m; while (p < end) { s += a[p]; p++; s += b[p]; } y[i] = s;",
            "float s = 0; int p = i, end = p + m; int p_first = p; for (int p_turn = 0; p_turn < m; p_turn++) "
            "{ s += a[p + p_turn]; s += b[p + p_turn + 1]; } y[i] = s;",
        ),
        (  # the variable is one behind in the test
            "float s = 0; int k = m; while (k-- > 0) s += a[k]; y[i] = s;",
            "float s = 0; int k = m; int k_first = k; for (int k_turn = 0; k_turn < m; k_turn++) { "
            "int k_before = k + k_turn * -1; s += a[k + k_turn * -1 + -1]; } y[i] = s;",
        ),
        (  # the last test makes it one less
            "float s = 0; int k = m; while (--k >= 0) s += a[k]; y[i] = s + k;",
            "float s = 0; int k = m; int k_first = k; for (int k_turn = 0; k_turn < m; k_turn++) "
            "s += a[k + k_turn * -1 + -1]; int k_1 = k + (0 < m ? m * -1 : 0); k_1 -= 1; y[i] = s + k_1;",
        ),
        (
            "float s = 0; const float *p = a + i * m, *end = p + m; while (p < end) s += *p++; y[i] = s;",
            "float s = 0; long p_first = i * m; long end_first = (long)p_first + m; long p_first_first = p_first; "
            "for (long p_first_turn = 0; p_first_turn < (long)m; p_first_turn++) s += a[p_first + p_first_turn + 0]; "
            "y[i] = s;",
        ),
        (  # without a sign it comes to 0 after as many turns as it is, however many these are
            "float s = 0; size_t k = m; while (k--) s += a[k]; y[i] = s;",
            "float s = 0; size_t k = m; size_t k_first = k; for (size_t k_turn = 0; k_turn < (size_t)m; k_turn++) { "
            "size_t k_before = k + k_turn * -1; s += a[k + k_turn * -1 + -1]; } y[i] = s;",
        ),
        (
            "float s = 0; unsigned k = u; while (--k) s += a[k]; y[i] = s;",
            "float s = 0; unsigned k = u; unsigned k_first = k; for (unsigned k_turn = 0; k_turn < u - 1; k_turn++) "
            "s += a[k + k_turn * -1 + -1]; y[i] = s;",
        ),
        (
            "float s = 0; unsigned k = u; while (k) { s += a[k]; k--; } y[i] = s;",
            "float s = 0; unsigned k = u; unsigned k_first = k; for (unsigned k_turn = 0; k_turn < u; k_turn++) "
            "s += a[k + k_turn * -1]; y[i] = s;",
        ),
        (
            "float s = 0; int k = m; while (k--) s += a[k]; y[i] = s;",
            "float s = 0; int k = m; while (k-- > 0) s += a[k]; y[i] = s;",
        ),
    ],
)
def test_a_while_loop_that_counts_is_a_for_loop(written: str, expected: str) -> None:
    assert _body(written) == _body(expected)


def test_a_start_that_the_body_changes_is_kept_from_before_the_loop() -> None:
    found = _body("float s = 0; int p = (int)a[i]; while (p < n) { s += a[p]; p++; s -= a[p]; } y[i] = s;")
    assert "< n - p_first" in found


def test_all_that_a_test_changes_is_done_behind_the_loop() -> None:
    found = _body("int k = m; while (1) { k--; k--; if (!(k >= 0)) break; y[k] = 0; } y[0] = k;")
    assert found.count("--;") == 2


def test_a_number_that_is_added_without_a_sign_is_not_subtracted() -> None:
    found = _body(f"long p = i; float s = 0; {LOOP} {{ s += a[p]; p += -u; }} y[i] = s;")
    assert "(long)-u" in found


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0; int p = i; while (a[p] > 0) { s += a[p]; p++; } y[i] = s;",
        "float s = 0; int p = i; while (p < m) { if (a[p] > 0) p++; s += a[p]; p++; } y[i] = s;",
        "float s = 0; int p = i; while (p < m) { if (a[p] > 0) break; p++; s += 1; p++; } y[i] = s;",
        "float s = 0; int p = i, q = m; while (p < q) { s += a[p]; p++; q--; } y[i] = s;",
        "float s = 0; int p = i; while (p != m) { s += a[p]; p += 2; } y[i] = s;",
        "float s = 0; int p = i; while (p < m) { s += a[p]; p *= 2; } y[i] = s;",
        "float s = 0; int p = i; while (p < u) { p++; s += a[p]; s += 1; p++; } y[i] = s;",  # without a sign
        "float s = 0; int k = m; while (1) { unsigned e = k; k--; if (!(e > 2)) break; s += a[k]; } y[i] = s;",
        "float s = 0; unsigned k = u; while (k > 0) { s += a[k]; k -= 2; } y[i] = s;",  # it may step over 0
        "float s = 0; unsigned k = u; while (k > 2) { s += a[k]; --k; k += m; } y[i] = s;",
        "float s = 0; unsigned p = u; while (p < 10) { s += a[p]; p += 3; } y[i] = s;",
    ],
)
def test_other_while_loops_are_left_alone(body: str) -> None:
    assert "_turn" not in _body(body)


def test_messages_call_an_iterator_as_the_program_does() -> None:
    (nest,) = nests_of(
        PROGRAM.format(body="int j = n; y[j] = 1; for (j = 1; j < m; j++) y[j] = 0; y[0] = j;")
    )
    (band,) = nest.bands
    assert [(s.iterator, s.shown) for s in statements_in(band.body) if isinstance(s, For)] == [("j_1", "j")]
