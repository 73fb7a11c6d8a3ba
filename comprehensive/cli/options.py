"""Arguments and options that commands have in common.

An option that stands for nothing raises click.UsageError.  Parts of the tool are imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from comprehensive.driver import Options
    from comprehensive.metafork.preprocessor.configuration import Configuration


def input_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """The `.mf` file, or the C file with directives."""
    return click.argument("source", type=click.Path(path_type=Path, dir_okay=True))(function)


cuda_path_option = click.option(
    "--cuda-path",
    default=None,
    help="Directory of a CUDA toolkit: the only place where tools are looked for.",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

limits_option = click.option(
    "-D",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A macro of the program, or the limit of a counter that --counters names, as in P_occupancy=1/2.",
)

counters_option = click.option(
    "--counters",
    "more_counters",
    metavar="NAME,...",
    default="",
    help="Performance counters that take part in the tree: all, or some of occupancy, coalescing, bank_efficiency, "
    "intensity, latency_hiding, or counters of other packages.",
)


def _together(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Several options as one decorator, in the order of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return reduce(lambda decorated, option: option(decorated), reversed(options), function)

    return decorate


with_compile_options = _together(
    click.option(
        "--registers",
        type=click.Choice(["auto", "estimate", "ptxas"]),
        default="auto",
        show_default=True,
        help="Where register counts come from; auto is ptxas where nvcc is found.",
    ),
    click.option(
        "--arch",
        default=None,
        help="Architecture that ptxas counts for.  [default: that of the device asked for, else sm_90]",
    ),
    cuda_path_option,
    click.option(
        "--performance",
        type=click.Choice(["demanded", "literal"]),
        default="demanded",
        show_default=True,
        help="Reading of performance limits: a demanded level, or the paper's text.",
    ),
    click.option(
        "--reassociate",
        is_flag=True,
        help="Sums of rows may be added up in another order: last bits differ from the C code.",
    ),
    click.option(
        "--strategies",
        "more_strategies",
        metavar="NAME,...",
        default="",
        help="Strategies that are tried before the default ones, in this order: of other packages, or the "
        "tool's own.",
    ),
    click.option("-U", "undefined", metavar="NAME", multiple=True, help="A name that is no macro; repeat."),
    click.option(
        "-I",
        "directories",
        metavar="DIR",
        type=click.Path(path_type=Path),
        multiple=True,
        help="Directory of included files; repeat.",
    ),
    click.option(
        "--pragma",
        type=click.Choice(["omp", "acc", "scop", "auto"]),
        default=None,
        help="SOURCE is C with directives of OpenMP or OpenACC, or with `#pragma scop`: their parallel loops "
        "are the regions.",
    ),
    click.option("-W", "warning", metavar="error", multiple=True, help="-Werror: warnings are errors."),
)
"""The options that shape a compilation, the same for every command that compiles."""


with_compiled_kernels_options = _together(
    click.option(
        "--passes",
        metavar="PIPELINE",
        default=None,
        help="Rewrite the PTX of all kernels by passes of `opt`; embeds them for --arch where --embed names "
        "nothing else. auto: each by those that are predicted to pay. [default: auto with --embed, else none]",
    ),
    click.option(
        "--embed",
        metavar="ARCH,...,ptx",
        default=None,
        help="Compile all kernels for these: `gen` also writes <stem>_embedded.c, which needs a C compiler and "
        "no nvcc, and kernels may keep values in shared memory.",
    ),
)
"""The options for what kernels are compiled for, and for the passes over their PTX."""


with_tune_options = _together(
    click.option(
        "-D",
        "definitions",
        metavar="NAME=VALUE",
        multiple=True,
        help="A size to tune at (several values of a name: several sizes), a program parameter or scalar that "
        "is fixed, or a macro; repeat.",
    ),
    click.option(
        "--sizes",
        "rows",
        metavar="n=1024,T=20",
        multiple=True,
        help="One combination of sizes; repeat.",
    ),
    click.option(
        "--points",
        metavar="NAME=VALUES",
        multiple=True,
        help="Values of a program parameter, as for `tree --points`.  [default: powers of two]",
    ),
    click.option(
        "--device",
        default="gpu",
        show_default=True,
        help="gpu (all that are visible), gpu:0,1, or cpu, a stand-in that needs no GPU.",
    ),
    click.option(
        "--top",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="How many candidates are measured at each size.",
    ),
    click.option(
        "--caps",
        type=click.IntRange(0, 100),
        default=None,
        help="How many of the best leaves are tried with limits of registers, each a candidate with passes "
        "register-cap{registers=N}.  [default: 2; cpu: 0]",
    ),
    click.option(
        "--passes",
        "pipelines",
        metavar="PIPELINE",
        multiple=True,
        help="Also try the best candidates, leaves and tiles, with their PTX rewritten by these passes of "
        "`opt`; repeat.",
    ),
    click.option(
        "--limit",
        type=click.FloatRange(0.1),
        default=60.0,
        show_default=True,
        help="Seconds after which a candidate is given up.",
    ),
    click.option(
        "--reference-limit",
        type=click.FloatRange(0.1),
        default=60.0,
        show_default=True,
        help="Seconds after which the serial C is run at smaller sizes instead.",
    ),
    click.option(
        "--store",
        type=click.Path(path_type=Path),
        default=None,
        help="Database of results; what it has is not measured again.  [default: DIR/tuning.sqlite]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        default=None,
        help="Measure on the workers of a Dask cluster.",
    ),
    click.option(
        "--import",
        "log",
        metavar="LOG",
        type=click.Path(path_type=Path),
        default=None,
        help="Add times observed in production to the database; with sizes, tune as well.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="DIR",
        type=click.Path(path_type=Path),
        default=Path("."),
        help="Where <stem>.tuned.json goes.  [default: the current directory]",
    ),
)
"""The options for what is tuned, where, and for how long."""


def options_of(
    registers: Any,
    arch: str | None,
    cuda_path: str | None,
    performance: Any,
    reassociate: bool,
    pragma: Any,
    warning: tuple[str, ...],
    more_strategies: str,
    more_counters: str = "",
    passes: str | None = None,
    embed: str | None = None,
    *,
    configuration: Configuration,
    device_arch: str = "sm_90",
) -> Options:
    """Return the options of a compilation from those of the command line, which :func:`configured` has parted.

    ``device_arch`` is the architecture where none is asked for.
    """
    from comprehensive.options import checked_options

    unknown = [w for w in warning if w != "error"]
    if unknown:
        raise click.UsageError(f"-W{unknown[0]} is not known; the one warning option is -Werror")
    return checked_options(
        registers=registers,
        arch=arch,
        cuda_path=cuda_path,
        performance=performance,
        warnings_are_errors=bool(warning),
        reassociate=reassociate,
        counters=names_in(more_counters),
        strategies=names_in(more_strategies),
        pragma=pragma,
        passes=passes,
        embed=embed,
        configuration=configuration,
        device_arch=device_arch,
    )


def configured(
    source: Path, definitions: Sequence[str], compile_options: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Part ``-D``, ``-U`` and ``-I`` into definitions that are values, and a configuration of the preprocessor.

    ``-D NAME`` and ``-D NAME=TEXT`` define a macro where the program mentions the name and declares no variable with
    it; else they are values.
    """
    from comprehensive.diagnostics import CompileError
    from comprehensive.metafork.preprocessor.configuration import Configuration
    from comprehensive.metafork.preprocessor.mentions import mentions
    from comprehensive.metafork.read import read_source

    options = dict(compile_options)
    undefined, directories = options.pop("undefined"), options.pop("directories")
    configuration = Configuration((), undefined, directories)
    for name in undefined:
        _demand_name(name)
    if not definitions:
        return (), {**options, "configuration": configuration}
    try:
        known = mentions(read_source(source), configuration)
    except CompileError:
        return (), {**options, "configuration": configuration}  # the run says what is wrong with the file
    macros: dict[str, str] = {}
    values: list[str] = []
    for definition in definitions:
        name, equals, text = definition.partition("=")
        bare = name.partition("(")[0]
        if not known.may_be_macro(bare):
            values.append(definition)
            continue
        defined = text if equals else "1"
        if macros.setdefault(name, defined) != defined:
            raise click.UsageError(f"-D {definition}: the macro {name} has another definition before it")
    clash = [name for name in undefined if name in macros]
    if clash:
        raise click.UsageError(f"-U {clash[0]}: -D defines the same macro; give one of the two")
    configuration = Configuration(tuple(macros.items()), undefined, directories)
    return tuple(values), {**options, "configuration": configuration}


def _demand_name(name: str) -> None:
    if not name.isidentifier():
        raise click.UsageError(f"-U {name}: expected a name, as in -U SMALL")


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text with commas between them."""
    return tuple(name.strip() for name in text.split(",")) if text else ()
