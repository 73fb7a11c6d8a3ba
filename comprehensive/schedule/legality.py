"""Whether the statements of a point can be done for all points of a thread, one statement after the other."""

from __future__ import annotations

from comprehensive.loops.ir import Nest
from comprehensive.loops.rewrite import statements_in
from comprehensive.metafork.ast import Assign, Declare, For, Stmt
from comprehensive.schedule.context import is_same_for_all_points


def jam_obstacle(nest: Nest, body: tuple[Stmt, ...]) -> str | None:
    """Return why the statements of a point cannot be jammed; None where they can."""
    for statement in statements_in(body):
        match statement:
            case Declare(dims=()) | Assign():
                pass
            case For() if is_same_for_all_points(nest, statement):
                pass
            case For():
                return f"the extent of the loop over '{statement.iterator}' is not the same for all points"
            case _:
                return "there is a statement that is neither an assignment nor a loop"
    return None
