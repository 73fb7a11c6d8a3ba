"""The command line: parses arguments, calls the stage behind them, prints, sets the exit code.

Exit codes: 0 ok; 1 the input has errors; 2 the command line has; 3 a tool or device is missing; 70 a bug, with a
reproducer saved.  Data goes to stdout, everything else to stderr.  Stages are imported when a command runs, so
that ``--help`` stays instant.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import click

from comprehensive import __version__
from comprehensive.cli_opt import opt_command
from comprehensive.cli_options import (
    assignments_of,
    configured,
    counters_option,
    cuda_path_option,
    definitions_of,
    domains_of,
    input_argument,
    options_of,
    ranges_of,
    sizes_of,
    symbols_of,
    with_compile_options,
    with_tune_options,
)
from comprehensive.diagnostics import (
    CommandLineError,
    CompileError,
    Diagnostic,
    GeneratedCodeError,
    render,
    to_json,
)

if TYPE_CHECKING:
    from comprehensive.driver import Compilation, Options

P = ParamSpec("P")

EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_MISSING = 3
EXIT_INTERNAL = 70


def main() -> None:
    """Entry point of the ``comprehensive`` command."""
    cli(prog_name="comprehensive")


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Turns errors into diagnostics on stderr and the exit codes of this tool."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from comprehensive.toolchain.process import ToolError

        try:
            command(*args, **kwargs)
        except CompileError as error:
            if kwargs.get("as_json") or kwargs.get("form") == "json":
                _print_json({"schema": 1, "diagnostics": [to_json(d) for d in error.diagnostics]})
            print_diagnostics(error.diagnostics)
            if isinstance(error, GeneratedCodeError):
                _save_reproducer(error, error.texts)
                sys.exit(EXIT_INTERNAL)
            sys.exit(EXIT_USAGE if isinstance(error, CommandLineError) else EXIT_INPUT)
        except ToolError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_MISSING)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
            _save_reproducer(error, {})
            sys.exit(EXIT_INTERNAL)

    return run


def _save_reproducer(error: Exception, texts: Mapping[str, str]) -> None:
    from comprehensive.crash import save_reproducer

    place = save_reproducer(error, sys.argv[1:], texts)
    click.echo(f"help: this is a bug; a reproducer is in {place}, please report it", err=True)


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Each diagnostic on stderr, in colour on a terminal unless NO_COLOR is set."""
    import os

    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for diagnostic in diagnostics:
        text = render(diagnostic)
        if colour:
            head, _, rest = text.partition("\n")
            text = click.style(head, bold=True) + ("\n" + rest if rest else "")
        click.echo(text, err=True)


def _print_json(document: object) -> None:
    click.echo(json.dumps(document, indent=1, ensure_ascii=False))


def _compile(source: Path, options: Options) -> Compilation:
    from comprehensive.driver import compile_file

    compilation = compile_file(source, options)
    print_diagnostics(compilation.diagnostics)
    return compilation


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="comprehensive")
def cli() -> None:
    """One annotated loop nest in, one CUDA header out: a case discussion, correct on every GPU.

    \b
    comprehensive gen matmul.mf -o out/     write the header, the kernels, the tree
    comprehensive tree matmul.mf            see which variant runs when, and why
    """


