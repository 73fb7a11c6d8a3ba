"""Every package says what its files are for and what its diagnostics mean, and speaks of nothing that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "comprehensive"
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if "_data" not in path.parts)


def named_in_tables(readme: str) -> set[str]:
    rows = [line for line in readme.splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"\b\w+\.py\b", row)}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_table_of_a_package_names_exactly_its_files(folder: Path) -> None:
    files = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    assert named_in_tables((folder / "README.md").read_text(encoding="utf-8")) == files


def codes_used(folder: Path) -> set[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    return set(re.findall(r'"(CF\d{4})"', text))


def codes_listed(readme: Path) -> list[str]:
    return re.findall(r"^\| (CF\d{4}) ", readme.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_table_of_diagnostics_of_a_package_has_exactly_its_codes(folder: Path) -> None:
    assert codes_listed(folder / "README.md") == sorted(codes_used(folder))


def test_a_file_that_only_the_text_names_is_not_in_the_table() -> None:
    assert named_in_tables("see `a.py`\n| `b.py` `c.py` | two |\n") == {"b.py", "c.py"}
