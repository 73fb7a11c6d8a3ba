"""The instructions of a cubin as nvdisasm prints them, remembered.

In: the bytes of a cubin.  Out: two texts, of which `comprehensive.sass` makes values::

    disassembler = find_disassembler()
    disassembler.instructions(cubin)      # JSON: mnemonics and operands, absolute targets of branches
    disassembler.life_ranges(cubin)       # text: labels, tables of jumps, registers that are read, written, live
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.toolchain.cache import Cache, cache_key
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, load_tool
from comprehensive.toolchain.process import ToolError, run

TIMEOUT_S = 300.0

# Part of every key: entries of another form are never read.
_ENTRY_FORMAT = "disassembled 1"


class NotDisassembledError(ToolError):
    """nvdisasm runs and does not take the cubin; the message has its words."""


@dataclass(frozen=True, slots=True)
class Disassembler:
    """nvdisasm, and where its answers are kept."""

    tool: Tool
    cache: Cache

    def instructions(self, cubin: bytes) -> str:
        """Return the JSON of nvdisasm. NotDisassembledError for what it does not take."""
        return self._answer(cubin, ("-json",))

    def life_ranges(self, cubin: bytes) -> str:
        """Return the listing of nvdisasm with life ranges, a character a register; errors as for instructions."""
        return self._answer(cubin, ("-c", "-plr", "-lrm", "narrow"))

    def _answer(self, cubin: bytes, flags: Sequence[str]) -> str:
        key = cache_key(_ENTRY_FORMAT, self.tool.version, *flags, cubin)
        kept = self.cache.load(key)
        if kept is not None:
            return kept.decode()
        with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
            file = Path(scratch) / "kernels.cubin"
            file.write_bytes(cubin)
            answer = run((self.tool.path, *flags, file), timeout_s=TIMEOUT_S)
            if answer.returncode != 0:
                raise NotDisassembledError(f"nvdisasm does not take the cubin: {_reason(answer.stderr)}")
        self.cache.store(key, answer.stdout.encode())
        return answer.stdout


def _reason(said: str) -> str:
    """Return the errors among the words of nvdisasm, or all of them."""
    errors = re.findall(r"^nvdisasm (?:error|fatal) +: *(.*)$", said, re.MULTILINE)
    return "; ".join(errors) or said.strip()


def find_disassembler(cuda_path: str | None = None) -> Disassembler:
    """Return nvdisasm; ToolError with the places where it was looked for where there is none."""
    found = find_tool("nvdisasm", cuda_path)
    if isinstance(found, Missing):
        raise ToolError(f"reading SASS needs nvdisasm\n{found.explain()}\nhelp: {found.help}")
    return Disassembler(load_tool(found), Cache.default())
