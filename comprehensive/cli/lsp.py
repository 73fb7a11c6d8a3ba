"""The command ``comprehensive lsp``: diagnostics, hover and code actions for editors."""

from __future__ import annotations

import sys

import click

from comprehensive.cli.reporting import EXIT_MISSING


@click.command("lsp")
def lsp_command() -> None:
    """Serve editors over stdin and stdout, by the language server protocol.

    Needs the extra `lsp`: `pip install 'comprehensive[lsp]'`.
    """
    try:
        from comprehensive.language_server.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        click.echo(f"error: {error.name} is not installed\nhelp: pip install 'comprehensive[lsp]'", err=True)
        sys.exit(EXIT_MISSING)
    serve()
