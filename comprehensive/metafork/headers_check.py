"""Headers of parallel loops, and jumps out of them.

In: loops of a region whose names are right.  Out: CF0311 where the range of a ``meta_for`` is not known at the
launch, CF0317 where a step never reaches its bound, CF0313 for ``break`` and ``continue`` that belong to no serial
loop.
"""

from __future__ import annotations

from collections.abc import Set

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import (
    Break,
    Continue,
    DoWhile,
    Expr,
    For,
    Index,
    MetaFor,
    Name,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.walk import bodies, statements_in, subexpressions

_SKIP = "put what follows into an 'if' with the opposite condition"


def check_header(loop: For | MetaFor, inside: Set[str], sink: DiagnosticSink) -> None:
    """The range of a parallel loop reads parameters only; ``inside`` are the names declared in the region.

    Of a serial loop only the direction of a constant step is checked.
    """
    step = constant_value(loop.step)
    if step is not None:
        _check_direction(loop, step, sink)
    if isinstance(loop, For):
        return
    for part in (loop.start, loop.bound, loop.step):
        for node in subexpressions(part):
            if isinstance(node, Index):
                what = f"elements of '{node.array}'"
            elif isinstance(node, Name) and node.identifier in inside:
                what = f"'{node.identifier}', which belongs to the region"
            else:
                continue
            sink.error(
                "CF0311",
                f"the range of a parallel loop depends on {what}",
                node.span,
                help="parallel loops have ranges fixed by parameters and host variables, those of the grid also by "
                "sums of iterators around them: take the largest range and put an 'if' inside, or use a serial 'for'",
            )
    if step is None and not _is_parameter(loop.step):
        sink.error(
            "CF0317",
            "the step of a parallel loop is neither a constant nor a parameter",
            loop.step.span,
            help="step by a number or by one parameter",
        )


def _check_direction(loop: For | MetaFor, step: int, sink: DiagnosticSink) -> None:
    wrong_way = (loop.relation in ("<", "<=") and step < 0) or (loop.relation in (">", ">=") and step > 0)
    if step == 0 or wrong_way:
        sink.error(
            "CF0317",
            f"a loop with step {step} and condition '{loop.iterator} {loop.relation} ...' does not end",
            loop.step.span,
            help="let the iterator run towards its bound",
        )


def _is_parameter(step: Expr) -> bool:
    match step:
        case Name():
            return True
        case Unary("-" | "+", operand):
            return _is_parameter(operand)
        case _:
            return False


def check_jumps(body: tuple[Stmt, ...], sink: DiagnosticSink) -> None:
    """Every ``break`` and ``continue`` belongs to a serial loop that holds no parallel one."""
    for statement in body:
        _check_jump(statement, None, sink)


def _check_jump(statement: Stmt, loop: Stmt | None, sink: DiagnosticSink) -> None:
    match statement:
        case Break() | Continue():
            word = "break" if isinstance(statement, Break) else "continue"
            if loop is None:
                sink.error("CF0313", f"'{word}' outside of any loop", statement.span, help="remove it")
            elif isinstance(loop, MetaFor):
                instead = "guard the work of the iterations with an 'if'"
                sink.error(
                    "CF0313",
                    f"'{word}' would leave an iteration of a parallel loop",
                    statement.span,
                    help=f"all iterations of such a loop run, in any order: {instead if word == 'break' else _SKIP}",
                )
            elif any(isinstance(s, MetaFor) for s in statements_in((loop,))):
                sink.error(
                    "CF0313",
                    f"'{word}' would jump over parallel loops",
                    statement.span,
                    help="a block runs such a serial loop together: "
                    + ("put the condition into its bounds" if word == "break" else _SKIP),
                )
        case _:
            inside = statement if isinstance(statement, For | MetaFor | While | DoWhile) else loop
            for body in bodies(statement):
                for inner in body:
                    _check_jump(inner, inside, sink)
