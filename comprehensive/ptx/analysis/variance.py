"""The values that are the same in all threads (Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.2).

In: an :class:`Ssa` with post-dominators, loops and memory spaces.  Out: a :class:`Variance`::

    variance = variance_of(ssa, tree, dependence, loops, spaces)
    variance.values[41]       # Level.WARP: the threads of one warp that are there have the same value
    variance.branches[2]      # Level.LANE: threads may go different ways at the end of block 2

What is compared is one visit of a statement: the same iteration of every loop around it.  Levels grow along data
(operands, guards, what a guard leaves) and control: a phi is as variant as the branches that choose the way to it, and
a value that is read outside its loop as the branches that leave the loop.  All begin uniform (optimistic).

LANE are: undefined registers, parameters of functions that are no kernels, results of calls, atomics, shuffles, what
is loaded without a known memory or volatile, and all results of opcodes that are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from comprehensive.closure import reached
from comprehensive.ptx.analysis.dominators import Tree
from comprehensive.ptx.analysis.loops import NO_LOOP, Loops
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.spaces import Spaces
from comprehensive.ptx.analysis.ssa import NONE, Phi, Ssa
from comprehensive.ptx.opcodes import Effect, Opcode
from comprehensive.ptx.special_registers import special_register


class Level(IntEnum):
    """The largest group of threads in which a value is surely the same; greater is more variant."""

    GRID = 0
    BLOCK = 1
    WARP = 2
    LANE = 3


_SPECIAL = {
    "grid": Level.GRID,
    "block": Level.BLOCK,
    "warp": Level.WARP,
    "lane": Level.LANE,
    "time": Level.LANE,
}
_LANES = frozenset(
    {
        "activemask",
        "elect",
        "shfl",
        "match",
        "mma",
        "wmma",
        "wgmma",
        "ldmatrix",
        "movmatrix",
        "alloca",
        "call",
    }
)
"""Lanes get results of their own whatever the operands are."""
_MADE_ONE = frozenset({"vote", "redux"})
"""All lanes get one result of different operands."""
_LEVEL_OF_MEMORY = {
    Space.PARAM: Level.GRID,
    Space.CONST: Level.GRID,
    Space.GLOBAL: Level.WARP,
    Space.SHARED: Level.WARP,
}


@dataclass(frozen=True)
class Variance:
    """The levels at which values vary: ``values`` by value, ``branches`` by block, ``steps`` by step.

    A branch has the level of the choice where it goes on, a step the greatest of what it reads, guard
    included.
    """

    values: tuple[Level, ...]
    branches: tuple[Level, ...]
    steps: tuple[Level, ...]

    def is_uniform(self, value: int) -> bool:
        """Return whether the value is the same in all threads of a warp."""
        return self.values[value] <= Level.WARP


def variance_of(
    ssa: Ssa, tree: Tree, dependence: Sequence[Sequence[int]], loops: Loops, spaces: Spaces
) -> Variance:
    """Return how values differ between threads; ``dependence`` is from :func:`control_dependence_of`.

    >>> variance_of(ssa, tree, dependence, loops, spaces).values[41]    # doctest: +SKIP
    <Level.BLOCK: 1>
    """
    found = _Levels(ssa, tree, dependence, loops, spaces).values()
    branches = tuple(_branch(ssa, found, block.number) for block in ssa.cfg.blocks)
    steps = tuple(max((found[v] for v in ssa.inputs(n)), default=Level.GRID) for n in range(len(ssa.uses)))
    return Variance(tuple(found), branches, steps)


def _branch(ssa: Ssa, levels: Sequence[Level], number: int) -> Level:
    block = ssa.cfg.blocks[number]
    last = ssa.cfg.terminator(block)
    if last is None or not block.is_fork:
        return Level.GRID
    return max((levels[value] for value in ssa.inputs(block.end - 1)), default=Level.GRID)


class _Levels:
    def __init__(
        self, ssa: Ssa, tree: Tree, dependence: Sequence[Sequence[int]], loops: Loops, spaces: Spaces
    ) -> None:
        self._ssa = ssa
        self._tree = tree
        self._dependence = dependence
        self._loops = loops
        self._spaces = spaces
        self._found = [Level.GRID] * len(ssa.values)
        self._kernel_parameters = ssa.cfg.flow.function.kernel_parameters.keys()
        self._work: list[int] = []
        self._groups_of: dict[int, list[_Group]] = {}
        self._own = [self._own_level(n) if d else Level.GRID for n, d in enumerate(ssa.defines)]

    def values(self) -> list[Level]:
        ssa = self._ssa
        self._group()
        for value in range(len(ssa.cfg.flow.registers)):
            self._raise(value, Level.LANE)
        for number in range(len(ssa.defines)):
            self._step(number)
        while self._work:
            value = self._work.pop()
            level = self._found[value]
            for phi_value in ssa.merged.get(value, ()):
                self._raise(phi_value, level)
            for number in ssa.readers[value]:
                self._step(number)
                block = ssa.cfg.block_of[number]
                if number == ssa.cfg.blocks[block].end - 1:
                    for group in self._groups_of.get(block, ()):
                        group.raise_to(level, self._raise)
        return self._found

    def _raise(self, value: int, level: Level) -> None:
        if level > self._found[value]:
            self._found[value] = level
            self._work.append(value)

    def _step(self, number: int) -> None:
        defines = self._ssa.defines[number]
        if all(self._found[value] is Level.LANE for value in defines):
            return
        level = self._own[number]
        if level is not Level.LANE and not self._is_made_one(number):
            for value in self._ssa.inputs(number):
                found = self._found[value]
                if found > level:
                    level = found
        for value in defines:
            self._raise(value, level)

    def _is_made_one(self, number: int) -> bool:
        """A vote of lanes; which lanes vote must be the same for all."""
        ssa = self._ssa
        code = ssa.cfg.flow.steps[number].instruction.opcode
        if code.base not in _MADE_ONE or ssa.guards[number] != NONE or "sync" not in code.modifiers:
            return False
        operands = ssa.cfg.flow.steps[number].instruction.operands
        return code.accepts(len(operands)) and not operands[-1].names

    def _own_level(self, number: int) -> Level:
        """Return the level that the instruction of a step gives its results, whatever its operands are."""
        step = self._ssa.cfg.flow.steps[number]
        code = step.instruction.opcode
        if code.base in _LANES or not code.is_known or code.is_volatile or code.reads_carry:
            return Level.LANE
        if code.base in _MADE_ONE:
            return Level.WARP
        if code.base == "ld":
            return self._loaded(number, code, step.symbols)
        if code.effect != Effect.NONE or code.has_side_effects or code.is_convergent:
            return Level.LANE
        level = Level.BLOCK if code.base in ("cvta", "mapa") else Level.GRID
        for name in step.symbols:
            special = special_register(name)
            if special is not None:
                level = max(level, _SPECIAL.get(special.varies, Level.LANE))
            elif name.startswith("%") or "." in name:
                level = Level.LANE
        return level

    def _loaded(self, number: int, code: Opcode, symbols: Sequence[str]) -> Level:
        """Private memory is LANE whatever its address; in a warp a weak load sees the same, if there is no race."""
        space = self._spaces.access(number)
        if space is Space.PARAM and not (symbols and self._kernel_parameters >= set(symbols)):
            return Level.LANE
        if space is Space.GLOBAL and "nc" in code.modifiers:
            return Level.GRID
        return _LEVEL_OF_MEMORY.get(space, Level.LANE)

    def _add(self, forks: Iterable[int], values: Iterable[int]) -> None:
        group = _Group(list(values))
        for fork in forks:
            self._groups_of.setdefault(fork, []).append(group)

    def _group(self) -> None:
        """Group under every branch the values that vary, by control, as its condition does."""
        ssa = self._ssa
        forks = {b.number for b in ssa.cfg.blocks if b.is_fork}
        if self._loops.irregular:
            # In cycles with several entries it is not known what one visit is.
            self._add(sorted(forks), range(len(ssa.values)))
            return
        for block, phis in enumerate(ssa.phis):
            deciding: dict[tuple[int, ...], set[int]] = {}
            for phi in phis:
                for into in self._choices(phi, block):
                    if into not in deciding:
                        deciding[into] = self._deciding(block, into) & forks
                    self._add(sorted(deciding[into]), (phi.value,))
        self._temporal()

    def _choices(self, phi: Phi, block: int) -> Iterator[tuple[int, ...]]:
        """Predecessors among which a way is chosen. At a loop's header the first visit and the later ones are told
        apart by the iteration."""
        into = self._ssa.cfg.blocks[block].predecessors
        loop = self._loops.headers.get(block)
        pairs = [(p, a) for p, a in zip(into, phi.arguments, strict=True) if a != NONE]
        sides = [pairs]
        if loop is not None:
            sides = [[x for x in pairs if (x[0] in loop.blocks) == back] for back in (False, True)]
        for side in sides:
            if len({argument for _, argument in side}) > 1:
                yield tuple(p for p, _ in side)

    def _deciding(self, block: int, into: tuple[int, ...]) -> set[int]:
        """Blocks that these depend on by control, through others, on ways from the block's dominator."""
        is_header = block in self._loops.headers
        region = None if is_header else self._region(into, self._tree.parent[block])
        if region is None:
            return set(reached(into, self._dependence.__getitem__))
        return set(reached(into, lambda block: region.intersection(self._dependence[block])))

    def _region(self, into: tuple[int, ...], top: int) -> set[int]:
        """Blocks on ways from ``top`` to these that do not pass it again."""
        blocks = self._ssa.cfg.blocks
        return {top, *reached(into, lambda block: () if block == top else blocks[block].predecessors)}

    def _temporal(self) -> None:
        """Values that are read outside a loop vary as the branches by which threads leave it."""
        ssa, loops = self._ssa, self._loops
        on_edges: dict[int, list[int]] = {}
        for block, phis in enumerate(ssa.phis):
            for phi in phis:
                for source, argument in zip(ssa.cfg.blocks[block].predecessors, phi.arguments, strict=True):
                    on_edges.setdefault(argument, []).extend((source, block))
        carried: list[list[int]] = [[] for _ in loops.loops]
        for value, definition in enumerate(ssa.values):
            if ssa.is_entry(value) or loops.innermost[definition.block] == NO_LOOP:
                continue
            read = {ssa.cfg.block_of[step] for step in ssa.readers[value]}
            read.update(on_edges.get(value, ()))
            for loop in loops.around(definition.block):
                if read <= loop.blocks:
                    break
                carried[loop.number].append(value)
        for loop in loops.loops:
            self._add(sorted({source for source, _ in loop.exits} | set(loop.leaves)), carried[loop.number])


@dataclass(slots=True)
class _Group:
    """A group of values that rise together."""

    values: list[int]
    level: Level = Level.GRID

    def raise_to(self, level: Level, raise_: Callable[[int, Level], None]) -> None:
        if level > self.level:
            self.level = level
            for value in self.values:
                raise_(value, level)
