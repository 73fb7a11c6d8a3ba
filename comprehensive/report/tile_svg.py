"""The contents of a block as a picture: the shape of a block and numbers, where there are some, in, one SVG out.

From left to right: the threads of the block, in the colours of their warps; the elements of each array that the block
touches in one step of its loops, what it reads beyond what it writes (the halo) hatched, and one thread's share framed;
shared memory with its tiles; what a warp copies to them, lane by lane; registers.  With numbers everything is to
scale, as long as it can be seen; without, boxes have one size, and symbols stand at their sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, prod

from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.metafork.printer import print_expr
from comprehensive.model.block_shape import Elements
from comprehensive.report.copies_svg import copies_shapes
from comprehensive.report.labels import LETTER, rows
from comprehensive.report.svg import (
    HATCH,
    INK,
    Place,
    group,
    on_anything,
    picture,
    rectangle,
    shade,
    text,
    with_hint,
)
from comprehensive.report.tiles import Drawn

_MARGIN, _LINE, _GAP = 16.0, 17.0, 46.0
_MOST, _LEAST, _NOMINAL = 240.0, 26.0, 120.0
"""Pixels of the longest side of all boxes, of the shortest one, and of sides without numbers."""
_CUT = 300.0
"""Pixels at which what a block only reads is cut."""
_LARGEST = 16.0
"""Pixels of an element or a thread at most."""
_CELLS = 6.0
"""Pixels of a thread from which on each is drawn."""
_BAR = 560.0
_READ, _WRITTEN, _BOTH = "#3b528b", "#5ec962", "#21918c"


def tiles_svg(found: Sequence[Drawn], title: str) -> str:
    """One picture with a panel a kernel, ending in a newline."""
    shapes: list[str] = []
    down, width = _MARGIN, 0.0
    for each in found:
        panel, wide, high = _Panel(each).drawn()
        shapes.append(group(panel, _MARGIN, down))
        down, width = down + high + 30, max(width, wide)
    return picture(width + 2 * _MARGIN, down, shapes, title)


class _Panel:
    def __init__(self, found: Drawn) -> None:
        self.found = found
        written = [self.found.numbers(e.extents) for e in found.shape.elements if e.writes]
        longest = [max(sides[-2:]) for sides in written if sides]
        longest += [max(found.threads)] if found.threads is not None else []
        self.scale = min(_LARGEST, _MOST / max(1, *longest, 1))

    def drawn(self) -> tuple[list[str], float, float]:
        """The shapes with their width and height."""
        found = self.found
        shapes = [text(0, 12, found.title, 'font-weight="bold"')]
        right, high = 0.0, 0.0
        for draw in (self._threads, *(self._drawing(e) for e in found.shape.elements)):
            parts, wide, tall = draw()
            shapes.append(group(parts, right, 2 * _LINE))
            right, high = right + wide + _GAP, max(high, tall)
        down = 2 * _LINE + high + _LINE
        parts, tall = self._shared()
        shapes.append(group(parts, 0, down))
        down += tall
        for copy in found.copies:
            parts, wide, tall = copies_shapes(copy)
            shapes.append(group(parts, 0, down))
            right, down = max(right, wide + _GAP), down + tall + 8
        notes = list(self._notes())
        shapes += [text(0, down + (row + 1) * _LINE, words) for row, words in enumerate(notes)]
        width = max(right - _GAP, _BAR + 90, LETTER * max(map(len, (found.title, *notes))))
        return shapes, width, down + (len(notes) + 1) * _LINE

    # --- the threads

    def _threads(self) -> tuple[list[str], float, float]:
        extents = [print_expr(extent) for extent in self.found.shape.threads]
        threads = self.found.threads
        shapes = [text(0, 10, "threads", 'font-weight="bold"')]
        if threads is None:
            parts, wide, high = self._labelled(
                (_NOMINAL, _NOMINAL), extents[-2:] if len(extents) > 1 else ["", *extents]
            )
            caption = f"{' x '.join(extents)} threads"
        else:
            layers, down, across = (1, 1, *threads)[-3:]
            size = self.scale * across, self.scale * down
            parts, wide, high = self._labelled(_seen(size), (str(down), str(across)))
            parts = [*self._warps(_seen(size), down, across), *parts]
            deep = f"{layers} x " if layers > 1 else ""
            warps = ceil(prod(threads) / WARP_THREADS)
            caption = f"{deep}{down} x {across} threads, {warps} {'warp' if warps == 1 else 'warps'}"
        shapes.append(group(parts, 0, _LINE + 4))
        shapes.append(text(0, _LINE + 4 + high + _LINE, caption))
        return shapes, max(wide, LETTER * len(caption)), high + 2 * _LINE + 4

    def _warps(self, size: Place, down: int, across: int) -> Iterator[str]:
        """The threads in the colours of their warps, where there is room; else the warps that are whole rows."""
        wide, high = size[0] / across, size[1] / down
        last = max(1, ceil(down * across / WARP_THREADS) - 1)
        if min(wide, high) >= _CELLS:
            for y in range(down):
                for x in range(across):
                    warp, lane = divmod(y * across + x, WARP_THREADS)
                    look = f'fill-opacity="0.55" stroke="{INK}" stroke-width="0.3"'
                    cell = rectangle(x * wide, y * high, wide, high, shade(warp, last), look)
                    yield with_hint(cell, (f"thread ({x}, {y}): lane {lane} of warp {warp}",))
            return
        for y in range(down):
            first, end = y * across // WARP_THREADS, (y * across + across - 1) // WARP_THREADS
            for warp in range(first, end + 1):
                left = max(0, warp * WARP_THREADS - y * across)
                right = min(across, (warp + 1) * WARP_THREADS - y * across)
                yield rectangle(
                    left * wide,
                    y * high,
                    (right - left) * wide,
                    high,
                    shade(warp, last),
                    'fill-opacity="0.55"',
                )

    # --- elements of arrays

    def _drawing(self, elements: Elements) -> Callable[[], tuple[list[str], float, float]]:
        return lambda: self._elements(elements)

    def _elements(self, elements: Elements) -> tuple[list[str], float, float]:
        names = [extent.format(self.found.order) for extent in elements.extents]
        numbers = self.found.numbers(elements.extents)
        flat = ("", names[0]) if len(names) == 1 else tuple(names[-2:])
        size = (_NOMINAL, _LEAST if len(names) == 1 else _NOMINAL)
        if numbers is not None:
            down, across = (1, *numbers)[-2:]
            size = _seen((self.scale * across, self.scale * down))
            sides = [_equal(name, side) for name, side in zip(names[-2:], numbers[-2:], strict=True)]
            cut = [side * self.scale > _CUT for side in numbers[-2:]]
            shown = [f"{side}, cut" if is_cut else side for side, is_cut in zip(sides, cut, strict=True)]
            flat = ("", *shown)[-2:]
        kind = (
            "read and written"
            if elements.reads and elements.writes
            else "read"
            if elements.reads
            else "written"
        )
        colour = _BOTH if elements.reads and elements.writes else _READ if elements.reads else _WRITTEN
        parts = [rectangle(0, 0, *size, colour, f'fill-opacity="0.35" stroke="{INK}"')]
        parts += self._halo(elements, size, numbers)
        parts += self._each(elements, size, numbers)
        labels, wide, high = self._labelled(size, flat)
        where = self._where(elements)
        outer = names[:-2]
        if numbers is not None:
            outer = [_equal(name, value) for name, value in zip(names[:-2], numbers[:-2], strict=True)]
        told = [f"{kind}, {where}"]
        told += [f"{' x '.join(outer)} of these"] if outer else []
        told += [_halo_words(elements.halo)] if elements.halo else []
        title = f"{elements.array}" + ("" if len(self._bands()) < 2 else f", part {elements.band + 1}")
        shapes = [text(0, 10, title, 'font-weight="bold"'), group([*parts, *labels], 0, _LINE + 4)]
        shapes += [text(0, _LINE + 4 + high + (row + 1) * _LINE, words) for row, words in enumerate(told)]
        width = max(wide, LETTER * max(map(len, (title, *told))))
        return shapes, width, high + _LINE + 4 + len(told) * _LINE

    def _bands(self) -> set[int]:
        return {e.band for e in self.found.shape.elements}

    def _where(self, elements: Elements) -> str:
        names = [s.name for s in self.found.shape.shared if s.array == elements.array]
        return f"through shared memory ({', '.join(names)})" if names else "in global memory"

    def _halo(self, elements: Elements, size: Place, numbers: Sequence[int] | None) -> Iterator[str]:
        if not elements.halo:
            return
        (top, bottom), (left, right) = ((0, 0), *elements.halo)[-2:]
        high, wide = (1, 1) if numbers is None else (1, *numbers)[-2:]

        def thick(count: int, of: int, pixels: float) -> float:
            wanted = 8.0 * count if numbers is None else pixels * count / of
            return 0.0 if count == 0 else min(max(wanted, 4.0), pixels / 3)

        x, y = thick(left, wide, size[0]), thick(top, high, size[1])
        inner_x, inner_y = size[0] - thick(right, wide, size[0]), size[1] - thick(bottom, high, size[1])
        ring = f"M0 0H{size[0]:.1f}V{size[1]:.1f}H0Z M{x:.1f} {y:.1f}V{inner_y:.1f}H{inner_x:.1f}V{y:.1f}Z"
        yield f'<path d="{ring}" fill="{HATCH}" fill-rule="evenodd" stroke="{INK}" stroke-width="0.6"/>'

    def _each(self, elements: Elements, size: Place, numbers: Sequence[int] | None) -> Iterator[str]:
        """The box of the elements of the first thread, where it is to scale."""
        each = self.found.numbers(elements.each)
        if numbers is None or not each or len(each) != len(numbers):
            return
        (down, across), (high, wide) = (1, *each)[-2:], (1, *numbers)[-2:]
        frame = size[0] * across / wide, size[1] * down / high
        words = " x ".join(e.format(self.found.order) for e in elements.each)
        shape = rectangle(
            0, 0, max(frame[0], 2), max(frame[1], 2), "none", f'stroke="{INK}" stroke-width="2"'
        )
        yield with_hint(shape, (f"a thread touches a box of {words}",))

    # --- shared memory and registers

    def _shared(self) -> tuple[list[str], float]:
        shape = self.found.shape
        words = shape.shared_words.format(self.found.order)
        if not shape.shared:
            return [text(0, 12, "no shared memory")], _LINE
        total = self.found.shared_words
        shown = words if total is None else _equal(words, total)
        shapes = [text(0, 12, f"shared memory: {shown} words of 4 bytes", 'font-weight="bold"')]
        places = list(self._places())
        if total is None:
            shapes += [text(0, 12 + (n + 1) * _LINE, name) for n, (name, _, _) in enumerate(places)]
            return shapes, (len(places) + 1) * _LINE + 4
        in_row = rows((left + 0.5, right - 0.5) for _, left, right in places)
        high = 24.0
        for (name, left, right), row in zip(places, in_row, strict=True):
            top = 20 + row * (high + 4)
            shapes.append(
                rectangle(left, top, right - left, high, _BOTH, f'fill-opacity="0.35" stroke="{INK}"')
            )
            fits = len(name) * LETTER < right - left
            if fits:
                shapes.append(text(left + 5, top + 16, name, on_anything()))
        down = 20 + (max(in_row) + 1) * (high + 4) + 6
        hidden = [name for name, left, right in places if len(name) * LETTER >= right - left]
        shapes += [text(0, down + (n + 1) * _LINE - 6, name) for n, name in enumerate(hidden)]
        return shapes, down + len(hidden) * _LINE

    def _places(self) -> Iterator[tuple[str, float, float]]:
        """The tiles in shared memory with the pixels where they begin and end; a tile ends where another one begins."""
        shared, total, offsets = self.found.shape.shared, self.found.shared_words, self.found.offsets
        if total is None or offsets is None:
            wide = _BAR / len(shared)
            for number, tile in enumerate(shared):
                at = print_expr(tile.offset_words)
                yield f"{tile.name} at {at}", number * wide, (number + 1) * wide
            return
        for number, (tile, offset) in enumerate(zip(shared, offsets, strict=True)):
            later = offsets[number + 1] if number + 1 < len(offsets) else total
            end = later if later > offset else total
            name = f"{tile.name} at {offset}, {end - offset} words"
            yield name, _BAR * offset / max(total, 1), _BAR * end / max(total, 1)

    def _notes(self) -> Iterator[str]:
        for name, dims in self.found.shape.registers:
            sizes = " x ".join(map(print_expr, dims))
            yield f"a thread keeps {name} in registers: {sizes}"
        yield from self.found.conditions
        for array, reason in self.found.shape.unknown:
            yield f"{array}: not drawn, its elements are not a box ({reason})"

    # --- sizes

    def _labelled(self, size: Place, sides: Sequence[str]) -> tuple[list[str], float, float]:
        """A frame with the names of its sides: down on the right, across below."""
        down, across = sides
        shapes = [rectangle(0, 0, *size, "none", f'stroke="{INK}"')]
        shapes.append(text(size[0] / 2, size[1] + 14, across, 'text-anchor="middle"'))
        if down:
            shapes.append(text(size[0] + 6, size[1] / 2 + 4, down))
        side = LETTER * len(down) + 6 if down else 0
        return shapes, max(size[0] + side, LETTER * len(across)), size[1] + 16


def _seen(size: Place) -> Place:
    """A size that can be seen, and is not far longer than the others, whatever the numbers are."""
    return min(max(size[0], _LEAST), _CUT), min(max(size[1], _LEAST), _CUT)


def _equal(name: str, value: int) -> str:
    return name if name == str(value) else f"{name} = {value}"


def _halo_words(halo: Sequence[tuple[int, int]]) -> str:
    if len(set(halo)) == 1:
        first, last = halo[0]
        return (
            f"halo of {first} on every side" if first == last else f"halo of {first} before and {last} behind"
        )
    sides = ", ".join(f"{first} before and {last} behind" for first, last in halo)
    return f"halo: {sides}"
