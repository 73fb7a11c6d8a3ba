"""Passes chosen for each kernel by what they are predicted to gain: ``--passes auto``.

In: kernels as they are compiled, and how they are launched.  Out: a :class:`Choice` for each kernel, with a reason::

    chosen = choices(compiler, unit, compiled, launches_of(plan, compiled.usages))
    chosen["sums_leaf0"]      # Choice("demote-registers", "predicted 2.15 times as fast as without")

Nothing says how much of what a kernel asks for comes from a cache: all of it is taken to come from memory, so that what
the memory may bind stays as it is.

A kernel is tried with a pass only where the pass can gain more than the noise: passes lower one of the bounds of
:mod:`comprehensive.sass.predict`, and the kernel never takes less than the others.  Versions of one kernel that are
predicted to be nearer than :data:`NOISE` were ties on an H200 (spread of the same code between processes, and what
ptxas makes of it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from msgspec import Struct

from comprehensive.embedding.compiled import CompiledKernels, KernelCompiler
from comprehensive.loops.interpreter import c_value
from comprehensive.machine.device import Device, device_of
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.plan.plan import ProgramPlan
from comprehensive.ptx.build import ALONE
from comprehensive.ptx.passes.remark import Kind
from comprehensive.records import replace
from comprehensive.sass.errors import SassError
from comprehensive.sass.function import SassFunction
from comprehensive.sass.launch import Launch
from comprehensive.sass.pipes import LOAD_STORE
from comprehensive.sass.predict import Prediction, predict_uncached
from comprehensive.sass.read import read_all
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage, usage_of

NOISE = 0.08
"""A version has to be predicted to be faster by more than this part."""


class Choice(Struct, frozen=True):
    """The pipeline of a kernel, empty where it stays as it is compiled, and why."""

    pipeline: str
    reason: str


class Candidate(Struct, frozen=True):
    """A pipeline, and what it can lower: the traffic of the load-store pipe, or waiting and local memory."""

    pipeline: str
    lowers_accesses: bool

    def least_cycles(self, found: Prediction) -> float:
        """The cycles that a kernel takes at least with it, by the bounds that it does not lower."""
        if self.lowers_accesses:
            others = [cycles for name, cycles in found.pipe_cycles.items() if name != LOAD_STORE]
            return replace(found, issue_cycles=max(others, default=0.0), latency_cycles=0.0).cycles
        memory = 0.0 if found.memory_cycles <= found.local_cycles else found.memory_cycles
        return replace(found, latency_cycles=0.0, memory_cycles=memory).cycles


CANDIDATES = (
    Candidate("register-cap", lowers_accesses=False),
    Candidate("demote-registers", lowers_accesses=False),
    Candidate("synthesize-shuffles", lowers_accesses=True),
    Candidate("vectorize-accesses", lowers_accesses=True),
)


def choices(
    compiler: KernelCompiler,
    unit: str,
    compiled: CompiledKernels,
    launches: Mapping[str, Launch],
    candidates: Sequence[Candidate] = CANDIDATES,
) -> Mapping[str, Choice]:
    """Choose a pipeline for each kernel of a unit that has a launch, by symbol.

    Errors are those of `KernelCompiler.compile`; what cannot be predicted is a reason.
    """
    device = device_of(compiled.arch)
    if device is None:
        return dict.fromkeys(launches, Choice("", f"no speeds of {compiled.arch} are known"))
    plain = _predicted(compiled, launches, device)
    found: dict[str, Choice] = {}
    best: dict[str, float] = {}
    for symbol, prediction in plain.items():
        if isinstance(prediction, str):
            found[symbol] = Choice("", prediction)
        else:
            found[symbol] = Choice(
                "", f"bound by {prediction.binds}, and no pass gains more than {NOISE:.0%}"
            )
            best[symbol] = prediction.cycles / (1 + NOISE)
    for candidate in candidates:
        hopeful = {
            symbol: candidate.pipeline
            for symbol, prediction in plain.items()
            if not isinstance(prediction, str) and candidate.least_cycles(prediction) < best[symbol]
        }
        if not hopeful:
            continue
        tried = compiler.compile(unit, compiled.arch, hopeful)
        changed = {symbol for symbol in hopeful if symbol in _applied(tried)}
        for symbol, prediction in _predicted(tried, {s: launches[s] for s in changed}, device).items():
            before = plain[symbol]
            if isinstance(prediction, str) or isinstance(before, str) or prediction.cycles >= best[symbol]:
                continue
            best[symbol] = prediction.cycles
            gain = before.cycles / prediction.cycles
            found[symbol] = Choice(candidate.pipeline, f"predicted {gain:.2f} times as fast as without")
    return found


def _applied(compiled: CompiledKernels) -> frozenset[str | None]:
    return frozenset(remark.function for remark in compiled.remarks if remark.kind is Kind.APPLIED)


def _predicted(
    compiled: CompiledKernels, launches: Mapping[str, Launch], device: Device
) -> dict[str, Prediction | str]:
    """Predict each kernel that has a launch; the reason where that cannot be."""
    if not launches:
        return {}
    try:
        functions = read_all(compiled.cubin)
    except (SassError, ToolError) as problem:
        return dict.fromkeys(launches, str(problem))
    return dict(_each(compiled, functions, launches, device))


def _each(
    compiled: CompiledKernels,
    functions: Mapping[str, SassFunction],
    launches: Mapping[str, Launch],
    device: Device,
) -> Iterator[tuple[str, Prediction | str]]:
    for symbol, launch in launches.items():
        warps = -(-launch.threads_per_block // device.warp_threads)
        added = compiled.bytes_of_a_warp(symbol) * warps
        try:
            full = replace(launch, shared_bytes=launch.shared_bytes + added)
            yield symbol, predict_uncached(functions[symbol], device, full)
        except SassError as problem:
            yield symbol, str(problem)


def launches_of(plan: ProgramPlan, usages: Mapping[str, Usage]) -> Mapping[str, Launch]:
    """Return the launches of the kernels of a program, by symbol; instances of tiles have the blocks of their own.

    A leaf's block depends on its parameters, and is taken to have 256 threads.
    """
    found: dict[str, Launch] = {}
    for region in (region for function in plan.functions for region in function.regions):
        for leaf in region.leaves:
            for usage in usage_of(leaf.kernel.name, usages):
                found[usage.symbol] = Launch(ALONE.threads)
        for tile in region.tilings:
            rest = len(tile.kernel.constants)
            for usage in usage_of(tile.kernel.name, usages):
                sizes = dict(zip(tile.kernel.constants, usage.template_arguments[:rest], strict=True))
                threads = prod(int(c_value(extent, sizes)) for extent in tile.kernel.block)
                words = int(tile.kernel.shared_words.evaluate(sizes))
                found[usage.symbol] = Launch(threads, shared_bytes=WORD_BYTES * words)
    return found
