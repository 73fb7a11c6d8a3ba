"""One program tried: is what the tool says of it, and what it makes of it, right?

In: the path of a `.mf` file and a seed.  Out: an :class:`Examination`, with everything that is wrong as findings:

- the tool ends with a compilation or with diagnostics, never with another exception;
- a program that it accepts without doubt has no two conflicting parallel iterations at any point that is run, and one
  that it refuses for a conflict (or a subscript) has them at some point;
- what it writes compiles, is the same bytes in another process, and chooses as ``explain`` says;
- every leaf and every tile computes what the serial C computes, bit for bit, on arrays of exactly the elements that
  the serial program touches between pages that nobody may touch.

Points at which C leaves the serial program undefined are passed over.
"""

from __future__ import annotations

import random
import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from comprehensive.diagnostics import CompileError, Diagnostic, Severity
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.loops.interpreter import EndlessLoopError, UndefinedBehaviour
from comprehensive.loops.ir import Role
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.records import replace
from comprehensive.runtime.cpu import CpuFaultError, CpuLibrary, Outcome
from comprehensive.runtime.guarded import Edge, GuardedProcess
from comprehensive.runtime.serial import SerialBuildError, SerialLibrary
from comprehensive.runtime.serial import build as build_serial
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.emulated import ROUNDING
from comprehensive.soundness.interpreted import result
from tests.fuzz import points
from tests.fuzz.cases import Case, cases_at
from tests.fuzz.grammar.expressions import LIBRARY
from tests.fuzz.kernels import DoesNotCompileError, Tools, build_kernels, header_errors
from tests.fuzz.nodes import UnbalancedError, parse, tokens_of
from tests.fuzz.points import Purpose
from tests.fuzz.recorder import NotCError, Recorder, Recording, Status
from tests.fuzz.recorder import build as build_recorder
from tests.fuzz.repeated import differs_in_another_process
from tests.fuzz.selection import expected_choices
from tests.fuzz.signature import Function

OPTIONS = Options(registers="estimate")
REASSOCIATED = 0.2
"""The share of the programs whose sums may be added up in another order."""
POINTS = 10
REFUSED_POINTS = 60
"""Points at which a conflict is looked for that the tool says there is."""
INTERPRETED = 20_000
"""Accesses of a run that the reference interpreter repeats."""
APPROXIMATE = frozenset(name for names in LIBRARY.values() for name in names)
CONFLICTS = frozenset({"CF0401", "CF0404"})
"""Errors that say that iterations are in conflict."""
SUBSCRIPTS = frozenset({"CF0402"})
"""Errors that say that an array is left."""
DOUBTS = frozenset({"CF0411"})
"""Warnings with which the tool leaves it to the user whether iterations are independent."""


