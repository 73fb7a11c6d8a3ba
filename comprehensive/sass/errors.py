"""What is wrong with a file that is to be read as machine code."""

from __future__ import annotations

from comprehensive.diagnostics import CompileError, Diagnostic, Severity


class SassError(CompileError):
    """The bytes cannot be read as SASS; carries one diagnostic that says why and what to do."""

    def __init__(self, code: str, message: str, help: str) -> None:
        super().__init__((Diagnostic(Severity.ERROR, code, message, None, help=help),))
