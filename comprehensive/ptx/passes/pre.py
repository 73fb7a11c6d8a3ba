"""Partial redundancy elimination of expressions and loads.

    loop: mul.lo.s32 %r3, %r1, %r2;  -->  mul.lo.s32 %r3, %r1, %r2;
          ... %r3 ...                     loop: ... %r3 ...

    if (c) add.s32 %r3, %r1, 4;      -->  if (c) { add.s32 t, %r1, 4; mov.b32 %r3, t; } else add.s32 t, %r1, 4;
    add.s32 %r4, %r1, 4;                  mov.b32 %r4, t;

Lazy code motion, so that nothing runs that did not; where it places what is computed decides:

- not on an edge between a branch and a join, as there is no block for it;
- not behind a branch that the threads of a warp take differently, unless what it saves stands behind it, too
  (Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.4);
- not where it is expected to run more often than what it saves;
- not so much of it that the registers pass the next cliff of the occupancy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import Block
from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.flow import Flow, Register
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Name
from comprehensive.ptx.passes.code_motion import Motion, lazy_code_motion
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import (
    Expression,
    Expressions,
    expressions_of,
    scope_depths,
)
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.memory import NOALIAS, Memory
from comprehensive.ptx.passes.occupancy_gate import next_cliff, predicted_registers
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Instruction, Statement

_MOST_ROUNDS = 8
_WORDS = {2: "b16", 4: "b32", 8: "b64"}
# What a round of a loop, and a branch, are taken to be worth where nothing has been measured.
_ROUNDS = 10.0
_TAKEN = 0.5


@dataclass(frozen=True)
class PartialRedundancyElimination(FunctionPass):
    name = "pre"
    summary = "expressions and loads that were computed before on some way: loop { t = a * b } --> t = a * b; loop { }"
    loads: bool = option(True, "also loads")
    expressions: bool = option(True, "also what computes")
    threads: int = option(256, "threads of a block, for the occupancy, where no .maxntid says it")
    assume_noalias: bool = option(False, NOALIAS)

    def __post_init__(self) -> None:
        if not 1 <= self.threads <= 1024:
            raise ValueError("threads: a block has 1 to 1024")

    def rewrite(
        self, function: Function, module: Module
    ) -> tuple[Sequence[Statement] | None, tuple[Remark, ...]]:
        """Round by round: what depends on an expression that has moved can move next."""
        remarks: list[Remark] = []
        before = self._analyses(function, module)
        limit = next_cliff(predicted_registers(before), _threads(function, self.threads))
        body: Sequence[Statement] | None = None
        for _ in range(_MOST_ROUNDS):
            analyses = before if body is None else self._analyses(function.with_body(body), module)
            plan = _Plan(self, analyses)
            made = plan.made(limit)
            remarks += plan.remarks
            if made is None:
                break
            body = made
        return body, tuple(dict.fromkeys(remarks))

    def _analyses(self, function: Function, module: Module) -> Analyses:
        return Analyses(function, module, assume_noalias=self.assume_noalias)


def _threads(function: Function, otherwise: int) -> int:
    bounds = function.tuning("reqntid") or function.tuning("maxntid")
    threads = 1
    for bound in bounds:
        threads *= bound
    return threads if bounds else otherwise


@dataclass(frozen=True, slots=True)
class _Move:
    """``places`` are edges on which the expression is computed; ``moved`` says that its one computation goes there."""

    expression: Expression
    places: tuple[tuple[int, int], ...]
    saved: tuple[int, ...]
    gain: float
    moved: bool


class _Plan:
    """What one round changes."""

    def __init__(self, settings: PartialRedundancyElimination, analyses: Analyses) -> None:
        self._settings = settings
        self._analyses = analyses
        self._flow: Flow = analyses.flow
        self._live: Liveness = analyses.liveness
        self._found: Expressions = expressions_of(analyses.cfg, Memory(analyses).may_write)
        self._motion: Motion = lazy_code_motion(analyses.cfg, self._found.local)
        self._depths = scope_depths(self._flow.function.body)
        self.remarks: list[Remark] = []

    def made(self, limit: int) -> list[Statement] | None:
        """The new body; None where nothing is to be moved, or nothing may be."""
        moves = [move for each in self._found.expressions if (move := self._move(each)) is not None]
        moves.sort(key=lambda move: (-move.gain, move.expression.steps))
        taken = self._most_that_fit(moves, limit)
        for move in moves[taken:]:
            self._missed(
                move.expression, f"it would take more than {limit} registers, a cliff of the occupancy"
            )
        if not taken:
            return None
        for move in moves[:taken]:
            step = self._flow.steps[move.saved[0]]
            what = "moved" if move.moved else "computed once instead of again:"
            self.remarks.append(
                self._settings.applied(
                    self._flow.function, step.instruction, f"{what} {shown(step.instruction)}"
                )
            )
        return self._body(moves[:taken])

    def _most_that_fit(self, moves: Sequence[_Move], limit: int) -> int:
        """How many, from the first, leave the registers under the limit."""
        if not moves or self._fits(moves, limit):
            return len(moves)
        low, high = 0, len(moves)
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(moves[:middle], limit):
                low = middle
            else:
                high = middle
        return low

    def _fits(self, moves: Sequence[_Move], limit: int) -> bool:
        changed = self._flow.function.with_body(self._body(moves))
        return predicted_registers(Analyses(changed, self._analyses.module)) <= limit

    def _move(self, each: Expression) -> _Move | None:
        if not (self._settings.loads if each.is_load else self._settings.expressions):
            return None
        cfg = self._analyses.cfg
        blocks = self._motion.deleted(each.number)
        places = self._motion.inserted(each.number)
        repeated = tuple(step for step in self._found.repeated if self._found.number_of[step] == each.number)
        saved = (*(self._first(each, block) for block in blocks), *repeated)
        if not saved:
            return None
        widths = {bytes_of(self._register(step).type) for step in each.steps}
        if len(widths) > 1 or not widths <= _WORDS.keys():
            return None
        if not all(self._can_place(edge) for edge in places):
            self._missed(each, "it would have to be computed on an edge between a branch and a join")
            return None
        if not self._stays_uniform(blocks, places):
            self._missed(each, "it would be computed behind a branch that threads of a warp take differently")
            return None
        gain = sum(self._frequency(cfg.block_of[step]) for step in saved)
        gain -= sum(self._frequency(self._block_at(edge).number) for edge in places)
        if gain <= 0:
            return None
        return _Move(each, places, saved, gain, self._is_one_that_moves(each, saved, places))

    def _first(self, each: Expression, block: int) -> int:
        return next(step for step in each.steps if self._analyses.cfg.block_of[step] == block)

    def _register(self, step: int) -> Register:
        return self._flow.registers[self._flow.steps[step].defines[0]]

    def _block_at(self, edge: tuple[int, int]) -> Block:
        """The block that holds what is placed on an edge."""
        source, target = (self._analyses.cfg.blocks[number] for number in edge)
        return target if source.is_fork else source

    def _can_place(self, edge: tuple[int, int]) -> bool:
        source, target = (self._analyses.cfg.blocks[number] for number in edge)
        if source.is_fork and len(target.predecessors) > 1:
            return False
        block = self._block_at(edge)
        if block.start == block.end:
            return False
        step = block.start if block is target else block.end - 1
        return self._depths[self._flow.steps[step].position] == 0

    def _stays_uniform(self, deleted: Sequence[int], places: Sequence[tuple[int, int]]) -> bool:
        variant = [self._variant_branches(block) for block in deleted]
        return all(
            self._variant_branches(self._block_at(edge).number) <= behind
            for edge in places
            for behind in variant
        )

    def _variant_branches(self, block: int) -> frozenset[int]:
        """Branches that decide whether a block runs and that are not the same in the threads of a warp."""
        seen: set[int] = set()
        work = [block]
        while work:
            for branch in self._analyses.control_dependence[work.pop()]:
                if branch not in seen:
                    seen.add(branch)
                    work.append(branch)
        return frozenset(branch for branch in seen if self._analyses.variance.branches[branch] > Level.WARP)

    def _frequency(self, block: int) -> float:
        """How often a block runs, by the loops and branches around it."""
        loops = self._analyses.loops
        latches = {
            latch for loop in loops.around(block) for latch in (*loop.latches, *(s for s, _ in loop.exits))
        }
        branches = [b for b in self._analyses.control_dependence[block] if b not in latches]
        return _ROUNDS ** loops.depth(block) * _TAKEN ** len(branches)

    def _is_one_that_moves(
        self, each: Expression, saved: Sequence[int], places: Sequence[tuple[int, int]]
    ) -> bool:
        """Whether the only computation goes elsewhere, and its register with it."""
        if len(each.steps) != 1 or not places:
            return False
        register = self._register(each.steps[0]).number
        if sum(register in step.defines for step in self._flow.steps) != 1:
            return False
        return not any(self._live.live_in[target] >> register & 1 for _, target in places)

    def _missed(self, each: Expression, why: str) -> None:
        step = self._flow.steps[each.steps[0]]
        self.remarks.append(
            self._settings.missed(self._flow.function, step.instruction, f"{shown(step.instruction)}: {why}")
        )

    def _body(self, moves: Sequence[_Move]) -> list[Statement]:
        edits = Edits(self._flow)
        fresh = Fresh(self._flow.function.body, "pre")
        for move in moves:
            original = self._flow.steps[move.expression.steps[0]].instruction
            word = _WORDS[bytes_of(self._register(move.expression.steps[0]).type)]
            register = original.operands[0] if move.moved else fresh.register(word)
            assert isinstance(register, Name)
            computed = Instruction(original.opcode, (register, *original.operands[1:]))
            for edge in move.places:
                self._place(edits, edge, computed)
            for number in move.expression.steps:
                if move.moved:
                    edits.replace(number, ())
                    continue
                target = self._flow.steps[number].instruction.operands[0]
                copy = Instruction(opcode(f"mov.{word}"), (target, register))
                edits.replace(number, (copy,) if number in move.saved else (computed, copy))
        return fresh.declared(edits.made())

    def _place(self, edits: Edits, edge: tuple[int, int], computed: Instruction) -> None:
        block = self._block_at(edge)
        cfg = self._analyses.cfg
        if block.number == edge[1]:
            edits.before(block.start, (computed,))
        elif cfg.terminator(block) is None:
            edits.after(block.end - 1, (computed,))
        else:
            edits.before(block.end - 1, (computed,))
