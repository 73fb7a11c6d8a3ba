"""The command ``comprehensive config``: where build systems find what belongs to the tool."""

from __future__ import annotations

import click


@click.command("config")
@click.option("--cmake-dir", "wanted", flag_value="cmake", help="Directory of ComprehensiveConfig.cmake.")
@click.option("--pkg-config-dir", "wanted", flag_value="pkgconfig", help="Directory of comprehensive.pc.")
def config_command(wanted: str | None) -> None:
    """Print where build systems find what belongs to the tool.

    \b
    cmake -S . -B build -DComprehensive_DIR="$(comprehensive config --cmake-dir)"
    """
    from comprehensive.data import template_directory

    if wanted is None:
        raise click.UsageError("say what is wanted: --cmake-dir or --pkg-config-dir")
    click.echo(template_directory() / wanted)
