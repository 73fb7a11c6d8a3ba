"""Source text, positions in it, and what the tool says about them.

In: offsets into a :class:`SourceFile`.  Out: :class:`Diagnostic` values, printed as compilers print them::

    matmul.mf:7:13: error: array 'd' is not declared [CF0203]
        7 |             d[i] = 0;
          |             ^
    help: declare it as a parameter of the function, or correct its name

A diagnostic has a stable code, one main span, notes with spans of their own, a help line, and where it is clear what to
write the edits that do so.  Stages collect
them in a :class:`DiagnosticSink`, so that one run reports several, and stop with :class:`CompileError`.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A text with the name under which people know it."""

    path: str
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a 0-based character offset."""
        starts = _line_starts(self.text)
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The 0-based character offset of a 1-based line and column, as :meth:`position` gives them."""
        return min(_line_starts(self.text)[line - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end of line."""
        starts = _line_starts(self.text)
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")


@lru_cache(maxsize=16)
def _line_starts(text: str) -> tuple[int, ...]:
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return tuple(starts)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` (included) to ``end`` (excluded) of a file."""

    file: SourceFile = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]

    @property
    def position(self) -> tuple[int, int]:
        return self.file.position(self.start)

    @property
    def behind(self) -> Span:
        """The empty span behind this one."""
        return Span(self.file, self.end, self.end)

    def to(self, other: Span) -> Span:
        """The span of both and of what is between them, where both are in one file; else this one.

        What comes out of a macro has the place of its use, so that the other one need not stand behind this one.
        """
        if other.file is not self.file:
            return self
        return Span(self.file, min(self.start, other.start), max(self.end, other.end))

    def __str__(self) -> str:
        line, column = self.position
        return f"{self.file.path}:{line}:{column}"


GENERATED = Span(SourceFile("<generated>", ""), 0, 0)
"""The span of what no source text stands for."""


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    """Nothing is wrong; the program could be written so that more is known of it."""


@dataclass(frozen=True, slots=True)
class Note:
    """A further remark, with a place of its own or none."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the text: ``text`` in the place of the span, which may be empty."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that remove what is wrong, which an editor can make; ``title`` says what they do."""

    title: str
    edits: tuple[Edit, ...]

    @staticmethod
    def write(span: Span, text: str) -> Fix:
        """Other words in the place of a span."""
        return Fix(f"write '{text}'", (Edit(span, text),))

    @staticmethod
    def around(title: str, span: Span, before: str, after: str) -> Fix:
        """Words before and behind a span."""
        start = Span(span.file, span.start, span.start)
        return Fix(title, (Edit(start, before), Edit(span.behind, after)))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing the tool has to say; ``code`` is stable across versions (``CF0203``)."""

    severity: Severity
    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None


class CompileError(Exception):
    """The input has errors; carries every diagnostic of the run, warnings included."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("\n".join(render(d) for d in diagnostics))
        self.diagnostics = diagnostics

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        span: Span | None = None,
        *,
        notes: tuple[Note, ...] = (),
        help: str | None = None,
    ) -> Self:
        """The input has one error."""
        return cls((Diagnostic(Severity.ERROR, code, message, span, notes, help),))


class CompileWarning(UserWarning):
    """A warning of a compilation from Python; its text is the rendered diagnostic."""


class CommandLineError(CompileError):
    """An error in the command line, or in the arguments of a call from Python, not in the input."""


class GeneratedCodeError(CompileError):
    """An error in what was generated, not in the input; ``texts`` are files by name that show it."""

    def __init__(self, diagnostic: Diagnostic, texts: Mapping[str, str]) -> None:
        super().__init__((diagnostic,))
        self.texts = texts


class DiagnosticSink:
    """Collects the diagnostics of a run in the order in which they are met, each once."""

    def __init__(self) -> None:
        self._diagnostics: dict[Diagnostic, None] = {}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(self._diagnostics)

    @property
    def errors(self) -> int:
        """The number of errors so far."""
        return sum(d.severity is Severity.ERROR for d in self._diagnostics)

    @property
    def has_errors(self) -> bool:
        return self.errors > 0

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        notes: tuple[Note, ...] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Take an error; what a ``fix`` does is its help, unless another one is given."""
        help = fix.title if help is None and fix is not None else help
        self._diagnostics[Diagnostic(Severity.ERROR, code, message, span, notes, help, fix)] = None

    def warning(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        notes: tuple[Note, ...] = (),
        help: str | None = None,
    ) -> None:
        self._diagnostics[Diagnostic(Severity.WARNING, code, message, span, notes, help)] = None

    def note(self, code: str, message: str, span: Span | None, *, help: str | None = None) -> None:
        self._diagnostics[Diagnostic(Severity.NOTE, code, message, span, help=help)] = None

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Takes over what another sink has collected."""
        self._diagnostics |= dict.fromkeys(diagnostics)

    def stop_on_errors(self, *, warnings_are_errors: bool = False) -> None:
        """Raises CompileError with everything collected if there is an error, or a warning that counts as one."""
        found = tuple(map(_as_error, self.diagnostics)) if warnings_are_errors else self.diagnostics
        if any(d.severity is Severity.ERROR for d in found):
            raise CompileError(found)


def _as_error(diagnostic: Diagnostic) -> Diagnostic:
    if diagnostic.severity is not Severity.WARNING:
        return diagnostic
    return replace(diagnostic, severity=Severity.ERROR, message=f"{diagnostic.message} [-Werror]")


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as text: head line, source line with caret, notes, help; no trailing newline."""
    head = f"{diagnostic.severity.value}: {diagnostic.message} [{diagnostic.code}]"
    lines = _with_excerpt(head, diagnostic.span)
    for note in diagnostic.notes:
        lines += _with_excerpt(f"note: {note.message}", note.span)
    if diagnostic.help is not None:
        lines.append(f"help: {diagnostic.help}")
    fix = diagnostic.fix
    if fix is not None and fix.title not in (diagnostic.help or ""):
        lines.append(f"help: {fix.title}")
    return "\n".join(lines)


def _with_excerpt(head: str, span: Span | None) -> list[str]:
    if span is None or span is GENERATED:
        return [head]
    number, column = span.position
    text = span.file.line(number)
    # Long lines are cut around the caret: a 10 MB line must not fill the terminal.
    left = max(0, column - 1 - 70)
    shown = text[left : left + 140]
    length = max(1, min(span.end, span.start + len(text) - column + 1) - span.start)
    caret = "".join("\t" if c == "\t" else " " for c in shown[: column - 1 - left])
    marks = "^" + "~" * (min(length, len(shown) - (column - 1 - left)) - 1)
    printable = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in shown)
    return [f"{span}: {head}", f"{number:5d} | {printable}", f"      | {caret}{marks}"]


def to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """The diagnostic as plain data: severity, code, message, place, notes, help, edits, rendered text."""
    return {
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "span": _span_to_json(diagnostic.span),
        "notes": [{"message": n.message, "span": _span_to_json(n.span)} for n in diagnostic.notes],
        "help": diagnostic.help,
        "fix": None if diagnostic.fix is None else _fix_to_json(diagnostic.fix),
        "rendered": render(diagnostic),
    }


def _fix_to_json(fix: Fix) -> dict[str, Any]:
    edits = [{"span": _span_to_json(edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "edits": edits}


def _span_to_json(span: Span | None) -> dict[str, Any] | None:
    if span is None or span is GENERATED:
        return None
    line, column = span.position
    return {"file": span.file.path, "line": line, "column": column, "start": span.start, "end": span.end}
