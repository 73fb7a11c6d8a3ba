"""Winners put into a plan: launchers without parameters take them where device and sizes are the same.

In: a plan and winners of its program.  Out: the plan with a :class:`TunedRow` for each of them, and warnings about
those that no generated kernel stands for::

    baked(plan, read_winners(Path("matmul.tuned.json"), plan.source_digest)).plan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from comprehensive.codegen.interface import interface
from comprehensive.codegen.plan import FunctionPlan, ProgramPlan, TunedRow
from comprehensive.diagnostics import CommandLineError, Diagnostic, Severity
from comprehensive.tuning.problems import size_names
from comprehensive.tuning.winners import Winner


@dataclass(frozen=True, slots=True)
class Baked:
    plan: ProgramPlan
    diagnostics: tuple[Diagnostic, ...]


def baked(plan: ProgramPlan, winners: Sequence[Winner]) -> Baked:
    """Put winners into a plan.

    CommandLineError (CF0916) for winners of other functions, sizes, parameters or tiles than the plan has.
    """
    known = {function.function.name for function in plan.functions}
    for winner in winners:
        if winner.function not in known:
            raise _unfit(winner, f"there is no function {winner.function}")
    found = [_function(function, winners) for function in plan.functions]
    warnings = tuple(_capped(w) for w in winners if w.register_cap is not None)
    return Baked(replace(plan, functions=tuple(found)), warnings)


def _function(plan: FunctionPlan, winners: Sequence[Winner]) -> FunctionPlan:
    own = [w for w in winners if w.function == plan.function.name and w.register_cap is None]
    return replace(plan, tuned=tuple(_row(plan, winner) for winner in own))


def _row(plan: FunctionPlan, winner: Winner) -> TunedRow:
    host = interface(plan)
    names = size_names(plan)
    members = [a.name for a in host.members]
    sizes, parameters = dict(winner.sizes), dict(winner.parameters)
    if set(sizes) != set(names):
        raise _unfit(winner, f"the sizes of {winner.function} are {', '.join(names)}")
    if set(parameters) != set(members):
        raise _unfit(winner, f"the parameters of {winner.function} are {', '.join(members)}")
    tiles = max((len(region.numbers) - len(region.leaves) for region in plan.regions), default=0)
    if host.tile is not None and not -1 <= parameters[host.tile] <= tiles:
        raise _unfit(winner, f"{winner.function} has {tiles} tiles")
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
    return CommandLineError((Diagnostic(Severity.ERROR, "CF0916", message, None, help=help),))


def _capped(winner: Winner) -> Diagnostic:
    sizes = ", ".join(f"{name} = {value}" for name, value in winner.sizes)
    return Diagnostic(
        Severity.WARNING,
        "CF0917",
        f"the winner at {sizes} was compiled with at most {winner.register_cap} registers a thread and is left out",
        None,
        help="generated kernels have no such limit; tune with --caps 0 for the best one without",
    )
