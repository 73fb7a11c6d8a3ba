"""The parts of a function: straight code, ready to be executed, and how each part ends.

In: the steps of each part (`cutting.py`).  Out: actions on the lanes that are there, and an end that sends them on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from comprehensive.ptx.flow import Flow, Step
from comprehensive.ptx.interpreter.access import access
from comprehensive.ptx.interpreter.atomics import atomic
from comprehensive.ptx.interpreter.barriers import Answer, Barriers
from comprehensive.ptx.interpreter.binding import Action, Binding, Frame
from comprehensive.ptx.interpreter.calls import (
    Callee,
    Site,
    enter,
    leave,
    operands_of_call,
    slot_of_operand,
)
from comprehensive.ptx.interpreter.computing import computation
from comprehensive.ptx.interpreter.copies import Copies, asynchronous
from comprehensive.ptx.interpreter.cutting import ends_part, meets
from comprehensive.ptx.interpreter.externals import FUNCTIONS
from comprehensive.ptx.interpreter.faults import Fault, Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.machine import Machine
from comprehensive.ptx.interpreter.mbarriers import memory_barrier, waits
from comprehensive.ptx.interpreter.scheduler import Scheduler
from comprehensive.ptx.interpreter.stacks import stack_change
from comprehensive.ptx.interpreter.values import Array
from comprehensive.ptx.interpreter.warps import mask_of, together
from comprehensive.ptx.opcodes import Effect

_NOTHING = frozenset(
    {
        "membar",
        "fence",
        "prefetch",
        "prefetchu",
        "pmevent",
        "setmaxnreg",
        "applypriority",
        "discard",
    }
)
"""The opcodes without effect here: threads see each other's writes at once, and there is no cache."""


@dataclass
class Shared:
    """The state that all functions of a batch use."""

    machine: Machine
    scheduler: Scheduler
    barriers: Barriers
    copies: Copies
    callees: dict[str, Callee]
    """The functions that are called, by name."""
    by_address: dict[int, str]
    """Names of functions by their addresses."""
    sites: dict[int, Site] = field(default_factory=dict[int, Site])
    """Calls by their position."""


@dataclass
class Part:
    """A part of a function.

    ``meets`` are the threads that must be there, as bits by lane; None for no demand.
    """

    frame: Frame
    steps: tuple[Step, ...]
    actions: tuple[Action, ...]
    end: Callable[[Lanes], None]
    meets: Array | None


def built(
    flow: Flow, frame: Frame, shared: Shared, ranges: Sequence[tuple[int, int]], first: int
) -> list[Part]:
    """The parts of a function, ready; ``first`` is the position of the first one. Unsupported carries no place: the
    step that it happened to is in its ``step``."""
    position_of = {begin: first + number for number, (begin, _) in enumerate(ranges)}
    parts: list[Part] = []
    for number, (begin, end) in enumerate(ranges):
        steps = flow.steps[begin:end]
        ends = bool(steps) and ends_part(steps[-1])
        actions = tuple(_action(frame, step, shared) for step in (steps[:-1] if ends else steps))
        builder = _Ends(frame, shared, first + number, position_of, end)
        finish = builder.of(steps[-1]) if ends else builder.onwards()
        if begin == end:
            finish = builder.returns()
        mask = None
        if steps and meets(steps[0]):
            with _at(steps[0]):
                mask = mask_of(Binding(frame, steps[0]))
        parts.append(Part(frame, tuple(steps), actions, finish, mask))
    return parts


def _action(frame: Frame, step: Step, shared: Shared) -> Action:
    with _at(step):
        binding = Binding(frame, step)
        return under_guard(binding, _publishing(step, action_of(binding, shared), shared))


@contextmanager
def _at(step: Step) -> Generator[None]:
    """Say of an instruction that is not known where it stands."""
    try:
        yield
    except Unsupported as error:
        error.step = step
        raise
    except _OF_FORM:
        error = Unsupported(f"this form of '{step.instruction.opcode.text}'")
        error.step = step
        raise error from None


# What taking an instruction apart raises where it has other operands or types than were thought of.
_OF_FORM = (IndexError, KeyError, StopIteration, ValueError)


_ALSO_PUBLISHING = frozenset({"mbarrier", "cp"})
"""The opcodes with accesses beside loads and stores; arrivals release, and a copy reads what its thread has written."""


