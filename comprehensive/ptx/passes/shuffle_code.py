"""What stands in the place of a load whose value another lane has.

    ld.global.f32 %f7, [%rd1+4];   -->   activemask.b32 m; setp.ne.s32 edge, m, -1; setp.lt.u32 out, lane, 2;
                                         or.pred edge, edge, out; shfl.sync.up.b32 %f7, source, 2, 0, m;
                                         @edge ld.global.f32 %f7, [%rd1+4];

Matsumura, De Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, listing 6.  Unlike
there, a block asks once which lanes are there, and loads that need the same lanes share a predicate; it also holds
where the block of threads is no line and its rows are no whole warps, and where an index wraps between the two lanes.
The lane is that of ``%laneid``, found out at the beginning of the function.  No branch is added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.forms import wrapped
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import SINK, Immediate, Name, Operand, Vector
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.statements import Instruction, Statement
from comprehensive.ptx.symbolic.neighbours import Element, Neighbour

_LAST_LANE = 31


class Variant(Enum):
    """What is made; only the first computes what the program did.  The others tell where the time goes (section 7)."""

    SHUFFLE = "shuffle"
    NO_CORNER = "no_corner"
    """All lanes take what the shuffle gives."""
    NO_LOAD = "no_load"
    """A lane takes what it has loaded itself."""


class Part(NamedTuple):
    """``factor`` times the number that the result of ``step`` and ``plus`` are, modulo its bits."""

    step: int
    plus: int
    factor: int


class Sum(NamedTuple):
    """Of numbers with sign or without."""

    signed: bool
    parts: tuple[Part, ...]


class Index(NamedTuple):
    """``sum`` and ``by``, which must not wrap."""

    sum: Sum
    by: int


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The load at ``step`` comes from ``neighbour``, where none of ``indices`` wraps."""

    step: int
    neighbour: Neighbour
    indices: tuple[Index, ...]


def with_shuffles(analyses: Analyses, shuffles: Sequence[Shuffle], variant: Variant) -> list[Statement]:
    """The body of the function with them."""
    return _Code(analyses, shuffles, variant).made()


def data_of(instruction: Instruction) -> tuple[Name, ...]:
    """The registers that a load fills, one an element."""
    data = instruction.operands[0]
    items = data.items if isinstance(data, Vector) else (data,)
    return tuple(item for item in items if isinstance(item, Name))


def is_line_of_warps(analyses: Analyses) -> bool:
    """Whether lanes next to each other have ``%tid.x`` one apart in every block that may be launched."""
    required = analyses.function.tuning("reqntid")
    if not required:
        return False
    x, y, z = (*required, 1, 1)[:3]
    return x % (_LAST_LANE + 1) == 0 or y * z == 1


