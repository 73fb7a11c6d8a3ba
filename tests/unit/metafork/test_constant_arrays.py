"""Constant arrays of the file in regions: numbers where subscripts are known, local arrays where they are not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from comprehensive.diagnostics import render
from comprehensive.metafork.printer import print_stmts
from comprehensive.toolchain.host import find_c_compiler
from tests.unit.metafork.test_diagnostics import in_threads
from tests.unit.metafork.test_inlining import inlined
from tests.unit.metafork.trees import parse_clean, parse_text

W = "static const float w[3] = {0.25, 0.1, 0.25f};\n"


@pytest.mark.parametrize(
    ("tables", "statements", "left"),
    [
        (W, "c[0] = w[0] + w[1];", "c[0] = 0.25f + (float)0.1;"),
        (W, "for (int k = 0; k < 3; k++) c[k] = w[k];", "c[0] = 0.25f; c[1] = (float)0.1; c[2] = 0.25f;"),
        (W, "c[0] = sizeof w / sizeof w[0];", "c[0] = 12uL / 4uL;"),
        ("const short t[2][3] = {{1}, {2}};\n", "c[0] = sizeof t[1] + sizeof(t);", "c[0] = 6uL + 12uL;"),
        (
            W + "float last(void) { return w[sizeof w / sizeof w[0] - 1]; }\n",
            "c[0] = last();",
            "c[0] = 0.25f;",
        ),
        (
            W,
            "{ double w[5]; w[0] = 1; c[0] = sizeof w + w[0]; }",
            "{ double w[5]; w[0] = 1; c[0] = 40uL + w[0]; }",
        ),
        (W, "for (int k = 2; k > 0; k -= 2) c[k] = w[k];", "c[2] = 0.25f;"),
        (W, "for (int k = 0; k < 1; k++) { float t = w[k]; c[k] = t; }", "{ float t = 0.25f; c[0] = t; }"),
        (W, "for (int k = 0; k < 3; k++) c[k] = 1;", "for (int k = 0; k < 3; k++) c[k] = 1;"),
        (
            "const int t[2] = {1};\n",
            "c[0] = t[n & 1];",
            "c[0] = t[n & 1];",
        ),
        (
            "enum { K = 2 };\nconst int t[][K] = {{1, 2}, {K * 3}};\n",
            "c[0] = t[1][0];",
            "c[0] = 6;",
        ),
        ("const int t[2][2] = {1, 2, 3};\n", "c[0] = t[1][0];", "c[0] = 3;"),
        ("const double t[1] = {-0.1};\n", "c[0] = t[0];", "c[0] = -0.1;"),
        (W + "float at(int k) { return w[k]; }\n", "c[0] = at(1);", "c[0] = (float)0.1;"),
    ],
)
def test_an_element_is_a_number_where_its_subscripts_are(tables: str, statements: str, left: str) -> None:
    assert inlined(tables, statements) == left


@pytest.mark.parametrize(
    ("declared", "left"),
    [
        ("static const float w[3] = {0.25, 0.1, 0.25f};", "c[u] = 0.25f;"),
        ("const int n2 = n, w[2][2] = {{1, 2}, {3, 4}};", "c[u] = 3;"),
        ("if (n < 1) return; const float w[] = {0.5f, 1, 4.0f};", "c[u] = 4.0f;"),
    ],
)
def test_an_array_may_be_constant_in_the_function_alone(declared: str, left: str) -> None:
    element = "w[1][0]" if "[2][2]" in declared else "w[2]"
    text = (
        f"void f(int n, int B, float *c) {{\n  {declared}\n  meta_schedule {{ meta_for (int i = 0; i < n; i++) "
        f"meta_for (int u = 0; u < B; u++) c[u] = {element}; }}\n}}\n"
    )
    assert left in print_stmts(parse_clean(text).functions[0].regions[0].body)


def test_arrays_of_one_name_may_be_constant_in_two_functions() -> None:
    text = "".join(
        f"void {name}(int n, int B, float *c) {{ const float w[1] = {{{value}}}; meta_schedule {{ "
        "meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < B; u++) c[u] = w[0]; } }\n"
        for name, value in (("f", 2), ("g", 3))
    )
    found = [print_stmts(function.regions[0].body) for function in parse_clean(text).functions]
    assert ["2.0f" in found[0], "3.0f" in found[1]] == [True, True]


def test_an_array_that_a_block_of_the_function_declares_again_is_no_constant() -> None:
    text = (
        "void f(int n, int B, float *c) { const float w[1] = {2}; { const float w[1] = {3}; meta_schedule { "
        "meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < B; u++) c[u] = w[0]; } } }"
    )
    _, sink = parse_text(text)
    assert [d.code for d in sink.diagnostics] == ["CF0203"]


@pytest.mark.parametrize(
    "text", ["extern float w[3];", "static volatile float w[3];", "struct { float x; } w[3];"]
)
def test_an_array_of_the_file_that_is_not_understood_is_to_be_a_parameter(text: str) -> None:
    _, sink = parse_text(f"{text}\n" + in_threads("c[0] = w[0];"))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code == "CF0203"
    assert "pass it as a parameter" in (diagnostic.help or "")


def test_a_macro_of_several_statements_is_a_block() -> None:
    swap = "#define SWAP(T, x, y) do { T t = x; x = y; y = t; } while (0)\n"
    assert inlined(swap, "float p = 1; float q = 2; SWAP(float, p, q); c[0] = p;") == (
        "float p = 1; float q = 2; { float t = p; p = q; q = t; } c[0] = p;"
    )


def test_a_variable_of_the_function_hides_an_array_of_the_file() -> None:
    text = W + in_threads("float w[2]; w[0] = 1; c[0] = w[0];")
    assert "w[0] = 1;" in print_stmts(parse_clean(text).functions[0].regions[0].body)


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        ("CF0209", W + in_threads("§w[0] = 1;")),
        ("CF0234", W + in_threads("c[0] = §w[3];")),
        ("CF0203", "extern float w[3];\n" + in_threads("c[0] = §w[0];")),
        ("CF0203", "const float w[2] = {[1] = 2};\n" + in_threads("c[0] = §w[0];")),
        ("CF0203", "const float w[1] = {1, 2};\n" + in_threads("c[0] = §w[0];")),
    ],
)
def test_what_cannot_be_is_an_error(code: str, marked: str) -> None:
    _, sink = parse_text(marked.replace("§", ""))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code == code, render(diagnostic)
    assert diagnostic.span is not None
    assert diagnostic.span.start == marked.index("§"), render(diagnostic)


LISTS = [
    "const float t[2][3] = {{1, 2}, {3, 4, 5}};",
    "const float t[2][3] = {1, 2, 3, 4};",
    "const float t[2][3] = {{0.1}, 7};",
    "const double t[][2] = {{0.1, 1e-3}, {2}, {-3.5f, 1u}};",
    "const unsigned char t[3] = {300, -1, 7};",
    "const int t[] = {1, 2.5, 3};",
    "const long t[2] = {1 << 20, 3000000000};",
    "const float t[1] = {16777217};",
]


def test_elements_have_the_values_that_they_have_in_c(tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    lines: list[str] = []
    for number, text in enumerate(LISTS):
        places = (
            ["[0][0]", "[0][1]", "[1][0]", "[1][1]"]
            if "][" in text
            else ["[0]"]
            if "[1]" in text
            else ["[0]", "[1]"]
        )
        named = text.replace(" t[", f" t{number}[")
        lines.append(named)
        for place in places:
            found = inlined(named + "\n", f"c[0] = t{number}{place};")
            value = re.fullmatch(r"c\[0\] = (.*);", found)
            assert value is not None
            lines.append(f"#define V{number}{re.sub('[^0-9]', '', place)} (t{number}{place} == {value[1]})")
    checks = " && ".join(line.split()[1] for line in lines if line.startswith("#define"))
    source, built = tmp_path / "t.c", tmp_path / "t"
    source.write_text("\n".join([*lines, f"int main(void) {{ return !({checks}); }}", ""]))
    subprocess.run([*compiler.command, "-w", str(source), "-o", str(built)], check=True)
    assert subprocess.run([str(built)]).returncode == 0


def test_an_array_that_is_read_at_unknown_subscripts_stays_data() -> None:
    text = "const int t[65] = {1};\nconst float w[2] = {1};\n" + in_threads("c[0] = t[n] + w[1];")
    program, sink = parse_text(text)
    assert not sink.diagnostics
    (table,) = program.functions[0].regions[0].tables
    assert (table.name, table.lengths, len(table.values)) == ("t", (65,), 65)
