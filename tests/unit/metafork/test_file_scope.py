"""What host code needs of the rest of its file is found, and nothing else is."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.file_scope import Kind, file_scope
from comprehensive.metafork.parse import parse

REGION = """meta_schedule { meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < B; u++)
    a[i*B + u] = 1; }"""


def pieces(before: str, host: str, after: str = "", result: str = "void") -> list[tuple[Kind, str]]:
    text = f"{before}\n{result} f(int n, float *a, int B)\n{{\n  {host}\n  {REGION}\n}}\n{after}"
    sink = DiagnosticSink()
    program = parse(SourceFile("f.mf", text), sink)
    assert not sink.has_errors, sink.diagnostics
    return [(piece.kind, piece.span.text) for piece in file_scope(program.functions)]


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("static int h(int n) { return n; }", "int d = h(n);"),
        ("static inline int h(int n)\n{ if (n) { return 1; } return 0; }", "for (int t = 0; t < h(n); t++)"),
        ("typedef struct point { int x; } point;", "point p; p.x = n;"),
        ("struct point { int x, y; };", "struct point p;"),
        ("enum { ONE = 1, TWO };", "int d = TWO;"),
        ("static const int A[2] = { 1, 2 }, C = 3;", "int d = C;"),
        ("static int (*chosen)(int);", "int d = chosen(n);"),
        ("typedef int (*chooser)(int);", "chooser c = 0;"),
    ],
)
def test_what_host_code_names_is_needed(text: str, host: str) -> None:
    idle = "static int idle(int n) { return n; } struct other { int h; }; int chosen_not, B;"
    assert pieces(f"{idle}\n{text}", host) == [(Kind.OWN, text)]
    assert pieces(text, "int d = n;") == []


def test_what_a_helper_needs_is_needed_too_in_the_order_of_the_file() -> None:
    low, high = "static int low(int n) { return n; }", "static int high(int n) { return low(n); }"
    found = pieces(f"int low(int);\n{low}\nint none(void) {{ return 1; }}", "int d = high(n);", high)
    assert found == [(Kind.OWN, "int low(int);"), (Kind.OWN, low), (Kind.OWN, high)]


def test_what_is_defined_elsewhere_keeps_its_linkage() -> None:
    found = pieces("double scale(double);\nextern int limit;\nint idle(int);", "int d = limit + scale(n);")
    assert found == [(Kind.FOREIGN, "double scale(double);"), (Kind.FOREIGN, "extern int limit;")]


def test_preprocessor_lines_stay_around_what_they_govern() -> None:
    before = "#include <math.h>\n#if 1\nint h(int n)\n{\n#ifdef A\n  n++;\n#endif\n  return n;\n}\n#endif"
    found = pieces(before, "int d = h(n);")
    assert [text.split("\n")[0] for _, text in found] == [
        "#include <math.h>",
        "#if 1",
        "int h(int n)",
        "#endif",
    ]
    assert "#ifdef A" in found[2][1]


def test_a_macro_counts_as_host_code_and_the_type_of_the_function_does_not() -> None:
    # The function that is emitted returns nothing.
    helper, word = "static int h(int n) { return n; }", "typedef void nothing;"
    found = pieces(f"{word}\n{helper}\n#define H(n) h(n)", "int d = H(n);", result="nothing")
    assert [text for _, text in found] == [helper, "#define H(n) h(n)"]


def test_the_declaration_of_a_function_with_a_region_is_left_out() -> None:
    helper = "static int h(int n) { return n; }"
    assert pieces(f"void f(int, float *, int);\n{helper}", "int d = h(n);") == [(Kind.OWN, helper)]


@pytest.mark.parametrize("helper", ["", "static void again(int n, float *a, int B) { g(n, 0, B); }\n"])
def test_a_call_of_a_function_with_a_region_is_an_error_with_its_place(helper: str) -> None:
    call = "again(n, 0, B);" if helper else "g(n, 0, B);"
    text = f"void g(int n, float *a, int B) {{ {REGION} }}\n{helper}"
    text += f"void f(int n, float *a, int B) {{ {call} {REGION} }}\n"
    sink = DiagnosticSink()
    parse(SourceFile("f.mf", text), sink)
    (error,) = sink.diagnostics
    assert (error.code, error.span.position[0] if error.span else 0) == ("CF0319", 3)
    assert "'g'" in error.message


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("static int shift; int get(void) { return shift; }", ["shift"]),
        ("int table[4] = { 1, 2 }, other; int get(void) { return table[1] + other; }", ["table", "other"]),
        ("static const int shift = 2; int get(void) { return shift; }", []),
        ("extern int shift; int get(void) { return shift; }", []),
        ("static int shift; int get(void) { return 1; }", []),
        ("struct p { int x; }; int get(void) { struct p q; q.x = 1; return q.x; }", []),
        ("enum { ONE = 1 }; int get(void) { return ONE; }", []),
    ],
)
def test_a_variable_of_the_file_is_warned_about(text: str, warned: list[str]) -> None:
    sink = DiagnosticSink()
    parse(SourceFile("f.mf", f"{text}\nvoid f(int n, float *a, int B)\n{{ int d = get();\n{REGION} }}"), sink)
    found = [d for d in sink.diagnostics if d.code == "CF0320"]
    assert [d.span.text if d.span else "" for d in found] == warned
