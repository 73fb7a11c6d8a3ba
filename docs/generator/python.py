"""The Python interface as a page: what `comprehensive` exports, which Sphinx then documents from docstrings."""

from __future__ import annotations

import inspect

import comprehensive

_INTRODUCTION = """# Python

What `comprehensive` exports. [Use it from Python](../guides/python.md) shows it at work, and
`comprehensive/api/README.md` how it is built. Names of other modules may change in any version.
"""


def python_page() -> str:
    exported = {name: getattr(comprehensive, name) for name in comprehensive.__all__ if name != "__version__"}
    functions = [name for name, value in exported.items() if inspect.isfunction(value)]
    errors = [n for n, v in exported.items() if inspect.isclass(v) and issubclass(v, Exception)]
    values = [name for name in exported if name not in (*functions, *errors)]
    return "\n".join(
        [
            _INTRODUCTION,
            "## Functions\n",
            *(_directive("autofunction", exported[name]) for name in functions),
            "## Values\n",
            *(_directive("autoclass", exported[name], ":members:") for name in values),
            "## Errors and warnings\n",
            *(_directive("autoclass", exported[name], ":members:") for name in errors),
        ]
    )


def _directive(kind: str, value: object, *options: str) -> str:
    place = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    lines = [f".. {kind}:: {place}", *(f"   {option}" for option in options)]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```\n"
