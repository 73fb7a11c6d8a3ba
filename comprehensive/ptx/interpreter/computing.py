"""Instructions that compute, as actions on lanes: sources are gathered, a function is applied, results are put back.

action = computation(binding)       # add.f32 %f1, %f2, %f3: registers bound, no further look at the text
action(lanes)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from comprehensive.ptx.interpreter import (
    approximations,
    comparisons,
    conversions,
    float_operations,
    integer_operations,
)
from comprehensive.ptx.interpreter.binding import NOWHERE, Action, Binding, with_negated
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.integers import lookup
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.memory import WINDOW_BITS, WINDOWS, window
from comprehensive.ptx.interpreter.operation import Operation
from comprehensive.ptx.interpreter.values import DTYPES, Array, Computation, callable_of, unary
from comprehensive.ptx.opcodes import Opcode
from comprehensive.ptx.operands import Immediate, Name, Operand, Pair, Vector


def computation(binding: Binding) -> Action | None:
    """Return the action of an instruction that computes; None for others."""
    instruction = binding.step.instruction
    base = instruction.opcode.base
    special = _SPECIAL.get(base)
    if special is not None:
        return special(binding)
    operation = operation_of(instruction.opcode)
    if operation is None:
        return None
    return _bound(binding, operation)


def _bound(binding: Binding, operation: Operation) -> Action:
    count = len(operation.sources)
    given = binding.operands[1:]
    if binding.opcode.base in ("min", "max") and len(given) == 3:
        operation, count = _of_three(operation), 3
    if len(given) != count:
        raise Unsupported(f"'{binding.opcode.text}' with {len(given)} sources")
    sources, negated = binding.sources(given, operation.sources)
    function = with_negated(operation.function, negated)
    targets = _targets(binding, binding.operands[0], operation.results)
    machine = binding.machine
    if operation.reads_carry:
        sources.append(machine.carry)
    if operation.writes_carry:
        targets.append(machine.carry)
    return apply(function, sources, targets)


def _of_three(operation: Operation) -> Operation:
    function = callable_of(operation.function)
    type_ = operation.sources[0]
    return Operation((type_,) * 3, operation.results, lambda a, b, c: function(function(a, b), c))


def _targets(binding: Binding, operand: Operand, types: tuple[str, ...]) -> list[Array]:
    if isinstance(operand, Pair):
        items = operand.items
    else:
        # setp without its second result.
        items = (operand, NOWHERE)[: len(types)]
    return [binding.target(item, type_) for item, type_ in zip(items, types, strict=True)]


def apply(computation: Computation, sources: list[Array], targets: list[Array]) -> Action:
    """An action for each usual number of sources, so that none is counted while it runs."""
    function = callable_of(computation)
    if len(targets) != 1:

        def several(lanes: Lanes) -> None:
            at = lanes.at
            results = function(*[source[at] for source in sources])
            for target, result in zip(targets, results, strict=True):
                target[at] = result

        return several
    (target,) = targets
    match sources:
        case [a]:

            def unary(lanes: Lanes) -> None:
                at = lanes.at
                target[at] = function(a[at])

            return unary
        case [a, b]:

            def binary(lanes: Lanes) -> None:
                at = lanes.at
                target[at] = function(a[at], b[at])

            return binary
        case [a, b, c]:

            def ternary(lanes: Lanes) -> None:
                at = lanes.at
                target[at] = function(a[at], b[at], c[at])

            return ternary
        case _:

            def general(lanes: Lanes) -> None:
                at = lanes.at
                target[at] = function(*[source[at] for source in sources])

            return general


# --- moves ---------------------------------------------------------------------------------------------------


def _move(binding: Binding) -> Action:
    to, source = binding.operands
    type_ = binding.opcode.types[0]
    if any(word in ("v2", "v4") for word in binding.opcode.modifiers):
        return _move_vector(binding, to, source, type_)
    if isinstance(to, Vector):
        return _unpack(binding, to, source, type_)
    if isinstance(source, Vector):
        return _pack(binding, to, source, type_)
    if type_ == "b128":
        return apply(_copies, list(binding.wide(source)), list(binding.wide(to)))
    clock = binding.clock(source)
    target = binding.target(to, type_)
    if clock is not None:
        machine = binding.machine

        def read_clock(lanes: Lanes) -> None:
            target[lanes.at] = machine.clock & (0xFFFFFFFF if clock == "u32" else 0x7FFFFFFFFFFFFFFF)

        return read_clock
    local = _local_address(binding, source)
    if local is not None:
        depth, address = local
        return apply(unary(lambda deep: deep + address), [depth], [target])
    (array,), negated = binding.sources((source,), (type_,))
    return apply(np.logical_not if negated else unary(lambda a: a), [array], [target])


def _local_address(binding: Binding, source: Operand) -> tuple[Array, np.uint64] | None:
    """The two parts of the address of a variable that each activation of a function has; None for anything else."""
    depth = binding.frame.depth
    found = binding.address_of(source) if binding.register(source) is None else None
    if found is None or found[0].space != "local" or depth is None:
        return None
    return depth, np.uint64(found[1])


def _move_vector(binding: Binding, to: Operand, source: Operand, type_: str) -> Action:
    """Element by element; of a special register such as ``%tid`` the fourth is zero."""
    targets, sources = binding.vector(to), binding.vector(source)
    if targets is None or sources is None:
        raise Unsupported(f"the move from '{source}' to '{to}'")
    is_special = isinstance(source, Name) and binding.register(source) is None
    items = (*sources.items[:3], Immediate("0")) if is_special else sources.items
    arrays = [binding.source(item, type_) for item in items]
    return apply(_copies, arrays, [binding.target(item, type_) for item in targets.items])


def _copies(*values: Array) -> tuple[Array, ...]:
    """Return copies of values that may lie in a register that is written before they are used."""
    return tuple(value.copy() for value in values)


def _pack(binding: Binding, to: Operand, source: Vector, type_: str) -> Action:
    """The first element goes to the lowest bits."""
    count = len(source.items)
    if type_ == "b128":
        return apply(_copies, [binding.source(item, "b64") for item in source.items], list(binding.wide(to)))
    whole = DTYPES[type_]
    part_bits = 8 * whole.itemsize // count
    word = DTYPES[f"b{8 * whole.itemsize}"]
    sources = [binding.source(item, f"b{part_bits}") for item in source.items]

    def pack(*parts: Array) -> Array:
        result = parts[0].astype(word)
        for place, part in enumerate(parts[1:], 1):
            result = result | (part.astype(word) << word.type(place * part_bits))
        return result.view(whole)

    return apply(pack, sources, [binding.target(to, type_)])


def _unpack(binding: Binding, to: Vector, source: Operand, type_: str) -> Action:
    if type_ == "b128":
        targets = [binding.target(item, "b64") for item in to.items]
        return apply(_copies, list(binding.wide(source)), targets)
    whole = DTYPES[type_]
    part_bits = 8 * whole.itemsize // len(to.items)
    word, part_type = DTYPES[f"b{8 * whole.itemsize}"], f"b{part_bits}"
    part = DTYPES[part_type]

    def unpack(value: Array) -> tuple[Array, ...]:
        bits = np.array(value).view(word)
        return tuple((bits >> word.type(place * part_bits)).astype(part) for place in range(len(to.items)))

    parts = [binding.target(item, part_type) for item in to.items]
    return apply(unpack, [binding.source(source, type_)], parts)


# --- addresses -----------------------------------------------------------------------------------------------


def _convert_address(binding: Binding) -> Action:
    """Return the action of ``cvta``: the begin of the space is added to an address, or subtracted from it."""
    opcode = binding.opcode
    to, source = binding.operands
    type_ = opcode.types[-1]
    dtype = DTYPES[type_]
    begin = np.array(window(_space(opcode)), np.uint64)
    shift = (-begin if "to" in opcode.modifiers else begin).astype(dtype)
    target = binding.target(to, type_)
    local = _local_address(binding, source)
    if local is not None:
        depth, address = local
        return apply(unary(lambda deep: deep + address + shift), [depth], [target])
    return apply(unary(lambda a: a + shift), [binding.source(source, type_)], [target])


def _is_in_space(binding: Binding) -> Action:
    to, source = binding.operands
    number = WINDOWS[_space(binding.opcode)]
    array = binding.source(source, "b64")
    return apply(
        unary(lambda a: (a >> np.uint64(WINDOW_BITS)) == number), [array], [binding.target(to, "pred")]
    )


def _space(opcode: Opcode) -> str:
    """The space that cvta and isspacep name."""
    return next(word for word in map(_plain, opcode.modifiers) if word in WINDOWS)


def _plain(word: str) -> str:
    """Return ``shared`` for ``shared::cta``: without clusters all blocks have shared memory of their own."""
    return word.partition("::")[0]


def _policy(binding: Binding) -> Action:
    """Return the action of ``createpolicy``, which stores 0: there are no caches."""
    target = binding.target(binding.operands[0], "b64")
    return apply(unary(lambda a: a), [binding.source(Immediate("0"), "b64")], [target])


# --- what has a literal that is no source --------------------------------------------------------------------


def _lookup(binding: Binding) -> Action:
    """Return the action of ``lop3.b32``. Unsupported where it has a predicate."""
    operands = binding.operands
    if len(operands) != 5 or not isinstance(operands[4], Immediate):
        raise Unsupported("lop3 with a predicate")
    table = int(operands[4].value)
    sources = [binding.source(operand, "b32") for operand in operands[1:4]]
    if isinstance(operands[0], Name) and binding.opcode.types:
        return apply(lambda a, b, c: lookup(a, b, c, table), sources, [binding.target(operands[0], "b32")])
    raise Unsupported("this form of lop3")


_SPECIAL: dict[str, Callable[[Binding], Action]] = {
    "mov": _move,
    "cvta": _convert_address,
    "isspacep": _is_in_space,
    "createpolicy": _policy,
    "lop3": _lookup,
}


GROUPS = (  # a form is asked for where it is listed first
    integer_operations.BUILDERS,
    float_operations.BUILDERS,
    approximations.BUILDERS,
    comparisons.BUILDERS,
    conversions.BUILDERS,
)


@cache
def operation_of(opcode: Opcode) -> Operation | None:
    """Return what an instruction does; None for what the interpreter does not know."""
    for group in GROUPS:
        builder = group.get(opcode.base)
        found = None if builder is None else builder(opcode)
        if found is not None:
            return found
    return None
