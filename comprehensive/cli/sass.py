"""The command ``comprehensive sass``: the machine code of a cubin, block by block, and how long it is expected to take.

comprehensive sass matmul.cubin --function matmul_0 --predict --device h200 --threads 256 --trip L0=64
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from comprehensive.cli.options import cuda_path_option, json_option
from comprehensive.cli.reporting import print_json, reporting


@click.command("sass")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--function", "names", metavar="NAME", multiple=True, help="Only this kernel; repeat.")
@click.option("--predict", is_flag=True, help="Print how many cycles a launch is expected to take, and why.")
@click.option(
    "--device",
    "device_name",
    default=None,
    help="For --predict: NAME or .toml.  [default: the architecture of the cubin]",
)
@click.option(
    "--threads", type=int, default=256, show_default=True, help="For --predict: threads in a block."
)
@click.option(
    "--blocks", type=int, default=None, help="For --predict: blocks of the launch.  [default: many]"
)
@click.option(
    "--shared", type=int, default=0, help="For --predict: bytes of dynamic shared memory in a block."
)
@click.option(
    "--trip",
    "trips",
    metavar="LOOP=N",
    multiple=True,
    help="For --predict: how often a loop runs; repeat.  [default: 10]",
)
@click.option(
    "--global-bytes",
    type=int,
    default=None,
    help="For --predict: what the launch moves from and to DRAM, if known.",
)
@cuda_path_option
@json_option
@reporting
def sass_command(
    source: Path,
    names: tuple[str, ...],
    predict: bool,
    device_name: str | None,
    threads: int,
    blocks: int | None,
    shared: int,
    trips: tuple[str, ...],
    global_bytes: int | None,
    cuda_path: str | None,
    as_json: bool,
) -> None:
    """Print the machine code of a cubin: blocks, loops, stalls, scoreboards, and registers that hold a value.

    \b
    comprehensive sass kernels.cubin --function matmul_0
    comprehensive sass kernels.cubin --predict --threads 256 --trip L0=64
    """
    from comprehensive.machine.device import load_device
    from comprehensive.report import sass as report
    from comprehensive.sass.launch import Launch
    from comprehensive.sass.read import cubin_in, read_all, select

    functions = select(read_all(cubin_in(source), cuda_path), names)
    predictions: dict[str, report.Predicted] = {}
    if predict:
        launch = Launch(threads, blocks, shared, _trips(trips), global_bytes)
        predictions = {
            each.name: report.predicted(each, load_device(device_name or f"sm_{each.architecture}"), launch)
            for each in functions
        }
    if as_json:
        print_json(report.to_json(functions, predictions))
    else:
        click.echo(report.to_text(functions, predictions), nl=False)


def _trips(texts: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not equals or not number.isdecimal():
            raise click.UsageError(
                f"--trip {text}: expected a loop and how often it runs, as in --trip L0=64"
            )
        if name in found:
            raise click.UsageError(f"--trip {text}: the loop {name} is given twice")
        found[name] = int(number)
    return found
