"""Other names for the registers of one step; symbols of the same spelling stay.

In: a step and its flow, the new names of what it defines and uses.  Out: an instruction::

    renamed(flow, step, defines=("%a",), uses=("%b", "%c"))     # add.s32 %a, %b, %c;
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comprehensive.ptx.flow import Flow, Step, role_of, roles_of
from comprehensive.ptx.opcodes import Role
from comprehensive.ptx.operands import Name, Not, Operand
from comprehensive.ptx.operands import renamed as with_names
from comprehensive.ptx.statements import MADE, Instruction


def renamed(
    flow: Flow, step: Step, defines: Sequence[str], uses: Sequence[str], guard: str | None = None
) -> Instruction:
    """The step's instruction with new names, which are in the order of its registers; what is both defined and used
    by one operand takes the name of the definition."""
    instruction = step.instruction
    operands = instruction.operands
    roles = roles_of(instruction)
    places = _Places(flow, step, defines, uses)
    changed = tuple(
        operand if role in (Role.LABEL, Role.TARGETS) else places.operand(operand, role)
        for operand, role in zip(operands, roles, strict=True)
    )
    guarded = instruction.guard
    if guard is not None and guarded is not None:
        guarded = Not(Name(guard)) if isinstance(guarded, Not) else Name(guard)
    return Instruction(instruction.opcode, changed, guarded, MADE, MADE)


class _Places:
    """The names of a step come in the order in which :func:`flow_of` met them."""

    def __init__(self, flow: Flow, step: Step, defines: Sequence[str], uses: Sequence[str]) -> None:
        self._defines = self._pairs(flow, step.defines, defines)
        self._uses = self._pairs(flow, step.uses, uses)
        self._symbols = list(reversed(step.symbols))

    def _pairs(self, flow: Flow, registers: Sequence[int], names: Sequence[str]) -> list[tuple[str, str]]:
        found: Iterator[tuple[str, str]] = zip(
            (flow.registers[number].name for number in registers), names, strict=True
        )
        return list(found)[::-1]

    def operand(self, operand: Operand, role: Role) -> Operand:
        """Equal names of one operand are one register."""
        names: dict[str, str] = {}
        for name in operand.names:
            names[name] = self._new_name(name, role_of(name, role))
        return with_names(operand, lambda name: names.get(name, name)) if names else operand

    def _new_name(self, name: str, role: Role) -> str:
        if self._symbols and self._symbols[-1] == name and not self._is_next(name, role):
            return self._symbols.pop()
        # A part of a register is named behind it: %r1.b0.
        whole, dot, part = name.partition(".")
        new = whole
        if role is not Role.DEF and self._is_next(whole, Role.USE):
            new = self._uses.pop()[1]
        if role in (Role.DEF, Role.DEF_USE) and self._is_next(whole, Role.DEF):
            new = self._defines.pop()[1]
        return f"{new}{dot}{part}"

    def _is_next(self, name: str, role: Role) -> bool:
        pairs = self._defines if role is Role.DEF else self._uses
        return bool(pairs) and pairs[-1][0] == name
