"""Files that cannot be read give diagnostics, quickly."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.metafork.read import MAXIMUM_BYTES, read_source


def refusal(path: Path | str) -> tuple[str, str]:
    with pytest.raises(CompileError) as caught:
        read_source(path)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, diagnostic.message


def test_text_is_kept_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.mf"
    path.write_bytes("\ufeffint x;\r\n\té\r".encode())
    assert read_source(path) == SourceFile(str(path), "\ufeffint x;\r\n\té\r")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    code, message = refusal(tmp_path / "none.mf")
    assert code == "CF0101"
    assert "none.mf" in message


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path)[0] == "CF0101"


def test_a_nul_in_the_path_is_no_crash() -> None:
    assert refusal("a\0b")[0] == "CF0101"


@pytest.mark.parametrize("content", [b"int x;\0", b"\xff\xfe\x00", b"int x;\n\xe9\n"])
def test_a_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.mf"
    path.write_bytes(content)
    assert refusal(path)[0] == "CF0102"


def test_the_line_of_a_wrong_byte_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.mf"
    path.write_bytes(b"int x;\n\xe9\n")
    assert refusal(path)[1].endswith("is not UTF-8 text: byte 0xe9 on line 2")


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "a.mf"
    path.write_bytes(b"x" * (MAXIMUM_BYTES + 1))
    assert refusal(path)[0] == "CF0103"
