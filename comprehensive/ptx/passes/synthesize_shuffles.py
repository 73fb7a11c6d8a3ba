"""Loads of what a lane nearby has loaded before to shuffles.

    ld.global.f32 %f1, [%rd1];         -->  ld.global.f32 %f1, [%rd1]; mov.b32 source, %f1;
    ld.global.f32 %f2, [%rd1+4];            shfl.sync.down.b32 %f2, source, 1, 31, m; @edge ld.global.f32 %f2, [%rd1+4];

Matsumura, De Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023.  A load is replaced
where, in every flow that comes to it, an earlier load of the same visit is still valid, with ``A(lane + N) == B(lane)``
for all threads of a warp; the nearest lane is taken, and never one whose value was itself shuffled.  Lanes that have
nobody to take it from load it themselves.  What is worth its shuffles is said by :mod:`.shuffle_cost`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.forms import Form, wrapped
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.operands import SINK, Name
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.memory import NOALIAS
from comprehensive.ptx.passes.pragmas import has_pragma
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.passes.shuffle_code import Index, Part, Shuffle, Sum, bits_of, data_of
from comprehensive.ptx.passes.shuffle_corners import Variant, with_corners
from comprehensive.ptx.passes.shuffle_cost import Choice, cheapest
from comprehensive.ptx.passes.shuffle_ring_code import has_rings, with_rings
from comprehensive.ptx.passes.shuffle_rings import Rings, rings_of
from comprehensive.ptx.statements import Statement
from comprehensive.ptx.symbolic.emulator import Emulation, emulate
from comprehensive.ptx.symbolic.lanes import Wrap
from comprehensive.ptx.symbolic.neighbours import MOST_LANES, Neighbours, fits

_NEEDED_VERSION = (6, 2)
"""The version of the language that has activemask."""
SHAPES = ("rings", "corners")


@dataclass(frozen=True)
class SynthesizeShuffles(FunctionPass):
    name = "synthesize-shuffles"
    summary = (
        "ld.f32 b, [p+4]; --> shfl.sync.down.b32 b, a, 1, 31, m; where the next lane has loaded it into a"
    )
    always: bool = option(False, "also where it is not expected to pay")
    max_delta: int = option(MOST_LANES, "most lanes between the two, 0 to 31")
    shared: bool = option(False, "also loads of shared memory")
    assume_noalias: bool = option(False, NOALIAS)
    assume_nowrap: bool = option(False, "indices do not wrap, as signed ones in C may not")
    shape: str = option(
        "",
        "corners (each lane at an end loads itself) or rings (one load for all of them); else what is cheaper,"
        " and corners with always",
    )
    variant: str = option(
        "shuffle", "no_load and no_corner compute WRONG results, and show where the time goes"
    )

    def __post_init__(self) -> None:
        if not 0 <= self.max_delta <= MOST_LANES:
            raise ValueError(f"max_delta is 0 to {MOST_LANES}")
        if self.shape not in {"", *SHAPES}:
            raise ValueError(f"shape is one of {', '.join(SHAPES)}")
        if self.variant not in {each.value for each in Variant}:
            raise ValueError(f"variant is one of {', '.join(each.value for each in Variant)}")

    @property
    def is_gated(self) -> bool:
        return not self.always

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module, assume_noalias=self.assume_noalias)
        search = _Search(self, analyses, module)
        chosen = self._chosen(search, module.target[0])
        body: Sequence[Statement] | None = None
        if chosen.all:
            variant = Variant(self.variant)
            body = (
                with_rings(analyses, chosen.rings, chosen.shuffles)
                if chosen.rings
                else with_corners(analyses, chosen.shuffles, variant)
            )
        remarks = list(search.remarks)
        if chosen.all and self.variant != Variant.SHUFFLE.value:
            text = (
                f"variant={self.variant}: '{function.symbol}' computes WRONG results, for measurements only"
            )
            remarks.append(Remark(Kind.ANALYSIS, self.name, function.symbol, None, text))
        remarks += [self._applied(analyses, shuffle) for shuffle in chosen.all]
        remarks.sort(key=lambda each: -1 if each.span is None else each.span.start)
        return None if body is None else function.with_body(body), tuple(remarks)

    def _chosen(self, search: _Search, target: str) -> Choice:
        """Return the shuffles and rings that are made of the possible ones; the rest becomes remarks."""
        shuffles = search.shuffles()
        rings = Rings((), {})
        if not shuffles or self.variant != Variant.SHUFFLE.value:
            return Choice(tuple(shuffles), (), {})
        if self.shape == "rings" or (not self.shape and not self.always):
            rings = search.rings(shuffles)
        if not self.always:
            shapes = SHAPES if not self.shape else (self.shape,)
            chosen = cheapest(search.emulation, shuffles, rings, shapes, target)
        elif self.shape == "rings":
            own = tuple(each for each in shuffles if each.neighbour.lanes == 0)
            chosen = Choice(own, rings.rings, rings.why_not)
        else:
            chosen = Choice(tuple(shuffles), (), {})
        kept = {each.step for each in chosen.all}
        for shuffle in shuffles:
            if shuffle.step not in kept:
                search.refuse((shuffle,), chosen.why_not[shuffle.step])
        return chosen

    def _applied(self, analyses: Analyses, shuffle: Shuffle) -> Remark:
        first = analyses.flow.steps[shuffle.neighbour.elements[0].step].instruction
        by = shuffle.neighbour.lanes
        where = "the thread itself has it" if by == 0 else f"lane {by:+d} has it"
        step = analyses.flow.steps[shuffle.step].instruction
        text = f"delta {by}: {shown(step)} is not loaded, {where} from {shown(first)}"
        return self.applied(analyses.flow.function, step, text)


class _Search:
    """The loads of a function that shuffles can replace; ``remarks`` say why they cannot replace others."""

    def __init__(self, settings: SynthesizeShuffles, analyses: Analyses, module: Module) -> None:
        self._settings = settings
        self._analyses = analyses
        self._steps = analyses.flow.steps
        self._depths = scope_depths(analyses.flow.function.body)
        self._old = module.version < _NEEDED_VERSION
        self._made = has_rings(analyses.flow.function.body)
        self.remarks: list[Remark] = []
        self._obstacles: dict[int, str | None] = {}

    @cached_property
    def emulation(self) -> Emulation:
        """The emulation of the function, made only where there is a load that could be replaced."""
        return emulate(self._analyses)

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.emulation, self._settings.max_delta, self._settings.assume_nowrap)

    def shuffles(self) -> list[Shuffle]:
        found: list[Shuffle] = []
        taken: set[int] = set()
        for step, access in self._analyses.accesses.items():
            wanted = access.space is Space.GLOBAL or (self._settings.shared and access.space is Space.SHARED)
            if not wanted or not access.reads:
                continue
            shuffle = self._shuffle(step, taken)
            if isinstance(shuffle, str):
                self._missed(step, shuffle)
            else:
                found.append(shuffle)
                taken.add(step)
        return found

    def rings(self, shuffles: Sequence[Shuffle]) -> Rings:
        return rings_of(self._analyses, self._neighbours, self._indices, shuffles)

    def refuse(self, shuffles: Sequence[Shuffle], why: str) -> None:
        for shuffle in shuffles:
            self._missed(shuffle.step, f"delta {shuffle.neighbour.lanes} {why}")

    def _missed(self, step: int, why: str) -> None:
        instruction = self._steps[step].instruction
        text = f"{shown(instruction)} stays a load: {why}"
        self.remarks.append(self._settings.missed(self._analyses.flow.function, instruction, text))

    def _shuffle(self, step: int, taken: set[int]) -> Shuffle | str:
        """Return the shuffle in the place of a load, or why there cannot be one."""
        obstacle = self._obstacle(step)
        if obstacle is not None:
            return obstacle
        why = "no load before it that is still valid lies so few lanes away"
        if self._analyses.loops.irregular:
            return "a cycle has two entries"
        if self._analyses.cfg.block_of[step] in self._analyses.cfg.reachable and not self._may_follow(step):
            return why
        if not self.emulation.sightings.get(step):
            return "no flow comes to it"
        for neighbour in self._neighbours.of(step, lambda source: self._is_source(source, step, taken)):
            indices = self._indices(step, neighbour.wraps)
            if neighbour.lanes and not self._converges(step):
                why = "lanes may come to it in different rounds of a loop"
            elif neighbour.lanes and self._neighbours.knows_more(step):
                why = "a lane may have written there, or waited for it, since the lanes have met"
            elif neighbour.lanes == 0 and neighbour.wraps:
                why = "an index may wrap between the two"
            elif indices is None:
                why = "an index may wrap between the lanes, and is in no register"
            else:
                return Shuffle(step, neighbour, indices)
        return why

    def _may_follow(self, step: int) -> bool:
        """Whether a load that could be a source stands before a step on every way to it.

        Where none does, whatever the addresses are, there is nothing to emulate a function for.
        """
        own = self._analyses.cfg.block_of[step]
        return any(
            (block != own or source < step)
            and self._is_source(source, step, set())
            and fits(self._analyses, source, step)
            for block in self._analyses.dominators.above(own)
            for source in self._loads.get(block, ())
        )

    @cached_property
    def _loads(self) -> dict[int, list[int]]:
        """Return the steps that only read, by block."""
        found: dict[int, list[int]] = {}
        for step, access in self._analyses.accesses.items():
            if access.reads and not access.writes:
                found.setdefault(self._analyses.cfg.block_of[step], []).append(step)
        return found

    def _obstacle(self, step: int) -> str | None:
        """Return why a load can never be replaced; None where it may be."""
        if step not in self._obstacles:
            self._obstacles[step] = self._found_obstacle(step)
        return self._obstacles[step]

    def _found_obstacle(self, step: int) -> str | None:
        access, at = self._analyses.accesses[step], self._steps[step]
        code, operands = at.instruction.opcode, at.instruction.operands
        if not self._analyses.function.is_kernel:
            return "it stands in a function that is no kernel"
        if self._old:
            return "activemask needs .version 6.2"
        if self._made:
            return "the pass has been here before"
        if code.base != "ld" or access.writes or len(code.types) != 1:
            return "it is no plain load"
        if access.orders or code.is_volatile:
            return "it is volatile, or synchronises"
        if at.guard is not None:
            return "it has a guard"
        if self._depths[at.position] or has_pragma(self._analyses.flow.function.body, at.position):
            return "it stands in inline assembly, or a pragma speaks of it"
        data = data_of(at.instruction)
        if len(data) != code.vector or not all(self._bits(each) for each in data if each.text != SINK):
            return "it goes to registers of 8 or 128 bits, or is none of the function's own"
        if not {each.text for each in data}.isdisjoint(operands[1].names):
            return "it overwrites its own address"
        return None

    def _is_source(self, source: int, step: int, taken: set[int]) -> bool:
        if source in taken or self._obstacle(source) is not None:
            return False
        ours, theirs = (data_of(self._steps[n].instruction) for n in (step, source))
        if any(each.text == SINK for each in theirs):
            return False
        wide = {self._bits(each) for each in ours if each.text != SINK}
        if not wide <= {self._bits(each) for each in theirs}:
            return False
        # A register that is wider than what is loaded is filled as the type says.
        one, other = (self._steps[n].instruction.opcode.types for n in (step, source))
        return one == other or wide == {8 * bytes_of(one[-1])}

    def _bits(self, register: Name) -> int:
        return bits_of(self._analyses, register)

    def _converges(self, step: int) -> bool:
        """Return whether lanes that come to a step together come in the same round of every loop."""
        analyses = self._analyses
        around = analyses.loops.around(analyses.cfg.block_of[step])
        return all(loop.number in self.emulation.lanes.in_step for loop in around)

    def _indices(self, step: int, wraps: Sequence[Wrap]) -> tuple[Index, ...] | None:
        """Registers for what must not wrap; None where there is none for some part."""
        found: list[Index] = []
        for wrap in wraps:
            parts = [self._part(step, wanted, factor) for wanted, factor in wrap.parts]
            if None in parts:
                return None
            found.append(Index(Sum(wrap.signed, tuple(part for part in parts if part is not None)), wrap.by))
        return tuple(found)

    def _part(self, step: int, wanted: Form, factor: int) -> Part | None:
        analyses = self._analyses
        block = analyses.cfg.block_of[step]
        around = {loop.number for loop in analyses.loops.around(block)}
        for value, constant in self.emulation.holding.get(wanted.varying, ()):
            at = analyses.ssa.values[value].step
            own = analyses.cfg.block_of[at]
            inside = {loop.number for loop in analyses.loops.around(own)}
            before = at < step if own == block else analyses.dominators.dominates(own, block)
            if before and inside <= around and self._is_index(at, wanted.bits):
                return Part(at, wrapped(wanted.constant - constant, wanted.bits), factor)
        return None

    def _is_index(self, at: int, bits: int) -> bool:
        instruction = self._steps[at].instruction
        target = instruction.operands[0]
        return (
            instruction.guard is None
            and not self._depths[self._steps[at].position]
            and isinstance(target, Name)
            and self._bits(target) == bits
        )
