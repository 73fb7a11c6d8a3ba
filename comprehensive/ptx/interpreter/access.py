"""ld and st: addresses to places, values gathered or scattered, every access checked.

    action = access(binding)        # ld.global.v2.f32 {%f1, %f2}, [%rd1+8]
    action(lanes)

A vector is one access of its whole width: its alignment is that of all elements together.
"""

from __future__ import annotations

from collections.abc import Callable

from comprehensive.ptx.interpreter.binding import Action, Binding
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.values import DTYPES, Array, bytes_of_type
from comprehensive.ptx.operands import Operand, Vector

Places = Callable[[Lanes], Array]


def access(binding: Binding) -> Action | None:
    """Return the action of a load or a store; None for other instructions."""
    opcode = binding.step.instruction.opcode
    match opcode.base:
        case "ld" | "ldu":
            return _load(binding)
        case "st":
            return _store(binding)
        case _:
            return None


def places_of(binding: Binding, operand: Operand, width: int, *, writes: bool) -> Places:
    """Return the function that computes, for lanes, where accesses of so many bytes go.

    Parameters of functions lie in local memory, those of kernels in a space of their own.
    """
    opcode = binding.step.instruction.opcode
    space = opcode.space
    if space == "param":
        space = binding.space_of(operand) or "param"
    elif space in ("shared::cluster", "shared::cta"):
        space = "shared"
    elif space in (None, "generic"):
        space = None
    if space not in (None, "global", "shared", "local", "const", "param"):
        raise Unsupported(f"memory of space .{space}")
    address = binding.address(operand)
    # A symbol stands for an address in its own space, also where none is named.
    if space is None and (named := binding.space_of(operand)) is not None:
        space = named
    memory = binding.machine.memory
    if space is None:
        return lambda lanes: memory.generic(address(lanes), width, lanes, writes=writes)
    of_space = memory.spaces[space].places
    return lambda lanes: of_space(address(lanes), width, lanes, writes=writes)


def _load(binding: Binding) -> Action:
    opcode = binding.step.instruction.opcode
    to, source = binding.step.instruction.operands[:2]
    type_ = opcode.types[-1]
    size = bytes_of_type(type_)
    memory = binding.machine.memory
    elements = binding.vector(to)
    if elements is not None:
        return _load_vector(binding, elements, source, type_)
    if type_ == "b128":
        pair = Vector((to,))
        return _load_wide(binding, pair, source)
    places = places_of(binding, source, size, writes=False)
    target = binding.target(to, type_)
    dtype, shift = DTYPES[type_], size.bit_length() - 1

    def load(lanes: Lanes) -> None:
        found = memory.read(size, places(lanes) >> shift, lanes).view(dtype)
        if target is not None:
            target[lanes.at] = found

    return load


def _load_vector(binding: Binding, to: Vector, source: Operand, type_: str) -> Action:
    if type_ == "b128":
        return _load_wide(binding, to, source)
    count, size = len(to.items), bytes_of_type(type_)
    memory = binding.machine.memory
    places = places_of(binding, source, count * size, writes=False)
    targets = [binding.target(item, type_) for item in to.items]
    dtype, shift = DTYPES[type_], size.bit_length() - 1

    def load(lanes: Lanes) -> None:
        first = places(lanes) >> shift
        values = [memory.read(size, first + place, lanes).view(dtype) for place in range(count)]
        for target, value in zip(targets, values, strict=True):
            if target is not None:
                target[lanes.at] = value

    return load


def _load_wide(binding: Binding, to: Vector, source: Operand) -> Action:
    targets = [binding.wide(item) for item in to.items]
    memory = binding.machine.memory
    places = places_of(binding, source, 16 * len(targets), writes=False)

    def load(lanes: Lanes) -> None:
        first = places(lanes) >> 3
        for place, target in enumerate(targets):
            for row in (0, 1):
                target[row, lanes.at] = memory.read(8, first + (2 * place + row), lanes)

    return load


def _store(binding: Binding) -> Action:
    opcode = binding.step.instruction.opcode
    to, source = binding.step.instruction.operands[:2]
    type_ = opcode.types[-1]
    memory = binding.machine.memory
    elements = binding.vector(source)
    items = (source,) if elements is None else elements.items
    if type_ == "b128":
        return _store_wide(binding, to, items)
    count, size = len(items), bytes_of_type(type_)
    places = places_of(binding, to, count * size, writes=True)
    word = f"b{8 * size}"
    sources = [binding.source(item, word if type_ == "bf16" else type_).view(DTYPES[word]) for item in items]
    shift, is_strong = size.bit_length() - 1, opcode.is_volatile
    if count == 1:
        (value,) = sources

        def store(lanes: Lanes) -> None:
            where = places(lanes) >> shift
            memory.write(size, where, lanes, value[lanes.at])
            if is_strong:
                memory.publish_at(size, where, lanes)

        return store

    def store_vector(lanes: Lanes) -> None:
        first = places(lanes) >> shift
        for place, each in enumerate(sources):
            memory.write(size, first + place, lanes, each[lanes.at])
            if is_strong:
                memory.publish_at(size, first + place, lanes)

    return store_vector


def _store_wide(binding: Binding, to: Operand, items: tuple[Operand, ...]) -> Action:
    sources = [binding.wide(item) for item in items]
    memory = binding.machine.memory
    places = places_of(binding, to, 16 * len(sources), writes=True)
    is_strong = binding.step.instruction.opcode.is_volatile

    def store(lanes: Lanes) -> None:
        first = places(lanes) >> 3
        for place, source in enumerate(sources):
            for row in (0, 1):
                where = first + (2 * place + row)
                memory.write(8, where, lanes, source[row, lanes.at])
                if is_strong:
                    memory.publish_at(8, where, lanes)

    return store
