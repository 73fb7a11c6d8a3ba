"""Whether the statements of a point can be done for all points of a thread, one statement after the other.

Points may run in any order, and the variables of a nest have names of their own, so that it is right whatever the
statements are; what is asked is whether there is room for what they declare.  Points outside of limits and conditions
may go through a loop with the others, and what they compute is thrown away: only a division of integers by 0 would be
noticed, which ends the program on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.diagnostics import GENERATED
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Break,
    Continue,
    Declare,
    DoWhile,
    For,
    If,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
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
            case Declare():
                return f"'{statement.name}' is an array of the point"
            case For() if is_same_for_all_points(nest, statement):
                pass
            case For():
                return f"the extent of the loop over '{statement.shown}' is not the same for all points"
            case _:
                return f"{described(statement)} is neither an assignment nor a loop that counts"
    return None


def described(statement: Stmt) -> str:
    """Return what a statement is, for a sentence about it, with its line where the program has it."""
    match statement:
        case If():
            what = "the condition"
        case While() | DoWhile():
            what = "the 'while' loop"
        case Break():
            what = "the 'break'"
        case Continue():
            what = "the 'continue'"
        case For():
            what = f"the loop over '{statement.shown}'"
        case _:
            what = "a statement"
    return what if statement.span is GENERATED else f"{what} of line {statement.span.position[0]}"


def division_obstacle(nest: Nest, tile: RegisterTile, body: Sequence[Stmt]) -> str | None:
    """Return why points that are not there, or do not meet a condition, cannot do the statements with the others.

    A divisor over scalars of the nest is one of points that are there, too, unless a condition keeps these out.
    """
    types = types_in(nest, tile)
    known = {s.name for s in nest.scalars} if tile.predicate is None else set[str]()
    every = (e for x in expressions_in(tuple(body)) for e in subexpressions(x))
    divisions = [e for e in every if isinstance(e, Binary) and e.operator in ("/", "%")]
    divisions += [
        Binary(s.operator[0], s.target, s.value)
        for s in statements_in(tuple(body))
        if isinstance(s, Assign) and s.operator in ("/=", "%=")
    ]
    for division in divisions:
        is_safe = names_read(division.right) <= known
        if type_of(division, types).is_integer and not is_safe:
            return "points that are not there would divide integers by what may be 0"
    return None


def types_in(nest: Nest, tile: RegisterTile) -> dict[str, ScalarType]:
    """Return the types of all names in the bodies of a tile."""
    statements = [s for body in tile.bodies for s in statements_in(body)]
    points = dict.fromkeys(tile.limits, ScalarType.INT)
    types = environment_of(nest) | points | {s.name: s.type for s in statements if isinstance(s, Declare)}
    return types | {s.iterator: s.type or ScalarType.INT for s in statements if isinstance(s, For)}
