"""The remarks of a pass: that it changed something, why it did not, or what it has found out.

str(Remark(APPLIED, "dce", "matmul", span, "removed 'mov.u32 %r1, 4;'"))
# "matmul.ptx:12:2: remark: dce: removed 'mov.u32 %r1, 4;' [applied]"
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from comprehensive.diagnostics import Span

DYNAMIC_BYTES_PER_WARP = "dynamic_shared_bytes_per_warp"
"""The fact of a kernel whose launch has to add so much dynamic shared memory for each warp of a block."""
GRID_PARAMETERS = "grid_parameters"
"""The fact of a kernel whose launch has to say which blocks run, in so many more arguments (pass ``grid-stride``)."""

RESIDENT_WARPS = "warps_per_multiprocessor"
"""The fact of a kernel of which a launch shall have so many warps on a multiprocessor at a time; 0: what fits."""


class Kind(Enum):
    APPLIED = "applied"
    MISSED = "missed"
    ANALYSIS = "analysis"


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark: ``function`` is None for what concerns the module; ``span`` for what stands in no text.

    ``facts`` say in numbers, by names with units, what callers act upon: a launcher adds the shared memory that a
    kernel has come to need.
    """

    kind: Kind
    pass_name: str
    function: str | None
    span: Span | None
    text: str
    facts: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        place = "" if self.span is None else f"{self.span}: "
        where = f" in {self.function}" if self.span is None and self.function is not None else ""
        return f"{place}remark: {self.pass_name}{where}: {self.text} [{self.kind.value}]"


def fact_of(fact: str, remarks: Iterable[Remark], kernel: str) -> int:
    """Return the number that remarks state for a kernel as a fact, :data:`GRID_PARAMETERS` for example; 0 if none."""
    facts = (each for remark in remarks if remark.function == kernel for each in remark.facts)
    return sum(number for name, number in facts if name == fact)


def to_json(remark: Remark) -> dict[str, Any]:
    """The remark as plain data; line and column begin at 1."""
    line, column = (None, None) if remark.span is None else remark.span.position
    return {
        "kind": remark.kind.value,
        "pass": remark.pass_name,
        "function": remark.function,
        "line": line,
        "column": column,
        "text": remark.text,
        "facts": dict(remark.facts),
    }
