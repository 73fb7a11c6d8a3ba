"""Tests of one source go to one worker of pytest-xdist, one after the other: it is compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
        if item.path.parent == HERE and isinstance(name, str):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {name}"))
