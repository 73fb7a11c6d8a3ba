"""The command ``comprehensive report``: a program as one page of HTML, with sliders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import (
    configured,
    counters_option,
    input_argument,
    options_of,
    with_compile_options,
)
from comprehensive.cli.progress import command_watch, time_limit_option
from comprehensive.cli.reporting import compile_source, reporting
from comprehensive.cli.values import definitions_of


@click.command("report")
@input_argument
@click.option("--device", default="sm_90", show_default=True, help="Architecture, product or TOML file.")
@click.option(
    "-D",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="Where the slider of a parameter starts, a level of performance, or a macro; repeat.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    default=None,
    help="The page.  [default: <stem>.html in the current directory]",
)
@click.option("--force", is_flag=True, help="Overwrite a file that comprehensive has not written.")
@time_limit_option
@counters_option
@with_compile_options
@reporting
def report_command(
    source: Path,
    device: str,
    definitions: tuple[str, ...],
    output: Path | None,
    force: bool,
    time_limit: float | None,
    **compile_options: Any,
) -> None:
    """Write SOURCE as one page: its decision tree, its leaves beside the source, and sliders that say which leaf runs.

    \b
    comprehensive report matmul.mf -D n=4096 --device h200 -o matmul.html
    """
    from comprehensive.codegen.emit import write_outputs
    from comprehensive.interactive_report.assemble import page_of, to_html
    from comprehensive.machine.device import load_device

    definitions, compile_options = configured(source, definitions, compile_options)
    values = definitions_of(definitions)
    machine = load_device(device)
    watch = command_watch(time_limit, stoppable=True)
    compilation = compile_source(source, options_of(**compile_options, device_arch=machine.arch), watch)
    with watch.shown():
        text = to_html(page_of(compilation, machine, values, watch))
    target = Path(f"{source.stem}.html") if output is None else output
    write_outputs(target.parent, {target.name: text}, force=force)
    click.echo(f"{target}: {-(-len(text.encode()) // 1000)} kB; open it in a browser", err=True)
    watch.close()
