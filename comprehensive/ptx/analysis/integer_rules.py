"""Rules of integer instructions: the form of what one defines.

In: an :class:`Arithmetic`, a step, its opcode, the bits of its destination.  Out: a form, None where it is no sum::

    RULES["add"](arithmetic, 7, opcode("add.s32"), 32)      # add.s32 %r3, %r1, 4: the form of %r1 + 4
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from comprehensive.ptx.analysis.arithmetic import Arithmetic, Rule
from comprehensive.ptx.analysis.facts import limits
from comprehensive.ptx.analysis.forms import Form, add, constant, form, scaled, subtract
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.opcodes import Opcode


@cache
def _words(code: Opcode) -> frozenset[str]:
    """Modifiers that are no types."""
    return frozenset(code.modifiers) - frozenset(code.types)


@cache
def _width(code: Opcode) -> int:
    """Return the bits of the only type of an opcode, if it is an integer type; 0 otherwise."""
    if len(code.types) != 1 or code.types[0][0] not in "sub" or not code.types[0][1:].isdigit():
        return 0
    return 8 * bytes_of(code.types[0])


def _sum(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    if _words(code) or _width(code) != bits:
        return None
    found = self.both(index, bits)
    if found is None:
        return None
    return add(*found) if code.base == "add" else subtract(*found)


def _multiply(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    words, width = _words(code), _width(code)
    if words == frozenset(("lo",)) and width == bits:
        found = self.both(index, bits)
    elif words == frozenset(("wide",)) and 2 * width == bits:
        narrow = self.both(index, width)
        signed = code.types[0][0] == "s"
        found = narrow and [self.extended(each, bits, signed) for each in narrow]
    else:
        return None
    product = self.product(*found) if found else None
    if product is None or code.base == "mul":
        return product
    addend = self.operand(index, 3, bits)
    return None if addend is None else add(product, addend)


def _negate(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    found = self.operand(index, 1, bits) if not _words(code) and _width(code) == bits else None
    if found is None:
        return None
    less = 1 if code.base == "not" else 0
    return add(scaled(found, -1), constant(bits, -less))


def _move(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    if _words(code) or len(code.types) != 1 or 8 * bytes_of(code.types[0]) != bits:
        return None
    return self.operand(index, 1, bits)


def _convert(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    if (
        _words(code)
        or len(code.types) != 2
        or not all(t[0] in "su" and not t.endswith("x2") for t in code.types)
    ):
        return None
    to, from_ = (8 * bytes_of(t) for t in code.types)
    found = self.operand(index, 1, from_)
    if found is None:
        return None
    if to <= from_:
        found = self.narrowed(found, to) if to < from_ else found
    else:
        found = self.extended(found, to, code.types[1][0] == "s")
    return found if to == bits else self.extended(found, bits, code.types[0][0] == "s") if to < bits else None


def _generic(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    if _width(code) != bits:
        return None
    found = self.operand(index, 1, bits)
    memory = next((m.split("::")[0] for m in code.modifiers if m not in ("to", *code.types)), "global")
    if found is None or memory == "global":
        # The window of global memory begins at 0.
        return found
    return add(found, form(bits, {self.window(memory): -1 if "to" in code.modifiers else 1}))


def _shift_left(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    found = self.operand(index, 1, bits) if _width(code) == bits else None
    by = self.operand(index, 2, 32)
    if found is None or by is None or not by.is_constant:
        return None
    return scaled(found, 1 << min(by.constant % (1 << 32), bits))


def _shift_right(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    """Return a shifted sum where every term is divisible and nothing wraps; None otherwise."""
    found = self.operand(index, 1, bits) if _width(code) == bits else None
    by = self.operand(index, 2, 32)
    if found is None or by is None or not by.is_constant:
        return None
    divisor = 1 << min(by.constant % (1 << 32), bits)
    low, high = self.symbols.bounds(found)
    least, most = limits(bits, code.types[0][0] == "s")
    if low < least or high > most or any(c % divisor for _, c in found.terms) or found.constant % divisor:
        return None
    return Form(bits, tuple((s, c // divisor) for s, c in found.terms), found.constant // divisor)


def _mask(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    """Low bits, or all but those: of the form modulo a smaller power."""
    found = self.both(index, bits) if _width(code) == bits else None
    if found is None:
        return None
    value, mask = found if found[1].is_constant else found[::-1]
    if not mask.is_constant:
        return None
    low = mask.constant % (1 << bits)
    if not low & (low + 1):
        return self.low_bits(value, low.bit_length(), bits)
    high = ~mask.constant % (1 << bits)
    if not high & (high + 1):
        return subtract(value, self.low_bits(value, high.bit_length(), bits))
    return None


def _disjoint(self: Arithmetic, index: int, code: Opcode, bits: int) -> Form | None:
    """Return the sum of two numbers without a common bit, of which it is ``or`` and ``xor``; None for others."""
    found = self.both(index, bits) if _width(code) == bits else None
    if found is None:
        return None
    for one, other in (found, found[::-1]):
        low, high = self.symbols.bounds(other)
        zeros = min((_zeros(c) for c in (*(c for _, c in one.terms), one.constant)), default=bits)
        if low >= 0 and high < 1 << min(zeros, bits - 1):
            return add(one, other)
    return None


def _zeros(number: int) -> int:
    """Zero bits at the end; many for 0."""
    return (number & -number).bit_length() - 1 if number else 1 << 10


RULES: Mapping[str, Rule] = {
    "add": _sum,
    "sub": _sum,
    "mul": _multiply,
    "mad": _multiply,
    "neg": _negate,
    "not": _negate,
    "mov": _move,
    "cvt": _convert,
    "cvta": _generic,
    "shl": _shift_left,
    "shr": _shift_right,
    "and": _mask,
    "or": _disjoint,
    "xor": _disjoint,
}
