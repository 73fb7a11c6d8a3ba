"""Host code establishes facts for a region, and its text is kept."""

from __future__ import annotations

import pytest

from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Expr,
    HostAssert,
    HostScalar,
    MetaSchedule,
    Parameter,
    ScalarType,
)
from comprehensive.metafork.printer import print_expr
from comprehensive.records import replace
from tests.unit.metafork.trees import parse_as, parse_clean, parse_text


def _unconverted(fact: Expr) -> Expr:
    """A definition without the conversion to the type of what it defines."""
    match fact:
        case Binary(operator="==", right=Cast(operand=value)):
            return replace(fact, right=value)
        case _:
            return fact


REGION = "meta_schedule { meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < B; u++) a[i*B+u] = 1; }"


def regions_of(body: str, head: str = "void f(int n, int B, float *a, int m)") -> tuple[MetaSchedule, ...]:
    program = parse_clean(f"{head} {{ {body.replace('REGION', REGION)} }}")
    return program.functions[0].regions


def scalars_of(body: str) -> dict[str, str | None]:
    """The host scalars of the last region, with their definitions."""
    return {s.name: s.value and print_expr(s.value) for s in regions_of(body)[-1].scalars}


@pytest.mark.parametrize(
    ("body", "scalars"),
    [
        ("int d = n / B; REGION", {"d": "n / B"}),
        ("int d = n / B, e = n / (2*B); REGION", {"d": "n / B", "e": "n / (2 * B)"}),
        ("const int d = n; int e = d + 1; REGION", {"d": "n", "e": "d + 1"}),
        ("int d; d = n; REGION", {"d": None}),
        ("int d = n; d = 2; REGION", {"d": None}),
        ("int d = n; REGION d++;", {"d": None}),
        ("int d = n; --d; REGION", {"d": None}),
        ("int d = n; scanf(\"%d\", &d); REGION", {"d": None}),
        ("int d = n; (d) = 3; REGION", {"d": None}),
        ("int d = n; SET(d, 3); REGION", {"d": None}),
        ('int d = n; printf("%d", d); REGION', {"d": "n"}),
        ("n = n / 2; int d = n; REGION", {"d": None}),
        ("int d = m, e = d; d = 2; REGION", {"d": None, "e": None}),
        ("static int d = 3; REGION", {"d": None}),
        ("volatile int d = 3; REGION", {"d": None}),
        ("int d = rows(n); REGION", {"d": None}),
        ("int d = (int)sqrt((double)n); REGION", {"d": "(int)sqrt((double)n)"}),
        ("int d = sizeof(int); REGION", {"d": "4uL"}),
        ("for (int t = 0; t < 9; t++) REGION", {"t": None}),
        ("for (int t = 0; t < 9; t++) { int h = t; REGION }", {"t": None, "h": None}),
        ("for (int t = 0; t < 9; t++) { int h = n; REGION }", {"t": None, "h": "n"}),
        ("for (int t = 0; t < 9; t++) for (int q = 0; q < t; q++) REGION", {"t": None, "q": None}),
        ("for (int t = 0; t < 9; t++) { } REGION", {}),
        ("for (int t = 0; t < 9; t++) foo(); REGION", {}),
        ("for (int t = 0; t < 9; t++) if (t) foo(); else bar(); REGION", {}),
        ("if (n) for (int t = 0; t < 9; t++) REGION else REGION", {}),
        ("for (int t = 0; t < 9; t++) if (n) REGION else REGION", {"t": None}),
        ("do REGION while (n);", {}),
        ("do { int d = n; foo(d); } while (n); REGION", {}),
        ("{ int d = n; } REGION", {}),
        ("int d = n; { int d = m; } REGION", {"d": "n"}),
        ("int d = n; { int d = m; REGION }", {"d": "m"}),
        ("int d = n; { int n = 3; REGION }", {"d": None, "n": "3"}),
        ("int d = n; int e = d; { int n = 3; REGION }", {"d": None, "e": "d", "n": "3"}),
        ("switch (n) { int d = 3; case 1: REGION }", {"d": None}),
        ("int d = n; FILE *e = 0; struct s q = { 1 }; int w[2] = { 1, 2 }; REGION", {"d": "n"}),
        ("int d = n\n#define STEP d++\n; REGION", {"d": None}),
        ("float h = 0.5f; REGION", {"h": "0.5f"}),
        ("int (*p)(int) = 0; int *q; int d = n; REGION", {"d": "n"}),
    ],
)  # fmt: skip
def test_a_definition_counts_only_where_it_certainly_reaches_the_region(
    body: str, scalars: dict[str, str | None]
) -> None:
    assert scalars_of(body) == scalars


