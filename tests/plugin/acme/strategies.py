"""A strategy that has the compiler keep to few registers."""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.records import replace


@dataclass(frozen=True, slots=True)
class FewRegisters:
    """register_cap = none  -->  register_cap = 24"""

    name: str = "few-registers"
    improves: tuple[str, ...] = ("registers_per_thread", "registers_twice")
    on_ir: bool = True
    decision: tuple[str, str] = ("few", "")

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        if fragment.register_cap is not None and fragment.register_cap <= 24:
            return NotApplicable("the compiler keeps to few registers already")
        return Applied(replace(fragment, register_cap=24), "at most 24 registers")
