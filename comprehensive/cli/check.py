"""The command ``comprehensive check``: legality, the definition of a comprehensive system, and a run on the CPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import (
    configured,
    counters_option,
    input_argument,
    json_option,
    limits_option,
    options_of,
    with_compile_options,
    with_compiled_kernels_options,
)
from comprehensive.cli.progress import command_watch, time_limit_option
from comprehensive.cli.reporting import EXIT_INPUT, compile_source, print_json, reporting
from comprehensive.cli.values import definitions_of


@click.command("check")
@input_argument
@click.option("--points", type=click.IntRange(1, 10000), default=20, show_default=True, help="Points a leaf.")
@limits_option
@click.option("--no-run", is_flag=True, help="Do not build and run the kernels on the CPU.")
@click.option("--sanitize", is_flag=True, help="Build with AddressSanitizer.")
@click.option(
    "--duplicates", is_flag=True, help="Indices occur twice in the data that says where plain stores go."
)
@time_limit_option
@json_option
@counters_option
@with_compiled_kernels_options
@with_compile_options
@reporting
def check_command(
    source: Path,
    points: int,
    definitions: tuple[str, ...],
    no_run: bool,
    sanitize: bool,
    duplicates: bool,
    time_limit: float | None,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Check SOURCE: legality of the annotation, Definition 2 (i)-(iv), and the emitted code run on the CPU.

    What cannot be checked is shown as `--` and counted in the last line; it is an error under -Werror only.
    """
    from comprehensive.embedding.compiled import KernelCompiler
    from comprehensive.embedding.demoted import own_passes
    from comprehensive.records import replace
    from comprehensive.soundness.rewritten import rewritten
    from comprehensive.verification import verify
    from comprehensive.verification_report import to_json, to_text

    definitions, compile_options = configured(source, definitions, compile_options)
    options = options_of(**compile_options)
    watch = command_watch(time_limit, stoppable=True)
    compilation = compile_source(source, options, watch)
    watch.demand_whole("a tree is not decided to its end, and nothing was checked")
    with watch.shown():
        report = verify(
            compilation,
            points=points,
            run=not no_run,
            sanitize=sanitize,
            duplicates=duplicates,
            levels=definitions_of(definitions),
            watch=watch,
        )
        if options.passes or options.automatic or own_passes(compilation.plan):
            compiler = KernelCompiler.find(options.passes, options.cuda_path)
            found = rewritten(compilation.plan, compiler, options.arch, automatic=options.automatic)
            report = replace(report, rewritten=found)
    if as_json:
        print_json(to_json(report))
    else:
        click.echo(to_text(report), nl=False)
    if not report.holds:
        sys.exit(EXIT_INPUT)
    watch.close()
    if report.unchecked and options.warnings_are_errors:
        click.echo(f"error: {report.unchecked} statements were not checked [-Werror]", err=True)
        sys.exit(EXIT_INPUT)
