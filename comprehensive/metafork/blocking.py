"""The block clause: a nest of plain parallel loops in, the same points cut into blocks of threads out.

::

    meta_schedule block(B) { meta_for (int i = 1; i < n - 1; i++) S }
        -->  meta_for (int i_block = 0; i_block < (n - 1 - 1 + B - 1) / B; i_block++)
               meta_for (int i_thread = 0; i_thread < B; i_thread++) {
                 int i = 1 + i_block * B + i_thread;
                 if (i < n - 1) S
               }

A triangle is cut as the rectangle around it (`rectangle.py`); a block that is outside of it as a whole does nothing.
In steps of ``c`` the iterator is ``c`` times the number of the turn behind, or before, its first value; where such a
loop's range depends on others, it counts its turns (`numbered.py`).

One name a loop, outermost first; each is an integer parameter of the function, and the tool chooses its value where
the caller does not.  A number in its place is the extent of all blocks.  Everything after the parser sees the second
form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Cut,
    Declare,
    Expr,
    For,
    If,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.numbered import Numbered, numbered
from comprehensive.metafork.rectangle import Ends, Rectangle, plus, possible, rectangular
from comprehensive.metafork.reserved import why_reserved
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.structure import perfect_run
from comprehensive.metafork.terms import conjunction
from comprehensive.metafork.walk import names, statements_in
from comprehensive.records import replace

ZERO, ONE = IntLiteral(0), IntLiteral(1)
MOST_THREADS = 1024
"""The most threads of a block, on every GPU so far."""


def blocked(
    body: tuple[Stmt, ...],
    extents: Sequence[Name | IntLiteral],
    parameters: Sequence[Parameter],
    taken: frozenset[str],
    unsteady: frozenset[str],
    clause: Span,
    sink: DiagnosticSink,
) -> tuple[Stmt, ...]:
    """The body in blocks; as it is after an error (CF0323).

    An extent is the name of a parameter, which is chosen, or a number, which is not.
    ``taken`` are names that iterators must not have; ``unsteady`` those that host code declares again or changes.
    """
    shape, counted = Rectangle((), ()), Numbered((), {})
    match body:
        case (MetaFor() as outermost,):
            written = [_to_its_bound(loop) for loop in perfect_run(outermost)]
            shape = rectangular(written)
            counted = numbered(written, Namer(taken))
            other = rectangular(counted.loops)
            assigned = (
                s for loop, _ in counted.values.values() for s in written[-1].body if _changes(s, loop)
            )
            if _are_independent(other.loops) and not any(assigned):
                shape = other
            else:
                counted = Numbered((), {})
        case _:
            pass
    run = shape.loops
    inner = run[-1].body if run else body
    if not any(isinstance(s, MetaFor) for s in statements_in(body)):
        return body  # CF0301
    if not run or any(isinstance(s, MetaFor) for s in statements_in(inner)):
        sink.error(
            "CF0323",
            "a region with a block clause is one nest of meta_for with nothing between them",
            clause,
            help="remove the clause and write the loops of blocks and threads, or move statements into the nest",
        )
        return body
    sizes = {name for p in parameters for d in p.dims if d is not None for name in names(d)}
    given = prod(extent.value for extent in extents if isinstance(extent, IntLiteral))
    if not 1 <= given <= MOST_THREADS or any(isinstance(e, IntLiteral) and e.value < 1 for e in extents):
        sink.error(
            "CF0323",
            f"the block clause asks for {given} threads, and a block has 1 to {MOST_THREADS}",
            clause,
            help="write smaller numbers, or name parameters: their values are chosen",
        )
        return body
    for extent in extents:
        if isinstance(extent, IntLiteral):
            continue
        chosen = any(
            p.name == extent.identifier and not p.is_data and p.type is ScalarType.INT for p in parameters
        )
        what: str | None = None
        if not chosen:
            what = "is no int parameter of the function"
        elif extent.identifier in sizes:
            what = "gives a dimension of data"
        elif extent.identifier in unsteady:
            what = "is declared again or changed by host code"
        if what is not None:
            sink.error(
                "CF0323",
                f"'{extent.identifier}' in the block clause {what}",
                extent.span,
                help="name a parameter of its own, 'int B': its value is chosen, and at least 1",
            )
            return body
    if len(run) != len(extents):
        sink.error(
            "CF0323",
            f"the block clause has {_count(len(extents), 'name')}, and the nest {_count(len(run), 'loop')}",
            clause,
            help="name one parameter for each meta_for, or give a number for it",
        )
        return body
    if not all([_can_be_cut(loop, run, inner, sink) for loop in run]):
        return body
    own = (Declare(ScalarType.INT, p.iterator, initial=v, span=p.span) for p, v in counted.values.values())
    return _cut(shape, extents, (*own, *inner), taken | counted.values.keys(), counted)


def _are_independent(run: Sequence[MetaFor]) -> bool:
    """Whether no range reads an iterator of the run."""
    iterators = {loop.iterator for loop in run}
    return not any(iterators & {*names(loop.start), *names(loop.bound)} for loop in run)


def _changes(statement: Stmt, loop: MetaFor) -> bool:
    return any(_assigns(s, loop.iterator) for s in statements_in((statement,)))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _can_be_cut(loop: MetaFor, run: Sequence[MetaFor], inner: tuple[Stmt, ...], sink: DiagnosticSink) -> bool:
    iterators = {other.iterator for other in run}
    bounds = (loop.start, loop.bound)
    problem: str | None = None
    help = "write it as 'meta_for (int i = first; i < bound; i++)' with bounds in scalars of the function"
    if not loop.type.is_integer or _step(loop) is None:
        problem = "does not count to its bound in constant steps in an integer"
    elif any(name in iterators for bound in bounds for name in names(bound)):
        problem = "has bounds that depend on another loop of the nest"
        help += ", and choose its iterations in the body, as in 'if ((i + j) % 2 == 0)'"
    elif any(_assigns(s, loop.iterator) for s in statements_in(inner)):
        problem = "assigns its iterator"
    if problem is None:
        return True
    sink.error(
        "CF0323",
        f"the loop over '{loop.iterator}' {problem}, and a block clause cannot cut it",
        loop.span,
        help=help,
    )
    return False


def _to_its_bound(loop: MetaFor) -> MetaFor:
    """A loop that ends where it is not ``!=`` its bound as one that is ``<`` it: beyond the bound it would not end."""
    first = loop.start.value if isinstance(loop.start, IntLiteral) else -1
    is_before = first == 0 or (first > 0 and loop.type.is_signed)  # also where the bound is unsigned
    is_less = (loop.relation, loop.step) == ("!=", ONE) and loop.type.is_integer and is_before
    return replace(loop, relation="<") if is_less else loop


def _step(loop: MetaFor) -> int | None:
    """The constant step of a loop to its bound, negative where it counts down; None for other loops."""
    if not isinstance(loop.step, IntLiteral):
        return None
    step = loop.step.value
    # An unsigned iterator that counts down would be large again behind its last value.
    goes_there = (
        loop.relation in ("<", "<=") if step > 0 else loop.relation in (">", ">=") and loop.type.is_signed
    )
    return step if step and goes_there else None


def _assigns(statement: Stmt, name: str) -> bool:
    match statement:
        case Assign(target=Name(identifier=target)):
            return target == name
        case For(type=None, iterator=iterator):
            return iterator == name
        case _:
            return False


def _cut(
    shape: Rectangle,
    extents: Sequence[Name | IntLiteral],
    inner: tuple[Stmt, ...],
    taken: frozenset[str],
    counted: Numbered,
) -> tuple[Stmt, ...]:
    name, run = Namer(taken), shape.loops
    blocks = [name(_own(loop.iterator, "block")) for loop in run]
    threads = [name(_own(loop.iterator, "thread")) for loop in run]
    values: list[Stmt] = []
    cuts: list[Cut] = []
    places: dict[str, Expr] = {}
    inside: list[Expr] = []
    ends: dict[str, Ends] = {}
    for loop, extent, block, thread in zip(run, extents, blocks, threads, strict=True):
        # A value of a narrow type is one of int wherever it is read, and the places behind the last one fit, too.
        kind = promote(loop.type)
        value = _place(loop, kind, block, extent, thread)
        values.append(Declare(kind, loop.iterator, initial=value, span=loop.span))
        places[loop.iterator] = value
        cuts.append(_cut_of(loop, places, counted))
        # Behind the last one of 32 bits an unsigned iterator would be at its first values again, and so would one in
        # larger steps.
        reached: Expr = Name(loop.iterator)
        if kind is ScalarType.UNSIGNED or (kind is ScalarType.INT and loop.step not in (ONE, IntLiteral(-1))):
            reached = _place(loop, ScalarType.LONG, block, extent, thread)
        inside.append(Binary(loop.relation, reached, loop.bound, loop.span))
        if loop.step == ONE:  # guards speak of no others
            first = plus(Binary("*", Name(block), extent), loop.start)
            ends[loop.iterator] = Ends(first, Binary("+", first, Binary("-", extent, ONE)))
    body: tuple[Stmt, ...] = (*values, If(conjunction([*inside, *shape.guards]), inner, span=run[-1].span))
    for loop, extent, thread, cut in reversed(list(zip(run, extents, threads, cuts, strict=True))):
        body = (MetaFor(ScalarType.INT, thread, ZERO, "<", extent, ONE, body, loop.span, cut),)
    anywhere = [found for guard in shape.guards if (found := possible(guard, ends)) is not None]
    if anywhere:
        body = (If(conjunction(anywhere), body, span=run[-1].span),)
    for loop, extent, block, cut in reversed(list(zip(run, extents, blocks, cuts, strict=True))):
        body = (MetaFor(ScalarType.INT, block, ZERO, "<", _blocks(loop, extent), ONE, body, loop.span, cut),)
    return body


def _cut_of(loop: MetaFor, places: Mapping[str, Expr], counted: Numbered) -> Cut:
    """The loop of the program of which a cut one is, with the value of its iterator."""
    if loop.iterator not in counted.values:
        return Cut(loop.iterator, places[loop.iterator])
    program, value = counted.values[loop.iterator]
    return Cut(program.iterator, substitute(value, places))


def _place(loop: MetaFor, kind: ScalarType, block: str, extent: Name | IntLiteral, thread: str) -> Expr:
    """Return the value of the iterator, computed in a type that is no narrow one."""
    counter = Name(block) if kind is ScalarType.INT else Cast(kind, Name(block), loop.span)
    first = counter if extent == ONE else Binary("*", counter, extent)
    place: Expr = Binary("+", first, Name(thread), loop.span)
    step = _step(loop)
    assert step is not None
    if abs(step) > 1:
        place = Binary("*", place, IntLiteral(abs(step)), loop.span)
    if loop.start == ZERO and step > 0:
        return place
    return Binary("+" if step > 0 else "-", loop.start, place, loop.span)


def _own(iterator: str, of: str) -> str:
    """``i_block``, or ``block_of_cf`` where a program may not have a name such as ``cf_block``."""
    name = f"{iterator}_{of}"
    return f"{of}_of_{iterator}" if why_reserved(name) is not None else name


def _blocks(loop: MetaFor, extent: Name | IntLiteral) -> Expr:
    """The number of blocks: that of the iterations over the extent, rounded up.

    Where the loop counts in an unsigned type or one of 64 bits, so is the number computed: nothing wraps around.
    """
    step = _step(loop)
    assert step is not None
    first, last = (loop.start, loop.bound) if step > 0 else (loop.bound, loop.start)
    if promote(loop.type) is not ScalarType.INT:
        last = Cast(ScalarType.LONG, last, last.span)
        first = first if isinstance(first, IntLiteral) else Cast(ScalarType.LONG, first, first.span)
    count = last if first == ZERO else Binary("-", last, first, loop.span)
    is_open = loop.relation in ("<", ">")
    if abs(step) > 1:
        more = Binary("+", count, IntLiteral(abs(step) - is_open), loop.span)
        count, is_open = Binary("/", more, IntLiteral(abs(step)), loop.span), True
    # A relation <= has one more, so that nothing is left to be taken away.
    rounded = Binary("+", count, extent, loop.span)
    if is_open:
        rounded = Binary("-", rounded, ONE, loop.span)
    return Binary("/", rounded, extent, loop.span)
