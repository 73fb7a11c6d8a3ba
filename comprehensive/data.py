"""The directories of the tool's data files.

In: nothing.  Out: the directories ``templates/`` and ``specs/``, which are top level in the repository and stand
in ``comprehensive/_data/`` of an installed wheel::

    template_directory() / "cuda" / "header.h.jinja"
    spec_directory() / "machines" / "sm_90.toml"
    fact_table("sass/pipes.toml")["latency"]
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


@cache
def template_directory() -> Path:
    """The directory of the text templates; raises FileNotFoundError in a broken installation."""
    return _find("templates", _PACKAGE)


@cache
def spec_directory() -> Path:
    """The directory of examples and fact tables; raises FileNotFoundError in a broken installation."""
    return _find("specs", _PACKAGE)


@cache
def fact_table(path: str) -> Any:
    """The content of a TOML file of that directory, which nobody may change."""
    return tomllib.loads((spec_directory() / path).read_text(encoding="utf-8"))


def _find(name: str, package: Path) -> Path:
    installed = package / "_data" / name
    checkout = package.parent / name
    for candidate in (installed, checkout):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(
        f"the data directory '{name}' of comprehensive is neither at {installed} (wheel) "
        f"nor at {checkout} (checkout); the installation is incomplete, install the package again"
    )
