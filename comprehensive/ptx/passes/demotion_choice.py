"""The choice of the values to demote: those that relieve the pressure most for what they cost, or those of the paper.

In: values, the pressure, and how many words may be live.  Out: the values to demote::

    choose(values, analyses.pressure.variant, 64, Strategy.PRESSURE, analyses.flow)

    ==========  ====================================================================================
    pressure    most steps relieved where too much is live, for each word moved
    static      fewest accesses in the text
    liverange   fewest accesses, those in a loop ten times
    conflicts   fewest other candidates in the same instructions
    ==========  ====================================================================================

The last three are those of Sakdhnagool, Sabne and Eigenmann, RegDem, section 3.4.3: one register after the other,
whether or not it is live where the pressure is, and none that is an operand beside one that was taken before (3.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from comprehensive.ptx.flow import Flow
from comprehensive.ptx.passes.demotion_values import Value

Words = NDArray[np.int64]


class Strategy(Enum):
    PRESSURE = "pressure"
    STATIC = "static"
    LIVERANGE = "liverange"
    CONFLICTS = "conflicts"


def choose(
    values: Sequence[Value], pressure: Sequence[int], target: int, strategy: Strategy, flow: Flow
) -> tuple[Value, ...]:
    """Return what to demote so that at most ``target`` words are live, as far as the values go."""
    if strategy is Strategy.PRESSURE:
        return _by_pressure(values, pressure, target)
    words = np.array(pressure, np.int64)
    taken: list[Value] = []
    for value in _of_paper(values, strategy, flow):
        if words.max(initial=0) <= target:
            break
        relieve(words, value, -value.words)
        taken.append(value)
    return tuple(taken)


def _by_pressure(values: Sequence[Value], pressure: Sequence[int], target: int) -> tuple[Value, ...]:
    words = np.array(pressure, np.int64)
    stretches = [(owner, *stretch) for owner, value in enumerate(values) for stretch in value.relieved]
    if not stretches:
        return ()
    owners, begins, ends = (np.array(column, np.int64) for column in zip(*stretches, strict=True))
    gain_a_cost = np.array([value.words / (1 + value.cost) for value in values])
    is_left = np.ones(len(values), bool)
    taken: list[int] = []
    while words.max(initial=0) > target:
        sums = np.concatenate(([0], np.cumsum(words > target)))
        relieved = np.bincount(owners, sums[ends] - sums[begins], len(values))
        scores = relieved * gain_a_cost * is_left
        best = int(np.argmax(scores))
        if scores[best] <= 0:
            break
        is_left[best] = False
        taken.append(best)
        relieve(words, values[best], -values[best].words)
    return tuple(values[each] for each in _needed(values, taken, words, target))


def _needed(values: Sequence[Value], taken: Sequence[int], words: Words, target: int) -> Iterator[int]:
    """Yield what is taken without what later choices have made superfluous, the dearest first."""
    limit = max(target, int(words.max(initial=0)))
    dropped: set[int] = set()
    for each in sorted(taken, key=lambda number: (-values[number].cost, number)):
        relieve(words, values[each], values[each].words)
        if words.max(initial=0) <= limit:
            dropped.add(each)
        else:
            relieve(words, values[each], -values[each].words)
    return (each for each in taken if each not in dropped)


def relieve(words: Words, value: Value, by: int) -> None:
    """Add so many words to the pressure wherever the register of a value is free."""
    for begin, end in value.relieved:
        words[begin:end] += by


def _of_paper(values: Sequence[Value], strategy: Strategy, flow: Flow) -> Iterator[Value]:
    beside = _beside(values, flow)
    match strategy:
        case Strategy.STATIC:
            costs = {value.register.number: value.accesses for value in values}
        case Strategy.LIVERANGE:
            costs = {value.register.number: value.weighted for value in values}
        case Strategy.CONFLICTS | Strategy.PRESSURE:
            costs = {number: len(others) for number, others in beside.items()}
    barred: set[int] = set()
    for value in sorted(values, key=lambda value: (costs[value.register.number], value.register.number)):
        if value.stores and value.register.number not in barred:
            barred |= beside[value.register.number]
            yield value


def _beside(values: Sequence[Value], flow: Flow) -> dict[int, set[int]]:
    """The other candidates that are operands of the same instructions."""
    found = {value.register.number: set[int]() for value in values}
    for step in flow.steps:
        operands = found.keys() & {*step.reads, *step.defines}
        for each in operands:
            found[each] |= operands - {each}
    return found
