"""Candidates with passes over their PTX: pipelines in, an image with a version of the kernels for each of them out.

    found = passed(plan, "gemm", {"register-cap{registers=64}": function.kernels_of(0)}, compiler, "sm_90")
    found.numbers     # {"register-cap{registers=64}": 1}: the versions in found.image
    found.unusable    # {}: the pipelines of which there is none, with the reason

All versions are in one image: what the kernels have in common is compiled once, and it is launched as a program with
tuned parameters launches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive import __version__
from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import CompileError
from comprehensive.embedding.compiled import CompiledKernels, KernelCompiler
from comprehensive.embedding.embedded import image_of, versions_of
from comprehensive.embedding.targets import Targets
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import ORIGINAL, KernelKey, Version, version_symbol
from comprehensive.ptx.passes.remark import Kind
from comprehensive.records import replace
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage
from comprehensive.tuning.libraries import Unusable


@dataclass(frozen=True, slots=True)
class Passed:
    """A program with versions of its kernels, compiled; ``image`` is the name and the text of its C source."""

    plan: ProgramPlan
    image: tuple[str, str]
    usages: Mapping[str, Usage]
    numbers: Mapping[str, int]
    unusable: Mapping[str, Unusable]


def passed(
    plan: ProgramPlan,
    function: str,
    kernels: Mapping[str, Sequence[KernelKey]],
    compiler: KernelCompiler,
    arch: str,
    cuda_path: str | None = None,
) -> Passed:
    """Compile the ``kernels`` of a function for each pipeline.

    ToolError where the program cannot be compiled without passes, either.
    """
    wanted = {pipeline: Version.of(pipeline, keys) for pipeline, keys in kernels.items()}
    unusable: dict[str, Unusable] = {}
    try:
        made, compiled = _compiled(plan, function, tuple(wanted.values()), compiler, arch)
    except (CompileError, ToolError):
        # One of them is to blame, or several.
        for pipeline, version in wanted.items():
            try:
                _compiled(plan, function, (version,), compiler, arch)
            except (CompileError, ToolError) as error:
                unusable[pipeline] = Unusable("compile-error", _words(error))
        kept = (Version(v.name) if p in unusable else v for p, v in wanted.items())
        made, compiled = _compiled(plan, function, tuple(kept), compiler, arch)
    numbers = {pipeline: number for number, pipeline in enumerate(wanted, 1) if pipeline not in unusable}
    for pipeline, number in numbers.items():
        reason = _unchanged(compiled, number)
        if reason is not None:
            unusable[pipeline] = Unusable("unchanged", reason)
    image = image_of(made, Targets((arch,), False), (compiled,), __version__, cuda_path)
    usable = {pipeline: number for pipeline, number in numbers.items() if pipeline not in unusable}
    return Passed(made, image, compiled.usages, usable, unusable)


def _compiled(
    plan: ProgramPlan, function: str, versions: Sequence[Version], compiler: KernelCompiler, arch: str
) -> tuple[ProgramPlan, CompiledKernels]:
    functions = (
        replace(each, versions=(ORIGINAL, *versions)) if each.function.name == function else each
        for each in plan.functions
    )
    made = replace(plan, functions=tuple(functions))
    return made, compiler.compile(program_unit(made), arch, versions=versions_of(made))


def _unchanged(compiled: CompiledKernels, number: int) -> str | None:
    """Return why the passes of a version change none of its kernels; None where they change one."""
    own = {symbol for symbol in compiled.copied if symbol.startswith(version_symbol(number, ""))}
    remarks = [remark for remark in compiled.remarks if remark.function in own]
    if any(remark.kind is Kind.APPLIED for remark in remarks):
        return None
    missed = [remark.text for remark in remarks if remark.kind is Kind.MISSED]
    return missed[-1] if missed else "no pass applies to its kernels"


def _words(error: CompileError | ToolError) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, CompileError):
        return error.diagnostics[0].message
    text = error.log if isinstance(error, SourceRejectedError) else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join([line for line in lines if "error" in line][:3] or lines[:1])[:1000]
