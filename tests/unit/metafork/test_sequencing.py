"""Effects in expressions, loops of any form and ``switch`` compute what a compiler of C makes of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import Continue, DoWhile, ScalarType, Stmt, While
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.local_pointers import without_pointers
from comprehensive.metafork.printer import print_stmts
from comprehensive.metafork.region_body import region_body
from comprehensive.metafork.tokens import Origin, Token, tokens
from comprehensive.metafork.walk import statements_in
from comprehensive.toolchain.host import find_c_compiler
from tests.unit.metafork.trees import parse_text

SCALARS = {"n": ScalarType.INT, "m": ScalarType.INT, "i": ScalarType.INT}
ARRAYS = {"a": ScalarType.INT, "c": ScalarType.INT}
WORDS = ["n", "m", "i", "a", "c"]

BODIES = {
    "two iterators": "for (int j = 0, k = m - 1; j < k; j++, k--) c[i] += a[j] * a[k];",
    "two iterators of before": (
        "int j, k; for (j = 0, k = j + 2; j < m; ++j, k = j * 2) c[i] += k - a[j]; c[i] += j + k;"
    ),
    "backwards": "for (int j = 0, k = m - 1; j < m; j++, k--) { if (a[j] & 1) continue; c[j] = a[k] + k; }",
    "backwards from 2": "for (int j = 2, k = m, l = 0; j < m && a[j]; ++j, k -= 1, l++) c[j] = a[k - 2] + l;",
    "changed in the body": "for (int j = 0, k = m; j < m; j++, k--) { if (a[j] & 1) k++; c[i] += k; }",
    "start that changes": "int e = m; for (int j = 0, k = e; j < m; j++, k--) { e++; c[i] += k - e; }",
    "iterator changed in the body": "for (int j = 0; j < m; j++) { c[j] += 1; if (a[j] & 1) j++; }",
    "step that reads": "for (int j = 0, k = 0; j < m; j++, k += j) c[i] += k;",
    "step before": "for (int j = 0, k = 0; j < m; k += j, j++) c[i] += k;",
    "continue over steps": "for (int j = 0, k = 9; j < m; j++, k--) { if (a[j] & 1) continue; c[i] += k; }",
    "break from steps": "int k = 9; for (int j = 0; j < m; j++, k--) if (a[j] > 20) break; c[i] = k;",
    "cast to void": (
        "int k = m, e[2]; (void)k; (void)n, ((void)(c)); (void)e; (void)0; (void)k--; (void)(k -= 2); "
        "n > 2 ? (void)k++ : (void)m; if (n > 4) (void)n; else (void)(c[i] += 3); c[i] += k;"
    ),
    "a pointer cast to void": "int *p = a + 1; (void)p; (void)*p++; (void)(p += 1); c[i] += *p;",
    "ahead of the bound": "for (unsigned j = 0; j + 3 < m; j += 4) c[j] += a[j + 3] + (int)j;",
    "ahead, and mirrored": "for (unsigned long j = m - 3; m > 2 + j; j++) c[j] += a[j] * (int)j;",
    "ahead, with more": "for (unsigned j = 1, k = 5; j + 1 <= m && a[j] < 25; j++, k--) c[j] += a[k] + (int)k;",
    "ahead and wrapping": "for (unsigned j = 0u - 2; j + 2 < m; j++) c[j + 2] += (int)j;",
    "ahead in less than int": "for (unsigned char j = 250; j + 1 < 256; j++) c[j - 250] += j;",
    "ahead of an unsigned start": "for (unsigned long j = 2u - 3; j + 1 < m; j++) c[j] += 1;",
    "ahead by an unsigned number": "for (int j = -2; j + 1u < m; j++) c[j + 2] += 1;",
    "ahead by a long number": "for (unsigned j = m - 5; j + 1L < m; j++) c[j] += 1;",
    "ahead, and read behind": "unsigned j; for (j = 0; j + 2 < m; j++) c[j] += 1; c[i] += (int)j;",
    "counted down in the condition": "for (unsigned long j = m; j-- > 0;) { c[i] = c[i] * 3 % 1000 + a[j]; }",
    "counted down to nothing": "for (int j = m; j--;) c[j] += a[j] + c[j + 1];",
    "counted down, with more": (
        "for (unsigned j = m, k = 0; j-- != 0 && a[j] < 28; k += 2) { if (a[j] & 1) continue; c[k] += (int)j; }"
    ),
    "counted down, changed in the body": "for (int j = m; j-- > 0;) { c[j] += 1; if (a[j] & 1 && j > 1) j--; }",
    "counted down, read behind": "int j; for (j = m; j-- > 2;) c[j] += 1; c[i] += j;",
    "parentheses": "for (int j = 0; j < m; j++) (c)[j] += (a + 1)[j] - (&a[j])[2] + (a)[(j)];",
    "second condition": "int j; for (j = 0; j < m && a[j] < 20; j++) c[i] += a[j]; c[i] += j;",
    "first of two conditions": "for (int j = 0, go = 1; go && j < m; j++) if (a[j] > 20) go = 0; else c[i]++;",
    "bound with an offset": "int j; for (j = 0; j + 3 < m; j += 4) c[i] += a[j + 3]; for (; j < m; j++) c[i] -= a[j];",
    "bound that wraps": "unsigned j, e = m % 3; for (j = 0; j + 3 < e; j += 4) c[i]++; for (; j < e; j++) c[i] += 5;",
    "difference that wraps": "unsigned e = m % 3, j; for (j = 5; j - 4 < e; j++) c[i] += j;",
    "by factors": "for (int j = 1; j < m; j *= 2) c[i] += a[j]; for (int j = m; j; j >>= 1) c[i] ^= j;",
    "for ever": "int j = 0; for (;;) { if (++j > m) break; c[i] += j; }",
    "no body": "int j; for (j = 0; j < m && a[j]; j++) ; c[i] = j;",
    "while that counts": "int j = 3; while (j < m) { c[i] += a[j]; j++; } c[i] += j;",
    "while behind another value": "int j = m; j = j - 7; while (j < m) { c[i] += a[j + 3]; j += 2; } c[i] += j;",
    "while down": "int j = m; while (j--) c[i] = c[i] * 3 + a[j]; c[i] += j;",
    "while that never ends so": "int j = 5; while (j > 2) { c[i]++; if (c[i] > 90) break; j++; }",
    "narrow counter": "unsigned char b = 250; int k = 0; while (b++) k++; c[i] = k + b;",
    "float counter": "float x = 0; while (x++ < 3) c[i] += (int)x; for (float y = 0; y < 1; y += 0.25f) c[i]++;",
    "do with a step": "int j = 0; do c[i] += j; while (++j < m && a[j]);",
    "do with continue": "int j = 0; do { if (j & 1) continue; c[i] += j; } while (j++ < m);",
    "do once": "do { c[i]++; if (m > 3) break; c[i]++; } while (0); do { c[i] += 5; } while (0);",
    "subscript that steps": "int k = 0; for (int j = 0; j < m; j++) if (a[j] & 1) c[k++] = a[j]; c[k] = k;",
    "step of an element": "c[0]++; ++c[1]; c[2]--; int k = 0; c[k++]++; c[k]--; c[i] += k;",
    "step of a local array": "int h[3] = {1, 2, 3}; if (h[m % 3]++ > 1) c[i] = h[m % 3]; c[i] += h[0]--; c[i] += h[0];",
    "values of steps": "int k = m, l; l = k++; l += ++k; l -= k--; c[i] = l * 10 + k--; c[i] += k;",
    "chained": "int x, y; x = y = m; c[0] = c[1] = c[2] = x += 2; c[3] = (x = 0) + y; c[i] += x;",
    "chained conversions": (
        "unsigned char b; int k; k = b = 300; c[0] = k; float f; k = f = 1.5f; c[i] = k + (f > 1.2f);"
    ),
    "assignment in a condition": "int v; if ((v = a[2]) > 3 && v < 100) c[i] = v; while ((v = v / 2)) c[i] += v;",
    "only sometimes": (
        "int k = 0; if (m > 3 && k++ < 1 || k-- > 5) c[i] = k; "
        "c[i] += k; k && (c[i] += 4); c[i] += k || (k = 3);"
    ),
    "either": "int k = 1; m > 3 ? k++ : (k = 9); k = m & 1 ? k++ + 0 : --k; int l = m > 2 ? 4 : 5; c[i] = k + l;",
    "choice with effects": "int k = 1; int l; l = m & 1 ? a[k++] : a[--k]; c[i] = l + k;",
    "comma": "int k, l; k = 1, l = 2; c[i] = (k += l, k * 2); for (k = 0, l = 5; k < l; k++, l--) c[i]++;",
    "pointers": "const int *p = a, *q = a + m; int s = 0; while (p < q) s += *p++; c[i] = s + (int)(p - a);",
    "pointer that writes": "int *d = c; const int *s = a; for (int j = 0; j < m; j++) *d++ = *s++ + 1; *--d = 7;",
    "pointer that counts": (
        "for (const int *p = a; p < a + m; p++) c[i] += *p; "
        "for (const int *p = a + m - 1; p >= a; --p) c[i] ^= *p;"
    ),
    "pointer in a condition": "const int *p = a; int k = 0; while (k++ < m && *p++ < 25) c[i] = *p; c[i] += k;",
    "pointer to a local array": "int t[4], *q = t; for (int k = 0; k < 4; k++) *q++ = a[k]; c[i] = t[0] - t[3];",
    "switch": "switch (m % 4) { case 0: c[i] = 1; break; case 1: case 2: c[i] = 2; break; default: c[i] = 3; }",
    "switch that goes on": (
        "switch (a[3] % 4) { default: c[i] = 9; case 1: c[i] += 1; break; "
        "case 2: c[i] += 3; case 3: c[i] *= 2; }"
    ),
    "switch with jumps": (
        "for (int j = 0; j < m; j++) { switch (a[j] % 5) { case 0: continue; case 1: if (j > 3) break; c[i] += 7; "
        "break; case 2: c[i] ^= 5; case 3: { c[i]++; break; } } c[i] *= 3; c[i] %= 1000; }"
    ),
    "switch without default": "int k = 2; switch (k++) { case 2: c[i] = k; break; case 3: c[i] = 50; }",
    "hidden names": (
        "int s = 1; for (int k = 0; k < 4; k++) { int v = k; for (int k = 0; k < 2; k++) { int v = k + 5; s += v; } "
        "{ int s[2] = {4, 5}; v += s[k & 1]; } if (v) { float k = 0.5f; v += k * 4; } s = s * 2 + v; } c[i] = s;"
    ),
    "sizes": (
        "int w[5] = {1}; c[i] = sizeof(int) + sizeof(double) * 2 "
        "+ sizeof w / sizeof(w[0]) + sizeof(short) + w[0];"
    ),
    "continue at depth": (
        "for (int j = 0; j < m; j++) { if (a[j] > 5) { c[i]++; if (a[j] & 1) continue; c[i] += 2; } else { if (j > 4) "
        "continue; } c[i] *= 3; c[i] %= 777; }"
    ),
    "static table": "static const int w[3] = {1, 2, 3}; c[i] = w[m % 3];",
}


def read(text: str) -> tuple[tuple[Stmt, ...], DiagnosticSink]:
    """The statements of a text as the rest of the tool sees them."""
    sink = DiagnosticSink()
    origin = Origin(SourceFile("t.mf", text), sink)
    inside = list(tokens(origin))
    name = Namer([*WORDS, *(token.text for token in inside if token.type == "NAME")])
    body = region_body(
        inside, Token("$END", "", len(text), len(text), origin), SCALARS, name, has_parallel=False
    )
    return without_pointers(body, ARRAYS, name, sink), sink


def test_what_is_taken_apart_computes_what_it_was(tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("there is no C compiler")
    head = "(int n, int m, int i, const int *a, int *c)"
    lines = ["#include <stdio.h>", "#include <string.h>"]
    for number, body in enumerate(BODIES.values()):
        statements_read, sink = read(body)
        assert sink.diagnostics == (), body
        lines += [f"static void given{number}{head} {{ {body} }}"]
        lines += [f"static void found{number}{head} {{ {print_stmts(statements_read)} }}"]
    lines += [
        "int main(void) {",
        "int a[64], c[64], d[64]; for (int k = 0; k < 64; k++) a[k] = k * 37 % 29 + (k & 3);",
    ]
    lines += ["for (int m = 4; m < 14; m++) {"]
    for number in range(len(BODIES)):
        call = f"{number}(20, m, 40, a, "
        lines += [
            "for (int k = 0; k < 64; k++) c[k] = d[k] = k;",
            f"given{call}c); found{call}d);",
            f'if (memcmp(c, d, sizeof c)) printf("%d at {number}\\n", m);',
        ]
    lines += ["} return 0; }"]
    source, program = tmp_path / "t.c", tmp_path / "t"
    source.write_text("\n".join(lines))
    subprocess.run([*compiler.command, "-std=c11", "-O0", "-w", "-o", str(program), str(source)], check=True)
    found = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    wrong = {list(BODIES)[int(line.split()[-1])] for line in found.splitlines()}
    assert wrong == set()


COUNTED = [
    "two iterators",
    "bound with an offset",
    "ahead of the bound",
    "ahead, with more",
    "counted down in the condition",
    "counted down, with more",
    "while that counts",
    "second condition",
    "pointer that counts",
]


@pytest.mark.parametrize("name", COUNTED)
def test_a_loop_that_counts_is_no_while_loop(name: str) -> None:
    body, _ = read(BODIES[name])
    assert not any(isinstance(s, While | DoWhile) for s in statements_in(body))


def test_a_second_iterator_is_computed_from_the_first() -> None:
    body, _ = read("for (int j = 0, k = m - 1; j < m; j++, k--) c[j] = a[k];")
    assert print_stmts(body) == "for (int j = 0; j < m; j++) {\n  int k = m - 1 - j;\n  c[j] = a[k];\n}\n"


@pytest.mark.parametrize("name", ["continue over steps", "switch with jumps"])
def test_continue_becomes_a_condition(name: str) -> None:
    body, _ = read(BODIES[name])
    assert not any(isinstance(s, Continue) for s in statements_in(body))


def test_a_parallel_loop_may_continue() -> None:
    loop = "meta_for (int i = 0; i < n; i++) { if (a[i] < 0) continue; c[i] = a[i]; }"
    _, sink = parse_text(f"void f(int n, const int *a, int *c) {{ meta_schedule block(4) {{ {loop} }} }}")
    assert sink.diagnostics == ()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("size_t i = 1; i + 1 < n; i++", "size_t i = 2; i < n; i++"),
        ("int i = 0; n > 3 + i; i += 2", "int i = 3; i < n; i += 2"),
        ("int i = n; i + 1 > 0; i--", "int i = n + 1; i > 0; i--"),
    ],
)
def test_the_condition_of_a_parallel_loop_may_look_ahead(header: str, expected: str) -> None:
    ahead = int(expected.split("= ")[1][0]) - int(header.split("= ")[1][0]) if "= n" not in header else 1
    loops = (
        f"meta_for ({header}) {{ c[i] = a[i]; }}",
        f"meta_for ({expected}) {{ c[i - {ahead}] = a[i - {ahead}]; }}",
    )
    printed: list[str] = []
    for loop in loops:
        text = f"#include <stddef.h>\nvoid f(int n, const int *a, int *c) {{ meta_schedule block(4) {{ {loop} }} }}"
        program, sink = parse_text(text)
        assert sink.diagnostics == ()
        assert program is not None
        printed.append(print_stmts(program.functions[0].regions[0].body))
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    "header",
    [
        "unsigned char i = 0; i + 1 < n; i++",
        "int i = 0; i + 1u < n; i++",
        "int i = 0; i + 1L < n; i++",
        "unsigned i = 0; i + 1L < n; i++",
    ],
)
def test_a_sum_of_another_type_is_not_looked_ahead_to(header: str) -> None:
    loop = f"meta_for ({header}) {{ c[i] = a[i]; }}"
    _, sink = parse_text(f"void f(int n, const int *a, int *c) {{ meta_schedule block(4) {{ {loop} }} }}")
    assert [d.code for d in sink.diagnostics] == ["CF0122"]


def test_what_cannot_have_a_subscript_is_told() -> None:
    _, sink = read("c[i] = (n > 3 ? a : c)[i];")
    assert "CF0113" in [d.code for d in sink.diagnostics]
