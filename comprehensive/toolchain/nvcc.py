"""Compiles CUDA and assembles PTX, and remembers the answers.

In: a tool that :func:`comprehensive.toolchain.find.find_tool` has found, and a source file.  Out:
:class:`Compiled`, with the bytes, the warnings and what each kernel takes::

    nvcc = load_tool(find_tool("nvcc"))
    compile_cubin(nvcc, Path("matmul.cu"), "sm_90").usage["matmul_0"].registers_per_thread

The tool works in a temporary directory that goes with it; nothing is written beside the source.  The answer for
the same tool, flags and bytes (of the source and of every header it includes) comes from the cache, wherever the
source is.  A C compiler that is to read ``cuda_runtime_api.h`` is given the directories that nvcc gives to the compiler
of the host (:func:`include_directories`).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.toolchain.cache import Cache, cache_key
from comprehensive.toolchain.compiled import (
    ENTRY_FORMAT,
    Compiled,
    SourceRejectedError,
    dependencies,
    recall,
    remember,
    without_times,
)
from comprehensive.toolchain.find import Found
from comprehensive.toolchain.process import ToolError, run
from comprehensive.toolchain.source_key import source_key

TIMEOUT_S = 300.0

# What nvcc and the host preprocessor read besides the command line.
_ENVIRONMENT = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "PATH",
    # Of nvcc in a mini toolkit, see `comprehensive.ptx.dropin`.
    "COMPREHENSIVE_PTXAS_PASSES",
)


@dataclass(frozen=True, slots=True)
class Tool:
    """An executable with its version, such as ``13.0.88``."""

    name: str
    path: Path
    version: str


def load_tool(found: Found) -> Tool:
    """The tool with its version; raises ToolError if it does not run or says no version."""
    answer = run((found.path, "--version"), timeout_s=60)
    version = re.search(r"\bV(\d+(?:\.\d+)+)", answer.stdout)
    if answer.returncode != 0 or version is None:
        raise ToolError(f"{found.path} --version gives no version: {(answer.stdout + answer.stderr).strip()}")
    return Tool(found.name, found.path, version[1])


def compile_ptx(
    nvcc: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """CUDA to PTX text for ``sm_90`` and the like; arguments and errors as for :func:`compile_cubin`."""
    flags = ("-ptx", f"-arch={arch}", *extra)
    return _cached(nvcc, source, flags, cache or Cache.default(), has_dependencies=True)


def compile_cubin(
    nvcc: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """CUDA (``.cu``) or PTX (``.ptx``) to a cubin, with the usage of its kernels.

    ``extra`` are further flags, their paths absolute.  Raises SourceRejectedError with the words of nvcc, ToolError
    if nvcc does not run to its end, OSError if the source cannot be read.
    """
    flags = ("-cubin", f"-arch={arch}", "-Xptxas=-v", *extra)
    return _cached(nvcc, source, flags, cache or Cache.default(), has_dependencies=source.suffix != ".ptx")


def assemble(
    ptxas: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """PTX to a cubin by ptxas alone, which needs no host compiler; otherwise as :func:`compile_cubin`."""
    flags = (f"-arch={arch}", "-v", *extra)
    return _cached(ptxas, source, flags, cache or Cache.default(), has_dependencies=False)


def _cached(
    tool: Tool, source: Path, flags: tuple[str, ...], cache: Cache, *, has_dependencies: bool
) -> Compiled:
    source = source.absolute()
    found = source_key(source, place=_place_matters(source.read_bytes(), flags))
    environment = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT if has_dependencies]
    key = cache_key(
        ENTRY_FORMAT,
        tool.name,
        str(tool.path),
        _profile(tool),
        tool.version,
        *flags,
        *environment,
        *found.parts,
    )
    kept = recall(cache, key)
    if kept is not None:
        return kept
    compiled, read = _invoke(tool, source, flags, has_dependencies)
    # What is in the key already may be elsewhere next time.
    remember(cache, key, compiled, [path for path in read if path not in found.files])
    return compiled


def _profile(tool: Tool) -> bytes:
    """Return what nvcc reads from the file beside it, or nothing where there is none."""
    try:
        return tool.path.with_name("nvcc.profile").read_bytes()
    except OSError:
        return b""


def _place_matters(contents: bytes, flags: tuple[str, ...]) -> bool:
    """Return whether an answer shows where the source is."""
    # The header alone shows nothing.
    in_text = re.search(rb"__FILE__|__BASE_FILE__|\bassert\b(?!\.h\b)", contents) is not None
    return in_text or any(
        flag in ("-lineinfo", "--generate-line-info", "-G", "--device-debug") for flag in flags
    )


def _invoke(
    tool: Tool, source: Path, flags: tuple[str, ...], has_dependencies: bool
) -> tuple[Compiled, tuple[Path, ...]]:
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as name:
        directory = Path(name)
        output, listed = directory / "output", directory / "dependencies"
        command = [str(tool.path), *flags, "-o", str(output)]
        if has_dependencies:
            command += ["-MD", "-MF", str(listed)]
        command.append(str(source))
        # TMPDIR: what the tool would leave in /tmp when it is ended goes with the directory.
        answer = run(command, timeout_s=TIMEOUT_S, cwd=directory, environment={"TMPDIR": name})
        log = without_times((answer.stdout + answer.stderr).replace(f"{directory}/", ""))
        if answer.returncode != 0 or not output.is_file():
            raise SourceRejectedError([str(tool.path), *flags, str(source)], log)
        listing = dependencies(listed.read_text(), directory) if has_dependencies else ()
        return Compiled(output.read_bytes(), log), listing


def include_directories(nvcc: Tool) -> tuple[Path, ...]:
    """The directories that nvcc names to other compilers; ToolError where it does not say any."""
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        empty = Path(scratch) / "empty.cu"
        empty.touch()
        answer = run((nvcc.path, "--dryrun", "-c", empty), timeout_s=60)
    line = re.search(r"^#\$ INCLUDES=(.*)$", answer.stdout + answer.stderr, re.MULTILINE)
    found = tuple(Path(name).resolve() for name in re.findall(r'"-I([^"]+)"', line[1] if line else ""))
    if not found:
        raise ToolError(f"{nvcc.path} --dryrun names no directory of headers")
    return found
