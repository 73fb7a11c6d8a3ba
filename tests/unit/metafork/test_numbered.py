"""Loops in larger steps whose ranges have to do with others are cut as they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError
from comprehensive.driver import Options, compile_file
from comprehensive.verification import verify

HEADERS = {
    "colours": "int j = 1 + (i & 1); j < n - 1; j += 2",
    "colours down": "int j = n - 2 - (i & 1); j > 0; j -= 2",
    "a triangle": "int j = 0; j <= i; j += 3",
    "a triangle down": "int j = i; j >= 2; j -= 3",
}


def compiled(text: str, folder: Path) -> Path:
    path = folder / "f.mf"
    path.write_text(text, encoding="utf-8")
    return path


def over(header: str, statement: str = "a[i][j] = a[i][j] * 2 + i;") -> str:
    return (
        "void f(int n, float a[n][n], int B0, int B1)\n{\n  meta_schedule block(B0, B1) {\n"
        f"    meta_for (int i = 0; i < n; i++)\n      meta_for ({header}) {{ {statement} }}\n  }}\n}}\n"
    )


@pytest.mark.parametrize(
    "name", [name if name == "colours" else pytest.param(name, marks=pytest.mark.slow) for name in HEADERS]
)
def test_kernels_do_the_iterations_of_the_loops(name: str, tmp_path: Path) -> None:
    path = compiled(over(HEADERS[name]), tmp_path)
    report = verify(compile_file(path, Options(registers="estimate")), points=3, run=True)
    assert report.holds
    assert report.runs
    assert sum(run.runs for run in report.runs) > 0


def test_a_loop_over_what_a_loop_in_larger_steps_begins_with_is_cut(tmp_path: Path) -> None:
    text = over("int j = i; j < n; j++").replace("i++", "i += 2")
    assert verify(
        compile_file(compiled(text, tmp_path), Options(registers="estimate")), points=2, run=True
    ).holds


def test_witnesses_speak_of_the_loops_of_the_program(tmp_path: Path) -> None:
    path = compiled(over(HEADERS["colours"], "a[i][0] = a[i][j];"), tmp_path)
    with pytest.raises(CompileError) as error:
        compile_file(path, Options(registers="estimate"))
    (said,) = [d for d in error.value.diagnostics if d.code == "CF0401"]
    texts = " ".join((said.message, *(note.message for note in said.notes)))
    assert "'meta_for j'" in texts
    assert "number" not in texts


def test_a_loop_that_assigns_such_an_iterator_is_refused(tmp_path: Path) -> None:
    path = compiled(over(HEADERS["colours"], "a[i][j] = 1; j = j + 2;"), tmp_path)
    with pytest.raises(CompileError) as error:
        compile_file(path, Options(registers="estimate"))
    assert [d.code for d in error.value.diagnostics] == ["CF0323"]
