"""Winners come back from their file as they were, and another file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CommandLineError
from comprehensive.records import replace
from comprehensive.tuning.winners import Winner, read_winners, write_winners

WINNER = Winner(
    "f", "NVIDIA H200", "9.0", "580.1", (("n", 8),), (("B", 16), ("tile", 0)), "", 3, 12.5, 9, "equal", 40
)


def test_winners_come_back_as_they_were_written(tmp_path: Path) -> None:
    found = (WINNER, replace(WINNER, sizes=(("n", 9),), pipeline="register-cap{registers=64},dce"))
    path = write_winners(found, tmp_path, "f", "f.mf", "digest", "tool")
    assert path.name == "f.tuned.json"
    assert read_winners(path) == found
    assert read_winners(path, "digest") == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schema": 3}',
        '{"schema": 2}',
        '{"schema": 2, "source": {}, "winners": [{}]}',
        "\x00",
        "3",
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.tuned.json"
    path.write_text(text)
    with pytest.raises(CommandLineError) as refused:
        read_winners(path)
    assert refused.value.diagnostics[0].code == "CF0916"


def test_a_file_of_another_program_or_none_at_all_is_refused(tmp_path: Path) -> None:
    path = write_winners((WINNER,), tmp_path, "f", "f.mf", "digest", "tool")
    with pytest.raises(CommandLineError, match="another version of f"):
        read_winners(path, "another digest")
    with pytest.raises(CommandLineError, match="CF0916"):
        read_winners(tmp_path / "none")


def test_a_file_of_another_version_and_unknown_passes_are_refused(tmp_path: Path) -> None:
    path = write_winners((WINNER,), tmp_path, "f", "f.mf", "digest", "tool")
    text = path.read_text()
    path.write_text(text.replace('"schema": 2', '"schema": 1'))
    with pytest.raises(CommandLineError, match="its schema is 1, this tool reads 2"):
        read_winners(path)
    path.write_text(text.replace('"pipeline": ""', '"pipeline": "no-such-pass"'))
    with pytest.raises(CommandLineError, match="there is no pass 'no-such-pass'"):
        read_winners(path)
