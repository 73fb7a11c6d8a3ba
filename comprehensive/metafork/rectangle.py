"""Triangles and trapezoids of parallel loops as rectangles with a guard.

In: a run of ``meta_for``.  Out: the same loops with ranges that read no other of them, and what has to hold::

    meta_for (i = 0; i < n; i++) meta_for (j = i; j < n; j++) S
        -->  meta_for (i = 0; i < n; i++) meta_for (j = 0; j < n; j++) if (i <= j) S

Iterations of parallel loops run in any order: a loop that counts down to such a bound, ``(j = n - 1; j > i; j--)``,
counts up from it.  A bound is taken at its least or at its greatest over the loops around it.  That is a corner of them
where it is a sum of iterators, each times a number, or over a number: such a bound grows with one end of a loop and
falls with the other.  Remainders and choices between numbers have ends of their own: ``(j = 1 + (i & 1); ...)`` begins
at 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Expr,
    If,
    IntLiteral,
    MetaFor,
    Name,
    Stmt,
    Unary,
)
from comprehensive.metafork.structure import split_nest
from comprehensive.metafork.terms import conjunction
from comprehensive.metafork.walk import names
from comprehensive.records import replace

ZERO, ONE = IntLiteral(0), IntLiteral(1)


class Ends(Struct, frozen=True):
    """The first and the last value of an iterator, where its loop runs."""

    first: Expr
    last: Expr


class Rectangle(Struct, frozen=True):
    """Loops whose ranges are independent; points of them at which ``guards`` hold are those of the program."""

    loops: tuple[MetaFor, ...]
    guards: tuple[Binary, ...]


def rectangular(run: Sequence[MetaFor]) -> Rectangle:
    """The run as a rectangle; a loop whose range depends on others in another way stays as it is."""
    loops: list[MetaFor] = []
    guards: list[Binary] = []
    ends: dict[str, Ends] = {}
    iterators = {loop.iterator for loop in run}
    for loop in (_upwards(loop, run) for loop in run):
        around, tests = _independent(loop, ends, iterators)
        loops.append(around)
        guards += tests
        if loop.step == ONE and loop.relation in ("<", "<="):
            ends[loop.iterator] = Ends(around.start, _last(around))
    return Rectangle(tuple(loops), tuple(guards))


def rectangular_grid(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body of a region with the loops of its grid as a rectangle: blocks outside of it have no work."""
    match body:
        case (MetaFor() as outermost,):
            grid, _ = split_nest(outermost)
        case _:
            return body
    found = rectangular(grid)
    if not found.guards:
        return body
    inner: tuple[Stmt, ...] = (If(conjunction(found.guards), grid[-1].body, span=grid[-1].span),)
    for loop in reversed(found.loops):
        inner = (replace(loop, body=inner),)
    return inner


def possible(guard: Binary, ends: Mapping[str, Ends]) -> Binary | None:
    """Return the condition that a guard needs to hold anywhere between these ends; None where that is not known."""
    small = extreme(guard.left, ends, greatest=False)
    large = extreme(guard.right, ends, greatest=True)
    return None if small is None or large is None else replace(guard, left=small, right=large)


def extreme(expr: Expr, ends: Mapping[str, Ends], *, greatest: bool) -> Expr | None:
    """The greatest or the least value between the ends of iterators; None where no corner is known to have it."""
    if not ends.keys() & set(names(expr)):
        return expr
    match expr:
        case Name():
            found = ends[expr.identifier]
            return found.last if greatest else found.first
        case Unary(operator="-", operand=operand):
            inner = extreme(operand, ends, greatest=not greatest)
            return None if inner is None else Unary("-", inner, expr.span)
        case Binary(operator="+" | "-", left=left, right=right):
            one = extreme(left, ends, greatest=greatest)
            other = extreme(right, ends, greatest=greatest == (expr.operator == "+"))
            return None if one is None or other is None else plus(one, other, expr.operator)
        case Binary(operator="*", left=IntLiteral(value=value), right=factor):
            inner = extreme(factor, ends, greatest=greatest == (value >= 0))
            return None if inner is None else replace(expr, right=inner)
        case Binary(operator="*" | "/", left=operand, right=IntLiteral(value=value)) if value > 0:
            inner = extreme(operand, ends, greatest=greatest)
            return None if inner is None else replace(expr, left=inner)
        case Binary(operator="%" | "&", left=operand, right=IntLiteral(value=value)) if value > 0:
            least = extreme(operand, ends, greatest=False)
            has_sign = not _is_unsigned(operand) and not (isinstance(least, IntLiteral) and least.value >= 0)
            most = value if expr.operator == "&" else value - 1
            return IntLiteral(most if greatest else -most if has_sign and expr.operator == "%" else 0)
        case Conditional(then=then, otherwise=otherwise):
            match [extreme(value, ends, greatest=greatest) for value in (then, otherwise)]:
                case IntLiteral(value=one), IntLiteral(value=other):
                    return IntLiteral(max(one, other) if greatest else min(one, other))
                case _:
                    return None
        case Cast(type=type, operand=operand) if type.is_wide:
            # What may be negative, or is no number, may wrap around where it is computed.
            match [extreme(operand, ends, greatest=end) for end in (False, True)]:
                case IntLiteral(value=least) as first, IntLiteral() as last if least >= 0:
                    return last if greatest else first
                case _:
                    return None
        case _:
            return None


