"""Runs a kernel on numpy arrays: a whole grid, batch of blocks by batch of blocks.

    module = parse(SourceFile("saxpy.ptx", text))
    run(module, "saxpy", (4,), (128,), [x, y, 2.0, 500])        # y is changed in place

Results are the same each time, also with ``drawn``, which looks for races and for what relies on lockstep.  What goes
wrong is a CompileError that names kernel, statement, thread and block.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from comprehensive.diagnostics import CompileError, Note
from comprehensive.ptx.flow import Step, span_of
from comprehensive.ptx.interpreter.arguments import Argument, copy_in, copy_out, launch_error, place_arguments
from comprehensive.ptx.interpreter.barriers import Barriers
from comprehensive.ptx.interpreter.control import Part, Shared
from comprehensive.ptx.interpreter.copies import Copies
from comprehensive.ptx.interpreter.delays import DelayedMemory
from comprehensive.ptx.interpreter.drawn import DrawnScheduler
from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.grid_before import GridBefore
from comprehensive.ptx.interpreter.lanes import Lanes, lanes_of, merged
from comprehensive.ptx.interpreter.machine import Dim3, Machine, Shape
from comprehensive.ptx.interpreter.memory import Memory
from comprehensive.ptx.interpreter.program import Limits, Linked, build, link
from comprehensive.ptx.interpreter.scheduler import Place, Scheduler
from comprehensive.ptx.interpreter.stacks import NAME as STACK
from comprehensive.ptx.module import Function, Module

LANES = 16384
"""Threads of a batch: enough that numpy's calls do not count, few enough for the processor's cache."""
_PRIVATE_BYTES = 256 * 1024 * 1024
"""Shared and local memory of a batch."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a launch besides arrays; ``printed`` are the texts of vprintf, in the order of calls."""

    thread_instructions: int
    turns: int
    printed: tuple[str, ...]


