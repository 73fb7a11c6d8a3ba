"""Outputs are written all together, only when they changed, and never half."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from comprehensive.codegen.emit import depfile, write_outputs
from comprehensive.diagnostics import CompileError


def test_only_changed_files_are_written(tmp_path: Path) -> None:
    assert write_outputs(tmp_path, {"a.h": "one", "b.cu": "two"}) == ("a.h", "b.cu")
    before = (tmp_path / "a.h").stat().st_mtime_ns
    assert write_outputs(tmp_path, {"a.h": "one", "b.cu": "three"}) == ("b.cu",)
    assert (tmp_path / "a.h").stat().st_mtime_ns == before
    assert (tmp_path / "b.cu").read_text() == "three"


def test_a_failure_leaves_every_output_as_it_was_and_no_temporary_file(tmp_path: Path) -> None:
    write_outputs(tmp_path, {"a.h": "old"})
    (tmp_path / "b.cu").mkdir()
    with pytest.raises(CompileError) as caught:
        write_outputs(tmp_path, {"a.h": "new", "b.cu": "text"})
    assert caught.value.diagnostics[0].code == "CF0620"
    assert (tmp_path / "a.h").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.h", "b.cu"]


def test_a_directory_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(CompileError):
        write_outputs(tmp_path / "out", {"a.h": "x"})


def test_depfile_escapes_what_make_would_read_otherwise() -> None:
    assert depfile(["out/a b.h"], ["in#1.mf", "t.j2"]) == "out/a\\ b.h: in\\#1.mf \\\n  t.j2\n"
