"""cp.async: copies to shared memory that are there only when they have been waited for.

What is read is taken when the copy begins; until a wait its destination is poison, so that a missing wait shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from comprehensive.ptx.interpreter.binding import Action, Binding
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.machine import Machine
from comprehensive.ptx.interpreter.values import POISON, Array
from comprehensive.ptx.operands import Immediate, Not, Operand


@dataclass
class _Pending:
    """Copies of some threads: rows of bytes, where they go, and which group of the thread they belong to."""

    index: Array
    group: Array
    places: Array
    rows: Array


class Copies:
    """Copies of a batch that have begun and are not waited for; ``groups`` counts the commits of each thread."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._pending: list[_Pending] = []
        self._groups = np.zeros(machine.shape.lanes, np.int64)

    def clear(self) -> None:
        self._pending.clear()
        self._groups[:] = 0

    def begin(self, lanes: Lanes, places: Array, rows: Array) -> None:
        size = int(rows.shape[1])
        where = places[:, None] + np.arange(size)
        self._machine.memory.bytes[where] = POISON
        self._pending.append(_Pending(lanes.index, self._groups[lanes.at].copy(), where, rows))

    def commit(self, lanes: Lanes) -> None:
        self._groups[lanes.at] += 1

    def wait(self, lanes: Lanes, open_groups: int | None) -> None:
        """Complete copies of these lanes until at most so many of the last groups are open.

        None completes all copies, committed or not.
        """
        waits = np.zeros(self._machine.shape.lanes, np.bool_)
        waits[lanes.at] = True
        left: list[_Pending] = []
        for each in self._pending:
            done = waits[each.index]
            if open_groups is not None:
                done &= each.group < self._groups[each.index] - open_groups
            self._machine.memory.bytes[each.places[done]] = each.rows[done]
            if not done.all():
                keep = ~done
                left.append(_Pending(each.index[keep], each.group[keep], each.places[keep], each.rows[keep]))
        self._pending = left


def asynchronous(binding: Binding, copies: Copies) -> Action | None:
    """Return the action of a cp.async to shared memory; None for other instructions."""
    opcode = binding.opcode
    if opcode.base != "cp" or "async" not in opcode.modifiers:
        return None
    words = opcode.modifiers
    if "bulk" in words or "mbarrier" in words:
        raise Unsupported(f"'{opcode.text}'")
    if "commit_group" in words:
        return copies.commit
    if "wait_all" in words:
        return lambda lanes: copies.wait(lanes, None)
    if "wait_group" in words:
        (count,) = binding.operands
        if not isinstance(count, Immediate):
            raise Unsupported("cp.async.wait_group of what is no literal")
        number = int(count.value)
        return lambda lanes: copies.wait(lanes, number)
    return _copy(binding, copies, binding.operands)


def _copy(binding: Binding, copies: Copies, operands: tuple[Operand, ...]) -> Action:
    """Return the action of ``[to], [from], size {, bytes or predicate}``.

    What is beyond the bytes becomes zero.
    """
    if any("cache_hint" in word for word in binding.opcode.modifiers):
        operands = operands[:-1]
    to, source, size_operand, *rest = operands
    if not isinstance(size_operand, Immediate):
        raise Unsupported("a copy whose size is no literal")
    size = int(size_operand.value)
    to_address, from_address = binding.address(to), binding.address(source)
    memory = binding.machine.memory
    taken = _taken(binding, rest, size)

    def copy(lanes: Lanes) -> None:
        places = memory.spaces["shared"].places(to_address(lanes), size, lanes, writes=True)
        rows = np.zeros((lanes.count, size), np.uint8)
        count = np.full(lanes.count, size) if taken is None else taken(lanes)
        addresses = from_address(lanes)
        for number in np.unique(count).tolist():
            if number:
                mask = count == number
                some = lanes.where(mask)
                # Alignment is that of the whole copy; bounds are those of what is read.
                first = memory.spaces["global"].places(addresses[mask], 1, some, writes=False)
                memory.spaces["global"].places(addresses[mask] + np.uint64(number - 1), 1, some, writes=False)
                rows[mask, :number] = memory.bytes[first[:, None] + np.arange(number)]
        copies.begin(lanes, places, rows)

    return copy


def _taken(binding: Binding, rest: list[Operand], size: int) -> Callable[[Lanes], Array] | None:
    """Return a function for the number of bytes that each thread reads; None where that is all of them."""
    if not rest:
        return None
    given = rest[0].operand if isinstance(rest[0], Not) else rest[0]
    number = binding.register(given)
    if number is not None and binding.frame.registers.array(number).dtype == np.bool_:
        ignores = binding.truth(rest[0])
        return lambda lanes: np.where(ignores(lanes), 0, size)
    source = binding.source(given, "u32")
    return lambda lanes: np.minimum(source[lanes.at], size).astype(np.int64)
