"""The elements that points read in their loops, and which of them an array is known to have.

::

    0 <= y + ky - 1 && y + ky - 1 < h ? in[y + ky - 1][x] : 0     float in[h][w]
        -->  declared: rows from 0 up to h;  covered: y + ky - 1 takes all values in between

What a box copies is read at some point (it is *covered*), or lies in the declared extents, or between the first and
the last element that the program reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import product

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Array, Nest, RegisterTile, Role, Scalar
from comprehensive.metafork.ast import Binary, Conditional, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import substitute
from comprehensive.records import replace
from comprehensive.schedule.bounded_reads import Bounds
from comprehensive.schedule.mapped_subscripts import PLACE, MappedSubscript


class ElementsRead(Struct, frozen=True):
    """The elements that references read whose subscripts change with coordinates and iterators.

    ``counts`` are the constant extents of inner loops, ``bounds`` those of the others, by iterator.
    """

    nest: Nest
    tile: RegisterTile
    ring: Ring
    bounds: Mapping[str, Expr]
    counts: Mapping[str, int]

    def is_declared(
        self, array: Array, subscripts: Sequence[MappedSubscript], bounds: Sequence[Bounds]
    ) -> bool:
        """Whether all that is copied lies in the declared extents of the array."""
        if not array.whole_rows or array.dims is None or None in array.dims:
            return False
        return all(
            extent is not None and self._is_within(subscript, bound, extent)
            for subscript, bound, extent in zip(subscripts, bounds, array.dims, strict=True)
        )

    def _is_within(self, subscript: MappedSubscript, bound: Bounds, extent: Expr) -> bool:
        """Whether a subscript whose sum is within bounds is one of so many."""
        known, last = self._ranges()
        ends = self._ends([self.ring.read(subscript.sum)], last)
        if ends is None:
            return False
        low, high = (substitute(subscript.sum, end) for end in ends)
        low = low if bound.low is None else self.ring.write(bound.low)
        high = high if bound.high is None else self.ring.write(bound.high - 1)
        if subscript.of_place is None:
            return _holds(known, Binary("<=", ZERO, low)) and _holds(known, Binary("<", high, extent))
        place = Name(Namer(s.name for s in known.scalars)("place"))
        known = replace(
            known,
            scalars=(*known.scalars, Scalar(place.identifier, ScalarType.INT, Role.SCALAR)),
            preconditions=(*known.preconditions, Binary("<=", low, place), Binary("<=", place, high)),
        )
        return _is_always_within(known, substitute(subscript.of_place, {PLACE: place}), extent)

    def is_covered(self, values: Sequence[Polynomial], pieces: Set[str]) -> bool:
        """Whether sums take all values from the least to the largest one, each whatever the others are.

        Those of ``pieces`` change within a piece, besides coordinates and inner loops.
        """
        changing = {*(c.name for c in self.tile.coordinates), *pieces, *self.counts}
        names = [self.ring.names_in(value) & changing for value in values]
        if sum(map(len, names)) != len(frozenset[str]().union(*names)):
            return False
        for value, own in zip(values, names, strict=True):
            factors = sorted(
                (abs(value.coefficient(name, 1).constant_value()), self.counts.get(name, 1)) for name in own
            )
            covered = 0
            for factor, count in factors:
                if factor > covered + 1:
                    return False
                covered += int(factor) * (count - 1)
        return True

    def where_read(
        self, array: Array, values: Sequence[Polynomial], under: Sequence[Expr]
    ) -> list[Expr] | None:
        """Return conditions on scalars under which the first and the last element are read, by some point.

        None where there are none that are known.
        """
        known, last = self._ranges()
        own = frozenset[str]().union(*map(self.ring.names_in, values)) - {b.name for b in self.tile.batch}
        others = [name for name in last if name not in own]
        found: list[Expr] = []
        ends = self._ends(values, {name: end for name, end in last.items() if name in own})
        lengths = [length for length in (array.dims or ())[1:] if length is not None]
        # A view whose rows may have a negative length lies in memory in another order.
        if ends is None or not all(_holds(known, Binary("<=", ZERO, length)) for length in lengths):
            return None
        for corner in ends:
            for chosen in product(*((ZERO, last[name]) for name in others)):
                at = {**corner, **dict(zip(others, chosen, strict=True))}
                found_at = [self._enough(substitute(e, at)) for e in under]
                if any(_holds_for_few(value) for value in found_at):
                    continue
                written = [self.ring.write(value) for value in found_at]
                asked = [e for e in (Binary("<=", ZERO, value) for value in written) if not _holds(known, e)]
                if not any(_holds(known, Unary("!", e)) for e in asked):
                    found += asked
                    break
            else:
                return None
        return found

    def _enough(self, comparison: Expr) -> Polynomial:
        """Return a polynomial that is nowhere 0 or more but where a comparison holds."""
        found = at_least_zero(self.ring, comparison)
        if found is not None:
            return found
        match comparison:
            case Binary(operator="!=", left=left, right=right):
                apart = self.ring.read(left) - self.ring.read(right)
                return -apart - 1 if _holds_for_few(apart - 1) else apart - 1
            case _:
                raise ValueError(f"{comparison} is no comparison")

    def _ends(
        self, values: Sequence[Polynomial], last: Mapping[str, Expr]
    ) -> tuple[dict[str, Expr], dict[str, Expr]] | None:
        """Return the values of variables, from 0 to the last one, at which subscripts are least, and largest.

        None where it is not known whether a subscript runs up or down along one of them.
        """
        found = [names for value in values if (names := self._down(value)) is not None]
        if len(found) < len(values):
            return None
        down = frozenset[str]().union(*found)
        return (
            {name: end if name in down else ZERO for name, end in last.items()},
            {name: ZERO if name in down else end for name, end in last.items()},
        )

    def _down(self, value: Polynomial) -> frozenset[str] | None:
        """The variables along which a subscript runs down; None where a factor may have either sign."""
        known, last = self._ranges()
        down: set[str] = set()
        for name in self.ring.names_in(value) & last.keys():
            factor = value.coefficient(name, 1)
            if value.degree(name) != 1:
                return None
            written = self.ring.write(factor)
            if _holds(known, Binary("<=", written, ZERO)):
                down.add(name)
            elif not _holds(known, Binary("<=", ZERO, written)):
                return None
        return frozenset(down)

    def _ranges(self) -> tuple[Nest, dict[str, Expr]]:
        """Return the nest where no loop is empty, and the last values of coordinates and iterators."""
        limits: dict[str, Expr] = self.tile.limits
        limits |= self.bounds
        some = [Binary("<", ZERO, limit) for limit in limits.values()]
        limits |= {name: IntLiteral(count) for name, count in self.counts.items()}
        last: dict[str, Expr] = {name: Binary("-", limit, ONE) for name, limit in limits.items()}
        return replace(self.nest, preconditions=(*self.nest.preconditions, *some)), last


def _holds_for_few(value: Polynomial) -> bool:
    """Whether a number is negative for all but small sizes, as ``1 - n`` and ``n - p*q`` are."""
    signs = [
        term.coefficient > 0
        for term in value.terms()
        if sum(power for _, power in term.powers) == value.total_degree
    ]
    return value.total_degree > 0 and not any(signs)


def _is_always_within(known: Nest, subscript: Expr, extent: Expr) -> bool:
    """Whether a subscript is one of so many, whichever of its choices is taken."""
    if not isinstance(subscript, Conditional):
        return _holds(known, Binary("<=", ZERO, subscript)) and _holds(known, Binary("<", subscript, extent))
    return all(
        _is_always_within(replace(known, preconditions=(*known.preconditions, condition)), chosen, extent)
        for condition, chosen in (
            (subscript.condition, subscript.then),
            (Unary("!", subscript.condition), subscript.otherwise),
        )
    )


def _holds(known: Nest, condition: Expr) -> bool:
    from comprehensive.poly.always import always_holds

    return always_holds(known, condition)
