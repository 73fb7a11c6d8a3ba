"""The time of a launch on a device, from what its blocks do: to rank candidates, not to promise milliseconds.

In: machine parameters and speeds, the :class:`TileWork` of a kernel over tiles, and how large the launch is.  Out: a
:class:`Cost`, cycles with what decides about them::

    cost(machine, work, Launch(blocks=1024, steps=64, is_cut=False, bytes=12 << 20))
    # Cost(cycles=99131, terms=(Term("latency", 96831, "2 turns of ..."), ...), ...)

The manner is that of MWP-CWP (Hong and Kim, ISCA 2009): warps that share a multiprocessor either keep a unit of it
busy (a throughput decides) or wait for memory together (latency does).  It is written once, in :func:`price`, over any
arithmetic of counts (`counts.py`): on integers here, and as text of C for the generated header.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Generic

from comprehensive.machine.counts import Counts, N, Saturating
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.resident import Taken, allowed
from comprehensive.machine.work import Work

DEPENDENT_CYCLES = 4
"""The cycles from an instruction to one that waits for its result, on every device since compute capability
7.0."""
HALF_BYTES = 2
"""The bytes of the narrowest elements that tensor cores multiply here."""
LEAST_STARTS = 4
"""A block of fewer warps does not start sooner than one of so many."""
HINDRANCE = 16
"""The divisor of the cycles that all units but the slowest add to it: they do not overlap as well as they could.  Fewer
warps of several blocks are hindered more: their number is the divisor, unless memory is the slowest, which does not
wait for them."""
MANY_TURNS = 4
"""The turns of blocks on a multiprocessor together, beyond which turns no longer begin at the same time."""


@dataclass(frozen=True, slots=True)
class TileWork:
    """The work of the blocks of one kernel, and what they take of a multiprocessor while they do it.

    A block does ``once`` and ``step`` for each whole step of its serial loop, or each sweep, and for a step that is not
    whole ``part`` and ``kiloturn`` for 1000 of its turns (of which lanes that share them do less than one access each);
    where the limits cut its tile, ``cut_once`` and ``cut_step``, if a launch says that it is something else.
    Steps that wait for copies begun ``ahead`` steps before wait for one of so many; 0: they wait for none.
    """

    once: Work
    step: Work
    part: Work
    kiloturn: Work
    cut_once: Work
    cut_step: Work
    threads: int
    registers: int
    shared_words: int
    ahead: int

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP_THREADS)


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch: ``is_cut`` says whether the limits cut a tile, and its block does something else than the others.

    Each block does so many whole ``steps``, and ``parts``, steps that are not whole, of ``turns`` in all.  Where blocks
    differ these are those of a mean block, and the longest one does ``more`` steps.
    ``bytes`` are those of all data that it accesses, each once.  Of what tensor cores multiply an element has so many
    bytes as ``tensor_cores`` says; 0 where there is nothing for them.
    """

    blocks: int
    steps: int
    parts: int
    turns: int
    is_cut: bool
    bytes: int
    tensor_cores: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """Cycles that a launch takes at least because of one thing, and the ``numbers`` that they come from."""

    name: str
    cycles: int
    numbers: str


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a launch: ``cycles`` from launch to end, those of a launch and of the largest ``terms``.

    So many ``resident`` blocks are on a multiprocessor at a time, of ``blocks`` on the busiest one.
    """

    cycles: int
    terms: tuple[Term, ...]
    resident: int
    blocks: int

    @property
    def bound(self) -> Term:
        """The term that decides; the first of equal ones."""
        return max(self.terms, key=lambda term: term.cycles)


def resident_blocks(machine: Mapping[str, int], warps: int, registers: int, words: int) -> int:
    """Blocks of a kernel that are on a multiprocessor together; 0 where one does not fit."""
    return held(Saturating(machine), Taken(warps, registers, words))


def cost(machine: Mapping[str, int], work: TileWork, launch: Launch) -> Cost | None:
    """The cost by machine parameters and speeds; None where not even one block fits."""
    blocks = resident_blocks(machine, work.warps, work.registers, work.shared_words)
    if blocks < 1:
        return None
    parts = (work.once, work.step, work.part, work.kiloturn, work.cut_once, work.cut_step)
    once, step, part, kiloturn, cut_once, cut_step = (Counted(*each.rounded) for each in parts)
    block = Block(once, step, part, kiloturn, cut_once, cut_step, work.warps, work.ahead, blocks)
    extent = Extent(**{field.name: int(getattr(launch, field.name)) for field in fields(launch)})
    found = price(Saturating(machine), block, extent)
    terms = tuple(Term(p.name, p.cycles, _TEXTS[p.name](*p.numbers)) for p in found.parts if p.cycles)
    return Cost(found.cycles, terms, found.resident, found.busiest)


def _latency_text(busiest: int, resident: int, between: int, longer: int, *chain_: int) -> str:
    chain = _alone_text(*chain_)
    last = f", and {longer} of the longest one" if longer else ""
    if busiest > MANY_TURNS * resident:
        return f"{busiest} blocks, {resident} at a time, of {chain} + {between}{last}"
    return f"{-(-busiest // resident)} turns of {chain}{last}"


def _alone_text(turns: int, *chain_: int) -> str:
    return _chain_text(*chain_) + (f" + {turns}" if turns else "")


def _chain_text(first: int, *repeated: int) -> str:
    times = zip(repeated[::2], repeated[1::2], strict=True)
    return " + ".join((str(first), *(f"{count}*{each}" for count, each in times if count)))


def _wide_text(busiest: int, wide: int, lanes: int, accesses: int) -> str:
    return f"{busiest} blocks of {wide}*{WARP_THREADS}/{lanes}" + (f" + {accesses}" if accesses else "")


_TEXTS: Mapping[str, Callable[..., str]] = {
    "latency": _latency_text,
    "instructions": "{} blocks of {}/{} + {}".format,
    "doubles and tensor cores": _wide_text,
    "load and store unit": "{} blocks of {}".format,
    "second-level cache": "{} blocks of {} bytes, {} in 1000 cycles".format,
    "starts of warps": "{} blocks of {} warps of {}".format,
    "latency of a cut tile": _alone_text,
    "memory": "{} bytes, {} in 1000 cycles".format,
}


# --- the rules, over any arithmetic


@dataclass(frozen=True, slots=True)
class Counted(Generic[N]):
    """The counts of a :class:`Work`."""

    instructions: N
    wide: N
    wavefronts: N
    bytes: N
    waits: N
    shared_waits: N
    barriers: N
    depth: N


@dataclass(frozen=True, slots=True)
class Block(Generic[N]):
    """The work of a block as in :class:`TileWork`, and how many blocks a multiprocessor holds."""

    once: Counted[N]
    step: Counted[N]
    part: Counted[N]
    kiloturn: Counted[N]
    cut_once: Counted[N]
    cut_step: Counted[N]
    warps: N
    ahead: N
    held: N


@dataclass(frozen=True, slots=True)
class Extent(Generic[N]):
    """A :class:`Launch`; what it says is 1 where it holds, else 0."""

    blocks: N
    steps: N
    parts: N
    turns: N
    bytes: N
    is_cut: N
    tensor_cores: N
    more: N


@dataclass(frozen=True, slots=True)
class Part(Generic[N]):
    """Cycles that a launch takes at least, as a :class:`Term`, with the ``numbers`` for its text."""

    name: str
    cycles: N
    numbers: tuple[N, ...]


@dataclass(frozen=True, slots=True)
class Price(Generic[N]):
    """The cycles of a launch and the parts that it takes at least."""

    cycles: N
    parts: tuple[Part[N], ...]
    resident: N
    busiest: N


def held(c: Counts[N], taken: Taken[N]) -> N:
    """The blocks that are on a multiprocessor together; 0 where one does not fit."""
    one = c.count(1)
    some = Taken(taken.warps, c.most(one, taken.registers), c.most(one, taken.words))
    return reduce(c.least, allowed(c, some).values())


def price(c: Counts[N], block: Block[N], launch: Extent[N]) -> Price[N]:
    """The price of a launch of blocks of which a multiprocessor holds at least one."""
    busiest = c.named("busiest", c.up(launch.blocks, c.of_machine("multiprocessors")))
    resident = c.named("resident", c.most(c.count(1), c.least(block.held, busiest)))
    memory = _memory(c, launch)
    parts = (
        *_latencies(c, block, launch, busiest, resident),
        *_throughput(c, block, launch, busiest, resident),
        memory,
    )
    slowest = c.named("slowest", reduce(c.most, (part.cycles for part in parts)))
    together = c.named("together", reduce(c.plus, (part.cycles for part in parts)))
    most = c.count(HINDRANCE)
    warps = c.least(c.times(resident, block.warps), most)
    few = c.where_more(resident, c.count(1), warps, most)
    divisor = c.named("divisor", c.where_more(slowest, memory.cycles, few, most))
    hindered = c.plus(slowest, c.down(c.minus(together, slowest), divisor))
    return Price(c.plus(c.of_machine("launch_cycles"), hindered), parts, resident, busiest)


def _latencies(
    c: Counts[N], block: Block[N], launch: Extent[N], busiest: N, resident: N
) -> tuple[Part[N], Part[N]]:
    """Blocks that wait: in step with each other at first, but not for long.  The longest one is among the last.

    And the block of a tile that the limits cut, alone.
    """
    copies = c.down(c.of_machine("global_latency_cycles"), c.most(c.count(1), block.ahead))
    copies = c.named("copies", c.where_more(block.ahead, c.count(0), copies, c.count(0)))
    first = c.named("first", c.plus(c.of_machine("block_cycles"), _alone(c, "once", block.once)))
    step = c.named("step", c.most(_alone(c, "step", block.step), copies))
    part = c.named("part", c.most(_alone(c, "part", block.part), copies))
    turns = c.named("turns", _of_turns(c, launch, _alone(c, "kiloturn", block.kiloturn)))
    chain = (launch.steps, step, launch.parts, part)
    alone = c.named("alone", c.plus(_chain(c, first, chain), turns))
    together = c.times(c.up(busiest, resident), alone)
    between = c.of_machine("turn_cycles")
    apart = c.down(c.times(busiest, c.plus(alone, between)), resident)
    few = c.times(c.count(MANY_TURNS), resident)
    longer = c.named("longer", c.times(launch.more, step))
    cycles = c.named(
        "latency", c.plus(c.named("blocks_wait", c.where_more(busiest, few, apart, together)), longer)
    )
    waiting = Part("latency", cycles, (busiest, resident, between, longer, turns, first, *chain))

    cut_first = c.plus(c.of_machine("block_cycles"), _alone(c, "cut_once", block.cut_once))
    cut_first = c.named("cut_first", cut_first)
    cut_step = c.named("cut_step", _alone(c, "cut_step", block.cut_step))
    cut_chain = (launch.steps, cut_step, launch.parts, part)
    cut = c.plus(_chain(c, cut_first, cut_chain), turns)
    cut = c.named("cut", c.where_more(launch.is_cut, c.count(0), cut, c.count(0)))
    return waiting, Part("latency of a cut tile", cut, (turns, cut_first, *cut_chain))


def _throughput(
    c: Counts[N], block: Block[N], launch: Extent[N], busiest: N, resident: N
) -> tuple[Part[N], ...]:
    """Units of a full multiprocessor, each with what it has to do.

    While a block meets at a barrier or waits for shared memory only the other ones begin instructions.
    """

    def total(count: Callable[[Counted[N]], N]) -> N:
        whole = (launch.steps, count(block.step), launch.parts, count(block.part))
        return c.plus(_chain(c, count(block.once), whole), _of_turns(c, launch, count(block.kiloturn)))

    instructions = c.named("instructions", total(lambda done: done.instructions))
    wide = c.named("wide", total(lambda done: done.wide))
    wavefronts = c.named("wavefronts", total(lambda done: done.wavefronts))
    bytes_ = c.named("bytes", total(lambda done: done.bytes))
    shared_waits = c.named("shared_waits", total(lambda done: done.shared_waits))
    barriers = c.named("barriers", total(lambda done: done.barriers))
    waiting = c.times(shared_waits, c.of_machine("shared_latency_cycles"))
    waiting = c.plus(waiting, c.times(barriers, c.of_machine("barrier_cycles")))
    idle = c.named("idle", c.down(waiting, resident))
    issued, rate = c.of_machine("issued_per_cycle"), c.of_machine("l2_bytes_per_kilocycle")
    doubles, halves = c.of_machine("wide_tensor_lanes"), c.of_machine("half_tensor_lanes")
    tensor = c.where_more(launch.tensor_cores, c.count(HALF_BYTES), doubles, halves)
    lanes = c.where_more(launch.tensor_cores, c.count(0), tensor, c.of_machine("wide_lanes"))
    lanes = c.named("lanes", lanes)
    multiplied = c.named("multiplied", c.down(c.times(wide, c.count(WARP_THREADS)), lanes))
    # Doubles outside of tensor cores and accesses take turns, as both move 64 bits (measured on an H200).
    accesses = c.where_more(wide, c.count(0), wavefronts, c.count(0))
    accesses = c.named("accesses", c.where_more(launch.tensor_cores, c.count(0), c.count(0), accesses))
    start, starts = c.of_machine("warp_start_cycles"), c.most(c.count(LEAST_STARTS), block.warps)
    units = (
        ("instructions", c.plus(c.down(instructions, issued), idle), (instructions, issued, idle)),
        ("doubles and tensor cores", c.plus(multiplied, accesses), (wide, lanes, accesses)),
        ("load and store unit", wavefronts, (wavefronts,)),
        ("second-level cache", c.down(c.times(bytes_, c.count(1000)), rate), (bytes_, rate)),
        ("starts of warps", c.times(start, starts), (starts, start)),
    )
    return tuple(
        Part(name, c.named(name.split()[-1] + "_busy", c.times(busiest, cycles)), (busiest, *numbers))
        for name, cycles, numbers in units
    )


def _memory(c: Counts[N], launch: Extent[N]) -> Part[N]:
    rate = c.of_machine("dram_bytes_per_kilocycle")
    cycles = c.down(c.times(launch.bytes, c.count(1000)), rate)
    cycles = c.where_more(launch.bytes, c.of_machine("kept_bytes"), cycles, c.count(0))
    return Part("memory", c.named("memory", cycles), (launch.bytes, rate))


def _of_turns(c: Counts[N], launch: Extent[N], thousand: N) -> N:
    """Return what the turns of steps that are not whole come to, where so much is for a thousand of them."""
    return c.down(c.times(launch.turns, thousand), c.count(1000))


def _chain(c: Counts[N], first: N, repeated: Sequence[N]) -> N:
    """Return the sum of what is done first and of what is repeated: how often, and each time, by turns."""
    pairs = zip(repeated[::2], repeated[1::2], strict=True)
    return reduce(c.plus, (c.times(count, each) for count, each in pairs), first)


def _alone(c: Counts[N], name: str, done: Counted[N]) -> N:
    """Cycles of a block that has the multiprocessor for itself.

    Its warps wait for memory one time after the other.
    """
    waiting = c.times(done.waits, c.of_machine("global_latency_cycles"))
    waiting = c.plus(waiting, c.times(done.shared_waits, c.of_machine("shared_latency_cycles")))
    waiting = c.plus(waiting, c.times(done.barriers, c.of_machine("barrier_cycles")))
    waiting = c.named(f"{name}_waits", waiting)
    issued = c.down(done.instructions, c.of_machine("issued_per_cycle"))
    chain = c.times(done.depth, c.count(DEPENDENT_CYCLES))
    busy = c.named(f"{name}_busy", c.most(c.most(issued, done.wavefronts), chain))
    return c.plus(waiting, busy)
