"""Every reference of a nest with the polynomial domain over which it runs.

In: a nest.  Out: :class:`Reference` values: subscripts as polynomials (or the term that stands in the way), the
loops around it as :class:`Axis` values that count from 0, and its guards.  A loop ``for (x = a; x < b; x += c)``
becomes the axis ``x~`` with ``x = a + c*x~``; loops from 0 in steps of 1 keep their name.
Example: ``int i = v*B + u; if (i < n) c[i] = 0;`` gives the axes v, u, the subscript ``v*B + u`` and the guard
``n - 1 - v*B - u >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import chain

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.diagnostics import GENERATED
from comprehensive.loops.access import Access, SerialLoop, accesses, names_read
from comprehensive.loops.ir import BlockStmt, Loop, Nest, Threads
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Expr, If, Index, IntLiteral, Name, ScalarType
from comprehensive.metafork.walk import bodies
from comprehensive.poly.choices import chosen
from comprehensive.poly.indices import (
    ALWAYS,
    Guard,
    NotPolynomialError,
    Scope,
    is_nonnegative,
    quotient_symbols,
    scope_of,
)
from comprehensive.poly.lifting import quotient_bounds, quotient_facts
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Constraint, Level
from comprehensive.poly.remainders import is_turns, turns_among
from comprehensive.records import replace


class Place(Enum):
    """The kinds of loops by where they stand."""

    GRID = "grid"
    STEP = "serial loop around a band"
    THREAD = "thread"
    SERIAL = "serial loop in a thread"


class Axis(Struct, frozen=True):
    """A loop as a counter from 0 to ``extent`` (excluded), or of unknown length where that is None.

    ``iterator == value`` in terms of the counter; ``limits`` bound the counter where ``extent`` does not say all.
    """

    counter: str
    iterator: str
    place: Place
    extent: Polynomial | None
    value: Polynomial
    limits: tuple[Constraint, ...] = ()
    from_zero: bool = True
    """Whether the counter is known not to be negative."""


class Reference(Struct, frozen=True):
    """One access in polynomial terms; polynomials speak of scalars and counters."""

    access: Access
    subscripts: tuple[Polynomial, ...] | None
    written: tuple[Polynomial, ...] | None
    """The subscripts over iterators as written, not counters."""
    obstacle: NotPolynomialError | None
    readable: tuple[Polynomial | None, ...]
    """The ``subscripts`` one by one: None for those that are no polynomials."""
    axes: tuple[Axis, ...]
    guard: Guard
    case: int = 0
    """The number of the case of choices in its places, of which it has the rest as other references (`told_apart`)."""

    @property
    def turns(self) -> frozenset[str]:
        """Return the symbols that say how often a constant fits into a number which iterators make."""
        places = (p for p in self.readable if p is not None)
        limits = (c.polynomial for axis in self.axes for c in axis.limits)
        extents = (axis.extent for axis in self.axes if axis.extent is not None)
        guards = (c.polynomial for piece in self.guard.pieces for c in piece)
        every = chain(places, limits, extents, guards)
        return frozenset(symbol for p in every for symbol in p.symbols if is_turns(symbol))

    @property
    def certain(self) -> bool:
        """Whether the reference surely happens wherever its guard holds."""
        if self.access.context.uncertain or self.guard.opaque:
            return False
        # A loop whose extent is not known may run zero times.
        return all(axis.extent is not None for axis in self.axes)

    def is_sure(self, level: Level) -> bool:
        """Whether it surely happens in a block (a thread, at that level) that runs, wherever its guard holds."""
        if self.access.context.uncertain or self.guard.opaque:
            return False
        varying = [axis for axis in self.axes if axis.place not in fixed_places(level)]
        return all(axis.extent is not None or (axis.from_zero and axis.limits) for axis in varying)

    def axis(self, counter: str) -> Axis:
        return next(a for a in self.axes if a.counter == counter)


class Facts(Struct, frozen=True):
    """The facts that hold at a place of a nest, wherever the iterators stand."""

    constraints: tuple[Constraint, ...]
    lower: dict[str, int]

    def plus(self, constraints: tuple[Constraint, ...]) -> Facts:
        return Facts((*self.constraints, *constraints), self.lower)


def fixed_places(level: Level) -> frozenset[Place]:
    """Return the kinds of loops that stand still while a footprint of this level is taken."""
    match level:
        case Level.GRID:
            return frozenset((Place.GRID,))
        case Level.BLOCK:
            return frozenset((Place.GRID, Place.STEP))
        case Level.THREAD:
            return frozenset((Place.GRID, Place.STEP, Place.THREAD))


@remembered
def references(nest: Nest) -> tuple[Reference, ...]:
    """Every reference to data of the nest, by ``Access.ordinal``."""
    scope = scope_of(nest)
    bands = nest.bands
    result: list[Reference] = []
    for access in accesses(nest):
        band = access.context.band
        threads = bands[band].loops if band >= 0 else ()
        result.append(_reference(scope, nest.grid, threads, access, False))
    return tuple(result)


@remembered
def told_apart(nest: Nest) -> tuple[Reference, ...]:
    """Every reference once for each case of the choices in its places, and with what remainders of iterators say: to
    tell references apart, and for nothing else."""
    return tuple(case for reference in references(nest) for case in _cases(nest, reference))


def _cases(nest: Nest, reference: Reference) -> Iterator[Reference]:
    is_known = all(axis.extent is not None or axis.limits for axis in reference.axes)
    if reference.obstacle is None and not reference.guard.opaque and is_known:
        yield reference
        return
    band = reference.access.context.band
    threads = nest.bands[band].loops if band >= 0 else ()
    for number, access in enumerate(chosen(reference.access)):
        found = _reference(scope_of(nest), nest.grid, threads, access, False, remainders=True)
        yield replace(found, case=number)


@remembered
def band_references(nest: Nest) -> tuple[Reference, ...]:
    """Return the references as :func:`references` does, but for a band that runs: conditions around it hold.

    Serial loops around the bands keep their iterators and do not count from 0.
    """
    scope = scope_of(nest)
    bands, around = nest.bands, _conditions_around(nest.body, 0)
    result: list[Reference] = []
    for access in accesses(nest):
        band = access.context.band
        guards = access.context.guards[around[band] if band >= 0 else 0 :]
        inside = replace(access, context=replace(access.context, guards=guards))
        result.append(_reference(scope, nest.grid, bands[band].loops if band >= 0 else (), inside, True))
    return tuple(result)


def _conditions_around(body: tuple[BlockStmt, ...], depth: int) -> list[int]:
    """Return for each band how many conditions stand around it."""
    found: list[int] = []
    for statement in body:
        if isinstance(statement, Threads):
            found.append(depth)
        for inner in bodies(statement):
            found += _conditions_around(inner, depth + isinstance(statement, If))
    return found


def reference_at(nest: Nest, access: Access) -> Reference:
    """The reference of an access that need not be one of the nest's own."""
    band = access.context.band
    return _reference(scope_of(nest), nest.grid, nest.bands[band].loops if band >= 0 else (), access, False)


