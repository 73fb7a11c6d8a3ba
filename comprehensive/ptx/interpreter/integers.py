"""Integer arithmetic and bits: arrays of one integer dtype in, arrays out.

    FUNCTIONS["mul.hi"](a, b)

Everything wraps around; shifts by more than the width give what the hardware gives, and so does division by zero.
"""

from __future__ import annotations

import numpy as np

from comprehensive.ptx.interpreter.values import Array


def bits_of(a: Array) -> int:
    return a.dtype.itemsize * 8


def unsigned(a: Array) -> Array:
    return a.view(f"u{a.dtype.itemsize}")


def _doubled(a: Array) -> Array:
    """Return the numbers in the dtype of twice the width."""
    return a.astype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")


def multiply_wide(a: Array, b: Array) -> Array:
    return _doubled(a) * _doubled(b)


def multiply_high(a: Array, b: Array) -> Array:
    if a.dtype.itemsize < 8:
        return (_doubled(a) * _doubled(b) >> bits_of(a)).astype(a.dtype)
    ua, ub = a.view(np.uint64), b.view(np.uint64)
    high = _multiply_high64(ua, ub)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, ub, np.uint64(0)) - np.where(b < 0, ua, np.uint64(0))
    return high.view(a.dtype)


def _multiply_high64(a: Array, b: Array) -> Array:
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half)


def multiply_24(a: Array, b: Array, high: bool) -> Array:
    """Multiply the lower 24 bits, sign-extended for signed types.

    The result is the lower 32 bits of the 48, or with ``high`` the upper 32.
    """
    eight = a.dtype.type(8)
    product = _doubled((a << eight) >> eight) * _doubled((b << eight) >> eight)
    return (product >> (16 if high else 0)).astype(a.dtype)


def divide(a: Array, b: Array) -> Array:
    """Return the quotient, rounded towards zero.

    By zero it has all bits set (CUDA's expansion of the division); the smallest number by -1 is the smallest.
    """
    quotient, _ = _quotient_and_rest(a, b)
    return quotient


def remainder(a: Array, b: Array) -> Array:
    """Return the remainder, which has the sign of the dividend; where the divisor is 0, all bits are set."""
    _, rest = _quotient_and_rest(a, b)
    return rest


def _quotient_and_rest(a: Array, b: Array) -> tuple[Array, Array]:
    zero = b == 0
    minus_one = (b == -1) if a.dtype.kind == "i" else np.zeros(b.shape, np.bool_)
    safe = np.where(zero | minus_one, b.dtype.type(1), b)
    rest = np.fmod(a, safe)
    quotient = (a - rest) // safe
    quotient = np.where(minus_one, -a, quotient)
    all_ones = np.array(-1).astype(a.dtype)
    return np.where(zero, all_ones, quotient).astype(a.dtype), np.where(zero, all_ones, rest).astype(a.dtype)


def shift_left(a: Array, by: Array) -> Array:
    bits = bits_of(a)
    amount = np.minimum(by, bits - 1).astype(a.dtype)
    return np.where(by < bits, a << amount, a.dtype.type(0))


def shift_right(a: Array, by: Array) -> Array:
    bits = bits_of(a)
    amount = np.minimum(by, bits - 1).astype(a.dtype)
    if a.dtype.kind == "i":
        return a >> amount
    return np.where(by < bits, a >> amount, a.dtype.type(0))


def funnel(low: Array, high: Array, by: Array, *, left: bool, clamps: bool) -> Array:
    amount = np.minimum(by, 32) if clamps else by & np.uint32(31)
    pair = (high.astype(np.uint64) << np.uint64(32)) | low
    wide = amount.astype(np.uint64)
    if left:
        return ((pair << wide) >> np.uint64(32)).astype(np.uint32)
    return (pair >> wide).astype(np.uint32)


def population(a: Array) -> Array:
    return np.bitwise_count(unsigned(a)).astype(np.uint32)


def highest_bit(a: Array) -> Array:
    """The number of the highest bit set, -1 where there is none."""
    value = unsigned(a).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        value = value | (value >> np.uint64(shift))
    return np.bitwise_count(value).astype(np.int32) - np.int32(1)


