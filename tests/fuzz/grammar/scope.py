"""The scopes in which parts of a program know of each other: names, arrays, iterators, scalars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.fuzz.grammar.draw import Draw

INTEGERS = ("int", "unsigned", "long", "unsigned char", "signed char", "short", "unsigned short")
FLOATS = ("float", "double")

ODD_NAMES = (
    *(
        "params",
        "block",
        "shared",
        "o0",
        "T0",
        "machine",
        "known",
        "choice",
        "tile",
        "threads",
        "grid",
        "cell",
    ),
    *(
        "y_limit",
        "value",
        "r0",
        "t0",
        "i0",
        "window",
        "step",
        "index",
        "size",
        "patch",
        "lane",
        "warp",
        "in",
        "out",
    ),
    *(
        "why",
        "stream",
        "result",
        "status",
        "x",
        "y",
        "u",
        "v",
        "base",
        "extent",
        "row",
        "last",
        "limit",
        "acc",
        "M",
    ),
    *(
        "U0",
        "S0",
        "D0",
        "K",
        "W",
        "hi",
        "lo",
        "tile_",
        "x_tile",
        "i_block",
        "i_thread",
        "bk0",
        "leaf",
        "cost",
        "N",
    ),
    *(
        "T",
        "cache",
        "copy",
        "stage",
        "sweeps",
        "t",
        "blocks",
        "fits",
        "number",
        "machine_",
        "y0",
        "y1",
        "w0",
        "call",
    ),
    *(
        "device",
        "needed",
        "available",
        "constraint",
        "count",
        "work",
        "speed",
        "rest",
        "turn",
        "temp",
        "next",
        "pad",
    ),
)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """An iterator in an integer range: low <= name < size + above, whatever else is known of it."""

    name: str
    low: int
    size: str
    above: int


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a declared dimension: size + pad elements; a constant has the size ""."""

    size: str
    pad: int

    @property
    def text(self) -> str:
        if not self.size:
            return str(self.pad)
        return self.size if self.pad == 0 else f"{self.size} {'+' if self.pad > 0 else '-'} {abs(self.pad)}"


@dataclass(frozen=True, slots=True)
class Array:
    """``extents`` are the declared ones; behind a plain pointer the lengths of rows, which start at ``base``."""

    name: str
    type: str
    extents: tuple[Extent, ...]
    pointer: bool
    base: int = 0
    form: str = "dims"
    written: bool = False

    @property
    def is_integer(self) -> bool:
        return self.type in INTEGERS

    def parameter(self, const: bool) -> str:
        """Return the array as a parameter list declares it."""
        head = f"{'const ' if const else ''}{self.type} "
        if self.pointer:
            return f"{head}*{self.name}"
        tail = "".join(f"[{e.text}]" for e in self.extents[1:])
        if self.form == "rows" and tail:
            return f"{head}(*{self.name}){tail}"
        return f"{head}{self.name}[{'' if self.form == 'open' and tail else self.extents[0].text}]{tail}"


@dataclass(frozen=True, slots=True)
class Local:
    """A scalar of the region; an array where ``length`` is given.  ``fixed`` ones are never assigned again."""

    name: str
    type: str
    length: int = 0
    fixed: bool = False

    @property
    def is_integer(self) -> bool:
        return self.type in INTEGERS


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that an expression may read. ``home`` are the elements that this iteration owns, by array."""

    coordinates: tuple[Coordinate, ...]
    serial: tuple[Coordinate, ...] = ()
    locals: tuple[Local, ...] = ()
    sizes: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    arrays: tuple[Array, ...] = ()
    home: tuple[tuple[Array, tuple[str, ...]], ...] = ()
    shared: tuple[tuple[Array, tuple[str, ...]], ...] = ()
    """Arrays that iterations update atomically, with the operators of their kind."""
    in_loop: bool = False

    @property
    def iterators(self) -> tuple[Coordinate, ...]:
        return (*self.coordinates, *self.serial)

    def with_local(self, *more: Local) -> Scope:
        return replace(self, locals=(*self.locals, *more))

    def with_serial(self, coordinate: Coordinate) -> Scope:
        return replace(self, serial=(*self.serial, coordinate), in_loop=True)


@dataclass
class Names:
    """Fresh names; some of them are names that generated code might use."""

    draw: Draw
    taken: set[str] = field(default_factory=set[str])

    def new(self, *wanted: str) -> str:
        """One of the wanted names or an odd one, with a number where all are taken."""
        candidates: Iterator[str] = iter(
            (self.draw.pick(ODD_NAMES), *wanted) if self.draw.on("odd names", 0.25) else wanted
        )
        number = 0
        while True:
            name = next(candidates, None)
            if name is None:
                number += 1
                name = f"{wanted[0]}{number}"
            if name not in self.taken:
                self.taken.add(name)
                return name
