"""Asks a compiler of the host whether it takes a source, without compiling it.

In: a compiler and a file.  Out: :class:`Complaint`, the first error, or None::

    first_complaint(find_c_compiler(), ("-std=c99", "-x", "c"), Path("matmul.h"))   # None: it compiles

A compiler that fails without naming a place (it does not know an option, or cannot run) says nothing about the source:
that is a fatal complaint about no file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.toolchain.host import Compiler
from comprehensive.toolchain.process import ToolError, run

TIMEOUT_S = 60.0

_FLAGS = ("-fsyntax-only", "-w", "-fdiagnostics-color=never")
# As gcc, clang and nvcc write it: `f.c:3:1: error: text`, `f.c:3: error: text`, `f.cu(3): error: text`.
_ERROR = re.compile(
    r"^(?P<file>[^\n]+?)(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<row>\d+)\)): "
    r"(?P<kind>fatal error|error)[^:\n]*: (?P<message>[^\n]+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error with its place; ``column`` is 0 where the compiler gives none.

    ``is_fatal`` is what compilers call an error after which they do not go on: a header that is not there.
    """

    file: str
    line: int
    column: int
    message: str
    is_fatal: bool


def complaint_in(log: str) -> Complaint | None:
    """The first error in the words of a compiler."""
    found = _ERROR.search(log)
    if found is None:
        return None
    line = int(found["line"] or found["row"])
    column = int(found["column"] or 0)
    return Complaint(found["file"], line, column, found["message"].strip(), found["kind"] == "fatal error")


def first_complaint(compiler: Compiler, flags: Sequence[str | Path], source: Path) -> Complaint | None:
    """The first error of the compiler in the source or what it includes."""
    command = [*compiler.command, *_FLAGS, *map(str, flags), str(source)]
    try:
        # In the words of the C locale, whatever that of the user is.
        done = run(command, timeout_s=TIMEOUT_S, environment={"LC_ALL": "C"})
    except ToolError as error:
        return _about_nothing(str(error))
    if done.returncode == 0:
        return None
    return complaint_in(done.stderr) or _about_nothing(done.stderr.strip())


def _about_nothing(message: str) -> Complaint:
    return Complaint("", 0, 0, message, is_fatal=True)
