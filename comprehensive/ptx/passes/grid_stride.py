"""Kernels whose blocks are numbers in a loop, so that a launch says which blocks run, and on how many at a time.

    .entry f(a)             -->   .entry f(a, first_block, end_block, blocks_x, blocks_y, blocks_z)
    mov.u32 %r1, %ctaid.x;            for (b = first_block + %ctaid.x; b < end_block; b += %nctaid.x) {
    ...                                 mov.u32 %r1, b % blocks_x; ...
    ret;                              }

One primitive, two uses.  A launch of fewer blocks than there are runs them one after the other on each: persistent
blocks, the way to a lower occupancy that takes no cache away (padding of shared memory does).  Launches of parts of
the blocks, one behind the other, are kernel splitting (Hayes et al., Orion, 2016, section 3.4).

A thread that left its block early waits for the others now, behind all that they do.  Where these would wait for it
in a barrier or a shuffle that it no longer reaches, the kernel stays as it is.  What ptxas finds unused of the place of
a block (most kernels ask for one or two of its numbers) costs nothing.  There are less than 2^31 blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import Function, Module, Parameter
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Address, Immediate, Name, renamed
from comprehensive.ptx.passes.added_parameters import with_parameters
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.passes.ptx_pass import FunctionPass, made, option, shown
from comprehensive.ptx.passes.remark import GRID_PARAMETERS, RESIDENT_WARPS, Kind, Remark
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import Declaration, Directive, Instruction, Label, Statement

PARAMETERS = ("first_block", "end_block", "blocks_x", "blocks_y", "blocks_z")
"""The added parameters behind those that a kernel has: unsigned numbers of 32 bits."""

_AXES = ("x", "y", "z")
_BLOCK = {f"%ctaid.{axis}" for axis in _AXES}
_BLOCKS = {f"%nctaid.{axis}" for axis in _AXES}
_LEAVING = frozenset({"ret", "exit"})
_TOGETHER = frozenset(
    {"bar", "barrier", "shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}
    | {"elect"}
)
"""The opcodes that lanes or warps execute together: absent ones are waited for, or their values are not defined."""
_ONCE = frozenset(
    {"mbarrier", "griddepcontrol", "setmaxnreg", "tcgen05", "wgmma", "clusterlaunchcontrol", "mapa", "call"}
    | {"getctarank", "alloca"}
)
"""The opcodes that are done once for a block, or leave something behind, or cannot be looked into."""


@dataclass(frozen=True)
class GridStride(FunctionPass):
    name = "grid-stride"
    summary = (
        "blocks as numbers in a loop, of which a launch names a range: --> for (b = first; b < end; ...)"
    )

    warps: int = option(0, "warps on a multiprocessor at a time, as launchers are told; 0: as many as fit")

    @property
    def is_gated(self) -> bool:
        """Fewer blocks at a time are what it is for."""
        return False

    @property
    def changes_launch(self) -> bool:
        return True

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        if not function.is_kernel:
            return None, ()
        analyses = Analyses(function, module)
        obstacle = _obstacle(analyses)
        if obstacle is not None:
            step, why = obstacle
            statement = None if step is None else analyses.flow.steps[step].instruction
            return None, (self.missed(function, statement, f"its blocks stay as they are: {why}"),)
        names = _names(function)
        if any(name in module.names for name in names):
            return None, (self.missed(function, None, "its blocks stay as they are: names are taken"),)
        added = tuple(Parameter(name, "u32", 4, 4) for name in names)
        made = with_parameters(function.with_body(_body(analyses, module, names)), added)
        text = f"blocks are numbers in a loop, from {PARAMETERS[0]} to {PARAMETERS[1]}"
        facts = ((GRID_PARAMETERS, len(PARAMETERS)), (RESIDENT_WARPS, self.warps))
        return made, (Remark(Kind.APPLIED, self.name, function.symbol, None, text, facts),)


def _obstacle(analyses: Analyses) -> tuple[int | None, str] | None:
    """Return why a kernel stays as it is, with the step because of which, if there is one; None where it need not."""
    header = analyses.function.header
    if tuple(each.name for each in analyses.function.parameters[-5:]) == _names(analyses.function):
        return None, "they are numbers in a loop"
    if re.search(r"\.(?:reqnctapercluster|explicitcluster|maxclusterrank|blocksareclusters)\b", header):
        return None, "its blocks stand in clusters"
    for number, step in enumerate(analyses.flow.steps):
        code = step.instruction.opcode
        if code.base in _ONCE or "bulk" in code.modifiers or "cluster" in code.modifiers:
            return number, f"{shown(step.instruction)} is not for a second block"
        for name in step.symbols:
            special = special_register(name)
            if special is None or name in _BLOCK | _BLOCKS or special.name.startswith(("%ntid", "%nwarpid")):
                continue
            if special.varies in ("block", "grid"):
                return number, f"'{name}' is not one of its block's place in the grid"
        if not _BLOCK.isdisjoint(step.symbols) and "u16" in code.modifiers:
            return number, "it takes 16 bits of its block's place"
    return _left_alone(analyses)


def _left_alone(analyses: Analyses) -> tuple[int, str] | None:
    """Return what threads do together where others of their block may have left; None where nothing is so.

    Threads go apart at a branch that is not the same in a block.  Where they meet again before the end, none has left.
    """
    cfg, post = analyses.cfg, analyses.postdominators
    together = {
        cfg.block_of[number]: number
        for number, step in enumerate(analyses.flow.steps)
        if step.instruction.opcode.base in _TOGETHER
    }
    if not together:
        return None
    for block in cfg.blocks:
        apart = block.is_fork and analyses.variance.branches[block.number] > Level.BLOCK
        if not apart or post.parent[block.number] != post.exit:
            continue
        seen, waiting = set[int](), list(block.successors)
        while waiting:
            at = waiting.pop()
            if at in together:
                why = "threads that left their block before it would be waited for"
                return together[at], f"{shown(analyses.flow.steps[together[at]].instruction)}: {why}"
            if at not in seen:
                seen.add(at)
                waiting += cfg.blocks[at].successors
    return None


def _body(analyses: Analyses, module: Module, names: tuple[str, ...]) -> list[Statement]:
    """Return the body in its loop; ``names`` are those of the parameters."""
    function = analyses.function
    fresh = Fresh(function.body, "grid")
    at = fresh.register("b32")
    blocks = {f"%nctaid.{axis}": fresh.register("b32") for axis in _AXES}
    block = {f"%ctaid.{axis}": fresh.register("b32") for axis in _AXES}
    end, step_by, is_behind = fresh.register("b32"), fresh.register("b32"), fresh.register("pred")
    begin, latch, done = fresh.label("begin"), fresh.label("next"), fresh.label("done")
    placed = {special: register.text for special, register in (*blocks.items(), *block.items())}

    def place(name: str) -> str:
        return placed.get(name, name)

    edits = Edits(analyses.flow)
    for number, step in enumerate(analyses.flow.steps):
        instruction = step.instruction
        if instruction.opcode.base in _LEAVING:
            edits.replace(number, [Instruction(opcode("bra"), (Name(latch),), instruction.guard)])
        elif not placed.keys().isdisjoint(step.symbols):
            operands = tuple(renamed(operand, place) for operand in instruction.operands)
            edits.replace(number, [Instruction(instruction.opcode, operands, instruction.guard)])
    body = edits.made()
    first = next((n for n, each in enumerate(body) if not isinstance(each, Declaration)), len(body))
    opening = [
        made("mov.u32", at, Name("%ctaid.x")),
        made("ld.param.u32", end, Address(Name(names[0]), 0)),
        made("add.u32", at, at, end),
        *(
            made("ld.param.u32", register, Address(Name(name), 0))
            for register, name in zip((end, *blocks.values()), names[1:], strict=True)
        ),
        made("setp.ge.u32", is_behind, at, end),
        Instruction(opcode("bra"), (Name(done),), is_behind),
        Directive(".pragma", '"nounroll"'),
        Label(begin),
        *_place(at, list(block.values()), list(blocks.values())),
    ]
    closing = [
        Label(latch),
        *_settled(analyses, module),
        made("mov.u32", step_by, Name("%nctaid.x")),
        made("add.u32", at, at, step_by),
        made("setp.lt.u32", is_behind, at, end),
        Instruction(opcode("bra"), (Name(begin),), is_behind),
        Label(done),
        Instruction(opcode("ret"), ()),
    ]
    return fresh.declared([*body[:first], *opening, *body[first:], *closing])


def _place(at: Name, block: Sequence[Name], blocks: Sequence[Name]) -> Iterator[Statement]:
    """Yield the place of the block with a number: x runs fastest."""
    x, y, z = block
    yield made("rem.u32", x, at, blocks[0])
    yield made("div.u32", y, at, blocks[0])
    yield made("div.u32", z, y, blocks[1])
    yield made("rem.u32", y, y, blocks[1])


def _settled(analyses: Analyses, module: Module) -> Iterator[Statement]:
    """Yield what the next block of the loop must wait for: copies under way, and threads that read shared memory."""
    codes = [step.instruction.opcode for step in analyses.flow.steps]
    if any(code.text.startswith("cp.async") for code in codes):
        yield made("cp.async.wait_all")
    shared = {symbol for symbol, variable in module.variables.items() if variable.name == ".shared"}
    uses = any(not shared.isdisjoint(step.symbols) for step in analyses.flow.steps)
    declares = any(isinstance(s, Declaration) and s.kind == ".shared" for s in analyses.function.body)
    if uses or declares or any("shared" in code.modifiers or code.base in _TOGETHER for code in codes):
        yield made("bar.sync", Immediate("0"))


def _names(function: Function) -> tuple[str, ...]:
    return tuple(f"{function.symbol}_{each}" for each in PARAMETERS)
