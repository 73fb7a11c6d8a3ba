"""Static single assignment: every definition is a value of its own, phis merge values where ways meet.

In: a :class:`Cfg`, its dominators, frontiers and liveness.  Out: an :class:`Ssa`, pruned (no phi whose value nobody
reads); the steps stay as they are, values are told beside them::

    ssa = ssa_of(cfg, tree, frontiers, liveness)
    ssa.defines[3], ssa.uses[3]      # ((41,), (12, 7)): values, in the order of the registers of step 3
    ssa.phis[2]                      # (Phi(value=40, register=5, arguments=(12, 41)),), as the predecessors of block 2
    ssa.previous[3]                  # under a guard: the values that stay where the step does nothing

Values 0 to the number of registers are what registers hold at the entry: undefined, but for parameters in registers.
Parameters and results in registers, and registers that are vectors, are ``fixed``: not renamed, all their uses and
definitions are the entry's value, of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeGuard

from comprehensive.ptx.analysis.cfg import Block, Cfg
from comprehensive.ptx.analysis.dominators import Tree
from comprehensive.ptx.analysis.liveness import Liveness, numbers_in
from comprehensive.ptx.module import Function
from comprehensive.ptx.statements import Declaration, Statement

NONE = -1
"""No value, no step."""


class Value(NamedTuple):
    """A value of a register.

    Defined by ``step``, or by a phi of ``block`` or at the entry (then ``step`` is -1).
    """

    register: int
    block: int
    step: int = NONE
    is_phi: bool = False


class Phi(NamedTuple):
    """A phi: ``arguments`` are as the predecessors of the block; -1 for one that cannot be reached."""

    value: int
    register: int
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Ssa:
    """A function in SSA form.

    ``uses``, ``defines``, ``previous`` and ``guards`` are by step, ``phis`` by block.
    """

    cfg: Cfg
    values: tuple[Value, ...]
    uses: tuple[tuple[int, ...], ...]
    defines: tuple[tuple[int, ...], ...]
    guards: tuple[int, ...]
    previous: tuple[tuple[int, ...], ...]
    phis: tuple[tuple[Phi, ...], ...]
    fixed: frozenset[int]

    def is_entry(self, value: int) -> bool:
        """Return whether a value is what a register holds at the entry."""
        return value < len(self.cfg.flow.registers)

    def inputs(self, step: int) -> tuple[int, ...]:
        """All values that decide what the step defines: uses, the guard, and what stays without it."""
        guard = self.guards[step]
        return self.uses[step] if guard == NONE else (*self.uses[step], guard, *self.previous[step])

    @cached_property
    def phi_of(self) -> dict[int, Phi]:
        """The phis by their value."""
        return {phi.value: phi for phis in self.phis for phi in phis}

    @cached_property
    def merged(self) -> Mapping[int, Sequence[int]]:
        """The values of the phis that merge each value."""
        found: dict[int, list[int]] = {}
        for phi in self.phi_of.values():
            for argument in phi.arguments:
                found.setdefault(argument, []).append(phi.value)
        return found

    @cached_property
    def readers(self) -> tuple[tuple[int, ...], ...]:
        """The steps that read each value.

        Guards and values that stay count as read; phis are not steps.
        """
        found: list[list[int]] = [[] for _ in self.values]
        for step in range(len(self.uses)):
            for value in dict.fromkeys(self.inputs(step)):
                found[value].append(step)
        return tuple(map(tuple, found))


def ssa_of(cfg: Cfg, tree: Tree, frontiers: Sequence[Sequence[int]], liveness: Liveness) -> Ssa:
    """Pruned SSA form (Cytron et al. 1991), phis where liveness says that somebody reads.

    >>> ssa_of(cfg, tree, frontiers, liveness).phis[3]    # doctest: +SKIP
    (Phi(value=17, register=2, arguments=(14, 16)),)
    """
    function = cfg.flow.function
    names = cfg.flow.names
    in_registers = (p.name for p in (*function.parameters, *function.returns) if p.is_register)
    vectors = vector_registers(function)
    fixed = frozenset(
        (
            *(names[name] for name in in_registers if name in names),
            *(register.number for register in cfg.flow.registers if register.name in vectors),
        )
    )
    renaming = _Renaming(cfg, fixed, _phi_registers(cfg, frontiers, liveness, fixed))
    renaming.run(tree)
    return renaming.finished()


def vector_registers(function: Function) -> frozenset[str]:
    """Names of registers such as ``.reg .v4 .f32 v``, whose parts are defined one by one."""
    found: set[str] = set()
    for statement in function.body:
        if is_vector_declaration(statement):
            found.update(_NAME.findall(statement.text))
    return frozenset(found)


def is_vector_declaration(statement: Statement) -> TypeGuard[Declaration]:
    return (
        isinstance(statement, Declaration)
        and statement.kind == ".reg"
        and re.match(r"\.v[248]\b", statement.text) is not None
    )


_NAME = re.compile(r"(?<![.\w%$])[A-Za-z_$%][\w$]*")


def _phi_registers(
    cfg: Cfg, frontiers: Sequence[Sequence[int]], liveness: Liveness, fixed: frozenset[int]
) -> list[list[int]]:
    """Return for every block the registers that need a phi."""
    found: list[list[int]] = [[] for _ in cfg.blocks]
    wanted = 0
    for number in cfg.order:
        if len(cfg.blocks[number].predecessors) > 1:
            wanted |= liveness.live_in[number]
    defining: dict[int, list[int]] = {r: [] for r in numbers_in(wanted) if r not in fixed}
    for number in cfg.order:
        for step in cfg.blocks[number].steps:
            for register in cfg.flow.steps[step].defines:
                blocks = defining.get(register)
                if blocks is not None and (not blocks or blocks[-1] != number):
                    blocks.append(number)
    for register, blocks in defining.items():
        placed: set[int] = set()
        work = list(blocks)
        while work:
            for join in frontiers[work.pop()]:
                if join not in placed and liveness.live_in[join] >> register & 1:
                    placed.add(join)
                    found[join].append(register)
                    work.append(join)
    return found


class _Renaming:
    """Walks down the dominator tree with the value that each register holds."""

    def __init__(self, cfg: Cfg, fixed: frozenset[int], phi_registers: list[list[int]]) -> None:
        self._cfg = cfg
        self._fixed = fixed
        count = len(cfg.flow.steps)
        self._values = [Value(register.number, 0) for register in cfg.flow.registers]
        self._current = list(range(len(self._values)))
        self._uses: list[tuple[int, ...]] = [()] * count
        self._defines: list[tuple[int, ...]] = [()] * count
        self._guards = [NONE] * count
        self._previous: list[tuple[int, ...]] = [()] * count
        self._phi_values: list[list[int]] = []
        for block, registers in enumerate(phi_registers):
            self._phi_values.append([self._new(Value(r, block, NONE, True)) for r in registers])
        self._arguments = [
            [[NONE] * len(block.predecessors) for _ in self._phi_values[block.number]] for block in cfg.blocks
        ]

    def run(self, tree: Tree) -> None:
        """Undo entries bring back what registers held before a subtree."""
        work: list[int | list[tuple[int, int]]] = [0]
        while work:
            entry = work.pop()
            if isinstance(entry, list):
                for register, value in reversed(entry):
                    self._current[register] = value
                continue
            work.append(self._block(self._cfg.blocks[entry]))
            work.extend(reversed(tree.children[entry]))
        for number in self._cfg.unreachable:
            for register, value in reversed(self._block(self._cfg.blocks[number], reached=False)):
                self._current[register] = value

    def finished(self) -> Ssa:
        phis = tuple(
            tuple(
                Phi(value, self._values[value].register, tuple(arguments))
                for value, arguments in zip(values, self._arguments[block], strict=True)
            )
            for block, values in enumerate(self._phi_values)
        )
        return Ssa(
            self._cfg,
            tuple(self._values),
            tuple(self._uses),
            tuple(self._defines),
            tuple(self._guards),
            tuple(self._previous),
            phis,
            self._fixed,
        )

    def _block(self, block: Block, reached: bool = True) -> list[tuple[int, int]]:
        current, undo, number = self._current, list[tuple[int, int]](), block.number
        for value in self._phi_values[number]:
            register = self._values[value].register
            undo.append((register, current[register]))
            current[register] = value
        steps = self._cfg.flow.steps
        for index in block.steps:
            step = steps[index]
            self._uses[index] = tuple([current[register] for register in step.uses])
            if step.guard is not None:
                self._guards[index] = current[step.guard]
                self._previous[index] = tuple([current[register] for register in step.defines])
            if step.defines:
                self._defines[index] = tuple([self._define(r, number, index, undo) for r in step.defines])
        if reached:
            for successor in block.successors:
                values = self._phi_values[successor]
                if values:
                    place = self._cfg.blocks[successor].predecessors.index(number)
                    for value, arguments in zip(values, self._arguments[successor], strict=True):
                        arguments[place] = current[self._values[value].register]
        return undo

    def _define(self, register: int, block: int, step: int, undo: list[tuple[int, int]]) -> int:
        if register in self._fixed:
            return register
        undo.append((register, self._current[register]))
        value = self._new(Value(register, block, step))
        self._current[register] = value
        return value

    def _new(self, value: Value) -> int:
        self._values.append(value)
        return len(self._values) - 1
