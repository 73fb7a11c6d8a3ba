"""mbarrier: barriers that are words of shared memory, with phases and counts of bytes still to come.

    action = memory_barrier(binding, copies)        # mbarrier.arrive.shared.b64 %rd1, [%r1];

The word is opaque to programs; here it is, from the top: phase (1 bit), arrivals expected (21), arrivals pending (21),
bytes pending (21, offset by 2**20).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter.access import places_of
from comprehensive.ptx.interpreter.binding import NOWHERE, Action, Binding
from comprehensive.ptx.interpreter.copies import Copies
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.operation import has
from comprehensive.ptx.interpreter.values import Array
from comprehensive.ptx.operands import Address, Operand

_FIELD = (1 << 21) - 1
_NO_BYTES = 1 << 20


def packed_state(phase: int, expected: int, pending: int, transfer: int) -> int:
    """Numbers that are out of bounds, whose effect PTX does not define, are cut off."""
    fields = (expected & _FIELD) << 42 | (pending & _FIELD) << 21 | (transfer + _NO_BYTES & _FIELD)
    return phase << 63 | fields


def unpacked_state(word: int) -> tuple[int, int, int, int]:
    """Phase, arrivals expected, arrivals pending, bytes pending."""
    return word >> 63, word >> 42 & _FIELD, word >> 21 & _FIELD, (word & _FIELD) - _NO_BYTES


def arrived(word: int, *, count: int = 0, expects: int = 0, completes: int = 0, drops: int = 0) -> int:
    """The word after arrivals; the phase ends when nothing is pending."""
    phase, expected, pending, transfer = unpacked_state(word)
    expected -= drops
    transfer += expects - completes
    pending -= count
    if pending == 0 and transfer == 0:
        phase, pending = 1 - phase, expected
    return packed_state(phase, expected, pending, transfer)


def memory_barrier(binding: Binding, copies: Copies) -> Action | None:
    """Return the action of an mbarrier instruction, or of cp.async.mbarrier; None for others."""
    opcode = binding.opcode
    if opcode.base == "cp" and "mbarrier" in opcode.modifiers and "async" in opcode.modifiers:
        return _after_copies(binding, copies, binding.operands[0])
    if opcode.base != "mbarrier":
        return None
    build = _BUILDERS.get(opcode.modifiers[0])
    if build is None:
        raise Unsupported(f"'{opcode.text}'")
    return build(binding)


def waits(binding: Binding) -> Array | None:
    """The predicate of an instruction that says whether a phase is over; None for others."""
    opcode = binding.opcode
    to = binding.operands[0]
    if opcode.base == "mbarrier" and opcode.modifiers[0] in ("try_wait", "test_wait") and to != NOWHERE:
        return binding.target(to, "pred")
    return None


def _changed(
    binding: Binding, operand: Operand, change: Callable[..., int], *numbers: Array, to: Operand = NOWHERE
) -> Action:
    """Every lane changes its word in turn; what it has found there goes to an operand."""
    places = places_of(binding, operand, 8, writes=True)
    memory, target = binding.machine.memory, binding.target(to, "b64")

    def execute(lanes: Lanes) -> None:
        view = memory.views[8]
        found = np.empty(lanes.count, np.uint64)
        columns = [number[lanes.at].tolist() for number in numbers]
        for turn, place in enumerate((places(lanes) >> 3).tolist()):
            word = int(view[place])
            found[turn] = word
            view[place] = change(word, *(column[turn] for column in columns))
        target[lanes.at] = found

    return execute


def _initialise(binding: Binding) -> Action:
    address, count = binding.operands

    def begun(_: int, number: int) -> int:
        return packed_state(0, number, number, 0)

    return _changed(binding, address, begun, binding.source(count, "u32"))


def _arrive(binding: Binding) -> Action:
    """Return the action of arrive or arrive_drop."""
    operands = binding.operands
    to, address, *rest = (NOWHERE, *operands) if isinstance(operands[0], Address) else operands
    number = binding.source(rest[0], "u32") if rest else np.broadcast_to(np.uint32(1), binding.lanes)
    expects, drops = has(binding.opcode, "expect_tx"), has(binding.opcode, "arrive_drop")

    def change(word: int, number: int) -> int:
        if expects:
            return arrived(word, count=1, expects=number, drops=int(drops))
        return arrived(word, count=number, drops=number if drops else 0)

    return _changed(binding, address, change, number, to=to)


def _transfer(binding: Binding) -> Action:
    """Return the action of expect_tx or complete_tx."""
    address, number = binding.operands[:2]
    completes = has(binding.opcode, "complete_tx")

    def change(word: int, number: int) -> int:
        return arrived(word, completes=number) if completes else arrived(word, expects=number)

    return _changed(binding, address, change, binding.source(number, "u32"))


def _after_copies(binding: Binding, copies: Copies, operand: Operand) -> Action:
    """Arrives when the copies of the thread are there; they are at once. Without noinc nothing is left to arrive."""
    no_increment = any("noinc" in word for word in binding.opcode.modifiers)

    def change(word: int) -> int:
        return arrived(word, count=1) if no_increment else word

    execute = _changed(binding, operand, change)

    def arrive(lanes: Lanes) -> None:
        copies.wait(lanes, None)
        execute(lanes)

    return arrive


def _wait(binding: Binding) -> Action:
    """Return the action that tests whether a phase is over: that of a state, or the last one of a parity."""
    opcode = binding.opcode
    to, address, which, *_ = binding.operands
    target = binding.target(to, "pred")
    places = places_of(binding, address, 8, writes=False)
    memory = binding.machine.memory
    source, shift = (
        (binding.source(which, "u32"), 0) if has(opcode, "parity") else (binding.source(which, "b64"), 63)
    )

    def wait(lanes: Lanes) -> None:
        now = memory.views[8][places(lanes) >> 3] >> np.uint64(63)
        before = source[lanes.at].astype(np.uint64) >> np.uint64(shift) & np.uint64(1)
        target[lanes.at] = now != before

    return wait


def _count(binding: Binding) -> Action:
    to, state = binding.operands
    target, source = binding.target(to, "b32"), binding.source(state, "b64")

    def count(lanes: Lanes) -> None:
        target[lanes.at] = (source[lanes.at] >> np.uint64(21)) & np.uint64(_FIELD)

    return count


def _forget(binding: Binding) -> Action:
    places = places_of(binding, binding.operands[0], 8, writes=True)
    memory = binding.machine.memory

    def forget(lanes: Lanes) -> None:
        memory.views[8][places(lanes) >> 3] = np.uint64(0xFFFFFFFFFFFFFFFF)

    return forget


_BUILDERS: dict[str, Callable[[Binding], Action]] = {
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "init": _initialise,
    "inval": _forget,
    "expect_tx": _transfer,
    "complete_tx": _transfer,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _count,
}
