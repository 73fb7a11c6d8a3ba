"""`comprehensive opt`: bytes, errors, and what it prints besides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli

PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 out)
{
	.reg .b32 %r<4>;
	mov.u32 %r1, %tid.x; // \N{GREEK SMALL LETTER ALPHA}
	ret;
}
"""


def _opt(*arguments: str, given: bytes | str | None = None) -> Result:
    return CliRunner().invoke(cli, ["opt", *arguments], input=given)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.ptx"
    path.write_text(PTX, encoding="utf-8")
    return path


@pytest.mark.parametrize("odd", [b"", b"// \xff\xfe no text\r\n", b"/* \x00 */"])
def test_no_pass_gives_the_same_bytes(tmp_path: Path, odd: bytes) -> None:
    source, output = tmp_path / "in.ptx", tmp_path / "out.ptx"
    source.write_bytes(PTX.encode() + odd)
    assert _opt(str(source), "-o", str(output)).exit_code == 0
    assert output.read_bytes() == source.read_bytes()
    assert _opt("-", given=source.read_bytes()).stdout_bytes == source.read_bytes()


def test_a_pass_rewrites_and_says_so(source: Path) -> None:
    result = _opt(str(source), "-p", "dce", "--remarks", "all", "--time-passes", "--print-after-all")
    assert result.exit_code == 0
    assert result.stdout == PTX.replace("\n\tmov.u32 %r1, %tid.x;", "")
    assert f"{source}:7:2: remark: dce: removed 'mov.u32 %r1, %tid.x;' [applied]" in result.stderr
    assert "// after dce\n.version 8.0" in result.stderr
    assert " ms\n" in result.stderr


def test_remarks_as_json_are_data(source: Path) -> None:
    result = _opt(str(source), "-p", "dce", "--remarks", "applied", "--json")
    assert json.loads(result.stderr)["remarks"] == [
        {
            "kind": "applied",
            "pass": "dce",
            "function": "f",
            "line": 7,
            "column": 2,
            "text": "removed 'mov.u32 %r1, %tid.x;'",
            "facts": {},
        }
    ]


def test_passes_are_listed_without_a_source() -> None:
    result = _opt("--list")
    assert result.exit_code == 0
    assert result.stdout.startswith("dce  ")