def _reference(
    scope: Scope,
    grid: tuple[Loop, ...],
    threads: tuple[Loop, ...],
    access: Access,
    raw_steps: bool,
    *,
    remainders: bool = False,
) -> Reference:
    axes: list[Axis] = []
    values: dict[str, Polynomial] = {}
    iterators = frozenset(
        (
            *(g.iterator for g in grid),
            *(t.iterator for t in threads),
            *(s.iterator for s in access.context.loops),
        )
    )
    lower = dict(scope.lower)
    for loop in grid:
        axes.append(_parallel(scope, loop, Place.GRID))
    lower |= {a.counter: 0 for a in axes}
    steps = [s for s in access.context.loops if s.is_block]
    inner = [s for s in access.context.loops if not s.is_block]
    for loop in steps:
        axes.append(_serial(scope, loop, iterators, values, lower, raw_steps, remainders))
        scope = _with_sign(scope, axes[-1], lower)
    for loop in threads:
        axes.append(_parallel(scope, loop, Place.THREAD))
        lower[loop.iterator] = 0
    for loop in inner:
        axes.append(_serial(scope, loop, iterators, values, lower, False, remainders))
        scope = _with_sign(scope, axes[-1], lower)

    guard = ALWAYS
    for condition in access.context.guards:
        guard = guard.both(scope.condition(condition, iterators, remainders=remainders))
    guard = Guard(tuple(tuple(_substitute(c, values) for c in p) for p in guard.pieces), guard.opaque)
    counters = frozenset(a.counter for a in axes)
    written: list[Polynomial] = []
    readable: list[Polynomial | None] = []
    obstacle: NotPolynomialError | None = None
    for expr in access.subscripts:
        try:
            as_written = scope.subscript(expr, iterators, remainders=remainders)
            _check_linear(as_written, iterators, expr)
            subscript = as_written.substitute(values)
            _check_linear(subscript, counters, expr)
        except NotPolynomialError as found:
            obstacle = obstacle or found
            readable.append(None)
        else:
            written.append(as_written)
            readable.append(subscript)
    subscripts = None if obstacle is not None else tuple(s for s in readable if s is not None)
    as_they_are = None if obstacle is not None else tuple(written)
    found = Reference(access, subscripts, as_they_are, obstacle, tuple(readable), tuple(axes), guard)
    for each in turns_among(found.turns):
        number = each.number.substitute(values)
        known = tuple(
            tuple(_substitute(c, values) for c in piece)
            for piece in each.cases(is_positive=is_nonnegative(number, lower))
        )
        guard = guard.both(Guard(known))
    return replace(found, guard=guard)


