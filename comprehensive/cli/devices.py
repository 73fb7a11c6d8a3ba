"""The command ``comprehensive devices``: the devices that the tool knows."""

from __future__ import annotations

import click

from comprehensive.cli.options import json_option
from comprehensive.cli.reporting import print_json, reporting


@click.command("devices")
@click.argument("name", required=False)
@json_option
@reporting
def devices_command(name: str | None, as_json: bool) -> None:
    """List the devices that the tool knows, or print all limits of one."""
    from comprehensive.report import devices as report

    document = report.device_document(name)
    if as_json:
        print_json(document)
    else:
        click.echo(report.device_text(name), nl=False)
