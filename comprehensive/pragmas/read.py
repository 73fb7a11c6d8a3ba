"""The front end of OpenMP, OpenACC and scops: a C file to a checked program, as the front end of MetaFork gives it.

In: a file whose loops have directives.  Out: a program in which each of these loops is a region; the elision of the
program is the file as it is.  Two things are found out on the way: which loops of ``kernels`` are parallel, and which
loops inside of a region are parallel besides those that a directive names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct

from comprehensive.diagnostics import CompileError, DiagnosticSink, Note, Severity, SourceFile, Span
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import For, Function, HostAssert, MetaSchedule, Program
from comprehensive.metafork.parse import parse
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.walk import elements_in
from comprehensive.poly.model import Conflict, Undecided
from comprehensive.poly.report import Words, check, witness_notes
from comprehensive.pragmas.constructs import Construct, construct
from comprehensive.pragmas.cutting import Loops, cut
from comprehensive.pragmas.directives import MODELS, Directive, mentions
from comprehensive.pragmas.distribution import distributed
from comprehensive.pragmas.translate import Pragmas
from comprehensive.pragmas.widen import Widened, built, doubt_of, is_parallel_inside, widened
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
    settled = _settled(source, _models(source, models), configuration)
    notation, program = settled.notation, settled.program
    sink.extend(settled.said.diagnostics)
    if sink.has_errors or notation.text is None:
        return program
    _check_claims(program, notation, sink)
    serial = _said_to_be_serial(notation)
    return _without(widened(program, notation.found, serial, settled.apart), notation.text.gone)


def _said_to_be_serial(notation: Pragmas) -> frozenset[int]:
    """The offsets of loops whose directives say that they are serial."""
    if notation.text is None:
        return frozenset()
    said = notation.text.loops.items()
    return frozenset(
        place for place, found in said if any(construct(each) is Construct.SERIAL for each in found)
    )


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


class _Settled(Struct, frozen=True):
    """A file as read once it is known which loops that a directive leaves to the compiler are parallel, and what is
    ``said`` of it; ``apart`` has the parts of loops that are parallel once they are parted, by the offsets of their
    regions, and ``bare`` the offsets of serial loops that do some of their work in host code."""

    notation: Pragmas
    program: Program
    said: DiagnosticSink
    apart: Mapping[int, tuple[Widened, ...]]
    bare: frozenset[int]


def _settled(source: SourceFile, models: AbstractSet[str], configuration: Configuration | None) -> _Settled:
    """The file, with loops parted that would else leave some of their work to host code."""
    whole = _proved(source, models, configuration, frozenset())
    parted = _proved(source, models, configuration, whole.bare) if whole.bare else whole
    return parted if parted.apart and not parted.said.has_errors else whole


def _proved(
    source: SourceFile,
    models: AbstractSet[str],
    configuration: Configuration | None,
    bare: frozenset[int],
) -> _Settled:
    """The file, with the loops at the offsets ``bare`` parted where they can be."""
    refuted: dict[int, tuple[Note, ...]] = {}
    serial: dict[int, Loops] = {}
    while True:
        attempt = DiagnosticSink()
        apart: dict[int, tuple[Widened, ...]] = {}
        notation = Pragmas(models, frozenset(refuted))
        program = parse(source, attempt, configuration, notation)
        wrong = {d.code for d in attempt.diagnostics if d.severity is Severity.ERROR}
        if wrong - _OF_HOST_CODE:
            doubtful = _unlike(program, notation, attempt)
        else:
            doubtful, apart = _doubtful(program, notation, bare)
            doubtful |= _not_apart(program, notation)
        if doubtful:
            refuted |= doubtful
            uncut = {loops.dimensions[0].loop.span.start: loops for loops in notation.found.values()}
            serial |= {first: uncut[first] for first in doubtful if first in uncut}
            continue
        for found, loops in () if notation.text is None else notation.text.unproved:
            notes = next((refuted[place] for place in loops if place in refuted), ())
            _report_unproved(found, notes, attempt)
        for place, parts in apart.items():
            _report_parted(notation.found[place].dimensions[0].loop, parts, attempt)
        regions = [region.span for function in program.functions for region in function.regions]
        on_host = (first for first, loops in serial.items() if not _all_inside(loops, regions))
        return _Settled(notation, program, attempt, apart, frozenset(on_host))


def _all_inside(loops: Loops, regions: Sequence[Span]) -> bool:
    """Whether all elements that loops name stand in regions."""
    return all(
        any(region.start <= e.span.start < region.end for region in regions) for e in elements_in(loops.inner)
    )


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


def _doubtful(
    program: Program, notation: Pragmas, bare: frozenset[int]
) -> tuple[dict[int, tuple[Note, ...]], dict[int, tuple[Widened, ...]]]:
    """Regions that are left open and not proved to be parallel: those that stay serial, and those that are parted, of
    those whose first loop is ``bare``."""
    found: dict[int, tuple[Note, ...]] = {}
    apart: dict[int, tuple[Widened, ...]] = {}
    serial = _said_to_be_serial(notation)
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
        if not doubts:
            continue
        is_tried = first in bare and parted is None
        parts = distributed(program, function, region, notation.found[place], serial) if is_tried else None
        if parts is None:
            found[first] = _reasons(nest, doubts[0], words_of(alone))
        else:
            apart[place] = parts
    return found, apart


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


def _report_parted(loop: For, parts: tuple[Widened, ...], sink: DiagnosticSink) -> None:
    grids = [", ".join(each.iterator for each in part.loops.dimensions) for part in parts]
    sink.note(
        "CF1119",
        f"the loop over '{loop.iterator}' is serial as it stands, and becomes {len(parts)} regions, parallel over "
        f"{'; '.join(grids)}",
        loop.span,
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


def words_of(program: Program) -> Words:
    """The words for a program that was read from directives."""
    return Words(
        loop="the loop over '{}'",
        serial="drop the directive before the loop over '{}', which is serial",
        atomic="put '#pragma omp atomic' or '#pragma acc atomic' before an update 'a[...] += ...;', drop the "
        "directive before these loops",
        hidden=frozenset(p.name for function in program.functions for p in function.parameters if p.added),
    )
