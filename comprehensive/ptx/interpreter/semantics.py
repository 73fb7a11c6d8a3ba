"""All instructions that compute: one table from base opcodes to what they do.

    operation_of(opcode("add.rz.f32"))      # an Operation, or None for what the interpreter does not know

A form is asked for where it is listed first: the builders of one group give None for what belongs to another.
"""

from __future__ import annotations

from functools import cache

from comprehensive.ptx.interpreter import (
    approximations,
    comparisons,
    conversions,
    float_operations,
    integer_operations,
)
from comprehensive.ptx.interpreter.operation import Operation
from comprehensive.ptx.opcodes import Opcode

GROUPS = (
    integer_operations.BUILDERS,
    float_operations.BUILDERS,
    approximations.BUILDERS,
    comparisons.BUILDERS,
    conversions.BUILDERS,
)


@cache
def operation_of(opcode: Opcode) -> Operation | None:
    for group in GROUPS:
        builder = group.get(opcode.base)
        found = None if builder is None else builder(opcode)
        if found is not None:
            return found
    return None
