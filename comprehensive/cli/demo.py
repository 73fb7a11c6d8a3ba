"""The command ``comprehensive demo``: the whole job on one program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import configured, input_argument, options_of, with_compile_options
from comprehensive.cli.reporting import EXIT_INPUT, reporting


@click.command("demo")
@input_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("out"), help="Output directory."
)
@click.option("-D", "definitions", metavar="NAME[=TEXT]", multiple=True, help="A macro; repeat.")
@with_compile_options
@reporting
def demo_command(source: Path, output: Path, definitions: tuple[str, ...], **compile_options: Any) -> None:
    """Show the whole job on SOURCE: tree, outputs, and the generated kernels run against the serial C."""
    from comprehensive import demonstration

    values, compile_options = configured(source, definitions, compile_options)
    if values:
        raise click.UsageError(f"-D {values[0]}: the program mentions no macro of this name")
    if not demonstration.show(source, output, options_of(**compile_options), click.echo):
        sys.exit(EXIT_INPUT)
