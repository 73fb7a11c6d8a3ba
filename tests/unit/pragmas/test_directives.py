"""The text of directives: words, clauses, continued lines, comments, the operator; what each is for the tool."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.pragmas.clauses import RULES, Treatment, check_clauses, items_of, private_names, reductions
from comprehensive.pragmas.constructs import Construct, construct
from comprehensive.pragmas.directives import Directive, directive, is_pragma, operator_directive


def of(text: str) -> Directive:
    (token,) = tokens(Origin(SourceFile("f.c", text), DiagnosticSink()))
    found = directive(token)
    assert found is not None
    return found


def shown(found: Directive) -> list[tuple[str, str | None]]:
    return [(clause.name, clause.argument) for clause in found.clauses]


def test_words_come_before_clauses() -> None:
    found = of("#pragma omp target teams distribute parallel for simd collapse(2) nowait")
    assert found.words == ("target", "teams", "distribute", "parallel", "for", "simd")
    assert shown(found) == [("collapse", "2"), ("nowait", None)]
    assert found.name == "#pragma omp target teams distribute parallel for simd"


@pytest.mark.parametrize(
    "text",
    [
        "#pragma omp parallel for reduction(+: s, t) private(j)",
        "#  pragma   omp parallel for reduction(+: s, t), private ( j )",
        "#pragma omp parallel for \\\n  reduction(+: s, t) \\\r\n private(j)",
        "#pragma omp /* all */ parallel for reduction(+: s, t) private(j) // j is not shared (",
        "#pragma omp parallel for reduction(+: s, t) private(j) /* not\n shared */",
    ],
)
def test_space_comments_and_continued_lines_do_not_count(text: str) -> None:
    found = of(text)
    assert found.words == ("parallel", "for")
    assert shown(found) == [("reduction", "+: s, t"), ("private", "j")]
    assert [r.items for r in reductions(found)] == [(("s", ""), ("t", ""))]
    assert private_names(found) == ("j",)


def test_a_clause_points_at_its_place() -> None:
    found = of("#pragma omp parallel for \\\n  private(j)")
    assert found.clauses[0].span.text == "private(j)"
    assert found.clauses[0].span.position == (2, 3)


def test_parentheses_in_arguments_and_sections() -> None:
    found = of("#pragma omp target map(to: a[0:(n+1)*m], b) if(target: n > f(2)) map(from: c)")
    assert shown(found) == [
        ("map", "to: a[0:(n+1)*m], b"),
        ("if", "target: n > f(2)"),
        ("map", "from: c"),
    ]
    assert items_of("a[0:n], s, b[f(1, 2)]") == (("a", "[0:n]"), ("s", ""), ("b", "[f(1, 2)]"))


def test_a_parenthesis_that_is_never_closed_ends_with_the_directive() -> None:
    assert shown(of("#pragma omp parallel for private(j")) == [("private", "j")]


def test_a_reduction_may_have_a_modifier() -> None:
    (found,) = reductions(of("#pragma omp parallel for reduction(default, max : s)"))
    assert (found.operator, found.items) == ("max", (("s", ""),))


def test_the_operator_is_a_directive() -> None:
    text = '_Pragma("omp parallel for private(j)") x'
    found = list(tokens(Origin(SourceFile("f.c", text), DiagnosticSink())))
    read = operator_directive(found, 0)
    assert read is not None
    assert read[0] is not None
    assert (read[0].words, shown(read[0]), read[1]) == (("parallel", "for"), [("private", "j")], 4)
    assert read[0].span.text == '_Pragma("omp parallel for private(j)")'
    other = list(tokens(Origin(SourceFile("f.c", '_Pragma("once") x'), DiagnosticSink())))
    assert operator_directive(other, 0) == (None, 4)
    assert operator_directive(other, 3) is None


def test_other_lines_are_no_directives() -> None:
    for text in ("#pragma once", "#define omp", "#include <omp.h>", "#pragma ompx parallel"):
        (token,) = tokens(Origin(SourceFile("f.c", text), DiagnosticSink()))
        assert directive(token) is None
        assert is_pragma(token) is text.startswith("#pragma")


KINDS = {
    "omp parallel for": Construct.LOOP,
    "omp for": Construct.LOOP,
    "omp parallel for simd": Construct.LOOP,
    "omp target teams distribute parallel for": Construct.LOOP,
    "omp teams distribute": Construct.LOOP,
    "omp target teams loop": Construct.LOOP,
    "omp simd": Construct.HINT,
    "omp unroll partial(4)": Construct.HINT,
    "omp parallel": Construct.HINT,
    "omp single": Construct.HINT,
    "omp target data map(to: a)": Construct.HINT,
    "omp target update from(a)": Construct.NOTHING,
    "omp declare simd": Construct.HINT,
    "omp declare target": Construct.NOTHING,
    "omp end declare target": Construct.NOTHING,
    "omp barrier": Construct.NOTHING,
    "omp atomic": Construct.ATOMIC,
    "omp atomic update": Construct.ATOMIC,
    "omp atomic capture": Construct.REFUSED,
    "omp critical": Construct.REFUSED,
    "omp critical (name)": Construct.REFUSED,
    "omp sections": Construct.REFUSED,
    "omp parallel sections": Construct.REFUSED,
    "omp task": Construct.REFUSED,
    "omp ordered": Construct.REFUSED,
    "omp paralel for": Construct.REFUSED,
    "omp": Construct.REFUSED,
    "acc parallel loop gang": Construct.LOOP,
    "acc loop": Construct.LOOP,
    "acc loop vector independent": Construct.LOOP,
    "acc loop seq": Construct.SERIAL,
    "acc loop auto": Construct.PROVED,
    "acc kernels": Construct.KERNELS,
    "acc kernels loop": Construct.PROVED,
    "acc kernels loop independent": Construct.LOOP,
    "acc parallel": Construct.HINT,
    "acc data copy(a)": Construct.HINT,
    "acc enter data copyin(a)": Construct.NOTHING,
    "acc wait": Construct.NOTHING,
    "acc atomic": Construct.ATOMIC,
    "acc serial": Construct.REFUSED,
    "acc routine seq": Construct.REFUSED,
}


@pytest.mark.parametrize("text", KINDS)
def test_what_a_directive_is(text: str) -> None:
    assert construct(of(f"#pragma {text}")) is KINDS[text]


def test_every_clause_that_is_refused_comes_with_advice() -> None:
    for rules in RULES.values():
        for name, rule in rules.items():
            assert bool(rule.advice) is (rule.treatment is Treatment.REFUSED), name


@pytest.mark.parametrize(
    "clauses",
    [
        "schedule(static, 4) num_threads(8) default(none) shared(a, b) proc_bind(close) if(n > 100)",
        "schedule(runtime) nowait order(concurrent) safelen(8) map(tofrom: a[0:n]) device(0) is_device_ptr(a)",
    ],
)
def test_harmless_clauses_of_openmp_pass_in_silence(clauses: str) -> None:
    sink = DiagnosticSink()
    assert check_clauses(of(f"#pragma omp parallel for {clauses}"), sink)
    assert sink.diagnostics == ()


def test_harmless_clauses_of_openacc_pass_in_silence() -> None:
    sink = DiagnosticSink()
    text = "gang(static:1) worker vector(128) num_gangs(4) vector_length(64) async(1) wait(2) copyin(a[0:n]) copyout(b)"
    assert check_clauses(of(f"#pragma acc parallel loop {text} present(c) create(d) tile(8, 8)"), sink)
    assert sink.diagnostics == ()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("omp parallel for lastprivate(x)", "CF1102", "'lastprivate'"),
        ("omp parallel for ordered", "CF1102", "'ordered'"),
        ("omp simd linear(k: 2)", "CF1102", "'linear'"),
        ("omp parallel for copyin(x)", "CF1102", "'copyin'"),
        ("omp parallel for shedule(static)", "CF1103", "'shedule'"),
        ("omp parallel for gang", "CF1103", "OpenMP has no clause 'gang'"),
        ("acc parallel loop schedule(static)", "CF1103", "OpenACC has no clause 'schedule'"),
    ],
)
def test_other_clauses_are_named(text: str, code: str, said: str) -> None:
    sink = DiagnosticSink()
    assert not check_clauses(of(f"#pragma {text}"), sink)
    (found,) = sink.diagnostics
    assert found.code == code
    assert said in found.message
    assert found.help
