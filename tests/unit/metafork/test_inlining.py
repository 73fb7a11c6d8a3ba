"""Functions of the file in regions: random ones compute, inlined, what C computes with them; and what cannot be."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

import comprehensive.metafork
from comprehensive.diagnostics import render
from comprehensive.metafork.ast import MetaFor, MetaSchedule
from comprehensive.metafork.printer import print_expr, print_stmts
from comprehensive.toolchain.host import find_c_compiler
from tests.unit.metafork.test_diagnostics import in_host, in_threads
from tests.unit.metafork.trees import parse_clean, parse_text

RELU = "static inline float relu(float x) { return x > 0 ? x : 0; }\n"


def region_of(text: str) -> MetaSchedule:
    return parse_clean(text).functions[0].regions[0]


def inlined(helpers: str, statements: str) -> str:
    """Return the statements of a thread after inlining, without space."""
    (blocks,) = region_of(helpers + in_threads(statements)).body
    assert isinstance(blocks, MetaFor)
    (threads,) = blocks.body
    assert isinstance(threads, MetaFor)
    return re.sub(r"\s+", " ", print_stmts(threads.body)).strip()


def test_a_function_of_the_file_is_meant_where_the_c_library_has_its_name() -> None:
    own = "static float round(float x) { return x + 100.0f; }\nstatic int isnan(float x) { return x < 0; }\n"
    assert "c[0] = b[1] + 100.0f;" in inlined(own, "c[0] = round(b[1]);")
    assert "c[0] = b[1] < 0;" in inlined(own, "c[0] = isnan(b[1]);")
    assert "c[0] = round(b[1]);" in inlined("", "c[0] = round(b[1]);")


def test_a_function_may_move_its_pointer() -> None:
    total = "float total(const float *p, int k) { float s = 0; while (k--) s += *p++; return s; }\n"
    left = inlined(total, "c[0] = total(b + 2, n);")
    assert "long total_p_1_first = 0" in left
    assert "total_s += b[2 + (total_p_1_first + 0)]; total_p_1_first++;" in left


@pytest.mark.parametrize(
    ("helpers", "statements", "left"),
    [
        (RELU, "c[0] = relu(b[1]);", "c[0] = b[1] > 0 ? b[1] : 0;"),
        (RELU, "c[0] = relu(r + 1);", "float relu_x = r + 1; c[0] = relu_x > 0 ? relu_x : 0;"),
        (RELU, "c[0] = n ? relu(r + 1) : 0;", "c[0] = n ? r + 1 > 0 ? r + 1 : 0 : 0;"),
        (RELU, "c[0] = relu(n);", "c[0] = (float)n > 0 ? (float)n : 0;"),
        (RELU, "c[0] = relu(-2);", "c[0] = -2.0f > 0 ? -2.0f : 0;"),
        (
            "#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n"
            "HD static __attribute__((always_inline)) inline float id(float x) { return x; }",
            "c[0] = id(r);",
            "c[0] = r;",
        ),
        (
            "int half(int n) { return n / 2; }",
            "for (int k = 0; k < half(n); k++) c[k] = half(3);",
            "for (int k = 0; k < n / 2; k++) c[k] = 3 / 2;",
        ),
        ("int narrow(float x) { return x; }", "c[0] = narrow(r);", "c[0] = (int)r;"),
        (
            "float at(const float *p, int k) { return p[k]; }",
            "c[0] = at(b + 2, n) + at(a[1], 3);",
            "c[0] = b[2 + n] + a[1][3];",
        ),
        (
            "static int sign(int x) { if (x < 0) return -1; return x > 0; }",
            "c[0] = sign(n);",
            "c[0] = n < 0 ? -1 : n > 0;",
        ),
        (
            "static float cut(int x, float y) { x++; if (x < 0) { return 0; } else if (x > 7) return y; return x; }",
            "c[0] = cut(n, r);",
            "int cut_x = n; cut_x++; c[0] = cut_x < 0 ? 0.0f : cut_x > 7 ? r : (float)cut_x;",
        ),
        (
            "static int up(int x) { if (x < 0) return -x; return x; }",
            "for (int k = 0; k < up(n); k++) if (n > 1 && up(n - 2) > 3) c[k] = up(up(n - 1));",
            "for (int k = 0; k < (n < 0 ? -n : n); k++) "
            "if (n > 1 && (n - 2 < 0 ? -(n - 2) : n - 2) > 3) "
            "{ int up_x = n - 1; int up_x_1 = up_x < 0 ? -up_x : up_x; c[k] = up_x_1 < 0 ? -up_x_1 : up_x_1; }",
        ),
        (
            "static int first(const float *p, int x) { if (x > 2) for (int k = 0; k < x; k++) if (p[k] > 0) return k;"
            " return x; }",
            "c[0] = first(b, n);",
            "int first_value; int first_done = 0; if (n > 2) "
            "for (int first_k = 0; first_k < n; first_k++) if (b[first_k] > 0) "
            "{ first_value = first_k; first_done = 1; break; } "
            "if (!first_done) { first_value = n; first_done = 1; } c[0] = first_value;",
        ),
        (
            "static int next(int x) { x++; return x; }",
            "while (next(n) < 3) break;",
            "while (1) { int next_x = n; next_x++; if (!(next_x < 3)) break; break; }",
        ),
        (
            "static void axpy(int n, float s, const float *x, float *y)"
            " { if (n < 1) return; for (int i = 0; i < n; i++) y[i] += s * x[i]; }",
            "float t[4]; t[0] = r; axpy(4, t[0], b + 2, t); axpy(n, 2, t, a[1]);",
            "float t[4]; t[0] = r; float axpy_s = t[0]; if (!(4 < 1)) "
            "for (int axpy_i = 0; axpy_i < 4; axpy_i++) t[axpy_i] += axpy_s * b[2 + axpy_i]; "
            "if (!(n < 1)) for (int axpy_i_1 = 0; axpy_i_1 < n; axpy_i_1++) a[1][axpy_i_1] += 2.0f * t[axpy_i_1];",
        ),
        (
            "static void set(float *p, float x) { *p = x; }\n"
            "static int both(float *p, float *q, float x) { set(p, x); set(q + 1, x); return 2; }",
            "(void)both(c, c + 3, c[0]);",
            "float both_x = c[0]; c[0] = both_x; c[3 + (1 + 0)] = both_x;",
        ),
        (
            "static void put(float *p, int k) { p[0] = k; p[1] = k; }\n#define INTO(p, k) put(p, k)",
            "int k[2]; k[0] = n; INTO(c + k[0], k[1]);",
            "int k[2]; k[0] = n; int put_k = k[1]; int put_p_offset = k[0]; "
            "c[put_p_offset + 0] = put_k; c[put_p_offset + 1] = put_k;",
        ),
        (
            "static void inc(float *p) { p[0] += 1; }",
            "inc(c), inc(&c[1]); n > 2 ? inc(c + n) : inc(c);",
            "c[0]++; c[1 + 0]++; if (n > 2) c[n + 0]++; else c[0]++;",
        ),
        (
            "static int next(int *s) { *s = *s * 5 + 1; return *s; }",
            "int k = n; c[0] = next(&k) - next(&k); if (next(&k) > 2 && next(&k)) c[1] = k;",
            "int k[1]; k[0] = n; k[0] = k[0] * 5 + 1; int next_value = k[0]; k[0] = k[0] * 5 + 1; "
            "int next_value_1 = k[0]; c[0] = next_value - next_value_1; k[0] = k[0] * 5 + 1; "
            "int next_value_2 = k[0]; int holds = next_value_2 > 2; if (holds) { k[0] = k[0] * 5 + 1; "
            "int next_value_3 = k[0]; holds = next_value_3 != 0; } if (holds) c[1] = k[0];",
        ),
        (
            "static void inc(float *p, float x) { p[0] += x; }\n"
            "static float at(const float *p, int k) { return p[k]; }",
            "inc(n > 2 ? c : a[1], at(n > 3 ? b : c, 4));",
            "if (n > 2) { float inc_x = n > 3 ? b[4] : c[4]; c[0] += inc_x; } "
            "else { float inc_x_1 = n > 3 ? b[4] : c[4]; a[1][0] += inc_x_1; }",
        ),
        (
            "#define F(x) g(x)\nint g(int x) { return x + K; }\nenum { K = 7 };",
            "c[0] = F(1);",
            "c[0] = 1 + 7;",
        ),
    ],
)
def test_a_call_becomes_what_the_function_does(helpers: str, statements: str, left: str) -> None:
    assert inlined(helpers + "\n", statements) == left


def test_host_code_may_call_functions_of_the_file() -> None:
    text = "int ceil_div(int a, int b) { return (a + b - 1) / b; }\n" + in_host("").replace(
        "n / B", "ceil_div(n, B)"
    )
    (scalar,) = region_of(text).scalars
    assert scalar.value is not None
    assert print_expr(scalar.value) == "(n + B - 1) / B"


def test_a_function_that_nothing_calls_may_be_any_c() -> None:
    parse_clean("static void log_it(const char *s, ...) { puts(s); }\n" + in_host(""))


LOOPS = "static int loops(int x) { for (int k = 0; k < 3; k++) x += k; return x; }\n"
CASES: dict[str, tuple[str, str]] = {
    "recursion": (
        "CF0230",
        "int g(int x);\nint h(int x) { return §g(x); }\nint g(int x) { return h(x - 1); }\n"
        + in_threads("c[0] = g(1);"),
    ),
    "a write through a pointer by what is asked for several times": (
        "CF0231",
        "int g(int *p) { §p[0] = 1; return 2; }\n"
        + in_threads("int k; switch (g(&k)) { case 1: c[0] = 1; break; case 2: c[0] = 2; }"),
    ),
    "no value": ("CF0232", "void g(float *x) { x[0] = 1; }\n" + in_threads("c[0] = §g(c);")),
    "a call that writes nothing": ("CF0120", "int g(int x) { return x; }\n" + in_threads("g(1)§;")),
    "a call of a function without statements": ("CF0120", "void g(int x) { }\n" + in_threads("g(1)§;")),
    "a write to what is constant": (
        "CF0209",
        "void g(float *x) { x[0] = 1; }\n" + in_threads("§g(b);"),
    ),
    "a pointer as value": ("CF0232", "float *§g(float *x) { return x; }\n" + in_threads("c[0] = g(c);")),
    "any number of arguments": (
        "CF0232",
        "int g(int x, §...) { return x; }\n" + in_threads("c[0] = g(1, 2);"),
    ),
    "a path without a value": (
        "CF0232",
        "int §g(int x) { if (x) return 1; }\n" + in_threads("c[0] = g(1);"),
    ),
    "statements in the head of a loop": (
        "CF0233",
        LOOPS + in_threads("for (int k = 0; k < §loops(n); k++) c[k] = 1;"),
    ),
    "no array": ("CF0233", "float g(const float *p) { return p[0]; }\n" + in_threads("c[0] = g(§r);")),
    "too many calls": (
        "CF0233",
        "int g0(int x) { x++; return x; }\n"
        + "".join(f"int g{k + 1}(int x) {{ return g{k}(x) + {'§' * (k == 9)}g{k}(x); }}\n" for k in range(30))
        + in_threads("c[0] = g30(1);"),
    ),
    "wrong number of arguments": ("CF0214", LOOPS + in_threads("c[0] = §loops(1, 2);")),
    "a name that is not declared": ("CF0201", "int g(int x) { return §y; }\n" + in_threads("c[0] = g(1);")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_reported_where_it_is(name: str) -> None:
    code, marked = CASES[name]
    _, sink = parse_text(marked.replace("§", ""))
    diagnostic = sink.diagnostics[0]
    assert {d.code for d in sink.diagnostics} == {code}, render(diagnostic)
    assert diagnostic.span is not None
    if name != "too many calls":
        assert diagnostic.span.start == marked.index("§"), render(diagnostic)
    assert diagnostic.help


def test_every_code_of_functions_has_a_test() -> None:
    package = Path(comprehensive.metafork.__path__[0])
    listed = re.findall(r"^\| (CF023[0-3]) ", (package / "README.md").read_text(), re.MULTILINE)
    assert set(listed) == {code for code, _ in CASES.values() if code.startswith("CF023")}


# --- random functions, beside C ------------------------------------------------------------------------------


class Functions:
    """Writes functions at random: conditions, loops, jumps out of them, and calls of the functions before."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._made: list[str] = []
        self._loops = 0

    def write(self, count: int) -> str:
        found: list[str] = []
        for number in range(count):
            body = self._body(2, ["x", "y"], in_loop=False)
            found.append(
                f"static int g{number}(int x, int y)\n{{\n  int t = x - y;\n{body}  return t + y;\n}}\n"
            )
            # Every third one is called by those after it: calls of calls of calls would fill the file.
            self._made += [f"g{number}"] if number % 3 == 0 else []
        return "".join(found)

    def _value(self, names: list[str], depth: int = 2) -> str:
        pick = self._source.random()
        if depth == 0 or pick < 0.3:
            return self._source.choice([*names, "t", "1", "2", "7"])
        left, right = self._value(names, depth - 1), self._value(names, depth - 1)
        if pick < 0.36 and self._made:
            return f"{self._source.choice(self._made[-1:])}({left}, {right})"
        if pick < 0.55:
            return f"({self._condition(names, 1)} ? {left} : {right})"
        return f"({left} {self._source.choice('+-*')} {right}) % 101"

    def _condition(self, names: list[str], depth: int = 2) -> str:
        test = f"{self._value(names, depth)} {self._source.choice(['<', '>', '==', '!='])} {self._value(names, 1)}"
        if self._source.random() < 0.3:
            return f"({test} {self._source.choice(['&&', '||'])} {self._value(names, depth)} > 3)"
        return test

    def _body(self, depth: int, names: list[str], *, in_loop: bool) -> str:
        return "".join(self._statement(depth, names, in_loop) for _ in range(self._source.randrange(1, 4)))

    def _statement(self, depth: int, names: list[str], in_loop: bool) -> str:
        pick = self._source.random()
        if depth and pick < 0.3:
            other = f" else {{\n{self._body(depth - 1, names, in_loop=in_loop)}}}" if pick < 0.15 else ""
            return f"if ({self._condition(names)}) {{\n{self._body(depth - 1, names, in_loop=in_loop)}}}{other}\n"
        if depth and pick < 0.5:
            self._loops += 1
            k = f"k{self._loops}"
            inner = self._body(depth - 1, [*names, k], in_loop=True)
            return f"for (int {k} = 0; {k} < {self._source.randrange(1, 4)}; {k}++) {{\n{inner}}}\n"
        if depth and pick < 0.6:
            self._loops += 1
            w = f"w{self._loops}"
            inner = self._body(depth - 1, [*names, w], in_loop=True)
            return f"{{ int {w} = 0;\nwhile ({w} < 3 && {self._value(names)} != 5) {{\n{w}++;\n{inner}}} }}\n"
        if pick < 0.75:
            return f"return {self._value(names)};\n"
        if in_loop and pick < 0.85:
            return self._source.choice(["break;\n", "continue;\n"])
        return f"{self._source.choice(['t', 'x', 'y'])} = {self._value(names)};\n"


