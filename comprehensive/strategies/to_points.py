"""A region as statements over points: a nest in, coordinates with limits and bodies over them out.

However the user has cut a range into blocks, threads and serial loops, its points are the values of one coordinate::

    grid i < dim0, threads v < B0:  int p = i*B0 + v;  if (p < n) a[p] = ...
        -->  0 <= p < min(dim0*B0, n):  a[p] = ...

so that it can be cut in another way.  A coordinate is the joined pair of a grid loop and a thread loop
(`collapse.py`), or a loop of either that makes no index together with another one; serial loops that are independent
have joined the grid before (`granularity.py`).  Conditions on one coordinate around a whole body are limits.  Every
point is visited exactly once, as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import (
    Alternative,
    BlockStmt,
    Loop,
    Nest,
    Points,
    Role,
    Scalar,
    Threads,
    Variant,
)
from comprehensive.loops.normalize.bounds import upper_bound
from comprehensive.loops.normalize.coordinate_names import named_values, with_names_of_program
from comprehensive.loops.normalize.counters import (
    at_most,
    counted_in_int,
)
from comprehensive.loops.normalize.held_sums import element_types, in_elements
from comprehensive.loops.normalize.inlined import inlined
from comprehensive.loops.normalize.interchange import interchanged
from comprehensive.loops.normalize.narrow import in_int_at_points
from comprehensive.loops.normalize.own_names import with_own_names
from comprehensive.loops.normalize.sequentialize import sequentialized
from comprehensive.loops.normalize.unflatten import unflattened
from comprehensive.loops.traverse import all_names, map_bands, names_read_in
from comprehensive.loops.types import environment_of, exact_product, type_of
from comprehensive.loops.unswitch import unswitch
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer, fresh
from comprehensive.metafork.rewrite import map_expression, map_expressions, replace_statements, substitute
from comprehensive.metafork.terms import conjunction, conjuncts
from comprehensive.metafork.walk import reads_data, statements_in
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.records import replace
from comprehensive.strategies.collapse import Digits, collapse
from comprehensive.strategies.granularity import Granularity
from comprehensive.strategies.wider_grid import with_wider_grid


class _NoPointsError(Exception):
    pass


def points_of(nest: Nest) -> Points | NotApplicable:
    """The region over coordinates, or why it is none."""
    name = Namer(all_names(nest))
    nest = map_bands(nest, lambda _, body: with_own_names(body, name))
    nest, conditions = counted_in_int(nest)
    reasons: list[str] = []
    for tried in _ways(nest):
        try:
            points = _points(unswitch(tried, at_loops=True), conditions)
            points = interchanged(nest, sequentialized(nest, unflattened(nest, points)))
            return with_names_of_program(nest, points)
        except _NoPointsError as error:
            reasons.append(str(error))
    return NotApplicable(reasons[-1])


def _ways(nest: Nest) -> Iterator[Nest]:
    """The nest with independent serial loops in its grid, as digits of it or beside it, and as it is."""
    moved = Granularity().apply(Variant(nest))
    if isinstance(moved, Applied):
        yield moved.fragment.nest
    wider = with_wider_grid(nest)
    if wider is not nest:
        yield wider
    yield nest


def _points(nest: Nest, conditions: tuple[Expr, ...]) -> Points:
    nest = _with_block_conditions_inside(nest)
    cases = tuple(_cases(nest, nest.body))
    bodies = [inlined(body, _types(nest, body)) for _, body in cases]
    around = nest
    nest, bodies, called, found = _coordinates(nest, bodies, named_values(nest))
    names, shown, limits = ([*each] for each in zip(*found, strict=True))
    bodies, limits, demanded = _limited(nest, bodies, names, limits)
    bodies, longer = _with_joined_loops(around, nest, bodies)
    bodies, fitting = in_int_at_points(around, bodies, dict(zip(names, limits, strict=True)))
    return Points(
        tuple(names),
        tuple(shown),
        tuple(limits),
        tuple(Alternative(condition, body) for (condition, _), body in zip(cases, bodies, strict=True)),
        tuple(dict.fromkeys((*conditions, *demanded, *longer, *fitting))),
        tuple(called.items()),
    )


# --- one body for every case that is the same for all points


def _with_block_conditions_inside(nest: Nest) -> Nest:
    """The nest with a condition that blocks are left out by in the places of its threads, where it says nothing new.

    ``if (j_block * B <= i_block * B + B - 1) threads: if (j <= i) S  -->  threads: if (j <= i) S``
    """
    match nest.body:
        case (If(condition=condition, then=(Threads() as threads,), otherwise=()),) if not _is_of(
            nest, condition
        ):
            # isl is slow to import.
            from comprehensive.poly.guards import drop_implied_guards

            inner = replace(threads, body=_innermost(threads.body, condition))
            (reduced,) = drop_implied_guards(replace(nest, body=(inner,))).bands
            return replace(nest, body=(replace(reduced, body=_without_a_block(reduced.body)),))
        case _:
            return nest


def _without_a_block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body without braces around all that is under its conditions."""
    match body:
        case (Block(body=inner),):
            return inner
        case (*declared, If(otherwise=()) as guard):
            return (*declared, replace(guard, then=_without_a_block(guard.then)))
        case _:
            return body


