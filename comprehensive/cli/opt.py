"""The command ``comprehensive opt``: PTX in, PTX out, rewritten by the passes that are asked for.

    comprehensive opt kernel.ptx -p 'memory-space,dce' -o faster.ptx

What needs the rest of the tool is imported when the command runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from comprehensive.cli.options import cuda_path_option
from comprehensive.cli.reporting import reporting

if TYPE_CHECKING:
    from comprehensive.ptx.build import Build
    from comprehensive.ptx.passes.remark import Remark
    from comprehensive.ptx.pipeline import Check, Stage

REMARKS = ("none", "applied", "missed", "analysis", "all")


@click.command("opt")
@click.argument("source", required=False)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Where the PTX goes.  [default: -, standard output]",
)
@click.option(
    "-p",
    "--passes",
    "pipeline",
    default="",
    metavar="PASSES",
    help="Passes in their order: 'memory-space,vectorize-accesses{width=4}'. None gives the same bytes.",
)
@click.option("--list", "listing", is_flag=True, help="Print all passes with their options, and end.")
@click.option(
    "--remarks",
    type=click.Choice(REMARKS),
    default="none",
    show_default=True,
    help="Which remarks of the passes to print on standard error.",
)
@click.option("--print-after-all", is_flag=True, help="Print the PTX behind each pass on standard error.")
@click.option("--time-passes", is_flag=True, help="Print the time that each pass took.")
@click.option(
    "--validate",
    is_flag=True,
    help="Run what each pass changed, before and after, in the interpreter on small random launches.",
)
@click.option("--assemble", is_flag=True, help="Have ptxas assemble what each pass made.")
@cuda_path_option
@click.option(
    "--registers",
    type=click.Choice(["auto", "estimate", "ptxas"]),
    default="auto",
    show_default=True,
    help="Where passes and their gate get register counts from; auto is ptxas where it is found.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    default=256,
    show_default=True,
    help="Threads of a block, for the occupancy, where no .maxntid says it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the remarks as JSON on standard error.")
@reporting
def opt_command(
    source: str | None,
    output: str,
    pipeline: str,
    listing: bool,
    remarks: str,
    print_after_all: bool,
    time_passes: bool,
    validate: bool,
    assemble: bool,
    cuda_path: str | None,
    registers: str,
    threads: int,
    as_json: bool,
) -> None:
    """Rewrite the PTX of SOURCE (- is standard input) by passes, each of them checked.

    Functions with statements that are not understood stay as they are.

    \b
    comprehensive opt --list
    comprehensive opt kernel.ptx -p memory-space,dce --remarks all -o faster.ptx
    """
    from comprehensive.diagnostics import SourceFile
    from comprehensive.ptx.build import ALONE
    from comprehensive.ptx.files import read_text, write_text
    from comprehensive.ptx.module import parse
    from comprehensive.ptx.passes.pipeline_text import passes_of
    from comprehensive.ptx.pipeline import run
    from comprehensive.ptx.printer import print_module

    if listing:
        from comprehensive.ptx.passes.registry import described

        click.echo(described())
        return
    if source is None:
        raise click.UsageError("which PTX? Give a file, or - for standard input")
    passes = passes_of(pipeline)
    module = parse(SourceFile("<stdin>" if source == "-" else source, read_text(source)))
    unvalidated: list[Remark] = []
    build = _build(registers, cuda_path, threads) if passes else ALONE
    stages = run(module, passes, _checks(validate, assemble, cuda_path, unvalidated), build)
    for stage in stages:
        if print_after_all:
            click.echo(
                f"// after {stage.ptx_pass.spelled}\n{_printable(print_module(stage.after))}", err=True
            )
        if time_passes:
            click.echo(f"{stage.ptx_pass.name:24} {1000 * stage.seconds:9.1f} ms", err=True)
    _print_remarks(stages, remarks, as_json, unvalidated)
    write_text(output, print_module(stages[-1].after if stages else module))


def _build(registers: str, cuda_path: str | None, threads: int) -> Build:
    """ToolError where ptxas is asked for and not found."""
    from comprehensive.ptx.build import Build
    from comprehensive.toolchain.assembler import find_assembler
    from comprehensive.toolchain.process import ToolError

    if registers == "estimate":
        return Build(threads=threads)
    try:
        return Build(find_assembler(cuda_path), threads=threads)
    except ToolError:
        if registers == "ptxas":
            raise
        return Build(threads=threads)


def _checks(
    validate: bool, assemble: bool, cuda_path: str | None, unvalidated: list[Remark]
) -> tuple[Check, ...]:
    """``unvalidated`` get remarks on kernels that were changed and could not be run."""
    checks: list[Check] = []
    if validate:
        from comprehensive.ptx.validate import validated

        checks.append(validated(told=unvalidated.append))
    if assemble:
        from comprehensive.ptx.assembled import assembled
        from comprehensive.toolchain.find import Missing, find_tool
        from comprehensive.toolchain.nvcc import load_tool
        from comprehensive.toolchain.process import ToolError

        found = find_tool("ptxas", cuda_path)
        if isinstance(found, Missing):
            raise ToolError(f"--assemble: ptxas is not found; {found.help}")
        checks.append(assembled(load_tool(found)))
    return tuple(checks)


def _print_remarks(stages: Sequence[Stage], kinds: str, as_json: bool, unvalidated: Sequence[Remark]) -> None:
    """Print the remarks of these kinds, and whatever the kinds those on what could not be validated."""
    from comprehensive.ptx.passes.ptx_pass import strange_module, strange_statement
    from comprehensive.ptx.passes.remark import to_json

    found = [remark for stage in stages for remark in stage.remarks if kinds in ("all", remark.kind.value)]
    found += unvalidated
    if as_json:
        document: dict[str, Any] = {"schema": 1, "remarks": [to_json(remark) for remark in found]}
        click.echo(json.dumps(document, indent=1), err=True)
        return
    for remark in found:
        click.echo(_printable(str(remark)), err=True)
    module = stages[0].before if stages else None
    strange = module is not None and (
        strange_module(module) is not None
        or any(strange_statement(function, module) is not None for function in module.functions.values())
    )
    if strange and kinds not in ("missed", "all"):
        click.echo(
            "note: not all of the input is understood, and that stays as it is: see --remarks missed",
            err=True,
        )


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
