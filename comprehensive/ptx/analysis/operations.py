"""The bounds of the result of an integer operation, as an unsigned number.

In: opcode, forms of operands (None: not known), bounds of forms as numbers.  Out: least and greatest::

    result_bounds(opcode("rem.u32"), 32, [f, constant(32, 10)], number_bounds)     # (0, 9)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.opcodes import Opcode

Bounds = Callable[[Form, bool], tuple[int, int]]


def result_bounds(
    code: Opcode, bits: int, forms: Sequence[Form | None], number_bounds: Bounds
) -> tuple[int, int]:
    """All numbers of so many bits where nothing is known."""
    most = (1 << bits) - 1
    if code.base in ("popc", "clz"):
        return 0, 64
    known = [f for f in forms if f is not None and f.bits == bits]
    if set(code.modifiers) != set(code.types):
        return 0, most
    ranges = [number_bounds(f, False) for f in known]
    if code.base == "selp" and len(ranges) == 2:
        return min(r[0] for r in ranges), max(r[1] for r in ranges)
    if code.types[0][0] == "s" and any(high > most >> 1 for _, high in ranges):
        return 0, most
    match code.base, ranges:
        case "and", [_, *_]:
            return 0, min(high for _, high in ranges)
        case "min", [(a, b), (c, d)]:
            return min(a, c), min(b, d)
        case "max", [(a, b), (c, d)]:
            return max(a, c), max(b, d)
        case "rem", [(_, b), (c, d)] if c > 0:
            return 0, min(b, d - 1)
        case "div", [(a, b), (c, d)] if c > 0:
            return a // d, b // c
        case "shr", [(a, b), (c, d)] if d < bits:
            return a >> d, b >> c
        case _:
            return 0, most
