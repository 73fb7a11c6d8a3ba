"""The options of a compilation: names and texts of a command line or of a call in, checked :class:`Options` out.

    checked_options(counters=("occupancy",), embed="sm_90,ptx")
    checked_options(counters=("speed",))        # CommandLineError (CF0708) that lists the counters

Commands and Python ask here, so that both know the same options and refuse the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Options, RegisterSource
from comprehensive.embedding.targets import AUTO, targets_of
from comprehensive.machine.architectures import demand_architecture
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.optimize.tree import Performance
from comprehensive.pragmas.read import Models
from comprehensive.registry import COMPILED, RegistryError, counters_of, strategies_for
from comprehensive.values import value_error


def checked_options(
    *,
    registers: RegisterSource = "auto",
    arch: str | None = None,
    cuda_path: str | None = None,
    performance: Performance = "demanded",
    warnings_are_errors: bool = False,
    reassociate: bool = False,
    counters: Sequence[str] = (),
    strategies: Sequence[str] = (),
    pragma: Models | None = None,
    passes: str | None = None,
    embed: str | None = None,
    configuration: Configuration | None = None,
    device_arch: str = "sm_90",
) -> Options:
    """Return the options of a compilation.

    ``device_arch`` is the architecture where ``arch`` asks for none.  ``passes`` is a pipeline over the PTX of all
    kernels, ``auto`` or ``none``; left out it is ``auto`` where kernels are embedded.  ``embed`` names what kernels are
    compiled for, as in ``sm_80,sm_90,ptx``; with passes and without it that is the architecture.

    Raises CommandLineError for an architecture (CF0808), a pass (CF102x) or targets (CF1101) that are not known, and
    for another name that is not (CF0708).
    """
    _demand_one_of("registers", registers, get_args(RegisterSource))
    _demand_one_of("performance", performance, get_args(Performance))
    if pragma is not None:
        _demand_one_of("pragma", pragma, get_args(Models))
    if arch is not None or registers != "estimate":
        demand_architecture(arch or device_arch)
    _demand_registered(counters, strategies)
    arch = arch or device_arch
    automatic = passes == AUTO or (passes is None and embed is not None)
    pipeline = "" if automatic or passes is None or passes == "none" else passes
    if pipeline:
        # What reads PTX is slow to import.
        from comprehensive.ptx.passes.pipeline_text import passes_of

        passes_of(pipeline)
    if embed is None and (automatic or pipeline):
        embed = f"{arch},ptx" if arch[-1].isdigit() else arch
    return Options(
        registers,
        arch,
        cuda_path,
        performance,
        warnings_are_errors,
        reassociate,
        tuple(counters),
        tuple(strategies),
        pragma,
        configuration or Configuration(),
        pipeline,
        automatic,
        None if embed is None else targets_of(embed),
    )


def _demand_one_of(option: str, value: object, known: tuple[Any, ...]) -> None:
    if value not in known:
        raise value_error(
            "CF0708", f"{option} cannot be {value!r}", f"it is one of {', '.join(map(repr, known))}"
        )


def _demand_registered(counters: Sequence[str], strategies: Sequence[str]) -> None:
    """Raise CommandLineError (CF0708) for counters and strategies that cannot be had."""
    try:
        counters_of(counters)
        strategies_for((), strategies, {name: lambda _: "" for name in COMPILED})
    except RegistryError as error:
        raise CommandLineError.of("CF0708", str(error)) from None
