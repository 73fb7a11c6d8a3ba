"""The parallel loops of a region around a body: a block clause, or blocks and threads cut by hand in many ways.

In: coordinates, their bounds and the names of block sizes.  Out: the text of the region.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fuzz.grammar.draw import Draw
from tests.fuzz.grammar.scope import Coordinate, Names


@dataclass(frozen=True, slots=True)
class Range:
    """A coordinate with the text of its upper bound, and the name of its block size."""

    coordinate: Coordinate
    upper: str
    block: str
    begin: str | None = None
    """Text that is no less than the lower bound of the coordinate, where that is not the bound itself."""

    @property
    def name(self) -> str:
        return self.coordinate.name

    @property
    def low(self) -> str:
        return str(self.coordinate.low) if self.begin is None else self.begin


@dataclass(frozen=True, slots=True)
class Cut:
    """The cut of a region: ``steps`` is the parameter of a granularity loop, ``whole`` grids are rounded down."""

    clause: bool
    steps: str | None
    whole: bool


Body = Callable[[], list[str]]


def region(
    draw: Draw, names: Names, ranges: Sequence[Range], cut: Cut, cached: Sequence[str], body: Body
) -> list[str]:
    """``meta_schedule ... { loops { body } }``"""
    cache = f" cache({', '.join(cached)})" if cached else ""
    if cut.clause:
        draw.used.add("block clause")
        blocks = ", ".join(r.block for r in ranges)
        return [f"meta_schedule block({blocks}){cache} {{", *_plain(draw, ranges, body()), "}"]
    draw.used.add("hand-cut")
    return [f"meta_schedule{cache} {{", *_cut(draw, names, ranges, cut, body), "}"]


def direct(
    draw: Draw, ranges: Sequence[Range], inner: Sequence[Coordinate], cached: Sequence[str], body: list[str]
) -> list[str]:
    """A perfect nest: blocks along ``ranges``, threads along ``inner``."""
    draw.used.add("direct nest")
    loops = [f"meta_for (int {r.name} = {r.low}; {r.name} < {r.upper}; {r.name}++)" for r in ranges]
    loops += [f"meta_for (int {c.name} = 0; {c.name} < {c.size}; {c.name}++)" for c in inner]
    return [
        f"meta_schedule{f' cache({chr(44).join(cached)})' if cached else ''} {{",
        *loops,
        "{",
        *body,
        "}",
        "}",
    ]


def _plain(draw: Draw, ranges: Sequence[Range], body: list[str]) -> list[str]:
    lines: list[str] = []
    for r in ranges:
        relation, bound = "<", r.upper
        if draw.chance(0.15):
            relation, bound = "<=", f"{r.upper} - 1"
        advance = draw.pick([f"{r.name}++", f"{r.name}++", f"++{r.name}", f"{r.name} += 1"])
        lines.append(f"meta_for (int {r.name} = {r.low}; {r.name} {relation} {bound}; {advance})")
    return [*lines, "{", *body, "}"]


def _cut(draw: Draw, names: Names, ranges: Sequence[Range], cut: Cut, body: Body) -> list[str]:
    grids: list[str] = []
    threads: list[str] = []
    definitions: list[str] = []
    guards: list[str] = []
    inner: list[str] = []
    for k, r in enumerate(ranges):
        bk, th = names.new(f"bk{k}"), names.new(f"th{k}")
        stepped = cut.steps if k == len(ranges) - 1 else None
        width = r.block if stepped is None else f"({r.block}*{stepped})"
        block = bk
        if cut.whole:
            draw.used.add("floor grid")
            grids.append(f"meta_for (int {bk} = 0; {bk} < ({r.upper} - {r.low})/{width}; {bk}++)")
        else:
            count = f"({r.upper} - {r.low} + {width} - 1)/{width}"
            grids.append(f"meta_for (int {bk} = 0; {bk} < {count}; {bk}++)")
            if draw.on("strided parallel", 0.08):
                grids[-1] = f"meta_for (int {bk} = {count}; {bk} >= 1; {bk}--)"
                block = f"({bk} - 1)"
            elif draw.on("strided parallel", 0.04):
                grids[-1] = grids[-1].replace("int", draw.pick(["unsigned", "long"]), 1)
            guards.append(f"{r.name} < {r.upper}")
        threads.append(f"meta_for (int {th} = 0; {th} < {r.block}; {th}++)")
        if draw.on("strided parallel", 0.06):
            threads[-1] = f"meta_for (int {th} = {r.block} - 1; {th} >= 0; {th}--)"
        start = f"{r.low} + " if r.low != "0" else ""
        if stepped is None:
            definitions.append(f"int {r.name} = {start}{block}*{r.block} + {th};")
        else:
            draw.used.add("granularity")
            gk = names.new("gk", "g")
            inner.append(f"for (int {gk} = 0; {gk} < {stepped}; {gk}++) {{")
            place = draw.pick(
                [
                    f"({block}*{stepped} + {gk})*{r.block} + {th}",
                    f"{block}*{stepped}*{r.block} + {gk}*{r.block} + {th}",
                    f"{block}*({stepped}*{r.block}) + {th} + {gk}*{r.block}",
                    f"({block}*{r.block} + {th})*{stepped} + {gk}",
                ]
            )
            definitions.append(f"int {r.name} = {start}{place};")

    def guarded() -> list[str]:
        lines = body()
        if not guards:
            return lines
        return [f"if ({' && '.join(guards)}) {{", *lines, "}"]

    if inner and draw.chance(0.3):  # the loop of steps around the threads
        outside = [*inner, *threads, "{", *definitions, *guarded(), "}", "}"]
        return [*grids, "{", *outside, "}"]
    if not inner and draw.on("band loops", 0.15):
        return [*grids, "{", *_bands(draw, names, grids[0], threads, definitions, guarded), "}"]
    closing = ["}"] if inner else []
    return [*grids, *threads, "{", *inner, *definitions, *guarded(), *closing, "}"]


def _bands(
    draw: Draw, names: Names, grid: str, threads: list[str], definitions: list[str], guarded: Body
) -> list[str]:
    """One or two bands, in a serial loop or a condition that all threads of a block agree on."""
    band = [*threads, "{", *definitions, *guarded(), "}"]
    if draw.on("uniform scalar", 0.4):
        origin = names.new("origin", "at")
        uniform = re.match(r"meta_for \(\w+ (\w+)", grid)
        assert uniform is not None
        condition = draw.pick([f"{uniform[1]} % 2 == 0", f"{uniform[1]} > 0", f"{origin} >= 1"])
        start = [f"int {origin} = {uniform[1]} * 2;"]
        return [*start, f"if ({condition}) {{", *band, "}"] if draw.chance(0.5) else [*start, *band]
    kind = draw.number(0, 2)
    if kind == 0:
        return [*band, *threads, "{", *definitions, *guarded(), "}"]
    turns = names.new("kk", "turn")
    if kind == 1:
        return [f"for (int {turns} = 0; {turns} < {draw.number(1, 3)}; {turns}++) {{", *band, "}"]
    second = [*threads, "{", *definitions, *guarded(), "}"]
    return [f"for (int {turns} = 0; {turns} < 2; {turns}++) {{", *band, *second, "}"]
