"""Other names for the registers of one step; symbols of the same spelling stay.

In: a step and its flow, the new names of what it defines and uses.  Out: an instruction::

    renamed(flow, step, defines=("%a",), uses=("%b", "%c"))     # add.s32 %a, %b, %c;
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from comprehensive.ptx.flow import Flow, Step
from comprehensive.ptx.opcodes import Role
from comprehensive.ptx.operands import Address, Expression, Immediate, Name, Not, Operand, Several, Sum
from comprehensive.ptx.statements import MADE, Instruction

_WORD = re.compile(r"[%$A-Za-z_][\w$.]*")


def renamed(
    flow: Flow, step: Step, defines: Sequence[str], uses: Sequence[str], guard: str | None = None
) -> Instruction:
    """The step's instruction with new names, which are in the order of its registers; what is both defined and used
    by one operand takes the name of the definition."""
    instruction = step.instruction
    operands = instruction.operands
    roles = instruction.opcode.roles(len(operands))
    places = _Places(flow, step, defines, uses)
    changed = tuple(
        operand
        if role in (Role.LABEL, Role.TARGETS)
        else with_names(operand, lambda name, role=role: places.new_name(name, role))
        for operand, role in zip(operands, roles, strict=True)
    )
    guarded = instruction.guard
    if guard is not None and guarded is not None:
        guarded = Not(Name(guard)) if isinstance(guarded, Not) else Name(guard)
    return Instruction(instruction.opcode, changed, guarded, MADE, MADE)


def with_names(operand: Operand, new_name: Callable[[str], str]) -> Operand:
    """The operand with every name replaced, in order."""
    match operand:
        case Name(text):
            return Name(new_name(text)) if operand.names else operand
        case Not(inner):
            return Not(Name(new_name(inner.text)))
        case Sum(base, offset):
            return Sum(Name(new_name(base.text)), offset)
        case Address(Name(text), offset):
            return Address(Name(new_name(text)), offset)
        case Several():
            return replace(operand, items=tuple(with_names(item, new_name) for item in operand.items))
        case Expression(text, names):
            fresh = {name: new_name(name) for name in dict.fromkeys(names)}
            text = _WORD.sub(lambda found: fresh.get(found[0], found[0]), text)
            return Expression(text, tuple(fresh[name] for name in names))
        case Address() | Immediate():
            return operand


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

    def new_name(self, name: str, role: Role) -> str:
        if self._symbols and self._symbols[-1] == name and not self._is_next(name, role):
            return self._symbols.pop()
        new = name
        if role is not Role.DEF and self._uses and self._uses[-1][0] == name:
            new = self._uses.pop()[1]
        if role in (Role.DEF, Role.DEF_USE) and self._defines and self._defines[-1][0] == name:
            new = self._defines.pop()[1]
        return new

    def _is_next(self, name: str, role: Role) -> bool:
        pairs = self._defines if role is Role.DEF else self._uses
        return bool(pairs) and pairs[-1][0] == name
