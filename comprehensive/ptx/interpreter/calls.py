"""Calls: parameters to the called function, its results back, registers kept where a function calls itself.

A parameter lies in local memory, on both sides; a call copies.  Of a function that may be active twice in one thread
each activation has local variables of its own, and its registers are put away while another one runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from comprehensive.ptx.interpreter.binding import Binding, Frame
from comprehensive.ptx.interpreter.faults import Fault, Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.memory import Allocation
from comprehensive.ptx.interpreter.values import Array
from comprehensive.ptx.module import Parameter
from comprehensive.ptx.operands import Arguments, Immediate, Name, Operand

LOCAL_STRIDE = 1 << 20
"""The bytes from the local variables of one activation of a function to those of the next."""


@dataclass(frozen=True)
class Slot:
    """A place for something passed by a call: words of a width, read for lanes or written for them."""

    read: Callable[[Lanes], list[Array]]
    write: Callable[[Lanes, list[Array]], None]
    size: int


def operands_of_call(operands: Sequence[Operand]) -> tuple[tuple[Operand, ...], Name, tuple[Operand, ...]]:
    """Returns, callee, parameters of a call."""
    rest = list(operands)
    returns: tuple[Operand, ...] = ()
    if isinstance(rest[0], Arguments):
        returns = rest[0].items
        rest = rest[1:]
    callee = rest.pop(0)
    if not isinstance(callee, Name):
        raise Unsupported(f"the call of '{callee}'")
    parameters = rest[0].items if rest and isinstance(rest[0], Arguments) else ()
    return returns, callee, parameters


def slot_of_operand(binding: Binding, operand: Operand) -> Slot:
    """An argument or result at the place of a call: a variable, a register, or a literal."""
    number = binding.register(operand)
    if number is not None:
        return _of_register(binding.frame, number)
    if isinstance(operand, Immediate):
        array = binding.source(operand, "b64")
        return Slot(lambda lanes: [array[lanes.at]], _no_write, 8)
    found = binding.symbol(operand.text) if isinstance(operand, Name) else None
    if found is None:
        raise Unsupported(f"the argument '{operand}'")
    return _of_variable(binding.frame, found)


def slot_of_parameter(frame: Frame, parameter: Parameter, variables: Mapping[str, Allocation]) -> Slot:
    """A formal parameter or result of a function."""
    if parameter.is_register:
        return _of_register(frame, frame.registers.number_of(parameter.name))
    return _of_variable(frame, variables[parameter.name])


def _no_write(lanes: Lanes, values: list[Array]) -> None:
    raise Unsupported("a result that is a literal")


def _of_register(frame: Frame, number: int) -> Slot:
    size = frame.registers.bytes_of(number)
    array = frame.registers.array(number)

    def write(lanes: Lanes, values: list[Array]) -> None:
        array[..., lanes.at] = values[0]

    return Slot(lambda lanes: [array[..., lanes.at].copy()], write, size)


def _of_variable(frame: Frame, variable: Allocation) -> Slot:
    size = variable.size
    width = next((width for width in (8, 4, 2) if size % width == 0), 1)
    memory = frame.machine.memory
    start = np.broadcast_to(np.uint64(variable.start), frame.machine.shape.lanes)
    depth = frame.depth

    def first(lanes: Lanes, writes: bool) -> Array:
        address = start[lanes.at] if depth is None else start[lanes.at] + depth[lanes.at]
        return memory.spaces["local"].places(address, 1, lanes, writes=writes) // width

    def read(lanes: Lanes) -> list[Array]:
        if size == 0:
            return []
        at = first(lanes, False)
        return [memory.read(width, at + place, lanes) for place in range(size // width)]

    def write(lanes: Lanes, values: list[Array]) -> None:
        if size == 0:
            return
        at = first(lanes, True)
        for place, value in enumerate(values[: size // width]):
            memory.write(width, at + place, lanes, value)

    return Slot(read, write, size)


@dataclass(frozen=True)
class Callee:
    """A function that may be called; ``position`` is where it begins."""

    name: str
    frame: Frame
    position: int
    parameters: tuple[Slot, ...]
    returns: tuple[Slot, ...]
    deepest: int


@dataclass(frozen=True)
class Site:
    """A place in the program that calls; ``next`` is where it goes on."""

    frame: Frame
    next: int
    returns: tuple[Slot, ...]


def enter(callee: Callee, depth: int, lanes: Lanes, values: list[list[Array]]) -> None:
    """Begin an activation of a function, of which ``depth`` are there already.

    Fault: CF1018 where that is too many.
    """
    frame = callee.frame
    if depth >= callee.deepest:
        raise Fault(
            "CF1018",
            f"calls '{callee.name}' in itself more than {callee.deepest} times",
            int(lanes.index[0]),
            "see that the recursion ends, or allow for more with recursion=",
        )
    if frame.depth is not None:
        if depth:
            frame.registers.save(depth - 1, lanes)
        frame.depth[lanes.at] = depth * LOCAL_STRIDE
    for slot, words in zip(callee.parameters, values, strict=False):
        slot.write(lanes, words)


def leave(callee: Callee, site: Site, depth: int, lanes: Lanes) -> None:
    """End an activation of a function; ``depth`` of its activations are left."""
    values = [slot.read(lanes) for slot in callee.returns]
    frame = callee.frame
    if frame.depth is not None and depth:
        frame.registers.restore(depth - 1, lanes)
        frame.depth[lanes.at] = (depth - 1) * LOCAL_STRIDE
    for slot, words in zip(site.returns, values, strict=False):
        slot.write(lanes, words)