def _publishing(step: Step, action: Action, shared: Shared) -> Action:
    """The action behind what makes earlier writes of its lanes visible to other threads, where it does."""
    opcode = step.instruction.opcode
    only_acquires = "acquire" in opcode.modifiers and opcode.base in ("ld", "atom", "red")
    orders = Effect.BARRIER in opcode.effect and opcode.base != "call" and not only_acquires
    if not orders and opcode.base not in _ALSO_PUBLISHING:
        return action
    memory = shared.machine.memory

    def published(lanes: Lanes) -> None:
        memory.publish(lanes)
        action(lanes)

    return published


def under_guard(binding: Binding, action: Action, otherwise: Action | None = None) -> Action:
    """The action for those lanes whose guard is true, and another one for the others."""
    guard = binding.step.instruction.guard
    if guard is None:
        return action
    truth = binding.truth(guard)

    def guarded(lanes: Lanes) -> None:
        mask = truth(lanes)
        count = np.count_nonzero(mask)
        if count == lanes.count:
            action(lanes)
            return
        if otherwise is not None:
            otherwise(lanes.where(~mask))
        if count:
            action(lanes.where(mask))

    return guarded


def action_of(binding: Binding, shared: Shared) -> Action:
    """An instruction that does not end a part."""
    opcode = binding.opcode
    found = (
        computation(binding)
        or access(binding)
        or atomic(binding)
        or together(binding)
        or memory_barrier(binding, shared.copies)
        or asynchronous(binding, shared.copies)
        or stack_change(binding)
    )
    if found is not None:
        return found
    if opcode.base == "griddepcontrol":
        before = shared.machine.memory.before
        return before.wait if before is not None and "wait" in opcode.modifiers else _nothing
    if opcode.base in _NOTHING or (opcode.base == "bar" and "warp" in opcode.modifiers):
        return _nothing
    raise Unsupported(f"'{opcode.text}'")


def _nothing(lanes: Lanes) -> None:
    pass


