"""Words of local loads and stores, as ptxas has written them, and what becomes of them."""

from __future__ import annotations

import pytest

from comprehensive.sass.control import control_of, control_word
from comprehensive.sass.spills.local_access import LocalAccess, is_local, local_access, shared_word

STORE = 0x0041E80000100800_0000080801007387
"""STL [R1+0x8], R8"""
LAST_LOAD_OF_TWO = 0x000EA20000300A00_00000000011C7983
"""LDL.LU.64 R28, [R1]"""
HALF = 0x000FE20000100600_0000700F01007387
"""STL.S16 [R1+0x70], R15"""


@pytest.mark.parametrize(
    ("word", "access"),
    [
        (STORE, LocalAccess(1, 8, 4)),
        (LAST_LOAD_OF_TWO, LocalAccess(1, 0, 8)),
        (HALF, LocalAccess(1, 0x70, 2)),
        (STORE | 0xFFFFF0 << 40, LocalAccess(1, -8, 4)),
    ],
)
def test_places_and_widths_are_read(word: int, access: LocalAccess) -> None:
    assert is_local(word)
    assert local_access(word) == access


@pytest.mark.parametrize(
    "word",
    [
        LAST_LOAD_OF_TWO | 4 << 32 | 1 << 91,  # a uniform register in the address
        STORE | 1 << 72,  # an address of 64 bits
        STORE | 7 << 73,  # no size
    ],
)
def test_a_form_that_is_not_known_is_none(word: int) -> None:
    assert is_local(word)
    assert local_access(word) is None


@pytest.mark.parametrize(
    ("word", "offset", "scale", "shared"),
    [
        (STORE, 0x800, 1, 0x0041E80000000800_0008000801007388),
        (STORE, 0x800, 4, 0x0041E80000004800_0008000801007388),
        (LAST_LOAD_OF_TWO, 0x400, 1, 0x000EA20000000A00_00040000011C7984),
        (LAST_LOAD_OF_TWO, 0x400, 8, 0x000EA20000008A00_00040000011C7984),
        (HALF, 0, 1, 0x000FE20000000400_0000000F01007388),  # ptxas stores .U16
    ],
)
def test_the_word_of_shared_memory_is_that_of_ptxas(word: int, offset: int, scale: int, shared: int) -> None:
    assert shared_word(word, offset, scale=scale) == shared
    assert control_of(shared) == control_of(word)


@pytest.mark.parametrize("word", [STORE, LAST_LOAD_OF_TWO, HALF])
def test_control_bits_are_written_as_they_were_read(word: int) -> None:
    assert control_word(control_of(word)) == word & ((1 << 127) - (1 << 105))
