"""The command ``comprehensive calibrate``: the speeds of a GPU as a machine file."""

from __future__ import annotations

from pathlib import Path

import click

from comprehensive.cli.options import cuda_path_option, json_option
from comprehensive.cli.reporting import print_json, reporting


@click.command("calibrate")
@click.option(
    "--device",
    default="gpu",
    show_default=True,
    help="gpu (the first that is visible), gpu:1, or cpu, a stand-in that needs no GPU.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    default=None,
    help="The machine file.  [default: the name of the device, as in nvidia-h200.toml]",
)
@click.option(
    "--limit",
    type=click.FloatRange(0.1),
    default=300.0,
    show_default=True,
    help="Seconds after which the benchmark is given up.",
)
@cuda_path_option
@json_option
@reporting
def calibrate_command(
    device: str, output: Path | None, limit: float, cuda_path: str | None, as_json: bool
) -> None:
    """Measure the speeds of a GPU that predictions of times need, and write them down as a machine file.

    \b
    comprehensive calibrate -o mine.toml
    comprehensive explain matmul.mf -D B0=16 -D n=1024 --device mine.toml
    comprehensive gen matmul.mf --machine mine.toml -o out/
    """
    from comprehensive.calibration import command

    if output is not None and output.suffix != ".toml":
        raise click.UsageError(f"-o {output}: the name of a machine file ends in .toml")
    found = command.calibrate(
        device, output, cuda_path=cuda_path, limit_s=limit, tell=lambda line: click.echo(line, err=True)
    )
    if as_json:
        print_json(found.json)
    else:
        click.echo(found.text, nl=False)
    click.echo(f"machine file: {found.file}", err=True)
