"""The map from places in frames to shared memory: no two threads or places meet, and warps meet no bank conflicts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.sass.spills.layout import Layout, layout_of

FRAME_BYTES = 48
BANKS = 32


@st.composite
def accesses(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Pairs of an offset and a width, aligned as those of ptxas are."""
    found = [
        (draw(st.integers(0, FRAME_BYTES // width - 1)) * width, width)
        for width in draw(st.lists(st.sampled_from((1, 2, 4, 4, 8, 16)), min_size=1, max_size=8))
    ]
    return sorted(set(found))


def address(layout: Layout, offset: int, thread: int) -> int:
    place = layout.place(offset)
    return place.offset + place.scale * thread


@given(accesses(), st.integers(1, 70), st.sampled_from((0, 1024, 4096)), st.booleans())
def test_every_byte_of_every_thread_has_a_place_of_its_own(
    found: list[tuple[int, int]], threads: int, start: int, scaled: bool
) -> None:
    layout = layout_of(found, threads=threads, start=start, scaled=scaled)
    touched = sorted({offset + byte for offset, width in found for byte in range(width)})
    places = [address(layout, offset, thread) for thread in range(threads) for offset in touched]
    assert len(set(places)) == len(places)
    assert start <= min(places)
    assert max(places) < start + layout.bytes_per_block
    for offset, width in found:
        for thread in (0, threads - 1):
            first = address(layout, offset, thread)
            assert first % width == 0
            assert [address(layout, offset + byte, thread) for byte in range(width)] == [
                first + byte for byte in range(width)
            ]
    if not scaled:
        assert len({layout.place(offset).scale for offset in touched}) == 1


def ways(layout: Layout, offset: int, width: int) -> int:
    """Return how many words of the busiest bank an access of a warp touches; a bank gives one word at a time."""
    lanes = BANKS * 4 // max(width, 4)
    words = {
        (address(layout, offset, lane) + 4 * part) // 4
        for lane in range(lanes)
        for part in range(max(1, width // 4))
    }
    return max(Counter(word % BANKS for word in words).values())


@given(accesses(), st.integers(32, 70))
def test_scaled_accesses_of_the_width_of_their_cell_have_no_conflicts(
    found: list[tuple[int, int]], threads: int
) -> None:
    layout = layout_of(found, threads=threads, start=1024, scaled=True)
    for offset, width in found:
        if layout.place(offset).scale == max(width, 4):
            assert ways(layout, offset, width) == 1


@pytest.mark.parametrize(
    ("found", "scaled", "conflicts"),
    [
        ([(0, 4), (4, 4), (20, 4)], False, [1, 1, 1]),
        ([(0, 8), (8, 8)], False, [1, 1]),
        ([(0, 8), (8, 4), (12, 4)], False, [1, 2, 2]),
        ([(0, 8), (8, 4), (12, 4)], True, [1, 1, 1]),
        ([(0, 8), (0, 4)], True, [1, 2]),
    ],
)
def test_words_beside_wider_ones_meet_where_registers_are_not_scaled(
    found: list[tuple[int, int]], scaled: bool, conflicts: list[int]
) -> None:
    layout = layout_of(found, threads=64, start=1024, scaled=scaled)
    assert [ways(layout, offset, width) for offset, width in found] == conflicts


def test_what_is_not_accessed_takes_no_room() -> None:
    layout = layout_of([(0, 4), (40, 4)], threads=10, start=0, scaled=False)
    assert layout.bytes_per_thread == 8
    assert layout.bytes_per_block == 80
    with pytest.raises(KeyError):
        layout.place(8)
