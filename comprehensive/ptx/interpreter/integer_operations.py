"""Instructions on integers and bits: opcode in, operation out.

operation_of(opcode("mad.wide.s32"))      # s32, s32, s64 --> s64
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from comprehensive.ptx.interpreter import integers
from comprehensive.ptx.interpreter.operation import Builder, Operation, element_of, first, has, packed
from comprehensive.ptx.interpreter.values import (
    DTYPES,
    Array,
    Computation,
    callable_of,
    is_float,
    is_signed,
    unary,
)
from comprehensive.ptx.opcodes import Opcode


def _type(opcode: Opcode) -> str | None:
    """The type of an instruction on integers."""
    if not opcode.types or is_float(element_of(opcode.types[-1])) or opcode.types[-1] == "b128":
        return None
    return opcode.types[-1]


def _wide(type_: str) -> str:
    return f"{type_[0]}{2 * int(type_[1:])}"


def _word(type_: str) -> str:
    return f"u{type_[1:]}"


def _saturating(function: np.ufunc) -> Callable[..., Array]:
    """Return the function on signed 32-bit numbers, computed in 64 bits and clamped to 32."""

    def clamped(*sources: Array) -> Array:
        exact = function(*(source.astype(np.int64) for source in sources))
        return np.clip(exact, -(2**31), 2**31 - 1).astype(np.int32)

    return clamped


def add_or_subtract(opcode: Opcode) -> Operation | None:
    type_ = _type(opcode)
    if type_ is None:
        return None
    function = np.add if opcode.base == "add" else np.subtract
    if has(opcode, "cc"):
        return _chained(opcode.base, type_, reads=False, writes=True)
    if has(opcode, "sat"):
        return Operation((type_, type_), (type_,), _saturating(function))
    return Operation((type_, type_), (type_,), packed(function, type_))


def with_carry(opcode: Opcode) -> Operation | None:
    """Return the operation of addc or subc; None for types that are no integers."""
    type_ = _type(opcode)
    return None if type_ is None else _chained(opcode.base[:3], type_, reads=True, writes=has(opcode, "cc"))


def _chained(base: str, type_: str, *, reads: bool, writes: bool) -> Operation:
    word = _word(type_)
    step = integers.add_with_carry if base == "add" else integers.subtract_with_borrow
    dtype = DTYPES[word]

    def function(a: Array, b: Array, carry: Array | None = None) -> Any:
        carried = np.zeros(1, dtype) if carry is None else carry.astype(dtype)
        total, out = step(a, b, carried)
        return (total, out) if writes else total

    return Operation((word, word), (word,), function, reads_carry=reads, writes_carry=writes)


def multiply(opcode: Opcode) -> Operation | None:
    """Return the operation of mul, mad or madc; None for types that are no integers."""
    type_ = _type(opcode)
    if type_ is None:
        return None
    part = first(opcode, ("lo", "hi", "wide")) or "lo"
    result = _wide(type_) if part == "wide" else type_
    products: dict[str, Callable[[Array, Array], Array]] = {
        "lo": np.multiply,
        "hi": integers.multiply_high,
        "wide": integers.multiply_wide,
    }
    product = products[part]
    if opcode.base == "mul":
        return Operation((type_, type_), (result,), product)
    reads, writes = opcode.base == "madc", has(opcode, "cc")
    if has(opcode, "sat"):
        return _saturated_mad(type_) if part == "hi" else None
    if not (reads or writes):
        return Operation((type_, type_, result), (result,), lambda a, b, c: product(a, b) + c)
    chained = _chained("add", type_, reads=reads, writes=writes).function
    chain = callable_of(chained)
    word = DTYPES[_word(type_)]

    def function(a: Array, b: Array, c: Array, *carry: Array) -> Any:
        return chain(product(a, b).view(word), c, *carry)

    sources = (type_, type_, _word(type_))
    return Operation(sources, (_word(type_),), function, reads_carry=reads, writes_carry=writes)


def _saturated_mad(type_: str) -> Operation:
    def function(a: Array, b: Array, c: Array) -> Array:
        total = integers.multiply_high(a, b).astype(np.int64) + c
        return np.clip(total, -(2**31), 2**31 - 1).astype(np.int32)

    return Operation((type_,) * 3, (type_,), function)


def multiply_24(opcode: Opcode) -> Operation | None:
    type_ = opcode.types[-1]
    high = has(opcode, "hi")
    if opcode.base == "mul24":
        return Operation((type_, type_), (type_,), lambda a, b: integers.multiply_24(a, b, high))
    if has(opcode, "sat"):
        return None
    return Operation((type_,) * 3, (type_,), lambda a, b, c: integers.multiply_24(a, b, high) + c)


def _plain(count: int, function: Computation) -> Builder:
    """Sources and result of one type."""

    def build(opcode: Opcode) -> Operation | None:
        type_ = _type(opcode)
        if type_ is None:
            return None
        return Operation((type_,) * count, (type_,), packed(function, type_))

    return build


def extremes(opcode: Opcode) -> Operation | None:
    type_ = _type(opcode)
    if type_ is None:
        return None
    choose = np.minimum if opcode.base == "min" else np.maximum
    if not has(opcode, "relu"):
        return Operation((type_, type_), (type_,), packed(choose, type_))
    return Operation((type_, type_), (type_,), packed(lambda a, b: np.maximum(choose(a, b), 0), type_))


def complement(opcode: Opcode) -> Operation | None:
    type_ = _type(opcode)
    return None if type_ is None else Operation((type_,), (type_,), np.invert)


def is_zero(opcode: Opcode) -> Operation | None:
    type_ = opcode.types[-1]
    dtype = DTYPES[type_]
    return Operation((type_,), (type_,), unary(lambda a: (a == 0).astype(dtype)))


def shift(opcode: Opcode) -> Operation | None:
    type_ = _type(opcode)
    if type_ is None:
        return None
    function = integers.shift_left if opcode.base == "shl" else integers.shift_right
    return Operation((type_, "u32"), (type_,), function)


def funnel_shift(opcode: Opcode) -> Operation | None:
    left, clamps = has(opcode, "l"), has(opcode, "clamp")
    return Operation(
        ("b32", "b32", "u32"),
        ("b32",),
        lambda a, b, c: integers.funnel(a, b, c, left=left, clamps=clamps),
    )


def count_bits(opcode: Opcode) -> Operation | None:
    function = integers.population if opcode.base == "popc" else integers.leading_zeros
    return Operation((opcode.types[-1],), ("u32",), function)


def reverse(opcode: Opcode) -> Operation | None:
    return Operation((opcode.types[-1],), (opcode.types[-1],), integers.reversed_bits)


def find(opcode: Opcode) -> Operation | None:
    as_shift = has(opcode, "shiftamt")
    return Operation(
        (opcode.types[-1],), ("u32",), unary(lambda a: integers.find_highest(a, as_shift=as_shift))
    )


def field(opcode: Opcode) -> Operation | None:
    type_ = opcode.types[-1]
    if opcode.base == "bfe":
        return Operation((type_, "u32", "u32"), (type_,), integers.extract_field)
    return Operation((type_, type_, "u32", "u32"), (type_,), integers.insert_field)


def mask(opcode: Opcode) -> Operation | None:
    clamps = has(opcode, "clamp")
    return Operation(("u32", "u32"), ("u32",), lambda a, b: integers.bit_mask(a, b, clamps=clamps))


def extension(opcode: Opcode) -> Operation | None:
    clamps, type_ = has(opcode, "clamp"), opcode.types[-1]
    return Operation((type_, "u32"), (type_,), lambda a, b: integers.extend(a, b, clamps=clamps))


def permutation(opcode: Opcode) -> Operation | None:
    mode = first(opcode, ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")) or ""
    return Operation(("b32",) * 3, ("b32",), lambda a, b, c: integers.permute(a, b, c, mode))


def dot(opcode: Opcode) -> Operation | None:
    """Return the operation of dp4a or dp2a, whose result is signed if a source is."""
    a, b = opcode.types[:2]
    sum_ = "s32" if is_signed(a) or is_signed(b) else "u32"
    signs = is_signed(a), is_signed(b)
    if opcode.base == "dp4a":
        return Operation((a, b, sum_), ("u32",), lambda x, y, z: integers.dot_product(x, y, z, *signs))
    high = has(opcode, "hi")
    return Operation((a, b, sum_), ("u32",), lambda x, y, z: integers.dot_product_2(x, y, z, *signs, high))


def difference(opcode: Opcode) -> Operation | None:
    return Operation((opcode.types[-1],) * 3, (opcode.types[-1],), integers.absolute_difference)


def nth_set(_: Opcode) -> Operation | None:
    return Operation(("b32", "u32", "s32"), ("u32",), integers.nth_set)


def negative(a: Array) -> Array:
    return -a


BUILDERS: dict[str, Builder] = {
    "add": add_or_subtract,
    "sub": add_or_subtract,
    "addc": with_carry,
    "subc": with_carry,
    "mul": multiply,
    "mad": multiply,
    "madc": multiply,
    "mul24": multiply_24,
    "mad24": multiply_24,
    "div": _plain(2, integers.divide),
    "rem": _plain(2, integers.remainder),
    "abs": _plain(1, np.abs),
    "neg": _plain(1, negative),
    "min": extremes,
    "max": extremes,
    "and": _plain(2, np.bitwise_and),
    "or": _plain(2, np.bitwise_or),
    "xor": _plain(2, np.bitwise_xor),
    "not": complement,
    "cnot": is_zero,
    "shl": shift,
    "shr": shift,
    "shf": funnel_shift,
    "popc": count_bits,
    "clz": count_bits,
    "brev": reverse,
    "bfind": find,
    "bfe": field,
    "bfi": field,
    "bmsk": mask,
    "szext": extension,
    "prmt": permutation,
    "dp4a": dot,
    "dp2a": dot,
    "sad": difference,
    "fns": nth_set,
}
