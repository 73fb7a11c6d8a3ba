"""The language server: LSP over stdio, with the analysis of each text that is opened or changed.

Squiggles are the diagnostics of the tool, with their codes, notes and help; hover is that of `hover.py`; code actions
are the changes that diagnostics carry (`Diagnostic.fix`).
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from comprehensive import __version__
from comprehensive.diagnostics import GENERATED, Diagnostic, Fix, Severity, SourceFile, Span
from comprehensive.language_server.analysis import Analysis, analysed, settle
from comprehensive.language_server.hover import hover
from comprehensive.language_server.positions import offset_at, range_of

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


def serve() -> None:
    """Answers on stdin and stdout until the editor is done."""
    made = server()
    settle()
    made.start_io()


def server() -> LanguageServer:
    """The server with its features."""
    made = LanguageServer("comprehensive", __version__)

    def analysis_of(uri: str) -> Analysis:
        document = made.workspace.get_text_document(uri)
        return analysed(to_fs_path(uri) or uri, document.source)

    def publish(uri: str) -> None:
        analysis = analysis_of(uri)
        diagnostics = [_shown(each, analysis.source, uri) for each in analysis.diagnostics]
        made.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: types.DidOpenTextDocumentParams) -> None:  # pyright: ignore[reportUnusedFunction]
        publish(given.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(given: types.DidChangeTextDocumentParams) -> None:  # pyright: ignore[reportUnusedFunction]
        publish(given.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(given: types.HoverParams) -> types.Hover | None:  # pyright: ignore[reportUnusedFunction]
        analysis = analysis_of(given.text_document.uri)
        text = hover(analysis, offset_at(analysis.source, given.position))
        return None if text is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    @made.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def acted(given: types.CodeActionParams) -> list[types.CodeAction]:  # pyright: ignore[reportUnusedFunction]
        uri = given.text_document.uri
        analysis = analysis_of(uri)
        start, end = (offset_at(analysis.source, p) for p in (given.range.start, given.range.end))
        return [
            _action(each, each.fix, analysis.source, uri)
            for each in analysis.diagnostics
            if each.fix is not None and _is_at(each, each.fix, analysis.source, start, end)
        ]

    return made


def _is_at(diagnostic: Diagnostic, fix: Fix, source: SourceFile, start: int, end: int) -> bool:
    """Whether a diagnostic or an edit of its fix touches a part of the text, and all edits are in this text."""
    spans = [edit.span for edit in fix.edits]
    if not all(_is_in(span, source) for span in spans):
        return False
    if diagnostic.span is not None and _is_in(diagnostic.span, source):
        spans.append(diagnostic.span)
    return any(span.start <= end and start <= span.end for span in spans)


def _action(diagnostic: Diagnostic, fix: Fix, source: SourceFile, uri: str) -> types.CodeAction:
    """The quick fix that makes the edits."""
    edits = [types.TextEdit(range_of(edit.span), edit.text) for edit in fix.edits]
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_shown(diagnostic, source, uri)],
        is_preferred=True,
        edit=types.WorkspaceEdit({uri: edits}),
    )


def _shown(diagnostic: Diagnostic, source: SourceFile, uri: str) -> types.Diagnostic:
    text = diagnostic.message + ("" if diagnostic.help is None else f"\nhelp: {diagnostic.help}")
    related = [
        types.DiagnosticRelatedInformation(types.Location(uri, range_of(note.span)), note.message)
        for note in diagnostic.notes
        if note.span is not None and _is_in(note.span, source)
    ]
    placeless = "".join(f"\nnote: {note.message}" for note in diagnostic.notes if note.span is None)
    span = diagnostic.span
    place = range_of(span) if span is not None and _is_in(span, source) else range_of(Span(source, 0, 0))
    return types.Diagnostic(
        place,
        text + placeless,
        _SEVERITIES[diagnostic.severity],
        diagnostic.code,
        source="comprehensive",
        related_information=related,
    )


def _is_in(span: Span, source: SourceFile) -> bool:
    return span is not GENERATED and span.file.path == source.path
