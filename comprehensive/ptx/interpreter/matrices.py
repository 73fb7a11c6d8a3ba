"""Products of matrices that a warp computes together: ``mma`` of doubles.

::

    mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {d0..d3}, {a0..a3}, {b0, b1}, {c0..c3};

A sum is a chain of fused multiply-adds in the order of the steps.  That is what an H100 and an H200 compute, but for
last places of subnormal numbers; the PTX ISA does not promise it.
"""

from __future__ import annotations

import re

import numpy as np

from comprehensive.ptx.interpreter.binding import Action, Binding
from comprehensive.ptx.interpreter.faults import Fault, Unsupported
from comprehensive.ptx.interpreter.floats import arithmetic
from comprehensive.ptx.interpreter.lanes import WARP, Lanes
from comprehensive.ptx.interpreter.values import Array, callable_of
from comprehensive.ptx.operands import Operand, Vector

_SHAPE = re.compile(r"m(8|16)n8k(4|8|16)$")
_QUADS = 4
"""Threads that share a row: thread (g, q) of a warp has number 4*g + q."""
_EVERY = 0xFFFFFFFF


def product_of_matrices(binding: Binding) -> Action:
    """Return the action of ``mma`` on doubles, with fragments as in the PTX ISA.

    Thread (g, q) has of A steps q, q + 4, ... of rows g and g + 8, of B these steps of column g, and of C and D columns
    2*q and 2*q + 1 of its rows.
    """
    opcode = binding.step.instruction.opcode
    found = next(filter(None, map(_SHAPE.match, opcode.modifiers)), None)
    if found is None or opcode.types != ("f64",) * 4 or not {"row", "col"} <= set(opcode.modifiers):
        raise Unsupported(f"'{opcode.text}'")
    halves, steps = int(found[1]) // 8, int(found[2])
    target, left, right, sums = binding.step.instruction.operands[:4]
    results = [binding.target(each, "f64") for each in _elements(target)]
    a, b, c = ([binding.source(each, "f64") for each in _elements(o)] for o in (left, right, sums))
    if (len(a), len(b), len(c), len(results)) != (halves * steps // 4, steps // 4, 2 * halves, 2 * halves):
        raise Unsupported(f"the operands of '{opcode.text}'")
    machine, fused = binding.machine, callable_of(arithmetic("fma", "f64", "rn"))
    lane_in_warp = machine.lane_in_warp.astype(np.int64)

    def multiply(lanes: Lanes) -> None:
        at = lanes.at
        if (machine.warp_masks(lanes)[machine.warp_of[at]] != _EVERY).any():
            message = f"executes '{opcode.base}' without all threads of its warp"
            raise Fault("CF1012", message, int(lanes.index[0]), "have whole warps come to it")
        lane = lane_in_warp[at]
        first, row, quad = lanes.index - lane, lane // _QUADS, lane % _QUADS
        made: list[Array] = []
        for number in range(2 * halves):
            half, column = divmod(number, 2)
            total = c[number][at]
            for step in range(steps):
                group, of = divmod(step, _QUADS)
                factor = a[halves * group + half][first + row * _QUADS + of]
                total = fused(factor, b[group][first + (2 * quad + column) * _QUADS + of], total)
            made.append(total)
        for result, total in zip(results, made, strict=True):
            if result is not None:
                result[at] = total

    return multiply


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


assert WARP == 8 * _QUADS
