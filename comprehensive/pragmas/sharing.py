"""The scalars that every iteration has for itself (private), and those that all of them share.

In: a loop with its directives.  Out: the loop with variables of its own, and errors for shared ones that iterations
change: in C an iterator that is declared outside of a parallel loop is shared, unless a clause says otherwise::

    int j;                                            '#pragma omp parallel for' alone: CF1107, a race
    for (i = 0; i < n; i++) for (j = 0; ...) ...      with private(j): a variable j of every iteration
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.loops.normalize.assigned_first import flow
from comprehensive.loops.normalize.local_scalars import declared_late, with_local
from comprehensive.loops.scopes import free_names
from comprehensive.loops.traverse import declared_names, rename
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Expr,
    For,
    HostScalar,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import RegionText
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.walk import names, own_expressions, statements_in, subexpressions
from comprehensive.pragmas.clauses import private_names, reductions
from comprehensive.pragmas.directives import Directive
from comprehensive.pragmas.mark import Rest, Team
from comprehensive.pragmas.nest import collapsed


class Shared(Struct, frozen=True):
    """The loop with renamed variables; ``types`` are those of its own variables, ``scalars`` what host code still
    gives it, ``sums`` the new names of what begins with the value of host code."""

    loop: For
    types: Mapping[str, ScalarType]
    scalars: tuple[HostScalar, ...]
    sums: Mapping[str, str]


def privatised(
    text: RegionText,
    directed: For,
    loop: For,
    own: Sequence[Directive],
    nested: Mapping[int, tuple[Directive, ...]],
    teams: Sequence[Team],
    behind: Rest,
    name: Namer,
) -> Shared | None:
    """The loop with variables of its own; None after errors.

    ``own`` are the directives of the loop that is ``directed``, ``nested`` those of loops in it by their offsets,
    ``teams`` those in whose statements it stands, ``behind`` is what comes after it.
    Where that stands in ``loop`` with the assignments that take its sums, these sums begin with the value that they
    have around the loop.
    """
    sums: frozenset[str] = frozenset() if directed is loop else _summed(own)
    all_directives = [*own, *(each for s in _loops(loop) for each in nested.get(s.span.start, ()))]
    listed = {n for each in all_directives for n in private_names(each)}
    listed |= {item for each in all_directives[len(own) :] for r in reductions(each) for item, _ in r.items}
    for team in teams:
        listed |= set(private_names(team.directive))
        listed |= {s.name for s in text.around.scalars if team.holds(s.span.start)}
    private = _private(text, directed, loop, own, nested, listed, sums)
    if private is None:
        return None
    known = text.types
    for variable in private:
        if variable not in known or variable in text.around.opaque:
            text.sink.error(
                "CF1110",
                f"'{variable}' belongs to every iteration, and its declaration is not understood",
                _first_write(loop, variable),
                help=f"declare '{variable}' inside of the loop",
            )
            return None
    again = behind.reads(frozenset(private) - sums)
    if again is not None:
        text.sink.error(
            "CF1117",
            f"'{again.text}' belongs to the iterations of the loop over '{directed.iterator}', and is read behind it",
            again.span,
            notes=(Note("it is changed here", _first_write(loop, again.text)),),
            help="assign it before it is read: no value of an iteration comes back from the device",
        )
        return None
    # What the loop declares may hide a variable of host code: either is gone, or has another name.
    own_names = (*private, *sorted(declared_names((loop,)) - free_names((loop,))))
    fixed = _mentioned_outside(text) | sums
    renamed = {variable: name(variable) for variable in own_names if variable in fixed}
    (changed,) = rename((loop,), renamed)
    assert isinstance(changed, For)
    gone = frozenset(own_names) - fixed
    return Shared(
        changed,
        {renamed.get(variable, variable): known[variable] for variable in private},
        tuple(s for s in text.around.scalars if s.name not in gone),
        {variable: renamed[variable] for variable in private if variable in sums},
    )


def with_locals(
    text: RegionText, inner: tuple[Stmt, ...], types: Mapping[str, ScalarType]
) -> tuple[Stmt, ...] | None:
    """Return the body of an iteration, with its variables declared; None after an error (CF1108)."""
    for variable, kind in types.items():
        read = flow(inner, variable).read
        if read is not None:
            text.sink.error(
                "CF1108",
                f"'{variable}' is read before this iteration assigns it: its value is that of another iteration",
                read,
                help="assign it first in every iteration, or make it a sum with reduction(+: ...); what runs from "
                "one iteration to the next one is a serial loop",
            )
            return None
        inner = with_local(inner, variable, kind)
    return declared_late(inner)


def _loops(loop: For) -> Iterable[For]:
    return (s for s in statements_in((loop,)) if isinstance(s, For))


def _private(
    text: RegionText,
    directed: For,
    loop: For,
    own: Sequence[Directive],
    nested: Mapping[int, tuple[Directive, ...]],
    listed: AbstractSet[str],
    sums: AbstractSet[str],
) -> list[str] | None:
    """The variables from outside that iterations have for themselves; None after errors about shared ones."""
    inside = declared_names((loop,))
    # The iterators of loops that a directive means are private; in OpenACC every scalar is that is assigned.
    iterators = _associated(directed, own)
    for inner in _loops(directed):
        if inner.span.start in nested:
            iterators |= _associated(inner, nested[inner.span.start])
    everything = all(each.model != "omp" for each in own)
    found: dict[str, Span] = {}
    for statement in statements_in((loop,)):
        match statement:
            case Assign(target=Name(identifier=variable)):
                found.setdefault(variable, statement.span)
            case For(type=None, iterator=variable):
                found.setdefault(variable, _header(statement))
            case _:
                pass
    private: list[str] = []
    # What every iteration assigns first is its own, whatever a clause would put together of it.
    listed = listed | {each for each in _summed(own) - sums if flow(directed.body, each).read is None}
    summed = _summed(own) - sums - listed
    fine = True
    for variable, span in found.items():
        if variable in inside:
            continue
        if variable in summed:
            fine = _report_scalar_sum(text, variable, span)
        elif variable in listed or variable in iterators or variable in sums or everything:
            private.append(variable)
        else:
            fine = _report_shared(text, directed, own, variable, span)
    return private if fine else None


def _summed(own: Sequence[Directive]) -> frozenset[str]:
    return frozenset(
        item for each in own for r in reductions(each) for item, section in r.items if not section
    )


def _associated(loop: For, directives: Sequence[Directive]) -> set[str]:
    """The iterators of the loops that directives before a loop mean."""
    found: set[str] = set()
    current: Stmt = loop
    for _ in range(collapsed(directives, DiagnosticSink())):
        if not isinstance(current, For):
            break
        found.add(current.iterator)
        if len(current.body) != 1:
            break
        current = current.body[0]
    return found


def _header(loop: For) -> Span:
    return Span(loop.span.file, loop.span.start, max(loop.step.span.end, loop.bound.span.end))


def _mentioned_outside(text: RegionText) -> frozenset[str]:
    """Scalars on which more than the loop itself depends: an own variable of the loop gets another name."""
    around = text.around
    read: list[Expr] = [*around.preconditions, *around.facts, *around.guards]
    read += [s.value for s in around.scalars if s.value is not None]
    read += [dim for a in around.arrays for dim in a.dims]
    read += [dim for p in text.parameters for dim in p.dims if dim is not None]
    read += [part for loop in around.loops for part in (loop.start, loop.bound)]
    mentioned = {name for expression in read for name in names(expression)}
    return frozenset(mentioned | {loop.iterator for loop in around.loops} | {p.name for p in text.parameters})


def _first_write(loop: For, variable: str) -> Span:
    for statement in statements_in((loop,)):
        match statement:
            case Assign(target=Name(identifier=found)) if found == variable:
                return statement.span
            case For(iterator=found) if found == variable:
                return _header(statement)
            case _:
                pass
    return loop.span


# --- errors ---------------------------------------------------------------------------------------------------


def _report_shared(text: RegionText, loop: For, own: Sequence[Directive], variable: str, span: Span) -> bool:
    """A variable that all iterations have in common, and each changes; False."""
    first = print_expr(loop.start)
    second = _next(loop)
    shape = _sum_operator(loop, variable)
    if any(variable in names(part) for part in (loop.start, loop.bound, loop.step)):
        advice = f"the range of the loop depends on '{variable}': assign another variable, declared inside of the loop"
    elif shape is not None:
        advice = f"it is a sum: add reduction({shape}: {variable})"
    elif flow(loop.body, variable).read is None:
        advice = f"add private({variable}), or declare '{variable}' inside of the loop"
    else:
        advice = f"the value of '{variable}' runs from one iteration to the next one: a serial loop, drop the directive"
    text.sink.error(
        "CF1107",
        f"all iterations of the loop over '{loop.iterator}' share '{variable}', and each changes it",
        span,
        notes=(
            Note(
                f"it is written at {loop.iterator} = {first} and at {loop.iterator} = {second}, in any order",
                span,
            ),
            *(Note(f"'{each.name}' says that they are independent", each.span) for each in own[:1]),
        ),
        help=advice,
    )
    return False


def _next(loop: For) -> str:
    """The iterator in the second iteration."""
    match loop.start, loop.step:
        case IntLiteral(start), IntLiteral(step):
            return str(start + step)
        case start, step:
            return print_expr(Binary("+", start, step))


def _sum_operator(loop: For, variable: str) -> str | None:
    """The operator of a reduction, where a variable is updated with one and not read otherwise."""
    found: set[str] = set()
    for statement in statements_in((loop,)):
        match statement:
            case Assign(target=Name(identifier=target), operator=operator, value=value) if target == variable:
                if operator == "=" or variable in names(value):
                    return None
                found.add("+" if operator == "-=" else operator.removesuffix("="))
            case _:
                pass
    reads = sum(
        isinstance(node, Name) and node.identifier == variable
        for statement in statements_in((loop,))
        for part in own_expressions(statement)
        for node in subexpressions(part)
    )
    updates = sum(
        isinstance(s, Assign) and isinstance(s.target, Name) and s.target.identifier == variable
        for s in statements_in((loop,))
    )
    return found.pop() if len(found) == 1 and reads == updates else None


def _report_scalar_sum(text: RegionText, variable: str, span: Span) -> bool:
    """A reduction in a variable of host code, which the device cannot change; False."""
    text.sink.error(
        "CF1109",
        f"'{variable}' is a variable of host code, and the loop that reduces to it runs on the device",
        span,
        help=f"let the function take a pointer, and write '*result = {variable};' right behind the loop as the only "
        f"use of '{variable}', or 'return {variable};' as the only return; the program reads it after the call",
    )
    return False
