"""The notebook as a page: its cells in, Markdown out, as it was written, without outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_NOTE = """```{note}
This is the notebook `docs/tutorial.ipynb` without its outputs: run it to see them. It needs no GPU; the tests run it.
```"""


def notebook_page(path: Path) -> str:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    # The source of a cell is a text or a list of lines.
    first, *rest = [_cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n\n".join([first, _NOTE, *rest]) + "\n"


def _cell(kind: str, source: str) -> str:
    return source if kind == "markdown" else f"```python\n{source}\n```"
