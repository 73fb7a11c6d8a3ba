"""The sources of the corpus, and the PTX that nvcc makes of them.

In: the folders ``cuda``, ``shuffles`` and ``assembly`` beside this file.  Out: a :class:`Source` each, and PTX::

    source = next(s for s in sources() if s.name == "saxpy")
    compiled(source, "sm_90", directory)    # directory/sm_90/saxpy.ptx
    [run.kernel for run in source.runs]     # ['saxpy', 'saxpy_read_only', 'saxpy_strided']

The first lines of a source may say ``// flags: ...`` for nvcc (ptxas, for PTX) and ``// archs: sm_90 sm_100``; the
others are for all of :data:`ARCHS`.  PTX is for the target that it names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool
from comprehensive.toolchain.process import ToolError
from tests.ptx.runs import Run, runs_of

FOLDER = Path(__file__).resolve().parent
# One or two of each dialect of nvcc 13: NVVM 7 writes PTX up to sm_90, NVVM 20 that of sm_100 and after.
ARCHS = ("sm_75", "sm_90", "sm_100", "sm_120")
# For the first of these that a source is for all constructs are there; these sources are read in both dialects.
FIRST_ARCHS = ("sm_90", "sm_90a", "sm_100", "sm_100a")
BOTH_DIALECTS = {
    "atomics_vector",
    "conversions",
    "functions",
    "loops",
    "mma",
    "saxpy",
    "vectors",
    "wide_integers",
}
QUICK_SOURCES = BOTH_DIALECTS | {
    *("algorithms", "async_copy", "blackwell", "bulk_copy", "cluster_bounds", "constants", "debugging"),
    *("divergence", "fast_math", "fp8", "function_pointers", "globals", "half_precision", "heap"),
    *("inline_assembly", "line_information", "local_arrays", "managed", "names", "predicates", "recursion"),
    *("separate_compilation", "shared_dynamic", "shuffles", "structs", "switches", "tensor_memory"),
    *("textures", "traps", "virtual_functions", "wgmma"),
}
"""Kinds of declarations, of control flow, of types and of units; `make test` compiles no others."""


@dataclass(frozen=True, slots=True)
class Source:
    """``archs`` are those that it is compiled for; ``flags`` go to the tool besides the architecture."""

    path: Path
    flags: tuple[str, ...]
    archs: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def runs(self) -> tuple[Run, ...]:
        return runs_of(self.path.read_text(encoding="utf-8"))


def is_first(source: Source, arch: str) -> bool:
    """Whether this is the first architecture that the source is for, of each dialect where both are read."""
    found = [each for each in FIRST_ARCHS if each in source.archs]
    return arch in (found if source.name in BOTH_DIALECTS else found[:1])


def is_quick(source: Source, arch: str) -> bool:
    """Whether `make test` compiles the source for the architecture; `make test-all` has the others."""
    return source.name in QUICK_SOURCES and is_first(source, arch)


def sources(folder: str = "cuda") -> tuple[Source, ...]:
    """The CUDA files of a folder beside this file, by name."""
    return tuple(_source(path) for path in sorted((FOLDER / folder).glob("*.cu")))


def assemblies() -> tuple[Source, ...]:
    """The files of PTX written by hand, by name."""
    return tuple(_source(path) for path in sorted(FOLDER.glob("assembly/*.ptx")))


def compiled(source: Source, arch: str, directory: Path, *, cache: Cache | None = None) -> Path:
    """The PTX of a CUDA file as a file under ``directory``; raises ToolError where there is no nvcc."""
    ptx = directory / arch / f"{source.name}.ptx"
    ptx.parent.mkdir(parents=True, exist_ok=True)
    ptx.write_bytes(compile_ptx(_nvcc(), source.path, arch, source.flags, cache=cache).output)
    return ptx


@cache
def _nvcc() -> Tool:
    search = find_tool("nvcc")
    if isinstance(search, Missing):
        raise ToolError(search.explain())
    return load_tool(search)


def _source(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    # The target of PTX is the only arch that it is for.
    target = re.search(r"(?:^|\s)\.target\s[^\n;]*?\b(sm_\w+)", text) if path.suffix == ".ptx" else None
    archs = (target[1],) if target else _said(text, "archs") or ARCHS
    return Source(path, _said(text, "flags"), archs)


def _said(text: str, what: str) -> tuple[str, ...]:
    match = re.match(rf"(?://[^\n]*\n)*?// {what}:([^\n]*)\n", text)
    return tuple(match[1].split()) if match else ()
