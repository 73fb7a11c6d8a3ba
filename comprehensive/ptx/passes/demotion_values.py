"""The registers of a kernel that may be kept in memory, and the relief of the pressure that each gives.

In: analyses of a kernel.  Out: its values, a :class:`Value` each, and why others are none::

    values = values_of(analyses, window=8)
    values.found[0].reloads, values.found[0].stores       # (12, 40), (3,): before and behind which steps
    values.why_not[7]                                     # "it is a predicate": of register number 7

The text of every instruction stays as it is.  A register that is demoted is stored behind each of its definitions, and
loaded again before uses in a block that lie no more than ``window`` steps apart: such a cluster of uses has one load,
and none where it begins with a definition.  Between clusters nothing is in the register, and the assembler has it free.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.flow import Flow, Register
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.statements import Declaration

ROUNDS = 10
"""The number of times that a loop is taken to go round, as in the paper."""
_BYTES = frozenset({2, 4, 8})
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")

Stretch = tuple[int, int]
"""Steps from the first to before the last: a register is live before each of them."""


@dataclass(frozen=True, slots=True)
class Value:
    """A register that may be demoted; ``words`` of 32 bits.

    ``reloads`` are steps before which, ``stores`` steps behind which its slot is accessed; ``relieved`` are stretches
    in which it is live now and then no longer is.  ``accesses`` are the static accesses of the register, ``cost`` the
    words that are moved, those in loops as often as loops go round.
    """

    register: Register
    words: int
    reloads: tuple[int, ...]
    stores: tuple[int, ...]
    relieved: tuple[Stretch, ...]
    accesses: int
    cost: int
    weighted: int
    """The accesses, those in loops as often as loops go round."""


@dataclass(frozen=True)
class Values:
    """``found`` by number of the register; ``why_not`` of those that may not be demoted."""

    found: tuple[Value, ...]
    why_not: Mapping[int, str]


def values_of(analyses: Analyses, window: int) -> Values:
    """Return what may be demoted.

    Registers that ptxas computes again where it needs them, or keeps once for a warp, are not counted in the pressure
    (ML2) and have nothing to give.
    """
    flow = analyses.flow
    accesses = _accesses(flow)
    partly = _in_parts(flow)
    found: list[Value] = []
    why_not: dict[int, str] = {}
    at_entry = analyses.liveness.live_in[0]
    for register in flow.registers:
        steps = accesses.get(register.number, ())
        why = _obstacle(register, partly)
        if why is None and at_entry >> register.number & 1:
            why = "it is read on a way on which nothing was surely written to it"
        if why is None and register.number in analyses.pressure.rematerialisable:
            why = "ptxas computes it again where it is needed"
        if why is None and register.number in analyses.pressure.uniform:
            why = "it is the same in all threads of a warp, which ptxas keeps elsewhere"
        if why is not None:
            why_not[register.number] = why
        elif steps:
            found.append(_value(analyses, register, steps, window))
    return Values(tuple(found), why_not)


def _obstacle(register: Register, partly: frozenset[str]) -> str | None:
    if register.type == "pred":
        return "it is a predicate"
    if register.scope != 0:
        return "it is a local name of inline assembly"
    if bytes_of(register.type) not in _BYTES:
        return f"a .{register.type} does not go into one or two words"
    if register.name in partly:
        return "it has parts that are accessed by themselves"
    return None


def _in_parts(flow: Flow) -> frozenset[str]:
    """The registers that are vectors, or of which instructions access parts: ``%v.x``, ``%r1.b0``."""
    declared = (s.text for s in flow.function.body if isinstance(s, Declaration) and s.kind == ".reg")
    vectors = (name for text in declared if text.startswith(".v") for name in _NAME.findall(text))
    names = (name for step in flow.steps for operand in step.instruction.operands for name in operand.names)
    return frozenset((*vectors, *(name.partition(".")[0] for name in names if "." in name)))


def _accesses(flow: Flow) -> Mapping[int, Sequence[int]]:
    """The steps that read or define each register."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, step in enumerate(flow.steps):
        for register in dict.fromkeys((*step.reads, *step.defines)):
            found[register].append(number)
    return found


def _value(analyses: Analyses, register: Register, steps: Sequence[int], window: int) -> Value:
    flow, cfg = analyses.flow, analyses.cfg
    reloads: list[int] = []
    stores: list[int] = []
    held: list[Stretch] = []
    in_block: dict[int, list[int]] = {}
    for step in steps:
        in_block.setdefault(cfg.block_of[step], []).append(step)
    for number, accesses in in_block.items():
        loaded, stored, kept = _of_block(flow, register.number, accesses, window)
        is_read_later = bool(analyses.liveness.live_out[number] >> register.number & 1)
        reloads += loaded
        stores += _needed(flow, loaded, stored, is_read_later)
        held += kept
    words = register.words
    times = {block: ROUNDS ** analyses.loops.depth(block) for block in in_block}
    return Value(
        register,
        words,
        tuple(sorted(reloads)),
        tuple(sorted(stores)),
        tuple(_without(analyses.liveness.ranges[register.number], sorted(held))),
        len(steps),
        words * sum(times[cfg.block_of[step]] for step in (*reloads, *stores)),
        sum(times[cfg.block_of[step]] for step in steps),
    )


def _of_block(
    flow: Flow, register: int, accesses: Sequence[int], window: int
) -> tuple[list[int], list[int], list[Stretch]]:
    """The loads and stores of a block, and the stretches in which the register still holds the value."""
    loaded: list[int] = []
    stored: list[int] = []
    held: list[Stretch] = []
    first = last = -1
    for step in accesses:
        at = flow.steps[step]
        # Under a guard the old value may stay, and is what is loaded.
        needs = register in at.reads or at.guard is not None
        if last >= 0 and (not needs or step - last > window):
            held.append((first, last + 1))
            last = -1
        if needs and last < 0:
            loaded.append(step)
        if last < 0:
            first = step if needs else step + 1
        last = step
        if register in at.defines:
            stored.append(step)
    held.append((first, last + 1))
    return loaded, stored, held


def _needed(flow: Flow, loaded: Sequence[int], stored: Sequence[int], is_read_later: bool) -> Iterator[int]:
    """Yield the stores whose slot is read.

    At the ends of blocks a slot is read later exactly where the register is: the first use of a block loads.
    """
    is_read = is_read_later
    stores, loads = set(stored), set(loaded)
    for step in sorted(stores | loads, reverse=True):
        if step in stores and is_read:
            yield step
        if step in stores and flow.steps[step].guard is None:
            is_read = False
        if step in loads:
            is_read = True


def _without(live: Sequence[Stretch], held: Sequence[Stretch]) -> Iterator[Stretch]:
    """The stretches of ``live`` without those of ``held``, both in order."""
    for begin, end in live:
        for first, last in held:
            if last <= begin or first >= last:
                continue
            if first >= end:
                break
            if begin < first:
                yield begin, first
            begin = max(begin, last)
        if begin < end:
            yield begin, end
