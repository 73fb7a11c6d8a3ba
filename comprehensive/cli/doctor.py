"""The command ``comprehensive doctor``: the tools that it finds."""

from __future__ import annotations

import click

from comprehensive.cli.options import cuda_path_option, json_option
from comprehensive.cli.reporting import print_json, reporting


@click.command("doctor")
@cuda_path_option
@json_option
@reporting
def doctor_command(cuda_path: str | None, as_json: bool) -> None:
    """Show which tools were found, where they were looked for, and what is missing."""
    from comprehensive.report import doctor as report

    examined = report.examine(cuda_path)
    if as_json:
        print_json(report.to_json(examined))
    else:
        click.echo(report.to_text(examined), nl=False)
