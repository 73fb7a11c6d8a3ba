"""A kernel whose occupancy is looked at, and its levels: a pipeline in, what ptxas and the predictor say out.

    subject = Subject(module, "matmul_leaf0", assembler, device, {128: Launch(128), 256: Launch(256)})
    subject.levels("register-cap{registers=64}")      # a Level for each size of block that fits
    sweep(subject)                                    # all levels: figures 1, 2 and 10 of the paper *Orion*

A pipeline that does not change the kernel, or whose result is not assembled, has no levels: remarks say why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import occupancy
from comprehensive.occupancy_tuning.level import Level, Setting
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.build import LEAST_REGISTERS, REGISTER_STEP, Build, only_kernel
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, RESIDENT_WARPS, Remark, fact_of
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.sass.errors import SassError
from comprehensive.sass.function import SassFunction
from comprehensive.sass.launch import Launch
from comprehensive.sass.predict import Prediction, predict_uncached
from comprehensive.sass.read import read_all
from comprehensive.toolchain.assembler import Assembler
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage

_LINE_BYTES = 128


@dataclass(frozen=True)
class Made:
    """A version as ptxas made it."""

    usage: Usage
    cubin: bytes
    bytes_of_a_warp: int
    """Dynamic shared memory that the passes add for each warp of a block."""
    resident_warps: int | None
    """Warps that a launch shall have on a multiprocessor at a time; None for as many as fit."""


@dataclass(frozen=True)
class Subject:
    """A kernel of a module, the assembler and the device, and how it is launched with blocks of each size."""

    module: Module
    symbol: str
    assembler: Assembler
    device: Device
    launches: Mapping[int, Launch]
    """The launches by threads of a block; the first is the usual one, unless there is a reason for another."""

    @property
    def threads(self) -> int:
        return next(iter(self.launches))

    @property
    def kernel(self) -> Function:
        return self.module.functions[self.symbol]

    @cached_property
    def max_live(self) -> int:
        """The number of 32-bit registers that hold all values of a thread that are live at once (Orion, section 3.3).

        Those that are the same in a whole warp, or cheap to compute again, need none.
        """
        return Analyses(self.kernel, self.module).pressure.ml2

    @cached_property
    def walks(self) -> bool:
        """Whether a thread asks in rounds of a loop, one behind the other, for the same line of global memory.

        What a cache keeps from one round to the next is then a matter of how many threads there are at a time.
        """
        analyses = Analyses(self.kernel, self.module)
        symbols = analyses.affine.symbols
        return any(
            symbols[symbol].kind == "count" and abs(step) < _LINE_BYTES
            for access in analyses.accesses.values()
            if access.space is Space.GLOBAL and access.address is not None
            for symbol, step in access.address.terms
        )

    def levels(self, pipeline: str) -> tuple[Level, ...]:
        """Return the level of the version that a pipeline makes, for each size of block that fits the device."""
        made = self.made(pipeline)
        return () if made is None else tuple(self._levels(made, pipeline))

    def made(self, pipeline: str) -> Made | None:
        """Return what the assembler makes of the kernel behind passes.

        None where they leave it as it is or it is rejected. CommandLineError for a pipeline that is not understood.
        """
        known = self._known
        if pipeline not in known:
            known[pipeline] = self._made(pipeline)
        return known[pipeline]

    @cached_property
    def _known(self) -> dict[str, Made | None]:
        return {}

    def _made(self, pipeline: str) -> Made | None:
        only = only_kernel(self.module, self.symbol)
        build = Build(
            self.assembler, self.device.arch, threads=self.threads, functions=frozenset({self.symbol})
        )
        stages = run(only, passes_of(pipeline), (), build)
        after = stages[-1].after if stages else only
        if stages and after is only:
            return None
        remarks: tuple[Remark, ...] = tuple(remark for stage in stages for remark in stage.remarks)
        try:
            assembled = self.assembler.assemble(print_module(after), self.device.arch)
        except (SourceRejectedError, ToolError):
            return None
        return Made(
            assembled.usage[self.symbol],
            assembled.output,
            fact_of(DYNAMIC_BYTES_PER_WARP, remarks, self.symbol),
            fact_of(RESIDENT_WARPS, remarks, self.symbol) or None,
        )

    def _levels(self, made: Made, pipeline: str) -> Iterator[Level]:
        # Of persistent blocks the time is that of the kernel as compiled, of which fewer run at once: how often the
        # loop over blocks runs is in the launch, not in the code.
        code = made if made.resident_warps is None else self.made("") or made
        function = self._function(code.cubin)
        for threads, launch in self.launches.items():
            added = made.bytes_of_a_warp * -(-threads // self.device.warp_threads)
            dynamic = launch.shared_bytes + added
            shared = made.usage.shared_bytes + dynamic
            held = occupancy(
                self.device,
                threads_per_block=threads,
                registers_per_thread=made.usage.registers_per_thread,
                shared_bytes_per_block=shared,
            )
            if not held.blocks_per_sm:
                continue
            warps = made.resident_warps
            resident = None if warps is None else max(1, warps // held.warps_per_block)
            setting = Setting(pipeline, threads, resident)
            usage = made.usage
            found = Level(setting, usage.registers_per_thread, usage.spill_bytes, shared, held, "")
            yield replace(
                found, prediction=self._prediction(function, replace(launch, shared_bytes=dynamic), found)
            )

    def _function(self, cubin: bytes) -> SassFunction | str:
        """Return the machine code of the kernel, or why it cannot be read."""
        if cubin not in self._functions:
            try:
                self._functions[cubin] = read_all(cubin)[self.symbol]
            except (SassError, ToolError) as problem:
                self._functions[cubin] = str(problem)
        return self._functions[cubin]

    @cached_property
    def _functions(self) -> dict[bytes, SassFunction | str]:
        return {}

    def _prediction(self, function: SassFunction | str, launch: Launch, level: Level) -> Prediction | str:
        if isinstance(function, str):
            return function
        # Fewer blocks on a multiprocessor than fit, as of a device that holds no more.
        device = replace(self.device, max_blocks_per_sm=min(self.device.max_blocks_per_sm, level.resident))
        try:
            return predict_uncached(function, device, launch)
        except SassError as problem:
            return str(problem)


def sweep(subject: Subject) -> tuple[Level, ...]:
    """Return all levels; registers of a thread are given out eight at a time, so that other limits are the same."""
    most = subject.device.max_registers_per_thread
    caps = (most, *range(most // REGISTER_STEP * REGISTER_STEP, LEAST_REGISTERS - 1, -REGISTER_STEP))
    found = [*subject.levels("")]
    for cap in caps:
        found += subject.levels(f"register-cap{{registers={cap}}}")
    for original in found[:1]:
        for resident in range(original.resident - 1, 0, -1):
            warps = resident * original.occupancy.warps_per_block
            found += subject.levels(f"grid-stride{{warps={warps}}}")[:1]
    return tuple(found)
