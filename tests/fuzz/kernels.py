"""The generated sources compiled fast: the shim of the CPU build precompiled once, no optimization.

In: the texts that ``gen`` writes.  Out: a `CpuLibrary`, or the words of the compiler.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.codegen.runtime_files import RUNTIME_FILES
from comprehensive.data import template_directory
from comprehensive.plan.interface import Interface
from comprehensive.runtime import guarded
from comprehensive.runtime.cpu import CpuLibrary
from comprehensive.toolchain.host import Compiler, find_c_compiler, find_cxx_compiler, headers_on_cpu

_FLAGS = ("-std=c++17", "-ffp-contract=off", "-O0", "-fPIC", "-Wno-unknown-pragmas")
_HEADERS: tuple[tuple[str, str], ...] = (("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20"))


@dataclass(frozen=True, slots=True)
class Tools:
    """Compilers, the directory of the precompiled shim, and the compiled guards of arrays."""

    c: Compiler
    cxx: Compiler
    shim: Path
    guards: Path


class DoesNotCompileError(Exception):
    """The compiler rejects what was generated; carries its words."""


def prepare(work: Path) -> Tools:
    """Compiles what all programs share. RuntimeError where there is no compiler."""
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        raise RuntimeError("the fuzzer needs a C and a C++ compiler")
    shim = work / "shim"
    shim.mkdir(parents=True, exist_ok=True)
    shutil.copy(template_directory() / "host" / "cuda_on_cpu.h", shim / "cuda_on_cpu.h")
    command = [*cxx.command, *_FLAGS, "-x", "c++-header", str(shim / "cuda_on_cpu.h")]
    subprocess.run([*command, "-o", str(shim / "cuda_on_cpu.h.gch")], check=True, timeout=300)
    return Tools(c, cxx, shim, guarded.build(work / "guards", compiler=c))


def build_kernels(
    stem: str, texts: Mapping[str, str], work: Path, interfaces: Sequence[Interface], tools: Tools
) -> CpuLibrary:
    """Compiles header and kernels as they are. DoesNotCompileError."""
    work.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if name in (f"{stem}.h", f"{stem}.cu") or name in RUNTIME_FILES:
            (work / name).write_text(text, encoding="utf-8")
    target = work / f"lib{stem}_cpu.so"
    command = [*tools.cxx.command, *_FLAGS, "-include", str(tools.shim / "cuda_on_cpu.h")]
    command += [*headers_on_cpu(), "-I", str(work)]
    command += ["-shared", "-x", "c++", str(work / f"{stem}.cu"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise DoesNotCompileError(done.stderr)
    return CpuLibrary(target.absolute(), {i.name: i for i in interfaces}, False, work)


def header_errors(stem: str, work: Path, tools: Tools) -> Iterator[str]:
    """Yield the errors of compilers about the header by itself, in the languages that may include it."""
    user = work / "user.c"
    user.write_text(f'#include "{stem}.h"\nint main(void) {{ return 0; }}\n', encoding="utf-8")
    for language, standard in _HEADERS:
        compiler = tools.c if language == "c" else tools.cxx
        command = [*compiler.command, f"-std={standard}", "-fsyntax-only", "-Werror", "-I", str(work)]
        command += ["-x", language, str(user)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            yield f"{' '.join(command)}\n{done.stderr}"
