"""The generated source with the harness around it: a plan in, what is to be compiled out.

built(build_of(plan, texts, f"{plan.stem}.cu", gpu_command(nvcc, target), directory, on_gpu=True)).path
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.codegen.environment import render_template
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import version_symbol
from comprehensive.toolchain import shared_objects
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.shared_objects import Build, Library, build, shim
from comprehensive.toolchain.usage import Usage, resource_usage, usage_of
from comprehensive.tuning.devices import Target
from comprehensive.tuning.pools import Lost

HARNESS = "tuning"


def build_of(
    plan: ProgramPlan,
    texts: Mapping[str, str],
    source: str,
    command: Sequence[str],
    directory: Path,
    *,
    on_gpu: bool,
) -> Build:
    """The header and the ``source``, both in ``texts``, together with the harness for their functions.

    The source is the CUDA source, or the C source with embedded kernels, which is compiled as C.
    """
    harness = render_template(
        "host/tuning.cu.j2",
        source=source,
        interfaces=tuple(interface(function) for function in plan.functions),
        on_gpu=on_gpu,
    )
    main = f"{HARNESS}{Path(source).suffix}"
    named = (*sorted(texts.items()), (main, harness), *(() if on_gpu else shim()))
    return Build(str(directory.absolute()), named, main, tuple(command))


def gpu_command(nvcc: Tool, target: Target) -> tuple[str, ...]:
    """Return the command that compiles as a user does."""
    return shared_objects.gpu_command(nvcc.path, target.arch, "-Xptxas=-v")


@dataclass(frozen=True, slots=True)
class Ready:
    """A library that candidates can be run in; ``versions`` are its kernels' by pipeline, None where it has none."""

    path: str
    usages: Mapping[str, Usage]
    versions: Mapping[str, int] | None = None

    def numbers(self, pipeline: str) -> tuple[int, ...]:
        """Return the numbers behind the parameters of a candidate: the number of its version, where there are some."""
        return () if self.versions is None else (self._version(pipeline),)

    def usage(self, kernel: str, pipeline: str) -> Usage | None:
        """Return the resources that a leaf's kernel takes, where they are known."""
        own = version_symbol(self._version(pipeline), kernel)
        return self.usages.get(own) or next(iter(usage_of(kernel, self.usages)), None)

    def _version(self, pipeline: str) -> int:
        return 0 if self.versions is None or not pipeline else self.versions[pipeline]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A pipeline with which nothing can be run: the status of its candidates, and why."""

    status: str
    reason: str


def ready(
    library: Library | Lost,
    usages: Mapping[str, Usage] | None = None,
    versions: Mapping[str, int] | None = None,
) -> Ready | Unusable:
    """Return a compiled library as it is for candidates; without ``usages`` its log says what kernels take."""
    if isinstance(library, Lost):
        return Unusable("lost", library.reason)
    if library.path is None:
        return Unusable("compile-error", library.errors)
    return Ready(library.path, resource_usage(library.log) if usages is None else usages, versions)


def built(job: Build) -> Library:
    """The library; a compiler that cannot be run, or takes too long, is as good as one that rejects the source."""
    try:
        return build(job)
    except (ToolError, OSError) as error:
        return Library(None, f"error: {error}")
