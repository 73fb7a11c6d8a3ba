"""Finds the compilers of the host, for the CPU build of generated code and for plain C callers.

In: nothing but the environment.  Out: :class:`Compiler` or None::

    find_cxx_compiler()        # Compiler(command=("/usr/bin/g++",), origin="PATH")

``CXX`` (for C: ``CC``) comes first and may carry arguments, as in ``CXX='ccache g++'``; then the usual names.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from comprehensive.data import template_directory


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler: ``command`` is the start of a command line, its first word an absolute path."""

    command: tuple[str, ...]
    origin: str


def find_cxx_compiler(environment: Mapping[str, str] | None = None) -> Compiler | None:
    """The C++ compiler, or None where there is none."""
    return _find("CXX", ("g++", "clang++", "c++"), environment)


def find_c_compiler(environment: Mapping[str, str] | None = None) -> Compiler | None:
    """The C compiler, or None where there is none."""
    return _find("CC", ("gcc", "clang", "cc"), environment)


def cuda_on_cpu() -> tuple[str, ...]:
    """The options with which a C++ compiler takes generated CUDA: what stands for CUDA's runtime and its headers."""
    return ("-include", str(template_directory() / "host" / "cuda_on_cpu.h"), *headers_on_cpu())


def headers_on_cpu() -> tuple[str, ...]:
    """The options with which compilers of C and C++ find what stands for CUDA's headers of types."""
    return ("-I", str(template_directory() / "host" / "on_cpu"))


def _find(variable: str, names: tuple[str, ...], environment: Mapping[str, str] | None) -> Compiler | None:
    env = os.environ if environment is None else environment
    search_path = env.get("PATH", "")
    words = _words(env.get(variable, ""))
    if words:
        # A user who names a compiler gets that one or none, never another.
        path = shutil.which(words[0], path=search_path)
        return Compiler((os.path.abspath(path), *words[1:]), variable) if path else None
    for name in names:
        path = shutil.which(name, path=search_path)
        if path:
            return Compiler((os.path.abspath(path),), "PATH")
    return None


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        # An unbalanced quote: take the text as it is, it will not be found.
        return [text]