class _Code:
    def __init__(self, analyses: Analyses, shuffles: Sequence[Shuffle], variant: Variant) -> None:
        self._flow = analyses.flow
        self._analyses = analyses
        self._shuffles = shuffles
        self._variant = variant
        self._edits = Edits(analyses.flow)
        self._fresh = Fresh(analyses.flow.function.body, "shfl")
        self._saved: dict[Element, Name] = {}
        self._calls = [n for n, s in enumerate(analyses.flow.steps) if s.instruction.opcode.base == "call"]
        self._lane: dict[bool, Name] = {}
        self._masks: dict[tuple[int, int], tuple[Name, Name]] = {}
        self._edges: dict[tuple[object, ...], Name] = {}
        self._wraps: dict[Sum, Name] = {}

    def made(self) -> list[Statement]:
        for shuffle in self._shuffles:
            for element in shuffle.neighbour.elements:
                self._save(element)
        if self._variant is Variant.SHUFFLE:
            self._lanes()
            self._indices()
        for shuffle in self._shuffles:
            self._edits.replace(shuffle.step, self._instead(shuffle))
        return self._fresh.declared(self._edits.made())

    def _save(self, element: Element) -> None:
        """What was loaded, in a register of its own: the program's may be used again."""
        if element in self._saved:
            return
        source = self._data(element.step)[element.index]
        bits = self._bits(source)
        self._saved[element] = saved = self._fresh.register(f"b{bits}")
        self._edits.after(element.step, (_made(f"mov.b{bits}", saved, source),))

    def _instead(self, shuffle: Shuffle) -> list[Statement]:
        original = self._flow.steps[shuffle.step].instruction
        found: list[Statement] = []
        by = shuffle.neighbour.lanes
        pairs = zip(self._data(shuffle.step), shuffle.neighbour.elements, strict=True)
        if by == 0 or self._variant is Variant.NO_LOAD:
            for target, element in pairs:
                if target.text != SINK:
                    found.append(_made(f"mov.b{self._bits(target)}", target, self._saved[element]))
            return found
        mask, incomplete = self._mask(shuffle.step, found)
        edge = self._edge(shuffle, incomplete, found) if self._variant is Variant.SHUFFLE else None
        for target, element in pairs:
            if target.text != SINK:
                self._shuffle(target, self._saved[element], by, mask, found)
        if edge is not None:
            found.append(Instruction(original.opcode, original.operands, edge))
        return found

    def _shuffle(self, target: Name, source: Name, by: int, mask: Name, found: list[Statement]) -> None:
        match self._bits(target):
            case 64:
                low, high, low_there, high_there = (self._fresh.register("b32") for _ in range(4))
                found.append(_made("mov.b64", Vector((low, high)), source))
                found.append(_shfl(low_there, low, by, mask))
                found.append(_shfl(high_there, high, by, mask))
                found.append(_made("mov.b64", target, Vector((low_there, high_there))))
            case 16:
                wide, there = self._fresh.register("b32"), self._fresh.register("b32")
                found.append(_made("cvt.u32.u16", wide, source))
                found.append(_shfl(there, wide, by, mask))
                found.append(_made("cvt.u16.u32", target, there))
            case _:
                found.append(_shfl(target, source, by, mask))

    def _mask(self, step: int, found: list[Statement]) -> tuple[Name, Name]:
        """Which lanes are there, and whether some are not. In a block they stay the same up to a call."""
        block = self._analyses.cfg.blocks[self._analyses.cfg.block_of[step]]
        key = (block.number, bisect_left(self._calls, step) - bisect_left(self._calls, block.start))
        if key not in self._masks:
            mask, incomplete = self._fresh.register("b32"), self._fresh.register("pred")
            self._masks[key] = mask, incomplete
            found.append(_made("activemask.b32", mask))
            if self._variant is Variant.SHUFFLE:
                found.append(_made("setp.ne.s32", incomplete, mask, _number(-1)))
        return self._masks[key]

    def _edge(self, shuffle: Shuffle, incomplete: Name, found: list[Statement]) -> Name:
        """Whether the lane has to load itself."""
        by = shuffle.neighbour.lanes
        wraps = tuple(dict.fromkeys(self._wraps[i.sum] for i in shuffle.indices))
        key = (incomplete, by, wraps)
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = self._fresh.register("pred")
            lane = self._lane[by < 0]
            if by < 0:
                found.append(_made("setp.lt.u32", edge, lane, _number(-by)))
            else:
                found.append(_made("setp.gt.u32", edge, lane, _number(_LAST_LANE - by)))
            for also in (incomplete, *wraps):
                found.append(_made("or.pred", edge, edge, also))
        return edge

    def _lanes(self) -> None:
        """The lane; where rows of threads are no whole warps, one that has no lane to shuffle from."""
        ways = {each.neighbour.lanes < 0 for each in self._shuffles if each.neighbour.lanes}
        if not ways:
            return
        lane = self._fresh.register("b32")
        code: list[Statement] = [_made("mov.u32", lane, Name("%laneid"))]
        irregular = None
        if not is_line_of_warps(self._analyses):
            irregular = self._fresh.register("pred")
            rows, several, rest, x = (self._fresh.register("b32") for _ in range(4))
            code += [
                _made("mov.u32", x, Name("%ntid.x")),
                _made("and.b32", rest, x, _number(_LAST_LANE)),
                _made("mov.u32", rows, Name("%ntid.y")),
                _made("mov.u32", several, Name("%ntid.z")),
                _made("mul.lo.u32", rows, rows, several),
                _made("setp.ne.u32", irregular, rest, _number(0)),
                _made("setp.gt.and.u32", irregular, rows, _number(1), irregular),
            ]
        for is_up in sorted(ways):
            self._lane[is_up] = lane
            if irregular is not None:
                self._lane[is_up] = shown = self._fresh.register("b32")
                code.append(_made("selp.b32", shown, _number(0 if is_up else _LAST_LANE), lane, irregular))
        self._edits.before(0, code)

    def _indices(self) -> None:
        """Of every sum whether it is so near to where it wraps."""
        reach: dict[Sum, tuple[int, int]] = {}
        for index in (index for shuffle in self._shuffles for index in shuffle.indices):
            low, high = reach.get(index.sum, (0, 0))
            reach[index.sum] = max(low, -index.by), max(high, index.by)
        for key, (low, high) in sorted(reach.items()):
            self._wraps[key] = near = self._fresh.register("pred")
            is_one = len(key.parts) == 1 and key.parts[0].factor == 1
            code = (self._one if is_one else self._several)(key, low, high, near)
            self._edits.after(self._last([part.step for part in key.parts]), code)

    def _one(self, key: Sum, low: int, high: int, near: Name) -> list[Statement]:
        """In as many bits as the number has, from the least number that may be left on: one comparison is enough."""
        signed, (part,) = key
        index = self._data(part.step)[0]
        bits = self._bits(index)
        moved = self._fresh.register(f"b{bits}")
        begin = part.plus + (1 << (bits - 1) if signed else 0) - low
        return [
            _made(f"add.s{bits}", moved, index, _number(wrapped(begin, bits))),
            _made(f"setp.gt.u{bits}", near, moved, _number((1 << bits) - 1 - low - high)),
        ]

    def _several(self, key: Sum, low: int, high: int, near: Name) -> list[Statement]:
        """The same of a sum, in 64 bits."""
        signed, parts = key
        bits = self._bits(self._data(parts[0].step)[0])
        total = self._fresh.register("b64")
        code: list[Statement] = [
            _made("mov.b64", total, _number((1 << (bits - 1) if signed else 0) - low)),
        ]
        for part in parts:
            index, wide = self._data(part.step)[0], self._fresh.register("b64")
            if part.plus:
                index = self._fresh.register(f"b{bits}")
                code.append(_made(f"add.s{bits}", index, self._data(part.step)[0], _number(part.plus)))
            code.append(_made(f"cvt.{'s' if signed else 'u'}64.{'s' if signed else 'u'}{bits}", wide, index))
            code.append(_made("mad.lo.s64", total, wide, _number(part.factor), total))
        code.append(_made("setp.gt.u64", near, total, _number((1 << bits) - 1 - low - high)))
        return code

    def _last(self, steps: Sequence[int]) -> int:
        """Of steps that all come to one place, the one that comes last."""
        cfg, dominates = self._analyses.cfg, self._analyses.dominators.dominates
        last = steps[0]
        for step in steps[1:]:
            one, other = cfg.block_of[last], cfg.block_of[step]
            if step > last if one == other else dominates(one, other):
                last = step
        return last

    def _data(self, step: int) -> tuple[Name, ...]:
        return data_of(self._flow.steps[step].instruction)

    def _bits(self, register: Name) -> int:
        """As declared: 16, 32 or 64."""
        return bits_of(self._analyses, register)


def bits_of(analyses: Analyses, register: Name) -> int:
    """Of one of the function's own registers as it is declared; 0 for what is none, or of another width than these."""
    number = analyses.flow.names.get(register.text)
    type_ = "pred" if number is None else analyses.flow.registers[number].type
    bits = 0 if type_ == "pred" else 8 * bytes_of(type_)
    return bits if bits in (16, 32, 64) else 0


def _shfl(target: Name, source: Name, by: int, mask: Name) -> Instruction:
    way, clamp = ("up", 0) if by < 0 else ("down", _LAST_LANE)
    return _made(f"shfl.sync.{way}.b32", target, source, _number(abs(by)), _number(clamp), mask)


def _made(text: str, *operands: Operand) -> Instruction:
    return Instruction(opcode(text), operands)


def _number(value: int) -> Immediate:
    return Immediate(str(value))
