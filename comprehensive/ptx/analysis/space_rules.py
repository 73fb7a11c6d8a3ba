"""The memory into which the result of one instruction points, by where its operands point.

In: an instruction and the :class:`Space` of each operand.  Out: that of what it defines::

    space_of_result(instruction, (Space.NONE, Space.SHARED, Space.NUMBER))     # add.s64 %rd3, %rd2, %rd1: SHARED

The laws are those of :mod:`.space`; here stands which instruction is which of them:

- ``mov``, ``selp``, ``slct``, ``min``, ``max``, and ``cvt`` between types as wide as an address: ways meet.
- ``add``, ``sub``, ``mad``: sums, and so are ``or`` and ``xor``, which swizzle, and ``and`` with a literal that clears
  low bits, which aligns.  Every other way to change bits of an address (other masks, shifts, products, fields, bytes,
  carries, floating point, a narrower register) may take it to pieces: ANY.
- Results of loads, atomics and shuffles as wide as an address may be addresses: ANY.  Narrower ones are numbers, as an
  index in memory is.  It is taken for granted that no narrow number by itself is the distance from one memory to
  another; what is put together of several is ANY (packed vectors, shifts by 32 and more, fields of 64 bits).
- What computes makes numbers of numbers, and otherwise ANY; so does every opcode that is not listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.opcodes import Effect, Opcode, bits
from comprehensive.ptx.operands import Immediate, Operand, Vector
from comprehensive.ptx.statements import Instruction

_SMALL = frozenset(
    (
        *("setp", "set", "testp", "isspacep", "istypep", "popc", "clz", "bfind", "fns"),
        *("vote", "activemask", "match", "getctarank"),
    )
)
"""Truths, counts, masks of lanes: no address, whatever the operands are."""
_CHOICES = {"selp": slice(1, 3), "slct": slice(1, 3), "min": slice(1, None), "max": slice(1, None)}
"""The operands of which the result is one."""
_COMPUTING = frozenset(
    {
        "add", "addc", "sub", "subc", "mad", "madc", "mul", "mul24", "mad24", "div", "rem", "neg", "abs", "sad",
        "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "bfe", "bfi", "brev", "bmsk", "prmt",
        "szext", "dp4a", "dp2a", "cvt", "fma", "sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh",
        "copysign", "shfl", "redux",
    }
)  # fmt: skip
_LOW_BITS = 1 << 20
"""Fewer bytes than the generic addresses of shared or local memory: the windows of both are 16 MiB, and begin at
multiples of it, so that an address whose lower bits are cleared does not leave them."""
_HALF = 32
"""Bits of half an address."""


def space_of_literal(literal: Immediate) -> Space:
    """ZERO is the null pointer; a literal that no offset is may be a part of an address, or take one to pieces."""
    value = literal.value
    if value == 0:
        return Space.ZERO
    if isinstance(value, int) and abs(_signed(value, 2 * _HALF)) >> _HALF:
        return Space.ANY
    return Space.NUMBER


def space_of_result(instruction: Instruction, spaces: Sequence[Space], address_bits: int = 64) -> Space:
    """Return the memory into which the result of an instruction points.

    ``spaces`` are as its operands; those that are not read are not looked at.
    """
    code, operands = instruction.opcode, instruction.operands
    if not code.accepts(len(operands)):
        return Space.ANY
    match code.base:
        case "cvta":
            named = (space for m in code.modifiers if (space := space_named(m)) is not None)
            return next(named, Space.ANY)
        case "alloca":
            return Space.LOCAL
        case "mapa":
            return spaces[1] if spaces[1] in (Space.SHARED, Space.NONE) else Space.ANY
        case base if base in _SMALL:
            return Space.NUMBER
        case _ if Effect.READ in code.effect and code.types:
            return Space.ANY if bits(code.types[-1]) >= address_bits else Space.NUMBER
        case "mov":
            return _computed(spaces[1:]) if isinstance(operands[0], Vector) else spaces[1]
        case base if base in _CHOICES:
            return _met(spaces[_CHOICES[base]])
        case "cvt" if _is_address_wide(code, address_bits):
            return spaces[1]
        case "add" | "sub" if _is_integer(code):
            return spaces[1].plus(spaces[2]) if code.base == "add" else spaces[1].minus(spaces[2])
        case "mad" if _is_integer(code) and "hi" not in code.modifiers:
            return _computed(spaces[1:3]).plus(spaces[3])
        case "or" | "xor":
            return spaces[1].plus(spaces[2])
        case "and" if _clears_low_bits(code, operands[2]):
            return spaces[1]
        case base if base not in _COMPUTING or _joins(code, operands):
            return Space.ANY
        case _:
            return _computed(spaces[1:])


def space_named(name: str | None) -> Space | None:
    """Return the memory that a modifier names: SHARED for ``shared::cluster``, None for what no access names."""
    return None if name is None else _BY_NAME.get(name.split("::")[0])


_BY_NAME = {space.value: space for space in Space if space.is_one}


def _met(spaces: Sequence[Space]) -> Space:
    found = Space.NONE
    for space in spaces:
        found = found.meet(space)
    return found


def _computed(spaces: Sequence[Space]) -> Space:
    if Space.NONE in spaces:
        return Space.NONE
    return _met((Space.NUMBER, *spaces)) if all(space.is_number for space in spaces) else Space.ANY


def _is_address_wide(code: Opcode, address_bits: int) -> bool:
    return len(code.types) == 2 and all(t[0] in "su" and bits(t) >= address_bits for t in code.types)


def _is_integer(code: Opcode) -> bool:
    words = {"cc", "sat", *(t for t in code.types if t[0] not in "su" or t.endswith("x2"))}
    return words.isdisjoint(code.modifiers)


def _clears_low_bits(code: Opcode, mask: Operand) -> bool:
    """Whether a literal leaves all but low bits as they are."""
    if not isinstance(mask, Immediate) or not isinstance(mask.value, int):
        return False
    return 0 <= _signed(~mask.value, bits(code.types[0])) < _LOW_BITS


def _joins(code: Opcode, operands: Sequence[Operand]) -> bool:
    """Whether parts become something as wide as an address."""
    if not code.types or bits(code.types[0]) <= _HALF:
        return False
    if code.base == "shl":
        by = operands[2]
        return not (isinstance(by, Immediate) and isinstance(by.value, int) and 0 <= by.value < _HALF)
    return code.base == "bfi"


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value
