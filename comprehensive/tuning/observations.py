"""Times observed in production: the text of a log in, observations out, and what is wrong with the other lines.

A line has six fields with semicolons between them; empty lines and those that begin with ``#`` say nothing::

    matmul; NVIDIA H200; n=1024; B0=16 ub1=16 s=2 tile=1; 4; 43.875

They are the function, the device, the sizes, the members of ``<function>_params``, the leaf or tile that ran
(``cf_choice.leaf``), and microseconds; where a version of the kernel ran, a seventh field has its passes.
Names of one field stand in any order, with commas or spaces between them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from comprehensive.diagnostics import Diagnostic, Severity, SourceFile, Span
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import PLAIN
from comprehensive.tuning.problems import size_names
from comprehensive.tuning.store import Observation

FIELDS = ("function", "device", "sizes", "parameters", "leaf", "microseconds")
FORM = "function; device; n=1024; B=16 tile=1; leaf; microseconds"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(-?\d{1,19})", re.ASCII)
_NUMBER = re.compile(r"\d{1,15}(\.\d{0,15})?([eE][+-]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Read:
    """The observations read from a log; ``diagnostics`` are warnings (CF0921), one for each line that was skipped."""

    observations: tuple[Observation, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_log(log: SourceFile, plan: ProgramPlan) -> Read:
    """All lines that can be understood, as of the functions of the plan."""
    members = {
        f.function.name: (
            size_names(f),
            tuple(a.name for a in interface(f).members),
        )
        for f in plan.functions
    }
    found: list[Observation] = []
    problems: list[Diagnostic] = []
    offset = 0
    for line in log.text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            read = _observation(line, members)
            if isinstance(read, Observation):
                found.append(read)
            else:
                span = Span(log, offset, offset + max(1, len(line.rstrip())))
                message = f"line skipped: {read}"
                problems.append(
                    Diagnostic(Severity.WARNING, "CF0921", message, span, help=f"lines are like {FORM}")
                )
        offset += len(line) + 1
    return Read(tuple(found), tuple(problems))


def _observation(
    line: str, members: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> Observation | str:
    """Return what the line says, or what is wrong with it."""
    fields = [field.strip() for field in line.split(";")]
    if len(fields) not in (len(FIELDS), len(FIELDS) + 1):
        return f"{len(fields)} fields instead of {len(FIELDS)}"
    function, device, sizes_text, parameters_text, leaf, microseconds, *version = fields
    if function not in members:
        return f"the program has no function {function!r}; it has {', '.join(members)}"
    if not device:
        return "no name of a device"
    size_order, parameter_order = members[function]
    sizes = _assignments(sizes_text, size_order, "sizes")
    if isinstance(sizes, str):
        return sizes
    parameters = _assignments(parameters_text, parameter_order, "parameters")
    if isinstance(parameters, str):
        return parameters
    if not re.fullmatch(r"-1|\d{1,6}", leaf, re.ASCII):
        return f"the leaf is {leaf!r}, no number"
    if not _NUMBER.fullmatch(microseconds) or not 0 < float(microseconds) < math.inf:
        return f"the time is {microseconds!r}, no number of microseconds above 0"
    pipeline = "" if version == [PLAIN] else "".join(version)
    return Observation(function, device, sizes, parameters, int(leaf), float(microseconds), pipeline)


def _assignments(text: str, names: tuple[str, ...], what: str) -> tuple[tuple[str, int], ...] | str:
    found: dict[str, int] = {}
    for word in re.split(r"[,\s]+", text.strip()) if text.strip() else ():
        assignment = _ASSIGNMENT.fullmatch(word)
        if assignment is None or assignment[1] in found:
            return f"{word!r} among the {what} is no NAME=INTEGER, or is there twice"
        found[assignment[1]] = int(assignment[2])
    if found.keys() != set(names):
        return f"the {what} are of {', '.join(found) or 'nothing'}, not of {', '.join(names) or 'nothing'}"
    return tuple((name, found[name]) for name in names)