def _lacks_shared_memory(outcome: Outcome) -> bool:
    """Whether the device on which kernels run here has too little for what the machine asked about would admit."""
    return outcome.constraint == "bytes of shared memory"


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` and ``signature`` say which findings are alike; ``detail`` is for the reader."""

    kind: str
    signature: str
    detail: str

    @property
    def key(self) -> str:
        return f"{self.kind}: {self.signature}"


@dataclass
class Examination:
    """``outcome``: "accepted", "refused", "not C" (by gcc), "failed"."""

    outcome: str = "accepted"
    codes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list[Finding])
    counts: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class Depth:
    """The depth of a trial: ``thorough`` adds what is only tried on some programs."""

    points: int = POINTS
    thorough: bool = False


def examine(
    path: Path, seed: str, work: Path, tools: Tools, depth: Depth, stage: Callable[[str], None]
) -> Examination:
    """Tries one program; ``stage`` is told what is tried next, for the case that it takes this process with it."""
    found = Examination()
    try:
        nodes = parse(path.read_text(encoding="utf-8"))
        recorder = build_recorder(nodes, work / "recorder", tools.c)
    except (NotCError, UnbalancedError) as error:
        found.outcome, found.codes = "not C", (str(error),)
        return found
    stage("compile")
    try:
        compilation = compile_file(path, _options(seed))
        stage("outputs")
        texts = outputs(compilation)
        interfaces = [interface(plan) for plan in compilation.plan.functions]
    except CompileError as error:
        found.outcome = "refused"
        found.codes = _codes(error.diagnostics, Severity.ERROR)
        found.warnings = _codes(error.diagnostics, Severity.WARNING)
        stage("refused")
        _refused(error.diagnostics, recorder, seed, found)
        return found
    except Exception as error:
        found.outcome = "failed"
        found.findings.append(Finding("exception", _place(error), traceback.format_exc(limit=-12)))
        return found
    found.warnings = _codes(compilation.diagnostics, Severity.WARNING)
    found.counts["programs with sums in another order"] += int(compilation.reassociated)
    stage("build")
    try:
        serial = build_serial(compilation.program, work / "serial", compiler=tools.c)
    except SerialBuildError as error:
        found.outcome, found.codes = "not C", (str(error),)
        return found
    try:
        kernels = build_kernels(compilation.plan.stem, texts, work / "kernels", interfaces, tools)
    except DoesNotCompileError as error:
        found.findings.append(Finding("does not compile", *_first_error(str(error))))
        return found
    if depth.thorough:
        stage("header")
        found.counts["headers compiled"] += 1
        for words in header_errors(compilation.plan.stem, work / "kernels", tools):
            found.findings.append(Finding("header does not compile", *_first_error(words)))
        stage("another process")
        found.counts["repeated in another process"] += 1
        different = differs_in_another_process(path, texts, work / "again", _options(seed))
        if different is not None:
            found.findings.append(Finding("another process", different.split("\n")[0][:100], different))
    with GuardedProcess(tools.guards, timeout_s=60) as process:
        first = 0
        for plan in compilation.plan.functions:
            runner = _Runner(compilation, plan, first, recorder, serial, kernels, process, seed, stage, found)
            runner.run(depth)
            first += len(plan.regions)
    return found


def _options(seed: str) -> Options:
    reassociate = random.Random(f"options {seed}").random() < REASSOCIATED
    return replace(OPTIONS, reassociate=reassociate)


def _codes(diagnostics: Sequence[Diagnostic], severity: Severity) -> tuple[str, ...]:
    return tuple(dict.fromkeys(d.code for d in diagnostics if d.severity is severity))


def _place(error: BaseException) -> str:
    """The type of an exception and the innermost functions of the tool that it went through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "comprehensive" in f.filename]
    names = " < ".join(f"{Path(f.filename).stem}.{f.name}" for f in reversed(frames[-2:]))
    return f"{type(error).__name__} in {names}"


def _first_error(words: str) -> tuple[str, str]:
    """The first error of a compiler, its names taken out, and all of its words."""
    match = re.search(r"(?:error|warning): (.*)", words)
    text = match[1] if match else words[:200]
    return re.sub(r"[‘'][^’']*[’']", "_", text)[:120], words[:3000]


# --- programs that the tool refuses ---------------------------------------------------------------------------


def _refused(diagnostics: Sequence[Diagnostic], recorder: Recorder, seed: str, found: Examination) -> None:
    """Check that a program refused for a conflict has one, and that one refused for a subscript leaves its array."""
    wanted = [d for d in diagnostics if d.severity is Severity.ERROR]
    codes = {d.code for d in wanted}
    if not codes or codes - CONFLICTS - SUBSCRIPTS:
        return
    witnesses = [_witness(d) for d in wanted]
    undefined = False
    for function in recorder.functions.values():
        for number in range(REFUSED_POINTS):
            drawn = points.arguments(function.parameters, {}, f"{seed}/refused", number)
            fixed = witnesses[number % len(witnesses)] if number % 3 != 2 else {}
            arguments = {**drawn, **{k: v for k, v in fixed.items() if k in drawn}}
            recording = _recorded(recorder, function, arguments, f"{seed}/refused", number)
            if recording is None:
                continue
            found.counts["points of refused programs"] += 1
            undefined |= bool(fixed) and recording.status is Status.UNDEFINED
            left = recording.status in (Status.SUBSCRIPT, Status.OUTSIDE)
            if (codes & CONFLICTS and recording.conflict is not None) or (codes & SUBSCRIPTS and left):
                found.counts[f"refusals confirmed: {' '.join(sorted(codes))}"] += 1
                return
    if undefined:  # the witness is a call that means nothing for another reason, too
        found.counts["refusals by a witness that is undefined"] += 1
        return
    told = "\n".join(f"{d.code}: {d.message}; " + "; ".join(n.message for n in d.notes) for d in wanted)
    found.findings.append(Finding("refused without reason", " ".join(sorted(codes)), told))


def _witness(diagnostic: Diagnostic) -> dict[str, int]:
    """The values of parameters that a diagnostic cites."""
    text = " ".join(note.message for note in diagnostic.notes)
    return {m[1]: int(m[2]) for m in re.finditer(r"([A-Za-z_]\w*) = (-?\d+)", text)}


def _recorded(
    recorder: Recorder, function: Function, arguments: Mapping[str, int | float], seed: str, number: int
) -> Recording | None:
    data = _data(recorder, function, arguments, seed, number)
    return None if data is None else recorder.record(function.name, arguments, data)


def _data(
    recorder: Recorder, function: Function, arguments: Mapping[str, int | float], seed: str, number: int
) -> dict[str, Any] | None:
    """Data for the whole windows; None where an extent is negative or too large."""
    windows = recorder.windows(function.name, arguments)
    if any(not 0 <= count <= 1 << 20 for count in windows.values()):
        return None
    sizes = [
        v for p in function.scalars if p.type.is_integer and isinstance(v := arguments[p.name], int) and v > 0
    ]
    largest = min([*sizes, 8], default=8)
    return {p.name: points.elements(p, windows[p.name], largest, seed, number) for p in function.data}


# --- programs that it accepts ---------------------------------------------------------------------------------


@dataclass
class _Runner:
    compilation: Compilation
    plan: FunctionPlan
    first: int
    recorder: Recorder
    serial: SerialLibrary
    kernels: CpuLibrary
    process: GuardedProcess
    seed: str
    stage: Callable[[str], None]
    found: Examination

    def run(self, depth: Depth) -> None:
        """Every leaf and tile at a number of points; stops at the first point with a finding."""
        function = self.recorder.functions[self.plan.function.name]
        purposes = self._purposes()
        reached: set[tuple[int, int]] = set()
        for number in range(depth.points * 3):
            if self.found.counts["points"] >= depth.points:
                break
            arguments = points.arguments(function.parameters, purposes, self.seed, number)
            data = _data(self.recorder, function, arguments, self.seed, number)
            if data is None:
                self.found.counts["points passed over: extent"] += 1
                continue
            self.stage(f"recording at {arguments}")
            recording = self.recorder.record(function.name, arguments, {k: v.copy() for k, v in data.items()})
            if recording.status is not Status.DONE:
                self.found.counts[f"points passed over: {recording.status.name.lower()}"] += 1
                continue
            if recording.conflict is not None:
                if not DOUBTS & set(self.found.warnings):
                    told = f"{recording.conflict} at {arguments}, data {number}"
                    self.found.findings.append(Finding("conflict accepted", "", told))
                    return
                self.found.counts["points passed over: conflict, doubted"] += 1
                continue
            exact = {k: v[: recording.sizes[k]] for k, v in data.items()}
            interpreted = self._interpreted(arguments, exact, recording)
            if interpreted is None:
                self.found.counts["points passed over: interpreter"] += 1
                continue
            self.found.counts["points"] += 1
            if not self._point(arguments, exact, number, reached, interpreted):
                return
            if depth.thorough or number == 0:
                self._chosen(arguments, exact, number)
        self.found.counts["leaves and tiles reached"] += len(reached)
        self.found.counts["leaves and tiles"] += sum(len(r.numbers) for r in self.plan.regions)

    def _purposes(self) -> dict[str, Purpose]:
        used = {s.name: s.role for region in self.plan.regions for s in region.nest.scalars}
        program = {a.name for a in interface(self.plan).program}
        found: dict[str, Purpose] = {}
        for p in self.plan.function.parameters:
            if p.name in program:
                found[p.name] = "block"
            elif p.name not in used or used[p.name] is Role.HOST:
                found[p.name] = "step"
        return found

    def _interpreted(
        self, arguments: Mapping[str, Any], data: Mapping[str, Any], recording: Recording
    ) -> Mapping[str, Any] | None:
        """The arrays after a run of the reference interpreter, where the function is one region and nothing else.

        None where it finds a region undefined; it is asked about small runs only.
        """
        if recording.accesses > INTERPRETED or (recording.accesses == 0 and not self._is_straight):
            return {}  # a region that the host never reaches may be of any size
        self.stage(f"interpreting at {arguments}")
        after: Mapping[str, Any] | None = {}
        for region in self.plan.regions:
            try:
                after = result(region.nest, arguments, {a.name: data[a.name] for a in region.nest.arrays}, 1)
            except (UndefinedBehaviour, EndlessLoopError, ValueError):
                return None
            if after is None:
                return None
        return after if self._is_straight and not self._is_approximate else {}

    @cached_property
    def _is_straight(self) -> bool:
        """Whether the function is one region behind declarations."""
        items = self.recorder.functions[self.plan.function.name].body.items
        return len(self.plan.regions) == 1 and not {"for", "while", "do", "if", "assert"} & set(
            n for n in items if isinstance(n, str)
        )

    @cached_property
    def _is_approximate(self) -> bool:
        """Whether functions are called that every library may round in its own way."""
        body = self.recorder.functions[self.plan.function.name].body
        return bool(APPROXIMATE & set(tokens_of(body.items)))

    def _chosen(self, arguments: Mapping[str, Any], data: Mapping[str, Any], number: int) -> None:
        """Whether the launcher takes the leaf that ``explain`` says."""
        if not self._is_straight:
            return
        host = interface(self.plan)
        others = {a.name: arguments[a.name] for a in host.arguments if not a.pointer}
        leaves = [c for c in self._cases(arguments) if c.kind == "leaf"]
        rng = random.Random(f"{self.seed}/{number}/machines")
        machines = [c.machine for c in leaves]
        for wanted in expected_choices(self.compilation, self.plan, arguments, machines, rng):
            told = f"choosing at {dict(arguments)}, machine {wanted.machine}"
            self.stage(told)
            self.found.counts["choices compared with explain"] += 1
            given = leaves[0].parameters
            name = self.plan.function.name
            ran = self.process.kernels(self.kernels, name, {**others, **data}, given, machine=wanted.machine)
            assert ran.outcome is not None
            if _lacks_shared_memory(ran.outcome):
                continue  # the machine asked about has more than the device of this process
            took = ran.outcome.leaf if ran.outcome.status == 0 else None
            if took != wanted.leaf and took != -1:
                words = f"explain says {wanted.leaf}, the launcher takes {took} ({ran.outcome.constraint}): {told}"
                self._wrong("choice", "explain and launcher", words)
                return

    def _point(
        self,
        arguments: Mapping[str, Any],
        data: Mapping[str, Any],
        number: int,
        reached: set[tuple[int, int]],
        interpreted: Mapping[str, Any],
    ) -> bool:
        """Whether all leaves and tiles are right at a point."""
        plan, name = self.plan, self.plan.function.name
        edge = Edge.BEGIN if number % 2 else Edge.END
        self.stage(f"serial at {arguments}")
        serial = self.process.serial(self.serial, name, {**arguments, **data}, edge=edge)
        if serial.faults:
            self._wrong("recorder", "", f"the serial program {serial.faults[0]} at {arguments}")
            return False
        if interpreted:
            self.found.counts["points interpreted"] += 1
            wrong = first_difference({k: serial.arrays[k] for k in interpreted}, interpreted)
            if wrong is not None:
                self._wrong("interpreter", "", f"the interpreter: {wrong} at {arguments}, data {number}")
                return False
        host = interface(plan)
        others = {a.name: arguments[a.name] for a in host.arguments if not a.pointer}
        for case in self._cases(arguments):
            told = f"{case.name} at {dict(arguments)}, machine {case.machine}, {edge.value}, data {number}"
            self.stage(told)
            try:
                ran = self.process.kernels(
                    self.kernels,
                    name,
                    {**others, **data},
                    case.parameters,
                    machine=case.machine or None,
                    backwards=number % 2 == 1,
                    edge=edge,
                )
            except CpuFaultError as error:
                self._wrong("crash", case.kind, f"{error}: {told}")
                return False
            assert ran.outcome is not None
            self.found.counts[f"runs of a {case.kind}"] += 1
            if ran.faults:
                word = {True: "writes", False: "reads", None: "touches"}[ran.faults[0].writes]
                self._wrong("out of bounds", f"{word}, {case.kind}", f"{ran.faults[0]}: {told}")
                return False
            if ran.outcome.status != 0:
                if case.kind != "leaf" and any(
                    len(r.numbers) - len(r.leaves) < case.tile for r in plan.regions
                ):
                    continue  # a leaf would have to run there, and this device need not have room for it
                if case.kind == "leaf" and _lacks_shared_memory(ran.outcome):
                    continue  # the machine that was made up for the leaf has more than the device
                refused = f"{ran.outcome.constraint} ({ran.outcome.needed}, {ran.outcome.available})"
                words = re.sub(r"\d+", "N", ran.outcome.message)[:80]
                self._wrong("refused", f"{case.kind} {words}", f"{refused} {ran.outcome.message}: {told}")
                return False
            rounded = plan.reassociated and case.kind != "leaf"
            if rounded and points.kind_of(number).extreme:
                continue  # the order of sums decides between infinities and NaN
            difference = first_difference(serial.arrays, ran.arrays, ROUNDING if rounded else None)
            if difference is not None:
                self._wrong("wrong result", case.kind, f"{difference}: {told}")
                return False
            if case.kind != "choice":
                reached.add(case.number)
        return True

    def _cases(self, arguments: Mapping[str, Any]) -> list[Case]:
        trees = self.compilation.trees[self.first : self.first + len(self.plan.regions)]
        return cases_at(self.plan, trees, arguments)

    def _wrong(self, kind: str, signature: str, detail: str) -> None:
        self.found.findings.append(Finding(kind, signature, detail))
