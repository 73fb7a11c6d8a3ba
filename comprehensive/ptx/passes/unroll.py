"""Loops of one block with several of their rounds one after the other.

    LOOP:                                     BEGIN:
        ld.global.u32 %r7, [%rd9];                @ (fewer than 4 rounds left) bra LOOP;
        add.s32 %r11, %r11, 1;           -->      four rounds without branches
        setp.lt.s32 %p2, %r11, %r2;               @%p2 bra BEGIN;
        @%p2 bra LOOP;                            bra END;
                                              LOOP: as before
                                              END:

Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.4: it folds what the counter computes, and neighbouring
rounds may access neighbouring addresses.  Which rounds there are stays the same, and their order:

- a loop with a constant number of rounds, not more than ``full``, is gone altogether;
- one whose constant number of rounds ``factor`` divides needs no test between them;
- of others a counter must be known that grows by a constant to a bound that does not change: whether so many rounds are
  left is asked in 64 bits, in which nothing wraps, and the loop as it was does the rest.

Registers that a round defines anew get other names in all rounds but the last, so that loads of several rounds may go
together.  Barriers and other instructions that lanes do together are not copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import Block
from comprehensive.ptx.analysis.loops import Loop
from comprehensive.ptx.analysis.ssa import NONE
from comprehensive.ptx.build import Build
from comprehensive.ptx.flow import Step
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Immediate, Name, Not, Operand, renamed
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Directive, Instruction, Label, Statement

_ORDERED = {"lt": "ge", "le": "gt"}
"""The relation of a counter to its bound while the loop stays, and that when too few rounds are left."""
_STAYING = {("lt", False): "lt", ("le", False): "le", ("ge", True): "lt", ("gt", True): "le"}
"""The relation that stays in the loop, by that of the comparison and by whether its opposite branches back."""


@dataclass(frozen=True)
class Unroll(FunctionPass):
    name = "unroll"
    summary = "rounds of a loop one after the other: loop { S(i) } --> loop { S(i); S(i+1); S(i+2); S(i+3) }"
    factor: int = option(4, "rounds that stand one after the other, 2 to 16")
    full: int = option(16, "a loop of at most so many rounds, a constant number, is gone altogether; 0: none")
    most: int = option(256, "most instructions that the rounds of a loop may come to")

    def __post_init__(self) -> None:
        if not 2 <= self.factor <= 16:
            raise ValueError("factor is 2 to 16")

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        analyses = Analyses(function, module)
        fresh = Fresh(function.body, "unroll")
        depths = scope_depths(function.body)
        pieces: dict[tuple[int, int], list[Statement]] = {}
        remarks: list[Remark] = []
        for loop in analyses.loops.loops:
            block = analyses.cfg.blocks[loop.header]
            branch = analyses.flow.steps[block.end - 1].instruction
            found = _Rounds(self, analyses, loop, block, depths)
            obstacle = found.obstacle
            if obstacle is not None:
                remarks.append(self.missed(function, branch, f"the loop stays as it is: {obstacle}"))
                continue
            text, statements = found.unrolled(fresh)
            pieces[found.begin, found.end] = statements
            remarks.append(self.applied(function, branch, text))
        if not pieces:
            return None, tuple(remarks)
        return function.with_body(fresh.declared(list(_with(function.body, pieces)))), tuple(remarks)


def _with(
    body: Sequence[Statement], pieces: Mapping[tuple[int, int], Sequence[Statement]]
) -> Iterator[Statement]:
    """The body with other statements in the places of some stretches."""
    at = 0
    for (begin, end), statements in sorted(pieces.items(), key=lambda item: item[0]):
        yield from body[at:begin]
        yield from statements
        at = end
    yield from body[at:]


@dataclass(frozen=True, slots=True)
class _Counter:
    """A counter of 32 bits that grows by ``step`` in each round; the loop stays while it is less than its bound, or as
    much where ``relation`` is ``le``."""

    register: Name
    step: int
    relation: str
    kind: str
    """The type of the comparison, ``s32`` or ``u32``."""
    bound: Operand


class _Rounds:
    """A loop, and its rounds one after the other."""

    def __init__(
        self, settings: Unroll, analyses: Analyses, loop: Loop, block: Block, depths: Sequence[int]
    ) -> None:
        self._settings = settings
        self._analyses = analyses
        self._loop = loop
        self._block = block
        self._depths = depths
        self._body = analyses.function.body
        self._steps: list[Step] = [analyses.flow.steps[number] for number in block.steps]

    @property
    def begin(self) -> int:
        """The position of the first label of the loop."""
        position = self._steps[0].position
        while position > 0 and isinstance(self._body[position - 1], Label | Directive):
            position -= 1
        return position

    @property
    def end(self) -> int:
        """The position behind the branch back."""
        return self._steps[-1].position + 1

    @property
    def obstacle(self) -> str | None:
        """Return why the loop stays as it is; None where it need not."""
        loop, block, steps = self._loop, self._block, self._steps
        if loop.latches != (loop.header,) or len(loop.blocks) > 1:
            return "it has branches within"
        last = steps[-1]
        if last.instruction.opcode.base != "bra" or last.guard is None or block.leaves:
            return "it does not end with a branch back"
        if block.number + 1 not in block.successors or block.number == 0:
            return "it does not end with a branch back"
        if loop.entering != (block.number - 1,) or self._is_branched_to():
            return "it is entered by a branch"
        for step in steps:
            code = step.instruction.opcode
            if code.is_convergent or code.base in ("call", "bar", "barrier"):
                return f"'{code.text}' is not copied"
            if self._depths[step.position]:
                return "it has a scope of inline assembly"
        between = self._body[self.begin : self.end]
        if not all(isinstance(each, Instruction | Label | Directive) for each in between):
            return "it has declarations"
        if any(isinstance(each, Directive) and each.name != ".loc" for each in between):
            return "a pragma speaks of it"
        return self._no_plan()

    def _is_branched_to(self) -> bool:
        """Whether another branch than its own leads to the loop."""
        own = self._block.end - 1
        return any(
            self._block.start in step.targets
            for number, step in enumerate(self._analyses.flow.steps)
            if number != own
        )

    def _no_plan(self) -> str | None:
        size = len(self._steps) - 1
        rounds = self._constant_rounds
        if rounds is not None and rounds <= self._settings.full:
            return None if rounds * size <= self._settings.most else self._too_long
        if self._settings.factor * size > self._settings.most:
            return self._too_long
        if rounds is not None and rounds % self._settings.factor == 0:
            return None
        if rounds is not None and rounds < self._settings.factor:
            return f"it has {rounds} rounds"
        return None if self._counter is not None else "no counter is known that grows to a bound"

    @property
    def _too_long(self) -> str:
        return f"its rounds would come to more than {self._settings.most} instructions"

    @property
    def _constant_rounds(self) -> int | None:
        trips = self._analyses.affine.trips.get(self._loop.number)
        if trips is None or trips.constant is None or not trips.is_only:
            return None
        return trips.constant + 1

    @property
    def _counter(self) -> _Counter | None:
        analyses, block = self._analyses, self._block
        guard = self._steps[-1].instruction.guard
        value = analyses.ssa.guards[block.end - 1]
        number = NONE if value == NONE else analyses.ssa.values[value].step
        if number not in block.steps or guard is None:
            return None
        compared = analyses.flow.steps[number]
        code, operands = compared.instruction.opcode, compared.instruction.operands
        if (
            code.base != "setp"
            or len(operands) != 3
            or len(code.modifiers) != 2
            or compared.guard is not None
        ):
            return None
        relation = _STAYING.get((code.modifiers[0], isinstance(guard, Not)))
        kind = code.modifiers[1]
        counter, bound = operands[1], operands[2]
        if relation is None or kind not in ("s32", "u32") or not isinstance(counter, Name):
            return None
        step = self._step_of(analyses.operand_values[number][1])
        if step is None or not self._is_unchanged(bound):
            return None
        return _Counter(counter, step, relation, kind, bound)

    def _step_of(self, value: int) -> int | None:
        """Return the step of a counter: how much ``value``, behind the addition of a round, grows in a round."""
        analyses = self._analyses
        number = NONE if value == NONE else analyses.ssa.values[value].step
        if number not in self._block.steps:
            return None
        added = analyses.flow.steps[number]
        operands = added.instruction.operands
        if added.instruction.opcode.text not in ("add.s32", "add.u32") or added.guard is not None:
            return None
        before, by = analyses.operand_values[number][1], operands[2]
        phi = analyses.ssa.phi_of.get(before)
        if phi is None or phi not in analyses.ssa.phis[self._block.number] or value not in phi.arguments:
            return None
        if phi.register != analyses.ssa.values[value].register or not isinstance(by, Immediate):
            return None
        if not by.text.isdigit() or not 0 < int(by.text) < 1 << 20:
            return None
        return int(by.text)

    def _is_unchanged(self, bound: Operand) -> bool:
        if isinstance(bound, Immediate):
            return bound.text.lstrip("-").isdigit()
        if not isinstance(bound, Name):
            return False
        register = self._analyses.flow.names.get(bound.text)
        return register is not None and all(register not in step.defines for step in self._steps)

    def unrolled(self, fresh: Fresh) -> tuple[str, list[Statement]]:
        """Return a text about what was done, and the statements in the place of the loop."""
        rounds, factor = self._constant_rounds, self._settings.factor
        if rounds is not None and rounds <= self._settings.full:
            return f"its {rounds} rounds stand one after the other", list(self._copies(rounds, fresh))
        back = self._steps[-1].instruction
        if rounds is not None and rounds % factor == 0:
            labels = [each for each in self._body[self.begin : self.end] if isinstance(each, Label)]
            text = f"{factor} of its {rounds} rounds stand one after the other"
            # ptxas, and another run of this pass, have nothing to add.
            once = Directive(".pragma", '"nounroll"')
            return text, [once, *labels, *self._copies(factor, fresh), back]
        counter = self._counter
        assert counter is not None
        again, behind = fresh.label("begin"), fresh.label("end")
        text = f"{factor} rounds stand one after the other while so many are left"
        return text, [
            Label(again),
            *self._are_too_few(counter, fresh),
            *self._copies(factor, fresh),
            Instruction(opcode("bra"), (Name(again),), back.guard),
            Instruction(opcode("bra"), (Name(behind),)),
            *self._body[self.begin : self.end],
            Label(behind),
        ]

    def _are_too_few(self, counter: _Counter, fresh: Fresh) -> Iterator[Statement]:
        """The branch to the loop as it was, unless the tests between ``factor`` rounds would all stay in the loop."""
        wide = f"{counter.kind[0]}64"
        last, bound, few = fresh.register("b64"), fresh.register("b64"), fresh.register("pred")
        ahead = (self._settings.factor - 1) * counter.step
        yield Instruction(opcode(f"cvt.{wide}.{counter.kind}"), (last, counter.register))
        yield Instruction(opcode(f"add.{wide}"), (last, last, Immediate(str(ahead))))
        match counter.bound:
            case Immediate(text):
                number = int(text) if counter.kind == "s32" else int(text) % (1 << 32)
                yield Instruction(opcode(f"mov.{wide}"), (bound, Immediate(str(number))))
            case _:
                yield Instruction(opcode(f"cvt.{wide}.{counter.kind}"), (bound, counter.bound))
        yield Instruction(opcode(f"setp.{_ORDERED[counter.relation]}.{wide}"), (few, last, bound))
        label = next(each for each in self._body[self.begin : self.end] if isinstance(each, Label))
        yield Instruction(opcode("bra"), (Name(label.name),), few)

    def _copies(self, count: int, fresh: Fresh) -> Iterator[Statement]:
        """Yield so many rounds without the branch; all but the last rename registers that nothing else reads."""
        flow = self._analyses.flow
        own = [flow.registers[number] for number in self._own()]
        for place in range(count):
            names = (
                {register.name: fresh.register(register.type).text for register in own}
                if place + 1 < count
                else {}
            )
            for step in self._steps[:-1]:
                yield _renamed(step.instruction, names)

    def _own(self) -> list[int]:
        """Registers that a round defines before it reads them, and that nobody reads behind it."""
        liveness, number = self._analyses.liveness, self._block.number
        around = liveness.live_in[number] | liveness.live_out[number]
        defined = {register for step in self._steps for register in step.defines}
        fixed = self._analyses.ssa.fixed
        return sorted(
            register
            for register in defined
            if not around >> register & 1
            and register not in fixed
            and self._analyses.flow.registers[register].scope == 0
        )


def _renamed(instruction: Instruction, names: Mapping[str, str]) -> Instruction:
    def other(name: str) -> str:
        whole, dot, part = name.rpartition(".")
        if dot and whole in names:
            return f"{names[whole]}.{part}"
        return names.get(name, name)

    operands = tuple(renamed(operand, other) for operand in instruction.operands)
    guard = instruction.guard
    if guard is not None:
        changed = renamed(guard, other)
        assert isinstance(changed, Name | Not)
        guard = changed
    return Instruction(instruction.opcode, operands, guard)
