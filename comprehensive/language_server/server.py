"""The language server: LSP over stdio, with the analysis of each text that is opened or changed.

Squiggles are the diagnostics of the tool, with their codes, notes and help; hover is that of `hover.py`; code actions
are the changes that diagnostics carry (`Diagnostic.fix`).
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from comprehensive import __version__
from comprehensive.diagnostics import GENERATED, Diagnostic, Severity, SourceFile, Span
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
            types.CodeAction(
                title=f"write '{each.fix.text}'",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[_shown(each, analysis.source, uri)],
                edit=types.WorkspaceEdit({uri: [types.TextEdit(range_of(each.fix.span), each.fix.text)]}),
            )
            for each in analysis.diagnostics
            if each.fix is not None
            and each.fix.span.file.path == analysis.source.path
            and each.fix.span.start <= end
            and start <= each.fix.span.end
        ]

    return made


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
