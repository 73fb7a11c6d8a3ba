"""Examples of property tests are a matter of the test alone."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = [f"word number {k} of a module" for k in range(200)]


def drawn() -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []

    @settings(max_examples=300, database=None, derandomize=True)
    @given(st.text(max_size=40), st.integers())
    def draw(text: str, number: int) -> None:
        found.append((text, number))

    draw()
    return found


@pytest.mark.skipif("HYPOTHESIS_PROFILE" in os.environ, reason="only `make test` repeats itself")
def test_examples_do_not_depend_on_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    source = tmp_path / "full_of_constants.py"
    source.write_text(f"WORDS = {WORDS!r}\nNUMBERS = {[7919 * k for k in range(200)]!r}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("full_of_constants", source)
    assert spec is not None
    monkeypatch.setitem(sys.modules, "full_of_constants", importlib.util.module_from_spec(spec))
    assert drawn() == before
