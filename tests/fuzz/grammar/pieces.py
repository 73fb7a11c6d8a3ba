"""The pieces that shapes of functions are put together from: parameters, arrays, ranges, what an iteration owns.

In: the choices of a program.  Out: scopes, lines of regions and host code, and at last the parameter list.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace

from tests.fuzz.grammar.draw import Draw
from tests.fuzz.grammar.expressions import Expressions
from tests.fuzz.grammar.nests import Cut, Range, region
from tests.fuzz.grammar.scope import INTEGERS, Array, Coordinate, Extent, Names, Scope
from tests.fuzz.grammar.statements import Statements, written


class Pieces:
    """The known pieces of a program so far: sizes, blocks, arrays; and the next piece of it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.names = Names(draw, {"f", "int", "i", "j", "l", "n", "m", "B0", "B1", "B2", "T", "gs", "t"})
        self.expressions = Expressions(draw)
        self.statements = Statements(draw, self.names, self.expressions)
        self.sizes = [self.renamed("n")]
        if draw.chance(0.5):
            self.sizes.append(self.renamed("m"))
        three = draw.on("three coordinates", 0.2)
        self.rank = 3 if three else draw.pick([1, 1, 2, 2])
        self.blocks = [self.renamed(f"B{k}") for k in range(self.rank)]
        self.iterators = [self.renamed(name) for name in ("i", "j", "l")[: self.rank]]
        self.integers: list[str] = []
        self.floats: list[str] = []
        self.extra: list[str] = []  # further scalar parameters
        self.turns: str | None = None
        self.arrays: tuple[Array, ...] = ()
        self.steps: str | None = None
        self.ever_written: set[str] = set()

    def renamed(self, name: str) -> str:
        """A name of the program, now and then another one."""
        if not self.draw.on("odd names", 0.12):
            return name
        return self.names.new(name + "_")

    def scalars(self) -> None:
        """Further scalar parameters, which expressions read."""
        draw = self.draw
        if draw.chance(0.5):
            name = self.names.new("alpha", "beta")
            kind = "double" if draw.on("double", 0.25) else "float"
            self.extra.append(f"{kind} {name}")
            self.floats.append(name)
        if draw.chance(0.3):
            name = self.names.new("q", "r")
            kind = draw.pick(["int", "int", "long", "unsigned"])
            self.extra.append(f"{kind} {name}")
            self.integers.append(name)

    def parameters(self) -> list[str]:
        """The parameter list; what declared extents name comes first."""
        draw = self.draw
        kinds = [
            draw.pick(["long", "unsigned"]) if draw.on("size types", 0.06) else "int" for _ in self.sizes
        ]
        sizes = [f"{kind} {name}" for kind, name in zip(kinds, self.sizes, strict=True)]
        blocks = [f"int {name}" for name in self.blocks]
        others = list(self.extra)
        if self.steps is not None:
            blocks.append(f"int {self.steps}")
        if self.turns is not None:
            others.append(f"int {self.turns}")
        data = [a.parameter(const=a.name not in self.ever_written and draw.chance(0.7)) for a in self.arrays]
        if draw.on("order of parameters", 0.4):
            rest = [*blocks, *others, *data]
            draw.random.shuffle(rest)
            return [*sizes, *rest]
        return [*sizes, *others, *data, *blocks]

    def coordinates(self, *, simple: bool = False) -> tuple[list[Range], tuple[Coordinate, ...]]:
        """A range for each coordinate."""
        draw = self.draw
        ranges: list[Range] = []
        for name, block in zip(self.iterators, self.blocks, strict=True):
            size = draw.pick(self.sizes)
            low = 0 if simple or draw.chance(0.6) else draw.number(1, 2)
            above = 0 if simple or draw.chance(0.6) else draw.number(-2, 1)
            upper = Extent(size, above).text
            if not simple and draw.chance(0.05):
                upper, above = f"{size}/2", 0
            ranges.append(Range(Coordinate(name, low, size, above), upper, block))
        return ranges, tuple(r.coordinate for r in ranges)

    def element_type(self) -> str:
        """Return a type for the elements of data."""
        draw = self.draw
        if draw.on("integer data", 0.3):
            return draw.pick(INTEGERS)
        return "double" if draw.on("double", 0.2) else "float"

    def source(self) -> Array:
        """An array that is read."""
        draw = self.draw
        name, kind = self.names.new("a", "b", "c", "x", "w"), self.element_type()
        if draw.on("data subscript", 0.08):
            kind = "int"
        rank = draw.pick([1, 2, 2, 3] if self.rank == 3 else [1, 1, 2, 2])
        if draw.on("constant dims", 0.08):
            return Array(name, kind, (Extent("", draw.pick([4, 7, 8, 16])),), pointer=False)
        extents = tuple(Extent(draw.pick(self.sizes), draw.pick([0, 0, 0, 1, 2, 3])) for _ in range(rank))
        if draw.on("linearised", 0.45):
            return Array(name, kind, extents, pointer=True, base=draw.pick([0, 0, 2, 3, 40]))
        form = draw.pick(["open", "rows"]) if draw.on("row pointer", 0.2) else "dims"
        return Array(name, kind, extents, pointer=False, form=form)

    def output(self, coordinates: tuple[Coordinate, ...]) -> tuple[Array, tuple[tuple[str, ...], ...]]:
        """An array with the elements of it that an iteration owns."""
        draw = self.draw
        name, kind = self.names.new("y", "out", "d", "c"), self.element_type()
        order = list(coordinates)
        draw.random.shuffle(order) if draw.chance(0.25) else None
        pads = [max(0, c.above) + draw.pick([0, 0, 0, 1, 2]) for c in order]
        extents = tuple(Extent(c.size, pad) for c, pad in zip(order, pads, strict=True))
        digits: list[str] = []
        for c, pad in zip(order, pads, strict=True):
            lowest, highest = -c.low, pad - c.above
            shift = draw.number(max(lowest, -2), min(highest, 2)) if draw.chance(0.25) else 0
            shift = min(max(shift, lowest), highest)
            digits.append(c.name if shift == 0 else f"{c.name} {'+' if shift > 0 else '-'} {abs(shift)}")
        if draw.on("linearised", 0.4):
            base = draw.pick([0, 0, 1, 7])
            text = self.expressions.row(digits, extents)
            if draw.chance(0.08):
                both = (f"2*({text}) + {base}", f"2*({text}) + {base + 1}")
                return Array(name, kind, extents, pointer=True, base=base), ((both[0],), (both[1],))
            subscript = f"{text} + {base}" if base else text
            return Array(name, kind, extents, pointer=True, base=base), ((subscript,),)
        form = draw.pick(["open", "rows"]) if draw.on("row pointer", 0.15) else "dims"
        return Array(name, kind, extents, pointer=False, form=form), (tuple(digits),)

    def shared(self) -> Array:
        """An array that iterations update atomically."""
        draw = self.draw
        extent = Extent("", draw.pick([4, 8, 16])) if draw.chance(0.6) else Extent(draw.pick(self.sizes), 1)
        kind = draw.pick(["int", "int", "unsigned", "long"])
        array = Array(
            self.names.new("h", "bins"), kind, (extent,), pointer=bool(extent.size) and draw.chance(0.5)
        )
        self.arrays = (*self.arrays, array)
        self.ever_written.add(array.name)
        return array

    def scope(
        self,
        coordinates: tuple[Coordinate, ...],
        homes: tuple[tuple[Array, tuple[tuple[str, ...], ...]], ...],
        readable: tuple[Array, ...],
    ) -> Scope:
        names = frozenset(array.name for array, _ in homes)
        home = tuple((replace(a, written=True), s) for a, subscripts in homes for s in subscripts)
        return Scope(
            coordinates,
            sizes=tuple(self.sizes),
            integers=tuple(self.integers),
            floats=tuple(self.floats),
            arrays=written((*readable, *(a for a, _ in homes)), names),
            home=home,
        )

    def cached(self, body: list[str]) -> list[str]:
        """Names for a cache clause: some of the arrays that the body refers to."""
        words = set(re.findall(r"[A-Za-z_]\w*(?=\[)", "\n".join(body)))
        names = [a.name for a in self.arrays if a.name in words]
        if not names or not self.draw.on("cache", 0.4):
            return []
        return self.draw.random.sample(names, self.draw.number(1, len(names)))

    def region(self, ranges: list[Range], body: Callable[[], list[str]]) -> list[str]:
        """Return a region.

        Where its body is written twice, both are drawn; the clause names what is in the first.
        """
        first = body()
        bodies = itertools.chain([first], iter(body, None))
        return region(self.draw, self.names, ranges, self.cut(), self.cached(first), lambda: next(bodies))

    def cut(self) -> Cut:
        """Draw how a region is cut into blocks."""
        draw = self.draw
        if draw.on("block clause", 0.5):
            return Cut(clause=True, steps=None, whole=False)
        steps = None
        if draw.on("granularity", 0.3):
            self.steps = steps = self.steps or self.renamed("gs")
        return Cut(clause=False, steps=steps, whole=draw.on("floor grid", 0.15))

    def host_scalars(self) -> list[str]:
        """Definitions and asserts of the host."""
        draw = self.draw
        lines: list[str] = []
        size = draw.pick(self.sizes)
        if draw.on("host scalars", 0.35):
            name = self.names.new("h", "width", "half")
            forms = [
                f"{size} + 2",
                f"{size} * 2",
                f"({size} + 1)/2",
                f"{size} % 3",
                f"{size} > 3 ? {size} : 3",
            ]
            kind = draw.pick(["int", "int", "int", "const int", "long", "unsigned"])
            lines.append(f"{kind} {name} = {draw.pick(forms)};")
            self.integers.append(name)
        if self.floats and draw.on("host scalars", 0.15):
            name = self.names.new("gamma", "scaled")
            lines.append(f"float {name} = {self.floats[0]} * 0.5f + 1.0f;")
            self.floats.append(name)
        if draw.on("assert", 0.2):
            block = draw.pick(self.blocks)
            forms = [f"{size} >= 2", f"{size} > 0", f"{block} <= 64", f"{block} >= 2", f"{size} % 2 == 0"]
            lines.append(f"assert({draw.pick(forms)});")
        return lines

    def near(self, array: Array, coordinates: tuple[Coordinate, ...]) -> str:
        draw = self.draw
        shifts = [draw.number(-c.low, -c.above) if draw.chance(0.6) else 0 for c in coordinates]
        return array.name + "".join(
            f"[{c.name}{'' if s == 0 else f' {chr(43) if s > 0 else chr(45)} {abs(s)}'}]"
            for c, s in zip(coordinates, shifts, strict=True)
        )
