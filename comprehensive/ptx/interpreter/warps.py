"""Instructions that the threads of a warp execute together: shfl, vote, match, redux, activemask, elect, mma, ldmatrix.

A warp is here those of its threads that execute the instruction now: with ``.sync`` they are all that the mask names,
because :mod:`comprehensive.ptx.interpreter.control` has made them wait for each other.  What comes from a thread that
does not take part is poison.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter.binding import NOWHERE, Action, Binding
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import WARP, Lanes
from comprehensive.ptx.interpreter.machine import Machine
from comprehensive.ptx.interpreter.matrices import load_of_matrices, product_of_matrices
from comprehensive.ptx.interpreter.operation import first
from comprehensive.ptx.interpreter.values import DTYPES, POISON, Array
from comprehensive.ptx.operands import Operand, Pair

_ONE = np.uint32(1)


def together(binding: Binding) -> Action | None:
    """Return the action of an instruction that threads of a warp do together; None for others."""
    build = _BUILDERS.get(binding.opcode.base)
    return None if build is None else build(binding)


def mask_of(binding: Binding) -> Array | None:
    """The threads that an instruction names, as bits; None for one that waits for nobody."""
    opcode, operands = binding.opcode, binding.operands
    if opcode.base == "bar" and "warp" in opcode.modifiers:
        return binding.source(operands[0], "b32")
    if opcode.base in ("shfl", "vote", "match", "redux") and "sync" in opcode.modifiers:
        return binding.source(operands[-1], "b32")
    if opcode.base == "elect":
        return binding.source(operands[-1], "b32")
    if opcode.base in ("mma", "ldmatrix"):  # of whole warps
        return np.broadcast_to(np.uint32(0xFFFFFFFF), binding.lanes)
    return None


def _targets(binding: Binding, operand: Operand) -> tuple[Array, Array]:
    value, truth = operand.items if isinstance(operand, Pair) else (operand, NOWHERE)
    return binding.target(value, "b32"), binding.target(truth, "pred")


def _shuffle(binding: Binding) -> Action:
    mode = first(binding.opcode, ("up", "down", "bfly", "idx"))
    target, valid_target = _targets(binding, binding.operands[0])
    source, distance, clamp = (binding.source(operand, "b32") for operand in binding.operands[1:4])
    machine = binding.machine
    lane_in_warp = machine.lane_in_warp.astype(np.int64)

    def shuffle(lanes: Lanes) -> None:
        at = lanes.at
        lane = lane_in_warp[at]
        by = distance[at].astype(np.int64) & 31
        control = clamp[at].astype(np.int64)
        segment, bound = control >> 8 & 31, control & 31
        lowest = lane & segment
        limit = lowest | (bound & ~segment)
        if mode == "up":
            other = lane - by
            valid = other >= limit
        elif mode == "down":
            other = lane + by
            valid = other <= limit
        elif mode == "bfly":
            other = lane ^ by
            valid = other <= limit
        else:
            other = lowest | (by & ~segment)
            valid = other <= limit
        other = np.where(valid, other, lane)
        place = lanes.index - lane + other
        values = source[place]
        if isinstance(at, slice) and at.start % WARP == 0 and at.stop % WARP == 0:
            present = None
        else:
            present = (machine.warp_masks(lanes)[machine.warp_of[at]] >> other.astype(np.uint32)) & _ONE
        if present is not None and not present.all():
            values = np.where(present != 0, values, np.uint32(POISON * 0x01010101))
        target[at] = values
        valid_target[at] = valid

    return shuffle


def _vote(binding: Binding) -> Action:
    mode = first(binding.opcode, ("all", "any", "uni", "ballot"))
    predicate = binding.truth(binding.operands[1])
    target = binding.target(binding.operands[0], "b32" if mode == "ballot" else "pred")
    machine = binding.machine

    def vote(lanes: Lanes) -> None:
        at = lanes.at
        truth = predicate(lanes)
        ballots = machine.over_warps(
            np.bitwise_or, truth.astype(np.uint32) << machine.lane_in_warp[at], lanes
        )
        warps = machine.warp_of[at]
        if mode == "ballot":
            result = ballots[warps]
        else:
            present = machine.warp_masks(lanes)
            every, some = ballots == present, ballots != 0
            result = {"all": every, "any": some, "uni": every | ~some}[mode or "all"][warps]
        target[at] = result

    return vote


def _match(binding: Binding) -> Action:
    source = binding.source(binding.operands[1], binding.opcode.types[-1])
    target, equal_target = _targets(binding, binding.operands[0])
    machine = binding.machine
    in_all = "all" in binding.opcode.modifiers

    def match(lanes: Lanes) -> None:
        at = lanes.at
        warps, values = machine.warp_of[at], source[at]
        bits = _ONE << machine.lane_in_warp[at]
        order = np.lexsort((values, warps))
        changes = np.diff(warps[order], prepend=-1) != 0
        changes[1:] |= values[order][1:] != values[order][:-1]
        groups = np.cumsum(changes) - 1
        masks = np.bitwise_or.reduceat(bits[order], np.flatnonzero(changes))
        result = np.empty(lanes.count, np.uint32)
        result[order] = masks[groups]
        if in_all:
            same = result == machine.warp_masks(lanes)[warps]
            equal_target[at] = same
            result = np.where(same, result, np.uint32(0))
        target[at] = result

    return match


_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _reduce(binding: Binding) -> Action:
    opcode = binding.opcode
    type_ = opcode.types[-1]
    name = first(opcode, tuple(_REDUCTIONS))
    if name is None or DTYPES[type_].kind == "f":
        raise Unsupported(f"'{opcode.text}'")
    source, target = binding.source(binding.operands[1], type_), binding.target(binding.operands[0], type_)
    machine, function = binding.machine, _REDUCTIONS[name]

    def reduce(lanes: Lanes) -> None:
        result = machine.over_warps(function, source[lanes.at], lanes)
        target[lanes.at] = result[machine.warp_of[lanes.at]]

    return reduce


def _active(binding: Binding) -> Action:
    target = binding.target(binding.operands[0], "b32")
    machine = binding.machine

    def active(lanes: Lanes) -> None:
        target[lanes.at] = machine.warp_masks(lanes)[machine.warp_of[lanes.at]]

    return active


def _elect(binding: Binding) -> Action:
    """The first thread of those that take part."""
    target, chosen_target = _targets(binding, binding.operands[0])
    machine: Machine = binding.machine

    def elect(lanes: Lanes) -> None:
        at = lanes.at
        lane = machine.lane_in_warp[at]
        leaders = machine.over_warps(np.minimum, lane, lanes)[machine.warp_of[at]]
        target[at] = leaders
        chosen_target[at] = lane == leaders

    return elect


_BUILDERS: dict[str, Callable[[Binding], Action]] = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "activemask": _active,
    "elect": _elect,
    "mma": product_of_matrices,
    "ldmatrix": load_of_matrices,
}
