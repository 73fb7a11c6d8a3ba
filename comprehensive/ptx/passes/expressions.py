"""The computations of a function that are the same expression, and the places where one changes.

    found = expressions_of(cfg, may_write)
    found.expressions[0].key        # ("add.s32", (Name("%r1"), Immediate("4")))
    found.expressions[0].steps      # (3, 17): the steps that compute it

Same opcode, same operands.  What is free for ptxas is none: moves, conversions of addresses, loads of parameters unless
they are asked for; nor what stands in a scope of inline assembly, has a guard, an effect, or more than one result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.analysis.liveness import numbers_in
from comprehensive.ptx.flow import Flow, Step
from comprehensive.ptx.opcodes import Effect, Opcode
from comprehensive.ptx.operands import Name, Operand
from comprehensive.ptx.passes.code_motion import Local
from comprehensive.ptx.passes.dce import has_effect
from comprehensive.ptx.passes.pragmas import has_pragma
from comprehensive.ptx.statements import Close, Open, Statement

Key: TypeAlias = tuple[str, tuple[Operand, ...]]
MayWrite: TypeAlias = Callable[[int, int], bool]
"""Whether one step may write what another one, a load, reads."""

# What ptxas makes no instruction of, or one that is not worth a register.
_FREE = frozenset({"mov", "cvta", "setp", "selp", "isspacep"})


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that steps compute.

    ``reads`` are registers that it is made of; ``steps`` compute it, in the order of the text.
    """

    number: int
    key: Key
    reads: frozenset[int]
    steps: tuple[int, ...]
    is_load: bool


@dataclass(frozen=True)
class Expressions:
    """The expressions of a function: ``number_of`` gives the one that a step computes.

    ``repeated`` are the steps whose block has computed it before, with nothing changed.
    """

    expressions: tuple[Expression, ...]
    number_of: dict[int, int]
    local: Local
    repeated: tuple[int, ...]


def expressions_of(cfg: Cfg, may_write: MayWrite, *, parameters: bool = False) -> Expressions:
    """Return the expressions of a function.

    ``parameters`` says that loads of a kernel's parameters, which never change, are among them.
    """
    flow = cfg.flow
    depths = scope_depths(flow.function.body)
    shadowed = _shadowed(flow)
    steps: dict[Key, list[int]] = defaultdict(list)
    for block in cfg.order:
        for number in cfg.blocks[block].steps:
            step = flow.steps[number]
            if depths[step.position] == 0 and _is_candidate(flow, step, shadowed, parameters):
                steps[step.instruction.opcode.text, step.instruction.operands[1:]].append(number)
    found = tuple(
        Expression(
            index,
            key,
            frozenset(flow.steps[numbers[0]].uses),
            tuple(sorted(numbers)),
            is_plain_load(flow.steps[numbers[0]].instruction.opcode),
        )
        for index, (key, numbers) in enumerate(steps.items())
    )
    number_of = {step: each.number for each in found for step in each.steps}
    local, repeated = _local(cfg, found, number_of, may_write)
    return Expressions(found, number_of, local, repeated)


def scope_depths(body: Sequence[Statement]) -> list[int]:
    """Return for every statement in how many scopes within the function's it stands."""
    depth = 0
    depths: list[int] = []
    for statement in body:
        depth += isinstance(statement, Open)
        depths.append(depth)
        depth -= isinstance(statement, Close)
    return depths


def _shadowed(flow: Flow) -> frozenset[str]:
    """Names that stand for different registers at different places."""
    return frozenset(register.name for register in flow.registers if register.scope != 0)


def _is_candidate(flow: Flow, step: Step, shadowed: frozenset[str], parameters: bool) -> bool:
    instruction = step.instruction
    opcode, operands = instruction.opcode, instruction.operands
    if opcode.base in _FREE or has_effect(opcode) or opcode.reads_carry or opcode.writes_carry:
        return False
    if instruction.guard is not None or len(step.defines) != 1 or len(operands) < 2:
        return False
    if not isinstance(operands[0], Name) or has_pragma(flow.function.body, step.position):
        return False
    if opcode.effect and not is_plain_load(opcode) and not (parameters and _is_parameter(flow, opcode)):
        return False
    names = {flow.registers[number].name for number in (*step.defines, *step.uses)}
    return names.isdisjoint(shadowed) and not any(name.startswith("%") for name in step.symbols)


def _is_parameter(flow: Flow, opcode: Opcode) -> bool:
    return flow.function.is_kernel and opcode.base == "ld" and opcode.space == "param"


def is_plain_load(opcode: Opcode) -> bool:
    """A load of memory that may be done earlier, or once instead of twice, where nothing writes between."""
    return (
        opcode.base == "ld"
        and opcode.effect == Effect.READ
        and not opcode.is_volatile
        and opcode.space != "param"
    )


def _local(
    cfg: Cfg, found: Sequence[Expression], number_of: dict[int, int], may_write: MayWrite
) -> tuple[Local, tuple[int, ...]]:
    every = (1 << len(found)) - 1
    made_of: dict[int, int] = defaultdict(int)
    for each in found:
        for register in each.reads:
            made_of[register] |= 1 << each.number
    loads = sum(1 << each.number for each in found if each.is_load)
    first, last, transparent = ([0] * len(cfg.blocks) for _ in range(3))
    repeated: list[int] = []
    for number in cfg.order:
        untouched, available, computed = every, 0, 0
        for step_number in cfg.blocks[number].steps:
            step = cfg.flow.steps[step_number]
            own = number_of.get(step_number)
            if own is not None:
                if available >> own & 1:
                    repeated.append(step_number)
                if untouched >> own & 1:
                    computed |= 1 << own
                available |= 1 << own
            killed = 0
            for register in step.defines:
                killed |= made_of.get(register, 0)
            # What has changed already need not be asked.
            asked = (untouched | available) & ~killed & loads
            if asked and _may_kill_loads(cfg.flow.steps[step_number].instruction.opcode):
                for load in numbers_in(asked):
                    # What is the same text may be another address elsewhere.
                    if any(may_write(step_number, other) for other in found[load].steps):
                        killed |= 1 << load
            untouched &= ~killed
            available &= ~killed
        first[number], last[number], transparent[number] = computed, available, untouched
    return Local(len(found), first, last, transparent, loads), tuple(repeated)


def _may_kill_loads(opcode: Opcode) -> bool:
    return opcode.effect not in (Effect.NONE, Effect.READ) or opcode.is_volatile