@pytest.mark.parametrize(
    ("body", "conditions"),
    [
        ("assert(B <= n); REGION", ["B <= n"]),
        ('assert(B <= n && "blocks fit"); REGION', ["B <= n"]),
        ("int d = n / B; assert(d * B == n); REGION", ["d * B == n"]),
        ("if (m) assert(B <= n); REGION", []),
        ("{ assert(B <= n); } REGION", []),
        ("{ assert(B <= n); REGION }", ["B <= n"]),
        ("REGION assert(B <= n);", []),
        ("assert(m < n); m = 3; REGION", []),
        ("for (int t = 0; t < 9; t++) { assert(t < n); REGION }", []),
        ("assert(B <= n); { int n = 3; REGION }", []),
        ("assert(ready()); REGION", []),
        ("switch (n) { case 0: assert(B <= n); case 1: REGION }", []),
    ],
)  # fmt: skip
def test_an_assert_is_a_precondition_where_it_holds_at_the_region(body: str, conditions: list[str]) -> None:
    assert [print_expr(c) for c in regions_of(body)[-1].preconditions] == conditions


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("for (int t = 0; t < 9; t++) { int h = t % 2; REGION }", ["h == t % 2"]),
        ("for (int t = 0; t < 9; t++) { assert(t < n); REGION }", ["t < n"]),
        ("for (int t = 0; t < 9; t++) { int h = t; h = 2; REGION }", []),
        ("for (int t = 0; t < 9; t++) { int h = t; REGION h = 2; }", ["h == t"]),
        ("for (int t = 0; t < 9; t++) { int h = t; while (m) { REGION h = 2; } }", []),
        ("for (int t = 0; t < 9; t++) { int h = t; for (int q = 0; q < 2; q++) REGION }", ["h == t"]),
        ("for (int t = 0; t < 9; t++) { int h = t; foo(&h); REGION }", []),
        ("for (int t = 0; t < 9; t++) { int h = t; { int t = 1; REGION } }", ["t == 1"]),
        ("for (int t = 0; t < 9; t++) { if (m) assert(t < n); REGION }", []),
        ("for (int t = 0; t < 9; t++) { switch (t) { case 0: assert(t < n); case 1: REGION } }", []),
        ("for (int t = 0; t < 9; t++) { static int h = 1; assert(h < t); REGION }", []),
        ("for (int t = 0; t < 9; t++) {\n#ifdef A\nassert(t < n);\n#endif\nREGION }", []),
        ("for (int t = 0; t < 9; t++) {\n#if A\nint h = t;\n#else\nint h = 1;\n#endif\nREGION }", []),
        ("for (int t = 0; t < 9; t++) {\n#if A\n#endif\nint h = t; REGION }", ["h == t"]),
        ("for (int t = 0; t < 9; t++) { unsigned char h = t; REGION }", []),
        ("int s = 0, d = 1; assert(s != d); while (m) { REGION s = d; d = 0; }", []),
        ("int s = 0, d = 1; while (m) { assert(s != d); REGION s = d; d = 0; }", ["s != d"]),
        ("int s = 0; do { assert(s < 2); REGION } while (s++ < 1);", ["s < 2"]),
        ("int s = 0; assert(s < 2); do { REGION } while (s++ < 1);", []),
    ],
)  # fmt: skip
def test_a_fact_holds_until_what_it_reads_changes(body: str, facts: list[str]) -> None:
    assert [print_expr(_unconverted(c)) for c in regions_of(body)[-1].facts] == facts


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        ("for (int t = 0; t < m; ++t) REGION", ["t = 0; t < m; 1"]),
        ("for (int t = m; t >= 1; t -= 2) { REGION }", ["t = m; t >= 1; -2"]),
        ("for (int t = 0; t < m; t++) for (int q = t; q < n; q += 3) REGION", ["t = 0; t < m; 1", "q = t; q < n; 3"]),
        ("for (int t = 0; t < m; t++) { t += B; REGION }", []),
        ("for (int t = 0; t < m; t++) { REGION m--; }", []),
        ("for (int t = 0; t < m; t++) { REGION if (t == 1) break; }", []),
        ("for (int t = 0; t < m; t++) { if (t) continue; REGION }", []),
        ("for (int t = 0; t < m; t++) if (t) REGION", []),
        ("for (int t = 0; t < m; t--) REGION", []),
        ("for (int t = 0; t < m; t *= 2) REGION", []),
        ("while (m) for (int t = 0; t < m; t++) REGION", []),
        ("for (int t = 0; t < m; t++) { int t = 7; REGION }", []),
        ("for (int t = 0; t < m; t++) { int m = 7; REGION }", []),
        ("for (int t = 0; t < rows(m); t++) REGION", []),
        ("for (int t = 0, q = 1; t < m; t++) REGION", []),
        ("int t; for (t = 0; t < m; t++) REGION", ["t = 0; t < m; 1"]),
        ("int t, q; for (t = 0; t < m; t++) for (q = t; q < n; q++) REGION", ["t = 0; t < m; 1", "q = t; q < n; 1"]),
        ("int t; for (t = 0; t < m; t++) { REGION foo(&t); }", []),
        ("int t; for (t = 0; t < m; t++) { REGION t = 2; }", []),
        ("int t, q; for (t = 0, q = 1; t < m; t++) REGION", []),
        ("int t, q; for (q = 0; t < m; t++) REGION", []),
        ("for (m = 0; m < n; m++) REGION", []),
    ],
)  # fmt: skip
def test_a_loop_around_a_region_is_read_where_every_turn_comes_to_it(body: str, loops: list[str]) -> None:
    found = [
        f"{x.iterator} = {print_expr(x.start)}; {x.iterator} {x.relation} {print_expr(x.bound)}; {x.step}"
        for x in regions_of(body)[-1].loops
    ]
    assert found == loops


