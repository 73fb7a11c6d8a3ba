"""Limits of counters: those that a device has, and those that a user gives a value.

In: counters.  Out: the names of their limits that are no machine parameter, such as the levels ``P_...`` of performance
counters and the limits that third parties make up.  They have the value that ``-D LIMIT=VALUE`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.diagnostics import CompileError
from comprehensive.loops.ir import Nest, Variant
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.protocols import Counter


def given_limits(limits: Iterable[str]) -> tuple[str, ...]:
    """Return the limits that no device has, sorted, each once: a user gives them a value."""
    return tuple(sorted({limit for limit in limits if limit not in MACHINE_PARAMETERS}))


def demand_other_names(nest: Nest, counters: Sequence[Counter[Variant]]) -> None:
    """Raise CompileError (CF0603) where a scalar of the nest has the name of a limit.

    Both stand in the same conditions.
    """
    limits = {counter.limit: counter.name for counter in counters}
    for scalar in nest.scalars:
        if scalar.name in limits:
            message = (
                f"'{scalar.name}' of region '{nest.name}' is the name of the limit of '{limits[scalar.name]}'"
            )
            help = f"rename '{scalar.name}', or leave the counter out"
            raise CompileError.of("CF0603", message, nest.span, help=help)
