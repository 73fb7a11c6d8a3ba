"""The command ``comprehensive ptxas``: an assembler in the place of NVIDIA's, with passes."""

from __future__ import annotations

import click

from comprehensive.cli.reporting import reporting


# All options are those of ptxas, --help too; none may be taken for one of click's.
@click.command("ptxas", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@reporting
def ptxas_command(arguments: tuple[str, ...]) -> None:
    """Assemble PTX as ptxas does, after passes have rewritten it; --install DIR makes nvcc call this."""
    from comprehensive.ptx.dropin import command

    command.main(arguments, lambda line: click.echo(line, err=True))
