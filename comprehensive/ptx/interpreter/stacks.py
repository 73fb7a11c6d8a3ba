"""alloca, stacksave and stackrestore: memory of a thread that grows while it runs.

All of it is one allocation of local memory; its end is that of what may be accessed.
"""

from __future__ import annotations

import numpy as np

from comprehensive.ptx.interpreter.binding import Action, Binding
from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.operands import Immediate

NAME = "the stack"
"""The name of the allocation, which is among the symbols of every function that needs it."""


def stack_change(binding: Binding) -> Action | None:
    """Return the action of alloca, stacksave or stackrestore; None for other instructions."""
    opcode = binding.opcode
    if opcode.base not in ("alloca", "stacksave", "stackrestore"):
        return None
    operands = binding.operands
    type_ = opcode.types[-1]
    stack = binding.frame.symbols[NAME]
    top = binding.machine.stack_top
    if opcode.base == "stackrestore":
        source = binding.source(operands[0], type_)

        def restore(lanes: Lanes) -> None:
            top[lanes.at] = source[lanes.at]

        return restore
    target = binding.target(operands[0], type_)
    if opcode.base == "stacksave":

        def save(lanes: Lanes) -> None:
            target[lanes.at] = top[lanes.at]

        return save
    size = binding.source(operands[1], type_)
    align = int(operands[2].value) if len(operands) > 2 and isinstance(operands[2], Immediate) else 8
    mask = np.uint64(max(align, 16) - 1)

    def allocate(lanes: Lanes) -> None:
        begin = top[lanes.at]
        end = begin + ((size[lanes.at].astype(np.uint64) + mask) & ~mask)
        if int(end.max()) > stack.end:
            place = int(np.flatnonzero(end > stack.end)[0])
            raise Fault(
                "CF1018",
                f"needs more than {stack.size} bytes of stack",
                int(lanes.index[place]),
                "allow for more with stack_bytes=",
            )
        top[lanes.at] = end
        target[lanes.at] = begin

    return allocate
