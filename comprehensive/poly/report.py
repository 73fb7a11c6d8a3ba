"""The diagnostics of the analyses for the user about a nest.

In: a nest and a sink.  Out: diagnostics in it.

- CF0401 error: a ``meta_for`` carries a dependence, with two conflicting iterations.
- CF0402 error: a subscript leaves its array, with parameters and iterators.
- CF0403 error: no call meets the asserts before the region, with those that contradict each other.
- CF0404 error: iterations meet in an element through a subscript that depends on data, with what the data must be.
- CF0405 error: floating-point sums are updated atomically, and no option allows another order.
- CF0406 error: a local variable is read before it has a value, with parameters and iterators.
- CF0413 warning: no call meets a condition of host code around the region, which never runs.
- CF0411 warning: whether loops are parallel was not decided, with the term that stands in the way, or the
  assert that proves it.
- CF0412 warning: an array named in ``cache(...)`` cannot be cached, with the reason.
- CF0415 warning: pointers of host code into the same data may meet (`apart.py`).
- CF0414 warning: a reference to an array named in ``cache(...)`` stays in global memory, with the reason.
- CF0417 warning: a local variable is read that has no value where one condition on data is true, or false.
- CF0418 warning: a subscript leaves a local array for some sizes, which asserts do not exclude.
- CF0416 error: iterations meet through two pointers of host code into the same data (`apart.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, DiagnosticSink, Note, Span
from comprehensive.loops.access import Access, Mode
from comprehensive.loops.ir import Nest, Role, Scalar
from comprehensive.metafork.ast import Declare, Expr, Index
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.terms import conjuncts
from comprehensive.metafork.walk import all_statements_in
from comprehensive.poly.bounds import out_of_bounds
from comprehensive.poly.contradictions import Contradiction, contradiction
from comprehensive.poly.domains import references, term_text
from comprehensive.poly.footprint import footprint
from comprehensive.poly.legality import verdicts
from comprehensive.poly.local_variables import local_faults
from comprehensive.poly.model import (
    Conflict,
    Footprint,
    Level,
    Opaque,
    OutOfBounds,
    Parallel,
    Undecided,
    WithoutValue,
    Witness,
)
from comprehensive.poly.remedies import remedies
from comprehensive.poly.repeats import concrete
from comprehensive.poly.row_lengths import assert_on_rows
from comprehensive.poly.user_loops import user_loop, user_values
from comprehensive.poly.wraps import assert_against_wrapping


class Words(Struct, frozen=True):
    """The words of a file's notation for parallel loops; the gaps are for iterators.

    ``hidden`` are parameters that no text of the user's has: a witness does not name them.
    """

    loop: str = "'meta_for {}'"
    serial: str = "make the loop over '{}' a serial 'for'"
    atomic: str = (
        "make it one update with the keyword in front, 'meta_atomic a[...] += ...;', make these loops serial "
        "'for' loops"
    )
    hidden: frozenset[str] = frozenset()


METAFORK = Words()


def check(nest: Nest, sink: DiagnosticSink, *, reassociate: bool = False, words: Words = METAFORK) -> None:
    """Reports what is wrong with the annotation of a nest, and what could not be found out.

    With ``reassociate`` sums of floating-point numbers may be added up in any order.
    """
    if not reassociate:
        _ordered_sums(nest, sink)
    impossible = contradiction(nest)
    if impossible is not None:
        _impossible(nest, impossible, sink)
        return  # anything at all holds where no call arrives
    depending: dict[tuple[str, str], tuple[Span, Witness]] = {}
    meeting: dict[str, tuple[Span, Witness, dict[str, None]]] = {}
    undecided: dict[tuple[str, Span], list[str]] = {}
    for band, own, verdict in verdicts(nest):
        loops = nest.grid if band is None else nest.bands[band].loops
        span = next(loop.span for loop in loops if loop.iterator == own)
        iterator = user_loop(nest, own)
        match verdict:
            case Conflict(witness=witness) if witness.supposing is not None:
                meeting.setdefault(witness.array, (span, witness, {}))[2][iterator] = None
            case Conflict():
                depending.setdefault((iterator, verdict.witness.array), (span, verdict.witness))
            case Undecided():
                undecided.setdefault((verdict.reason, verdict.span), []).append(f"'{iterator}'")
            case Parallel():
                pass
    for (iterator, _), (span, witness) in depending.items():
        _dependence(nest, iterator, span, witness, words, sink)
    for span, witness, iterators in meeting.values():
        _meeting(nest, tuple(iterators), span, witness, words, sink)
    help = "the annotation is trusted here; make sure that it is right"
    wrapping = assert_against_wrapping(nest) if undecided else None
    separating = assert_on_rows(nest) if undecided and wrapping is None else None
    if wrapping is not None:
        help = f"write '{wrapping};' before the region, so that its ranges cannot wrap around; {help}"
    if separating is not None:
        help = f"write '{separating};' before the region, with which that is proved; without it {help}"
    wrong = {f"'{iterator}'" for iterator, _ in depending}
    for (reason, span), found in undecided.items():
        iterators = [iterator for iterator in found if iterator not in wrong]
        if not iterators:
            continue  # that they depend on each other has been said
        sink.warning(
            "CF0411",
            f"not known whether the iterations of {', '.join(dict.fromkeys(iterators))} are independent: {reason}",
            _place(span),
            help=help,
        )
    local = local_faults(nest)
    for violation in (*out_of_bounds(nest), *local.out_of_bounds):
        _violation(nest, violation, words, sink)
    for violation in local.for_some_sizes:
        _left_for_some_sizes(nest, violation, words, sink)
    for read in local.without_value:
        _without_value(nest, read, words, sink)
    uncached: dict[str, list[Opaque]] = {}
    for array in nest.cached:
        footprints = [footprint(nest, band, array, Level.BLOCK) for band in range(len(nest.bands))]
        found = next((f for f in footprints if isinstance(f, Opaque)), None)
        if found is not None:
            uncached.setdefault(found.reason, []).append(found)
            continue
        for opaque in dict.fromkeys(o for f in footprints if isinstance(f, Footprint) for o in f.direct):
            _not_staged(opaque, sink)
    for alike in uncached.values():
        _not_cached(nest, alike, sink)


def _not_cached(nest: Nest, alike: list[Opaque], sink: DiagnosticSink) -> None:
    """One warning about all arrays that the same reason keeps in global memory."""
    first, *others = alike
    names = ", ".join(f"'{found.array}'" for found in alike)
    accesses = [reference.access for reference in references(nest)]
    written = {a.array for a in accesses if a.mode.writes}
    read = {a.array for a in accesses if a.mode.reads}
    arrays = {found.array for found in alike}
    used = " and ".join(word for word, where in (("read", read), ("written", written)) if arrays & where)
    remedy = "" if first.remedy is None else f"{first.remedy}, or "
    it, is_used = ("they", "are") if others else ("it", "is")
    sink.warning(
        "CF0412",
        f"{'arrays' if others else 'array'} {names} cannot be cached: '{first.term}' {first.reason}",
        _place(first.span),
        notes=tuple(Note(f"'{found.term}' likewise", _place(found.span)) for found in others),
        help=f"{it} {is_used} {used} in global memory; {remedy}drop {names} from cache(...) to silence this",
    )


def _not_staged(opaque: Opaque, sink: DiagnosticSink) -> None:
    """A warning about one reference to an array of which others are cached."""
    sink.warning(
        "CF0414",
        f"'{opaque.term}' is read in global memory, although '{opaque.array}' is cached: it {opaque.reason}",
        _place(opaque.span),
        help=f"{opaque.remedy} to have it read from the cache",
    )


def _dependence(
    nest: Nest, iterator: str, span: Span, witness: Witness, words: Words, sink: DiagnosticSink
) -> None:
    sink.error(
        "CF0401",
        f"the iterations of {words.loop.format(iterator)} depend on each other through array '{witness.array}'",
        _place(span),
        notes=witness_notes(nest, witness, words),
        help=_choice((words.serial.format(iterator), *remedies(nest, witness))),
    )


def _choice(ways: Sequence[str]) -> str:
    """Several ways in one sentence: ``a, b, or c``."""
    *others, last = ways
    return f"{', '.join(others)}, or {last}"


def witness_notes(nest: Nest, witness: Witness, words: Words) -> tuple[Note, ...]:
    """Two iterations that touch one element, one of which writes it."""
    element = witness.array + "".join(f"[{k}]" for k in witness.element)
    return (
        Note(f"{element} is written at {_first(nest, witness)}", _place(witness.first_span)),
        Note(f"and used at {_second(nest, witness)}", _place(witness.second_span)),
        *_with_parameters(witness, words),
    )


def _with_parameters(witness: Witness, words: Words) -> tuple[Note, ...]:
    parameters = values_text({n: v for n, v in witness.parameters.items() if n not in words.hidden})
    return (Note(f"with {parameters}"),) if parameters else ()


def _ordered_sums(nest: Nest, sink: DiagnosticSink) -> None:
    """Atomic updates come in any order, and that of floating-point sums shows in the result."""
    first: dict[str, Access] = {}
    for reference in references(nest):
        access = reference.access
        if access.mode.is_atomic and not nest.array(access.array).type.is_integer:
            first.setdefault(access.array, access)
    for access in first.values():
        sink.error(
            "CF0405",
            f"atomic updates add up the {nest.array(access.array).type.value} sums of '{access.array}' in another "
            "order each time",
            _place(access.span),
            help="give --reassociate where last bits may differ from the C code, or sum integers",
        )


def _meeting(
    nest: Nest,
    iterators: tuple[str, ...],
    span: Span,
    witness: Witness,
    words: Words,
    sink: DiagnosticSink,
) -> None:
    """An array that is written where data says, and there read or written otherwise by other iterations."""
    one, other = (references(nest)[ordinal].access for ordinal in witness.ordinals)
    element = print_expr(concrete(Index(one.array, one.subscripts), {**witness.parameters, **witness.first}))
    condition = f", if {witness.supposing}" if witness.supposing else ""
    sink.error(
        "CF0404",
        f"the iterations of {' and '.join(f'{name!r}' for name in iterators)} may meet in an element of "
        f"'{witness.array}', the place of which depends on data",
        _place(span),
        notes=(
            Note(f"{element} is {_done(one.mode)} at {_first(nest, witness)}", _place(witness.first_span)),
            Note(
                f"and {_done(other.mode)} at {_second(nest, witness)}{condition}",
                _place(witness.second_span),
            ),
            *_with_parameters(witness, words),
        ),
        help=f"{words.atomic}, or read another array than the one that is written",
    )


def _done(mode: Mode) -> str:
    """Return the words for what a reference does to an element."""
    match mode:
        case Mode.READ:
            return "read"
        case Mode.WRITE:
            return "written"
        case Mode.UPDATE:
            return "read and written"
        case Mode.ATOMIC_SUM:
            return "added to atomically"
        case Mode.ATOMIC_AND | Mode.ATOMIC_OR | Mode.ATOMIC_XOR:
            return f"changed by an {mode.value}"
        case _:
            assert_never(mode)


def _where(nest: Nest, point: Mapping[str, int], words: Words) -> Note:
    shown = {name: value for name, value in point.items() if name not in words.hidden}
    return Note(f"at {values_text(user_values(nest, shown, point))}")


def _left_for_some_sizes(nest: Nest, left: OutOfBounds, words: Words, sink: DiagnosticSink) -> None:
    sink.warning(
        "CF0418",
        f"subscript {left.subscript + 1} of the local array '{left.array}' is {left.value}, "
        f"{_beyond(left)}, for some sizes",
        _place(left.span),
        notes=(_where(nest, left.point, words),),
        help="exclude these sizes by assert(...), guard the reference, or make the array longer",
    )


def _beyond(left: OutOfBounds) -> str:
    return f"outside 0 to {left.extent - 1}" if left.value >= 0 else "negative"


def _violation(nest: Nest, violation: OutOfBounds, words: Words, sink: DiagnosticSink) -> None:
    sink.error(
        "CF0402",
        f"subscript {violation.subscript + 1} of array '{violation.array}' is {violation.value}, "
        f"{_beyond(violation)}",
        _place(violation.span),
        notes=(_where(nest, violation.point, words),),
        help="guard the reference, correct the loop bounds, or exclude these values by assert(...)",
    )


def _without_value(nest: Nest, read: WithoutValue, words: Words, sink: DiagnosticSink) -> None:
    # A variable whose address is passed on is an array of one element, but not in the text.
    element = "" if read.span.text == read.name else "".join(f"[{number}]" for number in read.element)
    what = f"'{read.name}{element}'"
    declared = next(s for s in all_statements_in(nest.body) if isinstance(s, Declare) and s.name == read.name)
    places = {"declared here without a value": declared.span}
    if read.condition is not None:
        places = {"the condition": read.condition.span, **places}
    notes = (
        *(Note(text, span) for text, span in places.items() if span not in (read.span, GENERATED)),
        _where(nest, read.point, words),
    )
    if read.condition is None:
        help = "give it a value before, where it is declared for example"
        sink.error(
            "CF0406", f"{what} is read before it has a value", _place(read.span), notes=notes, help=help
        )
        return
    condition = f"'{print_expr(read.condition)}' is {'true' if read.holds else 'false'}"
    sink.warning(
        "CF0417",
        f"{what} is read here without a value where {condition}",
        _place(read.span),
        notes=notes,
        help="give it a value for that case, too, where it is declared for example",
    )


def _impossible(nest: Nest, found: Contradiction, sink: DiagnosticSink) -> None:
    first, *others = found.conditions
    guards = [part for guard in nest.state.guards for part in conjuncts(guard)]
    governing = [condition for condition in found.conditions if condition in guards]
    if governing:
        line, condition = nest.span.position[0], term_text(governing[0])
        sink.warning(
            "CF0413",
            f"the region of line {line} never runs: no call meets '{condition}' around it",
            _place(governing[0].span),
            notes=_reasons(found, governing[0]),
            help="correct the condition, or take the region out",
        )
        return
    text, help = "no call meets this assert before the region", "correct or drop it"
    if others:
        text = "no call meets the asserts before this region: they contradict each other"
        help = "correct or drop one of them"
    sink.error(
        "CF0403",
        text,
        _place(first.span),
        notes=_reasons(found, first),
        help=f"{help}: the region would never run",
    )


def _reasons(found: Contradiction, besides: Expr) -> tuple[Note, ...]:
    """Return notes on what contradicts a condition: other conditions, least values and definitions."""
    others = [condition for condition in found.conditions if condition != besides]
    return (
        *(Note(f"'{term_text(other)}' is demanded, too", _place(other.span)) for other in others),
        *(Note(_least(scalar, least), _place(scalar.span)) for scalar, least in found.bounded),
        *(Note(f"'{scalar.name}' is defined here", _place(scalar.span)) for scalar in found.defined),
    )


def _least(scalar: Scalar, least: int) -> str:
    if not scalar.type.is_signed and not least:
        return f"'{scalar.name}' is unsigned"
    reason = "it shapes a block" if scalar.role is Role.PROGRAM else "it is a size"
    return f"'{scalar.name}' is at least {least}: {reason}"


def _first(nest: Nest, witness: Witness) -> str:
    return values_text(user_values(nest, witness.first, witness.parameters))


def _second(nest: Nest, witness: Witness) -> str:
    return values_text(user_values(nest, witness.second, witness.parameters))


def values_text(point: Mapping[str, object]) -> str:
    """Return values of names as a message has them: ``n = 3, alpha = 0.5``."""
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def _place(span: Span) -> Span | None:
    return None if span is GENERATED else span
