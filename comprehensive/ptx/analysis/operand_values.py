"""The values of operands.

In: an :class:`Ssa`.  Out: for every step, a number for each of its operands: the value of a register, also behind
``!`` and in an address; -1 for what is not one register (a literal, a symbol, a vector)::

    operand_values_of(ssa)[3]     # (41, 12, -1) of add.s32 %r3, %r1, 4
"""

from __future__ import annotations

from comprehensive.ptx.analysis.ssa import NONE, Ssa
from comprehensive.ptx.flow import Step, role_of, roles_of
from comprehensive.ptx.opcodes import Role


def operand_values_of(ssa: Ssa) -> tuple[tuple[int, ...], ...]:
    """Return the value in each operand of each step.

    An operand that is both read and defined has the value that is read.

    >>> operand_values_of(ssa)[0]    # doctest: +SKIP
    (7, -1)
    """
    names = [register.name for register in ssa.cfg.flow.registers]
    return tuple(
        [_values(step, ssa.defines[n], ssa.uses[n], names) for n, step in enumerate(ssa.cfg.flow.steps)]
    )


def _values(
    step: Step, defines: tuple[int, ...], uses: tuple[int, ...], registers: list[str]
) -> tuple[int, ...]:
    operands = step.instruction.operands
    found: list[int] = []
    define = use = 0
    for operand, role in zip(operands, roles_of(step.instruction), strict=True):
        names = operand.names
        value = NONE
        if role is not Role.LABEL and role is not Role.TARGETS:
            for name in names:
                whole = name
                if "." in name:
                    # A part of a register (%r1.b0, v.x) is another value.
                    whole = name.rpartition(".")[0]
                of_name = role_of(name, role)
                if (
                    (of_name is Role.DEF or of_name is Role.DEF_USE)
                    and define < len(defines)
                    and registers[step.defines[define]] == whole
                ):
                    value = defines[define]
                    define += 1
                if of_name is not Role.DEF and use < len(uses) and registers[step.uses[use]] == whole:
                    value = uses[use]
                    use += 1
                if whole is not name:
                    value = NONE
            if len(names) > 1:
                value = NONE
        found.append(value)
    return tuple(found)
