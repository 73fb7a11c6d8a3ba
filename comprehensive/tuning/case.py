"""One function at given sizes on one target: what is tried, what the answers mean, what is recorded.

In: a session, a plan and sizes.  Out: :class:`Tuned`, the results of all chosen candidates, old and new.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.plan.versions import KernelKey
from comprehensive.records import replace
from comprehensive.tuning import measuring
from comprehensive.tuning.candidates import Candidate, Order, candidates, capped, points, tile_of
from comprehensive.tuning.expected import Expected, Unknown, expected, reference_of, same_meaning
from comprehensive.tuning.expected_order import by_expected_cost
from comprehensive.tuning.libraries import Ready, Unusable
from comprehensive.tuning.pools import Lost, answers
from comprehensive.tuning.problems import Problem, problem, scaled_names
from comprehensive.tuning.session import Session
from comprehensive.tuning.store import Result, Subject, now

HOPELESS = 3.0
"""A candidate that takes so many times the best one is timed once."""
TRIED_AGAIN = ("lost", "unverified")
"""The failures that a candidate is not to blame for."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The results of the chosen candidates of a function; ``measured`` of them were tried now.

    ``missing`` counts those that there was no time for, None where the time was over before any were chosen: the
    results are then those that the store has from earlier runs.
    """

    subject: Subject
    function: str
    sizes: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    measured: int
    missing: int | None = 0


class Case:
    """The tuning of one function at given sizes; CommandLineError for sizes at which it cannot be run."""

    def __init__(self, session: Session, plan: FunctionPlan, sizes: Mapping[str, int]) -> None:
        self._session, self._plan, self._sizes = session, plan, dict(sizes)
        self._choices = session.choices
        self._problem = self._problem_at(sizes)
        name = plan.function.name
        self._known = dict(session.store.results(session.subject, name, tuple(sizes.items())))
        self._measured = 0
        self._written: list[Path] = []
        self._expected: Expected | Unknown | None = None
        self._meanings: dict[tuple[tuple[str, int], ...], bool | None] = {}

    def close(self) -> None:
        """Removes reference results, which are large."""
        for place in self._written:
            shutil.rmtree(reference_of(place), ignore_errors=True)
            place.unlink(missing_ok=True)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """All that may be tried without passes."""
        device = self._session.target.limits
        return candidates(self._plan, self._sizes, self._problem.baseline, self._choices.domains, device)

    @cached_property
    def ordered(self) -> Order:
        """The order in which candidates are tried."""
        return self._choices.order or by_expected_cost(self._plan, self._session.target.limits)

    def measure(self, chosen: Sequence[Candidate]) -> tuple[Result, ...]:
        """Measure these candidates, as far as the store does not have them yet; return their results in order."""
        self._measure(chosen)
        return tuple(self._known[candidate.key] for candidate in chosen)

    def tune(self) -> Tuned:
        """Measure candidates as the program is, then the best ones through passes, while there is time."""
        name, sizes = self._plan.function.name, tuple(self._sizes.items())
        if self._session.watch.is_over():
            known = tuple(self._known.values())
            return Tuned(self._session.subject, name, sizes, known, self._measured, missing=None)
        chosen = tuple(self.ordered(self.candidates)[: self._choices.top])
        self._tell(f"{len(chosen)} of {len(self.candidates)} candidates")
        self._measure(chosen)
        through = self._through_passes(chosen, self.ordered)
        self._measure(through)
        wanted = (*chosen, *through)
        results = tuple(self._known[c.key] for c in wanted if c.key in self._known)
        missing = len(wanted) - len(results)
        return Tuned(self._session.subject, name, sizes, results, self._measured, missing)

    def _through_passes(self, chosen: Sequence[Candidate], order: Order) -> tuple[Candidate, ...]:
        """The best leaves with fewer registers, and the best candidates with each pipeline that is asked for."""
        if not self._session.target.on_gpu:
            return ()  # nothing else has PTX
        choices, device = self._choices, self._session.target.limits
        timed = [c for c in chosen if self._time_us(c) is not None]
        best = sorted(timed, key=lambda c: (self._time_us(c), c.key))
        leaves = [c for c in best if tile_of(self._plan, c) == 0][: choices.capped_leaves]
        fewer = [cap for leaf in leaves for cap in order(capped(self._plan, leaf, device))]
        asked = [replace(c, pipeline=p) for p in choices.pipelines for c in best[: choices.passed]]
        return tuple(dict.fromkeys((*fewer, *asked)))

    def _problem_at(self, sizes: Mapping[str, int], point: Mapping[str, int] | None = None) -> Problem:
        """Return the problem at these sizes, with the baseline or with other program parameters."""
        # Several values of a parameter are to be chosen from; a single one says what the program is to mean.
        fixed = {name: values for name, values in self._choices.domains.items() if len(values) == 1}
        tried = points(self._plan, fixed) if point is None else [point]
        return problem(self._plan, sizes, tried, self._choices.scalars)

    def _write(self, problem: Problem) -> Path:
        place = problem.write(self._session.directory)
        self._written.append(place)
        return place

    def _tell(self, words: str) -> None:
        shown = ", ".join(f"{name} = {value}" for name, value in self._sizes.items())
        self._session.tell(f"{self._plan.function.name} at {shown} on {self._session.target.name}: {words}")

    def _time_us(self, candidate: Candidate) -> float | None:
        result = self._known.get(candidate.key)
        return None if result is None or result.status != "ok" else result.median_us

    def _measure(self, chosen: Sequence[Candidate]) -> None:
        """Measure those of the candidates of which the store has no result yet, while there is time."""
        watch = self._session.watch
        missing = [c for c in chosen if c.key not in self._known or self._known[c.key].status in TRIED_AGAIN]
        if not missing or watch.is_over():
            return
        right = self._right()
        if isinstance(right, Unknown):
            for candidate in missing:
                self._record(Result(candidate, "unverified", right.reason))
            return
        if watch.is_over():
            return
        ready = self._compiled(missing)
        ready.sort(key=lambda each: self._spills(*each))
        session = self._session
        found = answers(
            session.measure_pool,
            measuring.measure,
            takewhile(lambda _: not watch.is_over(), ready),
            lambda each: self._job(*each, right),
            lambda: measuring.end(session.run),
        )
        with closing(found) as stream:
            for (candidate, library), answer in stream:
                self._record(self._result(candidate, library, answer, right))

    def _right(self) -> Expected | Unknown:
        if self._expected is None:
            self._tell("running the serial C")
            self._expected = expected(
                lambda sizes: self._write(self._problem_at(sizes)),
                self._sizes,
                scaled_names(self._plan),
                self._session.serial,
                self._choices.limits.reference_s,
            )
        return self._expected

    def _compiled(self, missing: Sequence[Candidate]) -> list[tuple[Candidate, Ready]]:
        """Return the candidates whose kernels could be compiled, and record what becomes of the others."""
        kernels: dict[str, tuple[KernelKey, ...]] = {}
        for candidate in missing:
            own = self._plan.kernels_of(tile_of(self._plan, candidate))
            kernels[candidate.pipeline] = (*kernels.get(candidate.pipeline, ()), *own)
        self._tell(f"compiling for {len(kernels)} pipelines" if any(kernels) else "compiling")
        found = self._session.libraries(self._plan.function.name, kernels)
        ready: list[tuple[Candidate, Ready]] = []
        for candidate in missing:
            library = found[candidate.pipeline]
            if isinstance(library, Unusable):
                self._record(Result(candidate, library.status, library.reason))
            else:
                ready.append((candidate, library))
        return ready

    def _spills(self, candidate: Candidate, library: Ready) -> bool:
        """Return whether leaves that were given fewer registers spill: those come last."""
        names = [leaf.kernel.name for region in self._plan.regions for leaf in region.leaves]
        used = [library.usage(name, candidate.pipeline) for name in names]
        return bool(candidate.pipeline) and any(u is not None and u.spill_store_bytes for u in used)

    def _job(self, candidate: Candidate, library: Ready, right: Expected) -> measuring.Job:
        session, limits = self._session, self._choices.limits
        host = interface(self._plan)
        partner = dict(self._problem.baseline) | ({} if host.tile is None else {host.tile: -1})
        best = [
            time_us for time_us in map(self._time_us, (r.candidate for r in self._known.values())) if time_us
        ]
        return {
            "run": session.run,
            "settings": session.settings,
            "prepare_s": limits.prepare_s,
            "limit_s": limits.candidate_s,
            "library": library.path,
            "device": [session.target.name, session.target.compute_capability],
            "problem": str(right.problem),
            "smaller": None if right.smaller is None else str(right.smaller),
            "parameters": [
                *(value for _, value in candidate.parameters),
                *library.numbers(candidate.pipeline),
            ],
            "partner": [*partner.values(), *library.numbers("")],
            "hopeless_us": HOPELESS * min(best) if best else None,
        }

    def _result(
        self, candidate: Candidate, library: Ready, answer: measuring.Answer | Lost, right: Expected
    ) -> Result:
        """Return the result that an answer means."""
        if isinstance(answer, Lost):
            return Result(candidate, "lost", answer.reason)
        status, reason = str(answer["status"]), str(answer["reason"])
        if status == "wrong" and self._means_other(candidate, right):
            baseline = ", ".join(f"{name} = {value}" for name, value in self._problem.baseline.items())
            status, reason = "other", f"the serial C, too, computes something else than with {baseline}"
        leaf = answer.get("leaf")
        timed = status in ("ok", "hopeless")
        return Result(
            candidate,
            status,
            reason,
            right.shown if timed else "",
            leaf,
            tuple(answer.get("times_us", ())),
            answer.get("median_us"),
            answer.get("launches"),
            measured_on=str(answer.get("measured_on", "")),
            **self._usage(candidate, library, leaf),
        )

    def _usage(self, candidate: Candidate, library: Ready, leaf: int | None) -> dict[str, Any]:
        """Return the resources of the kernel of a leaf; of several regions, the most that one of them takes."""
        if tile_of(self._plan, candidate) != 0 or leaf is None:
            return {}
        kernels = [each.kernel.name for r in self._plan.regions for each in r.leaves if each.index == leaf]
        found = (library.usage(name, candidate.pipeline) for name in kernels)
        used = [usage for usage in found if usage is not None]
        if not used:
            return {}
        return {
            "registers": max(usage.registers_per_thread for usage in used),
            "spill_bytes": max(usage.spill_store_bytes for usage in used),
        }

    def _means_other(self, candidate: Candidate, right: Expected) -> bool:
        """Whether the program itself computes something else with the parameters of the candidate."""
        program = {a.name for a in interface(self._plan).program}
        point = tuple((name, value) for name, value in candidate.parameters if name in program)
        if dict(point) == dict(self._problem.baseline):
            return False
        if point not in self._meanings:
            other = self._write(self._problem_at(right.reference_sizes, dict(point)))
            limit_s = self._choices.limits.reference_s
            self._meanings[point] = same_meaning(right.reference, other, self._session.serial, limit_s)
        return self._meanings[point] is False

    def _record(self, result: Result) -> None:
        result = replace(result, measured_at=now())
        self._session.store.record(self._session.subject, result)
        self._known[result.candidate.key] = result
        self._measured += 1
        time = "" if result.median_us is None else f" {result.median_us:.2f} us"
        self._tell(f"{result.candidate.shown}: {result.status}{time}{result.reason and ': '}{result.reason}")
