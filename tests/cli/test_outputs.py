"""The effect of ``gen`` on a directory: builds that settle, earlier outputs that go, files of others that stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli

PROGRAM = """void {name}(int n, const float x[n], float y[n], int B)
{{
  meta_schedule block(B) {clause} {{
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = x[i - 1] + x[i + 1]; /* {comment} */
  }}
}}
"""


def program(path: Path, name: str = "blur", clause: str = "cache(x)", comment: str = "a sum") -> Path:
    path.write_text(PROGRAM.format(name=name, clause=clause, comment=comment), encoding="utf-8")
    return path


def gen(source: Path, *arguments: object) -> Result:
    command = ["gen", str(source), "--registers", "estimate", "--no-verify", *map(str, arguments)]
    return CliRunner().invoke(cli, command)


def texts(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.iterdir())}


def test_a_header_by_hand_is_refused_and_nothing_else_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "one.h").write_text("#define MINE 1\n")
    refused = gen(program(tmp_path / "one.mf"), "-o", out)
    assert refused.exit_code == 1
    assert "one.h was not written by comprehensive" in refused.output
    assert "--force" in refused.output
    assert texts(out) == {"one.h": "#define MINE 1\n"}
    assert gen(tmp_path / "one.mf", "-o", out, "--force").exit_code == 0
    assert "MINE" not in texts(out)["one.h"]


def test_leaves_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert gen(program(tmp_path / "one.mf"), "-o", out).exit_code == 0
    assert "one.blur.leaf1.mf" in texts(out)
    (out / "one.blur.leaf9.mf").write_text("by hand")
    assert gen(program(tmp_path / "one.mf", clause="cache()"), "-o", out).exit_code in (0, 1)
    assert gen(program(tmp_path / "one.mf", clause="").with_name("one.mf"), "-o", out).exit_code == 0
    listed = json.loads(texts(out)["one.json"])["outputs"]
    own = [name for name in texts(out) if not name.startswith("cf_")]
    assert sorted([*listed, "one.blur.leaf9.mf"]) == sorted(own)


def test_two_sources_with_functions_of_one_name_share_a_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for stem in ("one", "two"):
        assert gen(program(tmp_path / f"{stem}.mf", comment=stem), "-o", out).exit_code == 0
    assert "/* one */" in texts(out)["one.blur.leaf0.mf"] or "one" in texts(out)["one.blur.leaf0.mf"]
    assert "two.blur.leaf0.mf" in texts(out)


def test_a_changed_comment_changes_the_manifest_and_the_leaves_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    gen(program(tmp_path / "one.mf", comment="before"), "-o", out)
    before = texts(out)
    gen(program(tmp_path / "one.mf", comment="after"), "-o", out)
    after = texts(out)
    assert {name for name in before if before[name] != after[name]} <= {
        "one.json",
        *(name for name in before if name.endswith(".mf")),
    }
    assert before["one.json"] != after["one.json"]


@pytest.mark.slow
def test_make_settles_after_a_touch_with_the_rule_of_the_readme(tmp_path: Path) -> None:
    program(tmp_path / "one.mf")
    (tmp_path / "Makefile").write_text(
        "all: main.o\n"
        "out/one.stamp: one.mf\n"
        f"\t{sys.executable} -m comprehensive gen one.mf -o out --registers estimate --stamp $@ -MD\n"
        "out/one.h out/one.cu: out/one.stamp ; @true\n"
        "-include out/one.d\n"
        "main.o: out/one.h\n"
        "\techo compiled > $@\n"
    )

    def make() -> str:
        ran = subprocess.run(["make"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    first = make()
    assert "gen one.mf" in first
    assert "compiled" in first
    assert "gen" not in make()
    for path in (tmp_path / "out").iterdir():
        os.utime(path, (1, 1))
    os.utime(tmp_path / "main.o", (2, 2))
    touched = make()
    assert "gen one.mf" in touched
    assert "compiled" not in touched, "an output that did not change makes nothing be compiled again"
    assert "gen" not in make(), "the stamp is newer than the source"
    assert "out/one.stamp:" in (tmp_path / "out" / "one.d").read_text()


@pytest.mark.parametrize("place", ["a file/one.stamp", "one.mf/one.stamp"])
def test_a_stamp_that_cannot_be_written_is_an_error(tmp_path: Path, place: str) -> None:
    program(tmp_path / "one.mf")
    (tmp_path / "a file").write_text("")
    failed = gen(tmp_path / "one.mf", "-o", tmp_path / "out", "--stamp", tmp_path / place)
    assert failed.exit_code == 1
    assert "CF0620" in failed.output