def _innermost(body: tuple[Stmt, ...], condition: Expr) -> tuple[Stmt, ...]:
    """The body with one more condition, inside of those that are around it."""
    match body:
        case (*declared, If(otherwise=()) as guard) if all(isinstance(s, Declare) for s in declared):
            return (*declared, replace(guard, then=_innermost(guard.then, condition)))
        case _:
            return (If(condition, body),)


def _cases(
    nest: Nest, body: Sequence[BlockStmt], condition: Expr | None = None
) -> Iterator[tuple[Expr | None, tuple[Stmt, ...]]]:
    """The bodies with their conditions, of which the first one that holds counts, within what holds already."""
    match tuple(body):
        case () if condition is not None:
            yield condition, ()
        case (If(condition=inner, then=then, otherwise=otherwise),) if _is_of(nest, inner):
            yield from _cases(nest, then, inner if condition is None else conjunction((condition, inner)))
            if otherwise or condition is not None:
                yield from _cases(nest, otherwise, condition)
        case statements:
            yield condition, _serial(nest, statements)


def _serial(nest: Nest, body: Sequence[BlockStmt]) -> tuple[Stmt, ...]:
    """The body of the only band, a loop of the block around it being the thread's own."""
    match tuple(body):
        case (Threads(body=statements, loops=loops),) if _same_loops(loops, nest.thread_loops):
            return statements
        case (For(body=(Threads(body=statements, loops=loops),)) as loop,) if _same_loops(
            loops, nest.thread_loops
        ):
            # isl is slow to import.
            from comprehensive.poly.legality import threads_meet

            if threads_meet(nest):
                raise _NoPointsError(f"threads meet between iterations of the loop over '{loop.shown}'")
            return (_one_loop(nest, loop, statements),)
        case _:
            raise _NoPointsError("the block does more than one thing")


def _same_loops(first: Sequence[Loop], second: Sequence[Loop]) -> bool:
    return [(a.iterator, a.extent) for a in first] == [(b.iterator, b.extent) for b in second]


def _one_loop(nest: Nest, outer: For[BlockStmt], statements: tuple[Stmt, ...]) -> For:
    """The loop of the block around the statements, joined with a loop that is all of them: k*B + z is one index."""
    body = inlined(statements, _types(nest, statements))
    whole = For(
        outer.type, outer.iterator, outer.start, outer.relation, outer.bound, outer.step, body, outer.span
    )
    number = next(i for i, band in enumerate(nest.bands) if band.body == statements)
    (summed,) = in_elements((whole,), element_types(nest))
    assert isinstance(summed, For)
    return _joined_loops(nest, number, summed, {})


