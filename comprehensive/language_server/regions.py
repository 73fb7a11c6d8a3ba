"""Diagnostics of regions that an edit has left alone are remembered, and put where the regions are now.

    examine = Regions().examine
    understood(source, sink, options, examine)       # a region with the same tokens and meaning is not asked again

Legality and bounds of a region take up to a third of a second.  An edit changes one region; of the others only the
places change, and those are found by the numbers of their tokens, so that lines between statements may change, too.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Diagnostic, DiagnosticSink, Note, SourceFile, Span
from comprehensive.loops.ir import Nest
from comprehensive.metafork.tokens import Origin, Token, tokens
from comprehensive.poly.report import METAFORK, Words, check
from comprehensive.records import replace

_MOST_REGIONS = 64


class _Found(Struct, frozen=True):
    """The diagnostics of a region, with the tokens of the text that their places are in."""

    file: SourceFile
    tokens: tuple[Token, ...]
    diagnostics: tuple[Diagnostic, ...]


class Regions:
    """The regions that were looked at last, with what was found."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[object, ...], _Found] = OrderedDict()

    def examine(
        self, nest: Nest, sink: DiagnosticSink, *, reassociate: bool = False, words: Words = METAFORK
    ) -> None:
        """Report what `poly.report.check` does; of a region that is known it is asked no more."""
        span = nest.span
        here = tuple(tokens(Origin(span.file, DiagnosticSink()), span.start, span.end))
        key = (nest, _words(span.file, here), reassociate, words)
        known = self._found.get(key)
        if known is not None:
            self._found.move_to_end(key)
            moved = _Moved(known, span.file, here)
            sink.extend(map(moved.diagnostic, known.diagnostics))
            return
        own = DiagnosticSink()
        check(nest, own, reassociate=reassociate, words=words)
        sink.extend(own.diagnostics)
        found = _Found(span.file, here, own.diagnostics)
        if all(_Moved(found, span.file, here).knows(each) for each in _places(own.diagnostics)):
            self._found[key] = found
            if len(self._found) > _MOST_REGIONS:
                self._found.popitem(last=False)


def _words(file: SourceFile, here: Sequence[Token]) -> tuple[str, ...]:
    """Return the tokens with what stands between them, as far as messages may quote it: not behind a statement."""
    found: list[str] = []
    for token, following in zip(here, (*here[1:], None), strict=True):
        found.append(token.text)
        if following is not None and token.text not in (";", "{", "}"):
            found.append(re.sub(r"\s+", " ", file.text[token.end : following.start]))
    return tuple(found)


class _Moved:
    """Places in the text of before as places in the text of now: both have the same tokens."""

    def __init__(self, found: _Found, file: SourceFile, here: Sequence[Token]) -> None:
        self._before, self._file = found.file, file
        pairs = list(zip(found.tokens, here, strict=True))
        self._starts = {old.start: new.start for old, new in pairs}
        self._ends = {old.end: new.end for old, new in pairs}

    def knows(self, span: Span) -> bool:
        """Whether the place begins and ends with tokens of the region."""
        return span.file == self._before and span.start in self._starts and span.end in self._ends

    def diagnostic(self, before: Diagnostic) -> Diagnostic:
        notes = tuple(Note(note.message, self._place(note.span)) for note in before.notes)
        return replace(before, span=self._place(before.span), notes=notes)

    def _place(self, span: Span | None) -> Span | None:
        if span is None or span is GENERATED:
            return span
        return Span(self._file, self._starts[span.start], self._ends[span.end])


def _places(diagnostics: Sequence[Diagnostic]) -> Iterator[Span]:
    """All places that diagnostics name; those without edits, which the checks of regions do not make."""
    for each in diagnostics:
        assert each.fix is None
        spans = (each.span, *(note.span for note in each.notes))
        yield from (span for span in spans if span is not None and span is not GENERATED)
