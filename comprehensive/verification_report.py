"""The report of ``check``: the verdicts on a program, as text and as JSON.

In: what `verification.py` has found.  Out: a :class:`Report`, and a line for each statement::

    to_text(report)     -->  "ok   (ii) code soundness: 20 executions of the interpreter agree with the source" ..
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from comprehensive.soundness.emulated import LeafRuns
from comprehensive.soundness.rewritten import Rewritten
from comprehensive.soundness.state import State

_MARKS = {State.HOLDS: "ok  ", State.FAILS: "FAIL", State.NOT_CHECKED: "--  "}


class Condition(Struct, frozen=True):
    """One statement; ``evidence`` says how far it was checked or why not, ``failures`` what is wrong."""

    name: str
    state: State
    evidence: str
    failures: tuple[str, ...] = ()


class RegionReport(Struct, frozen=True):
    """The verdicts on one region.

    ``endless`` names the loop of the source that the interpreter gave up on, if there is one.
    """

    name: str
    conditions: tuple[Condition, ...]
    endless: str | None = None


class Report(Struct, frozen=True):
    """The verdicts on a program; ``runs`` is None where running the code was not asked for."""

    regions: tuple[RegionReport, ...]
    runs: tuple[LeafRuns, ...] | None
    indices: tuple[str, ...] = ()
    """Arrays that say where plain stores go."""
    duplicates: bool = False
    """Whether indices occur twice in them; else none does."""
    rewritten: Rewritten | None = None
    """The kernels as passes rewrite them, where there are passes."""

    @property
    def states(self) -> tuple[State, ...]:
        """The states of all statements: conditions of regions, then runs of leaves."""
        conditions = tuple(c.state for region in self.regions for c in region.conditions)
        passes = () if self.rewritten is None else (self.rewritten.state,)
        return conditions + tuple(run.state for run in self.runs or ()) + passes

    @property
    def holds(self) -> bool:
        """Whether nothing failed; what was not checked is counted by :attr:`unchecked`."""
        return State.FAILS not in self.states

    @property
    def unchecked(self) -> int:
        return self.states.count(State.NOT_CHECKED)


def to_text(report: Report) -> str:
    """Return the report as text for a terminal."""
    lines: list[str] = []
    for region in report.regions:
        lines.append(region.name)
        for condition in region.conditions:
            told = f"{_unless_checked(condition.state)}{condition.evidence}"
            lines.append(f"  {_MARKS[condition.state]} {condition.name}: {told}")
            lines += [f"       {failure}" for failure in condition.failures[:5]]
    if report.indices:
        lines.append(_drawn(report))
    if report.runs is None:
        lines.append("emitted code on the CPU: not run, as asked for")
    else:
        lines += run_lines(report.runs)
    if report.rewritten is not None:
        lines += _passes_lines(report.rewritten)
    lines.append(summary(report))
    return "\n".join(lines) + "\n"


def _passes_lines(found: Rewritten) -> list[str]:
    """The lines about passes over PTX."""
    told = (
        f"{len(found.tried)} kernels that '{found.passes}' has changed run in the PTX interpreter as before"
    )
    if found.failures:
        told = f"'{found.passes}' changes what kernels compute"
    elif found.untried:
        told = f"{', '.join(found.untried)} behind '{found.passes}'"
    lines = [f"passes over PTX\n  {_MARKS[found.state]} {_unless_checked(found.state)}{told}"]
    return lines + [f"       {reason}" for reason in (*found.failures, *found.reasons)[:5]]


def _drawn(report: Report) -> str:
    """Return the line that says on which data the statements were tried."""
    names = ", ".join(f"'{name}'" for name in report.indices)
    if report.duplicates:
        return f"data: indices occur twice in {names}, as asked for"
    return f"data: no index occurs twice in {names}, which is assumed; `--duplicates` tries what happens otherwise"


def _unless_checked(state: State) -> str:
    return "not checked: " if state is State.NOT_CHECKED else ""


def summary(report: Report) -> str:
    """One line about all statements: what failed, what was not checked."""
    total, failed = len(report.states), report.states.count(State.FAILS)
    if failed:
        return f"{failed} of {total} statements FAIL, {report.unchecked} were not checked"
    if report.unchecked:
        return f"nothing fails, but {report.unchecked} of {total} statements were not checked"
    return f"all {total} statements hold"


def run_lines(runs: tuple[LeafRuns, ...]) -> list[str]:
    """A line a leaf about the emitted code run on the CPU."""
    lines = ["emitted code on the CPU against the serial C, bit for bit"] if runs else []
    if any(leaf.rounded for leaf in runs):
        lines[0] += "; sums in another order within rounding"
    before = ""
    for leaf in runs:
        passed = leaf.runs - len(leaf.failures)
        reason, before = "as above" if leaf.reason and leaf.reason == before else leaf.reason, leaf.reason
        told = reason or f"{passed} of {leaf.runs} points equal"
        if leaf.runs and leaf.refused:
            points = "1 point" if len(leaf.refused) == 1 else f"{len(leaf.refused)} points"
            told += f"; not run at {points}: {leaf.refused[0]}"
        lines.append(f"  {_MARKS[leaf.state]} {leaf.name}: {_unless_checked(leaf.state)}{told}")
        lines += [f"       {failure}" for failure in leaf.failures[:3]]
    return lines


def to_json(report: Report) -> dict[str, Any]:
    """The same as one JSON document; ``runs`` is null where running the code was not asked for."""
    return {
        "schema": 1,
        "holds": report.holds,
        "not_checked": report.unchecked,
        "indices": list(report.indices),
        "duplicates": report.duplicates,
        "regions": [
            {
                "name": region.name,
                "conditions": [
                    {
                        "name": c.name,
                        "state": c.state.value,
                        "evidence": c.evidence,
                        "failures": list(c.failures),
                    }
                    for c in region.conditions
                ],
            }
            for region in report.regions
        ],
        "passes": None
        if report.rewritten is None
        else {
            "pipeline": report.rewritten.passes,
            "state": report.rewritten.state.value,
            "tried": list(report.rewritten.tried),
            "not_tried": list(report.rewritten.untried),
            "failures": list(report.rewritten.failures),
            "reasons": list(report.rewritten.reasons),
        },
        "runs": None
        if report.runs is None
        else [
            {
                "region": r.region,
                "leaf": r.leaf,
                "kind": r.kind,
                "tile": r.tile,
                "state": r.state.value,
                "runs": r.runs,
                "reason": r.reason,
                "failures": list(r.failures),
                "refused": list(r.refused),
            }
            for r in report.runs
        ],
    }
