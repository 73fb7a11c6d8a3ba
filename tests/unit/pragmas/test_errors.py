"""The errors of a directive or its loop stand at its place, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError, DiagnosticSink, render
from comprehensive.driver import Options, compile_file
from comprehensive.loops.build import build
from comprehensive.poly.report import check
from tests.unit.pragmas.sources import LOOP, codes, in_function, read

FOR = "#pragma omp parallel for"
BODIES = {
    "critical": (f"{FOR}\n  for (i = 0; i < n; i++) {{\n#pragma omp critical\n    c[0] += 1;\n  }}\n", "CF1101"),
    "sections": (f"#pragma omp sections\n  {{ }}\n{FOR}\n{LOOP}", "CF1101"),
    "task": (f"#pragma omp task\n  t = 1;\n{FOR}\n{LOOP}", "CF1101"),
    "a barrier in a loop": (f"{FOR}\n  for (i = 0; i < n; i++) {{\n#pragma omp barrier\n    c[i] = 0;\n}}\n", "CF1101"),
    "no such directive": (f"#pragma omp paralel for\n{LOOP}{FOR}\n  for (i = 0; i < n; i++) c[i] = 1;\n", "CF1101"),
    "lastprivate": (f"{FOR} lastprivate(t)\n{LOOP}", "CF1102"),
    "no such clause": (f"{FOR} privat(t)\n{LOOP}", "CF1103"),
    "no loop": (f"{FOR}\n  t = 1;\n", "CF1104"),
    "a while loop": (f"{FOR}\n  while (n > 0) n--;\n", "CF1104"),
    "torn by #else": (f"#ifdef A\n{FOR}\n#else\n#endif\n{LOOP}", "CF1105"),
    "no directive": (LOOP, "CF1106"),
    "a shared iterator": (f"{FOR}\n  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++) m[i][j] = 0;\n", "CF1107"),
    "a shared scalar": (f"{FOR}\n  for (i = 0; i < n; i++) {{ t = a[i]; b[i] = t; }}\n", "CF1107"),
    "a sum without a clause": (f"{FOR}\n  for (i = 0; i < n; i++) t += a[i];\n", "CF1107"),
    "read before assigned": (
        f"{FOR} private(t)\n  for (i = 0; i < n; i++) {{ if (a[i] > 0) t = a[i]; b[i] = t; }}\n",
        "CF1108",
    ),
    "a sum on the host": (f"{FOR} reduction(+: t)\n  for (i = 0; i < n; i++) t += a[i];\n", "CF1109"),
    "a sum that host code reads": (
        f"{FOR} reduction(+: t)\n  for (i = 0; i < n; i++) t += a[i];\n  *b = t;\n  j = t > 0;\n",
        "CF1109",
    ),
    "a type that is not known": (
        f"  __fp16 h;\n{FOR} private(h)\n  for (i = 0; i < n; i++) {{ h = a[i]; b[i] = h; }}\n",
        "CF1110",
    ),
    "a maximum": (f"{FOR} reduction(max: c[0:1])\n  for (i = 0; i < n; i++) c[0] = c[0] > i ? c[0] : i;\n", "CF1111"),
    "too few loops": (f"{FOR} collapse(2)\n{LOOP}", "CF1112"),
    "statements between loops": (
        f"{FOR} collapse(2)\n  for (i = 0; i < n; i++) {{ a[i] = 0; for (int k = 0; k < n; k++) m[i][k] = 0; }}\n",
        "CF1112",
    ),
    "no number of loops": (f"{FOR} collapse(n)\n{LOOP}", "CF1112"),
    "the iterator is assigned": (f"{FOR}\n  for (i = 0; i < n; i++) {{ a[i] = 0; i++; }}\n", "CF1113"),
    "away from the bound": (f"{FOR}\n  for (i = 0; i < n; i--) a[i] = 0;\n", "CF1113"),
    "a bound that changes": (
        f"{FOR} private(j)\n  for (i = 0; i < j; i++) {{ j = n; a[i] = 0; }}\n",
        "CF1113",
    ),
    "two iterators": (f"{FOR}\n  for (i = 0, k = n; i < n; i++, k--) a[i] = 0;\n", "CF1113"),
    "steps by factors": (f"{FOR}\n  for (i = 1; i < n; i *= 2) a[i] = 0;\n", "CF1113"),
    "no start": (f"{FOR}\n  for (; i < n; i++) a[i] = 0;\n", "CF1113"),
    "unequal in steps of 2": (f"{FOR}\n  for (i = 0; i != n; i += 2) a[i] = 0;\n", "CF1113"),
    "no operator": (f"{FOR} reduction(+ t)\n  for (i = 0; i < n; i++) t += a[i];\n  *b = t;\n", "CF1103"),
    "another operator": (f"{FOR} reduction(max: t)\n  for (i = 0; i < n; i++) t += a[i];\n  *b = t;\n", "CF1118"),
    "a race beside a sum": (
        f"{FOR} reduction(+: t)\n  for (i = 1; i < n; i++) {{ a[i] = a[i - 1]; t += a[i]; }}\n  *b = t;\n",
        "CF0401",
    ),
    "read behind the loop": (f"{FOR}\n{LOOP}  if (i == n) t = 1;\n", "CF1117"),
    "a jump": (f"{FOR}\n  for (i = 0; i < n; i++) {{ if (a[i] < 0) break; a[i] = 0; }}\n", "CF0313"),
    "a bound from data": (f"{FOR}\n  for (i = 0; i < c[0]; i++) a[i] = 0;\n", "CF1113"),
    "a bound that there is not": (f"{FOR}\n  for (i = 2; i < k; i++) a[i] = 0;\n", "CF1113"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_what_is_wrong_is_said_with_its_remedy(name: str) -> None:
    body, code = BODIES[name]
    _, said = read(in_function(body))
    first = next(d for d in said if d.code == code)
    assert first.help
    assert (first.span is not None) is (code != "CF1106")
    assert "meta_" not in first.message


def test_two_iterations_show_that_a_variable_is_shared() -> None:
    _, (said,) = read(in_function(BODIES["a shared iterator"][0].replace("i = 0", "i = 3")))
    text = render(said)
    assert "share 'j'" in said.message
    assert "at i = 3 and at i = 4" in text
    assert "'#pragma omp parallel for' says that they are independent" in text
    assert "help: add private(j)" in text


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("t += a[i];", "add reduction(+: t)"),
        ("t -= a[i];", "add reduction(+: t)"),
        ("t *= a[i];", "add reduction(*: t)"),
        ("t = a[i]; b[i] = t;", "add private(t)"),
        ("b[i] = t; t = a[i];", "a serial loop"),
        ("t += a[i]; b[i] = t;", "a serial loop"),
        ("if (a[i] < 0) n = i;", "assign another variable, declared inside of the loop"),
    ],
)
def test_the_advice_about_a_shared_variable_fits_its_use(statement: str, advice: str) -> None:
    _, said = read(in_function(f"{FOR}\n  for (i = 0; i < n; i++) {{ {statement} }}\n"))
    assert advice in (said[0].help or "")


def test_kernels_without_a_parallel_loop_says_why() -> None:
    text = in_function("#pragma acc kernels\n  for (i = 1; i < n; i++) a[i] += a[i - 1];\n")
    _, (said,) = read(text, "acc")
    assert said.code == "CF1114"
    assert "is written at i = " in said.notes[0].message
    assert "used at i = " in said.notes[1].message
    for instead in ("a[i] += a[c[i]];", "{ if (a[i] > t) t = a[i]; }", "{ if (a[i] > 0) break; a[i] = 1; }"):
        assert codes(text.replace("a[i] += a[i - 1];", instead), "acc") == ["CF1114"]


def test_a_scop_needs_an_end_and_a_loop_that_is_proved_to_be_parallel() -> None:
    text = in_function("#pragma scop\n  for (i = 1; i < n; i++) a[i] += a[i - 1];\n#pragma endscop\n")
    _, (said,) = read(text, "scop")
    assert (said.code, "'#pragma scop'" in said.message) == ("CF1114", True)
    assert "'#pragma omp parallel for'" in (said.help or "")
    _, (said,) = read(text.replace("#pragma endscop", ""), "scop")
    assert said.code == "CF1104"
    _, (said,) = read(text.replace("scop", "omp simd", 1), "scop")
    assert said.code == "CF1106"
    assert (said.help or "").endswith("or give --pragma omp")
    assert codes(text, "omp") == ["CF1106"]


@pytest.mark.parametrize(
    ("loops", "code"),
    [
        (  # a sum that host code reads is no error of a loop that is serial
            "  t = 0;\n  for (i = 0; i < n; i++) t += a[i];\n  for (j = 0; j < n; j++) b[j] = t * a[j];\n",
            "CF0215",
        ),
        (
            "  for (i = 0; i < n; i++) {\n    a[i] = b[i];\n    for (j = 0; j < i; j++) a[i] -= a[j];\n  }\n",
            "CF1114",
        ),
        (
            "  for (i = 0; i < n; i++) {\n    c[0] = i;\n    for (j = 0; j < n; j++) m[i][j] = c[0];\n  }\n",
            "CF0215",
        ),
    ],
)
def test_what_host_code_does_counts_once_it_is_known_which_loops_of_a_scop_are_parallel(
    loops: str, code: str
) -> None:
    _, said = read(in_function(f"#pragma scop\n{loops}#pragma endscop\n"), "scop")
    assert {d.code for d in said} == {code}


def test_one_thread_computes_what_threads_cannot_put_together() -> None:
    for step in ("t = 0.5f * t + a[i];", "{ t += a[i]; b[i] = t; }", "{ t += a[i]; t *= 2; }"):
        body = f"{FOR} reduction(+: t)\n  for (i = 0; i < n; i++) {step}\n  *b = t;\n"
        program, (said,) = read(in_function(body))
        assert said.code == "CF1116"
        assert "'t'" in said.message
        assert len(program.functions[0].regions) == 1


def test_sums_of_floats_in_any_order_need_permission(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    body = f"{FOR}\n  for (i = 0; i < n; i++) {{\n#pragma omp atomic\n    a[c[i]] += b[i];\n  }}\n"
    path.write_text(in_function(body), encoding="utf-8")
    with pytest.raises(CompileError) as failed:
        compile_file(path, Options(registers="estimate", pragma="omp"))
    assert "CF0405" in [d.code for d in failed.value.diagnostics]


def test_the_advice_about_rows_speaks_of_no_block_that_the_program_does_not_have() -> None:
    program, _ = read(
        in_function(
            f"{FOR}\n  for (size_t r = 0; r < n; r++) for (size_t k = 0; k < m; k++) a[r * ld + k] = 1;\n",
            "size_t n, size_t m, size_t ld, float *a",
        )
    )
    (nest,) = build(program, DiagnosticSink())
    check(nest, sink := DiagnosticSink())
    (said,) = sink.diagnostics
    assert said.help is not None
    assert said.help.startswith("write 'assert(ld >= m);' before the region")


RACES = {
    "a prefix sum": ("a[i] += a[i - 1];", "a"),
    "neighbours": ("a[i] = b[i] + a[i + 1];", "a"),
    "a histogram": ("c[(int)b[i]] += 1;", "c"),
    "rows": ("for (int k = 0; k < n; k++) m[0][k] += m[i][k];", "m"),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_refused_with_two_iterations(name: str, tmp_path: Path) -> None:
    statement, array = RACES[name]
    path = tmp_path / "f.c"
    path.write_text(
        in_function(f"{FOR}\n  for (i = 1; i < n - 1; i++) {{ {statement} }}\n"), encoding="utf-8"
    )
    with pytest.raises(CompileError) as failed:
        compile_file(path, Options(registers="estimate", pragma="omp"))
    (said,) = [d for d in failed.value.diagnostics if d.code in ("CF0401", "CF0404")]
    text = render(said)
    assert f"'{array}'" in said.message
    assert " at i = " in said.notes[0].message
    assert " at i = " in said.notes[1].message
    assert "meta_" not in text
    assert "B0" not in text.replace(text.partition("note: with")[0], "")
    assert "drop the directive" in (said.help or "")
