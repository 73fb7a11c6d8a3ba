"""The places at which a function is cut into parts.

In: the steps of a function.  Out: ranges of them.  A part begins where something jumps to and where threads of a warp
must meet; it ends with what moves threads elsewhere or makes them wait.  Every part has a position; the positions of a
function follow each other in weak topological order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from comprehensive.ptx.flow import Flow, Step
from comprehensive.ptx.interpreter.order import weak_order

_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap", "brkpt"})


def _cut(flow: Flow) -> list[tuple[int, int]]:
    """The parts as ranges of steps, the first one first; the last, empty one is where the function ends."""
    steps = flow.steps
    begins = {0, len(steps)}
    for number, step in enumerate(steps):
        begins.update(step.targets)
        if ends_part(step):
            begins.add(number + 1)
        if meets(step):
            begins.add(number)
    ordered = sorted(begins)
    return [*pairwise(ordered), (len(steps), len(steps))]


def ends_part(step: Step) -> bool:
    """Whether an instruction moves threads elsewhere, or makes them wait."""
    opcode = step.instruction.opcode
    base, words = opcode.base, opcode.modifiers
    if base in ("bar", "barrier"):
        return "warp" not in words
    if base == "mbarrier":
        return words[0] in ("try_wait", "test_wait")
    return base in _JUMPS or base in ("call", "nanosleep")


def meets(step: Step) -> bool:
    """Whether threads of a warp must be together for an instruction."""
    opcode = step.instruction.opcode
    if opcode.base == "bar":
        return "warp" in opcode.modifiers
    return opcode.base in ("elect", "mma", "ldmatrix") or (
        opcode.base in ("shfl", "vote", "match", "redux") and "sync" in opcode.modifiers
    )


def ordered_parts(flow: Flow) -> list[tuple[int, int]]:
    """The parts that can be reached, in the order of their positions."""
    ranges = _cut(flow)
    number_of = {
        begin: number
        for number, (begin, end) in enumerate(ranges)
        if begin < end or number == len(ranges) - 1
    }
    successors = [_successors(flow, *each, number_of) for each in ranges]
    return [ranges[number] for number in weak_order(successors, 0)]


def _successors(flow: Flow, begin: int, end: int, number_of: Mapping[int, int]) -> tuple[int, ...]:
    if begin == end:
        return ()
    last = flow.steps[end - 1]
    targets = tuple(number_of[target] for target in dict.fromkeys(last.targets))
    if last.instruction.opcode.base in _JUMPS and last.guard is None:
        return targets
    return tuple(dict.fromkeys((number_of[end], *targets)))
