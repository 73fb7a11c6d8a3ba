"""Partial redundancy elimination of expressions and loads.

    loop: div.s32 %r3, %r1, %r2;  -->  div.s32 %r3, %r1, %r2;
          ... %r3 ...                  loop: ... %r3 ...

    if (c) div.s32 %r3, %r1, 7;   -->  div.s32 %r3, %r1, 7;
    div.s32 %r4, %r1, 7;               if (c) ...
                                       mov.b32 %r4, %r3;

Lazy code motion, so that nothing runs that did not; where it places what is computed decides:

- what every way on from a branch computes is computed once before the branch, and not on each of the ways;
- on an edge between a branch and a join there is a block for it made, if what is saved is worth the jump;
- not behind a branch that the threads of a warp take differently, unless what it saves stands behind it, too
  (Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.4);
- not where it is expected to run more often than what it saves;
- not out of a loop if it is one instruction that any unit does at once, unless something that is worth it needs it
  there: ptxas moves those itself where there are registers for them;
- not so much of it that the registers pass the next cliff of the occupancy, nor so that anything lives longer where
  ptxas is about to run out of them.

What is computed goes where it went, if that register is free there and still has it wherever it is taken; otherwise
into a fresh one, with a mov for what was computed already.
What was computed on some way before and yet stays has a remark that says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.build import Build
from comprehensive.ptx.flow import Flow, Register
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Immediate, Name
from comprehensive.ptx.passes.could_move import could_move
from comprehensive.ptx.passes.critical_edges import is_critical
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import (
    Expression,
    Key,
)
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.memory import NOALIAS
from comprehensive.ptx.passes.occupancy_gate import RegisterGate
from comprehensive.ptx.passes.placing import Edge, Placed
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.redundancies import Redundancies
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Instruction, Statement

_MOST_ROUNDS = 8
_WORDS = {2: "b16", 4: "b32", 8: "b64"}
# What a computation is, beside an addition, a mov, or a jump.
_CHEAP = 1.0
_WORTH = {"div": 16.0, "rem": 16.0, "sqrt": 8.0, "ld": 4.0}
# Of the unit for special functions, several rounds of it, or of several instructions.
_SLOW = 4.0
_SPECIAL = frozenset({"rcp", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"})
_PRODUCTS = frozenset({"mul", "mad", "mul24", "mad24"})


@dataclass(frozen=True)
class PartialRedundancyElimination(FunctionPass):
    name = "pre"
    summary = "expressions and loads that were computed before on some way: loop { t = a * b } --> t = a * b; loop { }"
    loads: bool = option(True, "also loads")
    expressions: bool = option(True, "also what computes")
    parameters: bool = option(
        False, "also loads of parameters of kernels, which ptxas mostly gets rid of itself"
    )
    assume_noalias: bool = option(False, NOALIAS)

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        """First with nothing cheap out of loops; then, if some was kept there, with what is needed outside."""
        before = self._redundancies(self.analyses(function, module))
        gate = RegisterGate.of(before.analyses, build)
        result = self._rounds(before, gate, frozenset())
        if result.stays_in_loop and _may_be_needed_outside(before):
            needed = self._rounds(before, gate, None).needed_outside()
            if needed:
                result = self._rounds(before, gate, needed)
        return result.function, result.remarks

    def _rounds(
        self, before: Redundancies, gate: RegisterGate, may_leave_loops: frozenset[Key] | None
    ) -> _Result:
        """Round by round: what depends on an expression that has moved can move next."""
        result = _Result()
        facts = before
        for number in range(_MOST_ROUNDS):
            plan = _Plan(self, facts, may_leave_loops)
            made = plan.made(gate)
            result.applied += plan.applied
            result.missed = plan.missed
            result.stays_in_loop |= plan.stays_in_loop
            result.out_of_loops += plan.out_of_loops
            if made is None:
                break
            result.function = made.function
            if number + 1 < _MOST_ROUNDS:
                facts = self._redundancies(made)
        return result

    def _redundancies(self, analyses: Analyses) -> Redundancies:
        return Redundancies(analyses, parameters=self.parameters)

    def analyses(self, function: Function, module: Module | None) -> Analyses:
        return Analyses(function, module, assume_noalias=self.assume_noalias)


@dataclass(frozen=True, slots=True)
class _OutOfLoop:
    """An expression that has moved out of a loop, and the names that it reads and is in now."""

    key: Key
    reads: frozenset[str]
    into: str | None
    is_cheap: bool


@dataclass
class _Result:
    """The function that all rounds have made, and the remarks about it."""

    function: Function | None = None
    applied: list[Remark] = field(default_factory=list[Remark])
    missed: list[Remark] = field(default_factory=list[Remark])
    stays_in_loop: bool = False
    out_of_loops: list[_OutOfLoop] = field(default_factory=list[_OutOfLoop])

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return tuple(dict.fromkeys((*self.applied, *self.missed)))

    def needed_outside(self) -> frozenset[Key]:
        """Return cheap expressions that left a loop before one that is not cheap and is made of them."""
        names: set[str] = set()
        found: set[Key] = set()
        for each in reversed(self.out_of_loops):
            if not each.is_cheap:
                names |= each.reads
            elif each.into in names:
                found.add(each.key)
                names |= each.reads
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Move:
    """The move of an expression.

    ``moved`` says that the one computation goes elsewhere, into the same register.
    """

    expression: Expression
    placed: Placed
    gain: float
    moved: bool


class _Plan:
    """The plan of one round: what it changes."""

    def __init__(
        self,
        settings: PartialRedundancyElimination,
        facts: Redundancies,
        may_leave_loops: frozenset[Key] | None,
    ) -> None:
        self._settings = settings
        self._facts = facts
        self._flow: Flow = facts.analyses.flow
        self._may_leave_loops = may_leave_loops
        self._split = facts.split
        self._cfg: Cfg = facts.cfg
        self._placer = facts.placer
        self._with_first: dict[int, Analyses] = {}
        self.applied: list[Remark] = []
        self.missed: list[Remark] = []
        self.stays_in_loop = False
        self.out_of_loops: list[_OutOfLoop] = []

    def made(self, gate: RegisterGate) -> Analyses | None:
        """The changed function; None where nothing is to be moved, or nothing may be."""
        moves = [
            move for each in self._facts.expressions.expressions if (move := self._move(each)) is not None
        ]
        moves.sort(key=lambda move: (-move.gain, move.expression.steps))
        moves = list(_with_holders_apart(moves))
        taken = gate.most_passed(len(moves), partial(self._analyses_with, moves))
        for move in moves[taken:]:
            self._missed(move.expression, gate.why)
        if not taken:
            return None
        for move in moves[:taken]:
            step = self._flow.steps[move.placed.saved[0]]
            what = "moved" if move.moved else "computed once instead of again:"
            self.applied.append(
                self._settings.applied(
                    self._flow.function, step.instruction, f"{what} {shown(step.instruction)}"
                )
            )
            if self._leaves_loop(move.placed):
                self.out_of_loops.append(self._out_of_loop(move))
        return self._analyses_with(moves, taken)

    def _out_of_loop(self, move: _Move) -> _OutOfLoop:
        registers, holder = self._flow.registers, move.placed.holder
        return _OutOfLoop(
            move.expression.key,
            frozenset(registers[number].name for number in move.expression.reads),
            None if holder is None else registers[holder].name,
            self._cost(move.expression) <= _CHEAP,
        )

    def _analyses_with(self, moves: Sequence[_Move], count: int) -> Analyses:
        """Return the function with the first few moves."""
        found = self._with_first.get(count)
        if found is None:
            changed = self._flow.function.with_body(self._body(moves[:count]))
            found = self._settings.analyses(changed, self._facts.analyses.module)
            self._with_first[count] = found
        return found

    def _move(self, each: Expression) -> _Move | None:
        if not (self._settings.loads if each.is_load else self._settings.expressions):
            return None
        for block in self._facts.motion.kept(each.number)[:1]:
            why = "it was computed on some way, but elsewhere it would be computed in vain"
            self._missed(each, why, self._first(each, block))
        blocks = self._facts.motion.deleted(each.number)
        saved = (*(self._first(each, block) for block in blocks), *self._facts.repeated(each))
        if not saved:
            return None
        placed = self._placer.placed(each, saved, self._facts.motion.inserted(each.number))
        why = self._obstacle(each, blocks, placed)
        if why is None and self._must_stay_in_loop(each, placed):
            self.stays_in_loop = True
            why = "it stays in the loop: ptxas moves it out itself where there are registers for it"
        if why is None:
            gain = self._gain(each, placed)
            if gain > 0:
                moved = len(each.steps) == 1 and placed.holder is not None
                return _Move(each, placed, gain, moved)
            why = "it would run as often as now, or more, or its copies would"
            if self._jumping(placed.places):
                why = "the jump over a new block would cost as much as it saves, or more"
        self._missed(each, why, saved[0])
        return None

    def _obstacle(self, each: Expression, blocks: Sequence[int], placed: Placed) -> str | None:
        """Return why an expression cannot, or must not, be computed at the places; None where it may."""
        widths = {bytes_of(self._register(step).type) for step in each.steps}
        if len(widths) > 1 or not widths <= _WORDS.keys():
            return "it goes into registers that one mov does not reach"
        if not all(self._can_place(edge) for edge in placed.places):
            return "it would have to be computed on an edge that cannot hold a block"
        branches = [self._flow.steps[self._cfg.blocks[fork].end - 1].position for fork in placed.forks]
        if any(self._facts.depths[position] for position in branches):
            return "it would have to be computed in a scope of inline assembly"
        operands = self._flow.steps[each.steps[0]].instruction.operands
        names = [name for operand in operands[1:] for name in operand.names]
        if placed.holder is not None:
            names.append(self._flow.registers[placed.holder].name)
        positions = [*branches, *(self._position(edge) for edge in placed.places)]
        if not all(self._facts.declared.at(position, names) for position in positions):
            return "it would be computed before a register of it is declared"
        # A fork that takes over what ways from it compute already computes nothing new.
        new = [*self._blocks_of(placed.places), *(placed.forks if placed.gathered else ())]
        if not self._stays_uniform(blocks, new):
            return "it would be computed behind a branch that threads of a warp take differently"
        return None

    def _gain(self, each: Expression, placed: Placed) -> float:
        """Return what is saved, less what is computed elsewhere, movs and new jumps, in additions."""
        gain = sum(self._facts.frequency(self._cfg.block_of[step]) for step in placed.saved)
        gain -= sum(map(self._facts.frequency, (*self._blocks_of(placed.places), *placed.forks)))
        gain *= self._cost(each)
        if placed.holder is None:
            gain -= sum(self._facts.frequency(self._cfg.block_of[step]) for step in placed.kept)
        return gain - sum(map(self._facts.frequency, self._jumping(placed.places)))

    def _cost(self, each: Expression) -> float:
        return _cost(self._flow.steps[each.steps[0]].instruction)

    def _must_stay_in_loop(self, each: Expression, placed: Placed) -> bool:
        if self._may_leave_loops is None or each.key in self._may_leave_loops:
            return False
        return self._cost(each) <= _CHEAP and self._leaves_loop(placed)

    def _leaves_loop(self, placed: Placed) -> bool:
        """Whether something in a loop is to be taken from outside."""
        blocks = [*self._blocks_of(placed.places), *placed.forks]
        blocks += [self._cfg.block_of[step] for step in placed.kept]
        inside = (self._facts.loops.around(self._cfg.block_of[step])[:1] for step in placed.saved)
        return any(block not in loop.blocks for loops in inside for loop in loops for block in blocks)

    def _blocks_of(self, places: Sequence[Edge]) -> list[int]:
        return [self._placer.block_at(edge).number for edge in places]

    def _jumping(self, places: Sequence[Edge]) -> list[int]:
        """Blocks that get a jump over one on an edge."""
        found = [
            self._split.jumps(number) for number in self._blocks_of(places) if number in self._split.edges
        ]
        return [block for block in found if block is not None]

    def _first(self, each: Expression, block: int) -> int:
        return next(step for step in each.steps if self._cfg.block_of[step] == block)

    def _register(self, step: int) -> Register:
        return self._flow.registers[self._flow.steps[step].defines[0]]

    def _can_place(self, edge: Edge) -> bool:
        block = self._placer.block_at(edge)
        if block.number in self._split.edges:
            return True
        if is_critical(self._cfg, *edge) or block.start == block.end:
            return False
        return self._facts.depths[self._position(edge)] == 0

    def _position(self, edge: Edge) -> int:
        """Return the position of the statement beside which the computations of an edge are placed.

        The block must not be empty.
        """
        block = self._placer.block_at(edge)
        if block.number in self._split.edges:
            step = self._split.before(block.number)
        else:
            step = block.start if block.number == edge[1] else block.end - 1
        return self._flow.steps[step].position

    def _stays_uniform(self, deleted: Sequence[int], new: Sequence[int]) -> bool:
        variant = [self._facts.variant_branches(block) for block in deleted]
        return all(self._facts.variant_branches(block) <= behind for block in new for behind in variant)

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
            placed = move.placed
            original = self._flow.steps[move.expression.steps[0]].instruction
            word = _WORDS[bytes_of(self._register(move.expression.steps[0]).type)]
            if placed.holder is None:
                register = fresh.register(word)
            else:
                register = Name(self._flow.registers[placed.holder].name)
            computed = Instruction(original.opcode, (register, *original.operands[1:]))
            for edge in placed.places:
                self._place(edits, on_edges, edge, computed)
            for fork in placed.forks:
                edits.before(self._cfg.blocks[fork].end - 1, (computed,))
            for number in (*placed.saved, *placed.kept):
                target = self._flow.steps[number].instruction.operands[0]
                copies = (
                    [] if target == register else [Instruction(opcode(f"mov.{word}"), (target, register))]
                )
                if number in placed.saved:
                    edits.replace(number, copies)
                elif copies:
                    edits.replace(number, (computed, *copies))
        self._split.write(on_edges, edits, fresh)
        return fresh.declared(edits.made())

    def _place(
        self,
        edits: Edits,
        on_edges: dict[int, list[Statement]],
        edge: Edge,
        computed: Instruction,
    ) -> None:
        block = self._placer.block_at(edge)
        if block.number in self._split.edges:
            on_edges[block.number].append(computed)
        elif block.number == edge[1]:
            edits.before(block.start, (computed,))
        elif self._cfg.terminator(block) is None:
            edits.after(block.end - 1, (computed,))
        else:
            edits.before(block.end - 1, (computed,))


def _cost(instruction: Instruction) -> float:
    """Return what an instruction costs in relation to an addition."""
    base, types = instruction.opcode.base, instruction.opcode.text.split(".")
    if base in _WORTH:
        return _WORTH[base]
    if base in _SPECIAL:
        return _SLOW
    if base in _PRODUCTS and types[-1] in ("s64", "u64"):
        return _CHEAP if any(isinstance(each, Immediate) for each in instruction.operands[1:3]) else _SLOW
    return _CHEAP


def _may_be_needed_outside(facts: Redundancies) -> bool:
    """Whether something cheap could leave a loop, and then something that is not cheap and reads it."""
    flow, cfg = facts.analyses.flow, facts.cfg
    movable = could_move(cfg, facts.expressions)
    cheap: set[int] = set()
    others: set[int] = set()
    for each in facts.expressions.expressions:
        in_loop = any(facts.loops.depth(cfg.block_of[step]) for step in each.steps)
        if not (in_loop and movable >> each.number & 1):
            continue
        if _cost(flow.steps[each.steps[0]].instruction) <= _CHEAP:
            cheap.update(flow.steps[step].defines[0] for step in each.steps)
        else:
            others |= each.reads
    return not cheap.isdisjoint(others)


def _with_holders_apart(moves: Iterable[_Move]) -> Iterator[_Move]:
    """One move for a register that holds what moves: whether others may have it, too, the next round finds out."""
    seen: set[int] = set()
    for move in moves:
        holder = move.placed.holder
        if holder is None or holder not in seen:
            yield move
        if holder is not None:
            seen.add(holder)
