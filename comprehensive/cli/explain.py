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
@click.option(
    "--occupancy",
    "shows_occupancy",
    is_flag=True,
    help="Also say which occupancy levels the kernel that runs has, and which is kept why; needs nvcc.",
)
@click.option(
    "--measured",
    type=click.Path(path_type=Path),
    default=None,
    help="Times of levels for --occupancy, as `occupancy --measure --json` has printed them.",
)
@click.option(
    "--tuned",
    type=click.Path(path_type=Path),
    default=None,
    help="Winners of `tune`, to be shown with --occupancy.",
)
@click.option(
    "--accesses",
    "shows_accesses",
    is_flag=True,
    help="Also list what the kernel that runs accesses, by lines of SOURCE: strides, sectors, bank conflicts, words.",
)
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
    shows_occupancy: bool,
    measured: Path | None,
    tuned: Path | None,
    shows_accesses: bool,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Say which leaf runs on a device at given parameters, and why each other one does not.

    With the code of a diagnostic in the place of SOURCE, as in `comprehensive explain CF0402`, print what it means, an
    example, and what to write instead.
    """
    if _is_code(source):
        _print_page(str(source), as_json=as_json)
        return
    from comprehensive import explanation, occupancy_explanation, pictures
    from comprehensive.machine.device import load_device
    from comprehensive.report import accesses

    if (measured or tuned) and not shows_occupancy:
        raise click.UsageError("--measured and --tuned go with --occupancy")
    if shows_occupancy and leaf is not None:
        raise click.UsageError("--occupancy is for what runs, and does not go with --leaf")
    definitions, compile_options = configured(source, definitions, compile_options)
    values = definitions_of(definitions)
    machine = load_device(device)
    options = options_of(**compile_options, device_arch=machine.arch)
    compilation = compile_source(source, options)
    explained = explanation.explain(compilation, machine, values, leaf)
    told = None
    if shows_occupancy:
        sources = occupancy_explanation.Sources(measured, tuned)
        told = occupancy_explanation.occupancy_of(
            compilation, machine, explained, values, sources, options.cuda_path, automatic=options.automatic
        )
    listed = pictures.accesses_of(compilation, machine, values, leaf) if shows_accesses else ()
    if as_json:
        listing = {"accesses": accesses.document(listed)} if shows_accesses else {}
        occupancy = {} if told is None else {"occupancy": occupancy_explanation.to_json(told)}
        print_json({**explanation.to_json(explained), **occupancy, **listing})
    else:
        click.echo(explanation.to_text(explained), nl=False)
        click.echo("" if told is None else occupancy_explanation.to_text(told), nl=False)
        click.echo(f"\n{accesses.to_text(listed)}" if shows_accesses else "", nl=False)


def _is_code(source: Path) -> bool:
    from comprehensive.diagnostic_pages import is_code

    return is_code(str(source)) and not source.exists()


def _print_page(code: str, *, as_json: bool) -> None:
    from comprehensive.diagnostic_pages import page_of

    page = page_of(code)
    if page is None:
        raise click.UsageError(f"no diagnostic has the code {code}")
    if as_json:
        print_json({"schema": 1, "code": code, "page": page})
    else:
        click.echo(page, nl=False)