def _with_joined_loops(
    around: Nest, nest: Nest, bodies: Sequence[tuple[Stmt, ...]]
) -> tuple[list[tuple[Stmt, ...]], list[Expr]]:
    """The bodies of the only band with loops in each other as one where they number steps together, from the inside
    out, and what a launch has to see to for that: the program need not count so many steps in one ``int``.

    Scalars of the nest that is ``around`` are the same for all points.
    """
    demanded: list[Expr] = []

    def joined(statement: Stmt, types: Mapping[str, ScalarType]) -> Stmt:
        if not isinstance(statement, For):
            return statement
        bounds = (loop.bound for loop in (statement, *statement.body) if isinstance(loop, For))
        if not all(_is_of(around, bound) for bound in bounds):
            return statement
        found = _joined_loops(nest, 0, statement, types)
        if found is not statement:
            # isl is slow to import.
            from comprehensive.poly.always import one_not_negative

            (inner,) = (s for s in statement.body if isinstance(s, For))
            demanded.extend((at_most(found.bound), *one_not_negative(nest, statement.bound, inner.bound)))
        return found

    def one(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        types = _types(nest, body)
        return replace_statements(body, lambda statement: (joined(statement, types),))

    return [one(body) for body in bodies], demanded


def _joined_loops(nest: Nest, number: int, outer: For, around: Mapping[str, ScalarType]) -> For:
    match outer.body:
        case (For() as inner,) if all(_counts_up(loop) for loop in (outer, inner)):
            joined = fresh(f"{outer.iterator}_{inner.iterator}", all_names(nest))
            digits = Digits(outer.iterator, inner.iterator, inner.bound, joined)
            found = collapse(nest, number, inner.body, digits, around)
            if found is not None and not names_read_in(found) & {outer.iterator, inner.iterator}:
                bound = exact_product(outer.bound, inner.bound, environment_of(nest))
                shown = f"{outer.shown} and {inner.shown}"
                return For(ScalarType.INT, joined, ZERO, "<", bound, ONE, found, inner.span, written=shown)
        case _:
            pass
    return outer


def _counts_up(loop: For[object]) -> bool:
    return (
        loop.type is ScalarType.INT
        and loop.start == ZERO
        and loop.relation == "<"
        and loop.step == IntLiteral(1)
    )


# --- scalars of a thread


def _types(nest: Nest, body: tuple[Stmt, ...]) -> dict[str, ScalarType]:
    """The types of all names in a body of the nest."""
    types: dict[str, ScalarType] = {}
    for band in range(len(nest.bands)):
        types |= environment_of(nest, band)
    for statement in statements_in(body):
        if isinstance(statement, Declare):
            types[statement.name] = statement.type
        elif isinstance(statement, For):
            types[statement.iterator] = statement.type or ScalarType.INT
    return types


def _is_of(nest: Nest, expr: Expr) -> bool:
    """Whether the expression reads scalars of the nest alone."""
    return not reads_data(expr) and names_read(expr) <= {s.name for s in nest.scalars}


# --- coordinates


def _coordinates(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], called: Mapping[str, Expr]
) -> tuple[Nest, Sequence[tuple[Stmt, ...]], Mapping[str, Expr], list[tuple[str, str, Expr]]]:
    """Return the nest, the bodies and what is ``called`` by a name of the program over coordinates, and for each of
    these its name, its loops and its limit.

    A loop that is no digit of an index together with another one is a coordinate of its own.
    """
    pairs = _pairs(nest, bodies)
    high_digits = [high for high, _ in pairs if high is not None]
    alone = [(None, loop) for loop in nest.grid if loop not in high_digits]
    found: list[tuple[str, str, Expr]] = []
    for high, loop in (*alone, *pairs):
        name = _name(nest, len(alone) + len(pairs), len(found))
        if high is None:
            place = {loop.iterator: Name(name)}
            bodies = [
                tuple(map_expressions(body, lambda e, place=place: substitute(e, place))) for body in bodies
            ]
            called = {of_program: substitute(value, place) for of_program, value in called.items()}
            found.append((name, loop.shown, loop.extent))
        else:
            digits = Digits(high.iterator, loop.iterator, loop.extent, name)
            joined = _joined(nest, bodies, digits)
            assert joined is not None
            bodies, called = joined, _called(nest, called, digits)
            both = " and ".join(dict.fromkeys((high.shown, loop.shown)))
            found.append((name, both, exact_product(high.extent, loop.extent, environment_of(nest))))
        nest = _knowing(nest, name)
    return nest, bodies, called, found


def _called(nest: Nest, called: Mapping[str, Expr], digits: Digits) -> dict[str, Expr]:
    """Return values over the joined iterator, without those that keep a digit."""
    found: dict[str, Expr] = {}
    for name, value in called.items():
        match _joined(nest, [(Assign(Name(name), "=", value),)], digits):
            case [(Assign(value=over_joined),)]:
                found[name] = over_joined
            case _:
                pass
    return found


