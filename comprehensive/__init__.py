"""Annotated C loop nests in, CUDA headers with a case discussion out.

``comprehensive gen matmul.mf -o out/`` reads a loop nest in C with MetaFork annotations and writes kernels for
every case that machine and program parameters can bring, with the code that chooses among them at run time.
Start reading at ``comprehensive/driver.py``: the pipeline, one named line per stage.

``comprehensive.load("out/matmul.json")`` calls what was generated from Python.  Importing this package imports nothing
else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from comprehensive.bindings.errors import LaunchError, LoadError
    from comprehensive.bindings.load import load

__version__ = "0.1.0"
__all__ = ["LaunchError", "LoadError", "__version__", "load"]

_PLACES = {"LaunchError": "errors", "LoadError": "errors", "load": "load"}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'comprehensive' has no attribute '{name}'")
    return getattr(import_module(f"comprehensive.bindings.{_PLACES[name]}"), name)
