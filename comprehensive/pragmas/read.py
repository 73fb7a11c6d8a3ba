"""The front end of OpenMP, OpenACC and scops: a C file to a checked program, as the front end of MetaFork gives it.

In: a file whose loops have directives.  Out: a program in which each of these loops is a region; the elision of the
program is the file as it is.  Two things are found out on the way: which loops of ``kernels`` are parallel, and which
loops inside of a region are parallel besides those that a directive names.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Literal

from comprehensive.diagnostics import CompileError, DiagnosticSink, Note, Severity, SourceFile, Span
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Function, HostAssert, MetaSchedule, Program
from comprehensive.metafork.parse import parse
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.poly.model import Conflict, Undecided
from comprehensive.poly.report import Words, check, witness_notes
from comprehensive.pragmas.constructs import Construct, construct
from comprehensive.pragmas.cutting import cut
from comprehensive.pragmas.directives import MODELS, Directive, mentions
from comprehensive.pragmas.translate import Pragmas
from comprehensive.pragmas.widen import built, doubt_of, is_parallel_inside, widened
from comprehensive.pragmas.words import words_of
from comprehensive.records import replace

Models = Literal["omp", "acc", "scop", "auto"]


_OF_PARALLEL_LOOPS = frozenset(
    f"CF{number}" for number in ("0311", "0313", "0317", "1107", "1108", "1109", "1110", "1113", "1117")
)
"""Errors that say why a loop is no parallel one."""
_OF_HOST_CODE = frozenset(f"CF{number}" for number in ("0215",))
"""Errors in what stands beside regions, which may be in none once it is known which loops are parallel."""


def parse_pragmas(
    source: SourceFile,
    sink: DiagnosticSink,
    models: Models,
    *,
    configuration: Configuration | None = None,
) -> Program:
    """The checked program of a file with directives, whose macros are those of a configuration; nothing is raised for
    wrong input."""
    notation, program = _settled(source, sink, _models(source, models), configuration)
    if sink.has_errors or notation.text is None:
        return program
    _check_claims(program, notation, sink)
    text = notation.text
    serial = {
        place
        for place, found in text.loops.items()
        if any(construct(each) is Construct.SERIAL for each in found)
    }
    return _without(widened(program, notation.found, frozenset(serial)), text.gone)


def _check_claims(program: Program, notation: Pragmas, sink: DiagnosticSink) -> None:
    """Reports iterations of loops with reductions that depend on each other in another way, too."""
    for function in program.functions:
        for region in {r.span.start: r for r in function.regions}.values():
            parted = notation.parted.get(region.span.start)
            made = None if parted is None or parted.claim is None else cut(parted.claim)
            nest = None if made is None else built(program, function, replace(region, body=made[0]), made[1])
            if nest is not None:
                check(nest, sink, words=words_of(program))


def _models(source: SourceFile, models: Models) -> frozenset[str]:
    """Return the models whose directives count: for ``auto`` the first one of which the file has some."""
    if models != "auto":
        return frozenset((models,))
    found = [model for model in MODELS if mentions(source, model)]
    return frozenset(found[:1] or MODELS[:1])


def _settled(
    source: SourceFile,
    sink: DiagnosticSink,
    models: AbstractSet[str],
    configuration: Configuration | None,
) -> tuple[Pragmas, Program]:
    """The file as read once it is known which loops that a directive leaves to the compiler are parallel."""
    refuted: dict[int, tuple[Note, ...]] = {}
    while True:
        attempt = DiagnosticSink()
        notation = Pragmas(models, frozenset(refuted))
        program = parse(source, attempt, configuration, notation)
        wrong = {d.code for d in attempt.diagnostics if d.severity is Severity.ERROR}
        if wrong - _OF_HOST_CODE:
            doubtful = _unlike(program, notation, attempt)
        else:
            doubtful = _doubtful(program, notation) | _not_apart(program, notation)
        if doubtful:
            refuted |= doubtful
            continue
        sink.extend(attempt.diagnostics)
        for found, loops in () if notation.text is None else notation.text.unproved:
            notes = next((refuted[place] for place in loops if place in refuted), ())
            _report_unproved(found, notes, sink)
        return notation, program


def _left_open(program: Program, notation: Pragmas) -> Iterator[tuple[int, Function, MetaSchedule]]:
    """The regions that a directive leaves to the compiler, each with the offset of its first loop."""
    text = notation.text
    for function in program.functions if text is not None else ():
        for region in function.regions:
            first = text.regions.get(region.span.start) if text is not None else None
            own = () if text is None or first is None else text.loops.get(first, ())
            if first is not None and all(construct(each) is not Construct.LOOP for each in own):
                yield first, function, region


def _unlike(program: Program, notation: Pragmas, said: DiagnosticSink) -> dict[int, tuple[Note, ...]]:
    """Regions that are left open and have errors which no serial loop has, or change what is read behind them."""
    found: dict[int, tuple[Note, ...]] = {}
    for first, _, region in _left_open(program, notation):
        for error in said.diagnostics:
            # What is read behind a loop is reported there; the loop is where it is changed.
            place = error.notes[0].span if error.code == "CF1117" else error.span
            inside = place is not None and region.span.start <= place.start < region.span.end
            if error.code in _OF_PARALLEL_LOOPS and inside:
                found.setdefault(first, (Note(error.message, error.span),))
    return found


def _doubtful(program: Program, notation: Pragmas) -> dict[int, tuple[Note, ...]]:
    """Regions that are left open and not proved to be parallel."""
    found: dict[int, tuple[Note, ...]] = {}
    for first, function, region in _left_open(program, notation):
        alone = replace(program, functions=(replace(function, parts=(region,)),))
        try:
            (nest,) = build(alone, DiagnosticSink())
        except CompileError:
            continue
        place = region.span.start
        parted = notation.parted.get(place)
        dimensions = (notation.found[place] if parted is None else parted.first).dimensions
        doubts = [doubt for each in dimensions if (doubt := doubt_of(nest, each.iterator)) is not None]
        if doubts:
            found[first] = _reasons(nest, doubts[0], words_of(alone))
    return found


def _not_apart(program: Program, notation: Pragmas) -> dict[int, tuple[Note, ...]]:
    """Loops that are shared inside of one with a reduction, and not proved to store to elements of their own."""
    found: dict[int, tuple[Note, ...]] = {}
    for function in program.functions:
        for region in {r.span.start: r for r in function.regions}.values():
            both = notation.parted.get(region.span.start)
            if both is None or both.claim is None or both.inner is None:
                continue
            if not is_parallel_inside(program, function, region, both.claim, both.inner):
                found[both.inner.span.start] = ()
    return found


def _reasons(nest: Nest, doubt: Conflict | Undecided, words: Words) -> tuple[Note, ...]:
    if isinstance(doubt, Conflict):
        return witness_notes(nest, doubt.witness, words)
    return (Note(f"not known whether its iterations are independent: {doubt.reason}", doubt.span),)


def _report_unproved(found: Directive, notes: tuple[Note, ...], sink: DiagnosticSink) -> None:
    sink.error(
        "CF1114",
        f"no loop of '{found.name}' is proved to be parallel",
        found.span,
        notes=notes,
        help="drop the directive where the loops are serial; where iterations are independent, put "
        f"'#pragma {'acc loop independent' if found.model == 'acc' else 'omp parallel for'}' before the loop",
    )


def _without(program: Program, gone: tuple[Span, ...]) -> Program:
    """The program whose host code has no directives: the launchers that it calls are not for teams of threads."""
    return replace(program, functions=tuple(_clean(function, gone) for function in program.functions))


def _clean(function: Function, gone: tuple[Span, ...]) -> Function:
    parts: list[Span | HostAssert | MetaSchedule] = []
    for part in function.parts:
        if not isinstance(part, Span):
            parts.append(part)
            continue
        start = part.start
        for span in gone:
            if start <= span.start and span.end <= part.end:
                if span.start > start:
                    parts.append(Span(part.file, start, span.start))
                start = span.end
        if start < part.end:
            parts.append(Span(part.file, start, part.end))
    return replace(function, parts=tuple(parts))
