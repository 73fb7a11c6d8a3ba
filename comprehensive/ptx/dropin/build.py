"""The way in which a call of ptxas assembles, for the passes before it.

In: the real ptxas and a call that is understood.  Out: a :class:`Build`::

    build = build_of("/usr/local/cuda/bin/ptxas", understand(("-arch=sm_90", "-maxrregcount=64", "k.ptx")))
    build.limits.registers, build.arch      # 64, "sm_90"

Passes and their gate of registers ask that ptxas, with the flags of the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from comprehensive.ptx.build import Build, Limits
from comprehensive.ptx.dropin.arguments import Assembly
from comprehensive.toolchain.usage import MOST_REGISTERS

if TYPE_CHECKING:
    from comprehensive.toolchain.assembler import Ptxas
    from comprehensive.toolchain.compiled import Compiled


def build_of(ptxas: str, call: Assembly) -> Build:
    """Return the build. That ptxas is started when it is first asked."""
    values = call.values
    limits = Limits(
        registers=_limit(values.get("maxrregcount", "")),
        block=_numbers(values.get("maxntid", "")),
        blocks=next(iter(_numbers(values.get("minnctapersm", ""))), None),
        override="override-directive-values" in values,
    )
    return Build(_Ptxas(Path(ptxas)), values.get("gpu-name"), limits, call.flags)


@dataclass(frozen=True)
class _Ptxas:
    """A ptxas that is not asked for its version before it is asked for more: most calls have nothing to ask."""

    path: Path

    @property
    def version(self) -> str:
        return self._loaded.version

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        return self._loaded.assemble(ptx, arch, flags)

    @cached_property
    def _loaded(self) -> Ptxas:
        from comprehensive.toolchain.assembler import Ptxas
        from comprehensive.toolchain.cache import Cache
        from comprehensive.toolchain.find import Found
        from comprehensive.toolchain.nvcc import load_tool

        return Ptxas(load_tool(Found("ptxas", self.path, ())), Cache.default())


def _limit(text: str) -> int | None:
    """``archmin`` is what the ABI needs, and leaves nothing to passes; ``archmax`` is no limit."""
    if text == "archmax":
        return MOST_REGISTERS
    return next(iter(_numbers(text)), None)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if re.fullmatch(r"\d+(?:,\d+)*", text) else ()
