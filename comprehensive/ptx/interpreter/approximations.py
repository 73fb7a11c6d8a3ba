"""Instructions whose results the hardware only approximates: here the exact result, rounded once.

What they are is one table; whoever compares with a device allows for a distance::

    is_approximate(opcode("sin.approx.f32"))      # True
"""

from __future__ import annotations

import numpy as np

from comprehensive.ptx.interpreter.floats import flushed
from comprehensive.ptx.interpreter.operation import Builder, Operation, element_of, has, packed
from comprehensive.ptx.interpreter.rounding import narrow, widen
from comprehensive.ptx.interpreter.values import Array, Computation, callable_of, is_float, unary
from comprehensive.ptx.opcodes import Opcode

FUNCTIONS: dict[str, tuple[int, Computation]] = {
    "div": (2, np.divide),
    "rcp": (1, np.reciprocal),
    "sqrt": (1, np.sqrt),
    "rsqrt": (1, unary(lambda a: 1 / np.sqrt(a))),
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "lg2": (1, np.log2),
    "ex2": (1, np.exp2),
    "tanh": (1, np.tanh),
}
"""The number of sources, and the function on doubles."""


def is_approximate(opcode: Opcode) -> bool:
    return opcode.base in FUNCTIONS and has(opcode, "approx", "full")


def approximation(opcode: Opcode) -> Operation | None:
    if not is_approximate(opcode) and opcode.base not in ("tanh", "ex2"):
        return None
    count, function = FUNCTIONS[opcode.base][0], callable_of(FUNCTIONS[opcode.base][1])
    type_ = opcode.types[-1]
    element = element_of(type_)
    if not is_float(element):
        return None
    flush = has(opcode, "ftz")

    def on_elements(*sources: Array) -> Array:
        if flush:
            sources = tuple(flushed(source, element) for source in sources)
        result = narrow(function(*(widen(source, element) for source in sources)), element, "rn")
        if element == "f64":
            # The approximations of doubles leave the lower word zero.
            return (result.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
        return flushed(result, element) if flush else result

    return Operation((type_,) * count, (type_,), packed(on_elements, type_))


BUILDERS: dict[str, Builder] = dict.fromkeys(FUNCTIONS, approximation)
