"""The way in which a module will be assembled: the assembler at hand, and the limits that its command line states.

In: what is known of the build.  Out: what kernels take, as ptxas counts it::

    build = Build(find_assembler(), limits=Limits(registers=64), flags=("--maxrregcount=64",))
    build.usage(module, module.functions["matmul"])      # Usage(...); None without an assembler

A :class:`Build` without an assembler is that of a pass which runs by itself: what it asks is then not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

from comprehensive.machine.device import Device, device_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.printer import print_module

if TYPE_CHECKING:
    from comprehensive.toolchain.assembler import Assembler
    from comprehensive.toolchain.usage import Usage

LEAST_REGISTERS = 24
"""ptxas raises limits of registers below this one, which its ABI needs."""
REGISTER_STEP = 8
"""Registers of a thread are given out in multiples of this."""


@dataclass(frozen=True)
class Limits:
    """The limits on the command line of ptxas, None or empty where they are not stated."""

    registers: int | None = None
    """``--maxrregcount``"""
    block: tuple[int, ...] = ()
    """``--maxntid``"""
    blocks: int | None = None
    """``--minnctapersm``"""
    override: bool = False
    """``--override-directive-values``"""


@dataclass(frozen=True)
class Tuning:
    """The bounds that directives and the command line state for a kernel; None where nothing states it."""

    registers: int | None
    """The most registers of a thread that are stated; those that blocks leave are not in it."""
    threads: int | None
    """The most threads of a block."""
    blocks: int
    """The least blocks on a multiprocessor, 1 where nothing states it."""


def tuning_of(function: Function, limits: Limits) -> Tuning:
    """Return which limits ptxas heeds.

    ptxas 13.0: ``--maxrregcount`` is ignored beside ``.maxntid``, ``.reqntid``, ``.minnctapersm`` and ``.maxnreg``, and
    where it is given ``--maxntid`` and ``--minnctapersm`` are ignored; these are ignored beside their own directives.
    ``--override-directive-values`` turns that round.
    """
    registers = next(iter(function.tuning("maxnreg")), 0) or None
    block = function.tuning("reqntid") or function.tuning("maxntid")
    blocks = next(iter(function.tuning("minnctapersm")), 0) or None
    if limits.registers is not None and (limits.override or not (registers or block or blocks)):
        registers = limits.registers
    elif limits.registers is None:
        block = limits.block if limits.block and (limits.override or not block) else block
        blocks = limits.blocks if limits.blocks and (limits.override or not blocks) else blocks
    return Tuning(registers, prod(block) or None if block else None, blocks or 1)


@dataclass(frozen=True)
class Build:
    """The way in which a module will be assembled.

    ``arch`` is that of the build, None for the module's own; ``flags`` are those of ptxas, of which ``limits`` are what
    is understood.  ``threads`` are those of a block where nothing states them.
    """

    assembler: Assembler | None = None
    arch: str | None = None
    limits: Limits = field(default_factory=Limits)
    flags: tuple[str, ...] = ()
    threads: int = 256
    functions: frozenset[str] | None = None
    """The functions that passes over single functions rewrite, by symbol; None for all."""

    def threads_of(self, function: Function) -> int:
        """The most threads of a block of a kernel, or what is assumed."""
        return tuning_of(function, self.limits).threads or self.threads

    def device(self, module: Module) -> Device | None:
        """Return the device that the module is assembled for; None where it is not known."""
        return device_of(self.arch or module.target[0])

    def usage(self, module: Module, function: Function) -> Usage | None:
        """Return the resources of a kernel that replaces the one of its name; None where no assembler says it."""
        if self.assembler is None or not function.is_kernel:
            return None
        changed = module.with_functions({function.symbol: function})
        alone = only_kernel(changed, function.symbol)
        # Other kernels are nothing to this one, unless it launches or names them.
        for candidate in (alone,) if len(alone.items) == len(changed.items) else (alone, changed):
            found = self.usages(candidate)
            if function.symbol in found:
                return found[function.symbol]
        return None

    def usages(self, module: Module) -> Mapping[str, Usage]:
        """Return the resources of each kernel, by symbol; empty where no assembler says it, or it rejects the
        module."""
        if self.assembler is None:
            return {}
        from comprehensive.toolchain.compiled import SourceRejectedError
        from comprehensive.toolchain.process import ToolError

        arch = self.arch or module.target[0]
        try:
            return self.assembler.assemble(print_module(module), arch, self.flags).usage
        except (SourceRejectedError, ToolError, UnicodeEncodeError):
            return {}


ALONE = Build()
"""No assembler, and nothing stated."""


def only_kernel(module: Module, symbol: str) -> Module:
    """Return the module without the other kernels; functions and variables stay."""
    kept = tuple(
        item
        for item in module.items
        if not (isinstance(item, Function) and item.is_kernel and item.symbol != symbol)
    )
    return replace(module, items=kept)


def with_cap(function: Function, registers: int) -> Function:
    """Return the kernel with ``.maxnreg``, whatever it had, and without ``.minnctapersm``, if it had that.

    ptxas 13.0 keeps to what ``.minnctapersm`` leaves, spilling, whatever ``.maxnreg`` allows beside it. Without that
    directive nothing says any more how many blocks must fit a multiprocessor: with a high limit fewer may.
    """
    text = re.sub(r"\s*\.minnctapersm\s+\d+", "", function.header)
    if function.tuning("maxnreg"):
        return function.with_header(re.sub(r"\.maxnreg(\s+)\d+", rf".maxnreg\g<1>{registers}", text))
    head = text[: text.rindex("{")].rstrip()
    return function.with_header(f"{head}\n.maxnreg {registers}\n{{")
