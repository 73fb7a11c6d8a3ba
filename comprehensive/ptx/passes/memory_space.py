"""Generic accesses to accesses of the one memory that their addresses point to.

    cvta.shared.u64 %rd2, tile;
    ld.f32 %f1, [%rd2+4];          -->  ld.shared.f32 %f1, [tile+4];

Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.1.  A generic address is the address in global memory
("PTX ISA 9.0", 6.4.1: all that lies in no window of another memory); in shared, local and constant memory it is
converted where it is not known what it was made of.  Conversions that nobody reads any more go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import cfg_of
from comprehensive.ptx.analysis.spaces import Space
from comprehensive.ptx.flow import flow_of
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import Opcode, opcode
from comprehensive.ptx.operands import Address, Name, Operand
from comprehensive.ptx.passes.dce import dead_steps
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Instruction, Statement

_ACCESSED: dict[str, frozenset[Space]] = {
    "ld": frozenset({Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONST}),
    "st": frozenset({Space.GLOBAL, Space.SHARED, Space.LOCAL}),
    "atom": frozenset({Space.GLOBAL, Space.SHARED}),
    "red": frozenset({Space.GLOBAL, Space.SHARED}),
}
# What stands before the space in the order of the manual.
_BEFORE_SPACE = frozenset(
    ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys")
)


@dataclass(frozen=True)
class MemorySpace(FunctionPass):
    name = "memory-space"
    summary = "accesses of a known memory: ld.f32 a, [p]; --> ld.global.f32 a, [p];"
    kernel_pointers_are_global: bool = option(
        False, "pointers that the host gives to kernels point into global memory, as CUDA has it"
    )

    def rewrite(
        self, function: Function, module: Module
    ) -> tuple[Sequence[Statement] | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module, parameters_are_global=self.kernel_pointers_are_global)
        rewriting = _Rewriting(self, analyses, module)
        body = rewriting.body()
        if body is None:
            return None, tuple(rewriting.remarks)
        return _without_dead_conversions(function, body), tuple(rewriting.remarks)


class _Rewriting:
    def __init__(self, settings: MemorySpace, analyses: Analyses, module: Module) -> None:
        self._settings = settings
        self._analyses = analyses
        self._flow = analyses.flow
        self._depths = scope_depths(analyses.flow.function.body)
        self._definitions = Counter(r for step in self._flow.steps for r in step.defines)
        self._clusters = any(_speaks_of_clusters(step.instruction.opcode) for step in self._flow.steps)
        self._edits = Edits(self._flow)
        self._fresh = Fresh(self._flow.function.body, "space")
        self._word = f"u{module.address_bits}"
        self._converted: dict[tuple[int, int, Space], Name] = {}
        self.remarks: list[Remark] = []

    def body(self) -> list[Statement] | None:
        for number, step in enumerate(self._flow.steps):
            code = step.instruction.opcode
            if code.base in _ACCESSED and code.space == "generic":
                self._access(number)
            elif code.base == "cvta" and "to" in code.modifiers:
                self._conversion(number)
        return None if self._edits.is_empty else self._fresh.declared(self._edits.made())

    def _access(self, number: int) -> None:
        instruction = self._flow.steps[number].instruction
        space = self._analyses.spaces.access(number)
        if space not in _ACCESSED[instruction.opcode.base]:
            self._missed(number, "it is not known where its address points")
            return
        if space is Space.SHARED and self._clusters:
            self._missed(number, "its address may be in the shared memory of another block of the cluster")
            return
        if self._is_narrow(number):
            self._missed(number, "its address has not as many bits as the module's")
            return
        operands: list[Operand] = []
        for position, operand in enumerate(instruction.operands):
            if isinstance(operand, Address):
                specific = self._address(number, position, operand, space)
                if specific is None:
                    self._missed(number, "its address is made in a scope of inline assembly")
                    return
                operand = specific
            operands.append(operand)
        changed = Instruction(_with_space(instruction.opcode, space), tuple(operands), instruction.guard)
        self._edits.replace(number, (changed,))
        text = f"{shown(instruction)} --> {shown(changed)}"
        self.remarks.append(self._settings.applied(self._flow.function, instruction, text))

    def _is_narrow(self, number: int) -> bool:
        """As where it was meant for shared memory, and the space was left out."""
        step = self._flow.steps[number]
        bases = {name for o in step.instruction.operands if isinstance(o, Address) for name in o.names}
        registers = (self._flow.registers[register] for register in step.uses)
        return any(8 * bytes_of(r.type) < int(self._word[1:]) for r in registers if r.name in bases)

    def _address(self, number: int, position: int, address: Address, space: Space) -> Address | None:
        if space is Space.GLOBAL or not isinstance(address.base, Name):
            return address
        value = self._analyses.operand_values[number][position]
        if value < 0:
            # A symbol that stands for itself is an address in its memory, and no generic one.
            return None
        origin = self._origin(value, space)
        if origin is not None:
            return Address(origin, address.offset)
        block = self._analyses.cfg.block_of[number]
        key = block, value, space
        if key not in self._converted:
            if self._depths[self._flow.steps[number].position]:
                return None
            register = self._fresh.register("b" + self._word[1:])
            made = Instruction(opcode(f"cvta.to.{space.value}.{self._word}"), (register, address.base))
            self._edits.before(number, (made,))
            self._converted[key] = register
        return Address(self._converted[key], address.offset)

    def _origin(self, value: int, space: Space) -> Name | None:
        """What a generic address was converted from, where it still holds it."""
        step = self._analyses.ssa.values[value].step
        if step < 0 or self._flow.steps[step].guard is not None:
            return None
        instruction = self._flow.steps[step].instruction
        if instruction.opcode.base != "cvta" or "to" in instruction.opcode.modifiers:
            return None
        if instruction.opcode.modifiers[0] != space.value or self._depths[self._flow.steps[step].position]:
            return None
        source = instruction.operands[1]
        if not isinstance(source, Name):
            return None
        uses = self._flow.steps[step].uses
        return source if all(self._definitions[register] == 1 for register in uses) else None

    def _conversion(self, number: int) -> None:
        """``cvta.to`` of what ``cvta`` made."""
        instruction = self._flow.steps[number].instruction
        space = next((s for s in Space if s.value == instruction.opcode.modifiers[1]), Space.ANY)
        value = self._analyses.operand_values[number][1]
        origin = self._origin(value, space) if value >= 0 else None
        if origin is None:
            return
        kind = "u" + instruction.opcode.types[0][1:]
        changed = Instruction(opcode(f"mov.{kind}"), (instruction.operands[0], origin), instruction.guard)
        self._edits.replace(number, (changed,))
        text = f"{shown(instruction)} --> {shown(changed)}"
        self.remarks.append(self._settings.applied(self._flow.function, instruction, text))

    def _missed(self, number: int, why: str) -> None:
        instruction = self._flow.steps[number].instruction
        text = f"{shown(instruction)} stays generic: {why}"
        self.remarks.append(self._settings.missed(self._flow.function, instruction, text))


def _speaks_of_clusters(code: Opcode) -> bool:
    return code.base in ("mapa", "getctarank") or "shared::cluster" in code.modifiers


def _with_space(generic: Opcode, space: Space) -> Opcode:
    words = list(generic.modifiers)
    place = 0
    while place < len(words) and words[place] in _BEFORE_SPACE:
        place += 1
    words.insert(place, space.value)
    return opcode(".".join((generic.base, *words)))


def _without_dead_conversions(function: Function, body: Sequence[Statement]) -> Sequence[Statement]:
    flow = flow_of(function.with_body(body))
    dead = [
        number for number in dead_steps(cfg_of(flow)) if flow.steps[number].instruction.opcode.base == "cvta"
    ]
    edits = Edits(flow)
    for number in dead:
        edits.replace(number, ())
    return edits.made() if dead else body