def _with_sign(scope: Scope, axis: Axis, lower: Mapping[str, int]) -> Scope:
    """The scope with the least value of an iterator that may be negative; others begin at 0 or later."""
    if axis.iterator in scope.unsigned or is_nonnegative(axis.value, lower):
        return scope
    return replace(scope, lower={**scope.lower, axis.iterator: ScalarType.INT.lowest})


def _substitute(constraint: Constraint, values: Mapping[str, Polynomial]) -> Constraint:
    return Constraint(constraint.polynomial.substitute(values), constraint.equality)


def _check_linear(polynomial: Polynomial, iterators: frozenset[str], expr: Expr) -> None:
    for term in polynomial.terms():
        if sum(power for name, power in term.powers if name in iterators) > 1:
            raise NotPolynomialError(expr, "is a product of iterators")


def _parallel(scope: Scope, loop: Loop, place: Place) -> Axis:
    value = Polynomial.symbol(loop.iterator)
    try:
        extent: Polynomial | None = scope.read(loop.extent)
    except NotPolynomialError:
        extent = None
    return Axis(loop.iterator, loop.iterator, place, extent, value)


def _serial(
    scope: Scope,
    loop: SerialLoop,
    iterators: frozenset[str],
    values: dict[str, Polynomial],
    lower: dict[str, int],
    raw: bool,
    remainders: bool,
) -> Axis:
    """Adds ``iterator = start + step*counter`` to ``values`` unless the loop counts from 0 in steps of 1."""
    place = Place.STEP if loop.is_block else Place.SERIAL
    name = loop.iterator
    counter = f"{name}~"
    unknown = Axis(name, name, place, None, Polynomial.symbol(name), (), from_zero=False)
    values.pop(name, None)
    lower.pop(name, None)
    if name in scope.tampered:
        return unknown
    try:
        start = scope.read(loop.start, iterators, remainders=remainders).substitute(values)
        step = scope.read(loop.step, iterators, remainders=remainders).substitute(values)
    except NotPolynomialError:
        return unknown
    upwards = is_nonnegative(step - 1, lower)
    downwards = is_nonnegative(-step - 1, lower)
    plain = not start and step == 1
    from_zero = True
    limits: tuple[Constraint, ...] = ()
    if plain or raw:
        counter = name
    t = Polynomial.symbol(counter)
    value = t if raw else start + step * t
    if any(sum(p for n, p in term.powers if n in iterators or n.endswith("~")) > 1 for term in value.terms()):
        return unknown
    if not plain and not raw:
        values[name] = value
    if raw and not plain:
        from_zero = upwards and is_nonnegative(start, lower)
        limits = (Constraint(t - start if upwards else start - t),) if upwards or downwards else ()
    if from_zero:
        lower[counter] = 0
    unbounded = Axis(counter, name, place, None, value, limits, from_zero)
    try:
        bound = scope.read(loop.bound, iterators, remainders=remainders).substitute(values)
    except NotPolynomialError:
        return unbounded
    match loop.relation:
        case "<" if upwards:
            room = bound - value - 1
        case "<=" if upwards:
            room = bound - value
        case ">" if downwards:
            room = value - bound - 1
        case ">=" if downwards:
            room = value - bound
        case "!=" if step == 1:
            room = bound - value - 1
        case "!=" if step == -1:
            room = value - bound - 1
        case _:
            return unbounded
    if name in bound.symbols or counter in bound.symbols:
        return unbounded
    if raw and not plain:
        return Axis(counter, name, place, None, value, (*limits, Constraint(room)), from_zero)
    if step == 1 or step == -1:
        return Axis(counter, name, place, room + t + 1, value)
    if room.substitute({counter: 0}).is_constant and step.is_constant:
        trips = max(
            0, int(room.substitute({counter: 0}).constant_value()) // abs(int(step.constant_value())) + 1
        )
        return Axis(counter, name, place, Polynomial.constant(trips), value)
    return Axis(counter, name, place, None, value, (Constraint(room),))


