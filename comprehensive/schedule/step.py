"""One step of a serial loop, for all points of a thread.

In: where references to the pieces go.  Out: the statements of the loop, each done for all points.  Every sum keeps its
order, so that the result is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from comprehensive.kernel_ir.terms import constant
from comprehensive.metafork.ast import Assign, Declare, Expr, For, If, Index, Name, Stmt
from comprehensive.metafork.rewrite import map_expression
from comprehensive.records import replace
from comprehensive.schedule.operands import OperandTile
from comprehensive.schedule.unroll_and_jam import UnrollAndJam


class Step(Struct, frozen=True):
    """A step of a serial loop; ``jam`` knows where all references go but those to the ``pieces``."""

    jam: UnrollAndJam
    loop: For
    pieces: Mapping[str, OperandTile]

    def at(
        self,
        number: Expr,
        element: Callable[[str], Index],
        *,
        serpentine: bool = False,
        by_all: bool = True,
    ) -> tuple[Stmt, ...]:
        """The statements in the step ``number``; ``element`` gives what a point reads of a piece.

        Unless a step is done ``by_all`` points, those do it whose step it is.
        """

        def of_piece(expr: Expr) -> Expr:
            def replaced(e: Expr) -> Expr:
                return element(e.array) if isinstance(e, Index) and e.array in self.pieces else e

            return self.jam.reference(map_expression(expr, replaced))

        jam = replace(self.jam, reference=of_piece, serpentine=serpentine)
        steps = jam.context.tile.steps
        condition = None if by_all or steps is None else steps.condition(Name(self.loop.iterator))
        jammed = tuple(s for statement in self.loop.body for s in _jammed(jam, statement, condition))
        return (constant(self.loop.iterator, number), *jammed)


def _jammed(jam: UnrollAndJam, statement: Stmt, condition: Expr | None) -> tuple[Stmt, ...]:
    """The statement for all points, at those that meet a condition."""
    if condition is None:
        if isinstance(statement, Declare):
            return jam.declared(statement)
        return jam.at_points((jam.one(statement),))
    if not isinstance(statement, Declare):
        return jam.at_points((If(condition, (jam.one(statement),)),))
    first = () if statement.initial is None else (Assign(Name(statement.name), "=", statement.initial),)
    values = tuple(If(condition, (jam.one(each),)) for each in first)
    return (*jam.declared(replace(statement, initial=None)), *(jam.at_points(values) if values else ()))
