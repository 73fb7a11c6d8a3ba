"""The number of times that a thread runs each block.

In: a function, and how often its loops run.  Out: a number a block, by procedure::

    frequencies(function, {"L0": 64})[0][3]       # 64.0

A block counts the product of the loops around it, and of the calls of its procedure.  Both sides of a branch count,
as the lanes of a warp may take either.  What ptxas puts aside counts nothing: paths for lanes that have parted, and
for operands that the inlined code of a division or root cannot handle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod

from comprehensive.closure import reached
from comprehensive.ptx.analysis.graphs import reverse_postorder
from comprehensive.sass.errors import SassError
from comprehensive.sass.flow import Flow
from comprehensive.sass.function import SassFunction
from comprehensive.sass.launch import LOOP_FACTOR

# Names that ptxas gives to what it calls behind a test that is hardly ever true.
_RARE_CALLS = re.compile(r"slowpath|mediumpath|_full$|__cuda_sm70_")


def frequencies(function: SassFunction, trips: Mapping[str, int]) -> tuple[tuple[float, ...], ...]:
    """Return how often each block of each procedure runs. SassError (CF1205) for a loop that is not there."""
    names = [loop.name for loop in function.loops]
    if unknown := sorted(set(trips) - set(names)):
        raise SassError(
            "CF1205",
            f"'{function.name}' has no loop {', '.join(unknown)}",
            f"its loops are {', '.join(names)}" if names else "it has no loops",
        )
    within = [_within(function, number, trips) for number in range(len(function.procedures))]
    calls = [0.0] * len(function.procedures)
    calls[0] = 1.0
    order = _callers_first(function)
    for place, number in enumerate(order):
        for block, callee in _callees(function, number):
            # A call back is recursion, whose depth is not known.
            if callee not in order[: place + 1]:
                calls[callee] += calls[number] * within[number][block]
    return tuple(tuple(count * each for each in blocks) for count, blocks in zip(calls, within, strict=True))


def _within(function: SassFunction, number: int, trips: Mapping[str, int]) -> tuple[float, ...]:
    """Return how often each block of a procedure runs when it is called once."""
    flow = function.procedures[number].flow
    usual = _usual(flow)
    names = function.loop_names
    return tuple(
        float(
            prod(
                trips.get(names[number, loop.number], LOOP_FACTOR) for loop in flow.loops.around(block.number)
            )
        )
        if block.number in usual
        else 0.0
        for block in flow.blocks
    )


def _usual(flow: Flow) -> frozenset[int]:
    """Return the blocks that a way leads to on which nothing rare happens."""
    if _is_rare(flow, 0):
        return frozenset(flow.order)

    def usual_next(block: int) -> Iterator[int]:
        for successor in flow.blocks[block].successors:
            if (block, successor) not in flow.rare_edges and not _is_rare(flow, successor):
                yield successor

    return frozenset(reached((0,), usual_next))


def _is_rare(flow: Flow, block: int) -> bool:
    called = flow.call(flow.blocks[block])
    return called is not None and _RARE_CALLS.search(called) is not None


def _callees(function: SassFunction, number: int) -> list[tuple[int, int]]:
    """Blocks of a procedure that call, with what they call, as far as it is in the same section."""
    flow = function.procedures[number].flow
    called = [(block.number, flow.call(block)) for block in flow.blocks]
    found = [(block, function.procedure(name)) for block, name in called if name is not None]
    return [(block, callee) for block, callee in found if callee is not None]


def _callers_first(function: SassFunction) -> tuple[int, ...]:
    """Procedures that the kernel reaches, each before what it calls, except for recursion."""
    numbers = range(len(function.procedures))
    return reverse_postorder([[callee for _, callee in _callees(function, n)] for n in numbers], 0)