def run(
    module: Module,
    kernel: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Argument],
    *,
    shared_bytes: int = 0,
    lanes: int = LANES,
    max_turns: int = 20_000_000,
    heap_bytes: int = 1 << 20,
    stack_bytes: int = 4096,
    recursion: int = 64,
    drawn: int | None = None,
    from_before: Collection[int] = (),
) -> Report:
    """Arrays stand for pointers and are changed in place, numbers for scalars, bytes for structures by value.

    ``shared_bytes`` is the dynamic shared memory of a block.  Blocks that wait for each other must fit into one batch
    of ``lanes`` threads.  ``max_turns`` bounds the parts of the program that a batch executes, ``recursion`` the
    activations of one function in a thread.  ``drawn`` is the seed of an order of threads in which those that have
    parted do not meet by themselves, and of writes that others see as late as the memory model allows.
    ``from_before`` are the numbers of arrays that the grid before writes: a thread sees what is in them behind
    ``griddepcontrol.wait``.

    CompileError: CF1011 for an instruction that the interpreter does not know, CF1012 for threads that wait for ever,
    CF1013 for those that do not end, CF1014 and CF1015 for wrong accesses, CF1016 for traps, CF1017 for a launch that
    does not fit the kernel, CF1018 for calls that lead nowhere or too deep.
    """
    function = module.kernels.get(kernel)
    if function is None:
        raise launch_error(f"there is no kernel '{kernel}'", f"one of {', '.join(module.kernels) or 'none'}")
    shape = _shape(function, _dim3(grid, "grid"), _dim3(block, "block"))
    limits = Limits(stack_bytes, recursion)
    random = None if drawn is None else Random(drawn)
    memory = Memory() if random is None else DelayedMemory(random)
    passed = place_arguments(function, args, memory)
    linked = link(module, function, memory, shared_bytes, limits)
    batch = _batch(shape, memory, lanes)
    shape = replace(shape, batch=batch)
    memory.build(np.arange(shape.lanes) // shape.stride, batch, _heap(linked, heap_bytes))
    copy_in(passed, memory)
    for allocation, contents in linked.initial:
        memory.fill(allocation, contents)
    for parameter, contents in zip(function.parameters, passed.parameters, strict=True):
        memory.fill(linked.parameters[kernel][parameter.name], contents)
    late = [a for array, a in passed.arrays if any(args[number] is array for number in from_before)]
    if late:
        begins = [memory.place(allocation) for allocation in late]
        places = [(begin, begin + a.size) for begin, a in zip(begins, late, strict=True)]
        memory.before = GridBefore(shape.lanes, places)
    machine = Machine(shape, memory, shared_bytes)
    scheduler = Scheduler(max_turns) if random is None else DrawnScheduler(max_turns, random)
    execution = _Execution(function, machine, linked, limits, scheduler)
    with np.errstate(all="ignore"):
        for first in range(0, shape.blocks, batch):
            execution.batch(first)
    copy_out(passed, memory)
    return Report(execution.thread_instructions, execution.turns, tuple(machine.printed))


def _dim3(value: int | Sequence[int], name: str) -> Dim3:
    sizes = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise launch_error(f"the {name} is {sizes}", "give one to three positive sizes")
    x, y, z = (*sizes, 1, 1)[:3]
    return int(x), int(y), int(z)


def _shape(function: Function, grid: Dim3, block: Dim3) -> Shape:
    shape = Shape(grid, block, 1, _cluster(function, grid))
    if shape.threads > 1024:
        raise launch_error(f"a block of {block} has {shape.threads} threads", "a block has 1024 at most")
    required = function.tuning("reqntid")
    if required and (*required, 1, 1)[:3] != block:
        raise launch_error(
            f"a block of {block} for kernel '{function.symbol}', which requires {required}", "give that block"
        )
    most = function.tuning("maxntid")
    if most and shape.threads > int(np.prod(most)):
        raise launch_error(
            f"a block of {block} for kernel '{function.symbol}', which allows {most}", "give a smaller block"
        )
    return shape


def _cluster(function: Function, grid: Dim3) -> Dim3 | None:
    """The blocks of a cluster where the kernel says them."""
    said = function.tuning("reqnctapercluster")
    if not said:
        return None
    x, y, z = (*said, 1, 1)[:3]
    if any(count % size for count, size in zip(grid, (x, y, z), strict=True)):
        raise launch_error(
            f"a grid of {grid} for kernel '{function.symbol}', which has clusters of {(x, y, z)}",
            "give a multiple of the cluster in each direction",
        )
    return x, y, z


def _batch(shape: Shape, memory: Memory, lanes: int) -> int:
    """Return the number of blocks that run at once."""
    private = memory.spaces["shared"].bytes_used + shape.stride * memory.spaces["local"].bytes_used
    most = min(shape.blocks, max(1, lanes // shape.stride), max(1, _PRIVATE_BYTES // max(private, 1)))
    # Batches of one size.
    return -(-shape.blocks // -(-shape.blocks // most))


def _heap(linked: Linked, heap_bytes: int) -> int:
    calls = (s for flow in linked.flows.values() for step in flow.steps for s in step.symbols)
    return heap_bytes if "malloc" in calls else 0


class _Execution:
    """All batches of a launch, one after the other."""

    def __init__(
        self, kernel: Function, machine: Machine, linked: Linked, limits: Limits, scheduler: Scheduler
    ) -> None:
        self._kernel = kernel
        self._machine = machine
        self._stack_start = linked.symbols[STACK].start if STACK in linked.symbols else 0
        self._scheduler = scheduler
        self._barriers = Barriers(machine, self._scheduler)
        self._copies = Copies(machine)
        shared = Shared(machine, self._scheduler, self._barriers, self._copies, {}, {})
        self._parts, self._entry = build(linked, kernel.symbol, shared, limits)
        self._frames = {id(part.frame): part.frame for part in self._parts}
        self._meeting: dict[Place, Lanes] = {}
        self.thread_instructions = 0

    @property
    def turns(self) -> int:
        return self._scheduler.turn

    def batch(self, first_block: int) -> None:
        machine, scheduler = self._machine, self._scheduler
        running = machine.begin(first_block)
        if machine.memory.before is not None:
            machine.memory.before.begin()
        for frame in self._frames.values():
            frame.registers.poison()
        machine.stack_top[:] = self._stack_start
        self._copies.clear()
        self._barriers.clear()
        scheduler.stack = ()
        scheduler.begin(self._entry, lanes_of(running))
        while (found := self._next()) is not None:
            place, lanes = found
            scheduler.stack = place[:-1]
            self._execute(place, lanes)
        self._demand_end()
        machine.memory.publish(lanes_of(running))

    def _next(self) -> tuple[Place, Lanes] | None:
        try:
            return self._scheduler.next(self._let_go)
        except Fault as fault:
            if fault.place is None:
                raise self._located(fault, self._kernel, None) from None
            part = self._parts[fault.place[-1]]
            raise self._located(fault, part.frame.function, next(iter(part.steps), None)) from None

    def _execute(self, place: Place, lanes: Lanes) -> None:
        part = self._parts[place[-1]]
        if part.meets is not None:
            lanes = self._met(place, lanes, part)
            if not lanes.count:
                return
        number = 0
        try:
            for action in part.actions:
                action(lanes)
                number += 1
            part.end(lanes)
        except Fault as fault:
            raise self._located(fault, part.frame.function, part.steps[number]) from None
        count = len(part.steps)
        self._machine.clock += count
        self.thread_instructions += count * lanes.count

    def _met(self, place: Place, lanes: Lanes, part: Part) -> Lanes:
        """Return the lanes of warps whose lanes named by the instruction are all there; the others wait."""
        waiting = self._meeting.pop(place, None)
        if waiting is not None:
            lanes = merged((waiting, lanes))
        machine = self._machine
        assert part.meets is not None
        warps = machine.warp_of[lanes.at]
        here = machine.warp_masks(lanes)[warps]
        alive = machine.warp_masks(lanes_of(np.flatnonzero(machine.alive)))[warps]
        ready = (part.meets[lanes.at] & alive & ~here) == 0
        # One thread that still waits makes those wait that it names.
        complete = machine.over_warps(np.bitwise_and, ready, lanes)[warps]
        if complete.all():
            return lanes
        self._meeting[place] = lanes.where(~complete)
        return lanes.where(complete)

    def _let_go(self) -> bool:
        """Threads that wait for their warp go on where those that they wait for have ended."""
        for place in sorted(self._meeting):
            part = self._parts[place[-1]]
            ready = self._met(place, lanes_of(np.zeros(0, np.int64)), part)
            if ready.count:
                self._scheduler.add(place, ready)
                return True
        return False

    def _demand_end(self) -> None:
        """Raise CompileError (CF1012) where threads wait for others that never come."""
        try:
            self._barriers.demand_none()
        except Fault as fault:
            raise self._located(fault, self._kernel, None) from None
        for place, lanes in sorted(self._meeting.items(), key=lambda item: item[0]):
            part = self._parts[place[-1]]
            lane = int(lanes.index[0])
            names = 0 if part.meets is None else int(part.meets[lane])
            here = int(self._machine.warp_masks(lanes)[self._machine.warp_of[lane]])
            fault = Fault(
                "CF1012",
                f"waits for ever for threads of its warp: the mask is {names:#010x}, {here:#010x} are there",
                lane,
                "name in the mask the threads that come there, and no others",
            )
            raise self._located(fault, part.frame.function, part.steps[0])

    def _located(self, fault: Fault, function: Function, step: Step | None) -> CompileError:
        step = fault.step or step
        who = "" if fault.lane is None else f" {self._machine.thread_name(fault.lane)}"
        text = f"kernel '{self._kernel.symbol}':{who} {fault.message}"
        notes = () if function is self._kernel else (Note(f"in function '{function.symbol}'"),)
        return CompileError.of(
            fault.code,
            text,
            None if step is None else span_of(function, step.instruction),
            notes=notes,
            help=fault.help,
        )
