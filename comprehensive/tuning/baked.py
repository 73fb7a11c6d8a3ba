"""Winners put into a plan: launchers without parameters take them where device and sizes are the same.

In: a plan and winners of its program.  Out: the plan with a :class:`TunedRow` for each of them and versions of kernels
for their passes, and warnings about those that no generated kernel stands for::

    baked(plan, read_winners(Path("matmul.tuned.json"), plan.source_digest), embeds=True).plan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.diagnostics import CommandLineError, Diagnostic, Severity
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan, TunedRow
from comprehensive.plan.versions import KernelKey, Version
from comprehensive.records import replace
from comprehensive.tuning.problems import size_names
from comprehensive.tuning.winners import Winner


@dataclass(frozen=True, slots=True)
class Baked:
    plan: ProgramPlan
    diagnostics: tuple[Diagnostic, ...]


def baked(plan: ProgramPlan, winners: Sequence[Winner], *, embeds: bool = False, plain: bool = True) -> Baked:
    """Put winners into a plan; where it ``embeds`` compiled kernels, with the versions that winners were compiled to.

    ``plain`` says whether the kernels where no version is asked for are what nvcc makes of them: else winners without
    passes have a version, too.  CommandLineError (CF0916) for winners of other functions, sizes, parameters or tiles
    than the plan has.
    """
    known = {function.function.name for function in plan.functions}
    for winner in winners:
        if winner.function not in known:
            raise _unfit(winner, f"there is no function {winner.function}")
    kept = [w for w in winners if embeds or not w.pipeline]
    found = [_function(function, kept, has_plain=plain or not embeds) for function in plan.functions]
    warnings = tuple(_left_out(w) for w in winners if w not in kept)
    return Baked(replace(plan, functions=tuple(found)), warnings)


def _function(plan: FunctionPlan, winners: Sequence[Winner], *, has_plain: bool) -> FunctionPlan:
    """The function with a row for each of its winners, and a version for each pipeline that one of them asks for."""
    own = [w for w in winners if w.function == plan.function.name]
    rows = [_row(plan, winner) for winner in own]
    kernels: dict[str, list[KernelKey]] = {}
    for winner in own:
        if winner.pipeline or not has_plain:
            keys = plan.kernels_of(dict(winner.parameters).get(interface(plan).tile or "", 0))
            if not keys:
                raise _unfit(winner, "no kernel stands for it alone")
            kernels.setdefault(winner.pipeline, []).extend(keys)
    versions = (*plan.versions, *(Version.of(pipeline, keys) for pipeline, keys in kernels.items()))
    made = replace(plan, versions=versions)
    member = interface(made).version
    if member is not None:
        numbers = {pipeline: number for number, pipeline in enumerate(kernels, len(plan.versions))}
        rows = [
            replace(row, parameters=(*row.parameters, (member, numbers.get(winner.pipeline, 0))))
            for row, winner in zip(rows, own, strict=True)
        ]
    return replace(made, tuned=tuple(rows))


def _row(plan: FunctionPlan, winner: Winner) -> TunedRow:
    host = interface(plan)
    names = size_names(plan)
    members = [a.name for a in host.members]
    sizes, parameters = dict(winner.sizes), dict(winner.parameters)
    if set(sizes) != set(names):
        raise _unfit(winner, f"the sizes of {winner.function} are {', '.join(names)}")
    if set(parameters) != set(members):
        raise _unfit(winner, f"the parameters of {winner.function} are {', '.join(members)}")
    if host.tile is not None and not -1 <= parameters[host.tile] <= plan.tiles:
        raise _unfit(winner, f"{winner.function} has {plan.tiles} tiles")
    return TunedRow(
        winner.device,
        tuple((name, sizes[name]) for name in names),
        tuple((name, parameters[name]) for name in members),
        winner.median_us,
    )


def _unfit(winner: Winner, words: str) -> CommandLineError:
    shown = ", ".join(f"{name} = {value}" for name, value in (*winner.sizes, *winner.parameters))
    message = f"the winner at {shown} is of another program: {words}"
    help = "tune again with this version of the tool and of the program"
    return CommandLineError.of("CF0916", message, help=help)


def _left_out(winner: Winner) -> Diagnostic:
    sizes = ", ".join(f"{name} = {value}" for name, value in winner.sizes)
    return Diagnostic(
        Severity.WARNING,
        "CF0917",
        f"the winner at {sizes} was compiled with passes ({winner.pipeline}) and is left out",
        None,
        help="give --embed ARCH, since only embedded kernels go through passes, or tune with --caps 0",
    )