class _Ends:
    """The ends of parts: each method makes a function that sends lanes on."""

    def __init__(
        self, frame: Frame, shared: Shared, position: int, position_of: Mapping[int, int], end: int
    ) -> None:
        self._frame = frame
        self._shared = shared
        self._scheduler = shared.scheduler
        self._position = position
        self._position_of = position_of
        self._end = end

    @property
    def _next(self) -> int:
        return self._position_of[self._end]

    def onwards(self) -> Callable[[Lanes], None]:
        scheduler, following = self._scheduler, self._position_of.get(self._end, -1)
        return lambda lanes: scheduler.go(following, lanes)

    def of(self, step: Step) -> Callable[[Lanes], None]:
        with _at(step):
            binding = Binding(self._frame, step)
            return under_guard(
                binding, _publishing(step, self._unguarded(binding), self._shared), self.onwards()
            )

    def _unguarded(self, binding: Binding) -> Callable[[Lanes], None]:
        step = binding.step
        scheduler = self._scheduler
        match step.instruction.opcode.base:
            case "bra":
                target = self._position_of[step.targets[0]]
                return lambda lanes: scheduler.go(target, lanes)
            case "brx":
                return self._switch(binding)
            case "ret":
                return self.returns()
            case "exit":
                return self._exit
            case "trap" | "brkpt" as base:
                return _trap(base)
            case "call":
                return self._call(binding)
            case "bar" | "barrier":
                return self._barrier(binding)
            case "nanosleep":
                following = self._next
                return lambda lanes: scheduler.rest(following, lanes)
            case _:
                return self._wait(binding)

    def _exit(self, lanes: Lanes) -> None:
        self._shared.machine.alive[lanes.at] = False

    def returns(self) -> Callable[[Lanes], None]:
        shared, scheduler = self._shared, self._scheduler

        def finish(lanes: Lanes) -> None:
            stack = scheduler.stack
            if not stack:
                self._exit(lanes)
                return
            site = shared.sites[stack[-1]]
            callee = shared.callees[self._frame.function.symbol]
            leave(callee, site, self._active(callee, stack), lanes)
            scheduler.add((*stack[:-1], site.next), lanes)

        return finish

    def _active(self, callee: Callee, stack: Sequence[int]) -> int:
        """Return the number of activations of a function that a stack holds."""
        sites = self._shared.sites
        return sum(sites[position].frame is callee.frame for position in stack)

    def _switch(self, binding: Binding) -> Callable[[Lanes], None]:
        index = binding.source(binding.operands[0], "u32")
        targets = [self._position_of[target] for target in binding.step.targets]
        scheduler = self._scheduler

        def finish(lanes: Lanes) -> None:
            values = index[lanes.at]
            different: list[int] = np.unique(values).tolist()
            for value in different:
                some = lanes.where(values == value)
                if value >= len(targets):
                    raise Fault(
                        "CF1018",
                        f"branches to number {value} of {len(targets)} labels",
                        int(some.index[0]),
                        "see that the index is in the list",
                    )
                scheduler.go(targets[value], some)

        return finish

    def _wait(self, binding: Binding) -> Callable[[Lanes], None]:
        """Threads for which a phase is not over let others go first."""
        action = memory_barrier(binding, self._shared.copies)
        truth = waits(binding)
        if action is None or truth is None:
            raise Unsupported(f"'{binding.opcode.text}'")
        scheduler, following = self._scheduler, self._next

        def finish(lanes: Lanes) -> None:
            action(lanes)
            done = truth[lanes.at]
            scheduler.go(following, lanes.where(done))
            scheduler.rest(following, lanes.where(~done))

        return finish

    def _barrier(self, binding: Binding) -> Callable[[Lanes], None]:
        words = binding.opcode.modifiers
        operands = binding.operands
        if "cluster" in words:
            raise Unsupported(f"'{binding.opcode.text}'")
        reduces, waits_ = "red" in words, "arrive" not in words
        vote, answer = None, None
        if reduces:
            vote, answer = binding.truth(operands[-1]), _answer(binding)
            operands = operands[1:-1]
        number = binding.source(operands[0], "u32")
        count = binding.source(operands[1], "u32") if len(operands) > 1 else None
        barriers, scheduler, following = self._shared.barriers, self._scheduler, self._next
        step = binding.step

        def finish(lanes: Lanes) -> None:
            at = lanes.at
            place = (*scheduler.stack, following) if waits_ else None
            barriers.arrive(
                lanes,
                number[at],
                None if count is None else count[at],
                step,
                place,
                None if vote is None else vote(lanes),
                answer,
            )
            if not waits_:
                scheduler.go(following, lanes)

        return finish

    def _call(self, binding: Binding) -> Callable[[Lanes], None]:
        shared, scheduler = self._shared, self._scheduler
        returns, callee, parameters = operands_of_call(binding.operands)
        arguments = [slot_of_operand(binding, operand) for operand in parameters]
        results = tuple(slot_of_operand(binding, operand) for operand in returns)
        site = Site(self._frame, self._position_of.get(self._end, -1), results)
        position = self._position
        shared.sites[position] = site

        def go(name: str, lanes: Lanes) -> None:
            target = shared.callees[name]
            values = [slot.read(lanes) for slot in arguments]
            stack = (*scheduler.stack, position)
            enter(target, self._active(target, stack), lanes, values)
            scheduler.add((*stack, target.position), lanes)

        register = binding.register(callee)
        if register is None:
            name = callee.text
            if name in shared.callees:
                return lambda lanes: go(name, lanes)
            external = FUNCTIONS.get(name)
            if external is None:
                raise Unsupported(f"the call of '{name}', which has no body here")

            def outside(lanes: Lanes) -> None:
                values = tuple(slot.read(lanes)[0].astype(np.uint64) for slot in arguments)
                # It reads memory, and writes it, as the thread itself does.
                shared.machine.memory.publish(lanes)
                result = external(shared.machine, lanes, values)
                for slot in results:
                    slot.write(lanes, [result])
                scheduler.go(site.next, lanes)

            return outside
        pointer = binding.source(callee, "u64")

        def indirect(lanes: Lanes) -> None:
            addresses = pointer[lanes.at]
            for address in np.unique(addresses).tolist():
                some = lanes.where(addresses == address)
                name = shared.by_address.get(address)
                if name is None:
                    raise Fault(
                        "CF1018",
                        f"calls {address:#x}, where no function is",
                        int(some.index[0]),
                        "see where the pointer to the function comes from",
                    )
                go(name, some)

        return indirect


def _trap(base: str) -> Callable[[Lanes], None]:
    def finish(lanes: Lanes) -> None:
        raise Fault("CF1016", f"executes '{base}'", int(lanes.index[0]), "see what leads there")

    return finish


def _answer(binding: Binding) -> Answer:
    """Return the function that stores the result of bar.red: a number, or whether all or some said yes."""
    words = binding.opcode.modifiers
    target = binding.target(binding.operands[0], "u32" if "popc" in words else "pred")

    def answer(lanes: Lanes, counts: Array) -> None:
        agreed, arrived = counts
        target[lanes.at] = agreed if "popc" in words else agreed == arrived if "and" in words else agreed > 0

    return answer
