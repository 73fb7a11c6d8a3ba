"""The reason kept of a command that refuses a kernel, and the files that a kernel leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.gpu import native
from benchmarks.gpu.everyday import prepare
from benchmarks.gpu.everyday.programs import BY_NAME

DOCUMENT = {
    "diagnostics": [
        {"severity": "warning", "code": "CF0222", "message": "a constant is cut off"},
        {"severity": "error", "code": "CF0201", "message": "'N' is not declared"},
        {"severity": "error", "code": "CF0201", "message": "'M' is not declared"},
    ]
}


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_the_first_error_of_a_document_is_the_reason() -> None:
    told = f"import sys; print({json.dumps(DOCUMENT)!r}); sys.exit(1)"
    assert prepare.refusal(python(told)) == "CF0201: 'N' is not declared"


def test_without_a_document_the_last_line_is() -> None:
    assert (
        prepare.refusal(python("import sys; print('usage'); sys.exit('Usage: x\\nError: no')")) == "Error: no"
    )
    assert prepare.refusal(python("import sys; sys.exit(70)")) == "status 70"


def test_a_command_that_succeeds_refuses_nothing() -> None:
    assert prepare.refusal(python("print('{}')")) == ""


def test_a_command_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "LIMIT_S", 0.1)
    assert prepare.refusal(python("import time; time.sleep(60)")) == "no end after 0.1 s"


GENERATOR = """
import pathlib, sys
source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[3])
if "omp" in source.stem:
    sys.exit("Error: No such option '--pragma'.")
for suffix in (".cu", ".h", ".json", ".tree.json", ".leaf0.mf"):
    (output / (source.stem + suffix)).write_text("generated")
"""


def test_a_kernel_leaves_what_is_timed_or_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "GEN", (*python(GENERATOR),))
    kept = tmp_path / "saxpy_declared"
    assert prepare.generated(BY_NAME["saxpy_declared"], kept) == ""
    assert {path.name for path in kept.iterdir()} == {f"saxpy_declared{suffix}" for suffix in prepare.KEPT}

    reason = "Error: No such option '--pragma'."
    for _ in range(2):  # what an earlier run has left is gone
        (kept / "stale.cu").touch()
        assert prepare.generated(BY_NAME["saxpy_omp"], kept) == reason
        assert [path.name for path in kept.iterdir()] == [native.REFUSED]
        assert (kept / native.REFUSED).read_text(encoding="utf-8") == f"{reason}\n"


def test_options_of_kernels() -> None:
    assert BY_NAME["dot_omp"].options == ("--pragma", "omp", "--reassociate")
    assert BY_NAME["matmul_linear"].options == ()