def test_no_launch_does_all_turns_of_a_loop_whose_scalar_is_known_behind_it() -> None:
    (inside,) = regions_of("for (int t = 0; t < m; t++) REGION")[-1].loops
    (outside,) = regions_of("int t; for (t = 0; t < m; t++) REGION")[-1].loops
    assert (inside.regions, outside.regions) == (1, 0)


def test_asserts_are_parts_of_the_body_also_where_they_are_not_understood() -> None:
    program = parse_clean(f"void f(int n, int B, float *a) {{ assert(ready()); assert(n > 0); {REGION} }}")
    asserts = [part for part in program.functions[0].parts if isinstance(part, HostAssert)]
    assert [(a.span.text, a.condition) for a in asserts] == [
        ("assert(ready());", None),
        ("assert(n > 0);", parse_as("condition", "n > 0")),
    ]


def test_host_arrays_are_data_with_dimensions() -> None:
    region = regions_of("int w[2*n], v[n][B]; REGION")[0]
    assert [(a.name, a.type, [print_expr(d) for d in a.dims]) for a in region.arrays] == [
        ("w", ScalarType.INT, ["2 * n"]),
        ("v", ScalarType.INT, ["n", "B"]),
    ]


def test_an_array_whose_length_changes_is_not_data() -> None:
    assert regions_of("int w[m]; m = 1; REGION")[0].arrays == ()


def test_a_variable_with_another_type_is_explained() -> None:
    _, sink = parse_text(
        f"void f(int n, int B, float *a) {{ long double k = 3; {REGION.replace('= 1', '= k')} }}"
    )
    assert sink.diagnostics[0].code == "CF0201"
    assert sink.diagnostics[0].help is not None
    assert "its declaration" in sink.diagnostics[0].help


def test_a_declaration_in_other_words_of_c_hides_a_parameter() -> None:
    _, sink = parse_text(f"void f(int n, int B, float *a) {{ struct s *n; {REGION} }}")
    assert [d.code for d in sink.diagnostics] == ["CF0201"]


def test_every_form_of_a_parameter_is_read() -> None:
    program = parse_clean(
        "static void f(int n, unsigned int B, float a[static n], const double x[][n], float (*y)[n],\n"
        "              float *restrict z, const unsigned char * const q, long int k) { " + REGION + " }"
    )
    n = parse_as("condition", "n")
    assert program.functions[0].parameters == (
        Parameter("n", ScalarType.INT),
        Parameter("B", ScalarType.UNSIGNED),
        Parameter("a", ScalarType.FLOAT, dims=(n,)),  # type: ignore[arg-type]
        Parameter("x", ScalarType.DOUBLE, const=True, dims=(None, n)),  # type: ignore[arg-type]
        Parameter("y", ScalarType.FLOAT, dims=(None, n)),  # type: ignore[arg-type]
        Parameter("z", ScalarType.FLOAT, pointer=True),
        Parameter("q", ScalarType.UNSIGNED_CHAR, const=True, pointer=True),
        Parameter("k", ScalarType.LONG),
    )


def test_host_scalars_point_at_their_names() -> None:
    (scalar,) = regions_of("int d = n / B; REGION")[0].scalars
    assert isinstance(scalar, HostScalar)
    assert scalar.span.text == "d"


def test_a_loop_whose_last_statement_has_no_end_is_read_to_the_brace() -> None:
    (region,) = regions_of("REGION for (int k = 0; k < n; k++) m")
    assert region.loops == ()
