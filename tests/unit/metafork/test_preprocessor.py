"""Macros, conditions and included files: what comes of them, beside the system's preprocessor where there is one."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import comprehensive.metafork.preprocessor
from comprehensive.data import spec_directory
from comprehensive.diagnostics import DiagnosticSink, SourceFile, render
from comprehensive.metafork.ast import Program, ScalarType
from comprehensive.metafork.parse import parse
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.preprocessor.stream import Preprocessed, preprocess
from comprehensive.metafork.printer import print_stmts
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.toolchain.host import find_c_compiler
from tests.unit.metafork.test_diagnostics import in_host, in_threads
from tests.unit.metafork.trees import parse_clean, parse_text


def preprocessed(
    text: str, configuration: Configuration | None = None, path: str = "t.mf"
) -> tuple[Preprocessed, DiagnosticSink]:
    sink = DiagnosticSink()
    text = text + "\n;"
    found = preprocess(list(tokens(Origin(SourceFile(path, text), sink))), configuration or Configuration())
    return found, sink


def expanded(text: str, configuration: Configuration | None = None) -> str:
    """The words of a text after preprocessing."""
    found, sink = preprocessed(text, configuration)
    assert [render(d) for d in sink.diagnostics] == []
    return " ".join(token.text for token in found.tokens[:-1] if token.type != "DIRECTIVE")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#define N 16\nN NN", "16 NN"),
        ("#define N M\n#define M 2\nN", "2"),
        ("#define A (A + 1)\nA", "( A + 1 )"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define F(x) ((x)*2)\nF(F(3)) F", "( ( ( ( 3 ) * 2 ) ) * 2 ) F"),
        ("#define F(x, y) x y\nF((1, 2), [3])", "( 1 , 2 ) [ 3 ]"),
        ("#define F() 1\nF() F ()", "1 1"),
        ("#define F(x) <x>\nF()", "< >"),
        ("#define J(a, b) a##b\n#define XY 7\nJ(X, Y) J(1, 2) J(x, ) J(, y)", "7 12 x y"),
        ('#define S(x) #x\nS(a + 1) S( "q" )', '"a + 1" "\\"q\\""'),
        ("#define V(a, ...) f(a, __VA_ARGS__)\nV(1, 2, 3)", "f ( 1 , 2 , 3 )"),
        ("#define V(a, ...) f(a, ##__VA_ARGS__)\nV(1) V(1, 2)", "f ( 1 ) f ( 1 , 2 )"),
        ("#define V(rest...) f(rest)\nV(1, 2)", "f ( 1 , 2 )"),
        ("#define N 1\n#undef N\nN", "N"),
        ("#define N 1 + \\\n 2\nN", "1 + 2"),
        ("#define F(a) a\n#define G F(\nG 4)", "4"),
        ("#ifdef N\n1\n#else\n2\n#endif", "2"),
        ("#if defined(N) || !defined N\n1\n#endif", "1"),
        ("#define N 3\n#if N * 2 == 6 && N > UNKNOWN\n1\n#elif 1\n2\n#endif", "1"),
        ("#if 0\n1 don't\n#if 1\n2\n#endif\n#elif 0 > -1\n3\n#else\n4\n#endif", "3"),
        ("#if 0x10L == 16 && (1 ? 2 : 0) && -7 / 2 == -3 && -7 % 2 == -1\n1\n#endif", "1"),
        ("#define meta_for for\nmeta_for", "meta_for"),
        ("#define cache(x)\nmeta_schedule cache(a) { cache(b) }", "meta_schedule cache ( a ) { }"),
        ("#include <limits.h>\nINT_MAX FLT_MAX", "2147483647 FLT_MAX"),
        ("/* c */ # /* d */ define N /* e */ 1 // f\nN", "1"),
    ],
)
def test_a_text_becomes_what_c_makes_of_it(text: str, words: str) -> None:
    assert expanded(text) == words


def test_a_token_of_a_macro_has_the_place_of_its_use() -> None:
    text = "#define SQR(x) ((x)*(x))\nint y = SQR(k + 1);"
    found, _ = preprocessed(text)
    use = text.index("SQR(k")
    places = {token.text: (token.start, token.end) for token in found.tokens if token.start >= use}
    assert places["*"] == (use, use + len("SQR(k + 1)"))
    assert places["k"] == (use + 4, use + 5)


def test_what_the_command_line_says_is_defined() -> None:
    configuration = Configuration((("N", "4"), ("F(x)", "x + x")), ("M",))
    text = "#ifdef M\n1\n#else\n2\n#endif\nN F(3)"
    assert expanded(text, configuration) == "2 4 3 + 3"


def test_a_definition_in_the_text_counts_and_warns_where_the_command_line_gives_another_one() -> None:
    configuration = Configuration((("N", "4"), ("M", "1 + 1")))
    found, sink = preprocessed("#define N 8\n#define M 1 + 1\nN M", configuration)
    (warning,) = sink.diagnostics
    assert (warning.code, warning.severity.value) == ("CF0140", "warning")
    assert warning.span is not None
    assert (warning.span.text, warning.span.position) == ("N", (1, 9))
    assert found.macros["N"].span.file.path == "t.mf"
    asks = "#ifndef N\n#define N 8\n#endif\n#undef M\n#define M 3\nN M"
    _, sink = preprocessed(asks, configuration)
    assert sink.diagnostics == ()


def test_what_compilers_define_is_left_to_them() -> None:
    text = "#ifdef __CUDACC__\n#define N 1\nint a;\n#else\n#define N 2\nint b;\n#endif\nint c = N;"
    found, _ = preprocessed(text)
    kept = [token.text for token in found.tokens if token.type != "DIRECTIVE"][:-1]
    assert " ".join(kept) == "int a ; int b ; int c = 2 ;"
    assert [found.tokens[k].text for k in sorted(found.skipped)][1:] == ["int", "a", ";"]
    assert [token.text for token in found.uncertain] == ["#define N 1", "#define N 2"]


def test_what_decided_is_taken_down() -> None:
    found, _ = preprocessed(
        "#ifdef A\n#endif\n#if B > C\n#endif\n#ifdef __GNUC__\n#endif", Configuration((("C", "1"),))
    )
    assert found.settings == (("C", "1"), ("A", None), ("B", None))


# --- included files ------------------------------------------------------------------------------------------


def in_directory(folder: Path, files: dict[str, str], text: str) -> tuple[Program, DiagnosticSink]:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    sink = DiagnosticSink()
    program = parse(SourceFile(str(folder / "t.mf"), text), sink, Configuration((), (), (folder / "inc",)))
    return program, sink


def test_macros_and_constants_of_included_files_are_known(tmp_path: Path) -> None:
    files = {
        "a.h": "#ifndef A\n#define A\n#include <b.h>\n#define TWICE(x) (2 * (x))\n#endif",
        "inc/b.h": "#pragma once\nenum { K = 5, L };\nstatic const int m = K * 2;",
    }
    text = '#include "a.h"\n#include "a.h"\n#include <b.h>\n' + in_threads("c[m] = TWICE(L);")
    program, sink = in_directory(tmp_path, files, text)
    assert [render(d) for d in sink.diagnostics] == []
    assert "c[10] = 2 * 6;" in print_stmts(program.functions[0].regions[0].body)
    assert [Path(file.path).name for file in program.included] == ["a.h", "b.h"]
    assert program.include_flags == ("-I", str(tmp_path), "-I", str(tmp_path / "inc"))


def test_types_of_included_files_are_known(tmp_path: Path) -> None:
    files = {
        "a.h": "#ifndef A\n#define A\n#include <b.h>\ntypedef real *pointer;\n#define NUMBER size_t\n"
        "static inline real half(real x) { return x / 2; }\n#endif",
        "inc/b.h": "#pragma once\n#ifdef __CUDACC__\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
        "typedef unsigned char byte;\n",
    }
    text = (
        '#include "a.h"\n#include <b.h>\ntypedef real value;\nstatic value twice(value v) { return v + v; }\n'
        "void f(NUMBER n, const byte *a, value *c, int B)\n{\n  meta_schedule block(B) {\n"
        "    meta_for (NUMBER i = 0; i < n; i++) c[i] = twice(half((real)a[i]));\n  }\n}\n"
    )
    program, sink = in_directory(tmp_path, files, text)
    assert [render(d) for d in sink.diagnostics] == []
    (function,) = program.functions
    assert [p.type for p in function.parameters] == [
        ScalarType.UNSIGNED_LONG,
        ScalarType.UNSIGNED_CHAR,
        ScalarType.FLOAT,
        ScalarType.INT,
    ]
    assert "(float)a[i]" in print_stmts(function.regions[0].body)


WITH_TYPE = (
    "void f(int n, TYPE x, float *c, int B)\n"
    "{ meta_schedule block(B) { meta_for (int i = 0; i < n; i++) c[i] = 1; } }"
)


def test_a_type_that_a_file_may_define_that_was_not_found_is_told_with_the_file(tmp_path: Path) -> None:
    text = '#include "types.h"\n' + WITH_TYPE.replace("TYPE", "real")
    _, sink = in_directory(tmp_path, {}, text)
    found = next(d for d in sink.diagnostics if d.code == "CF0117")
    assert found.help is not None
    assert "'types.h'" in found.help
    assert "-I" in found.help


def test_an_included_pointer_type_is_pointed_at(tmp_path: Path) -> None:
    text = '#include "a.h"\n' + WITH_TYPE.replace("TYPE", "pointer")
    _, sink = in_directory(tmp_path, {"a.h": "typedef float *pointer;"}, text)
    (found,) = sink.diagnostics
    assert found.code == "CF0117"
    assert found.notes[0].span is not None
    assert (Path(found.notes[0].span.file.path).name, found.notes[0].span.text) == ("a.h", "pointer")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'}, "CF0136"),
        ({"a.h": "int \0;"}, "CF0136"),
        ({"a.h": "void g(int n) { meta_schedule { } }"}, "CF0139"),
    ],
)
def test_a_file_that_cannot_be_included_is_an_error_where_it_is_named(
    tmp_path: Path, files: dict[str, str], code: str
) -> None:
    _, sink = in_directory(tmp_path, files, '#include "a.h"\n' + in_host(""))
    assert [d.code for d in sink.diagnostics] == [code]


# --- diagnostics ---------------------------------------------------------------------------------------------

CASES: dict[str, tuple[str, str]] = {
    "condition not closed": ("CF0130", "int x;\n§#ifdef A\n" + in_host("")),
    "end of no condition": ("CF0130", "§#endif\n" + in_host("")),
    "second else": ("CF0130", "#if 1\n#else\n§#else\n#endif\n" + in_host("")),
    "macro without a name": ("CF0131", "§#define\n" + in_host("")),
    "macro called as a keyword": ("CF0131", "#define §float double\n" + in_host("")),
    "parameters of a macro not closed": ("CF0131", "#define §F(a, b\n" + in_host("")),
    "parameters of a macro": ("CF0131", "#define §F(a, 2) a\n" + in_host("")),
    "nothing to join": ("CF0131", "#define F(a) a §##\n" + in_host("")),
    "no text of a parameter": ("CF0131", "#define F(a) §#b\n" + in_host("")),
    "too many arguments of a macro": (
        "CF0132",
        "#define SQR(x) ((x)*(x))\n" + in_threads("c[0] = §SQR(1, 2);"),
    ),
    "too few arguments of a macro": ("CF0132", "#define MAX(a, b) a\n" + in_threads("c[0] = §MAX(1);")),
    "call of a macro not closed": ("CF0132", "#define SQR(x) ((x)*(x))\n" + in_host("") + "int k = §SQR(1;"),
    "no token joined": ("CF0133", "#define J(a, b) a##b\n" + in_threads("c[0] = §J(1, +);")),
    "macro of a keyword": ("CF0134", "#define P meta_for\n" + in_host("  §P;")),
    "condition not understood": ("CF0135", "§#if 1 +\n#endif\n" + in_host("")),
    "condition that divides by zero": ("CF0135", "§#if 1 / 0\n#endif\n" + in_host("")),
    "condition of no name": ("CF0135", "§#ifdef\n#endif\n" + in_host("")),
    "include of nothing": ("CF0136", "§#include\n" + in_host("")),
    "error of the program": ("CF0137", "#ifndef SIZE\n§#error give SIZE\n#endif\n" + in_host("")),
    "too many tokens": (
        "CF0138",
        "#define A0 1+1+1+1+1+1+1+1\n"
        + "".join(f"#define A{k + 1} A{k}+A{k}+A{k}+A{k}+A{k}+A{k}+A{k}+A{k}\n" for k in range(8))
        + in_threads("c[0] = §A8;"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_reported_once_where_it_is(name: str) -> None:
    code, marked = CASES[name]
    _, sink = parse_text(marked.replace("§", ""))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code == code, render(diagnostic)
    assert diagnostic.span is not None
    assert diagnostic.span.start == marked.index("§"), render(diagnostic)
    assert diagnostic.help


def test_every_code_in_the_readme_has_a_test() -> None:
    package = Path(comprehensive.metafork.preprocessor.__path__[0])
    listed = set(re.findall(r"^\| (CF0\d{3}) ", (package / "README.md").read_text(), re.MULTILINE))
    assert listed == {code for code, _ in CASES.values()} | {"CF0139", "CF0140"}


# --- the system's preprocessor as the oracle -----------------------------------------------------------------

NAMES = ["A", "B", "C", "D", "F", "G", "H", "x", "y"]


def random_text(source: random.Random) -> str:
    """Definitions that use each other at random, then a line of uses."""
    words = [*NAMES, "1", "2", "+", "-", "(", ")", ",", "F(", "G(", "H("]
    lines: list[str] = []
    for name in "ABCD":
        if source.random() < 0.8:
            lines.append(f"#define {name} {' '.join(_balanced(source, words))}")
    for name, parameters in (("F", "x"), ("G", "x, y"), ("H", "")):
        body = _balanced(source, words)
        if parameters and source.random() < 0.4:
            place = source.randrange(len(body) + 1)
            body[place:place] = source.choice((["x ## 1"], ["A ## x"], ["# x"], ["x ## x"]))
        lines.append(f"#define {name}({parameters}) {' '.join(body)}")
    return "\n".join([*lines, " ".join(_balanced(source, words, 12)), ";"])


def _balanced(source: random.Random, words: list[str], most: int = 6) -> list[str]:
    """Words at random, with every parenthesis closed."""
    found: list[str] = []
    open_groups = 0
    for _ in range(source.randrange(1, most)):
        word = source.choice(words)
        if word == ")" and open_groups == 0:
            continue
        open_groups += word.endswith("(") - (word == ")")
        found.append(word)
    return found + [")"] * open_groups


def of_the_system(text: str) -> str | None:
    """Return the output of the system's preprocessor for a text; None where it finds something wrong."""
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    answer = subprocess.run(
        [*compiler.command, "-E", "-P", "-w", "-x", "c", "-"], input=text, capture_output=True, text=True
    )
    return answer.stdout if answer.returncode == 0 else None


