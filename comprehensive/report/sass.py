"""The report of ``sass``: machine code block by block, and what is predicted of it.

In: functions, and predictions by their names.  Out: text for a terminal, or a JSON document.  A line of the text is one
instruction::

    0x0200  wait --2---  write 0  read -  stall  4 y   28  1  5  0   @P0 LDG.E R4, desc[UR8][R26.64]

Behind the stall count a ``y`` asks for another warp; then how many registers, predicates, uniform registers and uniform
predicates hold a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from msgspec import Struct

from comprehensive.machine.device import Device
from comprehensive.sass.control import SCOREBOARDS, Control
from comprehensive.sass.flow import Block
from comprehensive.sass.function import Procedure, SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.launch import LOOP_FACTOR, Launch, blocks_of
from comprehensive.sass.paper import Stalls, stalls_of_paper
from comprehensive.sass.predict import Prediction, predict
from comprehensive.sass.registers import FILES


class Predicted(Struct, frozen=True):
    """The predictions for a launch on a device: by this tool, and by the paper's count."""

    device: Device
    launch: Launch
    prediction: Prediction
    paper: Stalls


def predicted(function: SassFunction, device: Device, launch: Launch) -> Predicted:
    """Return both predictions; errors as for :func:`comprehensive.sass.predict.predict`."""
    return Predicted(
        device, launch, predict(function, device, launch), stalls_of_paper(function, device, launch)
    )


def to_text(functions: Sequence[SassFunction], predictions: Mapping[str, Predicted]) -> str:
    """Every function with its blocks; where there are predictions, these alone."""
    if predictions:
        lines = [line for each in functions for line in _prediction_lines(each, predictions[each.name])]
    else:
        lines = [line for each in functions for line in _function_lines(each)]
    return "".join(f"{line}\n" for line in lines)


def _function_lines(function: SassFunction) -> Iterator[str]:
    yield _title(function)
    for number, procedure in enumerate(function.procedures):
        if number:
            yield f" {procedure.name}, which is called"
        for block in procedure.flow.blocks:
            yield from _block_lines(function, number, block)


def _title(function: SassFunction) -> str:
    return (
        f"{function.name}: sm_{function.architecture}, {len(function.instructions)} instructions, "
        f"{function.registers_per_thread} registers, {function.shared_bytes} bytes of shared memory, "
        f"{function.frame_bytes} of local memory"
    )


def _block_lines(function: SassFunction, number: int, block: Block) -> Iterator[str]:
    procedure = function.procedures[number]
    code = procedure.flow.code(block)
    inside = procedure.flow.loops.around(block.number)
    loops = "".join(f" in {function.loop_names[number, loop.number]}" for loop in inside[:1])
    depth = f" (depth {len(inside)})" if len(inside) > 1 else ""
    after = [str(each) for each in block.successors] + ["end"] * block.leaves
    yield (
        f"  block {block.number}{loops}{depth} -> {', '.join(after)}: stalls {_stalls(code)}, "
        f"at most {_pressure(code)['R']} registers live"
    )
    for each in code:
        yield _line(each)


def _line(each: Instruction) -> str:
    control = each.control
    waits = "".join(str(i) if i in control.waits else "-" for i in range(SCOREBOARDS))
    live = "".join(f" {count:3}" for count in each.live.counts)
    return (
        f"    {each.address:#06x}  wait {waits}  write {_scoreboard(control.write)}  read {_scoreboard(control.read)}"
        f"  stall {control.stall:2} {'y' if control.yields else ' '}{live}   {each.text}"
    )


def _scoreboard(number: int | None) -> str:
    return "-" if number is None else str(number)


def _stalls(code: Sequence[Instruction]) -> int:
    return sum(each.control.stall for each in code)


def _pressure(code: Sequence[Instruction]) -> dict[str, int]:
    """The most registers of each file that hold a value at once."""
    counts = [each.live.counts for each in code]
    return {name: max(several) for name, several in zip(FILES, zip(*counts, strict=True), strict=True)}


