"""The accesses of a warp as pictures: rows of an access table in, one self-contained SVG out.

Memory is drawn in rows of 128 bytes, 32 words of 4 bytes: a line with its four sectors in global memory, one word of
each of the 32 banks in shared memory.  A word that lanes want has the colour and the number of the first of them, with
a `+` where there are several.  Of global memory the sectors that are moved are framed; of shared memory a number below
a bank says how many different words of it are wanted, one turn each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.machine.sites import BANKS, LINE_BYTES, SECTOR_BYTES
from comprehensive.model.access_rows import Row
from comprehensive.model.warp_accesses import bank_ways
from comprehensive.report.accesses import COPIES, Accesses, access, heading, span, stride
from comprehensive.report.labels import LETTER
from comprehensive.report.svg import INK, group, picture, rectangle, shade, text, with_hint

_CELL, _HIGH, _LEFT, _LINE = 21.0, 18.0, 84.0, 17.0
_MARGIN = 16.0
_CONFLICT = 'fill="#d62f2f" font-weight="bold"'


def accesses_svg(found: Sequence[Accesses], source: str) -> str:
    """One picture with a panel an access, ending in a newline; ``source`` is the line of the program in question."""
    shapes: list[str] = []
    down, width = _MARGIN, _LEFT + BANKS * _CELL
    for each in found:
        title = heading(each)
        shapes += [
            text(_MARGIN, down + 12, title, 'font-weight="bold"'),
            text(_MARGIN, down + 12 + _LINE, source),
        ]
        width = max(width, LETTER * max(len(title), len(source)))
        if each.copies:
            shapes.append(text(_MARGIN, down + 12 + 2 * _LINE, COPIES, 'opacity="0.75"'))
            down += _LINE
        down += 2 * _LINE + 20
        for row in each.rows:
            panel, high, wide = _panel(row, each)
            shapes.append(group(panel, _MARGIN, down))
            down, width = down + high + 22, max(width, wide)
    return picture(width + 2 * _MARGIN, down, shapes, source)


def _panel(row: Row, found: Accesses) -> tuple[list[str], float, float]:
    """The shapes of an access, with height and width."""
    memory = "shared" if row.site.is_shared else "global"
    title = f"{row.site.text}: {access(row)}, {row.site.array} in {memory} memory"
    told = _told(row, found)
    shapes = [text(0, 12, title, 'font-weight="bold"'), text(0, 12 + _LINE, told)]
    wide = LETTER * max(len(title), len(told))
    if not row.lanes or row.by_data:
        return shapes, 2 * _LINE, wide
    drawn, high = _memory(row)
    return [*shapes, group(drawn, _LEFT, 2 * _LINE + 4)], 2 * _LINE + 4 + high, wide


def _told(row: Row, found: Accesses) -> str:
    if row.by_data:
        return f"data decides which elements: {span(row)} {_unit(row, row.most)}"
    if not row.lanes:
        return f"stride {stride(row, found.order)}: {span(row)} {_unit(row, row.most)}"
    least = f", {row.served.least} would do" if row.served.least < row.served.units else ""
    times = "" if row.done in (None, 1) else f"; the first of {row.done} times"
    others = f", {span(row)} in the others" if row.fewest < row.most else ""
    return f"stride {stride(row, found.order)}: {row.served.units} {_unit(row, row.served.units)}{least}{times}{others}"


def _unit(row: Row, count: int) -> str:
    unit = "turn of the banks" if row.site.is_shared else "sector of 32 bytes"
    return unit if count == 1 else unit.replace("turn", "turns").replace("sector", "sectors")


def _memory(row: Row) -> tuple[list[str], float]:
    """The words that the lanes want, row by row of 128 bytes, and the height of all."""
    lanes_of = _lanes_of_words(row)
    lines = sorted({word * WORD_BYTES // LINE_BYTES for word in lanes_of})
    shapes = list(_scale(row))
    down = 16.0
    before: int | None = None
    for line in lines:
        if before is not None and line > before + 1:
            shapes.append(text(BANKS * _CELL / 2, down + 8, "...", 'text-anchor="middle"'))
            down += 14
        shapes += _line(row, lanes_of, line, down)
        before, down = line, down + _HIGH + 3
    if row.site.is_shared:
        ways = bank_ways(row.lanes, row.width)
        shapes.append(text(-8, down + 11, "words", 'text-anchor="end"'))
        most = max(ways.values())
        for bank, count in ways.items():
            look = _CONFLICT if count > row.served.least and count == most else ""
            shapes.append(
                text((bank + 0.5) * _CELL, down + 11, str(count), f'text-anchor="middle" {look}'.strip())
            )
        down += _LINE
    return shapes, down


def _lanes_of_words(row: Row) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for lane, begin in enumerate(row.lanes):
        if begin is not None:
            for word in range(begin // WORD_BYTES, (begin + row.width - 1) // WORD_BYTES + 1):
                found.setdefault(word, []).append(lane)
    return found


def _scale(row: Row) -> Iterator[str]:
    """Numbers of banks above shared memory, of bytes above global memory."""
    yield text(-8, 10, "bank" if row.site.is_shared else "byte", 'text-anchor="end"')
    step = 1 if row.site.is_shared else SECTOR_BYTES // WORD_BYTES
    for word in range(0, BANKS, step):
        shown = str(word) if row.site.is_shared else f"+{word * WORD_BYTES}"
        yield text((word + 0.5 * step) * _CELL, 10, shown, 'text-anchor="middle" opacity="0.75"')


def _line(row: Row, lanes_of: Mapping[int, list[int]], line: int, down: float) -> Iterator[str]:
    yield text(-8, down + 13, str(line * LINE_BYTES), 'text-anchor="end"')
    first = line * LINE_BYTES // WORD_BYTES
    yield rectangle(0, down, BANKS * _CELL, _HIGH, "none", f'stroke="{INK}" stroke-opacity="0.25"')
    for word in range(first, first + BANKS):
        lanes = lanes_of.get(word)
        if lanes is None:
            continue
        left = (word - first) * _CELL
        cell = rectangle(
            left,
            down,
            _CELL,
            _HIGH,
            shade(lanes[0], 31),
            f'fill-opacity="0.45" stroke="{INK}" stroke-opacity="0.4"',
        )
        shown = f"{lanes[0]}+" if len(lanes) > 1 else str(lanes[0])
        named = text(
            left + _CELL / 2,
            down + 13,
            shown,
            f'text-anchor="middle" font-size="{11 if len(shown) < 3 else 9.5}"',
        )
        bytes_ = f"bytes {word * WORD_BYTES} to {word * WORD_BYTES + WORD_BYTES - 1}"
        yield with_hint(cell + named, (f"{bytes_}: lane {', '.join(map(str, lanes))}",))
    if not row.site.is_shared:
        words = SECTOR_BYTES // WORD_BYTES
        for sector in range(0, BANKS, words):
            if any(first + sector + k in lanes_of for k in range(words)):
                yield rectangle(
                    sector * _CELL, down, words * _CELL, _HIGH, "none", f'stroke="{INK}" stroke-width="1.8"'
                )
