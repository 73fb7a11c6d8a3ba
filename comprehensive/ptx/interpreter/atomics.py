"""atom and red: one thread after the other, in the order of lanes, so that results are always the same.

    action = atomic(binding)        # atom.global.add.u32 %r1, [%rd1], %r2

How that is done fast for threads that go to one place is in :mod:`comprehensive.ptx.interpreter.turns`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter import floats, turns
from comprehensive.ptx.interpreter.access import places_of
from comprehensive.ptx.interpreter.binding import NOWHERE, Action, Binding
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.operation import element_of, has, packed
from comprehensive.ptx.interpreter.values import (
    DTYPES,
    Array,
    Computation,
    bytes_of_type,
    callable_of,
    is_float,
)
from comprehensive.ptx.opcodes import Opcode
from comprehensive.ptx.operands import Operand, Vector

Change = Callable[[Array, Array, list[Array]], Array]
"""Memory, places in it and operands: memory is changed; what each thread has found."""

_ASSOCIATIVE: dict[str, np.ufunc] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}
_NAMES = (*_ASSOCIATIVE, "exch", "cas", "inc", "dec")


def atomic(binding: Binding) -> Action | None:
    """Return the action of atom or red; None for other instructions."""
    opcode = binding.opcode
    if opcode.base not in ("atom", "red") or has(opcode, "async"):
        return None
    name = next((word for word in opcode.modifiers if word in _NAMES), None)
    if name is None:
        raise Unsupported(f"'{opcode.text}'")
    operands = binding.operands
    returns = opcode.base == "atom"
    to = operands[0] if returns else NOWHERE
    address, *given = operands[1:] if returns else operands
    given = given[: 2 if name == "cas" else 1]
    if opcode.types[-1] == "b128":
        return _wide(binding, name, to, address, given)
    return _narrow(binding, name, to, address, given)


def _narrow(binding: Binding, name: str, to: Operand, address: Operand, given: list[Operand]) -> Action:
    type_ = binding.opcode.types[-1]
    size = bytes_of_type(type_)
    columns = [source.items if isinstance(source, Vector) else (source,) for source in given]
    count = len(columns[0])
    places = places_of(binding, address, size * count, writes=True)
    items = to.items if isinstance(to, Vector) else (to,) * count
    targets = [binding.target(item, type_) for item in items]
    sources = [[binding.source(item, type_) for item in column] for column in columns]
    change = _change(name, type_, binding.opcode)
    memory, dtype, shift = binding.machine.memory, DTYPES[type_], size.bit_length() - 1
    is_plain = type_ == element_of(type_) and not is_float(type_)
    alone = _ASSOCIATIVE.get(name) if is_plain and to == NOWHERE else None

    def execute(lanes: Lanes) -> None:
        first, view = places(lanes) >> shift, memory.views[size].view(dtype)
        for element, target in enumerate(targets):
            memory.publish_at(size, first + element, lanes)
            values = [column[element][lanes.at] for column in sources]
            if alone is None:
                target[lanes.at] = change(view, first + element, values)
            else:
                alone.at(view, first + element, values[0])

    return execute


def _change(name: str, type_: str, opcode: Opcode) -> Change:
    match name:
        case "exch":
            return lambda view, places, values: turns.scanned(lambda _, b: b, view, places, values[0])
        case "cas":
            return lambda view, places, values: turns.compared(
                view[None], places, *(v[None] for v in values)
            )[0]
        case "inc" | "dec":
            return lambda view, places, values: turns.counted(view, places, values[0], upwards=name == "inc")
        case _:
            pass
    element = element_of(type_)
    if not is_float(element):
        function = packed(_ASSOCIATIVE[name], type_)
        return lambda view, places, values: turns.scanned(function, view, places, values[0])
    update = _of_floats(name, element, opcode)
    of_pairs = packed(update, type_)
    return lambda view, places, values: turns.one_by_one(of_pairs, view, places, values[0])


def _of_floats(name: str, type_: str, opcode: Opcode) -> Computation:
    if name in ("min", "max"):
        return floats.extreme(type_, name == "max", has(opcode, "NaN"), False)
    if name != "add":
        raise Unsupported(f"'{opcode.text}'")
    add = callable_of(floats.arithmetic("add", type_, "rn"))
    if type_ != "f32" or opcode.space == "shared":
        return add

    def flushed(a: Array, b: Array) -> Array:
        # PTX ISA, atom: on global memory the addition of f32 flushes subnormal numbers.
        return floats.flushed(add(floats.flushed(a, "f32"), floats.flushed(b, "f32")), "f32")

    return flushed


def _wide(binding: Binding, name: str, to: Operand, address: Operand, given: list[Operand]) -> Action:
    """Return the action of a 128-bit atomic, ``exch`` or ``cas``."""
    if name not in ("exch", "cas"):
        raise Unsupported(f"'{binding.opcode.text}'")
    target = np.empty((2, binding.lanes), np.uint64) if to == NOWHERE else binding.wide(to)
    sources = [binding.wide(source) for source in given]
    places = places_of(binding, address, 16, writes=True)
    memory = binding.machine.memory

    def execute(lanes: Lanes) -> None:
        pairs = memory.views[8][: len(memory.views[8]) // 2 * 2].reshape(-1, 2).T
        values = [source[:, lanes.at] for source in sources]
        where = places(lanes) >> 4
        for half in (0, 1):
            memory.publish_at(8, 2 * where + half, lanes)
        if name == "cas":
            old = turns.compared(pairs, where, *values)
        else:
            rows = zip(pairs, values[0], strict=True)
            old = np.stack([turns.scanned(lambda _, b: b, row, where, value) for row, value in rows])
        target[:, lanes.at] = old

    return execute