def _prediction_lines(function: SassFunction, said: Predicted) -> Iterator[str]:
    found, launch = said.prediction, said.launch
    held = found.occupancy
    yield _title(function)
    yield (
        f"  {blocks_of(launch, said.device)} blocks of {launch.threads_per_block} threads on {said.device.name}: "
        f"{held.blocks_per_sm} at a time on a multiprocessor, {held.warps_per_sm} of {held.max_warps_per_sm} warps, "
        f"limited by {' and '.join(held.limits)}"
    )
    for loop in function.loops:
        given = launch.trips.get(loop.name)
        known = f"runs {given} times" if given is not None else f"is taken to run {LOOP_FACTOR} times"
        yield f"  loop {loop.name} at {loop.address:#06x}, depth {loop.depth}: {known}"
    yield f"  cycles   {_number(found.cycles)}, bound by {found.binds}"
    yield f"  issue    {_number(found.issue_cycles)}, {found.busiest} is busy the longest"
    yield (
        f"  latency  {_number(found.latency_cycles)}, {found.rounds} rounds of {_number(found.warp_cycles)} cycles "
        f"a warp, {_number(found.global_bytes_in_flight)} bytes in flight"
    )
    yield f"  memory   {_number(found.memory_cycles)}, {_number(found.local_cycles)} of them for local memory"
    yield f"  stalls of the paper {_number(said.paper.cycles)} at occupancy {said.paper.occupancy}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value < 1e6 else f"{value:.4g}"


def to_json(functions: Sequence[SassFunction], predictions: Mapping[str, Predicted]) -> dict[str, Any]:
    """One document with all of it (``specs/schema/sass.json``)."""
    return {
        "schema": 1,
        "functions": [_function_json(each, predictions.get(each.name)) for each in functions],
    }


def _function_json(function: SassFunction, said: Predicted | None) -> dict[str, Any]:
    return {
        "name": function.name,
        "architecture": f"sm_{function.architecture}",
        "registers_per_thread": function.registers_per_thread,
        "shared_bytes": function.shared_bytes,
        "frame_bytes": function.frame_bytes,
        "loops": [
            {"name": loop.name, "procedure": loop.procedure, "address": loop.address, "depth": loop.depth}
            for loop in function.loops
        ],
        "procedures": [
            {
                "name": procedure.name,
                "blocks": [
                    _block_json(function, number, procedure, block) for block in procedure.flow.blocks
                ],
            }
            for number, procedure in enumerate(function.procedures)
        ],
        "prediction": None if said is None else _prediction_json(said),
    }


def _block_json(function: SassFunction, number: int, procedure: Procedure, block: Block) -> dict[str, Any]:
    code = procedure.flow.code(block)
    return {
        "number": block.number,
        "successors": list(block.successors),
        "leaves": block.leaves,
        "loops": [
            function.loop_names[number, loop.number] for loop in procedure.flow.loops.around(block.number)
        ],
        "calls": procedure.flow.call(block),
        "stall_cycles": _stalls(code),
        "live": _pressure(code),
        "instructions": [_instruction_json(each) for each in code],
    }


def _instruction_json(each: Instruction) -> dict[str, Any]:
    return {
        "address": each.address,
        "guard": each.guard,
        "opcode": each.opcode,
        "operands": each.operands,
        "control": _control_json(each.control),
        "defines": list(each.defines.names),
        "uses": list(each.uses.names),
        "live": dict(zip(FILES, each.live.counts, strict=True)),
    }


def _control_json(control: Control) -> dict[str, Any]:
    return {
        "stall": control.stall,
        "yield": control.yields,
        "write": control.write,
        "read": control.read,
        "waits": list(control.waits),
        "reuse": [source for source in range(4) if control.reuse_mask >> source & 1],
    }


def _prediction_json(said: Predicted) -> dict[str, Any]:
    found = said.prediction
    numbers = asdict(found)
    held = numbers.pop("occupancy")
    return {
        "device": said.device.name,
        "launch": {**asdict(said.launch), "blocks": blocks_of(said.launch, said.device)},
        "cycles": found.cycles,
        "binds": found.binds,
        **numbers,
        "occupancy": {**held, "limits": list(found.occupancy.limits)},
        "paper_stalls": said.paper.cycles,
    }
