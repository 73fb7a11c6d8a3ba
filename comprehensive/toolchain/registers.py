"""Registers a kernel takes, by asking ptxas.

In: an architecture.  Out: a function from the text of a kernel's translation unit to its registers a thread, backed
by the content-addressed cache, so that an unchanged kernel is compiled once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_cubin, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage


def counting_nvcc(cuda_path: str | None, *, required: bool) -> Tool | None:
    """The nvcc that counts; None where it is not found and not ``required``.

    ToolError where it is required, or its place is given and it is not there.
    """
    found = find_tool("nvcc", cuda_path)
    if not isinstance(found, Missing):
        return load_tool(found)
    if required or cuda_path is not None:
        raise ToolError(f"register counts by ptxas need nvcc\n{found.explain()}\nhelp: {found.help}")
    return None


def usages_of(nvcc: Tool, text: str, arch: str) -> Mapping[str, Usage]:
    """Return the resources that the kernels of a translation unit take, by symbol."""
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        unit = Path(scratch) / "kernels.cu"
        unit.write_text(text, encoding="utf-8")
        return compile_cubin(nvcc, unit, arch).usage


def register_compiler(arch: str, cuda_path: str | None, *, required: bool) -> Callable[[str], Usage] | None:
    """Compiles a translation unit with one kernel and returns what it takes.

    None and errors as for :func:`counting_nvcc`.
    """
    nvcc = counting_nvcc(cuda_path, required=required)
    if nvcc is None:
        return None
    return lambda text: single(usages_of(nvcc, text, arch))


def single(usages: Mapping[str, Usage]) -> Usage:
    """Return the resources that the only kernel of a unit takes."""
    (found,) = usages.values()
    return found
