"""The analysis of a text while it is written: a path and a text in, diagnostics and loop nests out.

    analysed("smooth.mf", text).diagnostics

Only what is said before anything is optimized, so that errors reach an editor at once; see `hover.py` for the tree.
"""

from __future__ import annotations

import gc
from functools import lru_cache

from msgspec import Struct

from comprehensive.diagnostics import CompileError, Diagnostic, DiagnosticSink, SourceFile
from comprehensive.driver import Options, understood
from comprehensive.language_server.regions import Regions
from comprehensive.loops.ir import Nest

_REGIONS = Regions()


class Analysis(Struct, frozen=True):
    """A text with what is wrong in it; no nests where there are errors."""

    source: SourceFile
    diagnostics: tuple[Diagnostic, ...]
    nests: tuple[Nest, ...] = ()


_FIRST = """void first(int n, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = 0.0f;
  }
}
"""


def settle() -> None:
    """Load what analyses need, and let the garbage collector look at none of it again: it stays to the end.

    A collection goes through all objects that there are, which are some 80,000 by then, in the middle of an analysis.
    """
    analysed("first.mf", _FIRST)
    gc.collect()
    gc.freeze()


@lru_cache(maxsize=8)
def analysed(path: str, text: str) -> Analysis:
    """The analysis of a text; the latest few are remembered, and what was found in regions that are the same."""
    source, sink = SourceFile(path, text), DiagnosticSink()
    try:
        _, nests = understood(source, sink, Options("estimate"), _REGIONS.examine)
    except CompileError as error:
        return Analysis(source, error.diagnostics)
    return Analysis(source, sink.diagnostics, nests)
