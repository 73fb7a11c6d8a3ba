"""The command ``comprehensive tune``: candidates measured on a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import (
    configured,
    input_argument,
    json_option,
    options_of,
    with_compile_options,
    with_tune_options,
)
from comprehensive.cli.progress import command_watch, time_limit_option
from comprehensive.cli.reporting import (
    EXIT_INPUT,
    compile_source,
    print_diagnostics,
    print_json,
    reporting,
    serial_program,
)
from comprehensive.cli.values import assignments_of, domains_of, pipelines_of, sizes_of
from comprehensive.records import replace


@click.command("tune")
@input_argument
@with_tune_options
@time_limit_option
@json_option
@with_compile_options
@reporting
def tune_command(
    source: Path,
    definitions: tuple[str, ...],
    rows: tuple[str, ...],
    points: tuple[str, ...],
    device: str,
    top: int,
    caps: int | None,
    pipelines: tuple[str, ...],
    limit: float,
    reference_limit: float,
    store: Path | None,
    scheduler: str | None,
    log: Path | None,
    output: Path,
    time_limit: float | None,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Measure the candidates of SOURCE on a GPU, each compared with the serial C first, and write down the winners.

    \b
    comprehensive tune matmul.mf -D n=1024 -D n=2048 -o out/
    comprehensive tune jacobi2d.mf --sizes T=20,n=4096 --sizes T=100,n=1024 --top 40 -o out/
    comprehensive tune gemm.mf -D m=4096 -D n=4096 -D k=4096 --passes demote-registers -o out/
    comprehensive tune matmul.mf -D n=64 --device cpu -o out/       everything but the speed of a GPU
    """
    from comprehensive.tuning import command
    from comprehensive.tuning.devices import find_devices

    definitions, compile_options = configured(source, definitions, compile_options)
    asked = command.Asked(
        assignments_of(definitions),
        sizes_of(rows),
        domains_of(points),
        device,
        top,
        caps,
        pipelines_of(pipelines),
        limit,
        reference_limit,
        store,
        scheduler,
        log,
        output,
    )
    if scheduler is None and asked.tunes:
        # First of all, since it says what to count registers for.
        asked = replace(asked, targets=find_devices(device))
    arch = "sm_90" if asked.targets is None else asked.targets[0].arch
    options = options_of(**compile_options, device_arch=arch)
    watch = command_watch(time_limit, stoppable=True)
    compilation = compile_source(source, options, watch)
    watch.demand_whole("a tree is not decided to its end, and nothing was measured")
    with watch.interruptible(), serial_program(compilation):
        told = command.run(compilation, options, asked, lambda line: click.echo(line, err=True), watch)
    print_diagnostics(told.diagnostics)
    if as_json:
        print_json(told.json)
    else:
        click.echo(told.text, nl=False)
    if told.file is not None:
        click.echo(f"winners: {told.file}", err=True)
    if not told.complete or (told.diagnostics and options.warnings_are_errors):
        sys.exit(EXIT_INPUT)
    watch.close()
