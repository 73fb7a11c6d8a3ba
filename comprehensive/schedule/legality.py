"""Whether the statements of a point can be done for all points of a thread, one statement after the other.

Points may run in any order, and the variables of a nest have names of their own, so that it is right whatever the
statements are; what is asked is whether there is room for what they declare.
"""

from __future__ import annotations

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Assign, Declare, For, Stmt
from comprehensive.metafork.walk import statements_in
from comprehensive.schedule.context import is_same_for_all_points
from comprehensive.schedule.unroll_and_jam import jammed_scalars


def point_obstacle(nest: Nest, body: tuple[Stmt, ...]) -> str | None:
    """Return why the statements of a point cannot be done for several points; None where they can.

    Scalars of a point become arrays.  A statement that not all points do together, as under a condition on data, is
    done point by point, with what it declares.
    """
    held = jammed_scalars(nest, body)
    for statement in statements_in(body):
        if isinstance(statement, Declare) and statement.dims and statement.name in held:
            return f"'{statement.name}' is an array of the point"
    return None


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
