"""Copies of kernels in PTX, for versions that have them of their own: a module in, further text of it out.

    text + copies(text, {"cf_version1_matmul_leaf0": "matmul_leaf0"})

A copy is the kernel to the letter, but for its name: what the passes of its version then make of it is all that
differs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from comprehensive.diagnostics import SourceFile
from comprehensive.plan.versions import KernelKey, key_of
from comprehensive.ptx.module import Module, parse


def kernels_of(text: str) -> Mapping[KernelKey, str]:
    """The symbols of the kernels of a module, by name and constants. CompileError for what is no PTX."""
    return {key_of(symbol): symbol for symbol in _parsed(text).kernels}


def copies(text: str, originals: Mapping[str, str]) -> str:
    """Copies of kernels of a module, to stand behind it; ``originals`` are their symbols, by those of the copies."""
    kernels = _parsed(text).kernels
    parts: list[str] = []
    for symbol, original in originals.items():
        kernel = kernels[original]
        assert kernel.open is not None
        head = re.sub(
            rf"\b{re.escape(original)}\b(?=\s*\()", symbol, text[kernel.start : kernel.open], count=1
        )
        parts.append(f"\n{head.strip()}{text[kernel.open : kernel.end]}\n")
    return "".join(parts)


def _parsed(text: str) -> Module:
    return parse(SourceFile("kernels.ptx", text))