def leading_zeros(a: Array) -> Array:
    return (np.int32(bits_of(a) - 1) - highest_bit(a)).view(np.uint32)


def reversed_bits(a: Array) -> Array:
    value = a
    for shift, mask in ((1, 0x55), (2, 0x33), (4, 0x0F)):
        pattern = a.dtype.type(int.from_bytes(bytes([mask]) * a.dtype.itemsize, "little"))
        by = a.dtype.type(shift)
        value = ((value >> by) & pattern) | ((value & pattern) << by)
    return value.byteswap()


def find_highest(a: Array, *, as_shift: bool) -> Array:
    """Compute ``bfind``: the highest bit that is not the sign; 0xffffffff where there is none."""
    value = np.where(a < 0, ~a, a) if a.dtype.kind == "i" else a
    place = highest_bit(value)
    if as_shift:
        place = np.where(place < 0, np.int32(-1), np.int32(bits_of(a) - 1) - place)
    return place.view(np.uint32)


def extract_field(a: Array, position: Array, length: Array) -> Array:
    """Compute ``bfe``; a signed field that begins at or beyond the end is filled with the sign."""
    bits = bits_of(a)
    start, size = _place_and_size(bits, position, length)
    raw = unsigned(a).astype(np.uint64)
    last = np.minimum(start + size - 1, bits - 1)
    sign = ((raw >> np.maximum(last, 0).astype(np.uint64)) & np.uint64(1)).astype(np.bool_)
    field = np.where(start < bits, raw >> np.minimum(start, 63).astype(np.uint64), np.uint64(0))
    field &= _ones(np.minimum(size, 64))
    if a.dtype.kind == "i":
        # Above the last bit that there is stand copies of the sign.
        available = np.clip(bits - start, 0, 64)
        fill = ~_ones(np.minimum(np.minimum(size, available), 64))
        field = np.where(sign, field | fill, field)
    field = np.where(size == 0, np.uint64(0), field)
    return field.astype(f"u{a.dtype.itemsize}").view(a.dtype)


def insert_field(a: Array, b: Array, position: Array, length: Array) -> Array:
    """Compute ``bfi``: insert the lower bits of ``a`` into ``b``."""
    bits = bits_of(a)
    start, size = _place_and_size(bits, position, length)
    size = np.minimum(size, bits)
    shift = np.minimum(start, 63).astype(np.uint64)
    mask = np.where(start < bits, _ones(size) << shift, np.uint64(0))
    result = (b.astype(np.uint64) & ~mask) | ((a.astype(np.uint64) << shift) & mask)
    return result.astype(a.dtype)


def _place_and_size(bits: int, position: Array, length: Array) -> tuple[Array, Array]:
    """Return position and length of a bit field as the hardware reads them.

    Its instruction, for 32 bits, takes 8 bits of both; ptxas makes shifts of one for 64 bits, which take all.
    """
    if bits == 64:
        return position.astype(np.int64), length.astype(np.int64)
    return (position & np.uint32(0xFF)).astype(np.int64), (length & np.uint32(0xFF)).astype(np.int64)


def _ones(count: Array) -> Array:
    """Return words whose lowest ``count`` bits are set, 0 to 64 of them."""
    shift = np.minimum(count, 63).astype(np.uint64)
    return np.where(count > 63, np.uint64(0xFFFFFFFFFFFFFFFF), (np.uint64(1) << shift) - np.uint64(1))


