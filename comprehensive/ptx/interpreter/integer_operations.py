"""Instructions on integers and bits: opcode in, operation out.

operation_of(opcode("mad.wide.s32"))      # s32, s32, s64 --> s64
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
    result = f"{type_[0]}{2 * int(type_[1:])}" if part == "wide" else type_
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


def multiply_add_24(opcode: Opcode) -> Operation | None:
    type_, high = opcode.types[-1], has(opcode, "hi")
    if has(opcode, "sat"):
        return None
    return Operation((type_,) * 3, (type_,), lambda a, b, c: integers.multiply_24(a, b, high) + c)


def _of(types: str, function: Computation, **words: str) -> Builder:
    """The function with each keyword true where the instruction has that word; ``T`` is the instruction's type."""
    sources, result = types.split(" -> ")

    def build(opcode: Opcode) -> Operation | None:
        type_ = _type(opcode)
        if type_ is None:
            return None
        flags = {keyword: has(opcode, word) for keyword, word in words.items()}
        call = partial(callable_of(function), **flags) if flags else function
        of_sources = tuple(type_ if source == "T" else source for source in sources.split())
        return Operation(of_sources, (type_ if result == "T" else result,), packed(call, type_))

    return build


def extremes(opcode: Opcode) -> Operation | None:
    type_ = _type(opcode)
    if type_ is None:
        return None
    choose = np.minimum if opcode.base == "min" else np.maximum
    if not has(opcode, "relu"):
        return Operation((type_, type_), (type_,), packed(choose, type_))
    return Operation((type_, type_), (type_,), packed(lambda a, b: np.maximum(choose(a, b), 0), type_))


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


BUILDERS: dict[str, Builder] = {
    "add": add_or_subtract,
    "sub": add_or_subtract,
    "addc": with_carry,
    "subc": with_carry,
    "mul": multiply,
    "mad": multiply,
    "madc": multiply,
    "mul24": _of("T T -> T", integers.multiply_24, high="hi"),
    "mad24": multiply_add_24,
    "div": _of("T T -> T", integers.divide),
    "rem": _of("T T -> T", integers.remainder),
    "abs": _of("T -> T", np.abs),
    "neg": _of("T -> T", np.negative),
    "min": extremes,
    "max": extremes,
    "and": _of("T T -> T", np.bitwise_and),
    "or": _of("T T -> T", np.bitwise_or),
    "xor": _of("T T -> T", np.bitwise_xor),
    "not": _of("T -> T", np.invert),
    "cnot": _of("T -> T", unary(lambda a: (a == 0).astype(a.dtype))),
    "shl": _of("T u32 -> T", integers.shift_left),
    "shr": _of("T u32 -> T", integers.shift_right),
    "shf": _of("b32 b32 u32 -> b32", integers.funnel, left="l", clamps="clamp"),
    "popc": _of("T -> u32", integers.population),
    "clz": _of("T -> u32", integers.leading_zeros),
    "brev": _of("T -> T", integers.reversed_bits),
    "bfind": _of("T -> u32", integers.find_highest, as_shift="shiftamt"),
    "bfe": _of("T u32 u32 -> T", integers.extract_field),
    "bfi": _of("T T u32 u32 -> T", integers.insert_field),
    "bmsk": _of("u32 u32 -> u32", integers.bit_mask, clamps="clamp"),
    "szext": _of("T u32 -> T", integers.extend, clamps="clamp"),
    "prmt": permutation,
    "dp4a": dot,
    "dp2a": dot,
    "sad": _of("T T T -> T", integers.absolute_difference),
    "fns": _of("b32 u32 s32 -> u32", integers.nth_set),
}
