"""Partial redundancy elimination of expressions and loads.

    loop: mul.lo.s32 %r3, %r1, %r2;  -->  mul.lo.s32 %r3, %r1, %r2;
          ... %r3 ...                     loop: ... %r3 ...

    if (c) add.s32 %r3, %r1, 4;      -->  if (c) { add.s32 t, %r1, 4; mov.b32 %r3, t; } else add.s32 t, %r1, 4;
    add.s32 %r4, %r1, 4;                  mov.b32 %r4, t;

Lazy code motion, so that nothing runs that did not; where it places what is computed decides:

- on an edge between a branch and a join there is a block for it made, if what is saved is worth the jump;
- not behind a branch that the threads of a warp take differently, unless what it saves stands behind it, too
  (Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.4);
- not where it is expected to run more often than what it saves;
- not so much of it that the registers pass the next cliff of the occupancy.

What was computed on some way before and yet stays has a remark that says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import Block, Cfg
from comprehensive.ptx.analysis.dominators import (
    control_dependence_of,
    dominators_of,
    postdominators_of,
)
from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.analysis.loops import loops_of
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.flow import Flow, Register
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Name
from comprehensive.ptx.passes.code_motion import Motion, lazy_code_motion
from comprehensive.ptx.passes.critical_edges import is_critical, split_critical_edges
from comprehensive.ptx.passes.declared import Declared
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
# What a computation is, beside an addition, or a jump.
_WORTH = {"div": 16.0, "rem": 16.0, "sqrt": 8.0, "ld": 4.0}


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
        missed: list[Remark] = []
        before = self._analyses(function, module)
        limit = next_cliff(predicted_registers(before), _threads(function, self.threads))
        body: Sequence[Statement] | None = None
        for _ in range(_MOST_ROUNDS):
            analyses = before if body is None else self._analyses(function.with_body(body), module)
            plan = _Plan(self, analyses)
            made = plan.made(limit)
            remarks += plan.applied
            missed = plan.missed
            if made is None:
                break
            body = made
        return body, tuple(dict.fromkeys((*remarks, *missed)))

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
        self._split = split_critical_edges(analyses.cfg)
        self._cfg: Cfg = self._split.cfg
        self._loops = loops_of(self._cfg, dominators_of(self._cfg))
        self._dependence = control_dependence_of(self._cfg, postdominators_of(self._cfg))
        self._found: Expressions = expressions_of(self._cfg, Memory(analyses).may_write)
        self._motion: Motion = lazy_code_motion(self._cfg, self._found.local)
        self._depths = scope_depths(self._flow.function.body)
        self._declared = Declared(self._flow.function.body)
        self._decided_by: dict[int, frozenset[int]] = {}
        self.applied: list[Remark] = []
        self.missed: list[Remark] = []

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
            self.applied.append(
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
        for block in self._motion.kept(each.number)[:1]:
            why = "it was computed on some way, but elsewhere it would be computed in vain"
            self._missed(each, why, self._first(each, block))
        blocks = self._motion.deleted(each.number)
        places = self._motion.inserted(each.number)
        repeated = tuple(step for step in self._found.repeated if self._found.number_of[step] == each.number)
        saved = (*(self._first(each, block) for block in blocks), *repeated)
        if not saved:
            return None
        moved = self._is_one_that_moves(each, saved, places)
        why = self._obstacle(each, blocks, places, moved)
        if why is None:
            gain = self._gain(each, saved, places)
            if gain > 0:
                return _Move(each, places, saved, gain, moved)
            why = "it would run as often as now, or more"
            if self._jumping(places):
                why = "the jump over a new block would cost as much as it saves, or more"
        self._missed(each, why, saved[0])
        return None

    def _obstacle(
        self, each: Expression, blocks: Sequence[int], places: Sequence[tuple[int, int]], moved: bool
    ) -> str | None:
        """Why it cannot, or must not, be computed at the places; None where it may."""
        widths = {bytes_of(self._register(step).type) for step in each.steps}
        if len(widths) > 1 or not widths <= _WORDS.keys():
            return "it goes into registers that one mov does not reach"
        if not all(self._can_place(edge) for edge in places):
            return "it would have to be computed on an edge that cannot hold a block"
        operands = self._flow.steps[each.steps[0]].instruction.operands
        names = [name for operand in (operands if moved else operands[1:]) for name in operand.names]
        if not all(self._declared.at(self._position(edge), names) for edge in places):
            return "it would be computed before a register of it is declared"
        if not self._stays_uniform(blocks, places):
            return "it would be computed behind a branch that threads of a warp take differently"
        return None

    def _gain(self, each: Expression, saved: Sequence[int], places: Sequence[tuple[int, int]]) -> float:
        """What is saved, less what is computed elsewhere and the jumps over new blocks, in additions."""
        gain = sum(self._frequency(self._cfg.block_of[step]) for step in saved)
        gain -= sum(self._frequency(self._block_at(edge).number) for edge in places)
        gain *= _WORTH.get(self._flow.steps[each.steps[0]].instruction.opcode.base, 1.0)
        return gain - sum(map(self._frequency, self._jumping(places)))

    def _jumping(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Blocks that get a jump over one on an edge."""
        numbers = [self._block_at(edge).number for edge in places]
        found = [self._split.jumps(number) for number in numbers if number in self._split.edges]
        return [block for block in found if block is not None]

    def _first(self, each: Expression, block: int) -> int:
        return next(step for step in each.steps if self._cfg.block_of[step] == block)

    def _register(self, step: int) -> Register:
        return self._flow.registers[self._flow.steps[step].defines[0]]

    def _block_at(self, edge: tuple[int, int]) -> Block:
        """The block that holds what is placed on an edge."""
        source, target = (self._cfg.blocks[number] for number in edge)
        return target if source.is_fork else source

    def _can_place(self, edge: tuple[int, int]) -> bool:
        block = self._block_at(edge)
        if block.number in self._split.edges:
            return True
        if is_critical(self._cfg, *edge) or block.start == block.end:
            return False
        return self._depths[self._position(edge)] == 0

    def _position(self, edge: tuple[int, int]) -> int:
        """Of the statement beside which is placed what an edge gets; the block must not be empty."""
        block = self._block_at(edge)
        if block.number in self._split.edges:
            step = self._split.before(block.number)
        else:
            step = block.start if block.number == edge[1] else block.end - 1
        return self._flow.steps[step].position

    def _stays_uniform(self, deleted: Sequence[int], places: Sequence[tuple[int, int]]) -> bool:
        variant = [self._variant_branches(block) for block in deleted]
        return all(
            self._variant_branches(self._block_at(edge).number) <= behind
            for edge in places
            for behind in variant
        )

    def _variant_branches(self, block: int) -> frozenset[int]:
        """Branches that decide whether a block runs and that are not the same in the threads of a warp."""
        levels = self._analyses.variance.branches
        # The blocks of edges do not branch.
        return frozenset(b for b in self._deciding(block) if b < len(levels) and levels[b] > Level.WARP)

    def _deciding(self, block: int) -> frozenset[int]:
        """Branches that decide whether a block runs, and whether they run themselves."""
        found = self._decided_by.get(block)
        if found is None:
            seen: set[int] = set()
            work = [block]
            while work:
                for branch in self._dependence[work.pop()]:
                    if branch not in seen:
                        seen.add(branch)
                        work.append(branch)
            found = self._decided_by[block] = frozenset(seen)
        return found

    def _frequency(self, block: int) -> float:
        """How often a block runs, by the loops and branches around it."""
        ends: set[int] = set()
        for loop in self._loops.around(block):
            ends.update(loop.latches, loop.leaves, (source for source, _ in loop.exits))
        # A branch of the block itself decides how often it runs again, not whether it does.
        branches = self._deciding(block) - ends - {block}
        return _ROUNDS ** self._loops.depth(block) * _TAKEN ** len(branches)

    def _is_one_that_moves(
        self, each: Expression, saved: Sequence[int], places: Sequence[tuple[int, int]]
    ) -> bool:
        """Whether the only computation goes elsewhere, and its register with it."""
        if len(each.steps) != 1 or not places:
            return False
        register = self._register(each.steps[0]).number
        if sum(register in step.defines for step in self._flow.steps) != 1:
            return False
        return not any(self._live.live_in[self._text_block(target)] >> register & 1 for _, target in places)

    def _text_block(self, block: int) -> int:
        """The block itself, or the one to which the edge leads that it stands for."""
        return self._split.edges[block][1] if block in self._split.edges else block

    def _missed(self, each: Expression, why: str, number: int | None = None) -> None:
        step = self._flow.steps[each.steps[0] if number is None else number]
        self.missed.append(
            self._settings.missed(self._flow.function, step.instruction, f"{shown(step.instruction)}: {why}")
        )

    def _body(self, moves: Sequence[_Move]) -> list[Statement]:
        edits = Edits(self._flow)
        fresh = Fresh(self._flow.function.body, "pre")
        on_edges: dict[int, list[Statement]] = defaultdict(list)
        for move in moves:
            original = self._flow.steps[move.expression.steps[0]].instruction
            word = _WORDS[bytes_of(self._register(move.expression.steps[0]).type)]
            register = original.operands[0] if move.moved else fresh.register(word)
            assert isinstance(register, Name)
            computed = Instruction(original.opcode, (register, *original.operands[1:]))
            for edge in move.places:
                self._place(edits, on_edges, edge, computed)
            for number in move.expression.steps:
                if move.moved:
                    edits.replace(number, ())
                    continue
                target = self._flow.steps[number].instruction.operands[0]
                copy = Instruction(opcode(f"mov.{word}"), (target, register))
                edits.replace(number, (copy,) if number in move.saved else (computed, copy))
        self._split.write(on_edges, edits, fresh)
        return fresh.declared(edits.made())

    def _place(
        self,
        edits: Edits,
        on_edges: dict[int, list[Statement]],
        edge: tuple[int, int],
        computed: Instruction,
    ) -> None:
        block = self._block_at(edge)
        if block.number in self._split.edges:
            on_edges[block.number].append(computed)
        elif block.number == edge[1]:
            edits.before(block.start, (computed,))
        elif self._cfg.terminator(block) is None:
            edits.after(block.end - 1, (computed,))
        else:
            edits.before(block.end - 1, (computed,))
