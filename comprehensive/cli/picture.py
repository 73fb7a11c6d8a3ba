"""The commands ``comprehensive picture access`` and ``comprehensive picture tile``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import configured, input_argument, options_of, with_compile_options
from comprehensive.cli.reporting import compile_source, json_text, reporting
from comprehensive.cli.values import definitions_of


@click.group("picture")
def picture_command() -> None:
    """Draw what a kernel does with memory: what a warp touches, what a block holds.

    \b
    comprehensive picture access matmul.mf 22 -D n=1024 -D B0=16 -D ub1=16 -D s=4 > line22.svg
    comprehensive picture tile matmul.mf -D n=1024 -D B0=16 -D ub1=16 -D s=4 -o tile.svg
    """


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option(
                "-D",
                "definitions",
                metavar="NAME=VALUE",
                multiple=True,
                help="A parameter, or a macro; repeat.",
            ),
            click.option(
                "--leaf",
                type=int,
                default=None,
                help="The leaf, or tile by its number in the manifest.  [default: the leaf that runs]",
            ),
            click.option(
                "--device", default="sm_90", show_default=True, help="Architecture, product or TOML file."
            ),
            click.option(
                "--format",
                "form",
                type=click.Choice(["svg", "json"]),
                default="svg",
                show_default=True,
                help="A picture, or its numbers.",
            ),
            click.option(
                "-o",
                "--output",
                type=click.Path(path_type=Path, dir_okay=False),
                default=None,
                help="File of the picture, or of its numbers.  [default: standard output]",
            ),
        )
    ):
        function = decorate(function)
    return function


@picture_command.command("access")
@input_argument
@click.argument("line", type=click.IntRange(1))
@click.option(
    "--block", default="0", metavar="X[,Y[,Z]]", help="Number of the block, x first.  [default: the first]"
)
@click.option(
    "--warp", type=click.IntRange(0), default=0, show_default=True, help="Number of the warp in it."
)
@_with_options
@with_compile_options
@reporting
def access_command(
    source: Path,
    line: int,
    block: str,
    warp: int,
    definitions: tuple[str, ...],
    leaf: int | None,
    device: str,
    output: Path | None,
    form: str,
    **compile_options: Any,
) -> None:
    """Draw which addresses the lanes of a warp touch for LINE of SOURCE: sectors of global memory, banks of shared
    memory.

    With a value for every parameter addresses are those that the kernel computes; without, they are drawn as far as
    strides are numbers.  Copies to shared memory belong to the lines that use the copied array.
    """
    from comprehensive import pictures
    from comprehensive.machine.device import load_device
    from comprehensive.report.access_svg import accesses_svg
    from comprehensive.report.accesses import document

    definitions, compile_options = configured(source, definitions, compile_options)
    machine = load_device(device)
    place = pictures.Place(_block_of(block), warp)
    compilation = compile_source(source, options_of(**compile_options, device_arch=machine.arch))
    every = pictures.accesses_of(compilation, machine, definitions_of(definitions), leaf, place, line)
    found, title = pictures.accesses_at(compilation, every, line)
    if form == "json":
        _write(json_text(document(found)), output)
    else:
        _write(accesses_svg(found, title), output)


@picture_command.command("tile")
@input_argument
@_with_options
@with_compile_options
@reporting
def tile_command(
    source: Path,
    definitions: tuple[str, ...],
    leaf: int | None,
    device: str,
    output: Path | None,
    form: str,
    **compile_options: Any,
) -> None:
    """Draw what a block of each region of SOURCE holds: threads and warps, the elements of arrays with their halo,
    shared memory, registers, and for each copy of a piece to shared memory what the lanes of the first warp copy.

    With numbers it is to scale; without, sides carry their symbols, and there are no copies.
    """
    from comprehensive import pictures
    from comprehensive.machine.device import load_device
    from comprehensive.report.tiles import document

    definitions, compile_options = configured(source, definitions, compile_options)
    machine = load_device(device)
    compilation = compile_source(source, options_of(**compile_options, device_arch=machine.arch))
    found = pictures.tiles_of(compilation, machine, definitions_of(definitions), leaf)
    if form == "json":
        _write(json_text(document(found)), output)
    else:
        _write(pictures.tiles_picture(compilation, found), output)


def _block_of(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise click.UsageError(f"--block {text}: expected numbers X[,Y[,Z]], as in --block 0,1")
    return tuple(map(int, parts))


def _write(text: str, output: Path | None) -> None:
    from comprehensive.ptx.files import write_text

    write_text("-" if output is None else str(output), text)
