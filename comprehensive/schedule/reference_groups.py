"""The boxes of arrays that a nest of serial loops reads: points in, groups of references with a footprint each out.

::

    for (c) for (y < 3) for (x < 3) sum += in[c][y1 + y][y2 + x] * k[y0][c][y][x]
        -->  in: c, y1 + y, y2 + x;  k: y0, c, y, x     for so many points and steps of c, a box each

A group is the references to an array that differ in constants alone.  Each subscript is a sum of coordinates and
iterators, each times a constant, and of what is the same for all points: what a block reads of it is an interval.
Where no variable runs up along one axis and down along another, the box has both of its corners among the elements
read.  All that lies between two elements of an array is there, so that boxes may be copied whole.  Where constants
differ, corners may be elements that nothing reads: then rows have to be whole, or each reference is a group of its
own.  What is read under a condition on its subscripts alone is copied between these bounds (`bounded_reads.py`);
under another one, it has to be there all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.rewrite import always_evaluated, substitute
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.schedule.bounded_reads import (
    Bounds,
    bounded,
    comparisons,
    comparisons_without,
    read_under,
)
from comprehensive.schedule.box_nest import MOST_AXES, BoxAxis, LoopNest, ReferenceGroup, long_axes
from comprehensive.schedule.context import ONE, ZERO
from comprehensive.schedule.legality import division_obstacle, jam_obstacle
from comprehensive.schedule.operands import loops_of


class NoBoxError(Exception):
    """The error that says why there are no boxes, in the user's names."""


def loop_nest(nest: Nest, tile: RegisterTile) -> LoopNest:
    """The loops of a point and what they read.  Raises NoBoxError where that is no boxes."""
    body = tile.alternatives[0].body
    if (obstacle := jam_obstacle(nest, body)) is not None:
        raise NoBoxError(obstacle)
    if len(tile.alternatives) > 1:
        raise NoBoxError("there is a serial loop under a condition")
    path = loops_of(nest, tile)
    if (obstacle := division_obstacle(nest, tile, path[:1])) is not None:
        raise NoBoxError(obstacle)
    _check_loops(body, path)
    references = _References(nest, tile, body, path)
    held = references.held()
    at = body.index(path[0])
    groups = references.groups(held)
    return LoopNest(
        body[:at],
        path,
        body[at + 1 :],
        _inner(path[-1]),
        held,
        groups,
        frozenset(references.bounding),
        tuple(dict.fromkeys(references.conditions)),
        references.uncached,
    )


def _check_loops(body: tuple[Stmt, ...], path: Sequence[For]) -> None:
    around = body
    for loop in path:
        if loop not in around or any(isinstance(s, For) and s is not loop for s in around):
            raise NoBoxError("there are several loops beside each other")
        if (loop.start, loop.relation, loop.step) != (ZERO, "<", ONE):
            raise NoBoxError(f"the loop over '{loop.iterator}' does not count up from 0")
        around = loop.body


def _inner(split: For) -> dict[str, int]:
    found: dict[str, int] = {}
    for loop in statements_in(split.body):
        if not isinstance(loop, For):
            continue
        assert isinstance(loop.bound, IntLiteral)
        if (loop.start, loop.relation, loop.step) != (ZERO, "<", ONE) or loop.bound.value < 1:
            raise NoBoxError(f"the loop over '{loop.iterator}' does not count up from 0")
        if found.setdefault(loop.iterator, loop.bound.value) != loop.bound.value:
            raise NoBoxError(f"loops over '{loop.iterator}' have different extents")
    return found


_Key: TypeAlias = tuple[str, tuple[Polynomial, ...], tuple[Bounds, ...] | None]