def _pairs(nest: Nest, bodies: Sequence[tuple[Stmt, ...]]) -> list[tuple[Loop | None, Loop]]:
    """Return every thread loop with the grid loop with which it makes an index, if there is one."""
    found: list[tuple[Loop | None, Loop]] = []
    free = list(nest.grid)
    for loop in nest.thread_loops:
        name = _name(nest, len(nest.thread_loops), len(found))
        for high in free:
            joined = _joined(nest, bodies, Digits(high.iterator, loop.iterator, loop.extent, name))
            if joined is not None:
                bodies, nest = joined, _knowing(nest, name)
                free.remove(high)
                found.append((high, loop))
                break
        else:
            found.append((None, loop))
    return found


def _name(nest: Nest, count: int, number: int) -> str:
    """Return a name for a coordinate of so many."""
    return fresh("y" if count == 1 else f"y{number}", all_names(nest))


def _joined(nest: Nest, bodies: Sequence[tuple[Stmt, ...]], digits: Digits) -> list[tuple[Stmt, ...]] | None:
    found: list[tuple[Stmt, ...]] = []
    for number, body in enumerate(bodies):
        joined = collapse(nest, number, body, digits)
        if joined is None or names_read_in(joined) & {digits.high, digits.low}:
            return None
        found.append(joined)
    return found


def _knowing(nest: Nest, name: str) -> Nest:
    """The nest for which a new coordinate is an integer like others."""
    return replace(nest, scalars=(*nest.scalars, Scalar(name, ScalarType.INT, Role.HOST)))


def _limited(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], names: Sequence[str], limits: Sequence[Expr]
) -> tuple[list[tuple[Stmt, ...]], list[Expr], list[Expr]]:
    """The bodies without a condition that is around each of them, which is in the limits; and what a launch has to see
    to for that.

    What of a condition is no upper bound of one coordinate stays around the body.
    """
    result, bounded, demanded = list(bodies), list(limits), list[Expr]()
    while True:
        guards = [guard for body in result for guard in [_guard(body)] if guard is not None]
        if len(guards) < len(result) or any(guard.condition != guards[0].condition for guard in guards):
            return result, bounded, demanded
        kept: list[Expr] = []
        for conjunct in conjuncts(guards[0].condition):
            bound = upper_bound(nest, conjunct, names) if _is_of(nest, conjunct) else None
            if bound is None:
                kept.append(conjunct)
                continue
            place = names.index(bound.name)
            bounded[place] = _smaller(nest, bounded[place], bound.limit)
            if bound.wraps:
                demanded.append(at_most(limits[place]))
        if kept:
            return [(replace(guard, condition=conjunction(kept)),) for guard in guards], bounded, demanded
        result = [guard.then for guard in guards]


def _smaller(nest: Nest, left: Expr, right: Expr) -> Expr:
    """The smaller of two limits, a choice between both only where neither always is."""
    # isl is slow to import.
    from comprehensive.poly.always import always_holds

    asked, (first, second) = _with_names(nest, (left, right))
    if left == right or always_holds(asked, Binary("<=", first, second)):
        return left
    if always_holds(asked, Binary("<=", second, first)):
        return right
    return Conditional(Binary("<", left, right), left, right)


def _with_names(nest: Nest, limits: tuple[Expr, Expr]) -> tuple[Nest, tuple[Expr, Expr]]:
    """The limits with a name for each number that may wrap around, and the nest that knows these: whatever such a
    number is, both limits read the same one."""
    types, name = environment_of(nest), Namer(all_names(nest))
    found: dict[Expr, Scalar] = {}

    def named(expr: Expr) -> Expr:
        match expr:
            case Cast(operand=Binary() as operand) if type_of(operand, types).wraps:
                kind = type_of(operand, types)
                found.setdefault(operand, Scalar(name("number"), kind, Role.HOST))
                return replace(expr, operand=Name(found[operand].name))
            case _:
                return expr

    left, right = (map_expression(limit, named) for limit in limits)
    return replace(nest, scalars=(*nest.scalars, *found.values())), (left, right)


def _guard(body: tuple[Stmt, ...]) -> If | None:
    """The condition around the whole body, if there is one."""
    match body:
        case (If(otherwise=()) as guard,):
            return guard
        case _:
            return None
