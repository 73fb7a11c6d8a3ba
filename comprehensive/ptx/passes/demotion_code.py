"""Demoted values as instructions: where their slots are, and the accesses.

In: a kernel or a function that it calls, what is demoted, where the memory is.  Out: its body::

    mad.lo.u32 %at, %warp, 2304, slots;     // once: slots + warp * count * 128 + lane * 4
    ...
    fma.rn.f32 %f7, %f1, %f2, %f3;          // as it was
    st.shared.b32 [%at+384], %f7;           // slot 3
    ...
    ld.shared.b32 %f7, [%at+384];
    add.f32 %f9, %f7, %f8;                  // as it was

Slots of a warp stand together, a word of each of its lanes side by side: an access has no conflicts of banks, and its
offset does not depend on how many threads a block has.  A function gets ``%at`` from its caller.  No barrier is
needed, since a thread reads what it has written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.ptx.flow import Flow
from comprehensive.ptx.module import Parameter, bytes_of
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Address, Immediate, Name, Vector
from comprehensive.ptx.passes.demotion_calls import SLOT_BYTES, CallCode, FramedCall
from comprehensive.ptx.passes.demotion_values import Value
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import made
from comprehensive.ptx.statements import Declaration, Instruction, Statement

LANES = 32
DYNAMIC = "demoted_at_the_end"
"""The name by which the kernel knows the dynamic shared memory, where the module has none."""
STATIC = "demoted"


@dataclass(frozen=True)
class Region:
    """The region of slots: a static array for so many warps, or the end of the dynamic shared memory (None)."""

    static_warps: int | None
    name: str


def demoted_body(
    flow: Flow,
    values: Sequence[Value],
    slots: Mapping[int, Sequence[int]],
    entry: tuple[Region, int] | Parameter,
    calls: Sequence[FramedCall],
    *,
    volatile: bool,
) -> list[Statement]:
    """Return the body with the values in their slots, which are those of a thread by number of the register.

    ``entry``: a kernel has a region for so many slots a thread, a function the address of its frame as a parameter.
    """
    fresh = Fresh(flow.function.body, "demoted")
    at = fresh.register("b32")
    edits = Edits(flow)
    space = "volatile.shared" if volatile else "shared"
    code, call_code = _Code(fresh, at, space), CallCode(fresh, at, space)
    # Behind a call words are moved back before what it gives is stored, which may be where one of them was.
    for call in calls:
        edits.after(call.step, call_code.behind(call))
    # What is loaded before a step comes behind what is stored behind the one before it.
    for value in values:
        own = slots[value.register.number]
        for step in value.stores:
            edits.after(step, code.store(value, own, flow.steps[step].instruction))
        for step in value.reloads:
            edits.before(step, code.load(value, own))
    # What the call itself reads is loaded before words are moved there.
    for number, call in enumerate(calls):
        parameter = f"demoted_frame_{number}"
        edits.before(call.step, call_code.before(call, parameter))
        changed = call_code.call(flow.steps[call.step].instruction, call, parameter)
        edits.replace(call.step, [changed])
    body = edits.made()
    if isinstance(entry, Parameter):
        opening: list[Statement] = [made("ld.param.b32", at, Address(Name(entry.name)))]
    else:
        region, count = entry
        opening = list(_opening(fresh, at, count, region))
        if region.static_warps is not None:
            size = region.static_warps * count * SLOT_BYTES
            opening.insert(0, Declaration(".shared", f".align 4 .b8 {region.name}[{size}]"))
    # Behind the kernel's own variables, so that these stay where they are.
    begin = next((n for n, each in enumerate(body) if not isinstance(each, Declaration)), len(body))
    return fresh.declared([*body[:begin], *opening, *body[begin:]])


@dataclass
class _Code:
    """The accesses to slots from the address ``at``."""

    fresh: Fresh
    at: Name
    space: str
    halves: tuple[Name, Name] | None = None

    def store(self, value: Value, slots: Sequence[int], definition: Instruction) -> Iterator[Statement]:
        register, guard = Name(value.register.name), definition.guard
        if value.words == 2:
            parts = self._halves()
            yield Instruction(opcode("mov.b64"), (Vector(parts), register), guard)
            for slot, part in zip(slots, parts, strict=True):
                yield Instruction(opcode(f"st.{self.space}.b32"), (self._place(slot), part), guard)
        else:
            word = f"b{8 * bytes_of(value.register.type)}"
            yield Instruction(opcode(f"st.{self.space}.{word}"), (self._place(slots[0]), register), guard)

    def load(self, value: Value, slots: Sequence[int]) -> Iterator[Statement]:
        register = Name(value.register.name)
        if value.words == 2:
            parts = self._halves()
            for slot, part in zip(slots, parts, strict=True):
                yield Instruction(opcode(f"ld.{self.space}.b32"), (part, self._place(slot)))
            yield Instruction(opcode("mov.b64"), (register, Vector(parts)))
        else:
            word = f"b{8 * bytes_of(value.register.type)}"
            yield Instruction(opcode(f"ld.{self.space}.{word}"), (register, self._place(slots[0])))

    def _halves(self) -> tuple[Name, Name]:
        if self.halves is None:
            self.halves = (self.fresh.register("b32"), self.fresh.register("b32"))
        return self.halves

    def _place(self, slot: int) -> Address:
        return Address(self.at, slot * SLOT_BYTES)


def _opening(fresh: Fresh, at: Name, count: int, region: Region) -> Iterator[Statement]:
    """Yield what computes ``at``; the linear index of a thread counts x first, then y, then z."""
    x, y, z, wide, high = (fresh.register("b32") for _ in range(5))
    for register, special in ((x, "%tid.x"), (y, "%tid.y"), (z, "%tid.z")):
        yield made("mov.u32", register, Name(special))
    yield made("mov.u32", wide, Name("%ntid.x"))
    yield made("mov.u32", high, Name("%ntid.y"))
    yield made("mad.lo.u32", y, z, high, y)
    yield made("mad.lo.u32", x, y, wide, x)
    yield made("shr.u32", x, x, Immediate("5"))
    yield made("mov.u32", y, Name("%laneid"))
    yield made("shl.b32", y, y, Immediate("2"))
    yield made("mad.lo.u32", x, x, Immediate(str(count * SLOT_BYTES)), y)
    yield made("mov.u32", at, Name(region.name))
    yield made("add.u32", at, at, x)
    if region.static_warps is None:
        size = fresh.register("b32")
        yield made("mov.u32", size, Name("%dynamic_smem_size"))
        yield made("add.u32", at, at, size)
        yield made("mov.u32", z, Name("%ntid.z"))
        yield made("mul.lo.u32", wide, wide, high)
        yield made("mul.lo.u32", wide, wide, z)
        yield made("add.u32", wide, wide, Immediate(str(LANES - 1)))
        yield made("shr.u32", wide, wide, Immediate("5"))
        yield made("mul.lo.u32", wide, wide, Immediate(str(count * SLOT_BYTES)))
        yield made("sub.u32", at, at, wide)
