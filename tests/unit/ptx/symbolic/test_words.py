"""Words compute what z3 computes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import z3  # pyright: ignore[reportMissingTypeStubs]

from comprehensive.ptx.symbolic.terms import operations
from comprehensive.ptx.symbolic.words import Words

TERMS: Any = z3


def numbers(bits: int) -> list[int]:
    """Return the ends of both kinds of numbers, shifts as far as the width and beyond, and some numbers between."""
    random = Random(bits)
    ends = [0, 1, 2, bits - 1, bits, bits + 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]
    return [*ends, *(random.getrandbits(bits) for _ in range(4))]


def number_of(term: Any) -> int:
    return TERMS.simplify(term).as_long()


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", ["div", "rem", "and", "or", "xor", "shl", "shr"])
def test_operations_of_words_are_those_of_terms(name: str, signed: bool, bits: int) -> None:
    of_words, of_terms = (operations(each, signed)[name] for each in (Words, TERMS))
    for one in numbers(bits):
        for other in numbers(bits):
            found = of_words(Words.BitVecVal(one, bits), Words.BitVecVal(other, bits))
            expected = of_terms(TERMS.BitVecVal(one, bits), TERMS.BitVecVal(other, bits))
            assert (found.value, found.bits) == (number_of(expected), bits), (one, other)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_sums_products_and_widths_of_words_are_those_of_terms(bits: int) -> None:
    for one in numbers(bits):
        word, term = Words.BitVecVal(one, bits), TERMS.BitVecVal(one, bits)
        for found, expected in (
            (Words.SignExt(64, word), TERMS.SignExt(64, term)),
            (Words.ZeroExt(64, word), TERMS.ZeroExt(64, term)),
            (Words.Extract(bits - 3, 2, word), TERMS.Extract(bits - 3, 2, term)),
            (word & 31, term & 31),
            (word * -4, term * -4),
        ):
            assert (found.value, found.bits) == (number_of(expected), expected.size())
        for other in numbers(bits):
            by, of = Words.BitVecVal(other, bits), TERMS.BitVecVal(other, bits)
            for found, expected in ((word + by, term + of), (word - by, term - of), (word * by, term * of)):
                assert found.value == number_of(expected)