def _is_unsigned(expr: Expr) -> bool:
    """Whether an expression is computed in an unsigned type of 64 bits, whatever types names in it have."""
    match expr:
        case Cast(type=type):
            return type.wraps and type.is_wide
        case Binary(operator="+" | "-" | "*", left=left, right=right):
            return _is_unsigned(left) or _is_unsigned(right)
        case _:
            return False


def plus(left: Expr, right: Expr, operator: str = "+") -> Expr:
    """A sum or difference; ``(x - 1) + 1`` is x."""
    match left, right:
        case _, IntLiteral(value=0):
            return left
        case IntLiteral(value=x), IntLiteral(value=y):
            return IntLiteral(x + y if operator == "+" else x - y)
        case Binary(operator="+" | "-" as inner, left=first, right=IntLiteral(value=x)), IntLiteral(value=y):
            total = (x if inner == "+" else -x) + (y if operator == "+" else -y)
            return plus(first, IntLiteral(abs(total)), "+" if total >= 0 else "-")
        case IntLiteral(value=0), _ if operator == "+":
            return right
        case _:
            return Binary(operator, left, right)


def _last(loop: MetaFor) -> Expr:
    return loop.bound if loop.relation == "<=" else plus(loop.bound, ONE, "-")


def _upwards(loop: MetaFor, run: Sequence[MetaFor]) -> MetaFor:
    """The loop in the other direction, where it counts down one by one and its range has to do with other loops.

    The loops count in one signed type, in which the bound is computed, too; so that the start is compared in it, it is
    converted, as the declaration of the iterator does.
    """
    iterators = {other.iterator for other in run}
    spoken_of = {name for other in run for side in (other.start, other.bound) for name in names(side)}
    counts_down = loop.step == IntLiteral(-1) and loop.relation in (">", ">=")
    in_one_type = loop.type.is_exact and all(other.type is loop.type for other in run)
    if not (counts_down and in_one_type and iterators.issuperset(names(loop.bound))):
        return loop
    if not (iterators & {*names(loop.start), *names(loop.bound)} or loop.iterator in spoken_of):
        return loop
    first = loop.bound if loop.relation == ">=" else plus(loop.bound, ONE)
    last = loop.start
    if not iterators.issuperset(names(loop.start)):
        if iterators & set(names(loop.start)):
            return loop  # of which no corner is known once it is converted
        last = Cast(loop.type, loop.start)
    return replace(loop, start=first, relation="<=", bound=last, step=ONE)


def _independent(
    loop: MetaFor, ends: Mapping[str, Ends], iterators: set[str]
) -> tuple[MetaFor, list[Binary]]:
    """The loop with the largest range that it has, and the conditions that make it smaller."""
    reads = [bool(iterators & set(names(side))) for side in (loop.start, loop.bound)]
    if not any(reads) or loop.step != ONE or loop.relation not in ("<", "<="):
        return loop, []
    start = extreme(loop.start, ends, greatest=False)
    bound = extreme(loop.bound, ends, greatest=True)
    if start is None or bound is None or iterators & {*names(start), *names(bound)}:
        return loop, []
    here = Name(loop.iterator, loop.span)
    tests: list[Binary] = []
    if reads[0]:
        tests.append(Binary("<=", loop.start, here, loop.span))
    if reads[1]:
        tests.append(Binary(loop.relation, here, loop.bound, loop.span))
    relation = loop.relation
    match bound:
        case Binary(operator="-", left=whole, right=IntLiteral(value=1)) if relation == "<=":
            bound, relation = whole, "<"
        case _:
            pass
    return replace(loop, start=start, bound=bound, relation=relation), tests
