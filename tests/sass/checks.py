"""The properties that all code of ptxas has, if it was read right: counted, with what contradicts them.

Three readings are independent of each other: control bits come from the words of the code, mnemonics and life
ranges from nvdisasm, and blocks from the tool itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from comprehensive.machine.device import Device
from comprehensive.sass.flow import Flow
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.registers import NONE, Registers

_STACK_POINTER = Registers(general=0b10)


@dataclass
class Findings:
    """``held`` counts what was looked at and true; ``broken`` names what was not."""

    held: int = 0
    broken: list[str] = field(default_factory=list[str])

    def note(self, holds: bool, what: str) -> None:
        if holds:
            self.held += 1
        else:
            self.broken.append(what)


def reuse_marks(function: SassFunction, findings: Findings) -> None:
    """As many reuse bits are set as operands are printed with ``.reuse``."""
    for each in function.instructions:
        marked = each.operands.count(".reuse")
        findings.note(marked == each.control.reuse_mask.bit_count(), _place(function, each))


def awaited_results(function: SassFunction, findings: Findings) -> None:
    """In straight-line code, what first reads a result of unknown time waits for its scoreboard, or stands behind a
    wait.

    Nothing is asked of what writes such a register anew: loads of one memory end in the order in which they began.
    """
    for procedure in function.procedures:
        for block in procedure.flow.blocks:
            pending: list[tuple[int, Registers]] = []
            for each in procedure.flow.code(block):
                waits = set(_waits(each))
                touched = each.uses | each.defines
                for scoreboard, registers in pending:
                    if registers & each.uses:
                        findings.note(scoreboard in waits, _place(function, each))
                pending = [
                    (scoreboard, registers - touched)
                    for scoreboard, registers in pending
                    if scoreboard not in waits
                ]
                if each.control.write is not None and each.defines:
                    pending.append((each.control.write, each.defines))


def issue_distances(
    function: SassFunction, device: Device, findings: Findings, closest: dict[str, int]
) -> None:
    """In straight-line code, stall counts keep what reads a register as far behind what wrote it as the device needs.

    Of pairs of mnemonics whose distance is known (``FADD_FADD``); both are executed, so neither stands under a guard.
    The upper word of an addend is read two cycles later than the rest, so what multiplies to two words is left out.
    ``closest`` keeps the least distance of each pair: were stall counts read too large, none would be at its limit.
    """
    known = device.issue_distance_cycles
    for procedure in function.procedures:
        for block in procedure.flow.blocks:
            written: dict[str, tuple[Instruction, int]] = {}
            now = 0
            for each in procedure.flow.code(block):
                for name in each.uses.names if not each.guard and "WIDE" not in each.modifiers else ():
                    if name in written:
                        producer, since = written[name]
                        pair = f"{producer.base}_{each.base}"
                        if pair in known and name.startswith("R") and producer.control.write is None:
                            findings.note(now - since >= known[pair], _place(function, each))
                            closest[pair] = min(closest.get(pair, now - since), now - since)
                for name in each.defines.names:
                    written[name] = (each, now)
                    if each.guard:
                        del written[name]
                now += each.control.stall
                if each.control.waits:
                    # How long it waits is not known.
                    written.clear()


def live_registers(function: SassFunction, findings: Findings) -> None:
    """Registers that hold a value, as nvdisasm prints them, lie between two solutions of data flow over the blocks.

    In one a definition under a guard ends the value before it, in the other it does not: nvdisasm knows some
    guards. Where there are no such definitions, the two are one. Only for functions without calls and jumps through
    tables: what these read is not in the listing.
    """
    if len(function.procedures) > 1 or any(each.base in ("CALL", "BRX") for each in function.instructions):
        return
    flow = function.procedures[0].flow
    for (each, least), (_, most) in zip(_live(flow, guarded=True), _live(flow, guarded=False), strict=True):
        findings.note(not (least - each.live) and not (each.live - most), _place(function, each))


def _live(flow: Flow, *, guarded: bool) -> Iterator[tuple[Instruction, Registers]]:
    """Solve backward data flow: live before = uses | (live after - definitions)."""

    def before(each: Instruction, after: Registers) -> Registers:
        return each.uses | (after - each.defines if guarded or not each.guard else after)

    def behind(number: int) -> Registers:
        live = _STACK_POINTER if flow.blocks[number].leaves else NONE
        for successor in flow.blocks[number].successors:
            live |= entering[successor]
        return live

    entering: list[Registers] = [NONE for _ in flow.blocks]
    changed = True
    while changed:
        changed = False
        for number in reversed(flow.order):
            live = behind(number)
            for each in reversed(flow.code(flow.blocks[number])):
                live = before(each, live)
            if live != entering[number]:
                entering[number], changed = live, True
    for number in flow.order:
        live = behind(number)
        for each in reversed(flow.code(flow.blocks[number])):
            yield each, live | each.uses | each.defines
            live = before(each, live)


def _waits(each: Instruction) -> tuple[int, ...]:
    """``DEPBAR.LE SB0,0x0`` waits like the bits of the mask."""
    if each.base == "DEPBAR" and each.operands.startswith("SB"):
        name, _, rest = each.operands.partition(",")
        if int(rest.split(",")[0], 16) == 0:
            return (*each.control.waits, int(name.removeprefix("SB")))
    return each.control.waits


def _place(function: SassFunction, each: Instruction) -> str:
    return f"{function.name}+{each.address:#x}: {each.text}"
