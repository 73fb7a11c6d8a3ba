"""The analysis of a text while it is written: a path and a text in, diagnostics and loop nests out.

    analysed("smooth.mf", text).diagnostics

Only what is said before anything is optimized, so that errors reach an editor at once; see `decisions.py` for the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from comprehensive.diagnostics import CompileError, Diagnostic, DiagnosticSink, SourceFile
from comprehensive.driver import Options, understood
from comprehensive.loops.ir import Nest


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text with what is wrong in it; no nests where there are errors."""

    source: SourceFile
    diagnostics: tuple[Diagnostic, ...]
    nests: tuple[Nest, ...] = ()


@lru_cache(maxsize=8)
def analysed(path: str, text: str) -> Analysis:
    """The analysis of a text; the latest few are remembered."""
    source, sink = SourceFile(path, text), DiagnosticSink()
    try:
        _, nests = understood(source, sink, Options("estimate"))
    except CompileError as error:
        return Analysis(source, error.diagnostics)
    return Analysis(source, sink.diagnostics, nests)