@dataclass(slots=True)
class _References:
    nest: Nest
    tile: RegisterTile
    body: tuple[Stmt, ...]
    path: tuple[For, ...]
    ring: Ring = field(default_factory=Ring)
    bounding: list[Expr] = field(default_factory=list[Expr])
    conditions: list[Expr] = field(default_factory=list[Expr])
    uncached: dict[Index, str] = field(default_factory=dict[Index, str])

    def held(self) -> dict[str, Index]:
        """The elements that the loops assign, which are the same in all steps."""
        found: dict[str, Index] = {}
        for statement in statements_in(self.path[0].body):
            if isinstance(statement, Assign) and isinstance(target := statement.target, Index):
                if found.setdefault(target.array, target) != target:
                    raise NoBoxError(f"the loops assign different elements of '{self._called(target)}'")
                if self._names(target) & self._iterators:
                    raise NoBoxError(
                        f"the loops assign other elements of '{self._called(target)}' in each step"
                    )
                if statement not in statements_in(self.path[-1].body):
                    raise NoBoxError(f"'{self._called(target)}' is assigned between the loops")
        return found

    def groups(self, held: Mapping[str, Index]) -> tuple[ReferenceGroup, ...]:
        """Return the groups of what else the loops read, one after the other as the program comes to them."""
        self._check_arrays(held)
        under = self._under()
        found: dict[_Key, list[tuple[Index, tuple[Polynomial, ...]]]] = {}
        for reference in dict.fromkeys(self._data_in(self.path[-1].body)):
            if reference.array in held:
                continue
            try:
                if not self._variables(reference) - self._outer:
                    continue
                core, decided = self._core(reference)
                values = tuple(self.ring.read(s) for s in core.subscripts)
                self._check_axes(core, [self._axis(core, value, 0) for value in values])
                bounds = self._bounds(core, values, under.get(reference, ()), decided)
            except NoBoxError as error:
                self.uncached[reference] = str(error)
                continue
            linear = tuple(value - value.constant_term for value in values)
            found.setdefault((reference.array, linear, bounds), []).append((core, values))
        groups = [
            group for (_, _, bounds), members in found.items() for group in self._grouped(members, bounds)
        ]
        if not groups:
            nothing = "the loops read nothing that changes from step to step"
            raise NoBoxError(next(iter(self.uncached.values()), nothing))
        return tuple(groups)

    def _check_arrays(self, held: Mapping[str, Index]) -> None:
        """Check that nothing is read which the points assign, but for what the loops hold."""
        around = tuple(s for s in self.body if s is not self.path[0])
        written = {self._called(target): target for target in _all_stored(self.body)}
        for reference in self._data_in(self.path[0].body):
            target = written.get(self._called(reference))
            if target is not None and reference != held.get(reference.array):
                raise NoBoxError(f"'{self._called(reference)}' is read and assigned")
        for reference in self._data_in(around):
            if reference.array in held and reference != held[reference.array]:
                raise NoBoxError(f"'{self._called(reference)}' is used in the loops and beside them")

    def _under(self) -> dict[Index, tuple[Expr, ...] | None]:
        """Return the comparisons under which references are read that are read nowhere without a condition: the fewest
        ones, which hold at all places where one is read.  None where that is not known."""
        expressions = list(expressions_in(self.path[0].body))
        always = {e for x in expressions for e in always_evaluated(x) if isinstance(e, Index)}
        found: dict[Index, list[tuple[Expr, ...] | None]] = {}
        for reference, under in read_under(expressions):
            if reference not in always:
                found.setdefault(reference, []).append(under)
        return {reference: self._least(all_) for reference, all_ in found.items()}

    def _least(self, all_: Sequence[tuple[Expr, ...] | None]) -> tuple[Expr, ...] | None:
        known = [under for under in all_ if under is not None]
        least = min(known, key=len, default=())
        # Where it is read under more comparisons, it is read there only where it is read under these.
        is_known = len(known) == len(all_) and all(set(least) <= set(each) for each in known)
        return least if is_known and not self._is_computed(least) else None

    def _is_computed(self, under: Sequence[Expr]) -> bool:
        """Whether comparisons read data or what a point computes, or compare no signed integers."""
        signed = {s.name for s in self.nest.scalars if s.type.is_integer and s.type.is_signed}
        signed |= self._points | self._iterators | {b.name for b in self.tile.batch}
        return not all(
            e.identifier in signed
            if isinstance(e, Name)
            else e.type.is_signed
            if isinstance(e, IntLiteral)
            else isinstance(e, Unary | Binary)
            for each in under
            for e in subexpressions(each)
        )

    def _core(self, reference: Index) -> tuple[Index, tuple[Expr, ...]]:
        """Return the reference where no choice in its subscripts is one of an end, and the comparisons that say so.

        ``a[x < 0 ? 0 : x]`` is ``a[x]`` where ``x >= 0``.
        """
        decided: list[Expr] = []
        same = {s.name for s in self.nest.scalars} | self._outer

        def core(expr: Expr) -> Expr:
            if not isinstance(expr, Conditional):
                return expr
            is_end = names_read(expr.then) <= same
            condition = map_expression(expr.condition, core)
            found = comparisons_without(condition) if is_end else comparisons(condition)
            if found is None or self._is_computed(found):
                raise NoBoxError(f"a subscript of '{self._called(reference)}' is chosen by a condition")
            decided.extend(found)
            return core(expr.otherwise if is_end else expr.then)

        subscripts = tuple(map(core, reference.subscripts))
        return replace(reference, subscripts=subscripts), tuple(decided)

    def _bounds(
        self,
        reference: Index,
        values: tuple[Polynomial, ...],
        under: tuple[Expr, ...] | None,
        decided: tuple[Expr, ...],
    ) -> tuple[Bounds, ...] | None:
        """Return the bounds of what is read under comparisons; None where there are no comparisons.

        Those that are ``decided`` choose between subscripts, so that they have to be bounds.
        """
        if under is None:
            raise NoBoxError(f"'{self._called(reference)}' is read under a condition")
        if not under and not decided:
            return None
        scalars = {s.name for s in self.nest.scalars}
        both = (*decided, *under)
        read = bounded(self.ring, values, both, lambda value: self.ring.names_in(value) <= scalars)
        if not set(decided) <= set(read.bounding):
            raise NoBoxError(f"a subscript of '{self._called(reference)}' is chosen by a condition")
        if self._is_declared(reference, values, read.axes):
            pass
        elif not read.others and self._is_covered(values):
            pass  # the elements between the bounds are those that the program reads
        elif not read.bounding:
            self.conditions += self._where_read(reference, values, under)
        else:
            raise NoBoxError(f"'{self._called(reference)}' is read under a condition")
        self.bounding += read.bounding
        return read.axes

    def _is_declared(
        self, reference: Index, values: tuple[Polynomial, ...], bounds: tuple[Bounds, ...]
    ) -> bool:
        """Whether all that is copied lies in the declared extents of the array."""
        from comprehensive.poly.always import always_holds

        array = self.nest.array(reference.array)
        if not array.whole_rows or array.dims is None or None in array.dims:
            return False
        known, last = self._ranges()
        for subscript, value, bound, extent in zip(
            reference.subscripts, values, bounds, array.dims, strict=True
        ):
            assert extent is not None
            ends = self._ends([value], last)
            if ends is None:
                return False
            least, most = ends
            low, high = substitute(subscript, least), Binary("+", substitute(subscript, most), ONE)
            low = low if bound.low is None else self.ring.write(bound.low)
            high = high if bound.high is None else self.ring.write(bound.high)
            if not (
                always_holds(known, Binary("<=", ZERO, low))
                and always_holds(known, Binary("<=", high, extent))
            ):
                return False
        return True

    def _is_covered(self, values: tuple[Polynomial, ...]) -> bool:
        """Whether subscripts take all values from the least to the largest one, each whatever the others are."""
        names = [self.ring.names_in(value) & set(self._order) for value in values]
        if sum(map(len, names)) != len(frozenset[str]().union(*names)):
            return False
        inner = _inner(self.path[-1])
        for value, own in zip(values, names, strict=True):
            factors = sorted(
                (abs(value.coefficient(name, 1).constant_value()), inner.get(name, 1)) for name in own
            )
            covered = 0
            for factor, count in factors:
                if factor > covered + 1:
                    return False
                covered += int(factor) * (count - 1)
        return True

    def _where_read(
        self, reference: Index, values: tuple[Polynomial, ...], under: Sequence[Expr]
    ) -> list[Expr]:
        """Return conditions on scalars under which the first and the last element are read, by some point."""
        from comprehensive.poly.always import always_holds

        known, last = self._ranges()
        own = self._variables(reference)
        others = [name for name in last if name not in own]
        found: list[Expr] = []
        ends = self._ends(values, {name: last[name] for name in own})
        lengths = [
            length for length in (self.nest.array(reference.array).dims or ())[1:] if length is not None
        ]
        # A view whose rows may have a negative length lies in memory in another order.
        if ends is None or not all(always_holds(known, Binary("<=", ZERO, length)) for length in lengths):
            raise NoBoxError(f"'{self._called(reference)}' is read under a condition")
        for corner in ends:
            for chosen in product(*((ZERO, last[name]) for name in others)):
                at = {**corner, **dict(zip(others, chosen, strict=True))}
                found_at = (at_least_zero(self.ring, substitute(e, at)) for e in under)
                written = [self.ring.write(value) for value in found_at if value is not None]
                asked = [
                    e for e in (Binary("<=", ZERO, value) for value in written) if not always_holds(known, e)
                ]
                if not any(always_holds(known, Unary("!", e)) for e in asked):
                    found += asked
                    break
            else:
                raise NoBoxError(f"'{self._called(reference)}' is read under a condition")
        return found

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
        from comprehensive.poly.always import always_holds

        known, _ = self._ranges()
        down: set[str] = set()
        for name in self.ring.names_in(value) & (self._points | self._iterators):
            factor = value.coefficient(name, 1)
            if value.degree(name) != 1:
                return None
            written = self.ring.write(factor)
            if always_holds(known, Binary("<=", written, ZERO)):
                down.add(name)
            elif not always_holds(known, Binary("<=", ZERO, written)):
                return None
        return frozenset(down)

    def _ranges(self) -> tuple[Nest, dict[str, Expr]]:
        """Return the nest where no loop is empty, and the last values of coordinates and iterators."""
        limits: dict[str, Expr] = {c.name: c.limit for c in (*self.tile.coordinates, *self.tile.batch)}
        limits |= {loop.iterator: loop.bound for loop in self.path}
        some = [Binary("<", ZERO, limit) for limit in limits.values()]
        limits |= {name: IntLiteral(count) for name, count in _inner(self.path[-1]).items()}
        last: dict[str, Expr] = {name: Binary("-", limit, ONE) for name, limit in limits.items()}
        return replace(self.nest, preconditions=(*self.nest.preconditions, *some)), last

    def _grouped(
        self, members: Sequence[tuple[Index, tuple[Polynomial, ...]]], bounds: tuple[Bounds, ...] | None
    ) -> list[ReferenceGroup]:
        """One group, or one for each reference where the corners of the box may not be there."""
        (first, values), *_ = members
        constants = {r: tuple(int(value.constant_term) for value in found) for r, found in members}
        low = tuple(map(min, zip(*constants.values(), strict=True)))
        high = tuple(map(max, zip(*constants.values(), strict=True)))
        corners = {low, high} <= set(constants.values()) and bounds is None
        axes = tuple(
            self._axis(first, value - value.constant_term + least, most - least)
            for value, least, most in zip(values, low, high, strict=True)
        )
        is_there = corners or self.nest.array(first.array).whole_rows
        if len(members) > 1 and (not is_there or long_axes(axes) > MOST_AXES):
            return [group for member in members for group in self._grouped([member], bounds)]
        if bounds is not None:
            axes = tuple(map(self._bounded, axes, bounds))
        offsets = {
            reference: tuple(c - least for c, least in zip(found, low, strict=True))
            for reference, found in constants.items()
        }
        return [ReferenceGroup(first.array, axes, offsets)]

    def _axis(self, reference: Index, value: Polynomial, span: int) -> BoxAxis:
        called, factors, rest = self._called(reference), dict[str, int](), value
        known = {s.name for s in self.nest.scalars} | {b.name for b in self.tile.batch}
        for name in sorted(self.ring.names_in(value) & set(self._order), key=self._order.index):
            factor = value.coefficient(name, 1)
            is_affine = value.degree(name) == 1 and factor.is_constant and factor.is_integral
            rest = rest.substitute({name: 0})
            if not is_affine or name in self.ring.names_in(rest):
                raise NoBoxError(f"a subscript of '{called}' is no sum of '{self._shown(name)}' and others")
            factors[name] = int(factor.constant_value())
        if not self.ring.names_in(rest) <= known | self._outer:
            raise NoBoxError(f"a subscript of '{called}' is computed by the point or read from data")
        return BoxAxis(factors, self.ring.write(rest), span)

    def _check_axes(self, reference: Index, axes: Sequence[BoxAxis]) -> None:
        """Check that the box is none of which the program reads but a diagonal."""
        up, down = (
            [name for axis in axes for name, factor in axis.factors.items() if (factor > 0) == is_up]
            for is_up in (True, False)
        )
        both = [*up, *down]
        turned = [name for name in up if name in down and not self.nest.array(reference.array).whole_rows]
        twice = [name for name in both if name in self._points and both.count(name) > 1]
        for name in (*turned, *twice):
            raise NoBoxError(
                f"several subscripts of '{self._called(reference)}' change with '{self._shown(name)}'"
            )
        if long_axes(axes) > MOST_AXES:
            raise NoBoxError(f"more than {MOST_AXES} subscripts of '{self._called(reference)}' change")

    def _bounded(self, axis: BoxAxis, bounds: Bounds) -> BoxAxis:
        low, high = (None if end is None else self.ring.write(end) for end in (bounds.low, bounds.high))
        return replace(axis, low=low, high=high)

    # --- names

    @property
    def _order(self) -> tuple[str, ...]:
        """The variables of boxes: coordinates, the loop that is done in pieces, and those in it."""
        return (*(c.name for c in self.tile.coordinates), self.path[-1].iterator, *_inner(self.path[-1]))

    @property
    def _outer(self) -> set[str]:
        """The iterators that have one value at a time."""
        return {loop.iterator for loop in self.path[:-1]}

    @property
    def _iterators(self) -> set[str]:
        return {loop.iterator for loop in self.path} | set(_inner(self.path[-1]))

    @property
    def _points(self) -> set[str]:
        return {c.name for c in self.tile.coordinates}

    def _names(self, reference: Index) -> frozenset[str]:
        return frozenset[str]().union(*(self.ring.names_in(self.ring.read(s)) for s in reference.subscripts))

    def _variables(self, reference: Index) -> frozenset[str]:
        """Return the names that a reference reads and that are not the same for all points, and in all steps."""
        computed = {s.name for s in statements_in(self.body) if isinstance(s, Declare)}
        inside = any(isinstance(e, Index) for s in reference.subscripts for e in subexpressions(s))
        if inside or self._names(reference) & computed:
            raise NoBoxError(
                f"a subscript of '{self._called(reference)}' is computed by the point or read from data"
            )
        return self._names(reference) & (self._points | self._iterators)

    def _shown(self, name: str) -> str:
        return next((c.shown for c in self.tile.coordinates if c.name == name), name)

    def _called(self, reference: Index) -> str:
        """The pointer through which the program reaches the array."""
        return self.nest.array(reference.array).pointer

    def _data_in(self, body: tuple[Stmt, ...]) -> list[Index]:
        """References to data, targets included."""
        data = {a.name for a in self.nest.arrays}
        found = [e for x in expressions_in(body) for e in subexpressions(x) if isinstance(e, Index)]
        found += _all_stored(body)
        return [e for e in found if e.array in data]


def stored_by(statement: Stmt) -> Index | None:
    """The element of an array that a statement assigns, if it does."""
    target = statement.target if isinstance(statement, Assign) else None
    return target if isinstance(target, Index) else None


def _all_stored(body: tuple[Stmt, ...]) -> list[Index]:
    return [target for s in statements_in(body) if (target := stored_by(s)) is not None]
