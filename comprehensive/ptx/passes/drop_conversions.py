"""Conversions of addresses in global memory that no generic access needs.

    cvta.global.u64 %rd2, %rd1;          -->  mov.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];                ld.global.u32 %r1, [%rd2];

A generic address is the address in global memory ("PTX ISA 9.0", 6.4.1), so that the conversion changes no number; what
it says is that the number is generic.  Where nothing generic is made of it (no generic access, no store of the address,
no call that gets it), that is not needed: Chakrabarti et al., CUDA compiler optimizations, 2012, figure 3 (d), where
memory space analysis makes the conversions before a loop redundant.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.opcodes import Effect, Opcode, opcode
from comprehensive.ptx.operands import Address
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.ptx_pass import FunctionPass, shown
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Instruction


@dataclass(frozen=True)
class DropConversions(FunctionPass):
    name = "drop-conversions"
    summary = "conversions that no generic access needs: cvta.global.u64 q, p; --> mov.u64 q, p;"

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module)
        depths = scope_depths(function.body)
        edits = Edits(analyses.flow)
        remarks: list[Remark] = []
        for number, step in enumerate(analyses.flow.steps):
            instruction = step.instruction
            if instruction.opcode.base != "cvta" or instruction.opcode.modifiers[0] != "global":
                continue
            reader = _needing(analyses, number)
            if reader is not None or depths[step.position]:
                why = (
                    "it stands in a scope of inline assembly"
                    if reader is None
                    else f"{shown(analyses.flow.steps[reader].instruction)} may need a generic address"
                )
                remarks.append(self.missed(function, instruction, f"{shown(instruction)} stays: {why}"))
                continue
            changed = Instruction(
                opcode(f"mov.{instruction.opcode.types[0]}"), instruction.operands, instruction.guard
            )
            edits.replace(number, (changed,))
            text = f"{shown(instruction)} --> {shown(changed)}"
            remarks.append(self.applied(function, instruction, text))
        return (None if edits.is_empty else function.with_body(edits.made())), tuple(remarks)


def _needing(analyses: Analyses, number: int) -> int | None:
    """The first step that may take what a conversion makes for a generic address; None where none does."""
    steps, ssa = analyses.flow.steps, analyses.ssa
    made = set(ssa.defines[number])
    if made & ssa.fixed or any(ssa.is_entry(value) for value in made):
        return number
    waiting = list(made)
    merging = ssa.merged
    while waiting:
        value = waiting.pop()
        for reader in ssa.readers[value]:
            step = steps[reader]
            if _may_need(step.instruction, {analyses.flow.registers[ssa.values[value].register].name}):
                return reader
            if step.instruction.opcode.effect is not Effect.NONE:
                # A plain access of global memory: what it loads is not made of the address.
                continue
            for defined in (*ssa.defines[reader], *merging.get(value, ())):
                if ssa.is_entry(defined):
                    return reader
                if defined not in made:
                    made.add(defined)
                    waiting.append(defined)
        for merged in merging.get(value, ()):
            if merged not in made:
                made.add(merged)
                waiting.append(merged)
    return None


def _may_need(instruction: Instruction, names: set[str]) -> bool:
    """Whether an instruction that reads an address in one of the registers may need it to be a generic one."""
    code = instruction.opcode
    if code.effect is Effect.NONE and not code.has_side_effects and not code.is_terminator:
        return code.base in ("cvta", "isspacep")
    if not _is_global_access(code):
        return True
    return any(
        name in names
        for operand in instruction.operands
        if not isinstance(operand, Address)
        for name in operand.names
    )


def _is_global_access(code: Opcode) -> bool:
    return code.base in ("ld", "st", "atom", "red") and code.space == "global" and code.spaces == ("global",)
