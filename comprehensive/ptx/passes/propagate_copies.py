"""Copies of registers read where they come from.

    mov.b32 %r5, %r3;                    -->  mov.b32 %r5, %r3;            # dce takes it away
    add.s32 %r6, %r5, 1;                      add.s32 %r6, %r3, 1;

What `pre` leaves behind where a value was computed already is such a copy, and what is made of it is then seen to be
the same, or not to change in a loop.  A copy is read at its source where the source has one definition in the function,
so that it still holds the value wherever the copy does.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.ssa import NONE
from comprehensive.ptx.build import Build
from comprehensive.ptx.flow import roles_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.opcodes import Role
from comprehensive.ptx.operands import Name, Operand, renamed
from comprehensive.ptx.passes.declared import Declared
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.ptx_pass import FunctionPass, shown
from comprehensive.ptx.passes.remark import Remark

_READ = frozenset({Role.USE, Role.ADDRESS})


@dataclass(frozen=True)
class PropagateCopies(FunctionPass):
    name = "propagate-copies"
    summary = "copies read where they come from: mov.b32 a, b; add.s32 c, a, 1; --> add.s32 c, b, 1;"

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module)
        sources = _Sources(analyses)
        declared = Declared(function.body)
        edits = Edits(analyses.flow)
        remarks: list[Remark] = []
        for number, step in enumerate(analyses.flow.steps):
            instruction = step.instruction
            if sources.depths[step.position]:
                continue
            operands: list[Operand] = []
            roles = roles_of(instruction)
            for operand, role, value in zip(
                instruction.operands, roles, analyses.operand_values[number], strict=True
            ):
                source = sources.of(value) if role in _READ and value != NONE else None
                if source is None or not declared.at(step.position, (source,)):
                    operands.append(operand)
                else:
                    operands.append(renamed(operand, lambda _, source=source: source))
            if tuple(operands) == instruction.operands:
                continue
            changed = instruction._replace(operands=tuple(operands), start=-1, end=-1)
            edits.replace(number, (changed,))
            text = f"{shown(instruction)} --> {shown(changed)}"
            remarks.append(self.applied(function, instruction, text))
        return (None if edits.is_empty else function.with_body(edits.made())), tuple(remarks)


class _Sources:
    """The registers that values are copied from."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses
        self._flow = analyses.flow
        self.depths = scope_depths(analyses.function.body)

    def of(self, value: int) -> str | None:
        """The register that a value can be read in instead of its own; None where there is none."""
        found = None
        ssa = self._analyses.ssa
        while True:
            copied = self._copied(value)
            if copied is None:
                return found
            value = copied
            found = self._flow.registers[ssa.values[copied].register].name

    def _copied(self, value: int) -> int | None:
        """The value that a ``mov`` gives on, if its register holds nothing else and is of the same type."""
        ssa, registers = self._analyses.ssa, self._flow.registers
        step_number = ssa.values[value].step
        if step_number == NONE:
            return None
        step = self._flow.steps[step_number]
        code, operands = step.instruction.opcode, step.instruction.operands
        if code.base != "mov" or step.guard is not None or len(operands) != 2:
            return None
        if not all(isinstance(operand, Name) for operand in operands) or self.depths[step.position]:
            return None
        source = self._analyses.operand_values[step_number][1]
        if source == NONE or ssa.is_entry(source):
            return None
        to, from_ = registers[ssa.values[value].register], registers[ssa.values[source].register]
        if to.type == "pred" or to.type != from_.type:
            # What takes a register of bits may not take one of floats.
            return None
        if to.scope or from_.scope or from_.number in ssa.fixed:
            return None
        return source if self._flow.definitions[from_.number] == 1 else None