def domain(reference: Reference) -> tuple[Constraint, ...]:
    """The bounds of all counters of a reference, guards left out."""
    found: list[Constraint] = []
    for axis in reference.axes:
        counter = Polynomial.symbol(axis.counter)
        if axis.from_zero:
            found.append(Constraint(counter))
        if axis.extent is not None:
            found.append(Constraint(axis.extent - 1 - counter))
        found += axis.limits
    return tuple(found)


def facts_at(
    nest: Nest, reference: Reference, extra: tuple[str, ...] = (), guard: tuple[Constraint, ...] = ()
) -> Facts:
    """Return what is known wherever the reference can run: domain, roles, host definitions, preconditions, and what of
    its guard is given."""
    return complete(nest, [*domain(reference), *guard], reference.axes, extra)


def complete(
    nest: Nest, constraints: list[Constraint], axes: tuple[Axis, ...], extra: tuple[str, ...] = ()
) -> Facts:
    """The constraints with what the nest says of the symbols in them."""
    scope = scope_of(nest)
    always = preconditions(nest)
    constraints = [*constraints, *always]
    symbols = sorted({s for c in constraints for s in c.polynomial.symbols} | set(extra))
    # A loop that runs at all has an extent of at least 1, and so has a quotient that is a factor of it.
    positive = {
        s
        for axis in axes
        if axis.extent is not None and len(axis.extent.terms()) == 1
        for s in axis.extent.symbols
        if quotient_symbols((s,), scope)
    }
    positive |= _at_least_one(symbols, constraints, scope, axes)
    constraints += quotient_facts(symbols, scope, positive)
    spoken_of = {s for c in constraints for s in c.polynomial.symbols}.union(extra)
    begins = {name: begin for name, begin in host_begins(nest).items() if name in spoken_of}
    constraints += begins.values()
    running = tuple(Constraint(axis.extent - 1) for axis in axes if axis.extent is not None)
    constraints += running
    lower = {**scope.lower, **quotient_bounds(symbols, scope, positive)}
    lower |= {a.counter: 0 for a in axes if a.from_zero}
    for name, begin in begins.items():
        least = Polynomial.symbol(name) - begin.polynomial
        if least.is_constant:
            lower[name] = max(int(least.constant_value()), lower.get(name, int(least.constant_value())))
    for quotient in quotient_symbols(symbols, scope):
        for symbol in (*quotient.numerator.symbols, *quotient.denominator.symbols):
            if symbol in scope.lower:
                lower.setdefault(symbol, scope.lower[symbol])
    _raise(lower, (*always, *running))
    return Facts(tuple(dict.fromkeys(constraints)), lower)


