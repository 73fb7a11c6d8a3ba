"""Tuning on devices of one kind: the tools, the pools, and where results go.

In: a compilation and a target.  Out: a :class:`Session`, with which every function is tuned at every size.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from comprehensive import __version__
from comprehensive.codegen.host import shared_files
from comprehensive.driver import Compilation, Options
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import KernelKey
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.shared_objects import Library, cpu_command
from comprehensive.tuning import measuring
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.devices import Target
from comprehensive.tuning.expected import build_serial
from comprehensive.tuning.libraries import Ready, Unusable, build_of, built, gpu_command, ready
from comprehensive.tuning.passed import passed
from comprehensive.tuning.pools import Lost, Pool, answers
from comprehensive.tuning.store import Store, Subject
from comprehensive.watch import UNWATCHED, Watch


def subject_of(compilation: Compilation, options: Options, target: Target, source: str) -> Subject:
    """Return the subject under which results of a target are stored.

    ``source`` is the text of the CUDA source.
    """
    shape = {
        "registers": options.registers,
        "arch": options.arch,
        "performance": options.performance,
        "reassociate": options.reassociate,
        "generated": hashlib.sha256(source.encode()).hexdigest()[:16],
    }
    return Subject(
        compilation.plan.source_digest,
        __version__,
        json.dumps(shape),
        target.name,
        target.compute_capability,
        target.driver,
    )


class Session:
    """A session of tuning on devices of one kind.

    ToolError where a compiler is missing, SerialBuildError where the C compiler rejects the program.
    """

    def __init__(
        self,
        compilation: Compilation,
        options: Options,
        target: Target,
        store: Store,
        directory: Path,
        choices: Choices,
        texts: Callable[[ProgramPlan], Mapping[str, str]],
        tell: Callable[[str], object],
        *,
        compile_pool: Pool | None = None,
        measure_pool: Pool | None = None,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.target, self.store, self.choices, self.tell = target, store, choices, tell
        self.watch = watch
        self.directory = directory.absolute()
        self.run = uuid.uuid4().hex
        self.measure_pool = measure_pool or Pool.threads(max(1, len(target.identifiers)))
        self._compile_pool = compile_pool or Pool.threads(os.cpu_count() or 1)
        self._plan, self._texts = compilation.plan, texts
        self._include_flags = compilation.program.include_flags
        self._cuda_path = options.cuda_path
        self._nvcc = _found_nvcc(options.cuda_path) if target.on_gpu else None
        compiler = find_c_compiler()
        if compiler is None:
            raise ToolError(
                "tuning needs a C compiler for the serial reference\nhelp: set CC, or install gcc"
            )
        made = texts(compilation.plan)
        source = "".join(text for name, text in sorted(made.items()) if name != f"{compilation.plan.stem}.h")
        self.subject = subject_of(compilation, options, target, source)
        self.serial = build_serial(compilation.program, self.directory, compiler)

    def close(self) -> None:
        """End the measuring processes of this session."""
        measuring.end(self.run)

    @property
    def settings(self) -> dict[str, object]:
        """The settings of measuring processes.

        Leases of GPUs hold for all users of the machine; a stand-in for one belongs to this run.
        """
        leases = tempfile.gettempdir() if self.target.on_gpu else str(self.directory)
        return {"devices": list(self.target.identifiers), "leases": leases, "on_gpu": self.target.on_gpu}

    def libraries(
        self, function: str, kernels: Mapping[str, Sequence[KernelKey]]
    ) -> Mapping[str, Ready | Unusable]:
        """Return for each pipeline the library with the kernels of a function; for the empty one the program as
        it is."""
        found: dict[str, Ready | Unusable] = {}
        if "" in kernels:
            found[""] = ready(self._built(self._plan, self._texts(self._plan), f"{self._plan.stem}.cu"))
        through = {pipeline: keys for pipeline, keys in kernels.items() if pipeline}
        return {**found, **(self._passed(function, through) if through else {})}

    def _passed(
        self, function: str, kernels: Mapping[str, Sequence[KernelKey]]
    ) -> Mapping[str, Ready | Unusable]:
        assert self._nvcc is not None
        compiler = KernelCompiler(self._nvcc, find_assembler(self._cuda_path))
        try:
            made = passed(self._plan, function, kernels, compiler, self.target.arch, self._cuda_path)
        except ToolError as error:
            return dict.fromkeys(kernels, Unusable("compile-error", str(error)))
        name, text = made.image
        texts = {n: t for n, t in self._texts(made.plan).items() if n.endswith(".h")} | {name: text}
        texts |= shared_files(made.plan, texts.values(), __version__)
        library = self._built(made.plan, texts, name)
        usable = ready(library, made.usages, made.numbers)
        return {**dict.fromkeys(made.numbers, usable), **made.unusable}

    def _built(self, plan: ProgramPlan, texts: Mapping[str, str], source: str) -> Library | Lost:
        on_gpu = self.target.on_gpu
        job = build_of(plan, texts, source, self._command(), self.directory, on_gpu=on_gpu)
        ((_, library),) = answers(self._compile_pool, built, [job], lambda each: each)
        return library

    def _command(self) -> tuple[str, ...]:
        if self._nvcc is not None:
            return (*gpu_command(self._nvcc, self.target), *self._include_flags)
        compiler = find_cxx_compiler()
        if compiler is None:
            raise ToolError("the device cpu needs a C++ compiler\nhelp: set CXX, or install g++")
        return cpu_command(compiler, *self._include_flags)


def _found_nvcc(cuda_path: str | None) -> Tool:
    found = find_tool("nvcc", cuda_path)
    if isinstance(found, Missing):
        raise ToolError(f"tuning on a GPU needs nvcc\n{found.explain()}\nhelp: {found.help}")
    return load_tool(found)
