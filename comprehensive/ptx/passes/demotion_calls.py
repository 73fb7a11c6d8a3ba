"""Calls of functions that have slots of their own: words moved out of the way, and the address of their frame passed.

In: a call, where the frame of the callee begins, and what is moved.  Out: the statements before it, in its place,
behind::

    call.uni (out), f, (in);    -->    ld.shared.b32 %word, [%at+640];      // slot 5 is live, and above the frame
                                       st.shared.b32 [%at+128], %word;      // slot 1 is free
                                       .param .b32 slots;
                                       add.u32 %frame, %at, 256;            // the frame of f begins at slot 2
                                       st.param.b32 [slots], %frame;
                                       call.uni (out), f_in_k, (in, slots);
                                       ld.shared.b32 %word, [%at+128];
                                       st.shared.b32 [%at+640], %word;

The words are moved back so that the function finds them where it has put them (Hayes et al., Orion, 2016, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Address, Arguments, Immediate, Name
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.statements import Declaration, Instruction, Statement

SLOT_BYTES = 4 * 32
"""The distance from a slot of a thread to its next one: those of the lanes of a warp stand between."""
_AT_ONCE = 4
"""Words that are loaded before the first of them is stored."""

Moves = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FramedCall:
    """A call at a step of ``callee``, whose frame begins at a slot of the caller's; ``moves`` are from slot to slot."""

    step: int
    callee: str
    base: int
    moves: Moves


@dataclass(frozen=True)
class CallCode:
    """Calls from a function whose frame is at the address ``at``, with accesses in a space such as ``shared``."""

    fresh: Fresh
    at: Name
    space: str

    def before(self, call: FramedCall, parameter: str) -> Iterator[Statement]:
        yield from self._moved(call.moves)
        yield Declaration(".param", f".b32 {parameter}")
        frame = self.at
        if call.base:
            frame = self.fresh.register("b32")
            yield Instruction(opcode("add.u32"), (frame, self.at, Immediate(str(call.base * SLOT_BYTES))))
        yield Instruction(opcode("st.param.b32"), (Address(Name(parameter)), frame))

    def call(self, instruction: Instruction, call: FramedCall, parameter: str) -> Instruction:
        """The call with one parameter more: ``call (out), f, (in);`` has the last two, or only the callee."""
        results = instruction.operands[: isinstance(instruction.operands[0], Arguments)]
        given = instruction.operands[len(results) + 1 :]
        passed = given[0].items if given and isinstance(given[0], Arguments) else ()
        operands = (*results, Name(call.callee), Arguments((*passed, Name(parameter))))
        return Instruction(instruction.opcode, operands, instruction.guard)

    def behind(self, call: FramedCall) -> Iterator[Statement]:
        yield from self._moved(tuple((to, of) for of, to in call.moves))

    def _moved(self, moves: Moves) -> Iterator[Statement]:
        for first in range(0, len(moves), _AT_ONCE):
            some = [(*move, self.fresh.register("b32")) for move in moves[first : first + _AT_ONCE]]
            for of, _, word in some:
                yield Instruction(opcode(f"ld.{self.space}.b32"), (word, self._place(of)))
            for _, to, word in some:
                yield Instruction(opcode(f"st.{self.space}.b32"), (self._place(to), word))

    def _place(self, slot: int) -> Address:
        return Address(self.at, slot * SLOT_BYTES)
