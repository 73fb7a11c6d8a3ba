"""The tutorial runs, from its first cell to its last, on a machine without a GPU, and shows something in every cell."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest

TUTORIAL = Path(__file__).resolve().parents[3] / "docs/tutorial.ipynb"
FORMS = ("_repr_html_", "_repr_svg_", "_repr_latex_")
SHOW_NOTHING = ("import numpy as np",)
"""The beginnings of cells that only prepare others."""


@pytest.fixture(scope="module")
def notebook() -> Any:
    return nbformat.read(TUTORIAL, as_version=nbformat.NO_CONVERT)


def shown(value: Any) -> str:
    """Return what a notebook shows of a value: its richest form; all of them must work."""
    forms = [getattr(value, form)() for form in FORMS if hasattr(value, form)]
    return (forms or [repr(value)])[0]


def run(source: str, names: dict[str, Any]) -> str | None:
    """Run a cell as a notebook does; what it shows of a last expression, None where the cell ends otherwise."""
    body = ast.parse(source).body
    last = body.pop().value if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), str(TUTORIAL), "exec"), names)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last), str(TUTORIAL), "eval"), names)
    return None if value is None else shown(value)


def test_the_tutorial_runs_on_the_processor(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    told: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        value = run(cell.source, names)
        said = capsys.readouterr().out + (value or "")
        assert said or cell.source.startswith(SHOW_NOTHING), f"shows nothing: {cell.source}"
        told.append(said)
    everything = "\n".join(told)
    for words in (
        "<details",
        "<table",
        "<svg",
        r"B + 2 \le Z_{B}",
        "leaf 0 runs",
        "dead end 2",
        "note: y[2] is written at i = 2",
    ):
        assert words in everything, words
    assert list(tmp_path.iterdir()) == []


def test_the_tutorial_is_a_notebook_without_outputs_that_could_rot(notebook: Any) -> None:
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)
    assert notebook.metadata.kernelspec.name == "python3"
