"""JavaScript without a page: a script in, the value of its variable `answer` out.

Runs in node where that is installed, else in the browser; tests are skipped where there is neither.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from comprehensive.data import template_directory
from tests.browser.chromium import NAMES, Chromium, found_browser

# Integers of any size come back as text with an `n` behind them.
ENCODED = 'JSON.stringify(answer, (_, value) => typeof value === "bigint" ? `${value}n` : value)'


def answer(script: str) -> Any:
    """Return what a script has computed, big integers as Python's. Skips the test where nothing runs JavaScript."""
    node, browser = shutil.which("node") or shutil.which("nodejs"), found_browser()
    if node is not None:
        text = f"{script}\nprocess.stdout.write({ENCODED});"
        run = subprocess.run(
            [node, "-"], input=text, capture_output=True, text=True, check=False, timeout=300
        )
        assert run.returncode == 0, run.stderr
        return _decoded(json.loads(run.stdout))
    if browser is not None:
        with Chromium(browser) as page:
            return _decoded(json.loads(page.run(f"(() => {{ {script}\nreturn {ENCODED}; }})()")))
    pytest.skip(
        f"needs node or a browser to run JavaScript: none of node, nodejs, {', '.join(NAMES)} is on PATH"
    )


def arithmetic() -> str:
    """The functions that selection in a page is printed over."""
    return (template_directory() / "report" / "arithmetic.js").read_text(encoding="utf-8")


def _decoded(value: Any) -> Any:
    match value:
        case str() if value.endswith("n") and value[:-1].lstrip("-").isdecimal():
            return int(value[:-1])
        case list():
            return [_decoded(each) for each in value]
        case dict():
            return {name: _decoded(each) for name, each in value.items()}
        case _:
            return value
