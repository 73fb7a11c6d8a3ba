"""The candidates that launchers try while a function runs: a plan in, the plan with versions and candidates out.

    adaptive(plan, compiler, load_device("h200"))

A call runs one candidate with all its kernels, so that the candidates of a function are those of its leaf with the
most live values; another leaf has a version where that spills nothing there, either, and an instance of a tile has
candidates of its own: the n-th of each are tried together.  Blocks are those of the launcher's choice, with fewer
threads where a candidate says so.

With ``parts`` they can be tried in parts of one launch, too (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import CommandLineError
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.demoted import own_passes
from comprehensive.embedding.parts import in_parts, joined, of_one_size
from comprehensive.embedding.subjects import subjects_of
from comprehensive.embedding.targets import Targets
from comprehensive.machine.device import Device, device_of
from comprehensive.occupancy_tuning.candidates import Candidates, candidates_of
from comprehensive.occupancy_tuning.level import Level
from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.plan.plan import FunctionPlan, ProgramPlan
from comprehensive.plan.versions import Adaptation, Candidate, KernelKey, Version, key_of
from comprehensive.records import replace
from comprehensive.toolchain.usage import simple_name, template_arguments


def adaptive(
    plan: ProgramPlan, compiler: KernelCompiler, device: Device, *, parts: bool = False
) -> ProgramPlan:
    """Return the plan with candidates for each function that has some; errors as of `KernelCompiler.compile`.

    With ``parts`` these are for parts of one launch, too.
    """
    own = own_passes(plan)
    compiled = compiler.compile(program_unit(plan), device.arch, own)
    subjects = subjects_of(plan, compiled, compiler.assembler, device)
    if not parts:
        return replace(plan, functions=tuple(_function(function, subjects) for function in plan.functions))
    alike = {symbol: of_one_size(subject) for symbol, subject in subjects.items()}
    before = {symbol: joined(compiler.passes, own.get(symbol, "")) for symbol in subjects}
    return replace(
        plan, functions=tuple(in_parts(_function(f, alike), alike, before) for f in plan.functions)
    )


def device_of_targets(targets: Targets | None) -> Device:
    """Return what is known of the devices of the first architecture that kernels are embedded for.

    CommandLineError (CF1403) where none are embedded, or nothing is known of the speeds of its devices.
    """
    arch = None if targets is None else targets.archs[0]
    device = None if arch is None else device_of(arch)
    if device is None or not device.speeds:
        message = (
            "--adapt and --adapt-split go with --embed ARCH"
            if arch is None
            else f"--adapt: no speeds of {arch} are known"
        )
        help = "embed kernels for an architecture that `comprehensive devices` lists with speeds, as in --embed sm_90"
        raise CommandLineError.of("CF1403", message, help=help)
    return device


def _function(plan: FunctionPlan, subjects: Mapping[str, Subject]) -> FunctionPlan:
    names = {kernel.name for region in plan.regions for kernel in region.kernels}
    own = {symbol: subject for symbol, subject in subjects.items() if simple_name(symbol) in names}
    found = {
        symbol: candidates for symbol, each in own.items() if (candidates := candidates_of(each)) is not None
    }
    leaves = {symbol: each for symbol, each in found.items() if not template_arguments(symbol)}
    lead = max(leaves.values(), key=lambda each: each.max_live, default=None)
    count = max((len(each.levels) for each in found.values()), default=1)
    if count == 1:
        return plan
    first = len(plan.versions)
    versions: list[Version] = []
    candidates = [Candidate(0)]
    for number in range(1, count):
        level = None if lead is None else _numbered(lead, number)
        pipelines = dict(_pipelines(number, level, own, found))
        threads = 0 if lead is None or level is None else _limit(lead, level)
        if pipelines:
            versions.append(Version.of_pairs(f"candidate {number}", pipelines))
        if pipelines or threads:
            candidates.append(Candidate(first + len(versions) - 1 if pipelines else 0, threads))
    # Of a kernel with fewer in its direction those of the other one are tried in line, and at most three in all.
    along = max(each.along for each in found.values())
    adaptation = Adaptation(tuple(candidates), min(along, len(candidates) - 1))
    return replace(plan, versions=(*plan.versions, *versions), adaptation=adaptation)


def _limit(candidates: Candidates, level: Level) -> int:
    """Return the most threads of blocks at a level; 0 where blocks are as large as those of the original."""
    threads = level.setting.threads
    return 0 if threads == candidates.levels[0].setting.threads else threads


def _numbered(candidates: Candidates, number: int) -> Level | None:
    return candidates.levels[number] if number < len(candidates.levels) else None


def _pipelines(
    number: int, level: Level | None, subjects: Mapping[str, Subject], found: Mapping[str, Candidates]
) -> Sequence[tuple[KernelKey, str]]:
    """Return the passes of the kernels that are others in that candidate; ``level`` is that of the leaves."""
    pairs: list[tuple[KernelKey, str]] = []
    for symbol, candidates in found.items():
        constants = template_arguments(symbol)
        own = _numbered(candidates, number) if constants else level
        if own is None or not own.setting.pipeline:
            continue
        made = subjects[symbol].made(own.setting.pipeline)
        if made is not None and made.usage.spill_bytes <= candidates.levels[0].spill_bytes:
            pairs.append((key_of(symbol), own.setting.pipeline))
    return pairs
