"""The time of a launch on a device, from what its blocks do: to rank candidates, not to promise milliseconds.

In: machine parameters and speeds, the :class:`TileWork` of a kernel over tiles, and how large the launch is.  Out: a
:class:`Cost`, cycles with what decides about them::

    cost(machine, work, Launch(blocks=1024, steps=64, is_cut=False, bytes=12 << 20))
    # Cost(cycles=99131, terms=(Term("latency", 96831, "2 turns of ..."), ...), ...)

The manner is that of MWP-CWP (Hong and Kim, ISCA 2009): warps that share a multiprocessor either keep a unit of it
busy (a throughput decides) or wait for memory together (latency does).  All arithmetic is on integers, as the generated
header has it (`templates/runtime/cf_runtime.h`): both choose alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.resident import resident
from comprehensive.machine.work import Work

SATURATED = (1 << 64) - 1
"""Stands for itself and everything above, as ``cf_count`` has it."""

DEPENDENT_CYCLES = 4
"""The cycles from an instruction to one that waits for its result, on every device since compute capability
7.0."""
LEAST_STARTS = 4
"""A block of fewer warps does not start sooner than one of so many."""
HINDRANCE = 16
"""The divisor of the cycles that all units but the slowest add to it: they do not overlap as well as they could."""
MANY_TURNS = 4
"""The turns of blocks on a multiprocessor together, beyond which turns no longer begin at the same time."""


@dataclass(frozen=True, slots=True)
class TileWork:
    """The work of the blocks of one kernel, and what they take of a multiprocessor while they do it.

    A block does ``once`` and ``step`` for each step of its serial loop, or each sweep; where the limits cut its tile,
    ``cut_once`` and ``cut_step``.  Steps that wait for copies begun ``ahead`` steps before wait for one of so many; 0:
    they wait for none.
    """

    once: Work
    step: Work
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
    """A launch: ``is_cut`` says whether the limits cut a tile.

    ``bytes`` are those of all data that it accesses, each once.  With ``tensor_cores`` these multiply and
    add doubles.
    """

    blocks: int
    steps: int
    is_cut: bool
    bytes: int
    tensor_cores: bool = False


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


def resident_blocks(machine: Mapping[str, int], work: TileWork) -> int:
    """Blocks of the kernel that are on a multiprocessor together; 0 where one does not fit."""
    allowed = resident(machine, warps=work.warps, registers=work.registers, words=work.shared_words)
    return min(allowed.values())


def cost(machine: Mapping[str, int], work: TileWork, launch: Launch) -> Cost | None:
    """The cost by machine parameters and speeds; None where not even one block fits."""
    held = resident_blocks(machine, work)
    if held < 1:
        return None
    busiest = -(-launch.blocks // machine["multiprocessors"])
    resident = max(1, min(held, busiest))
    terms = [_latency(machine, work, launch, busiest, resident)]
    terms += _throughput(machine, work, launch, busiest, resident)
    if launch.is_cut:
        first = _add(machine["block_cycles"], _alone(machine, work, work.cut_once))
        step = _alone(machine, work, work.cut_step)
        terms.append(
            Term(
                "latency of a cut tile",
                _add(first, _multiply(launch.steps, step)),
                _chain(first, launch.steps, step),
            )
        )
    if launch.bytes > machine["kept_bytes"]:
        rate = machine["dram_bytes_per_kilocycle"]
        cycles = _multiply(launch.bytes, 1000) // rate
        terms.append(Term("memory", cycles, f"{launch.bytes} bytes, {rate} in 1000 cycles"))
    slowest, all_ = 0, 0
    for term in terms:
        slowest, all_ = max(slowest, term.cycles), _add(all_, term.cycles)
    hindered = _add(slowest, (all_ - slowest) // HINDRANCE)
    return Cost(_add(machine["launch_cycles"], hindered), tuple(terms), resident, busiest)


def _latency(machine: Mapping[str, int], work: TileWork, launch: Launch, busiest: int, resident: int) -> Term:
    """Blocks that wait: in step with each other at first, but not for long."""
    first = _add(machine["block_cycles"], _alone(machine, work, work.once))
    copies = machine["global_latency_cycles"] // work.ahead if work.ahead else 0
    step = max(_alone(machine, work, work.step), copies)
    alone = _add(first, _multiply(launch.steps, step))
    chain = _chain(first, launch.steps, step)
    if busiest <= MANY_TURNS * resident:
        turns = -(-busiest // resident)
        return Term("latency", _multiply(turns, alone), f"{turns} turns of {chain}")
    turn = machine["turn_cycles"]
    cycles = _multiply(busiest, _add(alone, turn)) // resident
    return Term("latency", cycles, f"{busiest} blocks, {resident} at a time, of {chain} + {turn}")


def _chain(first: int, steps: int, step: int) -> str:
    return f"{first} + {steps}*{step}" if steps else str(first)


def _throughput(
    machine: Mapping[str, int], work: TileWork, launch: Launch, busiest: int, resident: int
) -> list[Term]:
    """Units of a full multiprocessor, each with what it has to do.

    While a block meets at a barrier or waits for shared memory only the other ones begin instructions.
    """
    once, step = work.once.rounded, work.step.rounded
    total = tuple(_add(a, _multiply(launch.steps, b)) for a, b in zip(once, step, strict=True))
    instructions, wide, wavefronts, bytes_, _, shared_waits, barriers, _ = total
    waiting = _multiply(shared_waits, machine["shared_latency_cycles"])
    waiting = _add(waiting, _multiply(barriers, machine["barrier_cycles"]))
    issued, idle = machine["issued_per_cycle"], waiting // resident
    lanes = machine["wide_tensor_lanes" if launch.tensor_cores else "wide_lanes"]
    rate = machine["l2_bytes_per_kilocycle"]
    start, starts = machine["warp_start_cycles"], max(LEAST_STARTS, work.warps)
    units = (
        ("instructions", _add(instructions // issued, idle), f"{instructions}/{issued} + {idle}"),
        ("arithmetic on doubles", _multiply(wide, WARP_THREADS) // lanes, f"{wide}*{WARP_THREADS}/{lanes}"),
        ("load and store unit", wavefronts, str(wavefronts)),
        ("second-level cache", _multiply(bytes_, 1000) // rate, f"{bytes_} bytes, {rate} in 1000 cycles"),
        ("starts of warps", _multiply(start, starts), f"{starts} warps of {start}"),
    )
    return [
        Term(name, _multiply(busiest, cycles), f"{busiest} blocks of {numbers}")
        for name, cycles, numbers in units
    ]


def _alone(machine: Mapping[str, int], work: TileWork, done: Work) -> int:
    """Cycles of a block that has the multiprocessor for itself.

    Its warps wait for memory one time after the other, and a warp begins an instruction every one and a half cycles.
    """
    instructions, _, wavefronts, _, waits, shared_waits, barriers, depth = done.rounded
    waiting = _multiply(waits, machine["global_latency_cycles"])
    waiting = _add(waiting, _multiply(shared_waits, machine["shared_latency_cycles"]))
    waiting = _add(waiting, _multiply(barriers, machine["barrier_cycles"]))
    busy = max(
        instructions // machine["issued_per_cycle"],
        _multiply(instructions, 3) // (2 * work.warps),
        wavefronts,
        _multiply(depth, DEPENDENT_CYCLES),
    )
    return _add(waiting, busy)


def _add(a: int, b: int) -> int:
    return min(SATURATED, a + b)


def _multiply(a: int, b: int) -> int:
    return min(SATURATED, a * b)
