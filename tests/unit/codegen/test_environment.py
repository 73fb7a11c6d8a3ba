"""Templates are turned into Python once; what is kept of a template is that of its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.codegen import environment


def rendered(templates: Path, text: str) -> str:
    """The text of a template that is asked for in a new process, as far as templates go."""
    (templates / "greeting.j2").write_text(text, encoding="utf-8")
    environment._environment.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return environment.render_template("greeting.j2", name="you")


def test_a_template_is_compiled_once_and_anew_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "cache"
    monkeypatch.setenv("COMPREHENSIVE_CACHE", str(kept))
    monkeypatch.setattr(environment, "template_directory", lambda: tmp_path)
    try:
        assert rendered(tmp_path, "hello {{ name }}\n") == "hello you\n"
        entries = {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()}
        assert len(entries) == 1
        assert rendered(tmp_path, "hello {{ name }}\n") == "hello you\n"
        assert {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()} == entries
        assert rendered(tmp_path, "bye {{ name }}\n") == "bye you\n"
        (damaged,) = (path for path in entries)
        damaged.write_bytes(b"no template")
        assert rendered(tmp_path, "hello {{ name }}\n") == "hello you\n"
    finally:
        environment._environment.cache_clear()  # pyright: ignore[reportPrivateUsage]
