"""The command ``comprehensive explain``: which leaf runs at a point, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import (
    configured,
    counters_option,
    input_argument,
    json_option,
    options_of,
    with_compile_options,
    with_compiled_kernels_options,
)
from comprehensive.cli.reporting import compile_source, print_json, reporting
from comprehensive.cli.values import definitions_of


@click.command("explain")
@input_argument
@click.option("--device", default="sm_90", show_default=True, help="Architecture, product or TOML file.")
@click.option(
    "-D", "definitions", metavar="NAME=VALUE", multiple=True, help="A parameter, or a macro; repeat."
)
@click.option("--leaf", type=int, default=None, help="Explain this leaf only.")
@json_option
@counters_option
@with_compiled_kernels_options
@with_compile_options
@reporting
def explain_command(
    source: Path,
    device: str,
    definitions: tuple[str, ...],
    leaf: int | None,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Say which leaf runs on a device at given parameters, and why each other one does not."""
    from comprehensive import explanation
    from comprehensive.machine.device import load_device

    definitions, compile_options = configured(source, definitions, compile_options)
    values = definitions_of(definitions)
    machine = load_device(device)
    compilation = compile_source(source, options_of(**compile_options, device_arch=machine.arch))
    explained = explanation.explain(compilation, machine, values, leaf)
    if as_json:
        print_json(explanation.to_json(explained))
    else:
        click.echo(explanation.to_text(explained), nl=False)
