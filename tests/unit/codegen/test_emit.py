"""Outputs are written all together, only when they changed, and never half."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.codegen.emit import depfile, is_generated, marked, touch, write_outputs
from comprehensive.codegen.scratch import scratch_folder
from comprehensive.diagnostics import CompileError


def ours(text: str) -> str:
    return marked(text, "0.1.0", "a.mf")


def test_only_changed_files_are_written(tmp_path: Path) -> None:
    assert write_outputs(tmp_path, {"a.h": ours("one"), "b.cu": ours("two")}) == ("a.h", "b.cu")
    before = (tmp_path / "a.h").stat().st_mtime_ns
    assert write_outputs(tmp_path, {"a.h": ours("one"), "b.cu": ours("three")}) == ("b.cu",)
    assert (tmp_path / "a.h").stat().st_mtime_ns == before
    assert (tmp_path / "b.cu").read_text() == ours("three")


def test_a_failure_leaves_every_output_as_it_was_and_no_temporary_file(tmp_path: Path) -> None:
    write_outputs(tmp_path, {"a.h": ours("old")})
    (tmp_path / "b.cu").mkdir()
    with pytest.raises(CompileError) as caught:
        write_outputs(tmp_path, {"a.h": "new", "b.cu": "text"})
    assert caught.value.diagnostics[0].code == "CF0620"
    assert (tmp_path / "a.h").read_text() == ours("old")
    assert sorted(os.listdir(tmp_path)) == ["a.h", "b.cu"]


def test_a_directory_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(CompileError):
        write_outputs(tmp_path / "out", {"a.h": "x"})


def test_depfile_escapes_what_make_would_read_otherwise() -> None:
    assert depfile(["out/a b.h"], ["in#1.mf", "t.j2"]) == "out/a\\ b.h: in\\#1.mf \\\n  t.j2\n"


def test_a_file_that_was_not_generated_is_not_overwritten_unless_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int mine;\n")
    with pytest.raises(CompileError) as caught:
        write_outputs(tmp_path, {"a.h": ours("new"), "b.cu": ours("new")})
    (found,) = caught.value.diagnostics
    assert found.code == "CF0622"
    assert str(tmp_path / "a.h") in found.message
    assert "b.cu" not in found.message
    assert os.listdir(tmp_path) == ["a.h"]
    assert write_outputs(tmp_path, {"a.h": ours("new")}, force=True) == ("a.h",)


def test_the_same_bytes_and_an_empty_file_are_nothing_to_lose(tmp_path: Path) -> None:
    (tmp_path / "same.h").write_text("text")
    (tmp_path / "empty.h").touch()
    assert write_outputs(tmp_path, {"same.h": "text", "empty.h": "text"}) == ("empty.h",)


def test_stale_outputs_are_removed_and_files_of_others_stay(tmp_path: Path) -> None:
    write_outputs(tmp_path, {name: ours("old") for name in ("a.leaf0.mf", "a.leaf1.mf")})
    (tmp_path / "a.leaf2.mf").write_text("by hand")
    stale = ("a.leaf0.mf", "a.leaf1.mf", "a.leaf2.mf", "a.leaf3.mf")
    write_outputs(tmp_path, {"a.leaf0.mf": ours("new")}, stale=stale)
    assert sorted(os.listdir(tmp_path)) == ["a.leaf0.mf", "a.leaf2.mf"]


def test_what_a_killed_run_left_is_removed_by_the_next_one_and_what_a_live_one_has_is_not(
    tmp_path: Path,
) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; "
        "from comprehensive.codegen.scratch import scratch_folder\n"
        "with scratch_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half.h').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert len(os.listdir(tmp_path)) == 1
    with scratch_folder(tmp_path) as live:
        write_outputs(tmp_path, {"a.h": ours("text")})
        assert sorted(os.listdir(tmp_path)) == sorted([live.name, "a.h"])
    assert os.listdir(tmp_path) == ["a.h"]


def test_marks_are_found_in_json_and_in_comments_only_at_the_beginning(tmp_path: Path) -> None:
    texts = {
        "a.json": '{\n "schema": 1,\n "tool": "comprehensive 0.1.0"\n}',
        "a.mf": ours("x"),
        "b.mf": f"int x;\n{ours('x')}",
        "b.json": '{"tool": "another"}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert [is_generated(tmp_path / name) for name in texts] == [True, True, False, False]


def test_a_stamp_is_touched_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    stamp = tmp_path / "made" / "a.stamp"
    touch(stamp)
    stamp.write_text("kept")
    os.utime(stamp, (0, 0))
    touch(stamp)
    assert stamp.read_text() == "kept"
    assert stamp.stat().st_mtime > 0
