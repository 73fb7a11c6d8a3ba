"""The report of ``doctor``: which tools are there, where each was looked for, and what is missing without them.

In: nothing but the environment.  Out: a record a tool, as text or JSON.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from msgspec import Struct

from comprehensive import __version__
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.host import Compiler, find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.jitlink import find_jitlink, load_jitlink
from comprehensive.toolchain.nvcc import load_tool
from comprehensive.toolchain.process import ToolError

CUDA_TOOLS = {
    "nvcc": "`gen --ptx`, register counts by ptxas",
    "ptxas": "register counts by ptxas",
    "nvdisasm": "`sass`",
    "cuobjdump": "taking cubins out of objects",
}
PACKAGES = ("click", "islpy", "jinja2", "lark", "numpy", "python-flint", "sympy", "z3-solver")


class Examined(Struct, frozen=True):
    """A tool as ``doctor`` has found it.

    ``place`` is None for what is missing; ``steps`` says where it was looked for; ``needed_for`` what it
    gives.
    """

    name: str
    place: str | None
    version: str | None
    steps: tuple[str, ...]
    needed_for: str


def examine(cuda_path: str | None) -> tuple[Examined, ...]:
    """Python packages, host compilers, CUDA tools and libraries, in this order."""
    packages = [_package(name) for name in PACKAGES]
    compilers = [
        _compiler("C compiler", find_c_compiler(), "the serial reference of `check` and `demo`"),
        _compiler("C++ compiler", find_cxx_compiler(), "running generated kernels on the CPU"),
    ]
    tools = [_tool(name, purpose, cuda_path) for name, purpose in CUDA_TOOLS.items()]
    return (*packages, *compilers, *tools, _jitlink(cuda_path))


def _package(name: str) -> Examined:
    try:
        return Examined(name, "installed", version(name), (), "every command")
    except PackageNotFoundError:
        return Examined(name, None, None, ("the environment of this Python",), "every command")


def _compiler(name: str, found: Compiler | None, purpose: str) -> Examined:
    place = None if found is None else " ".join(found.command)
    return Examined(name, place, None, ("$CC or $CXX, then PATH",), purpose)


def _tool(name: str, purpose: str, cuda_path: str | None) -> Examined:
    found = find_tool(name, cuda_path)
    steps = tuple(str(step) for step in found.steps)
    if not isinstance(found, Found):
        return Examined(name, None, None, steps, purpose)
    try:
        return Examined(name, str(found.path), load_tool(found).version, steps, purpose)
    except ToolError as error:
        return Examined(name, None, None, (*steps, f"it does not run: {error}"), purpose)


def _jitlink(cuda_path: str | None) -> Examined:
    purpose = "assembling PTX in process (extra 'jitlink')"
    found = find_jitlink(cuda_path)
    steps = tuple(str(step) for step in found.steps)
    try:
        library = load_jitlink(found)
    except ToolError as error:
        problem = (f"it cannot be used: {error}",) if isinstance(found, Found) else ()
        return Examined("nvJitLink", None, None, (*steps, *problem), purpose)
    return Examined("nvJitLink", str(library.path), library.version, steps, purpose)


def to_text(examined: tuple[Examined, ...]) -> str:
    """A line a tool; for what is missing also where it was looked for and what to do."""
    lines = [f"comprehensive {__version__}, Python {platform.python_version()}, {platform.machine()}"]
    for tool in examined:
        if tool.place is not None:
            shown = f"{tool.version or ''} {'' if tool.place == 'installed' else tool.place}".strip()
            lines.append(f"  ok       {tool.name:<13} {shown}")
        else:
            lines.append(f"  missing  {tool.name:<13} needed for {tool.needed_for}")
        lines += [
            f"             {step}" for step in tool.steps if tool.name in CUDA_TOOLS or tool.place is None
        ]
    if any(t.place is None for t in examined if t.name in CUDA_TOOLS):
        lines.append("help: pip install 'comprehensive[cuda]' brings nvcc, ptxas, nvdisasm and cuobjdump")
    return "\n".join(lines) + "\n"


def to_json(examined: tuple[Examined, ...]) -> dict[str, Any]:
    """The same as one JSON document."""
    return {
        "schema": 1,
        "version": __version__,
        "tools": [
            {
                "name": t.name,
                "place": t.place,
                "version": t.version,
                "steps": list(t.steps),
                "needed_for": t.needed_for,
            }
            for t in examined
        ],
    }
