"""Many programs, one after the other, in several processes; findings are shrunk and written, and everything is counted.

In: a seed, a time, constructs to leave out.  Out: a :class:`Tally` of what ran.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.grammar.program import Generated, generate
from tests.fuzz.isolated import Lost, TaskError, isolated
from tests.fuzz.kernels import Tools, prepare
from tests.fuzz.oracle import Depth, Examination, Finding, examine
from tests.fuzz.shrink import shrink

CPU_S = 120
"""The time of a processor that a program may take: what takes longer is a finding, however busy the machine is."""
TIMEOUT_S = 1800.0
"""The limit of wall time, for what waits and computes nothing."""
SHRINK_S = 60.0
THOROUGH = 0.06
"""The share of the programs on which everything is tried."""


@dataclass
class Tally:
    """The count of what ran. ``findings`` has the first one of each kind with its file, ``alike`` how often each came
    up."""

    programs: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    warned: Counter[str] = field(default_factory=Counter[str])
    constructs: Counter[str] = field(default_factory=Counter[str])
    accepted: Counter[str] = field(default_factory=Counter[str])
    counts: Counter[str] = field(default_factory=Counter[str])
    alike: Counter[str] = field(default_factory=Counter[str])
    findings: dict[str, tuple[Finding, str]] = field(default_factory=dict[str, tuple[Finding, str]])

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.seconds = max(self.seconds, other.seconds)
        for mine, theirs in (
            (self.outcomes, other.outcomes),
            (self.refused, other.refused),
            (self.warned, other.warned),
            (self.constructs, other.constructs),
            (self.accepted, other.accepted),
            (self.counts, other.counts),
            (self.alike, other.alike),
        ):
            mine.update(theirs)
        self.findings = {**other.findings, **self.findings}

    def note(self, generated: Generated, examination: Examination) -> None:
        """Counts a program."""
        self.programs += 1
        self.outcomes[examination.outcome] += 1
        self.constructs.update(generated.used)
        if examination.outcome == "accepted":
            self.accepted.update(generated.used)
        if examination.outcome == "refused":
            self.refused.update(examination.codes)
        self.warned.update(examination.warnings)
        self.counts.update(examination.counts)
        self.alike.update({f.key for f in examination.findings})


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a worker: programs ``seed:first``, ``seed:first + stride``... until time or number are used up. until
    time or number are used up."""

    seed: int
    first: int
    stride: int
    seconds: float
    programs: int | None
    findings: Path
    without: frozenset[str]
    shrink_s: float = SHRINK_S
    thorough: float = THOROUGH


def run(plans: Iterable[Plan]) -> Tally:
    """All plans, each in a process of its own."""
    jobs = list(plans)
    if len(jobs) == 1:
        return work(jobs[0])
    total = Tally()
    # Forked processes would share nothing that is loaded yet; fresh ones fork their own tasks.
    with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
        for tally in pool.imap_unordered(work, jobs):
            total.add(tally)
    return total


def work(plan: Plan) -> Tally:
    """One worker."""
    begun = time.monotonic()
    tally = Tally()
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        tools = prepare(scratch)
        number = plan.first
        _warm_up(scratch, tools)
        while (
            plan.programs is None or tally.programs < plan.programs
        ) and time.monotonic() - begun < plan.seconds:
            seed = f"{plan.seed}:{number}"
            generated = generate(seed, plan.without)
            thorough = random.Random(f"thorough {seed}").random() < plan.thorough
            examination = tried(generated.text, seed, scratch, tools, Depth(thorough=thorough))
            tally.note(generated, examination)
            for finding in examination.findings:
                if finding.key not in tally.findings:
                    written = _write(plan, finding, generated.text, seed, scratch, tools, thorough=thorough)
                    tally.findings[finding.key] = (finding, written)
                    print(f"finding {finding.key}: {written}", file=sys.stderr, flush=True)
            number += plan.stride
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    tally.seconds = time.monotonic() - begun
    return tally


def tried(text: str, seed: str, scratch: Path, tools: Tools, depth: Depth) -> Examination:
    """The examination of a text; what takes its process with it is a finding, too."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    path = folder / "program.mf"
    path.write_text(text, encoding="utf-8")

    def task(stage: Callable[[str], None]) -> Examination:
        return examine(path, seed, folder, tools, depth, stage)

    try:
        result = isolated(task, TIMEOUT_S, CPU_S)
        if isinstance(result, Lost):
            signature = f"{result.how} at {result.stage.split(' at ')[0]}"
            finding = Finding("lost", signature, f"{result.how} after {result.seconds:.0f} s: {result.stage}")
            return Examination("failed", findings=[finding])
        return result
    except TaskError as error:
        # A mistake of this fuzzer, which is to be mended as well, and ends nothing.
        last = str(error).strip().splitlines()[-1]
        return Examination("failed", findings=[Finding("fuzzer", last[:120], str(error))])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _warm_up(scratch: Path, tools: Tools) -> None:
    """Everything that is read or built once is read or built here, so that forked tasks find it."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    path = folder / "warm.mf"
    path.write_text(
        "void f(int n, const float x[n], float y[n], int B)\n"
        "{ meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = x[i]; } }\n"
    )
    examine(path, "warm", folder, tools, Depth(points=1), lambda _: None)


def _write(
    plan: Plan, finding: Finding, text: str, seed: str, scratch: Path, tools: Tools, *, thorough: bool
) -> str:
    """The reproducer of a finding, shrunk, with how to repeat it; the name of its file."""

    def holds(candidate: str) -> bool:
        again = tried(candidate, seed, scratch, tools, Depth(thorough=thorough))
        return any(f.key == finding.key for f in again.findings)

    small = shrink(text, holds, plan.shrink_s) if finding.kind != "lost" else text
    again = tried(small, seed, scratch, tools, Depth(thorough=thorough))
    detail = next((f.detail for f in again.findings if f.key == finding.key), finding.detail)
    plan.findings.mkdir(parents=True, exist_ok=True)
    stem = f"{finding.kind.replace(' ', '_')}_{seed.replace(':', '_')}"
    path = plan.findings / f"{stem}.mf"
    flag = " --thorough" if thorough else ""
    told = "\n   ".join(f"{finding.key}\n{detail}".replace("*/", "* /").splitlines())
    path.write_text(
        f"/* python -m tests.fuzz.programs --replay {path} --seed {seed}{flag}\n   {told} */\n{small}",
        encoding="utf-8",
    )
    (plan.findings / f"{stem}.whole.mf").write_text(text, encoding="utf-8")
    return str(path)
