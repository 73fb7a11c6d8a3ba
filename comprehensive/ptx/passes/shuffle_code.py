"""The code that all ways share in which shuffles replace loads.

Which load comes from which lane is a :class:`Shuffle`; :class:`ShuffleCode` has what both kinds of code are made of:
values saved in registers of their own, the lane, tests whether an index wraps, shuffles of 16, 32 and 64 bits.
:mod:`.shuffle_corners` lets lanes at the ends of a warp load themselves, :mod:`.shuffle_ring_code` loads once for all
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.forms import wrapped
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.operands import SINK, Immediate, Name, Vector
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import made
from comprehensive.ptx.statements import Instruction, Statement
from comprehensive.ptx.symbolic.neighbours import Element, Neighbour

LANES = 32


class Part(NamedTuple):
    """A part of a sum: ``factor`` times the result of ``step`` plus ``plus``, modulo its bits."""

    step: int
    plus: int
    factor: int


class Sum(NamedTuple):
    """A sum of numbers that are all signed or all unsigned."""

    signed: bool
    parts: tuple[Part, ...]


class Index(NamedTuple):
    """An index: ``sum`` plus ``by``, which must not wrap."""

    sum: Sum
    by: int


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The load at ``step`` comes from ``neighbour``, where none of ``indices`` wraps."""

    step: int
    neighbour: Neighbour
    indices: tuple[Index, ...]


def data_of(instruction: Instruction) -> tuple[Name, ...]:
    """The registers that a load fills, one an element."""
    data = instruction.operands[0]
    items = data.items if isinstance(data, Vector) else (data,)
    return tuple(item for item in items if isinstance(item, Name))


def bits_of(analyses: Analyses, register: Name) -> int:
    """Return the declared bits, 16, 32 or 64, of one of the function's own registers; 0 for any other."""
    number = analyses.flow.names.get(register.text)
    type_ = "pred" if number is None else analyses.flow.registers[number].type
    bits = 0 if type_ == "pred" else 8 * bytes_of(type_)
    return bits if bits in (16, 32, 64) else 0


def is_line_of_warps(analyses: Analyses) -> bool:
    """Whether lanes next to each other have ``%tid.x`` one apart in every block that may be launched."""
    required = analyses.function.tuning("reqntid")
    if not required:
        return False
    x, y, z = (*required, 1, 1)[:3]
    return x % LANES == 0 or y * z == 1


class ShuffleCode:
    """Writes shuffles into one function; ``edits`` are the changes that it makes in any case."""

    def __init__(self, analyses: Analyses) -> None:
        self.analyses = analyses
        self.edits = Edits(analyses.flow)
        self.fresh = Fresh(analyses.flow.function.body, "shfl")
        self.saved: dict[Element, Name] = {}

    def save(self, element: Element) -> None:
        """Copy what was loaded into a register of its own, since the program may use its register again."""
        if element in self.saved:
            return
        source = self.data(element.step)[element.index]
        bits = self.bits(source)
        self.saved[element] = saved = self.fresh.register(f"b{bits}")
        self.edits.after(element.step, (made(f"mov.b{bits}", saved, source),))

    def moves(self, shuffle: Shuffle) -> list[Statement]:
        """Return the statements that move what the thread has loaded itself."""
        pairs = zip(self.data(shuffle.step), shuffle.neighbour.elements, strict=True)
        return [
            made(f"mov.b{self.bits(target)}", target, self.saved[element])
            for target, element in pairs
            if target.text != SINK
        ]

    def exchange(
        self,
        target: Name,
        source: Name,
        shuffled: Callable[[Name, Name], Instruction],
        found: list[Statement],
    ) -> None:
        """Append the shuffle of a register of any width; ``shuffled`` fills one of 32 bits from another."""
        match self.bits(target):
            case 64:
                low, high, low_there, high_there = (self.fresh.register("b32") for _ in range(4))
                found.append(made("mov.b64", Vector((low, high)), source))
                found.append(shuffled(low_there, low))
                found.append(shuffled(high_there, high))
                found.append(made("mov.b64", target, Vector((low_there, high_there))))
            case 16:
                wide, there, rest = (self.fresh.register(each) for each in ("b32", "b32", "b16"))
                found.append(made("cvt.u32.u16", wide, source))
                found.append(shuffled(there, wide))
                # Not cvt.u16, which no register of type f16 may be the target of.
                found.append(made("mov.b32", Vector((target, rest)), there))
            case _:
                found.append(shuffled(target, source))

    def near(
        self,
        key: Sum,
        reach: tuple[int, int],
        register: Callable[[int], Name],
        found: list[Statement],
        also: Name | None = None,
    ) -> Name:
        """Return a predicate: whether a sum is within ``reach`` of where it wraps, or ``also`` holds.

        ``reach`` is how far below and above; ``register`` has the result of a step.

        From the least number that may be left on one comparison is enough.
        """
        low, high = reach
        bits = self._width(key.parts[0])
        begin = (1 << (bits - 1) if key.signed else 0) - low
        is_one = len(key.parts) == 1 and key.parts[0].factor == 1
        wide = bits if is_one else 64
        moved, near = self.fresh.register(f"b{wide}"), self.fresh.register("pred")
        if is_one:
            (part,) = key.parts
            start = number(wrapped(part.plus + begin, bits))
            found.append(made(f"add.s{bits}", moved, register(part.step), start))
        else:
            self._add_up(key, begin, moved, register, found)
        limit = number((1 << bits) - 1 - low - high)
        if also is None:
            found.append(made(f"setp.gt.u{wide}", near, moved, limit))
        else:
            found.append(made(f"setp.gt.or.u{wide}", near, moved, limit, also))
        return near

    def _add_up(
        self,
        key: Sum,
        begin: int,
        total: Name,
        register: Callable[[int], Name],
        found: list[Statement],
    ) -> None:
        """Add the parts to ``begin`` in 64 bits, and leave the sum in ``total``."""
        sign, bits = "s" if key.signed else "u", self._width(key.parts[0])
        found.append(made("mov.b64", total, number(begin)))
        for part in key.parts:
            index, wide = register(part.step), self.fresh.register("b64")
            if part.plus:
                moved = self.fresh.register(f"b{bits}")
                found.append(made(f"add.s{bits}", moved, index, number(part.plus)))
                index = moved
            found.append(made(f"cvt.{sign}64.{sign}{bits}", wide, index))
            found.append(made("mad.lo.s64", total, wide, number(part.factor), total))

    def _width(self, part: Part) -> int:
        return self.bits(self.data(part.step)[0])

    def data(self, step: int) -> tuple[Name, ...]:
        return data_of(self.analyses.flow.steps[step].instruction)

    def bits(self, register: Name) -> int:
        """Return the bits of a register as declared: 16, 32 or 64."""
        return bits_of(self.analyses, register)


def reaches(indices: Sequence[Index]) -> dict[Sum, tuple[int, int]]:
    """Return for each sum how far below and above it must not wrap, in the order of the sums."""
    found: dict[Sum, tuple[int, int]] = {}
    for index in indices:
        low, high = found.get(index.sum, (0, 0))
        found[index.sum] = max(low, -index.by), max(high, index.by)
    return dict(sorted(found.items()))


def number(value: int) -> Immediate:
    return Immediate(str(value))