def both(seed: int, count: int) -> tuple[str, str]:
    """Functions with a loop that calls them all, and that loop with the calls inlined."""
    helpers = Functions(seed).write(count)
    calls = "".join(f"c[{count} * i + {k}] = g{k}(i, i - {k});\n" for k in range(count))
    head = f"(int n, int c[{count} * n])"
    nest = f"meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < 1; u++) {{\n{calls}}}"
    region = region_of(f"{helpers}void f{head} {{ meta_schedule {{\n{nest}\n}} }}\n")
    called = f"{helpers}void called{head} {{\n{nest}\n}}\n"
    return called, f"void inlined{head} {{\n{print_stmts(region.body)}}}\n"


MAIN = """
#include <stdio.h>
int main(void) {
  enum { N = 40, COUNT = %d };
  int c[N * COUNT], d[N * COUNT];
  called(N, c);
  inlined(N, d);
  for (int k = 0; k < N * COUNT; k++)
    if (c[k] != d[k]) { printf("g%%d(%%d): %%d, inlined %%d\\n", k %% COUNT, k / COUNT, c[k], d[k]); return 1; }
  return 0;
}
"""


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]
)
def test_random_functions_compute_what_they_compute_in_c(seed: int, tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    count = 4
    text = "".join(both(seed, count)).replace("meta_for", "for") + MAIN % count
    source, built = tmp_path / "both.c", tmp_path / "both"
    source.write_text(text)
    subprocess.run(
        [*compiler.command, "-std=gnu11", "-fwrapv", "-w", str(source), "-o", str(built)], check=True
    )
    answer = subprocess.run([str(built)], capture_output=True, text=True, timeout=20)
    assert answer.returncode == 0, answer.stdout + text
