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
from comprehensive.ptx.operands import Operand

Places = Callable[[Lanes], Array]


def access(binding: Binding) -> Action | None:
    """Return the action of a load or a store; None for other instructions."""
    match binding.opcode.base:
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
    space = binding.opcode.space
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
    to, source = binding.operands[:2]
    type_ = binding.opcode.types[-1]
    items = _items(binding, to)
    if type_ == "b128":
        targets, word = [row for item in items for row in binding.wide(item)], "b64"
    else:
        targets, word = [binding.target(item, type_) for item in items], type_
    size, dtype = bytes_of_type(word), DTYPES[word]
    memory = binding.machine.memory
    places = places_of(binding, source, size * len(targets), writes=False)
    shift = size.bit_length() - 1

    def load(lanes: Lanes) -> None:
        first = places(lanes) >> shift
        for place, target in enumerate(targets):
            target[lanes.at] = memory.read(size, first + place, lanes).view(dtype)

    return load


def _store(binding: Binding) -> Action:
    to, source = binding.operands[:2]
    type_ = binding.opcode.types[-1]
    items = _items(binding, source)
    if type_ == "b128":
        sources, size = [row for item in items for row in binding.wide(item)], 8
    else:
        size = bytes_of_type(type_)
        word = f"b{8 * size}"
        read = word if type_ == "bf16" else type_
        sources = [binding.source(item, read).view(DTYPES[word]) for item in items]
    memory = binding.machine.memory
    places = places_of(binding, to, size * len(sources), writes=True)
    shift, is_strong = size.bit_length() - 1, binding.opcode.is_volatile

    def store(lanes: Lanes) -> None:
        first = places(lanes) >> shift
        for place, value in enumerate(sources):
            memory.write(size, first + place, lanes, value[lanes.at])
            if is_strong:
                memory.publish_at(size, first + place, lanes)

    return store


def _items(binding: Binding, operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector, or the operand itself."""
    vector = binding.vector(operand)
    return (operand,) if vector is None else vector.items
