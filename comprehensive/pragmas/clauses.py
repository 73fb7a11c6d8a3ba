"""The clauses of OpenMP and OpenACC: what the tool does with each.

Read are those that say which values an iteration has of its own, and how many loops a directive means.  Harmless are
those about threads, teams, schedules, and about memory: launchers take pointers to the device, and the tool
chooses the shapes of blocks.  The others are refused, each with what to write instead::

    schedule(static, 4)  -->  harmless        lastprivate(x)  -->  refused: assign x behind the loop
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from enum import Enum

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Fix, Span
from comprehensive.pragmas.directives import NAMES, Clause, Directive


class Treatment(Enum):
    READ = "read"
    HARMLESS = "harmless"
    REFUSED = "refused"


class Rule(Struct, frozen=True):
    """``advice`` is what to do instead of a clause that is refused."""

    treatment: Treatment
    advice: str = ""


def _rows(names: str, rule: Rule) -> Iterator[tuple[str, Rule]]:
    return ((name, rule) for name in names.split())


_READ, _HARMLESS = Rule(Treatment.READ), Rule(Treatment.HARMLESS)


def _refused(advice: str) -> Rule:
    return Rule(Treatment.REFUSED, advice)


_SUM = _refused("write reduction(...) without it, or sum the elements in a loop of its own")

RULES: dict[str, dict[str, Rule]] = {
    "omp": dict(
        [
            *_rows("private firstprivate reduction collapse", _READ),
            # Threads, teams, and how iterations are dealt out to them.
            *_rows(
                "schedule dist_schedule num_threads num_teams thread_limit proc_bind default shared",
                _HARMLESS,
            ),
            *_rows(
                "nowait order safelen simdlen aligned nontemporal bind if device device_type filter",
                _HARMLESS,
            ),
            *_rows("partial full sizes hint seq_cst acq_rel release acquire relaxed update", _HARMLESS),
            # Memory: launchers take pointers to the device.
            *_rows("map to from tofrom defaultmap is_device_ptr has_device_addr use_device_ptr", _HARMLESS),
            *_rows("use_device_addr allocate uses_allocators depend copyprivate uniform inbranch", _HARMLESS),
            *_rows("notinbranch link enter indirect untied message severity", _HARMLESS),
            (
                "lastprivate",
                _refused("declare the variable inside the loop, and compute its last value behind the loop"),
            ),
            ("linear", _refused("compute the value from the iterator of the loop, as in x0 + i * step")),
            (
                "ordered",
                _refused("iterations run in any order: take the part that needs an order out of the loop"),
            ),
            ("copyin", _refused("pass the value as a parameter of the function")),
            ("inscan", _refused("a scan is no parallel loop: write it as a serial loop without a directive")),
            *_rows("inclusive exclusive", _refused("a scan is no parallel loop: drop the directive")),
            *_rows("task_reduction in_reduction", _SUM),
        ]
    ),
    "acc": dict(
        [
            *_rows("private firstprivate reduction collapse independent seq auto", _READ),
            *_rows(
                "gang worker vector num_gangs num_workers vector_length tile async wait if self", _HARMLESS
            ),
            *_rows("copy copyin copyout create delete present no_create deviceptr attach detach", _HARMLESS),
            *_rows("pcopy pcopyin pcopyout pcreate present_or_copy present_or_copyin", _HARMLESS),
            *_rows("present_or_copyout present_or_create default device device_type dtype host", _HARMLESS),
            *_rows("use_device if_present finalize update device_num default_async nohost", _HARMLESS),
            *_rows("device_resident link", _HARMLESS),
            ("bind", _refused("let the loop call a function of <math.h>, or write its value out")),
        ]
    ),
    "scop": {},
}


def check_clauses(directive: Directive, sink: DiagnosticSink) -> bool:
    """Reports clauses that are refused (CF1102) or that there are not (CF1103); whether there were none."""
    rules = RULES[directive.model]
    fine = True
    for clause in directive.clauses:
        rule = rules.get(clause.name)
        if rule is None:
            _unknown(directive, clause, sink)
        elif clause.name == "reduction" and ":" not in (clause.argument or ""):
            sink.error(
                "CF1103",
                "a reduction clause names an operator, ':' and variables",
                clause.span,
                help="write 'reduction(+: s)'",
            )
        elif rule.treatment is Treatment.REFUSED:
            sink.error(
                "CF1102",
                f"the clause '{clause.name}' of '{directive.name}' is not supported",
                clause.span,
                help=rule.advice,
            )
        else:
            continue
        fine = False
    return fine


def _unknown(directive: Directive, clause: Clause, sink: DiagnosticSink) -> None:
    close = get_close_matches(clause.name, RULES[directive.model], 1, 0.75)
    help = f"write '{close[0]}'" if close else "drop it"
    model = NAMES[directive.model]
    name = Span(clause.span.file, clause.span.start, clause.span.start + len(clause.name))
    fix = Fix.write(name, close[0]) if close and name.text == clause.name else None
    sink.error("CF1103", f"{model} has no clause '{clause.name}' here", clause.span, help=help, fix=fix)


class Reduction(Struct, frozen=True):
    """``reduction(+: s, h[0:n])``; each variable with its section, which is empty for a scalar."""

    operator: str
    items: tuple[tuple[str, str], ...]
    clause: Clause


def private_names(directive: Directive) -> tuple[str, ...]:
    """The variables of which an iteration has its own."""
    clauses = directive.of("private", "firstprivate")
    return tuple(name for clause in clauses for name, _ in items_of(clause.argument or ""))


def reductions(directive: Directive) -> tuple[Reduction, ...]:
    """Return the reductions of the directive: what it adds up, or puts together in another way."""
    found: list[Reduction] = []
    for clause in directive.of("reduction"):
        head, _, listed = (clause.argument or "").partition(":")
        operator = head.rpartition(",")[2].strip()
        found.append(Reduction(operator, items_of(listed), clause))
    return tuple(found)


def items_of(listed: str) -> tuple[tuple[str, str], ...]:
    """``a[0:n], s`` as names and the rest of each: ``("a", "[0:n]"), ("s", "")``."""
    found: list[tuple[str, str]] = []
    depth, first = 0, 0
    for position, sign in enumerate(listed + ","):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            item = listed[first:position].strip()
            name = item.partition("[")[0].strip()
            if name:
                found.append((name, item[len(name) :].strip()))
            first = position + 1
    return tuple(found)
