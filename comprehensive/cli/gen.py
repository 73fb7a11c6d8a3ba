"""The command ``comprehensive gen``: header, kernels, tree and manifest of a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from comprehensive.cli.options import (
    configured,
    counters_option,
    input_argument,
    limits_option,
    options_of,
    with_compile_options,
    with_compiled_kernels_options,
)
from comprehensive.cli.progress import command_watch, time_limit_option
from comprehensive.cli.reporting import EXIT_INPUT, compile_source, print_diagnostics, print_json, reporting
from comprehensive.cli.values import definitions_of
from comprehensive.diagnostics import to_json
from comprehensive.records import replace

if TYPE_CHECKING:
    from comprehensive.driver import Options


@click.command("gen")
@input_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("."),
    help="Output directory.  [default: the current directory]",
)
@click.option("-MD", "depend", is_flag=True, help="Also write a make dependency file, <stem>.d.")
@click.option("-MF", "depfile", type=click.Path(path_type=Path), default=None, help="Name of that file.")
@click.option(
    "--stamp",
    type=click.Path(path_type=Path),
    default=None,
    help="File whose time becomes that of this run, also where no output changes: the target of a make rule.",
)
@click.option(
    "--single-file",
    is_flag=True,
    help="Put what all programs share into the header and the source, instead of cf_*.h and cf_device.cuh beside them.",
)
@click.option("--force", is_flag=True, help="Overwrite files that comprehensive has not written.")
@click.option(
    "--ptx", metavar="ARCH", default=None, help="Also compile each leaf to <leaf>.ptx (needs nvcc)."
)
@click.option(
    "--emit",
    type=click.Choice(["ast", "nest", "polyhedra", "kernel"]),
    default=None,
    help="Print the value of one stage instead of writing files; polyhedra also as --json.",
)
@limits_option
@click.option(
    "--tuned",
    type=click.Path(path_type=Path),
    default=None,
    help="Winners that `tune` has written: launchers without parameters take them.",
)
@click.option(
    "--machine",
    "machines",
    metavar="FILE.toml",
    multiple=True,
    help="Machine file that `calibrate` has written: on devices of its name launchers choose by its speeds; repeat.",
)
@click.option(
    "--adapt",
    "adapt",
    flag_value="launches",
    help="With --embed: launchers that are asked to (params.adapt = 1, CF_ADAPT=1) try other versions of kernels and "
    "blocks while they run, and keep the fastest.",
)
@click.option(
    "--adapt-split",
    "adapt",
    flag_value="parts",
    help="The same with kernels of which parts of a launch can be asked for: with params.adapt = 2 (CF_ADAPT=2) parts "
    "of one long launch try the versions.",
)
@click.option(
    "--check",
    "checks",
    is_flag=True,
    help="Write nothing: list the outputs that are missing or stale, and exit with 1 where there are any.",
)
@time_limit_option
@click.option("--no-verify", is_flag=True, help="Write files that no compiler of this machine has read.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written, and diagnostics, as JSON.")
@counters_option
@with_compiled_kernels_options
@with_compile_options
@reporting
def gen_command(
    source: Path,
    output: Path,
    depend: bool,
    depfile: Path | None,
    stamp: Path | None,
    single_file: bool,
    force: bool,
    ptx: str | None,
    emit: str | None,
    definitions: tuple[str, ...],
    tuned: Path | None,
    machines: tuple[str, ...],
    adapt: str | None,
    checks: bool,
    time_limit: float | None,
    no_verify: bool,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Generate the header, the kernels of all leaves, the tree and the manifest from SOURCE."""
    from comprehensive import generate
    from comprehensive.codegen.machines import with_machines
    from comprehensive.machine.architectures import demand_architecture
    from comprehensive.machine.device import load_device

    if checks and (depend or depfile or stamp or emit):
        raise click.UsageError("--check writes nothing, and does not go with -MD, -MF, --stamp and --emit")
    definitions, compile_options = configured(source, definitions, compile_options)
    if ptx is not None:
        demand_architecture(ptx, virtual=True)
    options = options_of(**compile_options)
    if emit == "polyhedra":
        _print_polyhedra(source, options, as_json)
        return
    measured = [load_device(machine) for machine in machines]
    watch = command_watch(time_limit)
    compilation = compile_source(source, options, watch)
    watch.demand_whole("a tree is not decided to its end, and nothing was written")
    if emit is not None:
        click.echo(generate.stage_text(compilation, emit), nl=False)
        return
    leaves = sum(len(tree.leaves) for tree in compilation.trees)
    plan = replace(with_machines(compilation.plan, measured), single_file=single_file)
    diagnostics = compilation.diagnostics
    if tuned is not None:
        from comprehensive.tuning.baked import baked
        from comprehensive.tuning.winners import read_winners

        found = baked(
            plan,
            read_winners(tuned, plan.source_digest),
            embeds=options.targets is not None,
            plain=not (options.passes or options.automatic),
        )
        plan, diagnostics = found.plan, (*diagnostics, *found.diagnostics)
        print_diagnostics(found.diagnostics)
    if adapt is not None:
        with watch.shown():
            watch.tell("compiling versions of leaves", 0, leaves)
            plan = generate.with_candidates(plan, options, parts=adapt == "parts")
    levels = definitions_of(definitions)
    if checks:
        # What would be written has been read by compilers when it was.
        with watch.shown():
            prepared = generate.prepare(
                compilation, options, ptx_arch=ptx, levels=levels, plan=plan, verify=False, watch=watch
            )
        _tell_stale(source, output, generate.stale(output, prepared, compilation), as_json=as_json)
        return
    with watch.shown():
        written = generate.write(
            compilation,
            output,
            options,
            plan=plan,
            read=(
                *(() if tuned is None else (tuned,)),
                *(Path(name) for name in machines if name.endswith(".toml")),
            ),
            depfile=depfile or (output / f"{source.stem}.d" if depend else None),
            stamp=stamp,
            force=force,
            ptx_arch=ptx,
            levels=levels,
            verify=not no_verify,
            watch=watch,
        )
    if as_json:
        print_json(
            {
                "schema": 1,
                "output": str(output),
                "files": list(written.files),
                "changed": list(written.changed),
                "verified": list(written.verified),
                "diagnostics": [to_json(d) for d in diagnostics],
            }
        )
        return
    sources = [f"{compilation.plan.stem}.cu", *(n for n in written.files if n.endswith("_embedded.c"))]
    click.echo(
        f"{output}: {len(written.files)} files, {len(written.changed)} changed; {leaves} leaves: "
        f"include {compilation.plan.stem}.h, compile {' or '.join(sources)}",
        err=True,
    )


def _print_polyhedra(source: Path, options: Options, as_json: bool) -> None:
    """Print the polyhedra of the loop nests alone: no tree is grown and nothing is compiled for it."""
    from comprehensive import generate
    from comprehensive.diagnostics import DiagnosticSink
    from comprehensive.driver import checked_nests
    from comprehensive.metafork.read import read_source

    sink = DiagnosticSink()
    _, nests = checked_nests(read_source(source), options, sink)
    print_diagnostics(sink.diagnostics)
    if as_json:
        print_json(generate.polyhedra_document(nests))
    else:
        click.echo(generate.polyhedra_stage(nests), nl=False)


def _tell_stale(source: Path, output: Path, found: tuple[tuple[str, str], ...], *, as_json: bool) -> None:
    if as_json:
        stale = [{"file": name, "because": reason} for name, reason in found]
        print_json({"schema": 1, "output": str(output), "stale": stale})
    for name, reason in () if as_json else found:
        click.echo(f"{output / name}: {reason}")
    if found:
        click.echo(f"help: run `comprehensive gen {source} -o {output}` with the same options", err=True)
        sys.exit(EXIT_INPUT)
