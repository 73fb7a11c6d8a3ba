"""The compilation of a path or a text to a program.

comprehensive.compile("specs/matmul.mf")
comprehensive.compile("void scale(int n, float x[n], int B) { meta_schedule block(B) { ... } }", name="scale")
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from comprehensive.api.program import Program
from comprehensive.diagnostics import CompileWarning, Severity, SourceFile, render
from comprehensive.driver import RegisterSource, compile_text
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.read import read_source
from comprehensive.optimize.tree import Performance
from comprehensive.options import checked_options
from comprehensive.pragmas.read import Models

NAME = "program"
"""The name of a text that nobody gave a name."""


def compile(
    source: str | PathLike[str],
    *,
    name: str | None = None,
    define: Mapping[str, int | str] | None = None,
    undefine: Sequence[str] = (),
    include: Sequence[str | PathLike[str]] = (),
    registers: RegisterSource = "auto",
    arch: str = "sm_90",
    cuda_path: str | None = None,
    counters: Sequence[str] = (),
    strategies: Sequence[str] = (),
    performance: Performance = "demanded",
    reassociate: bool = False,
    pragma: Models | None = None,
    passes: str | None = None,
    embed: str | None = None,
    warnings_are_errors: bool = False,
) -> Program:
    """Compile a program: its decision trees, kernels and header.

    ``source`` is a path, or the text of a program.  A string with a brace or a line break in it is a text, which every
    program has and hardly any path; a path that has one can be given as a `Path`.  ``name`` is for texts: outputs are
    called after it, and diagnostics name it as a file, ``program.mf`` without one.

    ``define``, ``undefine`` and ``include`` are macros, names that are none, and directories of included files, as the
    options ``-D``, ``-U`` and ``-I``; the other ones are those of the command line by their names.

    Raises CompileError with all diagnostics for a file that cannot be read and for a program with errors, and for an
    option that is not known (CF0708, CF0808, CF1022, CF1101); ToolError where ``registers="ptxas"`` or ``embed`` need
    nvcc and there is none.  Warnings of the program are Python's, of the class CompileWarning.
    """
    configuration = Configuration(
        tuple(_macro(*each) for each in (define or {}).items()),
        tuple(undefine),
        tuple(map(Path, include)),
    )
    options = checked_options(
        registers=registers,
        arch=arch,
        cuda_path=cuda_path,
        counters=_names("counters", counters),
        strategies=_names("strategies", strategies),
        performance=performance,
        reassociate=reassociate,
        pragma=pragma,
        passes=passes,
        embed=embed,
        warnings_are_errors=warnings_are_errors,
        configuration=configuration,
    )
    suffix = ".mf" if pragma is None else ".c"
    compilation = compile_text(_source(source, name, suffix), options)
    for diagnostic in compilation.diagnostics:
        if diagnostic.severity is Severity.WARNING:
            warnings.warn(render(diagnostic), CompileWarning, stacklevel=2)
    return Program(compilation, options)


def _source(source: str | PathLike[str], name: str | None, suffix: str) -> SourceFile:
    if isinstance(source, str) and re.search(r"[{}\n]", source):
        if name is not None and not re.fullmatch(r"\w[\w.-]*", name):
            raise ValueError(f"outputs cannot be called {name!r}: give letters, digits, '.', '-' and '_'")
        return SourceFile(f"{name or NAME}{suffix}", source)
    path = fspath(source)
    if name is not None:
        raise TypeError(f"name={name!r} is for a text, and {path!r} is a path, which has its own")
    return read_source(path)


def _macro(name: str, value: int | str) -> tuple[str, str]:
    """A macro and what it stands for; a truth value is a number, as in C."""
    if not re.fullmatch(r"[^\W\d]\w*(\([\w, ]*\))?", name):
        raise ValueError(f"a macro is called like N or SQUARE(x), not {name!r}")
    return name, value if isinstance(value, str) else str(int(value))


def _names(option: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"{option} is a sequence of names, as in {option}=({names!r},)")
    return tuple(names)
