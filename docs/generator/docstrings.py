"""A docstring as Markdown: literal blocks to fences, literals and roles to code."""

from __future__ import annotations

import inspect
import re
from itertools import groupby

_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")


def markdown(documented: object) -> str:
    """The docstring of a module, class or function; empty without one."""
    lines = (inspect.getdoc(documented) or "").splitlines()
    # An empty line belongs to what stands before it.
    kinds: list[bool] = []
    for line in lines:
        kinds.append(line.startswith("    ") if line else bool(kinds) and kinds[-1])
    parts: list[str] = []
    for literal, numbered in groupby(zip(kinds, lines, strict=True), key=lambda each: each[0]):
        text = "\n".join(line for _, line in numbered).strip("\n")
        parts.append(f"```text\n{inspect.cleandoc(text)}\n```" if literal else _prose(text))
    return "\n\n".join(part for part in parts if part) + "\n"


def first_paragraph(documented: object) -> str:
    """The first paragraph in one line."""
    return " ".join(_prose((inspect.getdoc(documented) or "").split("\n\n")[0]).split())


def _prose(text: str) -> str:
    text = re.sub(r"^::$\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return _LITERAL.sub(r"`\1`", _ROLE.sub(r"`\1`", text)).strip("\n")
