"""Annotated C loop nests in, CUDA headers with a case discussion out.

``comprehensive gen matmul.mf -o out/`` reads a loop nest in C with MetaFork annotations and writes kernels for
every case that machine and program parameters can bring, with the code that chooses among them at run time.
Start reading at ``comprehensive/driver.py``: the pipeline, one named line per stage.

From Python it is ``comprehensive.compile("matmul.mf")``, and ``comprehensive.load("out/matmul.json")`` for what was
generated before.  Importing this package imports nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from comprehensive.api.compiling import compile
    from comprehensive.api.explanation import Explanation
    from comprehensive.api.leaf import Leaf
    from comprehensive.api.partition import Partition
    from comprehensive.api.program import Program
    from comprehensive.api.region import Region
    from comprehensive.api.system import System
    from comprehensive.api.tree import Branch, DeadEnd, Pruned, Tree
    from comprehensive.bindings.errors import LaunchError, LoadError
    from comprehensive.bindings.load import load
    from comprehensive.bindings.torch_op import torch_op
    from comprehensive.diagnostics import CompileError, CompileWarning
    from comprehensive.toolchain.process import ToolError

__version__ = "1.0.0"
__all__ = [
    "Branch",
    "CompileError",
    "CompileWarning",
    "DeadEnd",
    "Explanation",
    "LaunchError",
    "Leaf",
    "LoadError",
    "Partition",
    "Program",
    "Pruned",
    "Region",
    "System",
    "ToolError",
    "Tree",
    "__version__",
    "compile",
    "load",
    "torch_op",
]

_PLACES = {
    "Branch": "api.tree",
    "CompileError": "diagnostics",
    "CompileWarning": "diagnostics",
    "DeadEnd": "api.tree",
    "Explanation": "api.explanation",
    "LaunchError": "bindings.errors",
    "Leaf": "api.leaf",
    "LoadError": "bindings.errors",
    "Partition": "api.partition",
    "Program": "api.program",
    "Pruned": "api.tree",
    "Region": "api.region",
    "System": "api.system",
    "ToolError": "toolchain.process",
    "Tree": "api.tree",
    "compile": "api.compiling",
    "load": "bindings.load",
    "torch_op": "bindings.torch_op",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'comprehensive' has no attribute '{name}'")
    return getattr(import_module(f"comprehensive.{_PLACES[name]}"), name)
