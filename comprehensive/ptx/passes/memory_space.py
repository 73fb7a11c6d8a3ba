"""Generic accesses to accesses of the one memory that their addresses point to.

    cvta.shared.u64 %rd2, tile;
    ld.f32 %f1, [%rd2+4];          -->  ld.shared.f32 %f1, [tile+4];

Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.1.  A generic address is the address in global memory
("PTX ISA 9.0", 6.4.1: all that lies in no window of another memory); for shared, local and constant memory the address
there is computed beside the generic one, from where that is made.  What nobody reads any more goes.  An access stays
generic where a loop would get longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.access_forms import form_obstacle
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import cfg_of
from comprehensive.ptx.analysis.loops import NO_LOOP
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.ssa import NONE
from comprehensive.ptx.build import Build
from comprehensive.ptx.flow import Flow, flow_of
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import Opcode, opcode
from comprehensive.ptx.operands import Address, Name
from comprehensive.ptx.passes.dce import dead_steps
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.passes.specific_addresses import FREE, Placing, SpecificAddresses, Twin
from comprehensive.ptx.statements import Instruction, Statement

_ACCESSES = frozenset({"ld", "st", "atom", "red"})
_MEMORIES = frozenset({Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONST})
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
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module, parameters_are_global=self.kernel_pointers_are_global)
        rewriting = _Rewriting(self, analyses)
        body = rewriting.body()
        return None if body is None else function.with_body(body), rewriting.remarks


@dataclass(frozen=True)
class _Access:
    """A generic access of one memory; ``twins`` are what its address there is made of, none where it is at hand."""

    step: int
    space: Space
    twins: tuple[Twin, ...]


class _Rewriting:
    def __init__(self, settings: MemorySpace, analyses: Analyses) -> None:
        self._settings = settings
        self._analyses = analyses
        self._flow = analyses.flow
        self._clusters = any(_speaks_of_clusters(step.instruction.opcode) for step in self._flow.steps)
        self._remarks: dict[int, Remark] = {}

    @cached_property
    def _depths(self) -> list[int]:
        return scope_depths(self._flow.function.body)

    @cached_property
    def _addresses(self) -> SpecificAddresses:
        return SpecificAddresses(self._analyses)

    @cached_property
    def _was_dead(self) -> frozenset[int]:
        return frozenset(dead_steps(self._analyses.cfg))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return tuple(self._remarks[step] for step in sorted(self._remarks))

    def body(self) -> Sequence[Statement] | None:
        """Accesses stay generic until no loop has more instructions than before."""
        accesses = [access for n in range(len(self._flow.steps)) if (access := self._access(n)) is not None]
        while True:
            edits, body = self._made(accesses)
            if edits.is_empty:
                return None
            body, gone = self._without_dead(edits, body)
            longer = self._longer(accesses, gone)
            left = [access for access in accesses if any(twin in longer for twin in access.twins)]
            if not left:
                return body
            accesses = [access for access in accesses if access not in left]
            for access in left:
                self._missed(
                    access.step, "a loop would get longer by what computes its address in that memory"
                )

    def _access(self, number: int) -> _Access | None:
        """Return the access of a step if it can be changed; None, with a remark where one is due, if not."""
        instruction = self._flow.steps[number].instruction
        if instruction.opcode.base not in _ACCESSES or instruction.opcode.space != "generic":
            return None
        space = self._analyses.spaces.access(number)
        if space not in _MEMORIES:
            return self._missed(number, "it is not known where its address points")
        assert self._analyses.module is not None
        specific = instruction._replace(opcode=_with_space(instruction.opcode, space))
        obstacle = form_obstacle(specific, {}, self._analyses.module)
        if obstacle is not None:
            return self._missed(number, obstacle)
        if space is Space.SHARED and self._clusters:
            return self._missed(
                number, "its address may be in the shared memory of another block of the cluster"
            )
        if self._is_narrow(number):
            return self._missed(number, "its address has not as many bits as the module's")
        if space is Space.GLOBAL:
            return _Access(number, space, ())
        value = self._address_value(number)
        if value == NONE:
            # A symbol that stands for itself is an address in its memory, and no generic one.
            return self._missed(number, "its address is no generic one")
        twins = () if self._origin(value, space) is not None else self._addresses.twins(value, space)
        return _Access(number, space, twins)

    def _address_value(self, number: int) -> int:
        operands = self._flow.steps[number].instruction.operands
        values = self._analyses.operand_values[number]
        return next(v for o, v in zip(operands, values, strict=True) if isinstance(o, Address))

    def _made(self, accesses: Sequence[_Access]) -> tuple[Edits, list[Statement]]:
        edits = Edits(self._flow)
        fresh = Fresh(self._flow.function.body, "space")
        placing = Placing(self._analyses, edits, fresh)
        for access in accesses:
            for twin in access.twins:
                placing.place(twin)
            self._change(access, edits, placing)
        for number, step in enumerate(self._flow.steps):
            if step.instruction.opcode.base == "cvta" and "to" in step.instruction.opcode.modifiers:
                self._conversion(number, edits)
        return edits, fresh.declared(edits.made())

    def _change(self, access: _Access, edits: Edits, placing: Placing) -> None:
        instruction = self._flow.steps[access.step].instruction
        operands = list(instruction.operands)
        for position, operand in enumerate(operands):
            if isinstance(operand, Address) and access.space is not Space.GLOBAL:
                value = self._address_value(access.step)
                register = self._analyses.ssa.values[value].register
                base = self._origin(value, access.space) or placing.name(register, access.space)
                operands[position] = Address(base, operand.offset)
        changed = Instruction(
            _with_space(instruction.opcode, access.space), tuple(operands), instruction.guard
        )
        edits.replace(access.step, (changed,))
        self._applied(access.step, changed)

    def _without_dead(
        self, edits: Edits, body: Sequence[Statement]
    ) -> tuple[Sequence[Statement], frozenset[int]]:
        """Return the body without conversions that nobody reads, and the steps that are gone.

        What computed only the addresses of these conversions goes, too.
        """
        flow = flow_of(self._flow.function.with_body(body))
        positions = edits.positions()
        declared = len(body) - len(positions)
        without = Edits(flow)
        olds: dict[int, int | None] = {}
        for number in dead_steps(cfg_of(flow)):
            position = positions[flow.steps[number].position - declared]
            old = None if position is None else self._flow.step_at[position]
            if flow.steps[number].instruction.opcode.base == "cvta" or (
                old is not None and old not in self._was_dead
            ):
                olds[number] = old
        unread = _unread(flow, olds)
        for number in unread:
            without.replace(number, ())
        gone = (olds[number] for number in unread)
        return without.made(), frozenset(old for old in gone if old is not None)

    def _longer(self, accesses: Sequence[_Access], gone: frozenset[int]) -> frozenset[Twin]:
        """Return twins in loops that get longer by them; each stands beside a step that stays."""
        added = {twin for access in accesses for twin in access.twins if not twin.is_free}
        growth = Counter(self._loop_of(twin.step) for twin in added)
        for step in gone:
            growth[self._loop_of(step)] -= self._flow.steps[step].instruction.opcode.base not in FREE
        loops = {loop for loop, count in growth.items() if count > 0 and loop != NO_LOOP}
        return frozenset(
            twin for twin in added if twin.step not in gone and self._loop_of(twin.step) in loops
        )

    def _loop_of(self, step: int) -> int:
        return self._analyses.loops.innermost[self._analyses.cfg.block_of[step]]

    def _is_narrow(self, number: int) -> bool:
        """Return whether an address is narrower than addresses are.

        Then shared memory may have been meant, and the space left out.
        """
        step = self._flow.steps[number]
        bases = {name for o in step.instruction.operands if isinstance(o, Address) for name in o.names}
        registers = (self._flow.registers[register] for register in step.uses)
        assert self._analyses.module is not None
        bits = self._analyses.module.address_bits
        return any(8 * bytes_of(r.type) < bits for r in registers if r.name in bases)

    def _origin(self, value: int, space: Space) -> Name | None:
        """Return the register that a generic address was converted from, if it still holds that; else None."""
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
        return source if all(self._flow.definitions[register] == 1 for register in uses) else None

    def _conversion(self, number: int, edits: Edits) -> None:
        """Replace ``cvta.to`` of what ``cvta`` made by a ``mov`` of what that was made from.

        It stays where that is not there any more.
        """
        instruction = self._flow.steps[number].instruction
        space = next((s for s in Space if s.value == instruction.opcode.modifiers[1]), Space.ANY)
        value = self._analyses.operand_values[number][1]
        origin = self._origin(value, space) if value >= 0 else None
        if origin is None:
            return
        kind = "u" + instruction.opcode.types[0][1:]
        changed = Instruction(opcode(f"mov.{kind}"), (instruction.operands[0], origin), instruction.guard)
        edits.replace(number, (changed,))
        self._applied(number, changed)

    def _applied(self, number: int, changed: Instruction) -> None:
        instruction = self._flow.steps[number].instruction
        text = f"{shown(instruction)} --> {shown(changed)}"
        self._remarks[number] = self._settings.applied(self._flow.function, instruction, text)

    def _missed(self, number: int, why: str) -> None:
        instruction = self._flow.steps[number].instruction
        text = f"{shown(instruction)} stays generic: {why}"
        self._remarks[number] = self._settings.missed(self._flow.function, instruction, text)


def _unread(flow: Flow, steps: Iterable[int]) -> frozenset[int]:
    """Return those of the steps that no other step reads.

    What was dead before stays, and so does what it reads.
    """
    found = set(steps)
    while True:
        read = {r for n, step in enumerate(flow.steps) if n not in found for r in step.reads}
        kept = {n for n in found if not read.isdisjoint(flow.steps[n].defines)}
        if not kept:
            return frozenset(found)
        found -= kept


def _speaks_of_clusters(code: Opcode) -> bool:
    return code.base in ("mapa", "getctarank") or "shared::cluster" in code.modifiers


def _with_space(generic: Opcode, space: Space) -> Opcode:
    words = list(generic.modifiers)
    place = 0
    while place < len(words) and words[place] in _BEFORE_SPACE:
        place += 1
    words.insert(place, space.value)
    return opcode(".".join((generic.base, *words)))
