"""Floating-point formats by Python's integers and fractions, written from IEEE 754 and not from the interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt


@dataclass(frozen=True)
class Format:
    bits: int
    fraction: int
    """Bits behind the point."""

    @property
    def exponent(self) -> int:
        return self.bits - 1 - self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & ~self.sign == self.infinity

    def is_negative(self, bits: int) -> bool:
        return bool(bits & self.sign)

    def value(self, bits: int) -> Fraction:
        """Return the value of a finite number."""
        size = bits & ~self.sign
        exponent, fraction = size >> self.fraction, size & ((1 << self.fraction) - 1)
        if exponent:
            fraction += 1 << self.fraction
        scale = Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)
        return (-1 if bits & self.sign else 1) * fraction * scale

    def rounded(self, value: Fraction, mode: str, *, negative_zero: bool = False) -> int:
        """The bits of the nearest number in the direction; ``negative_zero`` is the sign of an exact zero."""
        if value == 0:
            return self.sign if negative_zero else 0
        negative, size = value < 0, abs(value)
        # The largest number that is not above, by its place among all.
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        exponent = max(exponent, 1 - self.bias)
        units = int(size / Fraction(2) ** (exponent - self.fraction))
        low = min(((exponent + self.bias - 1) << self.fraction) + units, self.infinity - 1)
        below = self.value(low)
        # What would follow the largest number if exponents went on.
        above = self.value(low + 1) if low + 1 < self.infinity else Fraction(2) ** (self.bias + 1)
        if size == below:
            up = False
        elif mode == "rn":
            distance = size - below, above - size
            up = distance[0] > distance[1] or (distance[0] == distance[1] and low % 2 == 1)
        else:
            up = mode == ("rm" if negative else "rp")
        return (low + up) | (self.sign if negative else 0)

    def rounded_root(self, value: Fraction, mode: str) -> int:
        """Return the rounded square root of a positive number: exact to far more bits than any format has."""
        scaled = value * 4**1200
        root = isqrt(int(scaled))
        exact = root * root == scaled
        approximate = Fraction(root, 2**1200)
        return self.rounded(approximate if exact else approximate + Fraction(1, 2**1201), mode)


FORMATS = {"f16": Format(16, 10), "bf16": Format(16, 7), "f32": Format(32, 23), "f64": Format(64, 52)}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}


def arithmetic(base: str, type_: str, mode: str, *sources: int) -> int | None:
    """The bits that an instruction gives; None for a NaN."""
    form = FORMATS[type_]
    if any(form.is_nan(source) for source in sources):
        return None
    match base:
        case "add":
            return _sum(form, mode, sources[0], sources[1])
        case "sub":
            return _sum(form, mode, sources[0], sources[1] ^ form.sign)
        case "mul":
            return _product(form, mode, *sources)
        case "div":
            return _quotient(form, mode, *sources)
        case "sqrt":
            return _root(form, mode, *sources)
        case _:
            return _fused(form, mode, *sources)


def _sum(form: Format, mode: str, a: int, b: int) -> int | None:
    if form.is_infinite(a) or form.is_infinite(b):
        if form.is_infinite(a) and form.is_infinite(b) and a != b:
            return None
        return a if form.is_infinite(a) else b
    both = form.is_negative(a) and form.is_negative(b)
    either = form.is_negative(a) or form.is_negative(b)
    total = form.value(a) + form.value(b)
    zeros = form.value(a) == 0 and form.value(b) == 0
    negative = both if zeros else False
    if mode == "rm" and (not zeros or either):
        negative = True
    return form.rounded(total, mode, negative_zero=negative)


def _product(form: Format, mode: str, a: int, b: int) -> int | None:
    negative = form.is_negative(a) != form.is_negative(b)
    if form.is_infinite(a) or form.is_infinite(b):
        if 0 in (a & ~form.sign, b & ~form.sign):
            return None
        return form.infinity | (form.sign if negative else 0)
    return form.rounded(form.value(a) * form.value(b), mode, negative_zero=negative)


def _quotient(form: Format, mode: str, a: int, b: int) -> int | None:
    sign = form.sign if form.is_negative(a) != form.is_negative(b) else 0
    if form.is_infinite(a):
        return None if form.is_infinite(b) else form.infinity | sign
    if form.is_infinite(b):
        return sign
    if b & ~form.sign == 0:
        return None if a & ~form.sign == 0 else form.infinity | sign
    return form.rounded(form.value(a) / form.value(b), mode, negative_zero=bool(sign))


def _root(form: Format, mode: str, a: int) -> int | None:
    if a & ~form.sign == 0:
        return a
    if form.is_negative(a):
        return None
    return a if form.is_infinite(a) else form.rounded_root(form.value(a), mode)


def _fused(form: Format, mode: str, a: int, b: int, c: int) -> int | None:
    negative = form.is_negative(a) != form.is_negative(b)
    if form.is_infinite(a) or form.is_infinite(b):
        if 0 in (a & ~form.sign, b & ~form.sign):
            return None
        product = form.infinity | (form.sign if negative else 0)
        return None if form.is_infinite(c) and c != product else product
    if form.is_infinite(c):
        return c
    product = form.value(a) * form.value(b)
    total = product + form.value(c)
    zeros = product == 0 and form.value(c) == 0
    zero_is_negative = zeros and negative and form.is_negative(c)
    if mode == "rm" and (not zeros or negative or form.is_negative(c)):
        zero_is_negative = True
    return form.rounded(total, mode, negative_zero=zero_is_negative)
