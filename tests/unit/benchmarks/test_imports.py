"""Names that benchmarks import exist: most of their modules need torch, so that no test here could import them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchmarks

ROOT = Path(benchmarks.__file__).parent.parent
MODULES = sorted((ROOT / "benchmarks").rglob("*.py"))
OWN = ("benchmarks", "comprehensive", "tests")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imported_names_are_defined(path: Path) -> None:
    missing = [f"{module}.{name}" for module, name in imported(path) if not is_defined(module, name)]
    assert missing == []


def test_a_name_that_is_gone_is_missed() -> None:
    assert is_defined("benchmarks.gpu.outcome", "Outcome")
    assert is_defined("benchmarks.gpu", "outcome")
    assert not is_defined("benchmarks.gpu.outcome", "Choice")


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of this project and the names that are taken from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OWN:
            yield from ((node.module, alias.name) for alias in node.names)


def is_defined(module: str, name: str) -> bool:
    folder = ROOT.joinpath(*module.split("."))
    if (folder / name).is_dir() or (folder / f"{name}.py").exists():
        return True
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return path.exists() and name in defined(path)


def defined(path: Path) -> set[str]:
    """Return the names that a module binds at its top level, also inside conditions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found
