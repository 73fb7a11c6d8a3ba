"""Basic blocks of machine code, the edges between them, and their loops.

In: instructions of a procedure, with targets of jumps through tables.  Out: :class:`Flow`::

    flow = flow_of(instructions, jumps)
    flow.blocks[0].successors         # (1, 2): what falls through is first
    flow.loops.depth(1)               # in how many loops block 1 stands

``BSSY``, ``BSYNC`` and ``WARPSYNC`` name places at which lanes meet again: no edges.  A call of a name falls through,
and ends its block, so that a block is left at one place; a call of an address is a jump.  A jump through a table that
nvdisasm did not find goes nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.dominators import dominators_of
from comprehensive.ptx.analysis.graphs import Block, reverse_postorder, reversed_edges
from comprehensive.ptx.analysis.loops import Loops, loops_of
from comprehensive.sass.instruction import Instruction

_BRANCHES = frozenset({"BRA", "JMP"})
_TABLES = frozenset({"BRX", "BRXU", "JMX", "JMXU"})
_LEAVING = frozenset({"EXIT", "RET", "KILL"})
_CALLS = frozenset({"CALL"})
_TARGET = re.compile(r"(?:^|,)(0x[0-9a-f]+)$")


@dataclass(frozen=True)
class Flow:
    """The control flow of a procedure; block 0 is its entry."""

    instructions: tuple[Instruction, ...]
    blocks: tuple[Block, ...]
    rare_edges: frozenset[tuple[int, int]]
    """Taken only where lanes of a warp have parted (``BRA.DIV``)."""
    order: tuple[int, ...]
    """The blocks that can be reached, in reverse post-order."""

    @cached_property
    def loops(self) -> Loops:
        return loops_of(self, dominators_of(self))

    def code(self, block: Block) -> tuple[Instruction, ...]:
        return self.instructions[block.start : block.end]

    def call(self, block: Block) -> str | None:
        """The name of what is called at the end of the block."""
        last = self.instructions[block.end - 1]
        return last.operands if last.base in _CALLS and not _TARGET.search(last.operands) else None


def flow_of(instructions: Sequence[Instruction], jumps: Mapping[int, tuple[int, ...]]) -> Flow:
    """Return the blocks of a procedure; ``jumps`` are targets of jumps through tables, by address of the jump."""
    index_of = {instruction.address: index for index, instruction in enumerate(instructions)}
    targets = {
        index: tuple(index_of[t] for t in _targets(instruction, jumps) if t in index_of)
        for index, instruction in enumerate(instructions)
    }
    starts = {0} | {target for several in targets.values() for target in several}
    starts |= {index + 1 for index, instruction in enumerate(instructions) if _ends_block(instruction)}
    ordered = sorted(start for start in starts if start < len(instructions))
    block_at = {start: number for number, start in enumerate(ordered)}
    ends = [*ordered[1:], len(instructions)]
    successors: list[tuple[int, ...]] = []
    leaves: list[bool] = []
    for end in ends:
        last = instructions[end - 1]
        falls = falls_through(last.guard, last.opcode, last.operands) and end < len(instructions)
        after = [block_at[end]] if falls else []
        after += [block_at[target] for target in targets[end - 1]]
        successors.append(tuple(dict.fromkeys(after)))
        # Leaving the section, by a tail call for instance, leaves the procedure.
        leaves.append(last.base in _LEAVING or not after)
    rare = {
        (number, block_at[target])
        for number, end in enumerate(ends)
        if instructions[end - 1].opcode == "BRA.DIV"
        for target in targets[end - 1]
    }
    before = reversed_edges(successors)
    blocks = tuple(
        Block(number, start, ends[number], successors[number], tuple(before[number]), leaves[number])
        for number, start in enumerate(ordered)
    )
    return Flow(tuple(instructions), blocks, frozenset(rare), reverse_postorder(successors, 0))


def _targets(instruction: Instruction, jumps: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    if instruction.base in _TABLES:
        return jumps.get(instruction.address, ())
    # ptxas leaves loops by calls of an address, `@P1 CALL.REL.NOINC 0x4f60`, which do not come back.
    if instruction.base in _BRANCHES | _CALLS and (found := _TARGET.search(instruction.operands)):
        return (int(found[1], 16),)
    return ()


def _ends_block(instruction: Instruction) -> bool:
    return instruction.base in _BRANCHES | _TABLES | _LEAVING | _CALLS


def falls_through(guard: str, opcode: str, operands: str) -> bool:
    """Return whether the next instruction may be executed behind this one."""
    base = opcode.partition(".")[0]
    if base not in _BRANCHES | _TABLES | _LEAVING:
        return True
    # `@P0 BRA 0x40`, and `BRA !P3,0x40` or `BRA.DIV UR4,0x40` with a condition among the operands.
    return bool(guard) or (base in _BRANCHES and "," in operands)
