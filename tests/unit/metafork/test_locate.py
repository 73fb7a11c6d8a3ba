"""Functions and regions are found in any C, and what is outside of them is kept to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.metafork.ast import HostAssert, MetaSchedule, Program
from tests.examples import examples
from tests.unit.metafork.trees import parse_clean, parse_text

FUNCTION = (
    "void NAME(int n, int B, float *a)\n{ /* { */ int d = n / B; assert(n > 0);\n  meta_schedule { meta_for "
    '(int i = 0; i < d; i++) meta_for (int u = 0; u < B; u++) a[i*B + u] = 1.5f; }\n  puts("}"); }'
)

HOST = [
    "/* meta_schedule { */\n",
    "// meta_schedule { \\\n still a comment {\n",
    'const char *s1 = "meta_schedule { \\" /* ";\n',
    "char c1 = '{', c2 = '\\'', c3 = '\"';\n",
    "#define OPEN {\n",
    "#define LONG_MACRO(x) do { \\\n  x; /* { */ \\\n  {\n",
    "#if 0\n#error don't { stop\n#endif\n",
    "#if 0\nvoid off(void) { meta_schedule { don't\n#endif\n",
    "#ifdef A\nint g1(int x) {\n#else\nint g1(long x) {\n#endif\n  return x; }\n",
    "struct s { int x; struct { int y; } z; } v = { 1, { 2 } };\n",
    "enum e { E1, E2 };\nunion u { int a; };\n",
    "int table[][2] = { { 1, 2 }, { 3, 4 } };\n",
    'extern "C" {\n',
    "static inline __attribute__((always_inline)) int g(int a, int (*f)(int)) { return f(a); }\n",
    "int g2(int a) { return a ? a : ({ int q = 1; q; }); }\n",
    "int (*pointer)(int (*)[3]);\n",
    "\r\n\t \f\v\r\n",
    "\u00e9t\u00e9 \u4f60\u597d;\n",
    "int big = 1'000'000;\n",
    "<% %> <: :>\n",
    "@ $ ` \\\n",
    ";;;",
]


def text_from_parts(program: Program) -> str:
    text, position = "", 0
    for function in program.functions:
        text += program.file.text[position : function.body_span.start]
        for part in function.parts:
            text += part.span.text if isinstance(part, HostAssert | MetaSchedule) else part.text
        position = function.body_span.end
    return text + program.file.text[position:]


@given(
    st.lists(
        st.one_of(st.sampled_from(HOST), st.integers(0, 9).map(lambda k: FUNCTION.replace("NAME", f"f{k}")))
    )
)
@settings(max_examples=examples(60), deadline=None)
def test_host_text_and_parts_together_are_the_file(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    program, sink = parse_text(text)
    assert text_from_parts(program) == text
    if sum(piece == 'extern "C" {\n' for piece in pieces) == 0:
        expected = [piece for piece in pieces if piece.startswith("void f")]
        assert len(program.functions) == len(expected)
        assert all(f.span.text.endswith(text) for f, text in zip(program.functions, expected, strict=True))
        twice = len(set(expected)) < len(expected)
        assert {d.code for d in sink.diagnostics} <= (
            {"CF0104"} if not expected else {"CF0322"} if twice else set()
        )


@pytest.mark.parametrize("host", HOST)
def test_a_function_is_found_behind_any_host_text(host: str) -> None:
    function = FUNCTION.replace("NAME", "f")
    program, sink = parse_text(host + "\n" + function + ("\n}" if host.startswith("extern") else ""))
    assert sink.diagnostics == ()
    (found,) = program.functions
    # What is no C may count as the beginning of the head that follows.
    assert found.span.text == function or (host[0] in "<@" and found.span.text.endswith(function))


def test_regions_under_conditional_compilation_are_separate() -> None:
    region = FUNCTION.split("meta_schedule", 1)[1].split("\n")[0]
    branches = f"#ifdef X\nmeta_schedule{region}\n#else\nmeta_schedule{region}\n#endif\n"
    text = f"void f(int n, int d, int B, float *a) {{\n{branches}}}"
    assert len(parse_clean(text).functions[0].regions) == 1
    # Which of these a compiler takes is not known here.
    assert len(parse_clean(text.replace("X", "_OPENMP")).functions[0].regions) == 2


def test_attributes_and_macros_around_the_head_do_not_hide_the_name() -> None:
    text = FUNCTION.replace("void NAME(", "EXPORT(int) __attribute__((noinline)) void NAME(")
    program = parse_clean(text.replace("NAME", "kernel"))
    assert [f.name for f in program.functions] == ["kernel"]


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" void kernel({p})',
        "__attribute__((noinline, cold)) void kernel({p})",
        "void __attribute__((noinline)) kernel({p})",
        "API void kernel({p})",
        "static API(void) kernel({p})",
        "static EXPORT(1) void kernel({p}) CHECKED(2) HOT(3)",
        "void kernel({p}) CHECKED(2)",
        "static inline void kernel({p}) noexcept(true)",
        "constexpr auto kernel({p}) -> decltype(n)",
        "[[nodiscard]] static status\nkernel({p})",
        "unsigned long *kernel({p})",
    ],
)
def test_a_head_of_any_form_has_the_name_of_its_function(head: str) -> None:
    body = FUNCTION[FUNCTION.index("{") :]
    text = f"{head.format(p='int n, int B, float *a')} {body}"
    for before, after in (
        ("", ""),
        ('extern "C" {', "}"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\n', ""),
    ):
        (function,) = parse_clean(f"{before}{text}{after}").functions
        assert (function.name, [p.name for p in function.parameters]) == ("kernel", ["n", "B", "a"])


def test_digraphs_are_braces() -> None:
    text = FUNCTION.replace("NAME", "f").replace("\n{ /*", "\n<% /*")[:-1] + "%>"
    assert len(parse_clean(text).functions) == 1