def bit_mask(position: Array, length: Array, *, clamps: bool) -> Array:
    """Compute ``bmsk``: ones from ``position`` on, ``length`` of them.

    Both are clamped to 32 or taken modulo 32.
    """
    if not clamps:
        position, length = position & np.uint32(31), length & np.uint32(31)
    start = np.minimum(position, 32).astype(np.uint64)
    mask = _ones(np.minimum(length, 32).astype(np.int64)) << start
    return (mask & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def extend(a: Array, bits: Array, *, clamps: bool) -> Array:
    """Compute ``szext``: the lower bits of ``a``, extended with zeros or the sign."""
    size = np.minimum(bits, 32) if clamps else bits & np.uint32(31)
    kept = unsigned(a).astype(np.uint64) & _ones(size.astype(np.int64))
    if a.dtype.kind == "i":
        top = np.maximum(size.astype(np.int64) - 1, 0).astype(np.uint64)
        negative = (size > 0) & ((kept >> top) & np.uint64(1) != 0)
        kept = np.where(negative, kept | ~_ones(size.astype(np.int64)), kept)
    return kept.astype(np.uint32).view(a.dtype)


def nth_set(mask: Array, base: Array, offset: Array) -> Array:
    """Compute ``fns``: the place of the n-th bit set, from a base upwards or downwards.

    The smallest offset has no opposite: what ptxas makes of the instruction then gives 0.
    """

    def one(bits: int, start: int, n: int) -> int:
        if n == -(2**31):
            return 0
        step = 1 if n >= 0 else -1
        left = abs(n) if n != 0 else 1
        place = start
        while 0 <= place < 32:
            if bits >> place & 1:
                left -= 1
                if left == 0:
                    return place
            if n == 0:
                break
            place += step
        return 0xFFFFFFFF

    rows = zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)
    return np.array([one(*row) for row in rows], np.uint32)


def lookup(a: Array, b: Array, c: Array, table: int) -> Array:
    """Compute ``lop3``: the logical function of three words whose truth table is given."""
    result = np.zeros(a.shape, a.dtype)
    for row in range(8):
        if table >> row & 1:
            term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
            result = result | term
    return result


def permute(a: Array, b: Array, selector: Array, mode: str) -> Array:
    """Compute ``prmt``: four bytes chosen from two words."""
    pair = (b.astype(np.uint64) << np.uint64(32)) | a
    result = np.zeros(a.shape, np.uint32)
    for place in range(4):
        if mode:
            step = selector & np.uint32(3)
            source = {
                "f4e": step + np.uint32(place),
                "b4e": (step - np.uint32(place)) & np.uint32(7),
                "rc8": step,
                "ecl": np.maximum(step, place),
                "ecr": np.minimum(step, place),
                "rc16": (step & np.uint32(1)) * np.uint32(2) + np.uint32(place & 1),
            }[mode]
            sign = np.zeros(a.shape, np.bool_)
        else:
            nibble = selector >> np.uint32(4 * place)
            source, sign = nibble & np.uint32(7), (nibble & np.uint32(8)) != 0
        byte = (pair >> (source.astype(np.uint64) * np.uint64(8))).astype(np.uint32) & np.uint32(0xFF)
        byte = np.where(sign, np.where(byte & np.uint32(0x80) != 0, np.uint32(0xFF), np.uint32(0)), byte)
        result |= byte << np.uint32(8 * place)
    return result


def dot_product(a: Array, b: Array, c: Array, signed_a: bool, signed_b: bool) -> Array:
    """Compute ``dp4a``: the sum of the products of four bytes, added to ``c``."""
    total = unsigned(c)
    for place in range(4):
        total = total + _part(a, 8 * place, 8, signed_a) * _part(b, 8 * place, 8, signed_b)
    return total


def dot_product_2(a: Array, b: Array, c: Array, signed_a: bool, signed_b: bool, high: bool) -> Array:
    """Compute ``dp2a``: the sum of the products of two half words and two bytes, added to ``c``."""
    total = unsigned(c)
    for place in range(2):
        other = _part(b, 8 * place + 16 * high, 8, signed_b)
        total = total + _part(a, 16 * place, 16, signed_a) * other
    return total


def _part(a: Array, shift: int, bits: int, signed: bool) -> Array:
    """Some bits of a word, extended to the word."""
    up = np.uint32(32 - bits - shift)
    word = unsigned(a) << up
    down = 32 - bits
    return (word.view(np.int32) >> np.int32(down)).view(np.uint32) if signed else word >> np.uint32(down)


def absolute_difference(a: Array, b: Array, c: Array) -> Array:
    """Compute ``sad``: the absolute difference of ``a`` and ``b``, added to ``c``."""
    return c + np.where(a > b, a - b, b - a)


def add_with_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """Sum and the carry out; unsigned."""
    partial = a + b
    total = partial + carry
    return total, (partial < a) | (total < partial)


def subtract_with_borrow(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    partial = a - b
    total = partial - borrow
    return total, (a < b) | (partial < borrow)