def _at_least_one(
    symbols: Iterable[str], constraints: Iterable[Constraint], scope: Scope, axes: tuple[Axis, ...]
) -> set[str]:
    """Return the quotients that are larger than a number which is not negative."""
    quotients = {quotient.symbol for quotient in quotient_symbols(symbols, scope)}
    lower = {**scope.lower, **{a.counter: 0 for a in axes if a.from_zero}} if quotients else {}
    return {
        symbol
        for constraint in constraints
        for symbol in quotients.intersection(constraint.polynomial.symbols)
        if is_nonnegative(Polynomial.symbol(symbol) - constraint.polynomial - 1, lower)
    }


def _raise(lower: dict[str, int], known: tuple[Constraint, ...]) -> None:
    """Raise the least values of what is known to be at least something else: after ``assert(ld >= w)`` that of ld, in a
    loop up to n that of n."""
    for constraint in known:
        for name in constraint.polynomial.symbols:
            rest = Polynomial.symbol(name) - constraint.polynomial
            if name in lower and name not in rest.symbols and lower.keys() >= set(rest.symbols):
                least = rest.substitute({s: Polynomial.symbol(s) + lower[s] for s in rest.symbols})
                if all(term.coefficient >= 0 for term in (least - least.constant_term).terms()):
                    lower[name] = max(lower[name], int(least.constant_term))


@remembered
def host_begins(nest: Nest) -> dict[str, Constraint]:
    """Return for each iterator of a loop of host code around the region the bound that its first value is.

    Where an iterator may be of a type that does not hold the first value, that says nothing.
    """
    scope = scope_of(nest)
    types = {s.name: s.type for s in (*nest.scalars, *nest.state.scalars)}
    found: dict[str, Constraint] = {}
    for loop in nest.state.loops:
        begin = Binary(">=" if loop.step > 0 else "<=", Name(loop.iterator), loop.start)
        is_kept = names_read(begin) <= types.keys() and types[loop.iterator].holds(type_of(loop.start, types))
        pieces = scope.condition(begin).pieces if is_kept else ()
        if len(pieces) == 1 and len(pieces[0]) == 1:
            found[loop.iterator] = pieces[0][0]
    return found


@remembered
def preconditions(nest: Nest) -> tuple[Constraint, ...]:
    """The preconditions that are single conjunctions of polynomial constraints."""
    scope = scope_of(nest)
    found: list[Constraint] = []
    for condition in nest.preconditions:
        guard = scope.condition(condition)
        if len(guard.pieces) == 1:
            found += guard.pieces[0]
    return tuple(found)


def term_text(expr: Expr) -> str:
    """The term as written, or printed where it was generated."""
    if expr.span is not GENERATED and expr.span.text:
        return " ".join(expr.span.text.split())
    return _printed(expr)


def _printed(expr: Expr) -> str:
    match expr:
        case Name():
            return expr.identifier
        case IntLiteral():
            return str(expr.value)
        case Index():
            return expr.array + "".join(f"[{_printed(s)}]" for s in expr.subscripts)
        case Binary():
            return f"{_printed(expr.left)} {expr.operator} {_printed(expr.right)}"
        case _:
            return type(expr).__name__.lower()
