"""Fewer registers in the compiled kernel: a variant in, one whose threads take as many as let one more block fit out.

    registers_per_thread = 108   -->   80, by a limit that needs no spills             (register-cap)
    registers_per_thread = 108   -->   80, with the others in shared memory              (demote-registers)

Both are procedures on the IR in the sense of *comprehensive*, section 3.3: the source CFG stays.  The second one is
Sakdhnagool, Sabne and Eigenmann, RegDem, 2019; it raises ``shared_words_per_block``, which is evaluated again.  They
need the compiler: a run that embeds compiled kernels has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, NotApplicable, Strategy
from comprehensive.records import replace

Lowering = Callable[[Kernel], int | str]
"""Compiles a kernel to fewer registers and says to how many, or why not; its errors are the caller's."""
_REST = {False: "without spills", True: "the others in shared memory"}


@dataclass(frozen=True, slots=True)
class FewerRegisters:
    """A strategy that asks a compiler for fewer registers; ``lowered`` does it."""

    name: str
    lowered: Lowering = field(compare=False)
    demotes: bool
    """Whether values that do not fit go to shared memory; else all have to fit."""
    improves: tuple[str, ...] = (
        "registers_per_thread",
        "occupancy_by_registers",
        "latency_hiding_by_registers",
    )
    on_ir: bool = True
    decision: tuple[str, str] = ("", "")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        from comprehensive.counters.shared_words import KERNEL_NAME
        from comprehensive.lowering.lower import lower

        if fragment.demoted:
            return NotApplicable("what does not fit its registers lies in shared memory already")
        found = self.lowered(lower(fragment, KERNEL_NAME))
        if isinstance(found, str):
            return NotApplicable(found)
        limited = replace(fragment, register_cap=found, demoted=self.demotes)
        return Applied(limited, f"at most {found} registers, {_REST[self.demotes]}")


class LocalSpills(Struct, frozen=True):
    """The way back where shared memory does not suffice: values that lay there are spilled to local memory."""

    name: str = "local-spills"
    improves: tuple[str, ...] = (
        "shared_words_per_block",
        "occupancy_by_shared_memory",
        "latency_hiding_by_shared_memory",
    )
    on_ir: bool = True
    decision: tuple[str, str] = ("", "")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        if not fragment.demoted:
            return NotApplicable("no values of registers lie in shared memory")
        note = f"at most {fragment.register_cap} registers, the others spilled to local memory"
        return Applied(replace(fragment, demoted=False), note)


def compiled_strategies(lowerings: Mapping[str, Lowering]) -> tuple[Strategy[Variant], ...]:
    """The strategies for kernels that are compiled with passes, in the order in which they are tried."""
    return (
        FewerRegisters("register-cap", lowerings["register-cap"], demotes=False),
        FewerRegisters("demote-registers", lowerings["demote-registers"], demotes=True),
        LocalSpills(),
    )
