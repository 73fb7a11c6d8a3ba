"""Definitions that nobody reads.

    add.s32 %r1, %r2, 4;  -->  (nothing)      # %r1 is not read behind it, or only by what goes as well

Strong liveness: a register is live where an instruction that stays may read it.  Stores, atomics, barriers, calls,
volatile loads and branches stay, and what they read.  A definition with a guard goes as others do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from comprehensive.closure import settled
from comprehensive.ptx.analysis.cfg import Block, Cfg, cfg_of
from comprehensive.ptx.analysis.liveness import results_of
from comprehensive.ptx.build import Build
from comprehensive.ptx.flow import Step, flow_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.opcodes import Opcode
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.ptx_pass import FunctionPass, shown
from comprehensive.ptx.passes.remark import Remark


@dataclass(frozen=True)
class DeadCodeElimination(FunctionPass):
    name = "dce"
    summary = "definitions that nobody reads: add.s32 %r1, %r2, 4; --> (nothing)"

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        flow = flow_of(function)
        dead = dead_steps(cfg_of(flow))
        if not dead:
            return None, ()
        steps = [flow.steps[number] for number in dead]
        remarks = tuple(
            self.applied(function, step.instruction, f"removed {shown(step.instruction)}") for step in steps
        )
        edits = Edits(flow)
        for number in dead:
            edits.replace(number, ())
        return function.with_body(edits.made()), remarks


def dead_steps(cfg: Cfg) -> tuple[int, ...]:
    """Numbers of the steps whose results nobody needs, in order."""
    live_in = _strong_liveness(cfg)
    dead: list[int] = []
    for block in cfg.blocks:
        if block.number not in cfg.reachable:
            continue
        live = _live_out(cfg, block, live_in)
        for number in reversed(block.steps):
            step = cfg.flow.steps[number]
            if not _stays(cfg, step, live):
                dead.append(number)
            live = _before(cfg, step, live)
    return tuple(sorted(dead))


def _strong_liveness(cfg: Cfg) -> list[int]:
    """Masks of registers at the beginning of blocks; the bit behind the last register is the carry."""
    live_in = [0] * len(cfg.blocks)

    def change(number: int) -> bool:
        block = cfg.blocks[number]
        was, live = live_in[number], _live_out(cfg, block, live_in)
        for step in reversed(block.steps):
            live = _before(cfg, cfg.flow.steps[step], live)
        live_in[number] = live
        return live != was

    settled(cfg.order[::-1], change)
    return live_in


def _live_out(cfg: Cfg, block: Block, live_in: Sequence[int]) -> int:
    live = results_of(cfg) if block.leaves else 0
    for successor in block.successors:
        live |= live_in[successor]
    return live


def _before(cfg: Cfg, step: Step, live: int) -> int:
    if not _stays(cfg, step, live):
        return live
    opcode = step.instruction.opcode
    carry = 1 << len(cfg.flow.registers)
    if step.guard is None:
        live &= ~(_mask(step.defines) | (carry if opcode.writes_carry else 0))
    return live | _mask(step.reads) | (carry if opcode.reads_carry else 0)


def _stays(cfg: Cfg, step: Step, live: int) -> bool:
    opcode = step.instruction.opcode
    if has_effect(opcode) or not (step.defines or opcode.writes_carry):
        return True
    carry = 1 << len(cfg.flow.registers) if opcode.writes_carry else 0
    return bool(live & (_mask(step.defines) | carry))


def has_effect(opcode: Opcode) -> bool:
    """Whether an instruction does more than give its destinations a value."""
    return opcode.has_side_effects or opcode.is_volatile or opcode.is_convergent or opcode.is_terminator


def _mask(registers: Iterable[int]) -> int:
    mask = 0
    for register in registers:
        mask |= 1 << register
    return mask
