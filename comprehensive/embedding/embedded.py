"""All kernels of a program in one C source that needs no nvcc: a plan in, the text out.

    embedded(plan, targets_of("sm_80,sm_90,ptx"), KernelCompiler.find("pre,dce", None), "1.0.0").text

The header stays as it is, so that a host program includes the same file and calls the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat, zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from comprehensive.codegen.cuda import program_unit
from comprehensive.codegen.host import image_text
from comprehensive.codegen.image import EmbeddedKernel, Image
from comprehensive.diagnostics import CommandLineError
from comprehensive.embedding.automatic import Choice, choices, launches_of
from comprehensive.embedding.compiled import CompiledKernels, KernelCompiler
from comprehensive.embedding.demoted import own_passes
from comprehensive.embedding.targets import AUTO, Targets
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import ORIGINAL, KernelKey, Version, key_of, version_symbol
from comprehensive.ptx.pipeline import Check
from comprehensive.toolchain.fatbinary import Part, pack
from comprehensive.toolchain.usage import usage_of


class Embedded(Struct, frozen=True):
    """The C source with compiled kernels: its name, its text, and the kernels for each architecture."""

    name: str
    text: str
    targets: Targets
    passes: str
    kernels: tuple[CompiledKernels, ...]
    chosen: tuple[Mapping[str, Choice], ...] = ()
    """The choices for kernels by prediction, by symbol, for each architecture; empty where that was not asked."""

    def document(self) -> dict[str, Any]:
        """Return what a manifest says of it: for each architecture what kernels take, and what the passes have done."""
        return {
            "file": self.name,
            "targets": [*self.targets.archs, *(["ptx"] if self.targets.has_ptx else [])],
            "passes": self.passes,
            "kernels": [
                {
                    "symbol": usage.symbol,
                    "arch": each.arch,
                    "registers_per_thread": usage.registers_per_thread,
                    "spill_store_bytes": usage.spill_store_bytes,
                    "spill_load_bytes": usage.spill_load_bytes,
                    "static_shared_bytes": usage.shared_bytes,
                    "dynamic_shared_bytes_per_warp": each.bytes_of_a_warp(usage.symbol),
                    **({"chosen": asdict(chosen[usage.symbol])} if usage.symbol in chosen else {}),
                    **_version(each.copied.get(usage.symbol)),
                    "remarks": [
                        {"kind": r.kind.value, "pass": r.pass_name, "text": r.text}
                        for r in each.remarks
                        if r.function == usage.symbol
                    ],
                }
                for each, chosen in zip(self.kernels, self.chosen or repeat({}), strict=False)
                for usage in sorted(each.usages.values(), key=lambda u: u.symbol)
            ],
        }


def _version(copied: tuple[str, str] | None) -> dict[str, str]:
    return {} if copied is None else {"version_of": copied[0], "passes": copied[1]}


def embedded(
    plan: ProgramPlan,
    targets: Targets,
    compiler: KernelCompiler,
    version: str,
    cuda_path: str | None = None,
    *,
    automatic: bool = False,
) -> Embedded:
    """The C source of a program with its kernels compiled for the targets; errors as of `KernelCompiler.compile`.

    With ``automatic`` each kernel has the passes that are predicted to pay for it. Nothing is embedded that does not
    assemble.
    """
    chosen = tuple(_choices(plan, compiler, arch) for arch in targets.archs) if automatic else ()
    versions = versions_of(plan)
    if not compiler.passes:
        changed = {key_of(symbol) for each in chosen for symbol, choice in each.items() if choice.pipeline}
        versions = tuple(version.beside(changed) for version in versions)
    compiled = tuple(
        _compiled(plan, compiler, arch, choice, versions=versions)
        for arch, choice in zip(targets.archs, chosen or repeat({}), strict=False)
    )
    name, text = image_of(plan, targets, compiled, version, cuda_path)
    passes = AUTO if automatic else compiler.passes
    return Embedded(name, text, targets, passes, compiled, chosen)


def image_of(
    plan: ProgramPlan,
    targets: Targets,
    compiled: Sequence[CompiledKernels],
    version: str,
    cuda_path: str | None = None,
) -> tuple[str, str]:
    """The name and the text of the C source, of kernels as they are compiled for each architecture of the targets."""
    parts = [Part("elf", each.arch, each.cubin) for each in compiled]
    if targets.has_ptx:
        # A null at its end, as the driver expects of PTX.
        parts.append(Part("ptx", compiled[-1].arch, compiled[-1].ptx.encode() + b"\0"))
    name = f"{plan.stem}_embedded.c"
    image = Image(name, str(targets), pack(parts, cuda_path), _kernels(plan, compiled))
    return name, image_text(plan, image, version)


def compiled_with(
    plan: ProgramPlan,
    compiler: KernelCompiler,
    arch: str,
    *,
    automatic: bool,
    checks: Sequence[Check] = (),
) -> tuple[CompiledKernels, Mapping[str, Choice]]:
    """The kernels of a program for an architecture, and what was chosen for them; ``checks`` run behind each pass."""
    chosen: Mapping[str, Choice] = _choices(plan, compiler, arch) if automatic else {}
    return _compiled(plan, compiler, arch, chosen, checks), chosen


def _compiled(
    plan: ProgramPlan,
    compiler: KernelCompiler,
    arch: str,
    chosen: Mapping[str, Choice],
    checks: Sequence[Check] = (),
    versions: Sequence[Version] = (),
) -> CompiledKernels:
    taken = {symbol: choice.pipeline for symbol, choice in chosen.items() if choice.pipeline}
    return compiler.compile(program_unit(plan), arch, {**own_passes(plan), **taken}, checks, versions)


def _choices(plan: ProgramPlan, compiler: KernelCompiler, arch: str) -> Mapping[str, Choice]:
    """The passes that are predicted to pay, for each kernel that has none of its own."""
    unit, own = program_unit(plan), own_passes(plan)
    plain = compiler.compile(unit, arch, own)
    launches = {s: launch for s, launch in launches_of(plan, plain.usages).items() if s not in own}
    return choices(compiler, unit, plain, launches)


def versions_of(plan: ProgramPlan) -> tuple[Version, ...]:
    """Return the versions by number, each with the pipelines of all functions; names of kernels tell these apart."""
    columns = zip_longest(*(function.versions for function in plan.functions), fillvalue=ORIGINAL)
    return tuple(
        Version("", tuple(pair for version in column for pair in version.pipelines)) for column in columns
    )


def _kernels(
    plan: ProgramPlan, compiled: Sequence[CompiledKernels]
) -> Mapping[KernelKey, tuple[EmbeddedKernel | None, ...]]:
    """The versions of kernels; an instance of one over tiles is known by the constants in its symbol."""
    usages = compiled[0].usages
    found: dict[KernelKey, tuple[EmbeddedKernel | None, ...]] = {}
    for function in plan.functions:
        names = {kernel.name for region in function.regions for kernel in region.kernels}
        for usage in (usage for name in sorted(names) for usage in usage_of(name, usages)):
            numbered = range(1, len(function.versions))
            symbols = (usage.symbol, *(version_symbol(number, usage.symbol) for number in numbered))
            found[usage.name, usage.template_arguments] = tuple(
                _kernel(symbol, compiled) if symbol in usages else None for symbol in symbols
            )
    return found


def _kernel(symbol: str, compiled: Sequence[CompiledKernels]) -> EmbeddedKernel:
    """Return the launch of a kernel on all architectures: with the memory that the most demanding one asks for.

    CommandLineError (CF1402) where a launch says on some architectures alone which blocks run.
    """
    numbered = [each.arch for each in compiled if each.has_numbers(symbol)]
    if numbered and len(numbered) < len(compiled):
        message = f"the blocks of '{symbol}' are numbers in a loop for {', '.join(numbered)} only"
        help = "embed kernels for fewer architectures, or leave 'grid-stride' out"
        raise CommandLineError.of("CF1402", message, help=help)
    return EmbeddedKernel(
        symbol,
        max(each.bytes_of_a_warp(symbol) for each in compiled),
        bool(numbered),
        max(each.resident_warps(symbol) for each in compiled),
    )
