"""The command ``comprehensive occupancy``: versions of each kernel at other occupancies, and what is expected of them.

comprehensive occupancy heat3d.mf --device h200 --kernel heat3d_1_leaf0
comprehensive occupancy kernels.ptx --threads 128 --all --svg curve.svg
comprehensive occupancy heat3d.mf --measure -D n=256 --svg curve.svg
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
from comprehensive.cli.reporting import compile_source, print_json, reporting, serial_program
from comprehensive.cli.values import assignments_of
from comprehensive.records import replace

DEVICE = "h200"


@click.command("occupancy")
@input_argument
@click.option("--kernel", "names", metavar="NAME", multiple=True, help="Only this kernel; repeat.")
@click.option("--all", "every", is_flag=True, help="Every level that there is, not only those worth trying.")
@click.option(
    "--measure",
    is_flag=True,
    help="Time the whole function with each version, at the sizes that -D gives, on the GPU that is there.",
)
@click.option(
    "--device",
    default=None,
    help="NAME or .toml of a device with known speeds.  [default: h200; with --measure the GPU]",
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
@click.option(
    "-D",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A macro of the program; with --measure a size, a program parameter or a scalar, too; repeat.",
)
@json_option
@with_compile_options
@reporting
def occupancy_command(
    source: Path,
    names: tuple[str, ...],
    every: bool,
    measure: bool,
    device: str | None,
    threads: tuple[int, ...],
    svg: Path | None,
    definitions: tuple[str, ...],
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Print the versions of each kernel of SOURCE at other occupancies, and which of them are worth trying.

    SOURCE is an .mf file, C with directives, or PTX. Predicted times are over that of the kernel as it is compiled; ~
    marks versions that are as fast as the fastest, * the one of them that takes the least of a multiprocessor.

    \b
    comprehensive occupancy heat3d.mf --kernel heat3d_1_leaf0
    comprehensive occupancy kernels.ptx --threads 128 --all --svg curve.svg
    comprehensive occupancy heat3d.mf --measure -D n=256 --svg curve.svg
    """
    from comprehensive import kernel_levels
    from comprehensive.machine.device import load_device
    from comprehensive.ptx.files import write_text
    from comprehensive.report.levels_svg import to_svg
    from comprehensive.report.levels_text import to_json, to_text
    from comprehensive.tuning.levels import at_one_size, measured_levels, target_of

    if source.suffix == ".ptx":
        if measure:
            raise click.UsageError("--measure needs a program: PTX has no host code that calls its kernels")
        machine = load_device(device or DEVICE)
        cuda_path: str | None = compile_options["cuda_path"]
        shown = kernel_levels.of_ptx(source, machine, threads, names, cuda_path, every=every)
    else:
        definitions, compile_options = configured(source, definitions, compile_options)
        if definitions and not measure:
            raise click.UsageError(
                f"-D {definitions[0]}: the program has no such macro; sizes go with --measure"
            )
        given = None if device is None else load_device(device)
        target = target_of(given) if measure else None
        machine = given or (load_device(DEVICE) if target is None else target.limits)
        options = options_of(**compile_options, device_arch=machine.arch)
        compilation = compile_source(source, options)
        wanted = None if target is None else at_one_size(compilation, assignments_of(definitions))
        shown = kernel_levels.of_program(compilation, machine, names, options.cuda_path, every=every)
        if target is not None and wanted is not None:
            settings = {each.symbol: [level.setting for level in each.levels] for each in shown}
            with serial_program(compilation):
                times = measured_levels(
                    compilation,
                    options,
                    target,
                    wanted,
                    settings,
                    tell=lambda line: click.echo(line, err=True),
                )
            shown = tuple(replace(each, measured=times[each.symbol]) for each in shown)
    if svg is not None:
        write_text(str(svg), to_svg(shown))
    if as_json:
        print_json(to_json(shown))
    else:
        click.echo(to_text(shown), nl=False)
