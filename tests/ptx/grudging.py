"""An assembler that is never content: it spills whatever it gets, the less the more is kept in shared memory.

In: PTX.  Out: what ptxas would say if kernels had far more values than registers::

    Build(Grudging(), limits=Limits(block=(64,)))      # passes that ask it demote all that they can
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from comprehensive.toolchain.compiled import Compiled

MUCH = 1 << 20
_ENTRY = re.compile(r"\.entry\s+([\w$]+)([^{]*)\{([^\0]*?)^\}", re.MULTILINE)


@dataclass
class Grudging:
    """``asked`` are the texts that it was given."""

    shared_bytes: int = 0
    registers: int = 200
    asked: list[str] = field(default_factory=list[str])
    version: str = "13.0"

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        self.asked.append(ptx)
        lines: list[str] = []
        for name, head, body in _ENTRY.findall(re.sub(r"//[^\n]*", "", ptx)):
            limit = re.search(r"\.maxnreg\s+(\d+)", head)
            kept = len(re.findall(r"(?:st|ld)\.(?:volatile\.)?shared\.b\d+ (?:\S+, )?\[%demoted", body))
            kept += 1000 * body.count("enable_smem_spilling")
            spilled = max(4, MUCH - kept) if limit else 0
            lines += [
                f"ptxas info    : Compiling entry function '{name}' for '{arch}'",
                f"ptxas info    : Function properties for {name}",
                f"    {spilled} bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads",
                f"ptxas info    : Used {limit[1] if limit else self.registers} registers, "
                f"used 0 barriers, {self.shared_bytes} bytes smem",
            ]
        return Compiled(b"", "\n".join(lines))
