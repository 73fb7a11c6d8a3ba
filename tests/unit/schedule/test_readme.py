"""The kernel that the README of schedules shows is the one that is generated."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_lines_of_the_kernel_in_the_readme_are_generated_in_their_order() -> None:
    readme = (ROOT / "comprehensive/schedule/README.md").read_text(encoding="utf-8")
    shown = readme.split("```cuda\n")[1].split("```\n")[0]
    golden = (ROOT / "tests/golden/expected/gemm.cu").read_text(encoding="utf-8")
    left = iter(line.strip() for line in golden.splitlines())
    assert [line for line in map(str.strip, shown.splitlines()) if line not in left] == []
