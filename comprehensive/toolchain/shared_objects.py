"""Compiles generated CUDA into a shared object, for a GPU or for this machine's processor, and remembers it.

In: a :class:`Build`, plain data that an executor may take anywhere.  Out: a :class:`Library` or why there is none::

    build(Build("/tmp/built", (("f.cu", ...), ("f.h", ...)), "f.cu", gpu_command(nvcc.path, "sm_90"))).path

What has been compiled before, from the same bytes by the same command, is not compiled again.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from comprehensive.data import template_directory
from comprehensive.toolchain.cache import cache_key
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.host import Compiler
from comprehensive.toolchain.unit import compile_unit, compiler_version
from comprehensive.toolchain.usage import Usage, resource_usage, usage_of

SHIM = "cuda_on_cpu.h"
TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Build:
    """Texts by file name, of which ``main`` is compiled; ``command`` is all before it; users see ``directory``."""

    directory: str
    texts: tuple[tuple[str, str], ...]
    main: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """The answer of a build: ``path`` is None where the compiler rejects the source, ``log`` what it says."""

    path: str | None
    log: str

    def usage(self, kernel: str) -> Usage | None:
        """Return the resources of a kernel that is no template, where ptxas has said so; else None."""
        found = usage_of(kernel, resource_usage(self.log))
        return found[0] if found else None

    @property
    def errors(self) -> str:
        """The lines that say what is wrong, or else the last ones."""
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        return "; ".join([line for line in lines if "error" in line][:3] or lines[-2:])[:1000]


def gpu_command(nvcc: Path, arch: str, *more: str) -> tuple[str, ...]:
    """Return the command that compiles the source for a GPU as a user does, into a shared object."""
    return (str(nvcc), "-O3", f"-arch={arch}", "-shared", "-Xcompiler=-fPIC", *more)


def cpu_command(compiler: Compiler, *more: str) -> tuple[str, ...]:
    """Return the command that compiles for the stand-in of a device, whose text is :func:`shim`."""
    # A user waits for the compiler longer than for kernels on a stand-in; -O2 takes it two to three times as long.
    flags = ("-std=c++17", "-Og", "-ffp-contract=off", "-Wno-unknown-pragmas", "-shared", "-fPIC")
    return (*compiler.command, *flags, *more, "-include", SHIM, "-I", ".", "-x", "c++")


def shim() -> tuple[tuple[str, str], ...]:
    """Names and texts of what stands for CUDA on a processor: its runtime, and its headers of types."""
    host = template_directory() / "host"
    paths = (host / SHIM, *sorted((host / "on_cpu").glob("*.h")))
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)


def build(job: Build) -> Library:
    """Compiles, unless that has been done. ToolError where the compiler cannot be run to its end."""
    version = compiler_version(job.command)
    key = cache_key(version, *job.command, job.main, *(part for named in job.texts for part in named))[:24]
    folder = Path(job.directory) / key
    target, log = folder / "library.so", folder / "log.txt"
    if target.is_file() and log.is_file():
        return Library(str(target), log.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    # In a directory of its own, so that two who compile the same do not meet; the library comes by a rename, last.
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as scratch:
        files = {name: Path(scratch) / name for name, _ in job.texts}
        for name, text in job.texts:
            files[name].write_text(text, encoding="utf-8")
        try:
            compiled = compile_unit(
                job.command, files[job.main], timeout_s=TIMEOUT_S, beside=list(files.values())
            )
        except SourceRejectedError as error:
            return Library(None, error.log)
        made, written = Path(scratch) / "library.so", Path(scratch) / "log.txt"
        made.write_bytes(compiled.output)
        written.write_text(compiled.log, encoding="utf-8")
        os.replace(written, log)
        os.replace(made, target)
    return Library(str(target), compiled.log)
