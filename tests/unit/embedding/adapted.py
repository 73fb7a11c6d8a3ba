"""A plan with versions to try, made by hand, so that no test depends on what is predicted of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import ORIGINAL, Adaptation, Candidate, Version
from comprehensive.records import replace
from tests import compiled_specs

CAPS = ("register-cap{registers=32}", "register-cap{registers=24}")
NUMBERED = ",grid-stride"
PERSISTENT = "grid-stride{warps=8}"


def planned_in_parts() -> ProgramPlan:
    """The same with blocks of one size, whose numbers launches name; the last version is the original in this form."""
    return _planned((CAPS[0] + NUMBERED, CAPS[1] + NUMBERED, PERSISTENT, "grid-stride"), 0, parts=4)


def planned() -> ProgramPlan:
    """matadd: two limits of registers along the direction, persistent blocks against it."""
    return _planned((*CAPS, PERSISTENT), 64)


def _planned(pipelines: Sequence[str], threads: int, parts: int = 0) -> ProgramPlan:
    plan = compiled_specs.compiled("matadd").plan
    (function,) = plan.functions
    leaves = function.kernels_of(0)
    versions = (ORIGINAL, *(Version.of(pipeline, leaves) for pipeline in pipelines))
    adaptation = Adaptation((Candidate(0), Candidate(1), Candidate(2, threads), Candidate(3)), 2, parts)
    return replace(plan, functions=(replace(function, versions=versions, adaptation=adaptation),))
