"""The places for the slots of demoted values, and the number of slots that each has room for.

In: a kernel, what it takes, and how it will be built.  Out: each :class:`Room`, or why there is none::

    rooms_of(functions, module, build, usage, device, dynamic=False)   # (Room(Region(8, "demoted"), 8, slots=47),)

Static shared memory is for blocks whose threads are limited by ``.maxntid``, up to 48 KiB with what the kernel has.
Else the slots are at the end of the dynamic shared memory, whose size the launcher has then to add to: that is for
launchers of our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import occupancy
from comprehensive.ptx.build import Build, tuning_of
from comprehensive.ptx.flow import Flow, flow_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.demotion_calls import SLOT_BYTES
from comprehensive.ptx.passes.demotion_code import DYNAMIC, LANES, STATIC, Region
from comprehensive.ptx.passes.ptx_pass import strange_statement, unused
from comprehensive.ptx.statements import Declaration, Directive
from comprehensive.toolchain.usage import Usage

_NAME = re.compile(r"[%$A-Za-z_][\w$]*")
# What a kernel may declare, on every architecture (ptxas 13.0: "uses too much shared data (... max)").
_STATIC_BYTES = 48 * 1024
_SIZES = frozenset({"%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size"})
# Declarations of what is there once for each call.
_OF_A_CALL = frozenset({".reg", ".param", ".local"})


@dataclass(frozen=True)
class Room:
    """Room for so many slots of each of so many warps of a block."""

    region: Region
    warps: int
    slots: int


def rooms_of(
    reached: Sequence[Function], module: Module, build: Build, usage: Usage, device: Device, *, dynamic: bool
) -> tuple[Room, ...] | str:
    """Return where there is room for slots, the best place first, or why there is none.

    ``reached`` are the functions that a kernel calls, and last the kernel.  ``dynamic``: the dynamic shared memory of a
    launch is the caller's to add to.
    """
    if any(not _SIZES.isdisjoint(step.symbols) for each in reached for step in flow_of(each).steps):
        return "it asks how much shared memory it has, which slots would change"
    function = reached[-1]
    flow = flow_of(function)
    threads = tuning_of(function, build.limits).threads
    name = next(_dynamic_arrays(flow, module), None)
    warps = -(-build.threads_of(function) // LANES)
    rooms: list[Room] = []
    if name is None and threads is not None:
        slots = (_STATIC_BYTES - usage.shared_bytes) // (warps * SLOT_BYTES)
        rooms.append(Room(Region(warps, _unused(STATIC, function, module)), warps, slots))
    if dynamic:
        declared = name or next(_extern_arrays(module), None) or _unused(DYNAMIC, function, module)
        slots = (device.optin_shared_bytes_per_block - usage.shared_bytes) // (warps * SLOT_BYTES)
        rooms.append(Room(Region(None, declared), warps, slots))
    found = tuple(room for room in rooms if room.slots > 0)
    if found:
        return found
    if rooms:
        return f"its {usage.shared_bytes} bytes of shared memory leave no room for one slot of {warps} warps"
    if name is not None:
        return f"it has dynamic shared memory ('{name}'), and its launcher is not ours (dynamic=allow)"
    return "no .maxntid says how many threads a block has, and so how much memory slots take"


def most_slots(room: Room, device: Device, *, threads: int, registers: int, shared_bytes: int) -> int:
    """Return the most slots that leave as many blocks on a multiprocessor as none do, up to those with room."""

    def blocks(slots: int) -> int:
        return occupancy(
            device,
            threads_per_block=threads,
            registers_per_thread=registers,
            shared_bytes_per_block=shared_bytes + slots * room.warps * SLOT_BYTES,
        ).blocks_per_sm

    least = blocks(0)
    return next(slots for slots in range(room.slots, -1, -1) if blocks(slots) >= least)


def register_obstacle(function: Function) -> str | None:
    """Return why values of a function, and of what calls it, must stay in registers; None where they need not."""
    for step in flow_of(function).steps:
        if step.instruction.opcode.base in ("setmaxnreg", "tcgen05", "wgmma"):
            return f"'{step.instruction.opcode.text}' decides over registers, or uses them while others run"
    return None


def copy_obstacle(function: Function, module: Module) -> str | None:
    """Return why there may be no copy of a function with one parameter more; None where there may."""
    strange = strange_statement(function, module)
    if strange is not None:
        return strange[1]
    kinds = {each.kind for each in function.body if isinstance(each, Declaration)}
    if not kinds <= _OF_A_CALL:
        return f"it has variables of its own that outlive a call ({', '.join(sorted(kinds - _OF_A_CALL))})"
    if any(each.is_register or not each.bytes for each in (*function.returns, *function.parameters)):
        return "its parameters are registers, or their number is not fixed"
    return None


def _extern_arrays(module: Module) -> Iterator[str]:
    for name, variable in module.variables.items():
        if variable.name == ".shared" and re.search(r"\[\s*\]\s*;?\s*\Z", variable.text):
            yield name


def _dynamic_arrays(flow: Flow, module: Module) -> Iterator[str]:
    """Yield the arrays in dynamic shared memory that the kernel uses, or that a function which it calls may use."""
    calls = any(step.instruction.opcode.base == "call" for step in flow.steps)
    for name in _extern_arrays(module):
        if calls or name in flow.free:
            yield name


def _unused(name: str, function: Function, module: Module) -> str:
    texts = (s.text for s in function.body if isinstance(s, Declaration | Directive))
    return unused(name, {*module.names, *(word for text in texts for word in _NAME.findall(text))})
