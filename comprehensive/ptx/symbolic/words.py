"""Bit-vectors that are numbers, computed as z3 computes them: 64 bits that wrap, divisions by zero included.

    Words.BitVecVal(-1, 64) + 3                                       # Word(2, 64)
    Words.SignExt(32, Words.Extract(31, 0, Words.BitVecVal(-1, 64)))  # Word(2**64 - 1, 64)

The names are those of the module z3, so that what makes terms of z3 makes numbers as well.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """An unsigned ``value`` of so many bits."""

    value: int
    bits: int

    @property
    def signed(self) -> int:
        return self.value - (self.value >> (self.bits - 1) << self.bits)

    def __add__(self, other: Word) -> Word:
        return _word(self.value + other.value, self.bits)

    def __sub__(self, other: Word) -> Word:
        return _word(self.value - other.value, self.bits)

    def __mul__(self, other: Word | int) -> Word:
        return _word(self.value * (other if isinstance(other, int) else other.value), self.bits)

    def __and__(self, other: Word | int) -> Word:
        return _word(self.value & (other if isinstance(other, int) else other.value), self.bits)

    def __or__(self, other: Word) -> Word:
        return Word(self.value | other.value, self.bits)

    def __xor__(self, other: Word) -> Word:
        return Word(self.value ^ other.value, self.bits)

    def __lshift__(self, other: Word) -> Word:
        return _word(self.value << min(other.value, self.bits), self.bits)

    def __rshift__(self, other: Word) -> Word:
        return _word(self.signed >> min(other.value, self.bits), self.bits)

    def __truediv__(self, other: Word) -> Word:
        one, by = self.signed, other.signed
        if by == 0:
            return _word(1 if one < 0 else -1, self.bits)
        quotient = abs(one) // abs(by)
        return _word(quotient if (one < 0) == (by < 0) else -quotient, self.bits)


class Words:
    """The functions of the module z3 that are asked for, by its names."""

    BitVecRef = Word

    @staticmethod
    def BitVec(name: str, bits: int) -> Word:
        """Return what stands for a variable of which no number is known: its name says nothing here."""
        return Word(0, bits)

    @staticmethod
    def BitVecVal(value: int, bits: int) -> Word:
        return _word(value, bits)

    @staticmethod
    def Extract(high: int, low: int, one: Word) -> Word:
        return _word(one.value >> low, high - low + 1)

    @staticmethod
    def ZeroExt(more: int, one: Word) -> Word:
        return Word(one.value, one.bits + more)

    @staticmethod
    def SignExt(more: int, one: Word) -> Word:
        return _word(one.signed, one.bits + more)

    @staticmethod
    def UDiv(one: Word, by: Word) -> Word:
        return Word(one.value // by.value if by.value else (1 << one.bits) - 1, one.bits)

    @staticmethod
    def URem(one: Word, by: Word) -> Word:
        return Word(one.value % by.value if by.value else one.value, one.bits)

    @staticmethod
    def SRem(one: Word, by: Word) -> Word:
        """Return the remainder, with the sign of what is divided."""
        if by.value == 0:
            return one
        rest = abs(one.signed) % abs(by.signed)
        return _word(-rest if one.signed < 0 else rest, one.bits)

    @staticmethod
    def LShR(one: Word, by: Word) -> Word:
        return Word(one.value >> min(by.value, one.bits), one.bits)

    @staticmethod
    def UGE(one: Word, other: int) -> bool:
        return one.value >= other

    @staticmethod
    def ULE(one: Word, other: int) -> bool:
        return one.value <= other


def _word(value: int, bits: int) -> Word:
    return Word(value & ((1 << bits) - 1), bits)
