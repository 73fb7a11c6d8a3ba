"""The verification of ``check``: everything that can be verified without a GPU, in one report.

In: a compilation.  Out: a :class:`Report`: legality and the conditions of Definition 2 for each region, and the
emitted code run on the CPU against the serial C.  Each statement holds, fails, or was not checked, and then the report
says why.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from comprehensive.codegen.levels import with_levels
from comprehensive.diagnostics import CompileError, Diagnostic, Severity, SourceFile, Span
from comprehensive.driver import Compilation, Options, problem_of
from comprehensive.generate import outputs
from comprehensive.loops.access import atomically_updated
from comprehensive.loops.arithmetic import EndlessLoopError
from comprehensive.loops.ir import Nest, Variant
from comprehensive.optimize.definition2 import (
    ConstraintSoundness,
    Coverage,
    Optimality,
    Pruning,
    code_soundness,
    constraint_soundness,
    coverage,
    optimality,
    pruning,
)
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.poly.legality import parallel_loops
from comprehensive.poly.model import Conflict, Undecided
from comprehensive.poly.report import values_text
from comprehensive.poly.row_lengths import assert_on_rows
from comprehensive.records import replace
from comprehensive.runtime.serial import SerialBuildError
from comprehensive.soundness.emulated import ROUNDING, TIME_IS_OVER, build, not_run, run_leaves
from comprehensive.soundness.index_data import index_uses, scattered
from comprehensive.soundness.interpreted import difference, result
from comprehensive.soundness.pointed import by_itself
from comprehensive.soundness.sampling import (
    TURNS,
    NotSampledError,
    Sample,
    comes_to,
    random_data,
    samples,
)
from comprehensive.soundness.signs import any_sign
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.process import ToolError
from comprehensive.values import Rational, demand_levels
from comprehensive.verification_report import Condition, RegionReport, Report
from comprehensive.watch import UNWATCHED, Watch

SEED = 1
CODE_SOUNDNESS = "(ii) code soundness"
CONDITIONS = (
    "legality",
    "pruning",
    "(i) constraint soundness",
    CODE_SOUNDNESS,
    "(iii) coverage",
    "(iv) optimality",
)


def verify(
    compilation: Compilation,
    *,
    points: int,
    run: bool,
    sanitize: bool = False,
    duplicates: bool = False,
    levels: Mapping[str, Rational] | None = None,
    watch: Watch = UNWATCHED,
) -> Report:
    """Checks Definition 2 and, with ``run``, the emitted code at ``points`` points a leaf.

    ``levels`` are the values of the limits that no device has; CommandLineError as of `demand_levels`.

    With ``duplicates`` indices that say where plain stores go occur twice, and the order of iterations must not count.

    Where the watch says that the time is over, what is left is not checked, and the report says so.

    Raises ToolError when the code is to be run and there is no C or C++ compiler, CompileError (CF0707) when the C
    compiler rejects the source.
    """
    demand_levels(compilation, levels or {})
    compilation = replace(compilation, plan=with_levels(compilation.plan, levels or {}))
    regions = tuple(
        _region(compilation, number, points, duplicates, watch) for number in range(len(compilation.nests))
    )
    indices = scattered(index_uses(compilation.nests))
    if not run:
        return Report(regions, None, indices, duplicates)
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        raise ToolError(
            "running the kernels on the CPU needs a C and a C++ compiler; `--no-run` does without"
        )
    if watch.is_over():
        return Report(regions, not_run(compilation, TIME_IS_OVER), indices, duplicates)
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        try:
            built = build(compilation, outputs(compilation), Path(scratch), c=c, cxx=cxx, sanitize=sanitize)
        except SerialBuildError as error:
            raise CompileError(tuple(of_compiler(compilation.source, str(error)))) from error
        runs = run_leaves(
            compilation,
            built,
            points,
            SEED,
            endless=_endless(compilation, regions),
            duplicates=duplicates,
            levels=levels,
            watch=watch,
        )
        return Report(regions, runs, indices, duplicates)


def of_compiler(source: SourceFile, words: str) -> Iterator[Diagnostic]:
    """Errors of the C compiler as diagnostics of the source."""
    help = (
        "without a declaration in this file or an #include of it, the generated code does not compile either"
    )
    found = re.findall(r"^[^:\n]*:(\d+):(\d+): error: (.*)$", words, re.MULTILINE)
    for line, column, text in found:
        start = source.offset(int(line), int(column))
        message = f"the C compiler rejects the source: {text}"
        yield Diagnostic(Severity.ERROR, "CF0707", message, Span(source, start, start + 1), help=help)
    if not found:
        message = f"the C compiler rejects the source: {words}"
        yield Diagnostic(Severity.ERROR, "CF0707", message, Span(source, 0, 0), help=help)


def _endless(compilation: Compilation, regions: Sequence[RegionReport]) -> Mapping[str, str]:
    """The functions that had better not be run, with the reason: nothing would stop them."""
    reasons = {region.name: region.endless for region in regions}
    return {
        plan.function.name: reason
        for plan in compilation.plan.functions
        for region in plan.regions
        if (reason := reasons[region.nest.name]) is not None
    }


def _region(
    compilation: Compilation, number: int, points: int, duplicates: bool, watch: Watch
) -> RegionReport:
    nest, tree = compilation.nests[number], compilation.trees[number]
    watch.tell("regions checked", number, len(compilation.nests))
    if watch.is_over():
        return RegionReport(
            nest.name, tuple(Condition(name, State.NOT_CHECKED, TIME_IS_OVER) for name in CONDITIONS)
        )
    problem = problem_of(nest, Options(registers="estimate", performance=tree.performance))
    endless: str | None = None
    cases: tuple[_Case, ...] = ()
    try:
        cases = _cases(compilation, number, points, duplicates)
        code = _code(tree, cases)
    except EndlessLoopError as error:
        endless = str(error)
        code = Condition(CODE_SOUNDNESS, State.NOT_CHECKED, endless)
    except (NotSampledError, _NoMeaningError) as error:
        code = Condition(CODE_SOUNDNESS, State.NOT_CHECKED, str(error))
    conditions = (
        _legality(nest, cases),
        _pruning(pruning(tree)),
        _constraints(constraint_soundness(tree), len(tree.leaves)),
        code,
        _coverage(coverage(tree, problem)),
        _optimality(optimality(tree, problem)),
    )
    return RegionReport(nest.name, conditions, endless)


def _legality(nest: Nest, cases: Sequence[_Case]) -> Condition:
    """Return the condition that parallel loops are parallel; a proved race has ended the compilation before.

    What is not decided is tried: results that the order of iterations changes are a race.
    """
    if nest.is_checked:
        return _condition("legality", "the loops are parallel in the form that the program has", (), ())
    found = parallel_loops(nest)
    doubts = dict.fromkeys(verdict.reason for _, verdict in found if isinstance(verdict, Undecided))
    races = tuple(str(verdict.witness) for _, verdict in found if isinstance(verdict, Conflict))
    evidence = f"{len(found)} parallel loops are proved to be parallel"
    if doubts and not races:
        races = tuple(_orders(nest, cases))
        separating = assert_on_rows(nest)
        remedy = "exclude by assert(...) values that no call has"
        if separating is not None:
            remedy = f"write '{separating};' before the region"
        evidence = (
            f"the order of the iterations counts, {'; '.join(doubts)}: make the loops serial, or {remedy}"
        )
    return _condition("legality", evidence, races, tuple(doubts))


def _orders(nest: Nest, cases: Sequence[_Case]) -> Iterator[str]:
    """Yield what differs where the parallel loops run backwards."""
    rounded = any(not nest.array(name).type.is_integer for name in atomically_updated(nest))
    for case in cases:
        found = difference(
            case.expected,
            nest,
            case.sample.arguments,
            case.data,
            case.step,
            order="reversed",
            tolerance=ROUNDING if rounded else None,
        )
        if found is not None:
            yield f"backwards {found} at {values_text(case.sample.arguments)}"


def _pruning(found: Pruning) -> Condition:
    return _condition(
        "pruning",
        f"{len(found.proved)} pruned branches have a proof that was followed without a solver",
        tuple(f"the proof of pruned branch {number} is wrong" for number in found.wrong),
        tuple(f"pruned branch {number}: the SMT solver alone says so" for number in found.unproved),
    )


def _constraints(found: ConstraintSoundness, leaves: int) -> Condition:
    return _condition(
        "(i) constraint soundness",
        f"{len(found.verified)} of {leaves} leaves have an exact sample point",
        tuple(f"leaf {index}: {'; '.join(atoms)}" for index, atoms in found.violated),
        tuple(f"whether any point reaches leaf {index}" for index in found.undecided),
    )


def _coverage(found: Coverage) -> Condition:
    proved = tuple(f"gap: {gap}" for gap in found.gaps or ())
    proved += tuple(f"no leaf on any machine: {gap}" for gap in found.projected_gaps or ())
    proved += tuple(f"overlap: {o}" for o in found.overlaps if o.sample is not None)
    open_overlaps = tuple(
        f"whether {o.first} and {o.second} overlap" for o in found.overlaps if o.sample is None
    )
    evidence = "leaves and dead ends fill the space and exclude each other"
    return _condition("(iii) coverage", evidence, proved, found.undecided + open_overlaps)


def _optimality(found: Optimality) -> Condition:
    missing = tuple(f"no leaf is optimal for {counter}" for counter in found.missing)
    return _condition("(iv) optimality", "every counter is optimal on some leaf", missing)


def _condition(
    name: str, evidence: str, failures: tuple[str, ...], undecided: tuple[str, ...] = ()
) -> Condition:
    """Failures win over what could not be decided, and that over what was found to hold."""
    if failures:
        return Condition(name, State.FAILS, evidence, failures)
    if undecided:
        return Condition(name, State.NOT_CHECKED, f"undecided {'; '.join(undecided)}")
    return Condition(name, State.HOLDS, evidence)


class _Case(Struct, frozen=True):
    """A sample with its data and what the source makes of it; ``step`` stands for scalars of the host."""

    sample: Sample
    step: int
    data: Mapping[str, Any]
    expected: Mapping[str, Any]


class _NoMeaningError(Exception):
    """The source does nothing that is defined wherever it was tried; the message says so."""


def _cases(compilation: Compilation, number: int, points: int, duplicates: bool) -> tuple[_Case, ...]:
    """Runs of the source under the reference interpreter.

    Raises NotSampledError, _NoMeaningError, and EndlessLoopError.
    """
    nest = compilation.nests[number]
    plan = next(p for p in compilation.plan.functions if any(r.nest == nest for r in p.regions))
    function = by_itself(plan.function)
    drawn = samples(function, (nest,), SEED, None, any_sign(plan), duplicates=duplicates)
    cases: list[_Case] = []
    for step, sample in enumerate(islice(drawn, points)):
        if not comes_to(nest, sample.arguments):
            continue
        data = random_data(function, (nest,), sample, step, duplicates=duplicates)
        expected = result(nest, sample.arguments, data, step % TURNS)
        if expected is not None:
            cases.append(_Case(sample, step % TURNS, data, expected))
    if not cases:
        raise _NoMeaningError(
            f"the source has undefined behaviour, or does not come to the region, at {points} random points"
        )
    return tuple(cases)


def _code(tree: Tree[Variant], cases: Sequence[_Case]) -> Condition:
    """Condition (ii) under the reference interpreter. Raises EndlessLoopError."""

    def agrees(_: Variant, leaf: Variant, __: Leaf[Variant]) -> tuple[int, tuple[str, ...]]:
        failures: list[str] = []
        for case in cases:
            found = difference(case.expected, leaf.nest, case.sample.arguments, case.data, case.step)
            if found is not None:
                failures.append(f"{found} at {values_text(case.sample.arguments)}")
        return len(cases), tuple(failures)

    compared = code_soundness(tree, agrees)
    executed = sum(leaf.executions for leaf in compared.leaves)
    return _condition(
        CODE_SOUNDNESS,
        f"{executed} executions of the interpreter agree with the source",
        tuple(f"leaf {leaf.leaf}: {failure}" for leaf in compared.leaves for failure in leaf.failures),
    )
