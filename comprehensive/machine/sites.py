"""The work of a block of a leaf, from tables of its code and numbers that are known at the launch.

In: :class:`Sites`, the numbers that they point to, the shape of the launch, and the machine.  Out: a
:class:`~comprehensive.machine.cost.TileWork` and a :class:`~comprehensive.machine.cost.Launch`, which
:func:`~comprehensive.machine.cost.cost` makes cycles of::

    leaf_work(machine, sites, numbers, Shape(grid=(64, 64, 1), block=(32, 8, 1), registers=32, words=0))

An access is an affine walk: elements between neighbouring threads, between turns of each loop around it, and between
blocks.  Which lines and sectors such a walk touches follows from these distances, whatever the shape of the block, so
that any block can be looked at without going through it.  :func:`work_of_block` and what it calls are printed in C for
generated headers (`tests/printed_functions.py` says which Python that can be): both rank alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from comprehensive.machine.cost import LEAST_STARTS, Launch, TileWork, resident_blocks
from comprehensive.machine.counts import (
    SATURATED,
    Count,
    Integer,
    number_of,
    plus,
    product,
    rounded_up,
    times,
    total,
)
from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.work import BEGUN, WAITED, Work

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
    count, taken = len(sites.contexts), (shape.registers, shape.words)
    block = Block(machine, sites, numbers, shape.grid, shape.block, *taken, [0] * count, [False] * count)
    work, nothing = work_of_block(block, SATURATED), Work()
    of_tile = (work.once, nothing, nothing, nothing, work.once, nothing)
    return (
        TileWork(*of_tile, product(shape.block), *taken, 0),
        Launch(product(shape.grid), 0, 0, 0, False, work.data),
    )


# --- what is printed in C


@dataclass(frozen=True, slots=True)
class Block:
    """A block in the middle of the grid, of so many threads along x, y and z as ``extents`` say.

    :func:`work_of_block` finds how often each context is done in all (``runs``), and whether the first-level cache
    ``keeps`` what all resident blocks touch in a turn of it.
    """

    machine: Mapping[str, int]
    sites: Sites
    numbers: Sequence[Integer]
    grid: tuple[Count, Count, Count]
    extents: tuple[Count, Count, Count]
    registers: Count
    words: Count
    runs: list[Count]
    keeps: list[bool]


class Step(NamedTuple):
    """A step of so many bytes, which a walk takes from each of so many places to the next one."""

    bytes: Count
    places: Count


@dataclass(frozen=True, slots=True)
class BlockWork:
    """The work of a block, and the bytes of all data of its launch, each once a way."""

    once: Work
    data: Count


def work_of_block(block: Block, bound: Count) -> BlockWork:
    """Return the work of a block; a part of it where a launch of that much takes more than ``bound`` cycles."""
    for number, context in enumerate(block.sites.contexts):
        around = block.runs[context.parent] if context.parent >= 0 else 1
        block.runs[number] = times(around, turns_of(block, number))
    computing = total(
        times(runs_of_warps(block, n), c.instructions) for n, c in enumerate(block.sites.contexts)
    )
    wide = total(times(runs_of_warps(block, n), c.wide) for n, c in enumerate(block.sites.contexts))
    if at_least(block, computing, 0, 0) > bound:
        return BlockWork(Work(computing, wide, 0, 0, 0, 0, 0, 0), 0)
    room = cache_of_a_block(block)
    for number, context in enumerate(block.sites.contexts):
        block.keeps[number] = context.is_loop and touched_in_a_turn(block, number) <= room
    accessing = total(instructions_of(block, access) for access in block.sites.accesses)
    wavefronts = total(wavefronts_of(block, access) for access in block.sites.accesses)
    traffic = total(traffic_of(block, access) for access in block.sites.accesses if not access.is_shared)
    instructions = plus(computing, accessing)
    if at_least(block, instructions, wavefronts, traffic) > bound:
        return BlockWork(Work(instructions, wide, wavefronts, traffic, 0, 0, 0, 0), 0)
    waits = total(waits_of(block, number) for number in range(len(block.sites.regions)))
    shared_waits = total(shared_waits_of(block, number) for number in range(len(block.sites.regions)))
    barriers = total(times(block.runs[region.context], region.barriers) for region in block.sites.regions)
    waiting = total(times(block.runs[region.context], region.depth) for region in block.sites.regions)
    depth = max(waiting, begun_by_a_warp(block, instructions))
    data = total(data_of(block, number) for number in range(len(block.sites.accesses)))
    return BlockWork(
        Work(instructions, wide, wavefronts, traffic, waits, shared_waits, barriers, depth), data
    )


def at_least(block: Block, instructions: Count, wavefronts: Count, traffic: Count) -> Count:
    """Return the cycles that a launch of blocks takes at least which do this work, and perhaps more."""
    started = times(block.machine["warp_start_cycles"], max(LEAST_STARTS, warps(block)))
    issued = instructions // block.machine["issued_per_cycle"]
    moved = times(traffic, 1000) // block.machine["l2_bytes_per_kilocycle"]
    return times(busiest(block), max(max(started, issued), max(wavefronts, moved)))


def begun_by_a_warp(block: Block, instructions: Count) -> Count:
    """Return the instructions that wait for each other for as long as a warp begins its part of these."""
    return times(instructions, WAITED) // times(BEGUN, warps(block))


def busiest(block: Block) -> Count:
    """Return the blocks of the busiest multiprocessor."""
    return rounded_up(product(block.grid), block.machine["multiprocessors"])


def warps(block: Block) -> Count:
    return rounded_up(product(block.extents), WARP_THREADS)


def cache_of_a_block(block: Block) -> Count:
    """Return the lines of the first-level cache for each of the blocks on a multiprocessor.

    The cache and shared memory are one; a ninth of it is never shared memory.
    """
    held = resident_blocks(block.machine, warps(block), block.registers, block.words)
    resident = max(1, min(held, busiest(block)))
    taken = times(resident, block.words)
    shared = block.machine["Z_SM"]
    room = shared + shared // 8
    return times(WORD_BYTES, room - min(room, taken)) // resident // LINE_BYTES


def turns_of(block: Block, context: int) -> Count:
    """Return how often a context is done for each time that the one around it is done."""
    return number_of(block.numbers[block.sites.contexts[context].turns])


def runs_of_warps(block: Block, context: int) -> Count:
    return times(block.runs[context], warps(block))


# --- a warp


def taking_part(block: Block, access: Access, axis: int) -> Count:
    """Return the threads of a block along an axis that take part in an access."""
    return max(1, min(block.extents[axis], number_of(block.numbers[access.extents[axis]])))


def lanes(block: Block, access: Access, axis: int) -> Count:
    """Return the threads of a warp along an axis that take part in an access."""
    inner = product(block.extents[before] for before in range(axis))
    return min(rounded_up(WARP_THREADS, inner), taking_part(block, access, axis))


def accesses_of_warps(block: Block, access: Access) -> Count:
    """Return how often warps execute an access."""
    taking = product(
        rounded_up(taking_part(block, access, axis), lanes(block, access, axis)) for axis in range(3)
    )
    return times(times(block.runs[access.context], len(access.origins)), min(warps(block), taking))


def instructions_of(block: Block, access: Access) -> Count:
    each = SHARED_INSTRUCTIONS if access.is_shared else GLOBAL_INSTRUCTIONS
    return times(accesses_of_warps(block, access), each)


def wavefronts_of(block: Block, access: Access) -> Count:
    steps = [Step(to_next_thread(block, access, axis), lanes(block, access, axis)) for axis in range(3)]
    threads = product(step.places for step in steps)
    runs = accesses_of_warps(block, access)
    if access.is_shared:
        together = max(1, access.bytes // WORD_BYTES)
        at_once = WARP_THREADS // together
        asked = conflicts(steps, at_once) if is_known(access) else min(at_once, threads)
        return times(runs, times(asked, together))
    lines = units(steps, access.bytes, LINE_BYTES) if is_known(access) else min(WARP_THREADS, threads)
    return times(runs, rounded_up(lines, LINES_TOGETHER))


def conflicts(steps: list[Step], threads: Count) -> Count:
    """Return the most words of one bank that so many threads ask for; the same word counts once."""
    asked = [0] * BANKS
    done: Count = 0
    most: Count = 0
    for z in range(different(steps[2])):
        for y in range(different(steps[1])):
            for x in range(different(steps[0])):
                if done < threads:
                    distance = x * words(steps[0]) + y * words(steps[1]) + z * words(steps[2])
                    asked[distance % BANKS] += 1
                    done += 1
    for bank in range(BANKS):
        most = max(most, asked[bank])
    return most


def different(step: Step) -> Count:
    """Return the number of different places that a step leads to."""
    return step.places if step.bytes > 0 else 1


def words(step: Step) -> Count:
    return step.bytes // WORD_BYTES


# --- what a block touches


def is_known(access: Access) -> bool:
    """Return whether no data decides which elements are accessed."""
    return access.threads[0] >= 0


def apart(block: Block, access: Access, position: int) -> Count:
    """Return the bytes between two elements, whose distance is the number of this position."""
    return times(number_of(abs(block.numbers[position])), access.bytes)


def to_next_thread(block: Block, access: Access, axis: int) -> Count:
    """Return the bytes between the elements of neighbouring threads."""
    return apart(block, access, access.threads[axis]) if is_known(access) else 0


def walk(block: Block, access: Access, loops: int) -> list[Step]:
    """Return the steps between threads of a block, and between turns of so many loops around, innermost first."""
    steps = [Step(to_next_thread(block, access, axis), taking_part(block, access, axis)) for axis in range(3)]
    steps += [
        Step(apart(block, access, distance), turns_of(block, loop)) for loop, distance in access.loops[:loops]
    ]
    return steps


def touched(block: Block, access: Access, steps: list[Step], unit: Count) -> Count:
    """Return the lines or sectors of a walk from all origins: a few steps more, along the longest that fit."""
    if not is_known(access):
        return product(step.places for step in steps)
    rest = between_origins(block, access)
    if rest == 0:
        return units(steps, access.bytes, unit)
    longer: list[Step] = []
    for step in sorted(steps, reverse=True):
        more = rest // step.bytes if step.bytes > 0 and step.places > 1 else 0
        longer.append(Step(step.bytes, plus(step.places, more)))
        rest -= more * step.bytes
    return units(longer, access.bytes, unit)


def between_origins(block: Block, access: Access) -> Count:
    """Return the bytes from the first to the last origin."""
    first = block.numbers[access.origins[0]]
    last = first
    for origin in access.origins:
        first = min(first, block.numbers[origin])
        last = max(last, block.numbers[origin])
    return times(number_of(last - first), access.bytes)


def units(steps: list[Step], width: Count, unit: Count) -> Count:
    """Return the lines or sectors that a walk touches with accesses of so many bytes.

    From the shortest step on, what follows closely is one stretch, and what is farther away begins others.
    """
    stretches: Count = 1
    length = width
    for step in sorted(steps):
        if step.places > 1 and step.bytes > max(length, unit):
            stretches = times(stretches, step.places)
        elif step.places > 1:
            length = plus(length, times(step.bytes, step.places - 1))
    return times(stretches, plus(length, unit - 1) // unit)


def touched_in_a_turn(block: Block, context: int) -> Count:
    """Return the lines that a block touches in a turn of a loop."""
    lines: Count = 0
    for access in block.sites.accesses:
        inner = loops_inside(block, access, context)
        if not access.is_shared and inner < len(access.loops):
            lines = plus(lines, touched(block, access, walk(block, access, inner), LINE_BYTES))
    return lines


def loops_inside(block: Block, access: Access, context: int) -> int:
    """Return the number of loops around an access that are inside of a context; all of them where it is not in it."""
    inner = 0
    for loop, _ in access.loops:
        if loop == context:
            break
        inner += 1
    return inner


def traffic_of(block: Block, access: Access) -> Count:
    """Return the bytes that a block reads or writes; those of loops that the cache keeps count once."""
    again = block.runs[access.context]
    kept = 0
    for loop, _ in access.loops:
        if not block.keeps[loop]:
            break
        turns = turns_of(block, loop)
        again = again // turns if turns > 0 else 0
        kept += 1
    sectors = touched(block, access, walk(block, access, kept), SECTOR_BYTES)
    return times(again, times(sectors, bytes_of_sector(block, access)))


def bytes_of_sector(block: Block, access: Access) -> Count:
    """Return the bytes that a sector counts for: more where the threads of a block ask for less than lines."""
    steps = walk(block, access, 0)
    sectors = max(1, touched(block, access, steps, SECTOR_BYTES))
    lines = max(1, touched(block, access, steps, LINE_BYTES))
    most = min(times(MOST_APART, sectors), times(LINE_BYTES // SECTOR_BYTES, lines))
    return times(SECTOR_BYTES, most) // sectors


# --- what is waited for


def turns_together(block: Block, region: Region) -> Count:
    """Return the turns of a region whose loads may be waited for together."""
    return max(1, turns_of(block, region.context)) if block.sites.contexts[region.context].is_loop else 1


def waits_of(block: Block, number: int) -> Count:
    """Return how often a warp waits for global memory in a region; longer where it reads many lines at once."""
    region = block.sites.regions[number]
    turns = turns_together(block, region)
    most: Count = 0
    lines: Count = 0
    for access in block.sites.accesses:
        if access.region == number and not access.stores and not access.is_shared:
            most = max(most, missed(block, access, region.context, turns))
            lines = plus(lines, touched(block, access, walk(block, access, 0), LINE_BYTES))
    each = min(rounded_up(turns, region.round), most)
    waiting = times(block.runs[region.context] // turns, each)
    return plus(waiting, times(waiting, lines) // LINES_A_WAIT)


def missed(block: Block, access: Access, context: int, turns: Count) -> Count:
    """Return how many of these turns bring data which the first-level cache does not have."""
    if not block.keeps[context] or not is_known(access):
        return turns
    step = total(apart(block, access, distance) for loop, distance in access.loops if loop == context)
    steps = walk(block, access, 0)
    once = max(1, touched(block, access, steps, SECTOR_BYTES))
    steps.append(Step(step, turns))
    return min(turns, rounded_up(touched(block, access, steps, SECTOR_BYTES), once))


def shared_waits_of(block: Block, number: int) -> Count:
    """Return how often a warp waits in a region for what it has loaded, shared memory or other."""
    region = block.sites.regions[number]
    turns = turns_together(block, region)
    loads = total(1 for access in block.sites.accesses if access.region == number and not access.stores)
    return times(block.runs[region.context] // turns, rounded_up(turns, region.round)) if loads > 0 else 0


# --- what a launch moves


def data_of(block: Block, number: int) -> Count:
    """Return the bytes that a launch reads or writes of an array, where this is the first access that does so."""
    access = block.sites.accesses[number]
    most: Count = 0
    for other, beside in enumerate(block.sites.accesses):
        if access.array == beside.array and access.stores == beside.stores and is_moved(block, beside):
            if other < number or not is_moved(block, access):
                break
            steps = walk(block, beside, len(beside.loops))
            steps += [
                Step(apart(block, beside, beside.grid[axis]), block.grid[axis])
                for axis in range(3)
                if beside.grid[axis] >= 0
            ]
            most = max(most, times(SECTOR_BYTES, touched(block, beside, steps, SECTOR_BYTES)))
    return most


def is_moved(block: Block, access: Access) -> bool:
    """Return whether what is accessed is in global memory, and the access is done at all."""
    return not access.is_shared and block.runs[access.context] > 0
