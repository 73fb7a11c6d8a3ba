"""The command ``comprehensive occupancy``: versions of each kernel at other occupancies, and what is expected of them.

comprehensive occupancy heat3d.mf --device h200 --kernel heat3d_1_leaf0
comprehensive occupancy kernels.ptx --threads 128 --all --svg curve.svg
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from comprehensive.cli.options import (
    configured,
    input_argument,
    json_option,
    options_of,
    with_compile_options,
)
from comprehensive.cli.reporting import compile_source, print_json, reporting


@click.command("occupancy")
@input_argument
@click.option("--kernel", "names", metavar="NAME", multiple=True, help="Only this kernel; repeat.")
@click.option("--all", "every", is_flag=True, help="Every level that there is, not only those worth trying.")
@click.option(
    "--device", default="h200", show_default=True, help="NAME or .toml of a device with known speeds."
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    multiple=True,
    default=(256, 128, 64),
    show_default=True,
    help="For PTX: threads of a block; the first is how kernels are launched, the others are tried.",
)
@click.option("--svg", type=click.Path(path_type=Path), default=None, help="Draw time over occupancy here.")
@click.option("-D", "definitions", metavar="NAME=VALUE", multiple=True, help="A macro of the program.")
@json_option
@with_compile_options
@reporting
def occupancy_command(
    source: Path,
    names: tuple[str, ...],
    every: bool,
    device: str,
    threads: tuple[int, ...],
    svg: Path | None,
    definitions: tuple[str, ...],
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Print the versions of each kernel of SOURCE at other occupancies, and which of them are worth trying.

    SOURCE is an .mf file, C with directives, or PTX. Times are over that of the kernel as it is compiled; ~ marks
    versions that are as fast as the fastest, * the one of them that takes the least of a multiprocessor.

    \b
    comprehensive occupancy heat3d.mf --kernel heat3d_1_leaf0
    comprehensive occupancy kernels.ptx --threads 128 --all --svg curve.svg
    """
    from comprehensive import kernel_levels
    from comprehensive.machine.device import load_device
    from comprehensive.ptx.files import write_text
    from comprehensive.report.levels_svg import to_svg
    from comprehensive.report.levels_text import to_json, to_text

    machine = load_device(device)
    if source.suffix == ".ptx":
        cuda_path: str | None = compile_options["cuda_path"]
        shown = kernel_levels.of_ptx(source, machine, threads, names, cuda_path, every=every)
    else:
        definitions, compile_options = configured(source, definitions, compile_options)
        if definitions:
            raise click.UsageError(f"-D {definitions[0]}: the program has no such macro")
        options = options_of(**compile_options, device_arch=machine.arch)
        compilation = compile_source(source, options)
        shown = kernel_levels.of_program(compilation, machine, names, options.cuda_path, every=every)
    if svg is not None:
        write_text(str(svg), to_svg(shown))
    if as_json:
        print_json(to_json(shown))
    else:
        click.echo(to_text(shown), nl=False)
