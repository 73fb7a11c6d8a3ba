"""Importing the package loads neither z3 nor numpy; asking loads what the question needs."""

from __future__ import annotations

import subprocess
import sys


def _loaded(program: str) -> str:
    report = "\nimport sys; print(*[name for name in ('z3', 'numpy') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program + report], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_the_import_is_light() -> None:
    assert _loaded("import comprehensive.algebra") == ""


def test_enumeration_loads_numpy() -> None:
    assert _loaded("from comprehensive.algebra import *; feasible(System(), {'x': box(1, 2)})") == "numpy"
