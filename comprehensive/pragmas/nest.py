"""The loops that directives say to be parallel: how many, and whether each has the form that OpenMP and OpenACC demand.

In: a loop with its directives.  Out: its dimensions, and what stands inside of them::

    collapse(2)  for (i...) for (j...) S   -->   i, j and S        for (i = 0; i < n; i++) { i++; }   -->   CF1113
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.normalize.canonical import obstacle
from comprehensive.metafork.ast import For, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import RegionText
from comprehensive.pragmas.constructs import Construct, construct
from comprehensive.pragmas.cutting import Loops
from comprehensive.pragmas.dimension import MAXIMUM_LOOPS, Dimension, dimension, grid_of, serial_inside
from comprehensive.pragmas.directives import Directive
from comprehensive.records import replace


def directed(
    text: RegionText,
    loop: For,
    own: Sequence[Directive],
    nested: Mapping[int, tuple[Directive, ...]],
    types: Mapping[str, ScalarType],
    name: Namer,
) -> tuple[tuple[Dimension, ...], tuple[Stmt, ...]] | None:
    """The loops that directives say to be parallel, and what stands inside of them; None after an error."""
    wanted = collapsed(own, text.sink)
    run: list[Dimension] = []
    current: Stmt = loop
    while True:
        assert isinstance(current, For)
        typed = current if current.type is not None else replace(current, type=types[current.iterator])
        if not _check_canonical(typed, types, text.sink):
            return None
        run.append(dimension(typed, types, name))
        types = {**types, typed.iterator: typed.type or ScalarType.INT}
        inner = current.body
        match inner:
            case (For() as following,):
                again = nested.get(following.span.start, ())
                asserted = any(construct(each) is Construct.LOOP for each in again)
            case _:
                following, again, asserted = None, (), False
        if asserted:
            wanted = max(wanted, len(run) + collapsed(again, text.sink))
        if len(run) >= wanted:
            return tuple(run), inner
        if following is None:
            clause = next((c for each in own for c in each.of("collapse")), None)
            text.sink.error(
                "CF1112",
                f"collapse({wanted}) needs {wanted} loops, one right inside of the other, and there are {len(run)}",
                text.keyword.span if clause is None else clause.span,
                help="write a smaller number, or move the statements between the loops into the innermost one",
            )
            return None
        current = following


def collapsed(directives: Sequence[Directive], sink: DiagnosticSink) -> int:
    """The number of loops that directives before one loop mean."""
    wanted = 1
    for clause in (c for each in directives for c in each.of("collapse")):
        text = (clause.argument or "").strip()
        number = int(text) if text.isascii() and text.isdigit() else 0
        if number < 1:
            sink.error(
                "CF1112",
                f"'{text}' in collapse is no positive number",
                clause.span,
                help="write the number of loops, as in collapse(2)",
            )
        else:
            wanted = max(wanted, number)
    return wanted


def _check_canonical(loop: For, types: Mapping[str, ScalarType], sink: DiagnosticSink) -> bool:
    problem = obstacle(loop, types)
    if problem is None:
        return True
    i = loop.iterator
    span = replace(loop.span, end=max(loop.step.span.end, loop.bound.span.end))
    sink.error(
        "CF1113",
        f"the loop over '{i}' {problem}",
        span,
        help=f"write it as 'for (int {i} = first; {i} < bound; {i} += step)' with a range in scalars of the function, "
        "or drop the directive",
    )
    return False


def rectangular(loops: Loops) -> Loops:
    """Return as many of the loops as make a grid: those behind one whose range depends on others too much are serial,
    and so are the outermost ones where there are too many."""
    run = loops.dimensions
    count = 1
    while count < len(run) and grid_of(run[: count + 1]) is not None:
        count += 1
    first = max(0, count - MAXIMUM_LOOPS)
    serial = {each.iterator for each in run[:first]}
    if any(each.reads & serial for each in run[first:count]):
        first, count = 0, MAXIMUM_LOOPS
    inner = serial_inside((*run[:first], *run[count:]), loops.inner)
    return replace(loops, dimensions=run[first:count], inner=inner)