def words_of(text: str) -> list[str]:
    """The words of a text, without the space in strings."""
    found = tokens(Origin(SourceFile("t", text), DiagnosticSink()))
    return [t.text.replace(" ", "") if t.type == "STRING" else t.text for t in found]


def agrees(text: str) -> bool:
    """Whether both preprocessors say the same: the same words, or that something is wrong."""
    theirs = of_the_system(text)
    found, sink = preprocessed(text.removesuffix("\n;"))
    ours = [token.text for token in found.tokens if token.type != "DIRECTIVE"]
    return (
        sink.has_errors
        if theirs is None
        else not sink.has_errors and words_of(theirs) == words_of(" ".join(ours))
    )


@given(st.integers(0, 2**32))
def test_random_macros_mean_what_they_mean_to_the_system(seed: int) -> None:
    text = random_text(random.Random(seed))
    assert agrees(text), text


@pytest.mark.slow
def test_many_random_macros_mean_what_they_mean_to_the_system() -> None:
    for seed in range(500):
        text = random_text(random.Random(seed))
        assert agrees(text), text


def test_the_macros_of_standard_headers_have_the_values_that_they_have_in_c(tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "values.c"
    lines = [
        "#define _GNU_SOURCE",
        "#include <float.h>",
        "#include <limits.h>",
        "#include <math.h>",
        "#include <stdint.h>",
    ]
    lines += ["#include <stdio.h>", "int main(void) {"]
    for header in sorted((spec_directory() / "headers").glob("*.h")):
        for name, value in re.findall(r"^#define (\w+) (.*)$", header.read_text(), re.MULTILINE):
            value = value.replace(
                "__builtin_nanf()", '__builtin_nanf("")'
            )  # whose argument the tool does not read
            equal = f"(({name}) == ({value}) || (({name}) != ({name}) && ({value}) != ({value})))"
            same = f"{equal} && sizeof ({name}) == sizeof ({value})"
            lines.append(f'  if (!({same})) puts("{name}");')
    source.write_text("\n".join([*lines, "}", ""]))
    built = tmp_path / "values"
    subprocess.run([*compiler.command, "-std=gnu11", "-w", str(source), "-o", str(built)], check=True)
    assert subprocess.run([str(built)], capture_output=True, text=True).stdout == ""


def test_constants_of_the_file_are_numbers_in_functions_that_do_not_hide_them() -> None:
    text = "enum { K = 3 };\nstatic const float half = 0.5;\n" + in_threads("c[K] = half * K;")
    assert "c[3] = (float)0.5 * 3;" in print_stmts(parse_clean(text).functions[0].regions[0].body)
    hidden = "enum { K = 3 };\n" + in_threads("int K = 1; c[K] = 1;")
    assert "c[K] = 1;" in print_stmts(parse_clean(hidden).functions[0].regions[0].body)
