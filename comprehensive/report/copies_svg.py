"""Copies of a piece to shared memory as shapes: what a warp copies in, a map of the banks with its lanes out.

Rows are 128 bytes of shared memory, columns its 32 banks.  Each copy of a lane is a box in the colour of the lane; the
addresses stand in its hint.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.sites import BANKS
from comprehensive.model.staged_copies import LaneCopy, StagedCopy
from comprehensive.report.labels import LETTER
from comprehensive.report.svg import INK, rectangle, shade, text, with_hint

_BANK, _HIGH, _LINE = 10.0, 9.0, 17.0
_ROW_BYTES = BANKS * WORD_BYTES
_MOST_ROWS = 48


def copies_shapes(found: StagedCopy) -> tuple[list[str], float, float]:
    """The shapes with their width and height."""
    stored = [(number, copy) for number, copy in enumerate(found.copies, 1) if any(_taken(copy.target))]
    lines = sorted({at // _ROW_BYTES for _, copy in stored for at in copy.target if at is not None})
    rows = {line: row for row, line in enumerate(lines[:_MOST_ROWS])}
    title = f"{found.array} to {found.tile}: the first {found.kind}, {_counted(found)}"
    label = f"{lines[-1] * _ROW_BYTES} " if lines else ""
    left = LETTER * len(label)
    shapes = [text(0, 12, title, 'font-weight="bold"')]
    for line, row in rows.items():
        down = 20 + row * _HIGH
        shapes.append(text(0, down + _HIGH - 1, str(line * _ROW_BYTES), 'font-size="9"'))
        shapes.append(
            rectangle(left, down, BANKS * _BANK, _HIGH, "none", f'stroke="{INK}" stroke-width="0.3"')
        )
    for number, copy in stored:
        shapes += _boxes(found, number, copy, rows, left)
    down = 20 + len(rows) * _HIGH
    notes = ["a row is 128 bytes of shared memory, a column a bank; colours are lanes of the warp"]
    if len(lines) > len(rows):
        notes.append(f"{len(lines) - len(rows)} more rows are not drawn")
    shapes += [text(0, down + (n + 1) * _LINE, note) for n, note in enumerate(notes)]
    wide = max(left + BANKS * _BANK, *(LETTER * len(words) for words in (title, *notes)))
    return shapes, wide, down + len(notes) * _LINE + 8


def _taken(lanes: tuple[int | None, ...]) -> list[bool]:
    return [lane is not None for lane in lanes]


def _counted(found: StagedCopy) -> str:
    """Return how often the warp copies how many bytes a lane: ``2 times 16 bytes a lane, once 4``."""
    widths = [copy.width for copy in found.copies]
    parts = [
        f"{'once' if widths.count(w) == 1 else f'{widths.count(w)} times'} {w}" for w in dict.fromkeys(widths)
    ]
    return (
        f"{parts[0]} bytes a lane" + "".join(f", {part}" for part in parts[1:])
        if parts
        else "no copy of this warp"
    )


def _boxes(
    found: StagedCopy, number: int, copy: LaneCopy, rows: dict[int, int], left: float
) -> Iterator[str]:
    for lane, (source, target) in enumerate(zip(copy.source, copy.target, strict=True)):
        if target is None or target // _ROW_BYTES not in rows:
            continue
        line, at = divmod(target, _ROW_BYTES)
        wide = copy.width * _BANK / WORD_BYTES
        look = f'fill-opacity="0.6" stroke="{INK}" stroke-width="0.4"'
        x, y = left + at * _BANK / WORD_BYTES, 20 + rows[line] * _HIGH
        begin = "from registers" if source is None else f"from byte {source} of {found.array}"
        hint = f"lane {lane}, copy {number}: {copy.width} bytes {begin} to byte {target}"
        yield with_hint(rectangle(x, y, wide, _HIGH, shade(lane, WARP_THREADS - 1), look), (hint,))
