"""Compilers read what is to be written: bugs of the tool and host code that is no C++ are told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from comprehensive.codegen import acceptance
from comprehensive.codegen.acceptance import accepted, kernels_compile
from comprehensive.diagnostics import CompileError, Diagnostic, GeneratedCodeError
from comprehensive.driver import compile_file
from comprehensive.generate import source_texts, write
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.syntax import Complaint, complaint_in
from tests.compiled_specs import OPTIONS

pytestmark = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C or no C++ compiler on this machine"
)

PROGRAM = """HEAD
void f(int n, float *a, int B)
{
  HOST
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      a[i] = 2*a[i];
  }
}
"""


@pytest.fixture(autouse=True)
def _no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its word is tested where it is asked for: the other tests are about the compilers of the host."""
    monkeypatch.setattr(acceptance, "_nvcc_compiles", lambda *_: False)


def written(folder: Path, host: str = "", head: str = "") -> Path:
    path = folder / "f.mf"
    path.write_text(PROGRAM.replace("HOST", host).replace("HEAD", head), encoding="utf-8")
    return path


def asked(path: Path, change: Callable[[str], str] = str) -> tuple[str, ...]:
    """Return the accepted texts of a program after a change of both."""
    compilation = compile_file(path, OPTIONS)
    texts: Mapping[str, str] = {name: change(text) for name, text in source_texts(compilation.plan).items()}
    return accepted("f", texts, compilation.source, "sm_90", None)


def refused(path: Path, change: Callable[[str], str] = str) -> tuple[CompileError, Diagnostic]:
    with pytest.raises(CompileError) as raised:
        asked(path, change)
    (diagnostic,) = raised.value.diagnostics
    return raised.value, diagnostic


def test_what_compiles_is_accepted(tmp_path: Path) -> None:
    assert asked(written(tmp_path)) == ("f.h", "f.cu")


@pytest.mark.parametrize(
    ("head", "host", "line"),
    [
        ("", "int *p = malloc(4);", 4),
        ("", "int d = n; d = ;", 4),
        ("static int h(int n) { return n }", "int d = h(n);", 1),
    ],
)
def test_host_code_that_is_no_cpp_is_an_error_of_the_program(
    tmp_path: Path, head: str, host: str, line: int
) -> None:
    error, diagnostic = refused(written(tmp_path, host, head))
    assert not isinstance(error, GeneratedCodeError)
    assert diagnostic.code == "CF0631"
    assert diagnostic.span is not None
    assert diagnostic.span.position == (line, 3 if line == 4 else 1)


def test_host_code_that_nvcc_takes_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "_nvcc_compiles", lambda *_: True)
    assert asked(written(tmp_path, "cudaFree(0);")) == ("f.h", "f.cu")


def test_a_header_of_the_program_that_is_not_there_leaves_the_source_unread(tmp_path: Path) -> None:
    assert asked(written(tmp_path, head='#include "elsewhere.h"')) == ("f.h",)


def test_a_header_beside_the_program_is_found(tmp_path: Path) -> None:
    (tmp_path / "beside.h").write_text("static int twice(int n) { return 2*n; }\n", encoding="utf-8")
    assert asked(written(tmp_path, "int d = twice(n);", '#include "beside.h"')) == ("f.h", "f.cu")


def test_a_kernel_that_does_not_compile_is_a_bug_at_the_line_of_the_program(tmp_path: Path) -> None:
    error, diagnostic = refused(written(tmp_path), lambda text: text.replace("a[i] = 2", "a[i] = wrong"))
    assert isinstance(error, GeneratedCodeError)
    assert "wrong" in error.texts["f.cu"]
    assert diagnostic.code == "CF0630"
    assert diagnostic.span is not None
    assert diagnostic.span.text == "a[i] = 2*a[i];"
    assert "wrong" in diagnostic.message


def test_a_header_that_does_not_compile_is_a_bug(tmp_path: Path) -> None:
    error, diagnostic = refused(
        written(tmp_path), lambda text: text.replace("int f_launch(", "int f_launch(new ")
    )
    assert isinstance(error, GeneratedCodeError)
    assert diagnostic.code == "CF0630"
    assert "f.h" in diagnostic.message


def test_kernels_that_nvcc_rejects_are_a_bug() -> None:
    log = 'kernels.cu(3): error: identifier "wrong" is undefined'
    with pytest.raises(GeneratedCodeError) as raised, kernels_compile("text"):
        raise SourceRejectedError(["nvcc"], log)
    assert raised.value.texts == {"kernels.cu": "text"}
    with pytest.raises(SourceRejectedError), kernels_compile("text"):
        raise SourceRejectedError(["nvcc"], "nvcc fatal: no such architecture")


def test_nothing_is_written_of_what_does_not_compile(tmp_path: Path) -> None:
    compilation = compile_file(written(tmp_path, "int *p = malloc(4);"), OPTIONS)
    out = tmp_path / "out"
    with pytest.raises(CompileError):
        write(compilation, out, OPTIONS)
    assert not out.exists()
    assert write(compilation, out, OPTIONS, verify=False).verified == ()
    assert (out / "f.cu").exists()


def test_without_compilers_nothing_is_accepted_and_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert asked(written(tmp_path, "int *p = malloc(4);")) == ()


def test_a_compiler_that_does_not_run_to_its_end_accepts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "gcc --no-such-option")
    monkeypatch.setenv("CXX", "false")
    assert asked(written(tmp_path)) == ()


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ("In file included\nf.cu:3:7: error: no type\n", Complaint("f.cu", 3, 7, "no type", False)),
        ("f.c:3: fatal error: x.h: No such file", Complaint("f.c", 3, 0, "x.h: No such file", True)),
        ("f.cu(12): error: identifier", Complaint("f.cu", 12, 0, "identifier", False)),
        ("f.cu(12): error #20: identifier", Complaint("f.cu", 12, 0, "identifier", False)),
        ("f.c:1:1: warning: error: no", None),
        ("cc: error: unrecognized option", None),
        ("", None),
    ],
)
def test_the_first_error_with_a_place_is_read(log: str, found: Complaint | None) -> None:
    assert complaint_in(log) == found
