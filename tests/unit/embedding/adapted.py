"""A plan with versions to try, made by hand, so that no test depends on what is predicted of a kernel."""

from __future__ import annotations

from dataclasses import replace

from comprehensive.codegen.plan import ProgramPlan
from comprehensive.codegen.versions import ORIGINAL, Adaptation, Candidate, Version
from tests import compiled_specs

PERSISTENT = "grid-stride{warps=8}"


def planned() -> ProgramPlan:
    """matadd: two limits of registers along the direction, persistent blocks against it."""
    plan = compiled_specs.compiled("matadd").plan
    (function,) = plan.functions
    leaves = function.kernels_of(0)
    pipelines = ("register-cap{registers=32}", "register-cap{registers=24}", PERSISTENT)
    versions = (ORIGINAL, *(Version.of(pipeline, leaves) for pipeline in pipelines))
    adaptation = Adaptation((Candidate(0), Candidate(1), Candidate(2, 64), Candidate(3)), 2)
    return replace(plan, functions=(replace(function, versions=versions, adaptation=adaptation),))
