"""The generated source with the harness around it: a plan in, what is to be compiled out.

built(build_of(plan, texts, gpu_command(nvcc, target, cap), directory, on_gpu=True)).path
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from comprehensive.codegen.environment import render_template
from comprehensive.codegen.interface import interface
from comprehensive.codegen.plan import ProgramPlan
from comprehensive.toolchain import shared_objects
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.shared_objects import Build, Library, build, shim
from comprehensive.tuning.devices import Target

HARNESS = "tuning.cu"


def build_of(
    plan: ProgramPlan, texts: Mapping[str, str], command: Sequence[str], directory: Path, *, on_gpu: bool
) -> Build:
    """The header and source in ``texts`` together with the harness for their functions."""
    harness = render_template(
        "host/tuning.cu.j2",
        source=f"{plan.stem}.cu",
        interfaces=tuple(interface(function) for function in plan.functions),
        on_gpu=on_gpu,
    )
    named = (*sorted(texts.items()), (HARNESS, harness), *(() if on_gpu else shim()))
    return Build(str(directory.absolute()), named, HARNESS, tuple(command))


def gpu_command(nvcc: Tool, target: Target, register_cap: int | None) -> tuple[str, ...]:
    """Return the command that compiles as a user does, with a cap on registers a thread where one is given."""
    cap = () if register_cap is None else (f"-maxrregcount={register_cap}",)
    return shared_objects.gpu_command(nvcc.path, target.arch, "-Xptxas=-v", *cap)


def built(job: Build) -> Library:
    """The library; a compiler that cannot be run, or takes too long, is as good as one that rejects the source."""
    try:
        return build(job)
    except (ToolError, OSError) as error:
        return Library(None, f"error: {error}")
