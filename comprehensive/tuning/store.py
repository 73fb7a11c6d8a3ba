"""Remembers what was found: results and observations in, the same and what is missing out.

    with Store.open(Path("tuning.sqlite")) as store:
        store.record(subject, Result(candidate, "ok", times_us=(812.5, 811.0, 813.1)))
        store.results(subject, "matmul", (("n", 1024),))

Every result is in the file when ``record`` returns: a run that is killed loses what it was measuring and nothing else.
Nothing is ever overwritten; of several results of a candidate the last one counts.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from comprehensive.tuning.candidates import Candidate
from comprehensive.tuning.database import LOCK_TIMEOUT_S, diagnosed, open_database

STATUSES = {
    "ok": "right, and timed",
    "hopeless": "right, and much slower than another one: timed once",
    "wrong": "another result than the serial C",
    "other": "the program itself means something else with these parameters",
    "unverified": "what is right could not be computed",
    "refused": "the launcher does not launch it",
    "compile-error": "a compiler rejects it, or its passes cannot be run",
    "unchanged": "its passes change nothing",
    "crash": "the process or the device did not survive it",
    "hang": "it did not end in time",
    "lost": "the worker was lost, twice",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """The circumstances of results: where one of them differs, so may the results."""

    source: str
    """SHA-256 of the program."""
    tool: str
    options: str
    """The options that shape the generated code, as JSON, with a digest of that."""
    device: str
    compute_capability: str
    driver: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a candidate.

    Times are of one launch; ``registers`` and ``spill_bytes`` are of a thread of a leaf's kernel.
    """

    candidate: Candidate
    status: str
    reason: str = ""
    verified: str = ""
    leaf: int | None = None
    """The leaf or tile that ran last."""
    times_us: tuple[float, ...] = ()
    median_us: float | None = None
    launches: int | None = None
    """The number of launches that each time is of."""
    registers: int | None = None
    spill_bytes: int | None = None
    measured_at: str = ""
    measured_on: str = ""
    """The device of several on which a measuring process has answered."""

    @property
    def runs(self) -> int:
        """The number of times."""
        return len(self.times_us)


@dataclass(frozen=True, slots=True)
class Observation:
    """A launch of a program in use; ``parameters`` are the members of ``<function>_params``."""

    function: str
    device: str
    sizes: tuple[tuple[str, int], ...]
    parameters: tuple[tuple[str, int], ...]
    leaf: int
    microseconds: float
    pipeline: str = ""
    """The passes of the version of the kernel that ran."""


_COLUMNS = """function, sizes, candidate, parameters, pipeline, status, reason, verified, leaf, times_us, median_us,
launches, registers, spill_bytes, measured_at, measured_on"""


class Store:
    """An open database; methods raise CommandLineError as :func:`open_database` does."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @staticmethod
    def open(path: Path, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Store:
        """The store in a file, which is made where there is none."""
        return Store(path, open_database(path, lock_timeout_s))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def record(self, subject: Subject, result: Result) -> None:
        """Adds a result; it is on the disk when this returns."""
        candidate = result.candidate
        values = (
            candidate.function,
            json.dumps(candidate.sizes),
            candidate.key,
            json.dumps(candidate.parameters),
            candidate.pipeline,
            result.status,
            result.reason,
            result.verified,
            result.leaf,
            json.dumps(result.times_us),
            result.median_us,
            result.launches,
            result.registers,
            result.spill_bytes,
            result.measured_at,
            result.measured_on,
        )
        marks = ", ".join("?" * len(values))
        with diagnosed(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            number = self._number(subject)
            self._connection.execute(
                f"INSERT INTO results (subject, {_COLUMNS}) VALUES (?, {marks})", (number, *values)
            )

    def _number(self, subject: Subject) -> int:
        values = (
            subject.source,
            subject.tool,
            subject.options,
            subject.device,
            subject.compute_capability,
            subject.driver,
        )
        columns = "source, tool, options, device, compute_capability, driver"
        self._connection.execute(
            f"INSERT OR IGNORE INTO subjects ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values
        )
        condition = " AND ".join(f"{column} = ?" for column in columns.split(", "))
        ((number,),) = self._connection.execute(f"SELECT id FROM subjects WHERE {condition}", values)
        return number

    def results(
        self, subject: Subject, function: str, sizes: tuple[tuple[str, int], ...]
    ) -> Mapping[str, Result]:
        """The last result of every candidate, by :attr:`Candidate.key`, in the order of their first results."""
        wanted = (function, json.dumps(sizes))
        return {
            result.candidate.key: result
            for found, result in self.everything(subject.source)
            if found == subject and (result.candidate.function, json.dumps(result.candidate.sizes)) == wanted
        }

    def everything(self, source: str) -> Iterator[tuple[Subject, Result]]:
        """All results of a program, oldest first."""
        query = f"""SELECT source, tool, options, device, compute_capability, driver, {_COLUMNS}
            FROM results JOIN subjects ON subjects.id = results.subject WHERE source = ? ORDER BY results.id"""
        with diagnosed(self.path), closing(self._connection.execute(query, (source,))) as rows:
            for row in rows:
                yield Subject(*row[:6]), _result(*row[6:])

    def observe(self, source: str, observations: Iterable[Observation], log: str = "") -> int:
        """Adds launches of a program in use; how many are new.

        A log may be read again when it has grown: the second one of two equal lines of it is the second one again.
        """
        rows: list[tuple[object, ...]] = []
        seen: Counter[Observation] = Counter()
        for each in observations:
            seen[each] += 1
            where = (source, each.function, each.device, json.dumps(each.sizes), json.dumps(each.parameters))
            rows.append((*where, each.leaf, each.pipeline, each.microseconds, log, seen[each]))
        columns = "source, function, device, sizes, parameters, leaf, pipeline, microseconds, log, occurrence"
        with diagnosed(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            before = self._connection.total_changes
            self._connection.executemany(
                f"INSERT OR IGNORE INTO observations ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
            return self._connection.total_changes - before

    def observations(self, source: str) -> Iterator[Observation]:
        """All observations of a program, oldest first."""
        query = """SELECT function, device, sizes, parameters, leaf, microseconds, pipeline FROM observations
            WHERE source = ? ORDER BY id"""
        with diagnosed(self.path), closing(self._connection.execute(query, (source,))) as rows:
            for function, device, sizes, parameters, *rest in rows:
                yield Observation(function, device, _pairs(sizes), _pairs(parameters), *rest)


def _result(function: str, sizes: str, _: str, parameters: str, pipeline: str, *rest: Any) -> Result:
    status, reason, verified, leaf, times_us, median_us, *others = rest
    candidate = Candidate(function, _pairs(sizes), _pairs(parameters), pipeline)
    return Result(candidate, status, reason, verified, leaf, tuple(json.loads(times_us)), median_us, *others)


def _pairs(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, value) for name, value in json.loads(text))


def now() -> str:
    """The time, in UTC."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
