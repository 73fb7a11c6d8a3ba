"""Control bits of instruction words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.sass.control import Control, control_of, words_of


def test_the_bits_of_a_load_that_nvcc_made() -> None:
    # `LDG.E R2, desc[UR4][R2.64]` of sm_90, with a stall of 4, scoreboard 2 for its result.
    low, high = 0x0000000402027981, 0x000EA8000C1E1900
    assert control_of(high << 64 | low) == Control(4, False, 2, None, 0, 0)


@given(
    st.integers(0, 15),
    st.booleans(),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, 63),
    st.integers(0, 15),
)
def test_each_field_is_read_from_its_own_bits(
    stall: int, yields: bool, write: int, read: int, wait: int, reuse: int
) -> None:
    word = stall << 105 | (not yields) << 109 | write << 110 | read << 113 | wait << 116 | reuse << 122
    others = ~(0x1FFFFF << 105) & (1 << 128) - 1
    for rest in (0, others):
        found = control_of(word | rest)
        assert (found.stall, found.yields, found.wait_mask, found.reuse_mask) == (stall, yields, wait, reuse)
        assert found.write == (None if write == 7 else write)
        assert found.read == (None if read == 7 else read)
        assert sum(1 << number for number in found.waits) == wait


def test_words_are_sixteen_bytes_and_little_endian() -> None:
    assert words_of(bytes([1]) + bytes(15) + bytes(15) + bytes([2])) == (1, 2 << 120)