@pytest.mark.parametrize(
    ("text", "pipeline", "code", "words"),
    [
        (PTX, "dcf", 2, "-p:1:1: error: there is no pass 'dcf' [CF1022]"),
        ("int main;", "dce", 1, "in.ptx:1:1: error: this is not understood as PTX [CF1002]"),
        (PTX.replace("}", ""), "dce", 1, "in.ptx:4:10: error: the body of this function has no end [CF1001]"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, text: str, pipeline: str, code: int, words: str) -> None:
    source = tmp_path / "in.ptx"
    source.write_text(text)
    output = tmp_path / "out.ptx"
    result = _opt(str(source), "-p", pipeline, "-o", str(output))
    assert result.exit_code == code
    assert words in result.stderr
    assert "| " in result.stderr
    assert not output.exists()


def test_a_function_that_is_not_understood_stays_with_a_note(tmp_path: Path) -> None:
    source = tmp_path / "in.ptx"
    source.write_text(PTX.replace("ret;", "ret; ?;"))
    result = _opt(str(source), "-p", "dce")
    assert (result.exit_code, result.stdout) == (0, source.read_text())
    assert "note: not all of the input is understood" in result.stderr
    missed = _opt(str(source), "-p", "dce", "--remarks", "missed").stderr
    assert (
        "in.ptx:8:7: remark: dce: 'f' stays as it is: this statement of PTX is not understood [missed]"
        in missed
    )


@pytest.mark.parametrize("change", [(".version 8.0", ".version 99.1"), ("sm_90", "sm_90, debug")])
def test_modules_of_newer_versions_and_of_debuggers_stay(tmp_path: Path, change: tuple[str, str]) -> None:
    source = tmp_path / "in.ptx"
    source.write_text(PTX.replace(*change))
    result = _opt(str(source), "-p", "dce,lower-version", "--remarks", "missed")
    assert result.stdout == source.read_text()
    assert result.stderr.count("the module stays as it is: ") == 2


def test_a_file_is_replaced_whole_and_keeps_its_rights(source: Path) -> None:
    source.chmod(0o640)
    link = source.parent / "link.ptx"
    link.symlink_to(source)
    assert _opt(str(source), "-p", "dce", "-o", str(link)).exit_code == 0
    assert link.is_symlink()
    assert "mov" not in source.read_text()
    assert source.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.ptx", "link.ptx"]


@pytest.mark.parametrize(
    ("source_name", "output"),
    [("missing.ptx", "-"), (".", "-"), ("in.ptx", ""), ("in.ptx", "."), ("in.ptx", "no/such/out.ptx")],
)
def test_files_that_cannot_be_read_or_written_are_named(source: Path, source_name: str, output: str) -> None:
    output = output if output in ("-", "") else str(source.parent / output)
    result = _opt(str(source.parent / source_name), "-o", output)
    assert result.exit_code == 1
    assert "[CF1027]" in result.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_standard_input_and_output_that_are_closed_are_named(source: Path, closed: str) -> None:
    command = f"'{sys.executable}' -m comprehensive opt {'-' if closed == '<&-' else source} -p dce {closed}"
    answer = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "'-': it is closed [CF1027]" in answer.stderr


def test_the_input_may_be_the_output(source: Path) -> None:
    assert _opt(str(source), "-p", "dce", "-o", str(source)).exit_code == 0
    assert source.read_text() == PTX.replace("\n\tmov.u32 %r1, %tid.x;", "")


@pytest.mark.parametrize("pipeline", ["", "dce"])
def test_an_empty_input_is_no_ptx(pipeline: str) -> None:
    result = _opt("-", "-p", pipeline, given="")
    assert result.exit_code == 1
    assert "<stdin>:1:1: error: this is no PTX: .version is missing [CF1003]" in result.stderr


def test_a_device_is_written_and_stays(source: Path) -> None:
    assert _opt(str(source), "-o", os.devnull).exit_code == 0
    assert not Path(os.devnull).is_file()


def test_help_imports_no_pass() -> None:
    program = (
        "import sys\nfrom comprehensive.cli import main\nsys.argv = ['comprehensive', 'opt', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "assert not [name for name in sys.modules if name.startswith('comprehensive.ptx')]\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "vectorize-accesses{width=4}" in answer.stdout


def test_what_a_pass_makes_can_be_validated(source: Path) -> None:
    assert _opt(str(source), "-p", "dce", "--validate").exit_code == 0


def test_what_could_not_be_validated_is_told(source: Path) -> None:
    """It reads far beyond what it is given."""
    source.write_text(
        PTX.replace(
            "ret;",
            ".reg .b64 %rd<2>; ld.param.u64 %rd1, [out]; ld.global.u32 %r2, [%rd1+268435456]; "
            "st.global.u32 [%rd1], %r2; ret;",
        )
    )
    result = _opt(str(source), "-p", "dce", "--validate")
    assert result.exit_code == 0
    assert "was not validated: no launch ended well" in result.stderr
    document = json.loads(_opt(str(source), "-p", "dce", "--validate", "--json").stderr)
    assert ["was not validated" in remark["text"] for remark in document["remarks"]] == [True]


@pytest.mark.toolchain
def test_what_a_pass_makes_can_be_assembled(source: Path) -> None:
    # ptxas takes ASCII only.
    source.write_text(PTX.replace("\N{GREEK SMALL LETTER ALPHA}", "a"))
    assert _opt(str(source), "-p", "dce", "--assemble").exit_code == 0


@pytest.mark.toolchain
def test_what_ptxas_has_no_architecture_for_is_assembled_for_a_later_one(tmp_path: Path) -> None:
    source = tmp_path / "in.ptx"
    source.write_text(PTX.replace("sm_90", "sm_60").replace("\N{GREEK SMALL LETTER ALPHA}", "a"))
    result = _opt(str(source), "-p", "dce", "--assemble")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.toolchain
def test_an_input_that_ptxas_rejects_is_no_fault_of_a_pass(tmp_path: Path) -> None:
    source = tmp_path / "in.ptx"
    source.write_text(PTX.replace("ret;", "add.f32 %r2, %r3, 1; st.global.u32 [%r2], %r2; ret;"))
    result = _opt(str(source), "-p", "dce", "--assemble")
    assert result.exit_code == 1
    assert "ptxas rejects the text as it was given" in result.stderr
