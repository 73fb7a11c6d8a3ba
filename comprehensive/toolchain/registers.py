"""Registers a kernel takes, by asking ptxas.

In: an architecture.  Out: a function from the text of a kernel's translation unit to its registers a thread, backed
by the content-addressed cache, so that an unchanged kernel is compiled once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import compile_cubin, load_tool
from comprehensive.toolchain.process import ToolError


def register_compiler(arch: str, cuda_path: str | None, *, required: bool) -> Callable[[str], int] | None:
    """Compiles a translation unit with one kernel and returns its registers a thread.

    None where nvcc is not found and not ``required``; ToolError where it is required.
    """
    found = find_tool("nvcc", cuda_path)
    if isinstance(found, Missing):
        if required:
            raise ToolError(f"register counts by ptxas need nvcc\n{found.explain()}\nhelp: {found.help}")
        return None
    nvcc = load_tool(found)

    def registers(text: str) -> int:
        with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
            unit = Path(scratch) / "kernel.cu"
            unit.write_text(text, encoding="utf-8")
            usages = compile_cubin(nvcc, unit, arch).usage
        return max(usage.registers_per_thread for usage in usages.values())

    return registers
