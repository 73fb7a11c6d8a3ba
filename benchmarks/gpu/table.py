"""Outcomes as Markdown: the ceilings, ours beside the best peer, and everything that was timed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.gpu import peers
from benchmarks.gpu.cases import CEILINGS, COPY, COPY_BY_DRIVER, FMA, Case
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.peers import OURS, PEERS

HOW = """\
Times are medians of a run in milliseconds, with the shortest and the longest beside them, on warm data; a sample is a
row of launches between two events. Every result was compared with a reference in double precision, element by element,
before it was timed; of several variants the fastest right one stands here. Rates count every array once a sweep, read
or written, and two operations for a multiply and an add. The ceiling of a case is the longer one of its traffic at the
rate of the best copy and its operations at the rate of multiply-adds in registers; a share of it above 1 means that
data stayed on chip from one sweep to the next, or from one run to the next. Speeds are times of the fastest peer
(beside figure 4: of that shape) over own times: 2 is twice as fast. Products: ours and the figure-4 shape add to c, the
others write it."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results so far; ``about`` says where and when."""

    about: str
    cases: Sequence[Case]
    outcomes: Mapping[tuple[str, str], Outcome]
    """The outcomes by the names of case and peer."""

    def of(self, case: Case) -> list[Outcome]:
        """Outcomes of the peers in their order, ours first."""
        found = (self.outcomes.get((case.name, peer.name)) for peer in PEERS)
        return [outcome for outcome in found if outcome is not None]

    def best_peer(self, case: Case) -> Outcome | None:
        """The fastest of those that are not ours."""
        ran = [outcome for outcome in self.of(case) if outcome.ran and outcome.peer != OURS.name]
        return min(ran, key=lambda outcome: outcome.median, default=None)

    def floor(self, case: Case) -> float | None:
        """Milliseconds that the ceilings leave at least; None where one that matters was not measured."""
        copies, adds = self._ceiling((COPY, COPY_BY_DRIVER)), self._ceiling((FMA,))
        floors = [copies and case.traffic / copies / 1e6, adds and case.operations / adds / 1e9]
        return None if None in floors else max(floor for floor in floors if floor is not None)

    def share(self, case: Case, outcome: Outcome) -> float | None:
        """Return the share of the ceiling that an outcome reaches; None where there is no ceiling."""
        floor = self.floor(case)
        return None if floor is None else floor / outcome.median

    def _ceiling(self, ceilings: Iterable[Case]) -> float | None:
        rates = [
            case.rate(found.median)
            for case in ceilings
            if (found := self.outcomes.get((case.name, peers.CEILINGS.name))) is not None and found.ran
        ]
        return max(rates, default=None)


def report(results: Results) -> str:
    """The whole text, ending in a newline."""
    parts = [
        results.about,
        HOW,
        "Ceilings:",
        markdown_table(("what", "ms", "spread", "rate", "variant"), _ceilings(results)),
        "Ours beside the fastest peer:",
        markdown_table(
            (
                "case",
                "ours, ms",
                "spread",
                "rate",
                "of ceiling",
                "fastest peer",
                "its ms",
                "speed",
                "beside figure 4",
                "parameters",
            ),
            (_ours(results, case) for case in results.cases),
        ),
        "Everything:",
        markdown_table(
            ("case", "who", "ms", "spread", "rate", "of ceiling", "speed", "variant", "remarks"),
            (_everything(results, case, outcome) for case in results.cases for outcome in results.of(case)),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _ceilings(results: Results) -> list[list[str]]:
    rows: list[list[str]] = []
    for case in CEILINGS:
        found = results.outcomes.get((case.name, peers.CEILINGS.name))
        if found is not None:
            times = [*_times(found), _rate(case, found)] if found.ran else ["did not run", "", ""]
            rows.append([case.name, *times, found.what or found.reason])
    return rows


def _ours(results: Results, case: Case) -> list[str]:
    found, best = results.outcomes.get((case.name, OURS.name)), results.best_peer(case)
    figure4 = results.outcomes.get((case.name, "figure4"))
    peer = ["", ""] if best is None else [peers.BY_NAME[best.peer].title, f"{best.median:.3f}"]
    if found is None or not found.ran:
        return [case.name, "did not run", "", "", "", *peer, "", "", "" if found is None else found.reason]
    return [
        case.name,
        *_times(found),
        _rate(case, found),
        _number(results.share(case, found)),
        *peer,
        _number(best and best.median / found.median),
        _number(figure4.median / found.median if figure4 is not None and figure4.ran else None),
        found.what,
    ]


def _everything(results: Results, case: Case, outcome: Outcome) -> list[str]:
    who = [case.name, peers.BY_NAME[outcome.peer].title]
    if not outcome.ran:
        return [*who, "did not run", "", "", "", "", "", outcome.reason]
    best = results.best_peer(case)
    return [
        *who,
        *_times(outcome),
        _rate(case, outcome),
        _number(results.share(case, outcome)),
        _number(best and best.median / outcome.median),
        outcome.what,
        outcome.note,
    ]


def _times(outcome: Outcome) -> list[str]:
    shortest, longest = outcome.spread
    return [f"{outcome.median:.3f}", f"{shortest:.3f}..{longest:.3f}"]


def _rate(case: Case, outcome: Outcome) -> str:
    rate = case.rate(outcome.median)
    return (
        f"{rate:.2f} {case.measured_in}"
        if case.measured_in == "TFLOP/s"
        else f"{rate:.0f} {case.measured_in}"
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
