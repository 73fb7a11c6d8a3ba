"""The import rule, read off every source file, and what a user pays for ``--help``.

A package imports only what stands to its left in :data:`ORDER`; names in one group stand side by side and do not
import each other. The heavy libraries each have the one package that may import them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "comprehensive"

ORDER: tuple[tuple[str, ...], ...] = (
    ("closure", "records"),
    ("collection", "data", "diagnostics", "watch"),
    ("diagnostic_pages",),
    ("algebra",),
    ("metafork",),
    ("loops",),
    ("reductions",),
    ("poly",),
    ("pragmas",),
    ("machine", "toolchain"),
    ("optimize", "ptx"),
    ("sass",),
    ("occupancy_tuning",),
    ("kernel_ir",),
    ("schedule",),
    ("lowering",),
    ("plan",),
    ("codegen",),
    ("counters",),
    ("strategies",),
    ("model",),
    ("plugins",),
    ("registry",),
    ("given",),
    ("runtime",),
    ("bindings", "report"),
    ("embedding",),
    ("driver",),
    ("asserts", "values", "descriptions"),
    # What stands behind single commands.
    ("nearest", "options", "launches"),
    (
        "crash",
        "explanation",
        "generate",
        "kernel_levels",
        "leaf_parameters",
        "parameter_space",
        "pictures",
        "tree_forms",
    ),
    ("given_trees",),
    ("soundness",),
    ("verification_report",),
    ("verification", "tuning"),
    ("occupancy_explanation", "interactive_report"),
    ("calibration",),
    ("language_server",),
    ("demonstration", "api"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, group in enumerate(ORDER) for name in group}

# Stricter than the order: what these may import of the tool besides themselves.
ONLY = {
    "optimize": {"algebra", "closure", "diagnostics", "records", "watch"},
    "ptx": {"closure", "collection", "data", "diagnostics", "machine", "toolchain"},
    "sass": {"closure", "data", "diagnostics", "machine", "toolchain", "ptx"},
    "toolchain": {"data", "diagnostics"},
    "machine": {"data", "diagnostics"},
    "model": {
        "algebra",
        "counters",
        "diagnostics",
        "kernel_ir",
        "loops",
        "machine",
        "metafork",
        "plan",
        "poly",
        "records",
        "schedule",
    },
    "strategies": {
        "algebra",
        "counters",
        "diagnostics",
        "kernel_ir",
        "loops",
        "lowering",
        "metafork",
        "optimize",
        "poly",
        "records",
        "schedule",
        "toolchain",
    },
}
# Who may import these at all.
COMMANDS = {
    "api",
    "cli",
    "demonstration",
    "explanation",
    "generate",
    "interactive_report",
    "given_trees",
    "kernel_levels",
    "occupancy_explanation",
    "parameter_space",
    "pictures",
    "tree_forms",
    "verification",
    "verification_report",
}
ONLY_BY = {"cli": {"__main__"}, "report": COMMANDS}

OWNERS = {
    "islpy": {"poly"},
    "flint": {"algebra"},
    "z3": {"algebra", "ptx"},
    "sympy": {"algebra", "strategies"},
    "lark": {"metafork"},
    "jinja2": {"codegen", "report"},
    "click": {"cli"},
    "pygls": {"language_server"},
    "lsprotocol": {"language_server"},
}
# What runs where nothing but Python is installed, in whole or in part: beside a GPU, in the place of ptxas.
PLAIN = {
    "calibration",
    "collection",
    "data",
    "diagnostics",
    "machine",
    "occupancy_tuning",
    "ptx",
    "runtime",
    "sass",
    "toolchain",
    "tuning",
    "watch",
}
OWNERS["msgspec"] = {name for group in ORDER for name in group} - PLAIN
HEAVY = ("sympy", "z3", "islpy", "flint", "numpy", "lark", "jinja2")


@dataclass(frozen=True)
class Import:
    """``module`` as an absolute dotted name, imported by ``path`` at ``line``."""

    path: Path
    line: int
    module: str
    at_top: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {self.module}"

    @property
    def importer(self) -> str:
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    @property
    def imported(self) -> str | None:
        """The package of the tool that is imported; None for anything else and for the bare root."""
        words = self.module.split(".")
        return words[1] if words[0] == "comprehensive" and len(words) > 1 else None


def _imports(path: Path) -> Iterator[Import]:
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]

    def walk(node: ast.AST, at_top: bool) -> Iterator[Import]:
        match node:
            case ast.Import():
                for alias in node.names:
                    yield Import(path, node.lineno, alias.name, at_top)
            case ast.ImportFrom():
                base = list(package[: len(package) + 1 - node.level]) if node.level else []
                module = ".".join([*base, *([node.module] if node.module else [])])
                for alias in node.names:
                    # `from comprehensive import poly` names a package only in the alias.
                    full = f"{module}.{alias.name}" if module == "comprehensive" else module
                    yield Import(path, node.lineno, full, at_top)
            case ast.If() if _is_type_checking(node.test):
                # For type checkers only: no dependency when the tool runs, but one of the reader's.
                for child in node.body:
                    yield from walk(child, False)
                for child in node.orelse:
                    yield from walk(child, at_top)
            case ast.expr():
                # An expression holds no statement, and most of a source is expressions.
                pass
            case _:
                inside = at_top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for child in ast.iter_child_nodes(node):
                    yield from walk(child, inside)

    yield from walk(ast.parse(path.read_text(encoding="utf-8"), str(path)), True)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)


@cache
def all_imports() -> list[Import]:
    """All imports of the tool; not read where tests are only collected, as by every worker."""
    return [found for path in SOURCES for found in _imports(path)]


def _violations(imports: list[Import]) -> list[str]:
    found: list[str] = []
    for each in imports:
        importer, imported = each.importer, each.imported
        # A package without a place is reported by `test_every_package_has_a_place_in_the_order`.
        if imported is None or imported == importer or importer not in RANK:
            continue
        # The version number and the like are names of the root package.
        if imported not in RANK and imported.startswith("__"):
            continue
        if imported not in RANK:
            found.append(f"{each}: '{imported}' has no place in ORDER")
        elif RANK[imported] >= RANK[importer]:
            found.append(f"{each}: '{imported}' does not stand to the left of '{importer}'")
        elif importer in ONLY and imported not in ONLY[importer]:
            found.append(f"{each}: '{importer}' may import only {', '.join(sorted(ONLY[importer]))}")
        elif imported in ONLY_BY and importer not in ONLY_BY[imported]:
            found.append(f"{each}: only {', '.join(sorted(ONLY_BY[imported]))} may import '{imported}'")
    return found


def test_every_package_has_a_place_in_the_order():
    names = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in SOURCES}
    assert sorted(names - set(RANK) - {"__init__"}) == []


def test_a_package_imports_only_from_its_left():
    assert _violations(all_imports()) == []


def test_the_root_package_imports_nothing_of_the_tool():
    found = [i for i in all_imports() if i.importer == "__init__" and i.at_top]
    assert [str(i) for i in found if i.module not in ("__future__", "importlib", "typing")] == []


def test_strategies_ask_schedule_for_nothing_but_alternatives():
    of_schedule = {i.module for i in all_imports() if i.importer == "strategies" and i.imported == "schedule"}
    assert of_schedule == {"comprehensive.schedule.alternatives"}


def test_a_file_name_of_the_packages_around_kernels_stands_for_one_thing():
    packages = ("kernel_ir", "schedule", "lowering", "plan", "codegen", "counters", "strategies", "model")
    names = Counter(path.name for each in packages for path in (PACKAGE / each).rglob("*.py"))
    assert [name for name, times in names.items() if times > 1 and name != "__init__.py"] == []


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_a_wrapped_library_is_imported_only_by_its_owner(library):
    users = [
        i for i in all_imports() if i.module.split(".")[0] == library and i.importer not in OWNERS[library]
    ]
    assert [str(i) for i in users] == []


def test_sympy_is_never_imported_at_module_level():
    assert [str(i) for i in all_imports() if i.module.split(".")[0] == "sympy" and i.at_top] == []


@pytest.mark.parametrize(
    ("package", "text", "wrong"),
    [
        ("optimize", "from comprehensive.poly.model import X", True),
        ("optimize", "from comprehensive.machine import device", True),
        ("optimize", "from ..algebra import system", False),
        ("algebra", "def f():\n    from comprehensive import loops", True),
        ("driver", "import comprehensive.report.text", True),
        ("cli", "import comprehensive.report.text", False),
        ("ptx", "from comprehensive.loops.ir import Nest", True),
        ("poly", "from ..cli import main", True),
        ("codegen", "from comprehensive import __version__", False),
        ("codegen", "import comprehensive.utils", True),
        ("loops", "from . import ir", False),
    ],
)
def test_the_rule_tells_a_wrong_import_from_a_right_one(monkeypatch, tmp_path, package, text, wrong):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "comprehensive")
    path = tmp_path / "comprehensive" / package / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert bool(_violations(list(_imports(path)))) == wrong


def _loaded(program: str) -> set[str]:
    """The heavy libraries in memory after a program has run in a fresh interpreter."""
    report = f"\nimport sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    command = [sys.executable, "-c", program + report]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return set(answer.stdout.splitlines()[-1].split())


def test_importing_the_command_line_loads_no_heavy_library():
    assert _loaded("import comprehensive.cli") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["gen", "--help"], ["--version"]])
def test_asking_for_help_loads_no_heavy_library(arguments):
    run = (
        "from comprehensive.cli import main\nimport sys\n"
        f"sys.argv = ['comprehensive', *{arguments!r}]\n"
        "try: main()\nexcept SystemExit as ended: assert not ended.code, ended.code\n"
    )
    assert _loaded(run) == set()


def test_the_measure_sees_a_heavy_library_that_is_loaded():
    assert "lark" in _loaded("import lark")
