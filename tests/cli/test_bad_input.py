"""Bad input ends in diagnostics with places and help and in the documented exit code, never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.codegen import host
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler

HEAD = "void f(int n, int m, float a[n], float b[n], int idx[n], int B)\n{\n"
OPEN = """  meta_schedule {
    meta_for (int i = 0; i < (n + B - 1) / B; i++)
      meta_for (int j = 0; j < B; j++) {
        int p = i * B + j;
        if (p < n) {
"""
CLOSE = "        }\n      }\n  }\n}\n"


def program(body: str) -> str:
    return HEAD + OPEN + "          " + body + "\n" + CLOSE


def gen(tmp_path: Path, text: str | bytes, *options: str) -> Result:
    source = tmp_path / "f.mf"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    arguments = ["gen", str(source), "-o", str(tmp_path / "out"), "--registers", "estimate", *options]
    return CliRunner().invoke(cli, arguments)


def assert_refused(result: Result, code: str, *words: str) -> None:
    assert result.exit_code == 1, result.output
    assert f"[{code}]" in result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (b"", "CF0104", ("meta_schedule",)),
        (b"\x7fELF\x00\x01\x02", "CF0102", ()),
        (b"int main(void) { return 0; }\n", "CF0104", ()),
        (b"/* never closed\nvoid f(void) { meta_schedule {} }", "CF0105", ()),
        (program("a[p] = " + "(" * 300 + "1" + ")" * 300 + ";").encode(), "CF0108", ()),
        (program("a[p] = " + "(" * 10000 + "1" + ")" * 10000 + ";").encode(), "CF0103", ()),
        (b"x" * (10 << 20), "CF0103", ()),
    ],
    ids=["empty", "binary", "no region", "open comment", "300 parentheses", "10,000 parentheses", "10 MB"],
)
def test_a_file_that_is_no_program_is_refused(
    tmp_path: Path, text: bytes, code: str, words: tuple[str, ...]
) -> None:
    assert_refused(gen(tmp_path, text), code, *words)
    assert not (tmp_path / "out").exists()


def test_unbalanced_braces_are_located(tmp_path: Path) -> None:
    result = gen(tmp_path, HEAD + OPEN + "a[p] = 1.0f;\n")
    assert result.exit_code == 1
    assert "f.mf:" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("goto end;", ("goto",)),
        ("return;", ("return",)),
        ("*(1 + p) = 0.0f;", ("f.mf:8:11",)),
        ("a[p] = frobnicate(b[p]);", ("frobnicate",)),
        ("a[p] = undeclared;", ("undeclared",)),
        ("break;", ("break",)),
        ("p = 3; d[p] = 0.0f;", ("'d'",)),
        ("i = 0;", ("'i'",)),
        ("a[p] = b[p]", ("f.mf:",)),
    ],
)
def test_what_a_region_does_not_support_is_named(tmp_path: Path, body: str, words: tuple[str, ...]) -> None:
    result = gen(tmp_path, program(body))
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output


def test_several_errors_are_reported_in_one_run(tmp_path: Path) -> None:
    result = gen(tmp_path, program("a[q] = 0.0f; c[p] = b[r];"))
    assert result.output.count("error:") >= 3


def test_a_meta_for_that_carries_a_dependence_is_an_error_with_two_iterations(tmp_path: Path) -> None:
    result = gen(tmp_path, program("if (p > 0) a[p] = a[p - 1] + 1.0f;"))
    assert_refused(result, "CF0401", "note:", "p" if "p =" in result.output else "j")


@pytest.mark.parametrize("command", ["gen", "tree", "check"])
def test_asserts_that_contradict_each_other_are_shown_at_their_lines(tmp_path: Path, command: str) -> None:
    asserts = "  assert(B < 4);\n  assert(n > m);\n  assert(B > 9);\n"
    source = tmp_path / "f.mf"
    source.write_text(program("a[p] = b[p];").replace("{\n", "{\n" + asserts, 1))
    arguments = [command, str(source), "--registers", "estimate"]
    result = CliRunner().invoke(
        cli, [*arguments, *(["-o", str(tmp_path / "out")] if command == "gen" else [])]
    )
    assert_refused(result, "CF0403", "f.mf:3:10: error:", "f.mf:5:10: note: 'B > 9'", "help:")
    assert "n > m" not in result.output
    assert not (tmp_path / "out").exists()


def test_an_assert_that_a_role_excludes_shows_the_parameter(tmp_path: Path) -> None:
    text = program("a[p] = b[p];").replace("{\n", "{\n  assert(B < 0);\n", 1)
    assert_refused(gen(tmp_path, text), "CF0403", "f.mf:3:10: error:", "f.mf:1:", "'B' is at least 1")


def test_a_subscript_out_of_bounds_is_an_error_with_a_point(tmp_path: Path) -> None:
    assert_refused(gen(tmp_path, program("a[p] = b[p + 1];")), "CF0402", "note:")


@pytest.mark.parametrize(
    "body",
    [
        "b[p] = a[idx[p]];",
        "for (int k = 0; k < idx[p]; k++) b[p] = b[p] + a[k];",
        "float s = 0.0f; int k = 0; while (k < p) { s += a[k]; k++; } b[p] = s;",
        "float s = 0.0f; int k = 0; do { s += a[p]; k++; if (k > 3) break; } while (k < 9); b[p] = s;",
        "for (int k = 0; k < 4; k++) { if (a[p] < 0.0f) continue; b[p] = a[p] * k; }",
    ],
    ids=["indirect", "data-dependent bound", "while", "do and break", "continue"],
)
def test_what_polyhedra_cannot_see_is_generated_all_the_same(tmp_path: Path, body: str) -> None:
    result = gen(tmp_path, program(body))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "f.cu").is_file()


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (0, ("gave 2.5, which is a float", "Polynomial")),
        (1, ("is 0 at B = ", "divide by")),
    ],
    ids=["float", "denominator"],
)
def test_a_counter_that_returns_no_value_is_an_error_at_the_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: int, words: tuple[str, ...]
) -> None:
    from comprehensive.algebra import Polynomial, RationalFunction
    from comprehensive.counters.shared_words import SharedWords
    from comprehensive.optimize.protocols import Evaluation

    difference = Polynomial.symbol("B") - Polynomial.symbol("n")
    value: Any = 2.5 if not below else RationalFunction(1, difference)
    monkeypatch.setattr(SharedWords, "evaluate", lambda *_: Evaluation(value, "table"))
    assert_refused(gen(tmp_path, program("a[p] = b[p];")), "CF0720", "f.mf:3:3: error:", "help:", *words)
    assert not (tmp_path / "out").exists()


def test_what_a_solver_leaves_undecided_is_kept_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from comprehensive.algebra import Inconsistent, PortfolioSolver, System, Unknown, Verdict

    decide = PortfolioSolver.check

    def gives_up(solver: PortfolioSolver, system: System) -> Verdict:
        verdict = decide(solver, system)
        return verdict if isinstance(verdict, Inconsistent) else Unknown("the budget is used up")

    monkeypatch.setattr(PortfolioSolver, "check", gives_up)
    assert gen(tmp_path, program("a[p] = b[p];")).exit_code == 0
    arguments = [str(tmp_path / "f.mf"), "--registers", "estimate"]
    text = CliRunner().invoke(cli, ["tree", *arguments]).stdout
    assert " undecided" in text.splitlines()[1]
    assert "(undecided: the budget is used up)" in text
    document = json.loads(CliRunner().invoke(cli, ["tree", *arguments, "--json"]).stdout)
    assert json.dumps(document).count("the budget is used up") > 1
    explained = CliRunner().invoke(cli, ["explain", *arguments, "-D", "B=64"])
    assert explained.exit_code == 0, explained.output
    assert "leaf 0 runs" in explained.stdout


def test_an_indirect_write_is_a_warning_that_names_the_term_and_an_error_on_request(tmp_path: Path) -> None:
    text = program("a[idx[p]] = b[p];")
    result = gen(tmp_path, text)
    assert result.exit_code == 0, result.output
    assert "warning:" in result.output
    assert "[CF0411]" in result.output
    assert "idx[p]" in result.output
    strict = gen(tmp_path, text, "-Werror")
    assert strict.exit_code == 1
    assert "error:" in strict.output
    assert "[-Werror] [CF0411]" in strict.output
    assert "warning:" not in strict.output


def test_a_product_of_iterators_is_a_warning_that_names_the_term(tmp_path: Path) -> None:
    result = gen(tmp_path, program("a[i * j] = 1.0f;"))
    assert result.exit_code == 0 or "[CF0401]" in result.output, result.output
    assert "i * j" in result.output or "i*j" in result.output


def test_an_output_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file in the way")
    assert_refused(gen(tmp_path, program("a[p] = b[p];")), "CF0620", "-o")
    assert (tmp_path / "out").read_text() == "a file in the way"


def test_an_existing_output_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "f.h").write_text("/* Generated by comprehensive 0.0.1 from f.mf; do not edit. */")
    (out / "mine.txt").write_text("kept")
    assert gen(tmp_path, program("a[p] = b[p];")).exit_code == 0
    assert "0.0.1" not in (out / "f.h").read_text()
    assert (out / "mine.txt").read_text() == "kept"
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["gen", str(tmp_path / "no.mf")])
    assert result.exit_code == 1
    assert "no.mf" in result.output


def test_host_code_that_is_no_cpp_is_refused_unless_nothing_is_verified(tmp_path: Path) -> None:
    if find_cxx_compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    text = program("a[p] = 1;").replace(OPEN, "  int *q = malloc(4);\n" + OPEN)
    assert_refused(
        gen(tmp_path, "#include <stdlib.h>\n" + text), "CF0631", "malloc", "f.mf:4:3", "--no-verify"
    )
    assert not (tmp_path / "out").exists()
    written = gen(tmp_path, "#include <stdlib.h>\n" + text, "--no-verify", "--json")
    assert written.exit_code == 0
    assert json.loads(written.stdout)["verified"] == []


def test_generated_code_that_does_not_compile_is_a_bug_and_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_c_compiler() is None:
        pytest.skip("no C compiler on this machine")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["comprehensive", "gen", str(tmp_path / "f.mf")])
    monkeypatch.setattr(host, "render_template", lambda *_, **__: "no C at all")
    result = gen(tmp_path, program("a[p] = 1;"))
    assert (result.exit_code, "[CF0630]" in result.output) == (70, True)
    (place,) = tmp_path.glob("comprehensive-crash-*")
    assert (place / "f.h").read_text(encoding="utf-8") == "no C at all"
    assert {path.name for path in place.iterdir()} >= {"report.txt", "f.mf", "f.h", "f.cu"}
    assert not (tmp_path / "out").exists()
