"""The reach of a nest behind a pointer: the first and the last element that it surely touches, in its scalars.

In: a nest.  Out: for every pointer, and every array with an open first extent, the bounds that hold wherever their
conditions do, and what stands in the way of others::

    for (i < m) for (j < n) ... y[i*n + j] ...   -->   last: m*n - 1  where  m - 1 >= 0, n - 1 >= 0

The greatest subscript of a reference is found by taking one counter after the other to its end.  Each counter has
bounds that are whole numbers at every point, so that this loses nothing: its coefficient in them is 1, or divides those
of all other counters, and what is left is rounded down.  Where ends compete, each is a case with its own conditions.
A case counts only where it holds, so that what is said of one reference is right even if others were given up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Index
from comprehensive.metafork.printer import print_expr
from comprehensive.poly.collapse import collapse
from comprehensive.poly.domains import Axis, Facts, Reference, facts_at, references, term_text
from comprehensive.poly.indices import Scope, is_nonnegative, quotient_symbols, scope_of
from comprehensive.poly.lifting import implied, quotient_facts
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Constraint, c_text

_MOST_CASES = 48


class _GivenUpError(Exception):
    """An error that says why a reference has no exact bound; its text goes on after the reference."""


class Reached(Struct, frozen=True):
    """The element (or row) that a reference surely touches where all of ``where`` holds, over scalars alone.

    Symbols that are no scalars are ``floor_div(a, b)`` or quotients as C divides, named by their text.
    """

    where: tuple[Constraint, ...]
    element: Polynomial


class Touched(Struct, frozen=True):
    """The ends of what a nest surely touches of an array.

    ``first`` and ``last`` are cases: the least and the greatest element are among those whose conditions
    hold.

    ``unknown`` are references, each with the reason, that may touch more.
    """

    first: tuple[Reached, ...]
    last: tuple[Reached, ...]
    unknown: tuple[str, ...]


@remembered
def touched(nest: Nest) -> Mapping[str, Touched]:
    """Return the elements touched of every array of which the declaration does not give all extents."""
    found: dict[str, tuple[list[Reached], list[Reached], list[str]]] = {
        a.name: ([], [], []) for a in nest.arrays if a.dims is None or a.dims[0] is None
    }
    for reference in references(nest):
        if reference.access.array not in found:
            continue
        first, last, unknown = found[reference.access.array]
        try:
            low, high = _ends(nest, reference)
        except _GivenUpError as reason:
            unknown.append(f"{_text(reference)} {reason}")
        else:
            first += low
            last += high
    return {
        name: Touched(tuple(dict.fromkeys(first)), tuple(dict.fromkeys(last)), tuple(dict.fromkeys(unknown)))
        for name, (first, last, unknown) in found.items()
    }


def _text(reference: Reference) -> str:
    access = reference.access
    return print_expr(Index(access.array, access.subscripts))


def _ends(nest: Nest, reference: Reference) -> tuple[list[Reached], list[Reached]]:
    if reference.subscripts is None:
        obstacle = reference.obstacle
        assert obstacle is not None
        raise _GivenUpError(f"has the subscript {term_text(obstacle.term)}, which {obstacle.reason}")
    if reference.access.context.uncertain:
        raise _GivenUpError("stands in or behind a loop that may be left early")
    if reference.guard.opaque:
        raise _GivenUpError(f"depends on the condition {term_text(reference.guard.opaque[0])}")
    facts = facts_at(nest, reference)
    scope = scope_of(nest)
    lower = {**scope.lower, **facts.lower}
    first: list[Reached] = []
    last: list[Reached] = []
    for piece in reference.guard.pieces:
        subscript, constraints, counters = _merged(reference, reference.subscripts[0], piece)
        search = _Search(counters, scope, lower, facts)
        last += search.greatest(subscript, constraints)
        first += [Reached(found.where, -found.element) for found in search.greatest(-subscript, constraints)]
    return first, last


def _merged(
    reference: Reference, subscript: Polynomial, piece: Sequence[Constraint]
) -> tuple[Polynomial, list[Constraint], tuple[str, ...]]:
    """The subscript and what bounds the counters, digits of one number as one counter."""
    extents: dict[str, Polynomial] = {}
    apart: list[Axis] = []
    for axis in reference.axes:
        if axis.extent is None and not axis.limits:
            raise _GivenUpError(f"runs in a loop over '{axis.iterator}' of a length that is not known")
        if axis.extent is None or not axis.from_zero:
            apart.append(axis)
        else:
            extents[axis.counter] = axis.extent
    limits = [c for axis in apart for c in axis.limits]
    spoken = [subscript, *(c.polynomial for c in (*piece, *limits))]
    merged = collapse(spoken, extents)
    subscript, *rest = merged.polynomials
    given = [
        Constraint(polynomial, c.equality) for polynomial, c in zip(rest, (*piece, *limits), strict=True)
    ]
    for axis in apart:
        if axis.from_zero:
            given.append(Constraint(Polynomial.symbol(axis.counter)))
    # What is known of places where the loops run is used below, so that it must be said that they do.
    given += [Constraint(axis.extent - 1) for axis in reference.axes if axis.extent is not None]
    for counter, extent in merged.extents.items():
        given.append(Constraint(Polynomial.symbol(counter)))
        given.append(Constraint(extent - 1 - Polynomial.symbol(counter)))
    names = [axis.counter for axis in apart]
    return subscript, given, (*merged.extents, *names)


class _Search:
    """The greatest value of polynomials over the counters of one reference."""

    def __init__(self, counters: Sequence[str], scope: Scope, lower: Mapping[str, int], facts: Facts) -> None:
        """Search with these counters.

        ``lower`` are bounds on scalars that hold where the loops run, besides those that a call is held to.
        """
        self._counters = frozenset(counters)
        self._scope = scope
        self._least = scope.lower
        self._lower = lower
        self._facts = facts

    def greatest(self, value: Polynomial, constraints: Sequence[Constraint]) -> list[Reached]:
        """The cases; _GivenUpError where one of them is not known exactly."""
        finished: list[Reached] = []
        waiting = [(value, tuple(constraints))]
        while waiting:
            value, given = waiting.pop()
            given = self._tidy(given)
            if given is None:
                continue
            names = [n for n in sorted(self._counters) if any(n in c.polynomial.symbols for c in given)]
            names += [n for n in value.symbols if n in self._counters and n not in names]
            if not names:
                finished.append(Reached(self._without_implied(given), value))
            else:
                waiting += self._without(self._easiest(names, given), value, given)
            if len(finished) + len(waiting) > _MOST_CASES:
                raise _GivenUpError("has a range of too many cases")
        return finished

    def _tidy(self, given: tuple[Constraint, ...]) -> tuple[Constraint, ...] | None:
        """Drop constraints that always hold or follow from another one.

        None where one never holds, or two of them exclude each other.
        """
        kept: list[Constraint] = []
        for constraint in dict.fromkeys(given):
            polynomial = constraint.polynomial
            if polynomial.is_constant:
                number = polynomial.constant_value()
                if number < 0 or (constraint.equality and number != 0):
                    return None
            elif constraint.equality or not is_nonnegative(polynomial, self._least):
                kept.append(constraint)
        for one in kept:
            for other in kept:
                between = one.polynomial - other.polynomial
                if not one.equality and (one.polynomial + other.polynomial).is_constant:
                    if (one.polynomial + other.polynomial).constant_value() < 0:
                        return None
                elif (
                    one is not other
                    and not (one.equality or other.equality)
                    and between.is_constant
                    and between.constant_value() >= 0
                ):
                    return self._tidy(tuple(c for c in kept if c is not one))
        return tuple(kept)

    def _without_implied(self, given: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
        """Drop conditions on quotients that follow from the others: mostly that a grid has a block."""
        kept = list(given)
        for constraint in given:
            quotients = quotient_symbols(constraint.polynomial.symbols, self._scope)
            if not quotients or any("floor_div" in symbol for symbol in constraint.polynomial.symbols):
                continue
            rest = [c for c in kept if c is not constraint]
            symbols = {s for c in kept for s in c.polynomial.symbols}
            known = [*rest, *quotient_facts(sorted(symbols), self._scope)]
            plain = [c for c in known if not any("floor_div" in s for s in c.polynomial.symbols)]
            if implied(constraint, plain, self._least):
                kept = rest
        return tuple(kept)

    def _easiest(self, names: Sequence[str], given: Sequence[Constraint]) -> str:
        """A counter whose bounds are whole numbers; of several, one in the fewest constraints."""
        possible = [name for name in names if all(self._is_whole(name, c.polynomial) for c in given)]
        if not possible:
            raise _GivenUpError("has a range that needs a division by a step")
        return min(possible, key=lambda name: (sum(name in c.polynomial.symbols for c in given), name))

    def _is_whole(self, name: str, polynomial: Polynomial) -> bool:
        if name not in polynomial.symbols:
            return True
        step = polynomial.coefficient(name, 1)
        if polynomial.degree(name) > 1 or self._counters & {*step.symbols}:
            return False
        return all(
            (quotient := term.divide_exactly(step)) is not None and quotient.is_integral
            for term in self._varying(polynomial.substitute({name: 0}))
        )

    def _varying(self, polynomial: Polynomial) -> list[Polynomial]:
        return [
            Polynomial.symbol(name) * polynomial.coefficient(name, 1)
            for name in polynomial.symbols
            if name in self._counters
        ]

    def _without(
        self, name: str, value: Polynomial, given: Sequence[Constraint]
    ) -> list[tuple[Polynomial, tuple[Constraint, ...]]]:
        """The cases of the value with a counter at its end."""
        rest = tuple(c for c in given if name not in c.polynomial.symbols)
        lows: list[Polynomial] = []
        highs: list[Polynomial] = []
        for constraint in given:
            polynomial = constraint.polynomial
            if name not in polynomial.symbols:
                continue
            step = polynomial.coefficient(name, 1)
            if constraint.equality:
                low, high = self._halves(name, polynomial, step)
                lows.append(low)
                highs.append(high)
            elif is_nonnegative(step - 1, self._lower):
                lows.append(-self._floor(polynomial.substitute({name: 0}), step))
            elif is_nonnegative(-step - 1, self._lower):
                highs.append(self._floor(polynomial.substitute({name: 0}), -step))
            else:
                raise _GivenUpError(f"moves by {step}, which may be positive or negative")
        slope = value.coefficient(name, 1)
        if self._counters & {*slope.symbols}:
            raise _GivenUpError("is a product of counters")
        if not slope:
            apart = tuple(
                Constraint(high - low)
                for low in self._tightest(lows, greatest=True, given=rest)
                for high in self._tightest(highs, greatest=False, given=rest)
            )
            return [(value, (*rest, *apart))]
        cases: list[tuple[Polynomial, tuple[Constraint, ...]]] = []
        for sign, condition in self._signs(slope):
            ends, others = (highs, lows) if sign > 0 else (lows, highs)
            ends = self._tightest(ends, greatest=sign < 0, given=rest)
            if not ends:
                raise _GivenUpError(f"has no bound along '{name}'")
            for end in ends:
                where = [Constraint((other - end) * sign) for other in ends if other != end]
                where += [Constraint((end - other) * sign) for other in others]
                cases.append((value.substitute({name: end}), (*rest, *condition, *where)))
        return cases

    def _signs(self, slope: Polynomial) -> list[tuple[int, tuple[Constraint, ...]]]:
        if is_nonnegative(slope, self._lower):
            return [(1, ())]
        if is_nonnegative(-slope, self._lower):
            return [(-1, ())]
        return [(1, (Constraint(slope),)), (-1, (Constraint(-slope - 1),))]

    def _halves(self, name: str, polynomial: Polynomial, step: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The bounds of an equation: where it has no whole solution, they exclude each other."""
        if is_nonnegative(-step - 1, self._lower):
            polynomial, step = -polynomial, -step
        elif not is_nonnegative(step - 1, self._lower):
            raise _GivenUpError(f"moves by {step}, which may be positive or negative")
        other = polynomial.substitute({name: 0})
        return -self._floor(other, step), self._floor(-other, step)

    def _floor(self, above: Polynomial, step: Polynomial) -> Polynomial:
        """Return ``above / step`` rounded down, as a polynomial: what varies is divided by the step exactly."""
        moving = self._varying(above)
        whole = Polynomial(0)
        for term in moving:
            quotient = term.divide_exactly(step)
            assert quotient is not None, "the easiest counter was asked for"
            whole, above = whole + quotient, above - term
        exact = above.divide_exactly(step)
        if exact is not None and exact.is_integral:
            return whole + exact
        return whole + Polynomial.symbol(f"floor_div({c_text(above)}, {c_text(step)})")

    def _tightest(
        self, ends: Sequence[Polynomial], *, greatest: bool, given: Sequence[Constraint]
    ) -> list[Polynomial]:
        """The bounds without those that another one is always at least as tight as."""
        kept: list[Polynomial] = list(dict.fromkeys(ends))
        for end in list(kept):
            for other in kept:
                room = end - other if not greatest else other - end
                if other is not end and self._follows(room, given):
                    kept.remove(end)
                    break
        return kept

    def _follows(self, room: Polynomial, given: Sequence[Constraint]) -> bool:
        if is_nonnegative(room, self._lower):
            return True
        if any("floor_div" in symbol or "." in symbol for symbol in room.symbols):
            return False
        constraints = (*self._facts.constraints, *given)
        plain = [
            c for c in constraints if not any("floor_div" in s or "." in s for s in c.polynomial.symbols)
        ]
        return implied(Constraint(room), plain, self._lower)
