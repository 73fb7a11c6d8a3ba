"""Addresses in one memory beside the generic addresses that a function computes.

    cvta.shared.u64 %rd2, tile;           mov.u64 %s0, tile;
    add.s64 %rd3, %rd2, %rd1;        +    add.s64 %s1, %s0, %rd1;        # [%s1] is shared what [%rd3] is generic

Of ``cvta.to.shared`` in front of each access ptxas makes a move of its own and keeps the generic address in 64 bits, so
that a loop gets longer; an address that has never been generic costs nothing.  Each register gets a twin, defined where
it is: by the same computation, or by ``cvta.to`` where the computation is none of those known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.ssa import NONE
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Immediate, Name, Operand
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.statements import Instruction

FREE = frozenset({"mov", "cvta"})
"""The opcodes that ptxas makes no instruction of, or one that does not change in a loop; not so ``cvta.to``."""

_WINDOW_ALIGNMENT = 1 << 10
"""The shared memory of a block begins at a multiple of it in the generic addresses, as variables with ``.align`` have
the same multiples in both."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A computation in one memory beside a step that computes a generic address.

    ``operands`` are those whose twins it reads; ``is_free`` says that ptxas makes no instruction of it.
    """

    step: int
    register: int
    space: Space
    operands: tuple[int, ...]
    is_conversion: bool
    is_free: bool


class SpecificAddresses:
    """Addresses in one memory for one function; nothing is changed before :meth:`place`."""

    def __init__(self, analyses: Analyses) -> None:
        self._ssa = analyses.ssa
        self._flow = analyses.flow
        self._values = analyses.operand_values
        self._spaces = analyses.spaces.values
        assert analyses.module is not None
        self._bits = analyses.module.address_bits

    def twins(self, value: int, space: Space) -> tuple[Twin, ...]:
        """All that the twin of a value is made of, in the order of the steps."""
        found: dict[int, Twin] = {}
        seen: set[int] = set()
        work = [value]
        while work:
            each = work.pop()
            if each in seen:
                continue
            seen.add(each)
            work += self._merged(each)
            step = self._ssa.values[each].step
            if step == NONE:
                continue
            twin = self._twin(step, self._ssa.values[each].register, space)
            found[step] = twin
            work += [self._values[step][place] for place in twin.operands]
        return tuple(found[step] for step in sorted(found))

    def _merged(self, value: int) -> Iterator[int]:
        """Yield the values that the same register may hold on other ways."""
        phi = self._ssa.phi_of.get(value)
        if phi is not None:
            yield from (argument for argument in phi.arguments if argument != NONE)
        step = self._ssa.values[value].step
        if step != NONE and self._ssa.previous[step]:
            yield self._ssa.previous[step][self._ssa.defines[step].index(value)]

    def _twin(self, step: int, register: int, space: Space) -> Twin:
        operands = self._pointers(step, space)
        if operands is None:
            return Twin(step, register, space, (), is_conversion=True, is_free=False)
        is_free = self._flow.steps[step].instruction.opcode.base in FREE
        return Twin(step, register, space, operands, is_conversion=False, is_free=is_free)

    def _pointers(self, step: int, space: Space) -> tuple[int, ...] | None:
        """Operands that are read as addresses in the space instead; None where the result is to be converted."""
        instruction = self._flow.steps[step].instruction
        code, operands = instruction.opcode, instruction.operands
        if len(self._flow.steps[step].defines) != 1 or not isinstance(operands[0], Name):
            return None
        if code.reads_carry or code.writes_carry or "sat" in code.modifiers:
            return None
        match code.base:
            case "cvta" if code.modifiers[0] == space.value:
                return ()
            case "mov" if self._is_pointer(step, 1, space):
                return (1,)
            case "add" if self._is_pointer(step, 1, space) and self._is_number(step, 2):
                return (1,)
            case "add" if self._is_pointer(step, 2, space) and self._is_number(step, 1):
                return (2,)
            case "sub" if self._is_pointer(step, 1, space) and self._is_number(step, 2):
                return (1,)
            case "mad" if {"lo", "wide"} & set(code.modifiers) and self._is_pointer(step, 3, space):
                return (3,) if self._is_number(step, 1) and self._is_number(step, 2) else None
            case "selp" if self._is_pointer(step, 1, space) and self._is_pointer(step, 2, space):
                return (1, 2)
            case "and" if self._is_pointer(step, 1, space) and space is Space.SHARED:
                return (1,) if self._clears_only_low_bits(operands[2]) else None
            case _:
                return None

    def _is_pointer(self, step: int, place: int, space: Space) -> bool:
        value = self._values[step][place]
        if value == NONE or self._spaces[value] is not space:
            return False
        register = self._flow.registers[self._ssa.values[value].register]
        return self._flow.steps[step].instruction.operands[place] == Name(register.name)

    def _is_number(self, step: int, place: int) -> bool:
        value = self._values[step][place]
        if value != NONE:
            return self._spaces[value].is_number
        return isinstance(self._flow.steps[step].instruction.operands[place], Immediate)

    def _clears_only_low_bits(self, mask: Operand) -> bool:
        if not isinstance(mask, Immediate) or not isinstance(mask.value, int):
            return False
        cleared = ~mask.value & ((1 << self._bits) - 1)
        return cleared < _WINDOW_ALIGNMENT and cleared & (cleared + 1) == 0


class Placing:
    """Twins that are to stand in a body; each is placed once."""

    def __init__(self, analyses: Analyses, edits: Edits, fresh: Fresh) -> None:
        assert analyses.module is not None
        self._analyses = analyses
        self._flow = analyses.flow
        self._edits = edits
        self._fresh = fresh
        self._bits = analyses.module.address_bits
        self._names: dict[tuple[int, Space], Name] = {}
        self._placed: set[Twin] = set()

    def name(self, register: int, space: Space) -> Name:
        """The register's twin."""
        key = register, space
        if key not in self._names:
            self._names[key] = self._fresh.register(f"b{self._bits}")
        return self._names[key]

    def place(self, twin: Twin) -> None:
        if twin in self._placed:
            return
        self._placed.add(twin)
        instruction = self._flow.steps[twin.step].instruction
        name = self.name(twin.register, twin.space)
        if twin.is_conversion:
            generic = Name(self._flow.registers[twin.register].name)
            code = opcode(f"cvta.to.{twin.space.value}.u{self._bits}")
            self._edits.after(twin.step, (Instruction(code, (name, generic), instruction.guard),))
            return
        code = instruction.opcode if twin.operands else opcode(f"mov.u{self._bits}")
        operands = list(instruction.operands)
        operands[0] = name
        for place in twin.operands:
            value = self._analyses.operand_values[twin.step][place]
            operands[place] = self.name(self._analyses.ssa.values[value].register, twin.space)
        self._edits.before(twin.step, (Instruction(code, tuple(operands), instruction.guard),))
