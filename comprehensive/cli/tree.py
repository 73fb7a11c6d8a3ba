"""The command ``comprehensive tree``: the decision tree, its regions and the parameters of a leaf."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from comprehensive.cli.options import (
    configured,
    counters_option,
    input_argument,
    options_of,
    with_compile_options,
    with_compiled_kernels_options,
)
from comprehensive.cli.progress import command_watch, time_limit_option
from comprehensive.cli.reporting import compile_source, print_diagnostics, print_json, reporting
from comprehensive.cli.values import definitions_of, domains_of, ranges_of, symbols_of

if TYPE_CHECKING:
    from comprehensive.driver import Compilation
    from comprehensive.tree_forms import Form


@click.command("tree")
@input_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "svg", "dot", "mermaid", "html", "smt2", "latex"]),
    default="text",
    show_default=True,
    help="Output form: pictures (svg, dot for Graphviz, mermaid), a page whose branches open and close (html), "
    "the systems with their verdicts for SMT solvers, the cases as the paper prints them; --region and --leaf have "
    "text and json, --region also svg.",
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
@click.option(
    "--counters-from",
    "values_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=None,
    help="Counters and their values from a TOML or JSON file, as specs/paper has them for the paper's figures, instead "
    "of from the code; --strategies then names all that take part.",
)
@click.option(
    "--order",
    metavar="COUNTER,...",
    default="",
    help="The counters of --counters-from that are evaluated, in this order.  [default: all, as in the file]",
)
@time_limit_option
@counters_option
@with_compiled_kernels_options
@with_compile_options
@reporting
def tree_command(
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
    values_path: Path | None,
    order: str,
    time_limit: float | None,
    **compile_options: Any,
) -> None:
    """Print the decision tree of every region of SOURCE, where in the space of parameters its leaves are, or which
    parameters one leaf admits.

    \b
    comprehensive tree jacobi1d.mf --region B -D s=4
    comprehensive tree jacobi1d.mf --region B,s --range s=1:64 --format svg > leaves.svg
    comprehensive tree jacobi1d.mf --leaf 0 --loops
    comprehensive tree jacobi1d.mf --leaf 0 --points B=powers_of_two:1024 --points s=1:8
    comprehensive tree jacobi1d.mf --counters-from figure7.toml --order shared_words_per_block,registers_per_thread
    """
    from comprehensive import generate

    definitions, compile_options = configured(source, definitions, compile_options)
    form = "json" if as_json else form
    if time_limit is not None and (values_path or region or leaf is not None or loops or points):
        raise click.UsageError(
            "--time-limit goes with the tree: leave out --counters-from, --region and --leaf"
        )
    if values_path is not None:
        if leaf is not None or loops or points or region is not None or ranges or form == "svg":
            raise click.UsageError(
                "--counters-from prints the tree: leave out --region, --leaf and --format svg"
            )
        _print_given(source, form, values_path, order, pruned, ascii_only, compile_options)
        return
    if order:
        raise click.UsageError("--order goes with --counters-from FILE")
    if leaf is not None or loops or points:
        _demand_leaf(leaf, loops, points, form, region, ranges)
        _print_leaf(source, form, leaf or 0, points, definitions, device, compile_options)
        return
    if region is not None:
        _demand_form(form, ("text", "json", "svg"), "--region")
        _print_region(source, form, region, definitions, ranges, device or "sm_90", compile_options)
        return
    options = options_of(**compile_options)
    if definitions or ranges or device is not None:
        raise click.UsageError("-D, --range and --device go with --region NAME[,NAME] or --leaf")
    watch = command_watch(time_limit, stoppable=True)
    compilation = compile_source(source, options, watch)
    if form == "json":
        print_json(generate.tree_document(compilation))
    elif form == "text":
        click.echo(generate.tree_text(compilation, pruned=pruned, ascii_only=ascii_only), nl=False)
    else:
        from comprehensive.tree_forms import tree_form

        click.echo(tree_form(compilation, cast("Form", form), pruned=pruned), nl=False)
    watch.close()


def _print_given(
    source: Path,
    form: str,
    values_path: Path,
    order: str,
    pruned: bool,
    ascii_only: bool,
    compile_options: dict[str, Any],
) -> None:
    from comprehensive import given_trees

    if compile_options["more_counters"] or compile_options["passes"] or compile_options["embed"]:
        raise click.UsageError(
            "--counters-from gives all counters: leave out --counters, --passes and --embed"
        )
    # The values are given: no compiler is asked for registers.
    compile_options["registers"] = "estimate"
    options = options_of(**compile_options)
    names = tuple(name.strip() for name in order.split(",")) if order else ()
    found = given_trees.given_tree(source, values_path, options, names)
    print_diagnostics(found.diagnostics)
    if form == "json":
        print_json(given_trees.to_json(found))
        return
    click.echo(given_trees.to_text(found, pruned=pruned, ascii_only=ascii_only), nl=False)


def _without_quotients(compilation: Compilation) -> Compilation:
    """The compilation; CommandLineError (CF0709) for trees that --region and --leaf cannot divide."""
    from comprehensive.values import demand_no_quotients

    demand_no_quotients(compilation)
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
        compile_source(source, options_of(**compile_options, device_arch=machine.arch))
    )
    found = parameter_space.divide(compilation, machine, symbols, values, ends)
    match form:
        case "json":
            print_json(parameter_space.to_json(found))
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
    if region is not None or ranges:
        raise click.UsageError("--region and --range do not go with --leaf")
    _demand_form(form, ("text", "json"), "--leaf")


def _demand_form(form: str, known: tuple[str, ...], option: str) -> None:
    if form not in known:
        raise click.UsageError(f"--format {form} does not go with {option}, which has {', '.join(known)}")


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
        compile_source(source, options_of(**compile_options, device_arch=machine.arch))
    )
    if points:
        listed = leaf_parameters.leaf_points(compilation, leaf, values, machine, domains)
        if form == "json":
            print_json(leaf_parameters.points_json(listed))
        else:
            click.echo(leaf_parameters.points_text(listed), nl=False)
        return
    found = leaf_parameters.leaf_loops(compilation, leaf, values, machine if device is not None else None)
    if form == "json":
        print_json(leaf_parameters.loops_json(found))
    else:
        click.echo(leaf_parameters.loops_text(found), nl=False)
