"""The layout of the words of each thread's frame in the shared memory of a block.

    layout = layout_of([(0, 4), (8, 8)], threads=128, start=1024, scaled=False)
    layout.place(8)                     # Place(offset=2048, scale=8): of thread 0; thread t is 8*t bytes behind it
    layout.bytes_per_block              # 2048

A frame is cut into cells of 4, 8 or 16 bytes, such that no access touches two of them.  The cells of one place in the
frame lie side by side, thread by thread: threads of a warp that access one place touch different banks.

Where an instruction can scale its register (``[R1.X8+0x400]``), each cell is as wide as what is stored in it.  Where
it cannot, the register holds the scaled number of the thread, and all cells are as wide as the widest access: an access
of 4 bytes beside ones of 8 touches 16 banks only, and takes twice as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Place:
    """An address in shared memory: ``offset`` plus ``scale`` times the number of the thread in its block."""

    offset: int
    scale: int


@dataclass(frozen=True, slots=True)
class Layout:
    """``cells`` are pairs of an offset in the frame and a width, in the order in which they lie in shared memory."""

    threads: int
    start: int
    cells: Sequence[tuple[int, int]]

    @property
    def bytes_per_thread(self) -> int:
        return sum(width for _, width in self.cells)

    @property
    def bytes_per_block(self) -> int:
        return self.threads * self.bytes_per_thread

    @property
    def widest(self) -> int:
        return max(width for _, width in self.cells)

    def place(self, offset: int) -> Place:
        """Return where a byte of the frame is. KeyError for one that is not accessed."""
        start = self.start
        for cell, width in self.cells:
            if cell <= offset < cell + width:
                return Place(start + offset - cell, width)
            start += width * self.threads
        raise KeyError(offset)


def layout_of(accesses: Iterable[tuple[int, int]], *, threads: int, start: int, scaled: bool) -> Layout:
    """Return the layout for accesses, pairs of an offset in the frame and a width in bytes.

    Offsets are multiples of their widths; ``start`` is a multiple of 16.
    """
    widths = sorted({(max(width, WORD_BYTES), offset) for offset, width in accesses}, reverse=True)
    widest = widths[0][0]
    cells: dict[int, int] = {}
    for wanted, offset in widths:
        width = wanted if scaled else widest
        # What lies in a cell of a wider access has its place there.
        if not any(offset & -wide in cells and cells[offset & -wide] == wide for wide in (16, 8, 4)):
            cells[offset & -width] = width
    ordered = sorted(cells.items(), key=lambda cell: (-cell[1], cell[0]))
    return Layout(threads, start, tuple(ordered))
