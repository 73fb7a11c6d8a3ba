"""Verdicts that rest on what host code says of its scalars: never a witness that no run has."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.poly.legality import parallel_loops
from comprehensive.poly.model import Conflict, Parallel, Undecided
from comprehensive.poly.report import check
from tests.unit.metafork.trees import parse_clean


def region(host: str, statement: str, array: str = "float a[2][n]", around: str = "") -> Nest:
    """``statement`` for 1 <= i < n - 1 in a time loop that begins with ``host``."""
    program = parse_clean(
        f"void f(int n, int T, int B, int m, {array}) {{ int dim = (n - 2 + B - 1) / B; {around}"
        f"for (int t = 0; t < T; ++t) {{ {host} meta_schedule {{"
        "  meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) {"
        f"   int i = v * B + u + 1; if (i < n - 1) {statement} }} }} }} }}"
    )
    return build(program, DiagnosticSink())[0]


STENCIL = "a[dst][i] = a[src][i - 1] + a[src][i + 1];"


@pytest.mark.parametrize(
    ("host", "array"),
    [
        ("int src = t % 2; int dst = (t + 1) % 2;", "float a[2][n]"),
        ("int src = t % 2; int dst = 1 - src;", "float a[2][n]"),
        ("int src = t % 3; int dst = (t + 1) % 3;", "float a[3][n]"),
        ("int src = pick(t); int dst = pick(t + 1); assert(src != dst);", "float a[2][n]"),
        ("int src = pick(t); int dst = pick(t + 1); assert(src < dst || src > dst + 1);", "float a[2][n]"),
    ],
)
def test_two_buffers_that_differ_are_proved_apart(host: str, array: str) -> None:
    assert all(isinstance(v, Parallel) for _, v in parallel_loops(region(host, STENCIL, array)))


def test_two_halves_of_one_array_are_proved_apart() -> None:
    statement = "a[dst*n + i] = a[src*n + i - 1] + a[src*n + i + 1];"
    subject = region("int src = t % 2; int dst = 1 - src;", statement, "float a[2*n]")
    assert all(isinstance(v, Parallel) for _, v in parallel_loops(subject))


@pytest.mark.parametrize(("bound", "is_proved"), [("n", True), ("n + 1", False)])
def test_the_bound_of_a_loop_of_host_code_tells_elements_apart(bound: str, is_proved: bool) -> None:
    statement = "a[i * n + t] += a[i * n - 1];"
    program = parse_clean(
        f"void f(int n, int B, float *a) {{ int dim = (n - 1 + B - 1) / B; for (int t = 0; t < {bound} - 1; ++t) {{"
        " meta_schedule { meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) {"
        f"   int i = v * B + u + 1; if (i < n) {statement} }} }} }} }}"
    )
    verdicts = parallel_loops(build(program, DiagnosticSink())[0])
    assert all(isinstance(v, Parallel) for _, v in verdicts) == is_proved


def test_an_assert_about_arguments_is_a_case_split() -> None:
    statement = "a[T][i] = a[m][i - 1];"
    apart = region("", statement, "float a[9][n]", around="assert(T != m); ")
    assert all(isinstance(v, Parallel) for _, v in parallel_loops(apart))
    together = region("", statement, "float a[9][n]", around="assert(T <= 8); ")
    assert any(isinstance(v, Conflict) for _, v in parallel_loops(together))


@pytest.mark.parametrize(
    "host",
    [
        "int src = pick(t); int dst = pick(t + 1);",
        "int src = pick(t); int dst = src + 0 * pick(t);",
        "int src = 0, dst = 1; swap(&src, &dst);",
        "int src = t & 1; int dst = src ^ 1;",
        "if (t % 2) continue; int src = 0, dst = t % 2; pick(t);",
    ],
)
def test_buffers_that_nothing_keeps_together_are_no_error(host: str) -> None:
    verdicts = dict(parallel_loops(region(host, STENCIL)))
    assert not any(isinstance(v, Conflict) for v in verdicts.values()), verdicts


def test_what_is_not_known_of_buffers_is_a_warning() -> None:
    sink = DiagnosticSink()
    check(region("int src = pick(t); int dst = pick(t + 1);", STENCIL), sink)
    assert {d.code for d in sink.diagnostics} == {"CF0411"}


@pytest.mark.parametrize(
    ("host", "statement", "array"),
    [
        ("int src = 0; int dst = t % 2;", STENCIL, "float a[2][n]"),
        ("int src = t % 2; int dst = t % 2;", STENCIL, "float a[2][n]"),
        ("int src = t % 2; int dst = (t + 2) % 2;", STENCIL, "float a[2][n]"),
        ("", "a[0][i] = a[0][i + 1];", "float a[2][n]"),
        ("int off = t;", "a[i] = a[i + off];", "float *a"),
        ("int off = pick(t);", "a[i] = a[i + 1] + off;", "float *a"),
        ("int off = pick(t);", "a[off] = i;", "float *a"),
        ("int off = pick(t);", "a[off] = i;", "float a[n]"),
    ],
)
def test_a_race_is_an_error_with_a_witness_that_a_run_has(host: str, statement: str, array: str) -> None:
    conflicts = [v for _, v in parallel_loops(region(host, statement, array)) if isinstance(v, Conflict)]
    assert conflicts
    for conflict in conflicts:
        point = conflict.witness.parameters
        if "src" in point:
            assert point["src"] == point["dst"]
            assert 0 <= point["t"] < point["T"]
            assert point["src"] == (0 if host.startswith("int src = 0") else point["t"] % 2)
        if host == "int off = t;":
            assert 0 < point["off"] == point["t"] < point["T"]


@pytest.mark.parametrize(
    ("host", "guard"),
    [
        ("int off = pick(t);", ""),
        ("int off = pick(t);", "if (i + off < n) "),
        ("int off = t; off = pick(t);", ""),
        ("int off = t + 1;", ""),
        ("int off = t; assert(off < 3);", ""),
    ],
)
def test_a_distance_that_is_not_known_is_never_called_parallel(host: str, guard: str) -> None:
    verdicts = [v for _, v in parallel_loops(region(host, f"{guard}a[i] = a[i + off];", "float *a"))]
    assert not any(isinstance(v, Parallel) for v in verdicts)
    known = "pick" not in host
    assert all(isinstance(v, Conflict if known else Undecided) for v in verdicts)


def test_a_turn_that_is_left_out_is_no_witness() -> None:
    statement = "a[i] = a[i + t];"
    left_out = region("if (t > 0) continue;", statement, "float *a")
    assert all(isinstance(v, Undecided) for _, v in parallel_loops(left_out))
    excluded = region("assert(t < 1);", statement, "float *a")
    assert not any(isinstance(v, Conflict) for _, v in parallel_loops(excluded))


def test_an_unsigned_buffer_number_is_not_read_as_mathematics() -> None:
    subject = region("unsigned k = t; unsigned src = (k - 1u) % 3u; unsigned dst = (k + 2u) % 3u;", STENCIL)
    assert not any(isinstance(v, Parallel) for _, v in parallel_loops(subject))


@pytest.mark.parametrize(
    "host",
    [
        "int src = pick(t), dst = (int)(src + 4294967296L);",
        "long big = pick(t); int src = big % 4; int dst = (int)(big + 1) % 4;",
        "unsigned src = (t * 2863311531u) % 3u, dst = 1;",
        "unsigned k = t, src = k % 4u, dst = k % 4u + k * 65536u * 65536u; assert(k > 0);",
        "int src = t % m, dst = m + 5;",
        "unsigned char src = m + 256, dst = m;",
        "int src = pick(t), dst = pick(1);\n#ifdef PARANOID\nassert(src != dst);\n#endif\n",
    ],
)
def test_nothing_is_proved_from_what_c_computes_otherwise(host: str) -> None:
    verdicts = [v for _, v in parallel_loops(region(host, STENCIL, "float a[9][n]"))]
    assert not all(isinstance(v, Parallel) for v in verdicts)


@pytest.mark.parametrize(
    "host",
    [
        "long r = t * 1103515245L + 12345L; int src = r % 2; int dst = 1 - src;",
        "long big = pick(t); int src = big; int dst = 1;",
        "int src = t % 2; int dst = 1 - src; assert(m < 4294967296L);",
    ],
)
def test_numbers_beyond_64_bits_are_no_obstacle(host: str) -> None:
    assert len(list(parallel_loops(region(host, STENCIL)))) == 2


def guarded(code: str) -> tuple[str, ...]:
    """The codes of what is reported of a function; ``@`` stands for a region that needs eight elements of ``a``."""
    region = (
        "meta_schedule { meta_for (int v = 0; v < 1; v++) meta_for (int u = 0; u < 8; u++) "
        "{ int i = v*8 + u; a[i] = i; } }"
    )
    program = parse_clean(f"void f(int n, int m, int a[n]) {{ {code.replace('@', region)} }}")
    sink = DiagnosticSink()
    for nest in build(program, sink):
        check(nest, sink)
    return tuple(d.code for d in sink.diagnostics)


@pytest.mark.parametrize(
    "code",
    [
        "if (n > 7) @",
        "if (n > 7) { m = 3; @ }",
        "if (n < 8) { m = 1; } else @",
        "if (n < 8) { m = 1; } else { if (m) @ }",
        "if (n < 4) m = 1; else if (n < 8) m = 2; else @",
        "while (n > 7 && m > 0) { @ m--; }",
        "if (m > 0) if (n > 8) @",
    ],
)
def test_a_region_is_judged_where_it_runs(code: str) -> None:
    assert guarded(code) == ()


@pytest.mark.parametrize(
    "code",
    [
        "@",
        "if (n > 6) @",
        "if (n > 7) m = 3; @",
        "if (n > 7) { m = 3; } @",
        "if (n > 7) @ else @",
        "if (m > 3) @",
        "if (n > 7 || m > 0) @",
        "if (n > 7) { if (m) { m = 2; } else m = 1; } else @",
        "switch (n > 7) { case 0: @ }",
        "do { @ } while (n > 7);",
    ],
)
def test_a_condition_counts_only_where_it_governs(code: str) -> None:
    assert "CF0402" in guarded(code)


def test_a_condition_about_what_changes_before_the_region_does_not_count() -> None:
    code = "int k = n; if (k == 8) { k = k + 1; meta_schedule { meta_for (int v = 0; v < 1; v++) "
    code += "meta_for (int u = 0; u < 8; u++) { a[(k - 9)*0 + u*(9 - k)] = u; } } }"
    program = parse_clean(f"void f(int n, int a[n]) {{ {code} }}")
    sink = DiagnosticSink()
    (nest,) = build(program, sink)
    assert not any(isinstance(v, Parallel) for _, v in parallel_loops(nest)[1:])


@pytest.mark.parametrize("condition", ["0", "n < 0", "n > 5 && n < 3"])
def test_a_region_that_never_runs_is_warned_of_and_nothing_else_is_said(condition: str) -> None:
    assert guarded(f"if ({condition}) @") == ("CF0413",)
