"""Matrices of a warp: ``mma`` of doubles and of elements of 16 bits, and ``ldmatrix``.

::

    mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {d0..d3}, {a0..a3}, {b0, b1}, {c0..c3};
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0..d3}, {a0..a3}, {b0, b1}, {c0..c3};
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d0..d3}, [a];

A sum of doubles is a chain of fused multiply-adds in the order of the steps.  That is what an H100 and an H200
compute, but for last places of subnormal numbers; the PTX ISA does not promise it.  Of elements of 16 bits the products
are exact, and are added up one after the other in single precision; hardware adds them in another order, with another
rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter.access import places_of
from comprehensive.ptx.interpreter.binding import Action, Binding
from comprehensive.ptx.interpreter.faults import Fault, Unsupported
from comprehensive.ptx.interpreter.floats import arithmetic
from comprehensive.ptx.interpreter.lanes import WARP, Lanes
from comprehensive.ptx.interpreter.values import Array, callable_of
from comprehensive.ptx.operands import Operand, Vector

_SHAPE = re.compile(r"m(8|16)n8k(4|8|16)$")
_QUADS = 4
"""Threads that share a row: thread (g, q) of a warp has number 4*g + q."""
_ROWS = 8
_EVERY = 0xFFFFFFFF


def product_of_matrices(binding: Binding) -> Action:
    """Return the action of ``mma``, with fragments as in the PTX ISA.

    Thread (g, q) has of C and D columns 2*q and 2*q + 1 of rows g and g + 8.  Of A it has steps of these rows, of B the
    same steps of column g: of doubles q, q + 4, ..., of elements of 16 bits pairs, 2*q and 2*q + 1 of each eight.
    """
    opcode = binding.opcode
    found = next(filter(None, map(_SHAPE.match, opcode.modifiers)), None)
    if found is None or not {"row", "col"} <= set(opcode.modifiers):
        raise Unsupported(f"'{opcode.text}'")
    halves, steps = int(found[1]) // 8, int(found[2])
    element = opcode.types[1]
    is_narrow = element in ("f16", "bf16")
    if opcode.types == ("f64",) * 4:
        number, held = "f64", 1
    elif is_narrow and opcode.types == ("f32", element, element, "f32") and (halves, steps) == (2, 16):
        number, held = "f32", 2
    else:
        raise Unsupported(f"'{opcode.text}'")
    target, left, right, sums = binding.operands[:4]
    results = [binding.target(each, number) for each in _elements(target)]
    factor_type = "b32" if is_narrow else "f64"
    a, b = ([binding.source(each, factor_type) for each in _elements(o)] for o in (left, right))
    c = [binding.source(each, number) for each in _elements(sums)]
    words = steps // _QUADS // held
    if (len(a), len(b), len(c), len(results)) != (halves * words, words, 2 * halves, 2 * halves):
        raise Unsupported(f"the operands of '{opcode.text}'")
    machine, fused = binding.machine, callable_of(arithmetic("fma", number, "rn"))
    lane_in_warp = machine.lane_in_warp.astype(np.int64)
    value = _value_of(element)

    def multiply(lanes: Lanes) -> None:
        at = lanes.at
        _demand_whole_warps(binding, lanes)
        lane = lane_in_warp[at]
        first, row, quad = lanes.index - lane, lane // _QUADS, lane % _QUADS
        made: list[Array] = []
        for place in range(2 * halves):
            half, column = divmod(place, 2)
            total = c[place][at]
            for step in range(steps):
                group, inside = divmod(step, _QUADS * held)
                of, which = divmod(inside, held)
                factor = a[halves * group + half][first + row * _QUADS + of]
                other = b[group][first + (2 * quad + column) * _QUADS + of]
                total = fused(value(factor, which), value(other, which), total)
            made.append(total)
        for result, total in zip(results, made, strict=True):
            result[at] = total

    return multiply


def _value_of(element: str) -> Callable[[Array, int], Array]:
    """The numbers that registers hold: themselves, or the lower or the upper one of two of 16 bits."""
    if element == "f64":
        return lambda register, _: register

    def of_16_bits(register: Array, which: int) -> Array:
        bits = (register.view(np.uint32) >> np.uint32(16 * which)).astype(np.uint16)
        if element == "f16":
            return bits.view(np.float16).astype(np.float32)
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)

    return of_16_bits


def load_of_matrices(binding: Binding) -> Action:
    """Return the action of ``ldmatrix`` of 8 x 8 elements of 16 bits, of one, two or four matrices.

    Thread ``l`` says where row ``l % 8`` of matrix ``l / 8`` is, and thread (g, q) gets elements 2*q and 2*q + 1 of
    row g of each, or with ``.trans`` of column g.
    """
    opcode = binding.opcode
    to, source = binding.operands[:2]
    targets = [binding.target(each, "b32") for each in _elements(to)]
    count = next((int(word[1]) for word in opcode.modifiers if word in ("x1", "x2", "x4")), 0)
    if "m8n8" not in opcode.modifiers or opcode.types != ("b16",) or count != len(targets):
        raise Unsupported(f"'{opcode.text}'")
    is_turned, machine, memory = "trans" in opcode.modifiers, binding.machine, binding.machine.memory
    places = places_of(binding, source, 2 * _ROWS, writes=False)
    lane_in_warp = machine.lane_in_warp.astype(np.int64)
    begins = np.zeros(len(lane_in_warp), np.int64)

    def load(lanes: Lanes) -> None:
        at = lanes.at
        _demand_whole_warps(binding, lanes)
        lane = lane_in_warp[at]
        asked = lanes.where(lane < count * _ROWS)
        begins[asked.at] = places(asked)
        first, row, quad = lanes.index - lane, lane // _QUADS, lane % _QUADS
        for matrix, target in enumerate(targets):
            found = np.zeros(lanes.count, np.uint32)
            for which in range(2):
                across = 2 * quad + which
                line, inside = (across, row) if is_turned else (row, across)
                place = (begins[first + _ROWS * matrix + line] >> 1) + inside
                found |= memory.read(2, place, lanes).astype(np.uint32) << np.uint32(16 * which)
            target[at] = found

    return load


def _demand_whole_warps(binding: Binding, lanes: Lanes) -> None:
    machine = binding.machine
    if (machine.warp_masks(lanes)[machine.warp_of[lanes.at]] != _EVERY).any():
        message = f"executes '{binding.opcode.base}' without all threads of its warp"
        raise Fault("CF1012", message, int(lanes.index[0]), "have whole warps come to it")


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


assert WARP == _ROWS * _QUADS
