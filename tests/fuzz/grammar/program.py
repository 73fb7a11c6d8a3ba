"""A whole program: parameters, host code, regions.

In: a seed.  Out: a :class:`Generated`, with the text and the constructs that are in it::

    generate("7:12").text
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tests.fuzz.grammar.draw import Draw
from tests.fuzz.grammar.nests import Range, direct, region
from tests.fuzz.grammar.pieces import Pieces
from tests.fuzz.grammar.scope import INTEGERS, Array, Coordinate, Extent
from tests.fuzz.grammar.walks import Walks

ATOMIC = (("+=", "-=", "++", "--"), ("+=",), ("&=",), ("|=",), ("^=",))
"""Operators of one kind."""
HEADERS = "#include <assert.h>\n#include <math.h>\n#include <stdlib.h>\n"


@dataclass(frozen=True, slots=True)
class Generated:
    """``used`` are names of constructs."""

    text: str
    used: frozenset[str]


def generate(seed: str, without: frozenset[str] = frozenset()) -> Generated:
    """The program of a seed; ``without`` names constructs that it must not have."""
    program = _Program(Draw(seed, without))
    text = program.text()
    return Generated(text, frozenset(program.draw.used))


class _Program(Pieces):
    """The shapes of functions."""

    def text(self) -> str:
        draw = self.draw
        shapes: list[tuple[Callable[[], list[str]], float]] = [
            (self._any_regions, 0.62),
            (self._product, 0.14 if draw.on("product", 1.0) else 0.0),
            (self._sweeps, 0.12 if draw.on("sweeps", 1.0) else 0.0),
            (self._plain, 0.12),
            (self._meeting, 0.05 if draw.on("bands that meet", 1.0) else 0.0),
            (self._tiled_product, 0.04 if draw.on("tiled product", 1.0) else 0.0),
            (self._direct, 0.05 if draw.on("direct nest", 1.0) else 0.0),
            (self._walks, 0.1 if draw.on("walks along rows", 1.0) else 0.0),
        ]
        draw.used -= {
            "product",
            "sweeps",
            "bands that meet",
            "tiled product",
            "direct nest",
            "walks along rows",
        }
        self.scalars()
        make = draw.random.choices([s for s, _ in shapes], [w for _, w in shapes])[0]
        host = make()
        parameters = self.parameters()
        lines = [f"void f({', '.join(parameters)})", "{", *host, "}"]
        return HEADERS + "\n".join(self._commented(_indented(lines))) + "\n"

    def _commented(self, lines: list[str]) -> list[str]:
        if not self.draw.on("comments", 0.15):
            return lines
        comments = [
            "/* meta_for (int i = 0; i < n; i++) { */",
            "// a[i] = 0; }",
            "/**/",
            "// meta_schedule {",
            "/* ' */",
        ]
        at = self.draw.number(1, len(lines) - 1)
        return [*lines[:at], self.draw.pick(comments), *lines[at:]]

    def _any_regions(self) -> list[str]:
        """Regions of any bodies, one after the other, in loops and conditions of the host."""
        draw = self.draw
        self.arrays = tuple(self.source() for _ in range(draw.pick([1, 2, 2, 3])))
        host: list[str] = self.host_scalars()
        count = draw.pick([2, 2, 3]) if draw.on("two regions", 0.35) else 1
        turn, counts_up = None, draw.chance(0.75)
        if draw.on("host loop", 0.3):
            turn = self.names.new("step_t", "t0_") if draw.chance(0.1) else "t"
            self.turns = self.renamed("T")
            self.integers.append(turn)
        regions: list[str] = []
        for k in range(count):
            if k and draw.on("host scalars", 0.2):
                regions += self.host_scalars()
            lines = self._any_region(turn if counts_up else None)
            if draw.on("host if", 0.08):
                size = draw.pick(self.sizes)
                lines = [f"if ({size} {draw.pick(['>', '>=', '!='])} {draw.number(1, 3)}) {{", *lines, "}"]
                if draw.on("host else", 0.5):
                    lines += ["else {", *self._any_region(None), "}"]
            regions += lines
        if turn is not None:
            up, down = (
                f"{turn} = 0; {turn} < {self.turns}; {turn}++",
                f"{turn} = {self.turns}; {turn} > 0; {turn}--",
            )
            regions = [f"for (int {up if counts_up else down}) {{", *regions, "}"]
        return [*host, *regions]

    def _any_region(self, turn: str | None) -> list[str]:
        """A region of any body; ``turn`` is an iterator of the host that counts up from 0."""
        draw = self.draw
        ranges, coordinates = self.coordinates()
        if turn is not None and draw.on("moving range", 0.15):
            first = replace(ranges[0].coordinate, low=0)
            ranges[0] = replace(ranges[0], coordinate=first, begin=draw.pick([turn, f"({turn} + 1)"]))
            coordinates = (first, *coordinates[1:])
        homes = [self.output(coordinates)]
        if draw.chance(0.15):
            homes.append(self.output(coordinates))
        readable = self.arrays
        self.arrays = (*self.arrays, *(a for a, _ in homes))
        self.ever_written |= {a.name for a, _ in homes}
        scope = self.scope(coordinates, tuple(homes), readable)
        if draw.on("atomic", 0.2):
            scope = replace(scope, shared=((self.shared(), draw.pick(ATOMIC)),))
        depth = draw.pick([0, 1, 2, 2, 2])
        return self.region(ranges, partial(self.statements.body, scope, depth))

    def _plain(self) -> list[str]:
        """One assignment to every point, by what is near it."""
        draw = self.draw
        ranges, coordinates = self.coordinates(simple=draw.chance(0.6))
        self.arrays = tuple(self.source() for _ in range(draw.pick([1, 1, 2])))
        home = self.output(coordinates)
        readable = self.arrays
        self.arrays = (*self.arrays, home[0])
        self.ever_written.add(home[0].name)
        scope = self.scope(coordinates, (home,), readable)
        lines = self.region(ranges, partial(self.statements.simple, scope))
        if draw.on("host loop", 0.15):
            self.turns = self.renamed("T")
            return [f"for (int t = 0; t < {self.turns}; t++) {{", *lines, "}"]
        return lines

    def _product(self) -> list[str]:
        """Sums of products along a loop: a matrix product, a product with a vector, and what is like them."""
        draw = self.draw
        draw.used.add("product")
        self.rank = min(self.rank, 2)
        self.blocks, self.iterators = self.blocks[: self.rank], self.iterators[: self.rank]
        ranges, coordinates = self.coordinates(simple=True)
        along, k = draw.pick(self.sizes), self.names.new("k", "z")
        kind = self.element_type()
        factors: list[str] = []
        for c in (coordinates * 2)[:2] if self.rank == 1 else coordinates:
            name = self.names.new("a", "b")
            digits = (c.name, k) if draw.chance(0.5) else (k, c.name)
            if self.rank == 1 and factors:
                digits = (k,)
            if factors and len(digits) == 2 and draw.on("alias of a product", 0.4):
                factors.append(f"{self.arrays[0].name}[{digits[0]}][{digits[1]}]")
                continue
            extents = tuple(Extent(c.size if d == c.name else along, draw.pick([0, 0, 0, 1])) for d in digits)
            pointer = draw.on("linearised", 0.15)
            self.arrays = (*self.arrays, Array(name, kind, extents, pointer=pointer))
            subscript = (
                f"[{self.expressions.row(list(digits), extents)}]"
                if pointer
                else "".join(f"[{d}]" for d in digits)
            )
            factors.append(f"{name}{subscript}")
        home = self.output(coordinates)
        array = replace(home[0], type=kind)
        self.arrays = (*self.arrays, array)
        self.ever_written.add(array.name)
        target = array.name + "".join(f"[{s}]" for s in home[1][0])
        term = " * ".join(factors)
        if self.floats and draw.chance(0.2):
            term = f"{self.floats[0]} * {term}"
        header = f"for (int {k} = 0; {k} < {along}; {k}++)"
        if draw.chance(0.5):
            body = [f"{header} {target} += {term};"]
            body = [f"{target} = 0;", *body] if draw.chance(0.3) else body
        else:
            total = self.names.new("s", "sum")
            last = draw.pick(
                [f"{target} = {total};", f"{target} += {total};", f"{target} = 2 * {total} + {target};"]
            )
            body = [f"{kind} {total} = 0;", f"{header} {total} += {term};", last]
        return self.region(ranges, lambda: body)

    def _sweeps(self) -> list[str]:
        """A loop of the host that sweeps between two grids."""
        draw = self.draw
        draw.used |= {"sweeps", "double buffering", "host loop"}
        self.turns = self.renamed("T")
        self.rank = min(self.rank, 2)
        self.blocks, self.iterators = self.blocks[: self.rank], self.iterators[: self.rank]
        low, above = draw.number(0, 2), -draw.number(0, 2)
        size = self.sizes[0]
        coordinates = tuple(Coordinate(name, low, size, above) for name in self.iterators)
        upper = Extent(size, above).text
        ranges = [Range(c, upper, b) for c, b in zip(coordinates, self.blocks, strict=True)]
        kind = self.element_type()
        extents = tuple(Extent(size, 0) for _ in coordinates)
        names = [self.names.new("a", "u"), self.names.new("b", "v")]
        grids = [Array(name, kind, extents, pointer=self.rank == 1 and draw.chance(0.2)) for name in names]
        others = (
            (Array(self.names.new("c", "w"), self.element_type(), extents, pointer=False),)
            if draw.chance(0.3)
            else ()
        )
        self.arrays = (*grids, *others)
        self.ever_written |= set(names)

        def sweep(source: Array, target: Array) -> list[str]:
            place = tuple(c.name for c in coordinates)
            factors = ["", "2 * ", "-"] if kind in INTEGERS else ["", "0.25f * ", "2 * ", "-"]
            terms = [draw.pick(factors) + self.near(source, coordinates) for _ in range(draw.number(1, 5))]
            if others and draw.chance(0.5):
                terms.append(self.near(others[0], coordinates))
            if kind not in INTEGERS and self.floats and draw.chance(0.3):
                terms.append(self.floats[0])
            value = terms[0]
            for term in terms[1:]:
                value = f"({value} {draw.pick(['+', '+', '-', '*'])} {term})"
            if kind in INTEGERS:
                value = f"(int)({value}) % 17"
            return [f"{target.name}{''.join(f'[{p}]' for p in place)} = {value};"]

        turn = "t"
        if draw.chance(0.3):
            both = [f"if ({turn} % 2)", *sweep(grids[1], grids[0]), "else", *sweep(grids[0], grids[1])]
            regions = self.region(ranges, lambda: both)
        else:
            cut = self.cut()
            there, back = sweep(grids[0], grids[1]), sweep(grids[1], grids[0])
            first = region(draw, self.names, ranges, cut, self.cached(there), lambda: there)
            second = region(draw, self.names, ranges, cut, [], lambda: back)
            regions = [*first, *second]
        relation = draw.pick([f"{turn} = 0; {turn} < {self.turns}", f"{turn} = 1; {turn} <= {self.turns}"])
        return [f"for (int {relation}; {turn}++) {{", *regions, "}"]

    def _meeting(self) -> list[str]:
        """Two bands of threads; the second one reads what others have written in the first one."""
        draw = self.draw
        draw.used |= {"bands that meet", "hand-cut"}
        self.blocks = self.blocks[:1]
        size, block, name = self.sizes[0], self.blocks[0], self.iterators[0]
        kind = self.element_type()
        extent = (Extent(size, 0),)
        between, target = (
            Array(self.names.new(n), kind, extent, pointer=draw.chance(0.4)) for n in ("y", "out")
        )
        source = self.source()
        self.arrays = (source, between, target)
        self.ever_written = {between.name, target.name}
        coordinate = Coordinate(name, 0, size, 0)
        grid, th, turn = self.names.new("b"), self.names.new("u"), self.names.new("turn")
        first = self.scope((coordinate,), ((between, ((name,),)),), (source,))
        second = self.scope((coordinate,), ((target, ((name,),)),), (source,))
        other = draw.pick([f"({block} - 1 - {th})", f"({th} + 1) % {block}", f"{th} / 2", "0"])
        operator = draw.pick(["=", "+=", "-="])
        met = f"{target.name}[{name}] {operator} {between.name}[{grid}*{block} + {other}];"
        threads = f"meta_for (int {th} = 0; {th} < {block}; {th}++) {{"
        define = f"int {name} = {grid}*{block} + {th};"
        bands = [threads, define, *self.statements.simple(first), "}"]
        bands += [threads, define, met, *(self.statements.simple(second) if draw.chance(0.4) else []), "}"]
        if draw.chance(0.5):
            bands = [f"for (int {turn} = 0; {turn} < {draw.number(1, 3)}; {turn}++) {{", *bands, "}"]
        cached = self.cached(bands)
        cache = f" cache({', '.join(cached)})" if cached else ""
        loop = f"meta_for (int {grid} = 0; {grid} < {size} / {block}; {grid}++) {{"
        return [f"meta_schedule{cache} {{", loop, *bands, "}", "}"]

    def _tiled_product(self) -> list[str]:
        """A product of matrices in tiles, each thread several columns apart, on grids that are rounded down."""
        draw = self.draw
        draw.used |= {"tiled product", "hand-cut", "floor grid"}
        size = self.sizes[0]
        B0, B1 = "B0", "B1"
        self.steps = steps = self.renamed("gs")
        self.blocks = [B0, B1]
        kind = self.element_type()
        extents = (Extent(size, 0), Extent(size, 0))
        a, b, c = (Array(self.names.new(n), kind, extents, pointer=False) for n in ("a", "b", "c"))
        self.arrays = (a, b, c)
        self.ever_written = {c.name}
        x, y, k, v, u, z, w, p, q = (
            self.names.new(n) for n in ("bi", "bj", "kk", "v", "u", "z", "w", "p", "q")
        )
        left = draw.pick([f"{a.name}[{p}][{B0}*{k} + {z}]", f"{a.name}[{B0}*{k} + {z}][{p}]"])
        right = draw.pick(
            [f"{b.name}[{B0}*{k} + {z}][{q} + {w}*{B1}]", f"{b.name}[{q} + {w}*{B1}][{B0}*{k} + {z}]"]
        )
        lines = [
            f"meta_for (int {x} = 0; {x} < {size} / {B0}; {x}++)",
            f"meta_for (int {y} = 0; {y} < {size} / ({B1}*{steps}); {y}++)",
            f"for (int {k} = 0; {k} < {size} / {B0}; {k}++)",
            f"meta_for (int {v} = 0; {v} < {B0}; {v}++)",
            f"meta_for (int {u} = 0; {u} < {B1}; {u}++) {{",
            f"int {p} = {x}*{B0} + {v};",
            f"int {q} = {y}*{B1}*{steps} + {u};",
            f"for (int {z} = 0; {z} < {B0}; {z}++)",
            f"for (int {w} = 0; {w} < {steps}; {w}++)",
            f"{c.name}[{p}][{q} + {w}*{B1}] += {left} * {right};",
            "}",
        ]
        cached = self.cached(lines)
        return [f"meta_schedule{f' cache({chr(44).join(cached)})' if cached else ''} {{", *lines, "}"]

    def _direct(self) -> list[str]:
        """A perfect nest of as many loops of the grid as of the block."""
        draw = self.draw
        self.rank = min(self.rank, 2)
        self.blocks, self.iterators = self.blocks[: self.rank], self.iterators[: self.rank]
        ranges, coordinates = self.coordinates(simple=True)
        inner = tuple(Coordinate(self.names.new("u", "v"), 0, block, 0) for block in self.blocks)
        self.arrays = tuple(self.source() for _ in range(draw.pick([1, 2])))
        home = self.output((*coordinates, *inner))
        readable = self.arrays
        self.arrays = (*self.arrays, home[0])
        self.ever_written.add(home[0].name)
        scope = self.scope((*coordinates, *inner), (home,), readable)
        body = self.statements.body(scope, 1)
        # Declared extents may name the sizes of blocks, which come first then.
        self.sizes += [block for block in self.blocks if not home[0].pointer]
        self.blocks = [block for block in self.blocks if home[0].pointer]
        return direct(draw, ranges, inner, self.cached(body), body)

    def _walks(self) -> list[str]:
        """Loops along rows, one after the other, which assign what others and they themselves read near by."""
        draw = self.draw
        draw.used.add("walks along rows")
        self.rank = 1
        self.blocks, self.iterators = self.blocks[:1], self.iterators[:1]
        ranges, (point,) = self.coordinates(simple=True)
        return self.region(ranges, partial(Walks(self, point).body, draw.number(1, 3)))


def _indented(lines: list[str]) -> list[str]:
    depth = 0
    found: list[str] = []
    for line in lines:
        depth -= line.startswith("}")
        found.append("  " * depth + line)
        depth += line.endswith("{")
    return found