@cli.command()
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
@click.option("--force", is_flag=True, help="Overwrite files that comprehensive has not written.")
@click.option(
    "--ptx", metavar="ARCH", default=None, help="Also compile each leaf to <leaf>.ptx (needs nvcc)."
)
@click.option(
    "--emit",
    type=click.Choice(["ast", "nest", "kernel"]),
    default=None,
    help="Print the value of one stage instead of writing files.",
)
@click.option(
    "-D",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A macro of the program, or the limit of a counter that --counters names, as in P_occupancy=1/2.",
)
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
@click.option("--no-verify", is_flag=True, help="Write files that no compiler of this machine has read.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written, and diagnostics, as JSON.")
@counters_option
@with_compile_options
@reporting
def gen(
    source: Path,
    output: Path,
    depend: bool,
    depfile: Path | None,
    stamp: Path | None,
    force: bool,
    ptx: str | None,
    emit: str | None,
    definitions: tuple[str, ...],
    tuned: Path | None,
    machines: tuple[str, ...],
    no_verify: bool,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Generate the header, the kernels of all leaves, the tree and the manifest from SOURCE."""
    from comprehensive import generate
    from comprehensive.codegen.machines import with_machines
    from comprehensive.machine.architectures import demand_architecture
    from comprehensive.machine.device import load_device

    definitions, compile_options = configured(source, definitions, compile_options)
    if ptx is not None:
        demand_architecture(ptx, virtual=True)
    options = options_of(**compile_options)
    measured = [load_device(machine) for machine in machines]
    compilation = _compile(source, options)
    if emit is not None:
        click.echo(generate.stage_text(compilation, emit), nl=False)
        return
    plan = with_machines(compilation.plan, measured)
    diagnostics = compilation.diagnostics
    if tuned is not None:
        from comprehensive.tuning.baked import baked
        from comprehensive.tuning.winners import read_winners

        found = baked(plan, read_winners(tuned, plan.source_digest))
        plan, diagnostics = found.plan, (*diagnostics, *found.diagnostics)
        print_diagnostics(found.diagnostics)
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
        levels=definitions_of(definitions),
        verify=not no_verify,
    )
    if as_json:
        _print_json(
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
    leaves = sum(len(tree.leaves) for tree in compilation.trees)
    click.echo(
        f"{output}: {len(written.files)} files, {len(written.changed)} changed; {leaves} leaves: "
        f"include {compilation.plan.stem}.h, compile {compilation.plan.stem}.cu",
        err=True,
    )


@cli.command()
@input_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "svg"]),
    default="text",
    show_default=True,
    help="Output form; svg is a picture of a --region.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--pruned", is_flag=True, help="Show dead branches and passed-over strategies with their reasons."
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option(
    "--region",
    metavar="NAME[,NAME]",
    default=None,
    help="Instead of the tree, show which leaf runs where: on the line of one parameter, in the plane of two.",
)
@click.option(
    "-D", "definitions", metavar="NAME=VALUE", multiple=True, help="Value of another parameter, or a macro."
)
@click.option("--range", "ranges", metavar="NAME=LOW:HIGH", multiple=True, help="Range of a parameter shown.")
@click.option("--leaf", type=int, default=None, help="Instead of the tree, what this leaf admits; see below.")
@click.option("--loops", is_flag=True, help="Loops over the parameters that the --leaf admits, symbolically.")
@click.option(
    "--points",
    metavar="NAME=VALUES",
    multiple=True,
    help="List the parameters that the --leaf admits, NAME from LOW:HIGH, powers_of_two:LIMIT, "
    "multiples:STEP:LIMIT or divisors:NUMBER; repeat.",
)
@click.option(
    "--device",
    default=None,
    help="Device of a --region or --leaf: architecture, product or TOML file.  "
    "[default: sm_90; --loops keeps limits as symbols]",
)
@counters_option
@with_compile_options
@reporting
def tree(
    source: Path,
    form: str,
    as_json: bool,
    pruned: bool,
    ascii_only: bool,
    region: str | None,
    definitions: tuple[str, ...],
    ranges: tuple[str, ...],
    leaf: int | None,
    loops: bool,
    points: tuple[str, ...],
    device: str | None,
    **compile_options: Any,
) -> None:
    """Print the decision tree of every region of SOURCE, where in the space of parameters its leaves are, or which
    parameters one leaf admits.

    \b
    comprehensive tree jacobi1d.mf --region B -D s=4
    comprehensive tree jacobi1d.mf --region B,s --range s=1:64 --format svg > leaves.svg
    comprehensive tree jacobi1d.mf --leaf 0 --loops
    comprehensive tree jacobi1d.mf --leaf 0 --points B=powers_of_two:1024 --points s=1:8
    """
    from comprehensive import generate

    definitions, compile_options = configured(source, definitions, compile_options)
    form = "json" if as_json else form
    if leaf is not None or loops or points:
        _demand_leaf(leaf, loops, points, form, region, ranges)
        _print_leaf(source, form, leaf or 0, points, definitions, device, compile_options)
        return
    if region is not None:
        _print_region(source, form, region, definitions, ranges, device or "sm_90", compile_options)
        return
    options = options_of(**compile_options)
    if form == "svg" or definitions or ranges or device is not None:
        raise click.UsageError(
            "--format svg, -D, --range and --device go with --region NAME[,NAME] or --leaf"
        )
    compilation = _compile(source, options)
    if form == "json":
        _print_json(generate.tree_document(compilation))
        return
    click.echo(generate.tree_text(compilation, pruned=pruned, ascii_only=ascii_only), nl=False)


def _without_quotients(compilation: Compilation) -> Compilation:
    """click.UsageError for trees that --region and --leaf cannot divide."""
    if any(tree.quotients for tree in compilation.trees):
        raise click.UsageError(
            "--region and --leaf do not go with --counters occupancy or latency_hiding, whose values are rounded; "
            "`comprehensive explain` takes them at a point"
        )
    return compilation


def _print_region(
    source: Path,
    form: str,
    region: str,
    definitions: tuple[str, ...],
    ranges: tuple[str, ...],
    device: str,
    compile_options: dict[str, Any],
) -> None:
    from comprehensive import parameter_space
    from comprehensive.machine.device import load_device

    symbols = symbols_of(region)
    values, ends = definitions_of(definitions), ranges_of(ranges)
    for name in symbols:
        if name in values:
            raise click.UsageError(f"{name} is shown in --region and cannot have the value of -D {name}=...")
    for name in ends:
        if name not in symbols:
            raise click.UsageError(f"--range {name}=... is not the range of a parameter of --region {region}")
    machine = load_device(device)
    compilation = _without_quotients(
        _compile(source, options_of(**compile_options, device_arch=machine.arch))
    )
    found = parameter_space.divide(compilation, machine, symbols, values, ends)
    match form:
        case "json":
            _print_json(parameter_space.to_json(found))
        case "svg":
            click.echo(parameter_space.to_svg(found), nl=False)
        case _:
            click.echo(parameter_space.to_text(found), nl=False)


def _demand_leaf(
    leaf: int | None,
    loops: bool,
    points: tuple[str, ...],
    form: str,
    region: str | None,
    ranges: tuple[str, ...],
) -> None:
    if leaf is None:
        raise click.UsageError("--loops and --points go with --leaf NUMBER")
    if loops == bool(points):
        raise click.UsageError("--leaf: add either --loops or --points NAME=VALUES, as in --points B0=1:64")
    if region is not None or ranges or form == "svg":
        raise click.UsageError("--region, --range and --format svg do not go with --leaf")


def _print_leaf(
    source: Path,
    form: str,
    leaf: int,
    points: tuple[str, ...],
    definitions: tuple[str, ...],
    device: str | None,
    compile_options: dict[str, Any],
) -> None:
    from comprehensive import leaf_parameters
    from comprehensive.machine.device import load_device

    values, domains = definitions_of(definitions), domains_of(points)
    for name in domains:
        if name in values:
            raise click.UsageError(
                f"{name} has the value of -D {name}=... and cannot have --points {name}=..."
            )
    machine = load_device(device or "sm_90")
    compilation = _without_quotients(
        _compile(source, options_of(**compile_options, device_arch=machine.arch))
    )
    if points:
        listed = leaf_parameters.leaf_points(compilation, leaf, values, machine, domains)
        if form == "json":
            _print_json(leaf_parameters.points_json(listed))
        else:
            click.echo(leaf_parameters.points_text(listed), nl=False)
        return
    found = leaf_parameters.leaf_loops(compilation, leaf, values, machine if device is not None else None)
    if form == "json":
        _print_json(leaf_parameters.loops_json(found))
    else:
        click.echo(leaf_parameters.loops_text(found), nl=False)


@cli.command()
@input_argument
@click.option("--device", default="sm_90", show_default=True, help="Architecture, product or TOML file.")
@click.option(
    "-D", "definitions", metavar="NAME=VALUE", multiple=True, help="A parameter, or a macro; repeat."
)
@click.option("--leaf", type=int, default=None, help="Explain this leaf only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@counters_option
@with_compile_options
@reporting
def explain(
    source: Path,
    device: str,
    definitions: tuple[str, ...],
    leaf: int | None,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Say which leaf runs on a device at given parameters, and why each other one does not."""
    from comprehensive import explanation
    from comprehensive.machine.device import load_device

    definitions, compile_options = configured(source, definitions, compile_options)
    values = definitions_of(definitions)
    machine = load_device(device)
    compilation = _compile(source, options_of(**compile_options, device_arch=machine.arch))
    explained = explanation.explain(compilation, machine, values, leaf)
    if as_json:
        _print_json(explanation.to_json(explained))
    else:
        click.echo(explanation.to_text(explained), nl=False)


@cli.command()
@input_argument
@click.option("--points", type=click.IntRange(1, 10000), default=20, show_default=True, help="Points a leaf.")
@click.option(
    "-D",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A macro of the program, or the limit of a counter that --counters names.",
)
@click.option("--no-run", is_flag=True, help="Do not build and run the kernels on the CPU.")
@click.option("--sanitize", is_flag=True, help="Build with AddressSanitizer.")
@click.option(
    "--duplicates", is_flag=True, help="Indices occur twice in the data that says where plain stores go."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@counters_option
@with_compile_options
@reporting
def check(
    source: Path,
    points: int,
    definitions: tuple[str, ...],
    no_run: bool,
    sanitize: bool,
    duplicates: bool,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Check SOURCE: legality of the annotation, Definition 2 (i)-(iv), and the emitted code run on the CPU.

    What cannot be checked is shown as `--` and counted in the last line; it is an error under -Werror only.
    """
    from comprehensive import verification

    definitions, compile_options = configured(source, definitions, compile_options)
    options = options_of(**compile_options)
    compilation = _compile(source, options)
    if any(tree.quotients for tree in compilation.trees):
        raise click.UsageError(
            "check does not go with --counters occupancy or latency_hiding, whose values depend on all of a machine"
        )
    report = verification.verify(
        compilation,
        points=points,
        run=not no_run,
        sanitize=sanitize,
        duplicates=duplicates,
        levels=definitions_of(definitions),
    )
    if as_json:
        _print_json(verification.to_json(report))
    else:
        click.echo(verification.to_text(report), nl=False)
    if not report.holds:
        sys.exit(EXIT_INPUT)
    if report.unchecked and options.warnings_are_errors:
        click.echo(f"error: {report.unchecked} statements were not checked [-Werror]", err=True)
        sys.exit(EXIT_INPUT)


@cli.command()
@input_argument
@with_tune_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_compile_options
@reporting
def tune(
    source: Path,
    definitions: tuple[str, ...],
    rows: tuple[str, ...],
    points: tuple[str, ...],
    device: str,
    top: int,
    caps: int | None,
    limit: float,
    reference_limit: float,
    store: Path | None,
    scheduler: str | None,
    log: Path | None,
    output: Path,
    as_json: bool,
    **compile_options: Any,
) -> None:
    """Measure the candidates of SOURCE on a GPU, each compared with the serial C first, and write down the winners.

    \b
    comprehensive tune matmul.mf -D n=1024 -D n=2048 -o out/
    comprehensive tune jacobi2d.mf --sizes T=20,n=4096 --sizes T=100,n=1024 --top 40 -o out/
    comprehensive tune matmul.mf -D n=64 --device cpu -o out/       everything but the speed of a GPU
    """
    from comprehensive.runtime.serial import SerialBuildError
    from comprehensive.tuning import command
    from comprehensive.tuning.devices import find_devices
    from comprehensive.verification import of_compiler

    definitions, compile_options = configured(source, definitions, compile_options)
    asked = command.Asked(
        assignments_of(definitions),
        sizes_of(rows),
        domains_of(points),
        device,
        top,
        caps,
        limit,
        reference_limit,
        store,
        scheduler,
        log,
        output,
    )
    if scheduler is None and asked.tunes:
        # First of all, since it says what to count registers for.
        asked = replace(asked, targets=find_devices(device))
    arch = "sm_90" if asked.targets is None else asked.targets[0].arch
    options = options_of(**compile_options, device_arch=arch)
    compilation = _compile(source, options)
    try:
        told = command.run(compilation, options, asked, lambda line: click.echo(line, err=True))
    except SerialBuildError as error:
        raise CompileError(tuple(of_compiler(compilation.source, str(error)))) from error
    print_diagnostics(told.diagnostics)
    if as_json:
        _print_json(told.json)
    else:
        click.echo(told.text, nl=False)
    if told.file is not None:
        click.echo(f"winners: {told.file}", err=True)
    if not told.complete or (told.diagnostics and options.warnings_are_errors):
        sys.exit(EXIT_INPUT)


@cli.command()
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reporting
def calibrate(device: str, output: Path | None, limit: float, cuda_path: str | None, as_json: bool) -> None:
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
        _print_json(found.json)
    else:
        click.echo(found.text, nl=False)
    click.echo(f"machine file: {found.file}", err=True)


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reporting
def devices(name: str | None, as_json: bool) -> None:
    """List the devices that the tool knows, or print all limits of one."""
    from comprehensive.report import devices as report

    document = report.device_document(name)
    if as_json:
        _print_json(document)
    else:
        click.echo(report.device_text(name), nl=False)


@cli.command()
@cuda_path_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reporting
def doctor(cuda_path: str | None, as_json: bool) -> None:
    """Show which tools were found, where they were looked for, and what is missing."""
    from comprehensive.report import doctor as report

    examined = report.examine(cuda_path)
    if as_json:
        _print_json(report.to_json(examined))
    else:
        click.echo(report.to_text(examined), nl=False)


# All options are those of ptxas, --help too; none may be taken for one of click's.
@cli.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@reporting
def ptxas(arguments: tuple[str, ...]) -> None:
    """Assemble PTX as ptxas does, after passes have rewritten it; --install DIR makes nvcc call this."""
    from comprehensive.ptx.dropin import command

    command.main(arguments, lambda line: click.echo(line, err=True))


@cli.command()
@input_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("out"), help="Output directory."
)
@click.option("-D", "definitions", metavar="NAME[=TEXT]", multiple=True, help="A macro; repeat.")
@with_compile_options
@reporting
def demo(source: Path, output: Path, definitions: tuple[str, ...], **compile_options: Any) -> None:
    """Show the whole job on SOURCE: tree, outputs, and the generated kernels run against the serial C."""
    from comprehensive import demonstration

    values, compile_options = configured(source, definitions, compile_options)
    if values:
        raise click.UsageError(f"-D {values[0]}: the program mentions no macro of this name")
    if not demonstration.show(source, output, options_of(**compile_options), click.echo):
        sys.exit(EXIT_INPUT)


cli.add_command(opt_command(reporting))
