"""The work of a block of a leaf, from tables of its code and numbers that are known at the launch.

In: :class:`Sites`, the numbers that they point to, the shape of the launch, and the machine.  Out: a
:class:`~comprehensive.machine.cost.TileWork` and a :class:`~comprehensive.machine.cost.Launch`, which
:func:`~comprehensive.machine.cost.cost` makes cycles of::

    leaf_work(machine, sites, numbers, Shape(grid=(64, 64, 1), block=(32, 8, 1), registers=32, words=0))

An access is an affine walk: elements between neighbouring threads, between turns of each loop around it, and between
blocks.  Which lines and sectors such a walk touches follows from these distances, whatever the shape of the block, so
that any block can be looked at without going through it.  All arithmetic is on integers that saturate, as the generated
header has it (`templates/runtime/cf_runtime.h`): both rank alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.machine.cost import Launch, TileWork, resident_blocks
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.work import Work

SECTOR_BYTES = 32
LINE_BYTES = 128
LINES_TOGETHER = 2
"""Lines of global memory that the load and store unit serves in a cycle."""
LINES_A_WAIT = 128
"""The lines of global memory for which a wait is twice as long as one for the first of them."""
MOST_APART = 2
"""A sector that is asked for alone keeps the way to the second-level cache as long as so many of a line do."""
BANKS = 32
GLOBAL_INSTRUCTIONS = 3
"""The instructions of an access of global memory with its address."""
SHARED_INSTRUCTIONS = 2
ROUND = 4
"""Turns of a loop whose loads the compiler begins together, where nothing is stored between them."""
MOST_LOOPS = 8
"""The most loops around an access that are looked at, innermost first."""
MOST_DEEP = 64
"""Threads of a block along z, on every device."""
NUMBER_0 = 0
"""The position of this number among all."""
UNKNOWN = -1
"""A number in the place of a distance that data decides."""


@dataclass(frozen=True, slots=True)
class Context:
    """Code that is done as often as number ``turns`` says, for each time that context ``parent`` is done.

    ``is_loop`` tells loops from conditions, which are done once or not at all.  Instructions are those of a thread
    that compute, ``wide`` of them on doubles.
    """

    parent: int
    turns: int
    is_loop: bool
    instructions: int
    wide: int


@dataclass(frozen=True, slots=True)
class Region:
    """Code of a context in which the compiler can move loads together, so that they are waited for once.

    Turns of the context wait together in rounds of so many; ``depth`` instructions wait for each other.
    """

    context: int
    round: int
    depth: int
    barriers: int


@dataclass(frozen=True, slots=True)
class Access:
    """Reads or writes of elements of an array: the same walk from each of some ``origins``.

    Distances are positions of numbers, in elements: ``threads`` along x, y, z; ``loops`` for each context that is a
    loop, innermost first; ``grid`` for blocks.  So many threads along each axis take part as ``extents`` say.
    """

    context: int
    region: int
    array: int
    bytes: int
    stores: bool
    is_shared: bool
    threads: tuple[int, int, int]
    extents: tuple[int, int, int]
    loops: tuple[tuple[int, int], ...]
    grid: tuple[int, int, int]
    origins: tuple[int, ...]

    @property
    def is_known(self) -> bool:
        return UNKNOWN not in self.threads


@dataclass(frozen=True, slots=True)
class Sites:
    """Contexts stand after those around them; the first one is the whole kernel."""

    contexts: tuple[Context, ...]
    regions: tuple[Region, ...]
    accesses: tuple[Access, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """Extents of the grid and of a block, x first, and what a block takes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    words: int


def leaf_work(
    machine: Mapping[str, int], sites: Sites, numbers: Sequence[int], shape: Shape
) -> tuple[TileWork, Launch]:
    """Return the work of a block in the middle of the grid, and its launch."""
    return _Block(machine, sites, numbers, shape).work()


