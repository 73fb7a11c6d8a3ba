"""The kernels of a program as a device runs them: CUDA to PTX, passes over it, PTX to a cubin.

In: a translation unit and an architecture.  Out: :class:`CompiledKernels`::

    compiler = KernelCompiler.find("pre,dce", cuda_path=None)
    compiler.compile(program_unit(plan), "sm_90").usages["matmul_leaf0"].registers_per_thread

What the passes make is checked: it is well formed, and the assembler has taken it.  Versions that have kernels of their
own get copies of them (:func:`copies`): what the passes of a version make of these is all that differs.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, field

from comprehensive.diagnostics import SourceFile
from comprehensive.plan.versions import KernelKey, Version, key_of, symbols_of
from comprehensive.ptx.module import Module, parse
from comprehensive.records import replace
from comprehensive.toolchain.assembler import Assembler, find_assembler
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage

if TYPE_CHECKING:
    from comprehensive.ptx.passes.remark import Remark
    from comprehensive.ptx.pipeline import Check

NOTHING: Mapping[str, str] = MappingProxyType({})


class CompiledKernels(Struct, frozen=True):
    """The kernels of a unit for one architecture, behind all passes; ``usages`` are by symbol."""

    arch: str
    ptx: str
    cubin: bytes
    usages: Mapping[str, Usage]
    remarks: tuple[Remark, ...]
    copied: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The kernels that versions have of their own: by symbol, the symbol of the original, and the pipeline."""

    def bytes_of_a_warp(self, symbol: str) -> int:
        """The dynamic shared memory that a launch of a kernel has to add for each warp of a block."""
        from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, fact_of

        return fact_of(DYNAMIC_BYTES_PER_WARP, self.remarks, symbol)

    def has_numbers(self, symbol: str) -> bool:
        """Whether a launch of a kernel says which blocks run."""
        from comprehensive.ptx.passes.remark import GRID_PARAMETERS, fact_of

        return fact_of(GRID_PARAMETERS, self.remarks, symbol) > 0

    def resident_warps(self, symbol: str) -> int:
        """Return the number of warps of a kernel that shall be resident on a multiprocessor; 0 for as many as fit."""
        from comprehensive.ptx.passes.remark import RESIDENT_WARPS, fact_of

        return fact_of(RESIDENT_WARPS, self.remarks, symbol)


class KernelCompiler(Struct, frozen=True):
    """nvcc, the passes over what it makes, and the assembler.

    ``passes`` is the text of a pipeline, ``flags`` are further ones of nvcc.
    """

    nvcc: Tool
    assembler: Assembler
    passes: str = ""
    flags: tuple[str, ...] = ()

    @staticmethod
    def find(passes: str, cuda_path: str | None) -> KernelCompiler:
        """The compiler with the tools of this machine. ToolError where one is missing."""
        found = find_tool("nvcc", cuda_path)
        if isinstance(found, Missing):
            raise ToolError(f"compiled kernels need nvcc\n{found.explain()}\nhelp: {found.help}")
        return KernelCompiler(load_tool(found), find_assembler(cuda_path), passes)

    def compile(
        self,
        unit: str,
        arch: str,
        own: Mapping[str, str] = NOTHING,
        checks: Sequence[Check] = (),
        versions: Sequence[Version] = (),
    ) -> CompiledKernels:
        """Compile a translation unit for an architecture, with further ``checks`` behind each pass.

        ``own`` are further pipelines of single kernels, by symbol, which run behind that of all.  What ``versions``
        have of their own are further kernels (`version_symbol`): what nvcc has made, through their passes alone.

        CommandLineError for a pipeline that is not understood, CompileError where a pass is at fault,
        SourceRejectedError where a tool rejects what it is given.
        """
        # Imported here: most programs are generated without passes.
        from comprehensive.embedding.compiled import copies, kernels_of
        from comprehensive.ptx.build import Build
        from comprehensive.ptx.pipeline import rewrite

        with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
            source = Path(scratch) / "kernels.cu"
            source.write_text(unit, encoding="utf-8")
            text = compile_ptx(self.nvcc, source, arch, self.flags).output.decode()
        build, source = Build(self.assembler, arch), text
        remarks: list[Remark] = []
        for pipeline, symbols in ((self.passes, None), *_by_pipeline(own)):
            only = replace(build, functions=symbols)
            text, told = rewrite(text, pipeline, name="kernels.ptx", build=only, checks=checks)
            remarks += told
        copied: Mapping[str, tuple[str, str]] = {}
        if any(version.pipelines for version in versions):
            copied = symbols_of(versions, kernels_of(source))
            text += copies(source, {symbol: original for symbol, (original, _) in copied.items()})
            for pipeline, symbols in _by_pipeline({name: pipeline for name, (_, pipeline) in copied.items()}):
                only = replace(build, functions=symbols)
                text, told = rewrite(text, pipeline, name="kernels.ptx", build=only, checks=checks)
                remarks += told
        assembled = self.assembler.assemble(text, arch)
        return CompiledKernels(arch, text, assembled.output, assembled.usage, tuple(remarks), copied)


def _by_pipeline(own: Mapping[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each pipeline with the kernels that it is for."""
    for pipeline in dict.fromkeys(own.values()):
        yield pipeline, frozenset(symbol for symbol, each in own.items() if each == pipeline)


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
