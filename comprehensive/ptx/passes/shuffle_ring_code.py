"""Loads that go round in a ring of lanes, as instructions.

    ld.global.f32 %f7, [%rd1+-4];  -->  activemask.b32 m; setp.eq.s32 whole, m, -1; @!whole bra loads;
    ld.global.f32 %f8, [%rd1+4];        add.s64 d, %rd1, turn; @ends ld.global.f32 edge, [d];
                                        selp.b32 t, edge, source, last; shfl.sync.idx.b32 %f7, t, lane-1, 31, -1;
                                        selp.b32 t, edge, source, first; shfl.sync.idx.b32 %f8, t, lane+1, 31, -1;
                                        bra done; loads: (as it was) done:

``turn`` is -32 words in the last lanes and 32 in the first ones.  A warp that is not whole, whose lanes are not one
apart in ``%tid.x``, or where an index wraps, takes the loads as they were: a branch that all its lanes take together,
one for each row of instructions.  Predicates in place of it cost more than the loads: 0.77 of the speed instead of
1.09 for a blur of 5 x 5 words on an H200, 2026-11-22.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.opcodes import Opcode, opcode
from comprehensive.ptx.operands import SINK, Address, Name, Not, Operand, Vector, renamed
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.shuffle_code import (
    LANES,
    Shuffle,
    ShuffleCode,
    is_line_of_warps,
    made,
    number,
    reaches,
)
from comprehensive.ptx.passes.shuffle_rings import Edge, Ring, Side, chain, comes_later, rows_of
from comprehensive.ptx.statements import MADE, Declaration, Instruction, Label, Statement
from comprehensive.ptx.symbolic.neighbours import Element

_MOST_WORDS = 16
"""The most words that are loaded between two branches."""
_LEFT = "loads"
"""The kind of the labels before what stays as it was."""
_IS_LEFT = re.compile(rf"\$shfl_{_LEFT}_\d+")


def has_rings(body: Sequence[Statement]) -> bool:
    """Return whether an earlier run of the pass has made rings.

    What it refused, another run could take for a ring of what is left.
    """
    return any(isinstance(each, Label) and _IS_LEFT.fullmatch(each.name) for each in body)


def with_rings(analyses: Analyses, rings: Sequence[Ring], own: Sequence[Shuffle]) -> list[Statement]:
    """The body of the function with them, and with what threads themselves have loaded."""
    code = ShuffleCode(analyses)
    lane = code.fresh.register("b32")
    by_row: dict[int, list[Ring]] = defaultdict(list)
    for ring in sorted(rings, key=lambda each: each.first):
        by_row[ring.begin].append(ring)
    row_of = rows_of(analyses)
    rows = [_Row(code, row_of, each, lane) for each in by_row.values()]
    for row in rows:
        row.load_sources()
    for shuffle in (*(each for ring in rings for each in ring.shuffles), *own):
        for element in shuffle.neighbour.elements:
            code.save(element)
    for shuffle in own:
        code.edits.replace(shuffle.step, code.moves(shuffle))
    for row in rows:
        row.make()
    with_shuffles = code.edits.copy()
    for row in rows:
        for step, instead in row.instead.items():
            with_shuffles.replace(step, instead)
    # A row may begin with the first step.
    done = code.edits.position(0)
    body = [*code.edits.made(0, done), made("mov.u32", lane, Name("%laneid"))]
    for row in sorted(rows, key=lambda each: each.begin):
        body += code.edits.made(done, row.begin)
        body += row.twice(with_shuffles)
        done = row.end
    body += code.edits.made(done)
    return code.fresh.declared(body)


class _Row:
    """The instructions from the first load of a row to the last one; ``begin`` and ``end`` are positions.

    ``instead`` is what stands in the place of its loads, by step.
    """

    def __init__(
        self, code: ShuffleCode, row_of: Mapping[int, int], rings: Sequence[Ring], lane: Name
    ) -> None:
        self._code = code
        self._row_of = row_of
        self._rings = rings
        self._flow = code.analyses.flow
        self._first = rings[0].begin
        self.begin = code.edits.position(self._first)
        self.end = 1 + self._flow.steps[self._last()].position
        self._opening: list[Statement] = []
        self._computed: dict[int, Name] = {}
        self.instead: dict[int, list[Statement]] = {}
        self._lanes: dict[int, tuple[Name, Name]] = {}
        self._ends: dict[tuple[int, int], Name] = {}
        self._turns: dict[tuple[int, int, int, int], Name] = {}
        self._lane = lane
        self._are_high: dict[int, Name] = {}

    def _last(self) -> int:
        """The last shuffle, or a load behind it: ptxas moves loads up as far as to a branch, and not past it."""
        analyses = self._code.analyses
        last = max(each.step for ring in self._rings for each in ring.shuffles)
        words = sum(map(self._words, self._rings))
        for step in range(last + 1, analyses.cfg.blocks[analyses.cfg.block_of[last]].end):
            access = analyses.accesses.get(step)
            if self._row_of[step] != self._row_of[self._first] or access is None or not access.reads:
                continue
            words += -(-access.bytes // 4)
            if words > _MOST_WORDS:
                break
            last = step
        return last

    def load_sources(self) -> None:
        """Load the sources of the rings before the row is tested, so that the loads are under way meanwhile."""
        code, cuts = self._code, self._cuts()
        for source in dict.fromkeys(ring.source for ring in self._rings):
            if not comes_later(code.analyses, source, self._first) or (cuts and source >= cuts[0]):
                continue
            instruction = self._flow.steps[source].instruction
            made_at = (code.analyses.ssa.values[value].step for value in code.analyses.ssa.uses[source])
            needed = chain(code.analyses, made_at, self._first)
            if needed is None or self._has_to_wait(source):
                continue
            for step in needed:
                self._compute(step)
            rest, data = (self._renamed(source, each) for each in instruction.operands[1:]), code.data(source)
            registers = [code.fresh.register(f"b{code.bits(each)}") for each in data]
            target = registers[0] if len(registers) == 1 else Vector(tuple(registers))
            self._opening.append(Instruction(instruction.opcode, (target, *rest)))
            moves = zip(data, registers, strict=True)
            code.edits.replace(source, [made(f"mov.b{code.bits(one)}", one, other) for one, other in moves])
            code.saved |= {Element(source, n): register for n, register in enumerate(registers)}

    def make(self) -> None:
        """Make the statements that the row needs, and those that stand in the place of its loads."""
        for ring in self._rings:
            edges: dict[tuple[bool, int], Name] = {}
            begun = [self._edge(ring, edge, edges) for edge in ring.edges]
            for shuffle in ring.shuffles:
                found = [each for every in begun for each in every] if shuffle is ring.shuffles[0] else []
                self._shuffle(shuffle, edges, found)
                self.instead[shuffle.step] = found
        self._test()

    def twice(self, with_shuffles: Edits) -> list[Statement]:
        """Return the row twice, piece by piece: with the rings, and as it was for warps that cannot use them."""
        found = [*self._opening]
        cuts = [self.begin, *map(self._code.edits.position, self._cuts()), self.end]
        for begin, end in pairwise(cuts):
            loads, done = self._code.fresh.label(_LEFT), self._code.fresh.label("done")
            found += [
                Instruction(made("bra").opcode, (Name(loads),), Not(self._whole)),
                *with_shuffles.made(begin, end),
                made("bra.uni", Name(done)),
                Label(loads),
                *_again(self._code.edits.made(begin, end)),
                Label(done),
            ]
        return found

    def _cuts(self) -> list[int]:
        """Steps where another piece begins: ptxas moves loads up to the branch, and each takes registers."""
        found: list[int] = []
        words = 0
        for ring in self._rings:
            more = self._words(ring)
            last = found[-1] if found else self._first
            here = min(ring.source, ring.first) if ring.source > last else ring.first
            if words + more > _MOST_WORDS and here > last and words:
                found.append(here)
                words = 0
            words += more
        return found

    def _words(self, ring: Ring) -> int:
        """Return the 32-bit words that a thread loads for a ring."""
        elements = sum(edge.width for edge in ring.edges) + len(self._code.data(ring.source))
        return -(-elements * ring.size // 4)

    def _has_to_wait(self, source: int) -> bool:
        """Whether something in the row, before a load, may write there or orders what is loaded."""
        analyses = self._code.analyses
        load = analyses.accesses[source]
        between = (analyses.accesses[n] for n in range(self._first, source) if n in analyses.accesses)
        return not load.is_constant and any(
            each.orders or (each.writes and analyses.alias.may_alias(each, load, Relation.SAME_VISIT))
            for each in between
        )

    def _test(self) -> None:
        """Append the test whether all lanes of the warp are there, one apart, and no index wraps."""
        code, found = self._code, self._opening
        against: Name | None = None
        if not is_line_of_warps(code.analyses):
            # In a warp with the end of a row of threads in it, whose length is no multiple of 32, some lane differs.
            column, against = code.fresh.register("b32"), code.fresh.register("pred")
            found.append(made("mov.u32", column, Name("%tid.x")))
            found.append(made("and.b32", column, column, number(LANES - 1)))
            found.append(made("setp.ne.s32", against, column, self._lane))
        indices = [index for ring in self._rings for index in ring.indices]
        registers = self._indices([part.step for index in indices for part in index.sum.parts])
        for key, reach in reaches(indices).items():
            against = code.near(key, reach, registers.__getitem__, found, against)
        mask, self._whole = code.fresh.register("b32"), code.fresh.register("pred")
        found.append(made("activemask.b32", mask))
        if against is not None:
            found.append(made("vote.sync.ballot.b32", mask, Not(against), mask))
        found.append(made("setp.eq.s32", self._whole, mask, number(-1)))

    def _indices(self, steps: Sequence[int]) -> dict[int, Name]:
        """Registers with the results of steps where the row begins: kept from before, or computed earlier."""
        registers: dict[int, Name] = {}
        analyses = self._code.analyses
        for at in chain(analyses, steps, self._first) or ():
            self._compute(at)
        for step in dict.fromkeys(steps):
            if comes_later(analyses, step, self._first):
                registers[step] = self._computed[step]
            else:
                result = self._code.data(step)[0]
                bits = self._code.bits(result)
                registers[step] = kept = self._code.fresh.register(f"b{bits}")
                self._code.edits.after(step, (made(f"mov.b{bits}", kept, result),))
        return registers

    def _compute(self, step: int) -> None:
        """Compute a step into a register of its own before the row.

        What its operands are made of has been computed there already.
        """
        if step not in self._computed:
            instruction = self._flow.steps[step].instruction
            rest = tuple(self._renamed(step, each) for each in instruction.operands[1:])
            type_ = self._flow.registers[self._flow.steps[step].defines[0]].type
            self._computed[step] = register = self._code.fresh.register(type_)
            self._opening.append(Instruction(instruction.opcode, (register, *rest)))

    def _renamed(self, step: int, operand: Operand) -> Operand:
        """Return the operand with the registers that have been computed before the row."""
        values = self._code.analyses.ssa.values
        uses = zip(self._flow.steps[step].uses, self._code.analyses.ssa.uses[step], strict=True)
        names = {
            self._flow.registers[register].name: self._computed[values[value].step].text
            for register, value in uses
            if values[value].step in self._computed
        }
        return renamed(operand, lambda name: names.get(name, name))

    def _edge(self, ring: Ring, edge: Edge, edges: dict[tuple[bool, int], Name]) -> list[Statement]:
        """The load for both ends; ``edges`` get its registers, by end and element."""
        code = self._code
        original = self._flow.steps[ring.first].instruction
        address = original.operands[1]
        assert isinstance(address, Address)
        assert isinstance(address.base, Name)
        bits = code.bits(code.data(ring.source)[0])
        registers = tuple(code.fresh.register(f"b{bits}") for _ in range(edge.width))
        for is_behind, side in ((False, edge.before), (True, edge.behind)):
            if side is not None:
                edges |= {(is_behind, side.element + n): each for n, each in enumerate(registers)}
        found: list[Statement] = []
        base, offset = address.base, address.offset - ring.ahead
        before, behind = self._turn(ring, edge.before, -1), self._turn(ring, edge.behind, 1)
        if before is not None and behind is not None:
            wide = code.bits(address.base)
            base = code.fresh.register(f"b{wide}")
            turn = self._by_end(before, behind, wide, _first_high(edge))
            found.append(made(f"add.s{wide}", base, address.base, turn))
        else:
            offset += next(turn for turn in (before, behind) if turn is not None)
        data: Operand = registers[0] if edge.width == 1 else Vector(registers)
        operands = (data, Address(base, offset), *original.operands[2:])
        found.append(Instruction(_of_width(original.opcode, edge.width), operands, self._at_ends(edge)))
        return found

    def _shuffle(self, shuffle: Shuffle, edges: dict[tuple[bool, int], Name], found: list[Statement]) -> None:
        code, by = self._code, shuffle.neighbour.lanes
        lane, serves_other_end = self._lane_and_end(by)

        def shuffled(target: Name, source: Name) -> Instruction:
            return made("shfl.sync.idx.b32", target, source, lane, number(LANES - 1), number(-1))

        for target, element in zip(code.data(shuffle.step), shuffle.neighbour.elements, strict=True):
            if target.text != SINK:
                bits = code.bits(target)
                given = code.fresh.register(f"b{bits}")
                edge = edges[by > 0, element.index]
                found.append(made(f"selp.b{bits}", given, edge, code.saved[element], serves_other_end))
                code.exchange(target, given, shuffled, found)

    def _lane_and_end(self, by: int) -> tuple[Name, Name]:
        """The lane to take from, and whether this one gives to a lane of the other end."""
        if by not in self._lanes:
            lane, last = self._code.fresh.register("b32"), self._code.fresh.register("pred")
            self._lanes[by] = lane, last
            self._opening.append(made("add.s32", lane, self._lane, number(by)))
            comparison, limit = ("lt", by) if by > 0 else ("gt", LANES - 1 + by)
            self._opening.append(made(f"setp.{comparison}.u32", last, self._lane, number(limit)))
        return self._lanes[by]

    def _at_ends(self, edge: Edge) -> Name:
        """Return whether a lane loads for the other end of the warp, as a predicate."""
        before = edge.before.lanes if edge.before else 0
        behind = edge.behind.lanes if edge.behind else 0
        key = before, behind
        if key not in self._ends:
            self._ends[key] = ends = self._code.fresh.register("pred")
            if before:
                self._opening.append(made("setp.gt.u32", ends, self._lane, number(LANES - 1 - before)))
            if before and behind:
                self._opening.append(made("setp.lt.or.u32", ends, self._lane, number(behind), ends))
            elif behind:
                self._opening.append(made("setp.lt.u32", ends, self._lane, number(behind)))
        return self._ends[key]

    def _turn(self, ring: Ring, side: Side | None, way: int) -> int | None:
        """Bytes from the source's address to what the lanes at one end load."""
        return None if side is None else way * LANES * ring.slope + side.element * ring.size

    def _by_end(self, before: int, behind: int, wide: int, high: int) -> Name:
        """The one from lane ``high`` on, the other below."""
        key = before, behind, wide, high
        if key not in self._turns:
            if high not in self._are_high:
                self._are_high[high] = is_high = self._code.fresh.register("pred")
                self._opening.append(made("setp.gt.u32", is_high, self._lane, number(high - 1)))
            self._turns[key] = turn = self._code.fresh.register(f"b{wide}")
            self._opening.append(
                made(f"selp.b{wide}", turn, number(before), number(behind), self._are_high[high])
            )
        return self._turns[key]


def _first_high(edge: Edge) -> int:
    """Return the first of the lanes that do not load what lies behind.

    It is the middle one if it may be, so that it is the same for many edges.
    """
    assert edge.before is not None
    assert edge.behind is not None
    return min(max(LANES // 2, edge.behind.lanes), LANES - edge.before.lanes)


def _of_width(load: Opcode, width: int) -> Opcode:
    """The load of so many elements, of 16 bytes at most: hints of eviction from L2 stand with 32 bytes only."""
    words = load.text.split(".")
    kept = [word for word in words if word != f"v{load.vector}" and not word.startswith("L2::evict")]
    if width > 1:
        kept.insert(-1, f"v{width}")
    return opcode(".".join(kept))


def _again(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The same a second time: what was declared is."""
    for statement in statements:
        if not isinstance(statement, Declaration):
            yield statement._replace(start=MADE, end=MADE)
