"""The error about a file of machine code, or about a question on it."""

from __future__ import annotations

from comprehensive.diagnostics import CompileError, Diagnostic, Note, Severity


class SassError(CompileError):
    """A file that cannot be read as SASS, or a question that has no answer; its diagnostic says why and what to do."""

    def __init__(self, code: str, message: str, help: str, notes: tuple[Note, ...] = ()) -> None:
        super().__init__((Diagnostic(Severity.ERROR, code, message, None, notes, help),))
