"""The parallel loops of a region: grid, block, and what may stand between them.

In: a region whose names are right.  Out: CF03xx errors, or none and then the region has this form::

    meta_for x 1..3                              the grid
      serial for, uniform if, uniform scalars    any of them, or none
        meta_for x 1..3                          a band: the threads of a block; all bands have the same extents

A perfect nest of 2k loops is k loops of the grid around k of the block (:func:`split_nest`).
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, field

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    MetaFor,
    MetaSchedule,
    Name,
    Stmt,
    While,
)
from comprehensive.metafork.headers_check import check_header, check_jumps
from comprehensive.metafork.walk import bodies, own_expressions, statements_in, subexpressions


class SplitNest(NamedTuple):
    """``grid`` outermost first; ``body`` is what a block runs, and holds the thread loops."""

    grid: tuple[MetaFor, ...]
    body: tuple[Stmt, ...]


def perfect_run(loop: MetaFor) -> tuple[MetaFor, ...]:
    """The loop and those nested in it with nothing between."""
    run = [loop]
    while len(run[-1].body) == 1 and isinstance(inner := run[-1].body[0], MetaFor):
        run.append(inner)
    return tuple(run)


def split_nest(loop: MetaFor) -> SplitNest:
    """The grid of the outermost parallel loop of a region and the rest.

    A perfect nest is halved; of an odd one the grid gets the smaller half (the check refuses it).
    """
    run = perfect_run(loop)
    if any(isinstance(s, MetaFor) for s in statements_in(run[-1].body)):
        return SplitNest(run, run[-1].body)
    half = len(run) // 2
    return SplitNest(run[:half], (run[half],))


def check_structure(region: MetaSchedule, sink: DiagnosticSink) -> None:
    """Reports what keeps the region from being a grid of blocks of threads."""
    loops = [s for s in statements_in(region.body) if isinstance(s, MetaFor)]
    if not loops:
        sink.error(
            "CF0301",
            "this meta_schedule has no meta_for",
            _keyword(region.span, "meta_schedule"),
            help="write the loops to be run in parallel as 'meta_for', or remove meta_schedule",
        )
        return
    check_jumps(region.body, sink)
    inside = {name for statement in statements_in(region.body) for name in _declared(statement)}
    for statement in statements_in(region.body):
        if isinstance(statement, For | MetaFor):
            check_header(statement, inside, sink)
    outermost = [s for s in region.body if isinstance(s, MetaFor)]
    for statement in region.body:
        if not isinstance(statement, MetaFor):
            _outside(statement, sink)
    for further in outermost[1:]:
        sink.error(
            "CF0307",
            "a region has one outermost meta_for",
            _keyword(further.span, "meta_for"),
            help="put each nest into a meta_schedule of its own; they run one after the other",
        )
    if len(outermost) == 1 and len(region.body) == 1:
        _check_nest(outermost[0], sink)


def _keyword(span: Span, word: str) -> Span:
    return Span(span.file, span.start, span.start + len(word))


def _declared(statement: Stmt) -> tuple[str, ...]:
    match statement:
        case Declare():
            return (statement.name,)
        case For() | MetaFor():
            return (statement.iterator,)
        case _:
            return ()


def _outside(statement: Stmt, sink: DiagnosticSink) -> None:
    match statement:
        case For() | While() | DoWhile() if any(isinstance(s, MetaFor) for s in statements_in((statement,))):
            help_text = (
                "put the serial loop around the meta_schedule: one launch of the grid for each iteration"
            )
        case Declare():
            help_text = "declare it before the meta_schedule, or inside the loops"
        case Block():
            help_text = "remove these braces"
        case _:
            help_text = "move it into the meta_for loops, or out of the region"
    text = "a statement of a region stands outside its meta_for loops"
    sink.error("CF0307", text, _head(statement), help=help_text)


def _head(statement: Stmt) -> Span:
    """A statement for a caret: without its body."""
    match statement:
        case If(condition) | While(condition):
            return statement.span.to(condition.span)
        case For() | MetaFor():
            end = max(statement.bound.span.end, statement.step.span.end)
            return Span(statement.span.file, statement.span.start, end)
        case Block() | DoWhile():
            return Span(statement.span.file, statement.span.start, statement.span.start + 1)
        case _:
            return statement.span


def _check_nest(loop: MetaFor, sink: DiagnosticSink) -> None:
    run = perfect_run(loop)
    is_perfect = not any(isinstance(s, MetaFor) for s in statements_in(run[-1].body))
    if is_perfect and len(run) % 2 == 1:
        sink.error(
            "CF0308",
            f"a nest of {len(run)} meta_for cannot be halved into a grid and blocks of threads",
            _keyword(loop.span, "meta_for"),
            help="let the tool cut loops into blocks of threads: "
            f"'meta_schedule block({_block_sizes(len(run))})', with these sizes as parameters of the function; or give "
            "every dimension two loops: 'meta_for (int v = 0; v < dim; v++)' over blocks around 'meta_for (int u = 0; "
            "u < B; u++)' over threads",
        )
        return
    _, body = split_nest(loop)
    _BlockChecker(sink).body(body, frozenset())


def _block_sizes(loops: int) -> str:
    return "B" if loops == 1 else ", ".join(f"B{number}" for number in range(loops))


class _BlockChecker(Struct):
    """The check of what stands between the grid and the threads."""

    sink: DiagnosticSink
    bands: list[tuple[MetaFor, ...]] = field(default_factory=lambda: [])

    def body(self, body: tuple[Stmt, ...], uniform: frozenset[str]) -> None:
        for statement in body:
            match statement:
                case MetaFor():
                    self._band(statement, uniform)
                case Declare() if not statement.dims and statement.initial is not None:
                    self._no_data(statement.initial)
                    uniform |= {statement.name}
                case For(type=None):
                    self._misplaced(statement)
                case For() | If():
                    for part in own_expressions(statement):
                        self._no_data(part)
                    for inner in bodies(statement):
                        self.body(inner, uniform)
                case _:
                    self._misplaced(statement)

    def _no_data(self, expression: Expr) -> None:
        for node in subexpressions(expression):
            if isinstance(node, Index):
                self.sink.error(
                    "CF0316",
                    f"'{node.array}' is read between the grid and the thread loops",
                    node.span,
                    help="what a whole block decides may depend on parameters and iterators only: read the "
                    "array inside the thread loops",
                )

    def _misplaced(self, statement: Stmt) -> None:
        help_text = "move it into the thread loops"
        match statement:
            case Assign():
                what = "an assignment"
            case Declare():
                what = "a local array" if statement.dims else "a variable without a value"
                if not statement.dims:
                    help_text = (
                        "give it its only value where it is declared, or move it into the thread loops"
                    )
            case Block():
                what, help_text = "a block of its own", "remove these braces"
            case For():
                what, help_text = "a loop over an outer variable", "declare its iterator: for (int k = ...)"
            case While() | DoWhile():
                what, help_text = "a while loop", "write a 'for' loop whose bounds depend on parameters only"
            case Break() | Continue():
                return  # reported as a jump
            case _:
                what = "this statement"
        text = f"{what} cannot stand between the grid and the thread loops"
        self.sink.error("CF0310", text, _head(statement), help=help_text)

    def _band(self, loop: MetaFor, uniform: frozenset[str]) -> None:
        run = perfect_run(loop)
        body = run[-1].body
        for statement in statements_in(body):
            if isinstance(statement, MetaFor):
                self.sink.error(
                    "CF0315",
                    "a meta_for stands inside the thread loops",
                    _keyword(statement.span, "meta_for"),
                    notes=(Note("the thread loops begin here", _keyword(loop.span, "meta_for")),),
                    help="nest the thread loops with nothing between them, or write 'for'",
                )
                return
            match statement:
                case Assign(Name(name)) if name in uniform:
                    self._shared_write(statement)
                case _:
                    pass
        self._same_extents(run)

    def _shared_write(self, statement: Assign) -> None:
        self.sink.error(
            "CF0316",
            "a variable of the whole block is changed by its threads",
            statement.span,
            help="declare it inside the thread loops",
        )

    def _same_extents(self, run: tuple[MetaFor, ...]) -> None:
        if self.bands and [_range(loop) for loop in run] != [_range(loop) for loop in self.bands[0]]:
            first = self.bands[0][0]
            self.sink.error(
                "CF0312",
                "thread loops of one region differ in their extents",
                _keyword(run[0].span, "meta_for"),
                notes=(Note("the first thread loops", _keyword(first.span, "meta_for")),),
                help="a block has one shape: use the same bounds in all, and 'if' inside for fewer threads",
            )
        self.bands.append(run)


def _range(loop: MetaFor) -> tuple[Expr, str, Expr, Expr]:
    return loop.start, loop.relation, loop.bound, loop.step
