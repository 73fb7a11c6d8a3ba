"""Local pointers, ``*``, ``&`` and character constants: the arrays and numbers that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive import verification
from comprehensive.driver import Options, compile_file
from comprehensive.metafork.printer import print_stmts
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.examples import quick_of
from tests.unit.metafork.trees import parse_text

HEAD = "void f(int n, int m, const float *a, const float c[n][m], float *b, const int *at, unsigned u)\n"

REPLACED = {
    "row": ("const float *r = a + i*m; b[i] = r[2];", "b[i] = a[i * m + 2];"),
    "row of two dimensions": ("const float *r = c[i]; b[i] = r[m - 1];", "b[i] = c[i][m - 1];"),
    "address": ("const float *r = &c[i][1]; b[i] = *r + r[1];", "b[i] = c[i][1 + 0] + c[i][1 + 1];"),
    "back": ("const float *r = a + m - 1; b[i] = r[-i];", "b[i] = a[(long)m - 1 + -i];"),
    "of a pointer": (
        "const float *r = a + i; const float *q = r + m; b[i] = q[1];",
        "b[i] = a[(long)i + m + 1];",
    ),
    "without a sign": ("const float *r = a + m - u + u; b[i] = r[2];", "b[i] = a[(long)m - u + u + 2];"),
    "a literal and a number without a sign": ("b[i] = *(a + 1 - u + n);", "b[i] = a[1L - u + n];"),
    "converted to no sign": ("b[i] = *(a + (unsigned)n - 1 + m);", "b[i] = a[(long)(unsigned)n - 1 + m];"),
    "minus a number without a sign": ("b[i] = *(a - u + n);", "b[i] = a[-(long)u + n];"),
    "store": ("float *r = b + i; *r = 1; r[0] += 2;", "b[i + 0] = 1;\nb[i + 0] += 2;"),
    "several": ("const float *r = a, *q = a + m; b[i] = r[i] + q[i];", "b[i] = a[i] + a[m + i];"),
    "sum": ("*(b + i) = *(a + i*m + 1);", "b[i] = a[(long)(i * m) + 1];"),
    "local array": (
        "float w[2]; float *p = w; p[0] = 1; *(p + 1) = 2; b[i] = w[0] + w[1];",
        "float w[2];\nw[0] = 1;\nw[1] = 2;\nb[i] = w[0] + w[1];",
    ),
    "character": ("b[i] = at[i] == '\\n' ? 'A' : '\\x7f';", "b[i] = at[i] == 10 ? 65 : 127;"),
}

KEPT = {
    "moves": "const float *p = a + i; float s = 0; for (int k = 0; k < m; k++) { s += *p; p += n; } b[i] = s;",
    "moves back": "const float *p = a + i*m + m; float s = 0; for (int k = 0; k < m; k++) { p--; s += *p; } b[i] = s;",
    "is set again": "const float *p = a; float s = p[i]; p = a + i*m; s += p[1]; p = p + 1; b[i] = s + *p;",
    "place changes": "int k = 0; const float *p = a + k; k = m; b[i] = p[i] + k;",
    "place from memory": "const float *p = a + at[i]; b[i] = p[0];",
    "in a branch": "const float *p = a + i; if (i > 1) p += 1; b[i] = *p;",
}
"""Bodies whose pointers become variables of their own."""

CHOSEN = {
    "by a choice": (
        "float *p = i > m ? b : b + n; const float *r = i > m ? a : c[i]; p[i] = r[1];",
        "if (i > m)\nb[(i > m ? 0L : (long)n) + i] = a[1];\nelse\nb[(i > m ? 0L : (long)n) + i] = c[i][1];",
    ),
    "by a condition": (
        "const float *r; int k; if (i > m) { r = a; k = 1; } else r = c[i]; b[i] = r[2];",
        "int k;\nif (i > m) {\nk = 1;\nb[i] = a[2];\n} else {\nb[i] = c[i][2];",
    ),
    "later": ("const float *r; int k = 2; r = a + k; b[i] = r[k];", "int k = 2;\nb[i] = a[k + k];"),
    "two by one condition": (
        "const float *r = u ? a : c[i], *q = u ? c[i] : a; b[i] = r[0] - q[0];",
        "if (u)\nb[i] = a[0] - c[i][0];\nelse\nb[i] = c[i][0] - a[0];",
    ),
    "two by a condition that changes": (
        "int k = u; const float *r = k ? a : c[i]; k = 0; const float *q = k ? a : c[i]; b[i] = r[0] - q[1];",
        "int k = u;\nif (k) {\nk = 0;\nif (k)\nb[i] = a[0] - a[1];\nelse\nb[i] = a[0] - c[i][1];\n"
        "} else {\nk = 0;\nif (k)\nb[i] = c[i][0] - a[1];\nelse\nb[i] = c[i][0] - c[i][1];",
    ),
}
"""Bodies whose pointers a condition chooses."""


def region(body: str) -> str:
    return f"{HEAD}{{\n  meta_schedule block(4) {{ meta_for (int i = 0; i < n; i++) {{ {body} }} }}\n}}\n"


def body_of(text: str) -> str:
    program, sink = parse_text(text)
    assert not sink.has_errors, sink.diagnostics
    (function,) = (item for item in program.functions)
    (schedule,) = function.regions
    found = print_stmts(schedule.body)
    inside = found[found.index("if (i < n)") :]
    return "\n".join(line.strip() for line in inside.splitlines()[1:]).rstrip("}\n")


@pytest.mark.parametrize("name", REPLACED)
def test_a_pointer_is_the_place_in_its_array(name: str) -> None:
    given, wanted = REPLACED[name]
    assert body_of(region(given)).strip() == wanted


@pytest.mark.parametrize("name", CHOSEN)
def test_what_follows_a_choice_is_done_for_each_array(name: str) -> None:
    given, wanted = CHOSEN[name]
    assert body_of(region(given)).strip() == wanted


@pytest.mark.parametrize("name", KEPT)
def test_a_pointer_that_moves_is_a_variable(name: str) -> None:
    assert "long p_first = " in body_of(region(KEPT[name]))


@pytest.mark.parametrize("part", quick_of(range(4), {0}))
def test_functions_with_pointers_compute_what_the_serial_c_does(part: int, tmp_path: Path) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    bodies = (
        [given for given, _ in REPLACED.values()]
        + list(KEPT.values())
        + [given for given, _ in CHOSEN.values()]
    )
    head = HEAD.replace("const float *a", "const float a[n * m + n + 2*m + 4]").replace("void f", "void f{}")
    guard = "if (at[i] >= 0 && at[i] < m) "
    loop = "meta_schedule block(4) { meta_for (int i = 0; i < n; i++)"
    texts = [
        f"{head.format(k)}{{\n  assert(m >= 3);\n  {loop} {guard}{{ {body} }} }}\n}}\n"
        for k, body in enumerate(bodies[part::4])
    ]
    path = tmp_path / "pointers.mf"
    path.write_text("#include <assert.h>\n" + "".join(texts))
    report = verification.verify(compile_file(path, Options(registers="estimate")), points=3, run=True)
    assert report.holds


@pytest.mark.parametrize(
    ("host", "given", "wanted"),
    [
        ("const float *cur = a;", "const float *r = cur + i * m; b[i] = r[2];", "b[i] = cur[i * m + 2];"),
        ("float *to = b + n;", "float *p = &to[i]; *p = 1;", "to[i + 0] = 1;"),
        (
            "const float (*rows)[m] = c;",
            "const float *r = rows[i]; b[i] = r[m - 1];",
            "b[i] = rows[i][m - 1];",
        ),
        (
            "const float *cur = a;",
            "const float *r = cur + i, *e = r + m; b[i] = e - r;",
            "b[i] = (long)i + m - i;",
        ),
    ],
)
def test_a_pointer_may_begin_at_one_of_host_code(host: str, given: str, wanted: str) -> None:
    text = region(given).replace("meta_schedule", f"{host}\n  meta_schedule")
    assert body_of(text).strip() == wanted
