"""Overlap: several sweeps in one launch, in which each block keeps its tile of both grids in shared memory.

::

    sweeps: b[y] = f(a[...]), a[y] = g(b[...]), b[y] = f(a[...]), ...      each a launch
        -->
    sweep 0: first_grid[place] = f(a[...]);  barrier
    for (sweep = 1; sweep < sweeps; sweep += 2) {
      second_grid[place] = g(first_grid[...]);  barrier
      if (sweep + 2 < sweeps) first_grid[place] = f(second_grid[...]);  barrier
      else                    b[y] = f(second_grid[...]);
    }

A sweep computes ``low <= place < high``: places of the tile whose neighbours are there and that are inside of the
limits.  Elements outside of the limits are never written; those that neighbours read are copied once.  A thread all of
whose points are computed does them together, any other one by one.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Barrier, KernelParameter, KernelStmt, SharedTile, Source
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import conjunction, constant, disjunction, expression
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import Sweep, Sweeps
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Conditional,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.context import TileContext, commented
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of

TWO = IntLiteral(2)


def swept(context: TileContext) -> tuple[tuple[KernelStmt, ...], Polynomial, tuple[Expr, ...]]:
    """The body of the kernel, the words of shared memory of a block, and what the constants must meet."""
    sweeps = context.tile.sweeps
    grids = [sweep.written.array for sweep in (sweeps.pairs[0].first, sweeps.pairs[0].second)]
    type = context.nest.array(grids[0]).type
    points = Polynomial.constant(1)
    for c in context.tile.coordinates:
        points = points * Polynomial.symbol(c.threads) * Polynomial.symbol(c.each)
    words = points * words_per_element(type)
    body: tuple[KernelStmt, ...] = ()
    for pair in reversed(sweeps.pairs):
        chain = _Chain(context, sweeps, pair.first, pair.second).body()
        body = chain if pair.condition is None else (If(pair.condition, chain, body, uniform=True),)
    order = (*context.tile.sizes, *sweeps.sizes)
    tiles = (
        commented(
            context, "stage", grids, "the block's tile of both grids in shared memory, from sweep to sweep"
        ),
        SharedTile(context.names["first_grid"], type, ZERO),
        SharedTile(context.names["second_grid"], type, expression(words, order)),
    )
    constraints = (
        Binary("==", Binary("%", sweeps.most, TWO), ONE),
        *(Binary("<=", ONE, c.step) for c in context.tile.coordinates if c.lead is not None),
    )
    return (*tiles, *body), 2 * words, constraints


def sweeps_parameter(context: TileContext) -> KernelParameter:
    """Return the parameter with the number of sweeps that a launch does."""
    name = context.names["sweeps"]
    return KernelParameter(name, ScalarType.INT, Source.SWEEPS, name)


class _Chain(Struct, frozen=True):
    context: TileContext
    sweeps: Sweeps
    first: Sweep
    second: Sweep

    def body(self) -> tuple[KernelStmt, ...]:
        context = self.context
        sweep, sweeps = context.name("sweep"), context.name("sweeps")
        to_first, to_second = context.names["first_grid"], context.names["second_grid"]
        after = Binary("+", sweep, ONE)
        last = If(
            Binary("<", Binary("+", sweep, TWO), sweeps),
            (*self._sweep(self.first, to_second, to_first, after), Barrier()),
            self._sweep(self.first, to_second, None, Binary("-", self.sweeps.most, ONE)),
            uniform=True,
        )
        two = (*self._sweep(self.second, to_first, to_second, sweep), Barrier(), last)
        grids = [sweep.written.array for sweep in (self.first, self.second)]
        return (
            commented(context, "stage", grids, "what neighbours read outside of the limits"),
            self._borders(),
            *self._sweep(self.first, None, to_first, ZERO),
            Barrier(),
            For(ScalarType.INT, sweep.identifier, ONE, "<", sweeps, TWO, two, uniform=True),
        )

    def _sweep(
        self, sweep: Sweep, source: str | None, target: str | None, number: Expr
    ) -> tuple[KernelStmt, ...]:
        """One sweep, from shared memory or the other grid (None) to shared memory or its own grid (None)."""
        context = self.context
        distances = dict(sweep.reads)

        def placed(e: Expr) -> Expr:
            if e == sweep.written and target is not None:
                return self._element(target, (0,) * len(self.sweeps.halo))
            if isinstance(e, Index) and e in distances and source is not None:
                return self._element(source, distances[e])
            return flat(e, context.strides) if isinstance(e, Index) and e.array in context.strides else e

        def reference(e: Expr) -> Expr:
            return map_expression(e, placed)

        jam = UnrollAndJam(context, scalars_of(sweep.body), context.rows_side_by_side(), reference)
        single = UnrollAndJam(context, frozenset(), jam.places, reference)
        guards = tuple(
            Binary(
                "&&",
                Binary("<=", context.name(f"low{n}"), place),
                Binary("<", place, context.name(f"high{n}")),
            )
            for n, place in enumerate(jam.places)
        )
        one_by_one = jam.at_points(single.at_one(sweep.body), guards=guards, unrolled=False)
        together = If(conjunction(self._whole()), jam.all(sweep.body), one_by_one)
        read, written = (context.nest.array(e.array).pointer for e in (sweep.reads[0][0], sweep.written))
        does = f"a sweep from {source or read} to {target or written}"
        return (
            commented(context, "overlap", [sweep.written.array], does),
            Block((*self._range(number), together)),
        )

    def _element(self, grid: str, distance: tuple[int, ...]) -> Index:
        """The element of a grid in shared memory at a distance from the point."""
        context = self.context
        place: Expr = ZERO
        for number, (c, away) in enumerate(zip(context.tile.coordinates, distance, strict=True)):
            along = Binary("-", Name(c.name), context.name(f"o{number}"))
            if away:
                along = Binary("+" if away > 0 else "-", along, IntLiteral(abs(away)))
            place = plus(times(place, c.extent), along)
        return Index(grid, (place,))

    def _range(self, number: Expr) -> tuple[Stmt, ...]:
        """The places that a sweep computes, along each coordinate."""
        context = self.context
        declared: list[Stmt] = []
        for n, (c, away) in enumerate(zip(context.tile.coordinates, self.sweeps.halo, strict=True)):
            less = times(IntLiteral(away), number)
            before = Binary("-", ZERO, context.name(f"o{n}"))
            low = Conditional(Binary("<", less, before), before, less)
            end = c.extent if less == ZERO else Binary("-", c.extent, less)
            after = Binary("-", context.limit(n), context.name(f"o{n}"))
            high = Conditional(Binary("<", end, after), end, after)
            declared += [constant(context.names[f"low{n}"], low), constant(context.names[f"high{n}"], high)]
        return tuple(declared)

    def _whole(self) -> list[Expr]:
        """Return the conditions that all points of the thread are in the range."""
        context = self.context
        last = len(self.sweeps.halo) - 1
        conditions: list[Expr] = []
        for n, c in enumerate(context.tile.coordinates):
            thread, low, high = (context.name(f"{base}{n}") for base in ("t", "low", "high"))
            begin = thread if n == last else Binary("*", thread, Name(c.each))
            apart = (
                Binary("*", Binary("-", Name(c.each), ONE), Name(c.threads))
                if n == last
                else Binary("-", Name(c.each), ONE)
            )
            conditions += [Binary("<=", low, begin), Binary("<", Binary("+", begin, apart), high)]
        return conditions

    def _borders(self) -> If:
        """Return copies to both grids of the tile of what neighbours read outside of the limits.

        No sweep changes it.
        """
        context = self.context
        over: list[Expr] = []
        for n, (c, away) in enumerate(zip(context.tile.coordinates, self.sweeps.halo, strict=True)):
            if away:
                origin = context.name(f"o{n}")
                over += [
                    Binary("<", origin, ZERO),
                    Binary("<", context.limit(n), Binary("+", origin, c.extent)),
                ]
        here = (0,) * len(self.sweeps.halo)
        copies: dict[Expr, tuple[Stmt, ...]] = {}
        for writer, reader, grid in (
            (self.first, self.second, "first_grid"),
            (self.second, self.first, "second_grid"),
        ):
            away = sorted({distance for _, distance in reader.reads} - {here})
            is_read = disjunction([conjunction(self._inside(distance)) for distance in away])
            element = self._element(context.names[grid], here)
            copy = Assign(element, "=", flat(writer.written, context.strides))
            copies[is_read] = (*copies.get(is_read, ()), copy)
        copied = tuple(If(is_read, both) for is_read, both in copies.items())
        outside = If(Unary("!", conjunction(self._inside(here))), copied)
        jam = UnrollAndJam(context, frozenset(), context.rows_side_by_side(), context.flat)
        return If(disjunction(over), jam.at_points((outside,), unrolled=False), uniform=True)

    def _inside(self, distance: tuple[int, ...]) -> list[Expr]:
        """Return the conditions that the point which reads this one at a distance is inside of the limits."""
        conditions: list[Expr] = []
        for n, (c, away) in enumerate(zip(self.context.tile.coordinates, distance, strict=True)):
            point: Expr = Name(c.name)
            if away:
                point = Binary("-" if away > 0 else "+", point, IntLiteral(abs(away)))
            conditions += [Binary("<=", ZERO, point), Binary("<", point, self.context.limit(n))]
        return conditions
