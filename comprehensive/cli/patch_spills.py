"""The command ``comprehensive patch-spills``: the local memory of kernels in a cubin, moved to shared memory.

comprehensive patch-spills kernels.cubin --function f --threads 128 -o patched.cubin
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from comprehensive.cli.options import cuda_path_option, json_option
from comprehensive.cli.reporting import print_json, reporting


@click.command("patch-spills")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The new cubin."
)
@click.option(
    "--function",
    "names",
    metavar="NAME",
    multiple=True,
    help="Only this kernel; repeat.  [default: all that have local memory]",
)
@click.option(
    "--threads",
    type=int,
    default=None,
    help="The most threads of a block.  [default: what launch bounds in the source say]",
)
@click.option(
    "--shared",
    type=int,
    default=0,
    show_default=True,
    help="Bytes of dynamic shared memory that launches give a block already.",
)
@cuda_path_option
@json_option
@reporting
def patch_spills_command(
    source: Path,
    output: Path,
    names: tuple[str, ...],
    threads: int | None,
    shared: int,
    cuda_path: str | None,
    as_json: bool,
) -> None:
    """Move what ptxas has spilled in SOURCE from local to shared memory, and say what a launch has to state then.

    Every kernel keeps its registers and its schedule. A kernel for which that is not certain to be right is an error,
    and nothing is written.

    \b
    comprehensive patch-spills kernels.cubin -o patched.cubin
    comprehensive patch-spills kernels.cubin --function f --threads 128 --shared 4096 -o patched.cubin
    """
    from comprehensive.sass.read import cubin_in, write_cubin
    from comprehensive.sass.spills.patch import patch_all_spills

    cubin, patched = patch_all_spills(
        cubin_in(source), names, threads=threads, shared_bytes=shared, cuda_path=cuda_path
    )
    write_cubin(output, cubin)
    if as_json:
        print_json({"schema": 1, "kernels": [asdict(each) for each in patched]})
        return
    for each in patched:
        click.echo(
            f"{each.name}: {each.accesses} loads and stores of local memory are of shared memory now; launch with "
            f"{each.dynamic_bytes} bytes of dynamic shared memory, and at most {each.threads} threads in a block"
        )