class _Block:
    def __init__(
        self, machine: Mapping[str, int], sites: Sites, numbers: Sequence[int], shape: Shape
    ) -> None:
        self.sites, self.numbers, self.shape = sites, numbers, shape
        self.threads = _product(shape.block)
        self.warps = -(-self.threads // WARP_THREADS)
        empty = TileWork(
            Work(), Work(), Work(), Work(), Work(), Work(), self.threads, shape.registers, shape.words, 0
        )
        self.blocks = _product(shape.grid)
        busiest = -(-self.blocks // machine["multiprocessors"])
        self.resident = max(1, min(resident_blocks(machine, empty), busiest))
        # First-level cache and shared memory are one; a ninth of it is never shared memory.
        room = machine["Z_SM"] + machine["Z_SM"] // 8
        self.cache = WORD_BYTES * max(0, room - _times(self.resident, shape.words))
        self.runs: list[int] = []
        for context in sites.contexts:
            around = 1 if context.parent < 0 else self.runs[context.parent]
            self.runs.append(_times(around, self.number(context.turns)))
        self.keeps = [c.is_loop and self._keeps(position) for position, c in enumerate(sites.contexts)]

    def number(self, position: int) -> int:
        return min(SATURATED, max(0, self.numbers[position]))

    def distance(self, access: Access, position: int) -> int:
        return min(SATURATED, abs(self.numbers[position]) * access.bytes)

    def work(self) -> tuple[TileWork, Launch]:
        instructions = wide = wavefronts = bytes_ = 0
        for runs, context in zip(self.runs, self.sites.contexts, strict=True):
            warps = _times(runs, self.warps)
            instructions = _add(instructions, _times(warps, context.instructions))
            wide = _add(wide, _times(warps, context.wide))
        for access in self.sites.accesses:
            runs = _times(self.runs[access.context], len(access.origins))
            warps = _times(runs, self._warps(access))
            each = SHARED_INSTRUCTIONS if access.is_shared else GLOBAL_INSTRUCTIONS
            instructions = _add(instructions, _times(warps, each))
            wavefronts = _add(wavefronts, _times(warps, self._wavefronts(access)))
            if not access.is_shared:
                bytes_ = _add(bytes_, self._traffic(access))
        waits, shared_waits, barriers, depth = self._waits()
        work = Work(instructions, wide, wavefronts, bytes_, waits, shared_waits, barriers, depth)
        return (
            TileWork(
                work,
                Work(),
                Work(),
                Work(),
                work,
                Work(),
                self.threads,
                self.shape.registers,
                self.shape.words,
                0,
            ),
            Launch(self.blocks, 0, 0, 0, False, self._data()),
        )

    # --- a warp

    def _lanes(self, access: Access) -> tuple[int, int, int]:
        """Threads of a warp along each axis."""
        x, y, _ = self.shape.block
        extents = (WARP_THREADS, -(-WARP_THREADS // x), -(-WARP_THREADS // _times(x, y)))
        x, y, z = (min(most, self._extent(access, axis)) for axis, most in enumerate(extents))
        return x, y, z

    def _extent(self, access: Access, axis: int) -> int:
        return max(1, min(self.shape.block[axis], self.number(access.extents[axis])))

    def _warps(self, access: Access) -> int:
        """Return the number of warps that take part in an access."""
        lanes = self._lanes(access)
        taking = _product([-(-self._extent(access, axis) // lanes[axis]) for axis in range(3)])
        return min(self.warps, taking)

    def _wavefronts(self, access: Access) -> int:
        """Return the wavefronts that an access of one warp takes."""
        lanes = self._lanes(access)
        together = max(1, access.bytes // WORD_BYTES)
        if not access.is_known:
            if access.is_shared:
                return min(WARP_THREADS // together, _product(lanes)) * together
            return -(-min(WARP_THREADS, _product(lanes)) // LINES_TOGETHER)
        distances = [self.distance(access, position) for position in access.threads]
        if not access.is_shared:
            lines = _units(list(zip(distances, lanes, strict=True)), access.bytes, LINE_BYTES)
            return -(-lines // LINES_TOGETHER)
        return _conflicts(distances, lanes, WARP_THREADS // together) * together

    # --- what a block touches

    def _walk(self, access: Access) -> list[tuple[int, int]]:
        return [
            (self.distance(access, position) if access.is_known else 0, self._extent(access, axis))
            for axis, position in enumerate(access.threads)
        ]

    def _touched(self, access: Access, steps: Sequence[tuple[int, int]], unit: int) -> int:
        """Lines or sectors of the walk with these steps, from all origins."""
        if not access.is_known:
            return _product([n for _, n in steps])
        origins = [self.numbers[position] for position in access.origins]
        apart = min(SATURATED, (max(origins) - min(origins)) * access.bytes)
        return _units(_widened(steps, apart), access.bytes, unit)

    def _keeps(self, position: int) -> bool:
        """Whether what all resident blocks touch in a turn of a loop stays in the first-level cache."""
        lines = 0
        for access in self.sites.accesses:
            inner = _inner(access, position)
            if inner is None or access.is_shared:
                continue
            steps = self._walk(access)
            steps += [
                (self.distance(access, step), self.number(self.sites.contexts[c].turns)) for c, step in inner
            ]
            lines = _add(lines, self._touched(access, steps, LINE_BYTES))
        return _times(_times(lines, LINE_BYTES), self.resident) <= self.cache

    def _traffic(self, access: Access) -> int:
        """Bytes that a block reads or writes; those of a loop that the cache keeps count once."""
        steps, again = self._walk(access), self.runs[access.context]
        for context, step in access.loops:
            if not self.keeps[context]:
                break
            turns = self.number(self.sites.contexts[context].turns)
            steps.append((self.distance(access, step), turns))
            again = again // turns if turns else 0
        return _times(
            again, _times(self._touched(access, steps, SECTOR_BYTES), self._bytes_of_sector(access))
        )

    def _bytes_of_sector(self, access: Access) -> int:
        """Bytes that a sector counts for: more where the threads of a block ask for less than lines."""
        walk = self._walk(access)
        sectors, lines = (max(1, self._touched(access, walk, unit)) for unit in (SECTOR_BYTES, LINE_BYTES))
        return (
            _times(SECTOR_BYTES, min(_times(MOST_APART, sectors), _times(LINE_BYTES // SECTOR_BYTES, lines)))
            // sectors
        )

    def _waits(self) -> tuple[int, int, int, int]:
        waits = shared_waits = barriers = depth = 0
        for position, region in enumerate(self.sites.regions):
            context = self.sites.contexts[region.context]
            runs = self.runs[region.context]
            turns = max(1, self.number(context.turns)) if context.is_loop else 1
            rounds = -(-turns // region.round)
            reads = [a for a in self.sites.accesses if a.region == position and not a.stores]
            missed = [self._missed(a, region.context, turns) for a in reads if not a.is_shared]
            waiting = _times(runs // turns, min(rounds, max(missed, default=0)))
            lines = 0
            for access in reads:
                lines = _add(
                    lines, 0 if access.is_shared else self._touched(access, self._walk(access), LINE_BYTES)
                )
            waits = _add(waits, _add(waiting, _times(waiting, lines) // LINES_A_WAIT))
            if reads:
                shared_waits = _add(shared_waits, _times(runs // turns, rounds))
            barriers = _add(barriers, _times(runs, region.barriers))
            depth = _add(depth, _times(runs, region.depth))
        return waits, shared_waits, barriers, depth

    def _missed(self, access: Access, context: int, turns: int) -> int:
        """Return how many of these turns bring data which the first-level cache does not have."""
        if not self.keeps[context] or not access.is_known:
            return turns
        step = next((step for c, step in access.loops if c == context), NUMBER_0)
        walk = self._walk(access)
        once = max(1, self._touched(access, walk, SECTOR_BYTES))
        every = self._touched(access, [*walk, (self.distance(access, step), turns)], SECTOR_BYTES)
        return min(turns, -(-every // once))

    def _data(self) -> int:
        """Bytes of all data that the launch reads or writes, each once a way."""
        most: dict[tuple[int, bool], int] = {}
        for access in self.sites.accesses:
            if access.is_shared or not self.runs[access.context]:
                continue
            steps = self._walk(access)
            steps += [
                (self.distance(access, step), self.number(self.sites.contexts[c].turns))
                for c, step in access.loops
            ]
            steps += [
                (self.distance(access, step), extent)
                for step, extent in zip(access.grid, self.shape.grid, strict=True)
                if step != UNKNOWN
            ]
            way = (access.array, access.stores)
            touched = _times(SECTOR_BYTES, self._touched(access, steps, SECTOR_BYTES))
            most[way] = max(most.get(way, 0), touched)
        total = 0
        for bytes_ in most.values():
            total = _add(total, bytes_)
        return total


def _inner(access: Access, context: int) -> tuple[tuple[int, int], ...] | None:
    """The loops of the access inside of a context; None where it is not in it."""
    for place, (loop, _) in enumerate(access.loops):
        if loop == context:
            return access.loops[:place]
    return None


def _units(steps: Sequence[tuple[int, int]], width: int, unit: int) -> int:
    """Lines or sectors that a walk touches with accesses of ``width`` bytes: steps of so many bytes, so often.

    From the shortest step on: what follows closely is one stretch, what is farther away begins others.
    """
    stretches, length = 1, width
    for step, times in sorted(steps):
        if times <= 1 or step == 0:
            continue
        if step <= max(length, unit):
            length = _add(length, _times(step, times - 1))
        else:
            stretches = _times(stretches, times)
    return _times(stretches, _add(length, unit - 1) // unit)


def _widened(steps: Sequence[tuple[int, int]], apart: int) -> list[tuple[int, int]]:
    """The walk from all origins that are so many bytes apart: a few steps more, along the longest ones that fit."""
    found: list[tuple[int, int]] = []
    for step, times in sorted(steps, reverse=True):
        more = apart // step if step and times > 1 else 0
        found.append((step, _add(times, more)))
        apart -= more * step
    return found


def _conflicts(distances: Sequence[int], lanes: Sequence[int], threads: int) -> int:
    """The most words of one bank that so many threads ask for; those that ask for the same word count once."""
    counts = [0] * BANKS
    (x, nx), (y, ny), (z, nz) = (
        (distance // WORD_BYTES, n if distance else 1) for distance, n in zip(distances, lanes, strict=True)
    )
    for k in range(min(threads, nx * ny * nz)):
        counts[(k % nx * x + k // nx % ny * y + k // (nx * ny) * z) % BANKS] += 1
    return max(counts)


def _product(factors: Sequence[int]) -> int:
    found = 1
    for factor in factors:
        found = _times(found, factor)
    return found


def _add(a: int, b: int) -> int:
    return min(SATURATED, a + b)


def _times(a: int, b: int) -> int:
    return min(SATURATED, a * b)
