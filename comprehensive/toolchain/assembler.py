"""PTX to a cubin with what its kernels take, by whichever assembler there is.

In: PTX, an architecture, flags of ptxas.  Out: :class:`Compiled`, remembered::

    find_assembler().assemble(text, "sm_90", ("-maxrregcount=32",)).usage["scale"].spill_store_bytes

In process (nvJitLink) there is no process to start.  But nvJitLink compiles for the linker, as ``ptxas -c`` does, which
differs where kernels call functions, those behind a division or a square root included: such a text goes to ptxas, too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.compiled import Compiled, SourceRejectedError
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.jitlink import JitLink, find_jitlink, load_jitlink
from comprehensive.toolchain.nvcc import Tool, assemble, load_tool
from comprehensive.toolchain.process import ToolError


class Assembler(Protocol):
    """An assembler: ptxas, or what does the same."""

    @property
    def version(self) -> str:
        """The version, such as ``13.0`` or ``13.0.88``."""
        ...

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        """Assemble PTX. SourceRejectedError where it is rejected, ToolError if the assembler does not run."""
        ...


@dataclass(frozen=True, slots=True)
class Ptxas:
    """A process for each text."""

    tool: Tool
    cache: Cache

    @property
    def version(self) -> str:
        return self.tool.version

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
            source = Path(scratch) / "kernels.ptx"
            source.write_text(ptx, encoding="utf-8", newline="")
            return assemble(self.tool, source, arch, flags, cache=self.cache)


@dataclass(frozen=True, slots=True)
class InProcess:
    """nvJitLink, and ptxas of the same version for what the two count differently."""

    jitlink: JitLink
    ptxas: Ptxas

    @property
    def version(self) -> str:
        return self.ptxas.version

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        try:
            linked = self.jitlink.assemble(ptx, arch, flags)
        except SourceRejectedError:
            # What is not for separate compilation (a pragma), or for the linker, ptxas may take.
            return self.ptxas.assemble(ptx, arch, flags)
        return self.ptxas.assemble(ptx, arch, flags) if functions_called(linked) else linked


def functions_called(linked: Compiled) -> tuple[str, ...]:
    """The functions of a cubin by nvJitLink that are no kernels, sorted.

    All kernels of ``specs/`` for sm_80 and sm_90 and five others, with and without ``-maxrregcount=32``, 506 in all, by
    13.0.88: 11 took other registers or spills than with ptxas, each of them beside such a function.
    """
    return tuple(sorted(set(code_of(linked.output)) - set(linked.usage)))


def find_assembler(cuda_path: str | None = None, *, cache: Cache | None = None) -> Assembler:
    """Return nvJitLink and ptxas where they are of one version, else ptxas, or what there is.

    Builds will have the counts of ptxas.

    nvJitLink without ptxas counts as ``ptxas -c`` does.  Raises ToolError, with the places where they were looked for,
    where there is neither.
    """
    cache = cache or Cache.default()
    tool, library = find_tool("ptxas", cuda_path), find_jitlink(cuda_path)
    if isinstance(tool, Missing) and isinstance(library, Missing):
        raise ToolError(
            f"assembling PTX needs ptxas or nvJitLink\n{tool.explain()}\nhelp: {tool.help}\n"
            f"{library.explain()}\nhelp: {library.help}"
        )
    if isinstance(tool, Missing):
        return load_jitlink(library, cache=cache)
    ptxas = Ptxas(load_tool(tool), cache)
    if isinstance(library, Missing):
        return ptxas
    jitlink = load_jitlink(library, cache=cache)
    return InProcess(jitlink, ptxas) if f"{ptxas.version}.".startswith(f"{jitlink.version}.") else ptxas
