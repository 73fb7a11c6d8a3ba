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
under another one, also one on data, it has to be there all the same.  A subscript may also be a function of such a sum
(`mapped_subscripts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct, field

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import always_evaluated, conditional_parts
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
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
from comprehensive.metafork.walk import (
    elements_assigned,
    elements_in,
    expressions_in,
    reads_data,
    statements_in,
    subexpressions,
)
from comprehensive.records import replace
from comprehensive.schedule.bounded_reads import (
    Bounds,
    bounded,
    read_under,
)
from comprehensive.schedule.box_nest import MOST_AXES, BoxAxis, LoopNest, ReferenceGroup, long_axes
from comprehensive.schedule.elements_read import ElementsRead
from comprehensive.schedule.legality import division_obstacle, jam_obstacle
from comprehensive.schedule.mapped_subscripts import MappedSubscript, mapped_subscript
from comprehensive.schedule.operands import loops_beside, loops_of


class NoBoxError(Exception):
    """The error that says why there are no boxes, in the user's names."""


def loop_nests(nest: Nest, tile: RegisterTile) -> tuple[LoopNest, ...]:
    """The loops of a point and what they read, those beside each other one after the other.  Raises NoBoxError where
    that is no boxes."""
    body = tile.alternatives[0].body
    if (obstacle := jam_obstacle(nest, body)) is not None:
        raise NoBoxError(obstacle)
    if len(tile.alternatives) > 1:
        raise NoBoxError("there is a serial loop under a condition")
    paths = tuple((loop,) for loop in loops_beside(nest, tile)) or (loops_of(nest, tile),)
    if (obstacle := division_obstacle(nest, tile, tuple(path[0] for path in paths))) is not None:
        raise NoBoxError(obstacle)
    return tuple(_nest_of(nest, tile, body, path, paths) for path in paths)


def _nest_of(
    nest: Nest,
    tile: RegisterTile,
    body: tuple[Stmt, ...],
    path: tuple[For, ...],
    paths: Sequence[tuple[For, ...]],
) -> LoopNest:
    _check_loops(tuple(s for s in body if s is path[0] or all(s is not other for other, *_ in paths)), path)
    found = _of_pieces(nest, tile, body, path, None)
    if len(path) > 1 and path[-2].body == (path[-1],):
        try:
            of_rows = _of_pieces(nest, tile, body, path, path[-2].iterator)
        except NoBoxError:
            return found
        names = [c.name for c in tile.coordinates]
        if _is_window(of_rows, names) and of_rows.uncached.keys() <= found.uncached.keys():
            return of_rows
    return found


def _of_pieces(
    nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], path: tuple[For, ...], rows: str | None
) -> LoopNest:
    """The loops of a point; pieces may have several turns of the one over ``rows``."""
    references = _References(nest, tile, body, path, rows)
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
        rows,
    )


def _is_window(loops: LoopNest, coordinates: Sequence[str]) -> bool:
    """Whether neighbouring points read the same elements in different turns of the loop over rows."""
    axes = [axis.factors for group in loops.groups for axis in group.axes]
    return any(loops.rows in factors and any(name in factors for name in coordinates) for factors in axes)


def _check_loops(body: tuple[Stmt, ...], path: Sequence[For]) -> None:
    around = body
    for loop in path:
        if loop not in around or any(isinstance(s, For) and s is not loop for s in around):
            raise NoBoxError("there are several loops beside each other")
        if not loop.counts_up:
            raise NoBoxError(f"the loop over '{loop.shown}' does not count up from 0")
        around = loop.body


def _inner(split: For) -> dict[str, int]:
    found: dict[str, int] = {}
    for loop in statements_in(split.body):
        if not isinstance(loop, For):
            continue
        assert isinstance(loop.bound, IntLiteral)
        if not loop.counts_up or loop.bound.value < 1:
            raise NoBoxError(f"the loop over '{loop.shown}' does not count up from 0")
        if found.setdefault(loop.iterator, loop.bound.value) != loop.bound.value:
            raise NoBoxError(f"loops over '{loop.shown}' have different extents")
    return found


_Maps: TypeAlias = tuple[Expr | None, ...]
_Key: TypeAlias = tuple[str, tuple[Polynomial, ...], tuple[Bounds, ...] | None, _Maps]


class _References(Struct):
    nest: Nest
    tile: RegisterTile
    body: tuple[Stmt, ...]
    path: tuple[For, ...]
    rows: str | None
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
                if self._names(target) & self._computed:
                    raise NoBoxError(f"a subscript of '{self._called(target)}' is computed by the point")
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
                subscripts = self._mapped(reference)
                values = tuple(self.ring.read(s.sum) for s in subscripts)
                self._check_axes(reference, [self._axis(reference, value, 0) for value in values])
                bounds = self._bounds(reference, subscripts, values, under.get(reference, ()))
            except NoBoxError as error:
                self.uncached[reference] = str(error)
                continue
            linear = tuple(value - value.constant_term for value in values)
            maps = tuple(s.of_place for s in subscripts)
            found.setdefault((reference.array, linear, bounds, maps), []).append((reference, values))
        groups = [
            group
            for (_, _, bounds, maps), members in found.items()
            for group in self._grouped(members, bounds, maps)
        ]
        if not groups:
            nothing = "the loops read nothing that changes from step to step"
            raise NoBoxError(next(iter(self.uncached.values()), nothing))
        return tuple(groups)

    def _check_arrays(self, held: Mapping[str, Index]) -> None:
        """Check that nothing is read which the points assign, but for what the loops hold."""
        around = tuple(s for s in self.body if s is not self.path[0])
        written = {self._called(target): target for target in elements_assigned(self.body)}
        for reference in self._data_in(self.path[0].body):
            target = written.get(self._called(reference))
            if target is not None and reference != held.get(reference.array):
                raise NoBoxError(f"'{self._called(reference)}' is read and assigned")
        parts = [part for x in expressions_in(around) for part in conditional_parts(x)]
        if any(
            e == held.get(e.array) for part in parts for e in subexpressions(part) if isinstance(e, Index)
        ):
            raise NoBoxError("an element that the loops assign is used beside them, under a condition")
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
        chooses = any(isinstance(e, Conditional) for each in under for e in subexpressions(each))
        return chooses or not all(map(self._is_signed, under))

    def _is_signed(self, expr: Expr) -> bool:
        """Whether all in an expression are signed integers, coordinates, iterators or the same for all points."""
        signed = {s.name for s in self.nest.scalars if s.type.is_integer and s.type.is_signed}
        signed |= self._points | self._iterators | {b.name for b in self.tile.batch}
        return all(
            e.identifier in signed
            if isinstance(e, Name)
            else e.type.is_integer and e.type.is_signed
            if isinstance(e, IntLiteral | Cast)
            else isinstance(e, Unary | Binary | Conditional)
            for e in subexpressions(expr)
        )

    def _mapped(self, reference: Index) -> tuple[MappedSubscript, ...]:
        """Return the subscripts as functions of sums."""
        same = {s.name for s in self.nest.scalars} | {b.name for b in self.tile.batch} | self._outer
        found: list[MappedSubscript] = []
        for subscript in reference.subscripts:
            mapped = mapped_subscript(self.ring, subscript, set(self._order), same)
            if mapped is None:
                raise NoBoxError(f"a subscript of '{self._called(reference)}' is no function of one sum")
            if mapped.of_place is not None and not self._is_signed(subscript):
                raise NoBoxError(f"a subscript of '{self._called(reference)}' is chosen by unsigned numbers")
            found.append(mapped)
        return tuple(found)

    def _bounds(
        self,
        reference: Index,
        subscripts: tuple[MappedSubscript, ...],
        values: tuple[Polynomial, ...],
        under: tuple[Expr, ...] | None,
    ) -> tuple[Bounds, ...] | None:
        """Return the bounds of what is read under comparisons; None where there are no comparisons."""
        called, is_mapped = self._called(reference), any(s.of_place is not None for s in subscripts)
        array = self.nest.array(reference.array)
        if under is None and self._elements.is_declared(array, subscripts, [Bounds()] * len(subscripts)):
            under = ()  # whatever the condition is, all that may be read is there
        if under is None:
            raise NoBoxError(f"'{called}' is read under a condition")
        if not under and not is_mapped:
            return None
        scalars = {s.name for s in self.nest.scalars}
        read = bounded(self.ring, values, under, lambda value: self.ring.names_in(value) <= scalars)
        pieces = {loop.iterator for loop in self.path} - self._outer
        if not self._elements.is_declared(array, subscripts, read.axes) and (
            read.others or not self._elements.is_covered(values, pieces)
        ):
            # Between the bounds there may be elements that the program does not read.
            conditions = None
            if not read.bounding and not is_mapped:
                conditions = self._elements.where_read(array, values, under)
            if conditions is None:
                raise NoBoxError(f"'{called}' is read under a condition")
            self.conditions += conditions
        self.bounding += read.bounding
        return read.axes if under else None

    @property
    def _elements(self) -> ElementsRead:
        bounds = {loop.iterator: loop.bound for loop in self.path}
        return ElementsRead(self.nest, self.tile, self.ring, bounds, _inner(self.path[-1]))

    def _grouped(
        self,
        members: Sequence[tuple[Index, tuple[Polynomial, ...]]],
        bounds: tuple[Bounds, ...] | None,
        maps: _Maps,
    ) -> list[ReferenceGroup]:
        """One group, or one for each reference where the corners of the box may not be there."""
        (first, values), *_ = members
        constants = {r: tuple(int(value.constant_term) for value in found) for r, found in members}
        low = tuple(map(min, zip(*constants.values(), strict=True)))
        high = tuple(map(max, zip(*constants.values(), strict=True)))
        is_plain = bounds is None and not any(maps)
        corners = {low, high} <= set(constants.values()) and is_plain
        axes = tuple(
            replace(self._axis(first, value - value.constant_term + least, most - least), of_place=of_place)
            for value, least, most, of_place in zip(values, low, high, maps, strict=True)
        )
        is_there = corners or self.nest.array(first.array).whole_rows
        # A function may be one for the places of a reference alone: there must be no others between these.
        apart = [sorted(set(along)) for along in zip(*constants.values(), strict=True)]
        if any(maps) and any(b - a > 1 for along in apart for a, b in pairwise(along)):
            is_there = False
        if len(members) > 1 and (not is_there or long_axes(axes) > MOST_AXES):
            return [group for member in members for group in self._grouped([member], bounds, maps)]
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
        """The variables of boxes: coordinates, the loops that are done in pieces, and those in them."""
        of_loops = [loop.iterator for loop in self.path if loop.iterator not in self._outer]
        return (*(c.name for c in self.tile.coordinates), *of_loops, *_inner(self.path[-1]))

    @property
    def _outer(self) -> set[str]:
        """The iterators that have one value at a time."""
        return {loop.iterator for loop in self.path[:-1]} - {self.rows}

    @property
    def _iterators(self) -> set[str]:
        return {loop.iterator for loop in self.path} | set(_inner(self.path[-1]))

    @property
    def _computed(self) -> set[str]:
        """The variables of a point, which may have another value in each step."""
        return {s.name for s in statements_in(self.body) if isinstance(s, Declare)}

    @property
    def _points(self) -> set[str]:
        return {c.name for c in self.tile.coordinates}

    def _names(self, reference: Index) -> frozenset[str]:
        return frozenset[str]().union(*(self.ring.names_in(self.ring.read(s)) for s in reference.subscripts))

    def _variables(self, reference: Index) -> frozenset[str]:
        """Return the names that a reference reads and that are not the same for all points, and in all steps."""
        inside = any(map(reads_data, reference.subscripts))
        if inside or self._names(reference) & self._computed:
            raise NoBoxError(
                f"a subscript of '{self._called(reference)}' is computed by the point or read from data"
            )
        return self._names(reference) & (self._points | self._iterators)

    def _shown(self, name: str) -> str:
        loops = (s for body in self.tile.bodies for s in statements_in(body) if isinstance(s, For))
        shown = {loop.iterator: loop.shown for loop in loops} | {
            c.name: c.shown for c in self.tile.coordinates
        }
        return shown.get(name, name)

    def _called(self, reference: Index) -> str:
        """The pointer through which the program reaches the array."""
        return self.nest.array(reference.array).pointer

    def _data_in(self, body: tuple[Stmt, ...]) -> list[Index]:
        """References to data, targets included."""
        data = {a.name for a in self.nest.arrays}
        return [e for e in (*elements_in(body), *elements_assigned(body)) if e.array in data]


def stored_by(statement: Stmt) -> Index | None:
    """The element of an array that a statement assigns, if it does."""
    target = statement.target if isinstance(statement, Assign) else None
    return target if isinstance(target, Index) else None
