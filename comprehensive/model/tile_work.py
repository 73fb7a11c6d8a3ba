"""The work of a kernel over tiles, for given sizes of the tile.

In: the kernel, its tile, the sizes, and how many elements are accessed together.  Out: a :class:`TileWork`.  A block
well inside of the limits is gone through, and one that the limits cut, each with fewer and with more steps of the
serial loop (or sweeps): the difference is what a step does, since nothing depends on its number.  Of loops beside each
other it is the mean of their steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import takewhile
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct

from comprehensive.counters.registers import tile_registers
from comprehensive.kernel_ir.kernel import Comment, Kernel, KernelParameter, KernelStmt, Source
from comprehensive.kernel_ir.terms import size_of
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import slope
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Coordinate, Nest, RegisterTile
from comprehensive.machine.cost import TileWork
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.work import Work
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    IntLiteral,
    Name,
    Stmt,
)
from comprehensive.metafork.rewrite import replace_statements
from comprehensive.metafork.walk import own_expressions, statements_in, subexpressions
from comprehensive.model.accesses import Mask
from comprehensive.model.block import Walk, block_work
from comprehensive.model.magnitudes import far_ends, small_scalars
from comprehensive.model.values import stride, wide_value
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import MOST_REGISTERS, REGISTERS
from comprehensive.schedule.limiting_loops import limiting_loops
from comprehensive.schedule.operands import loops_of
from comprehensive.schedule.predicate import edges

REGISTER_UNIT = 256
"""Registers are given to warps in these units, on every device since compute capability 3.0."""
INNER_TURNS = 4
"""The turns of loops inside of the outermost one, whose turns together are the steps."""
EXTENT_BITS = 7
"""The bits of an extent of data, as far as a block looks at it, along all dimensions but the last."""
LEAST_WINDOW = 3
"""The rows, and the elements of a row, of the least window around an element."""
LONG = 1 << 10
"""Tiles before a point of which the serial loop is longer than all that are looked at."""
FARTHEST = 1 << 15
"""The most tiles before one that is looked at in the middle of rows whose elements are numbered."""
FAR = 1 << 7
"""The same where a condition compares coordinates with each other."""
PLACES = 4
"""The parts of a row, of which two are looked at."""
ALIGNED = 1 << 13
"""A distance of rows, and a value of scalars, that vectors divide."""
BEYOND = 1 << 27
"""A value of scalars that is behind all that steps come to, as ``turn*parts + part < n`` with so many parts."""


@lru_cache(maxsize=4096)
def tile_work(
    kernel: Kernel, nest: Nest, tile: RegisterTile, sizes: tuple[int, ...], together: int
) -> TileWork:
    """Return the work of a kernel over tiles of these sizes.

    ``sizes`` are those of ``Kernel.constants``; ``together`` is one of ``Kernel.together``, or 0 without any.
    """
    return _Tile(kernel, nest, tile, dict(zip(kernel.constants, sizes, strict=True))).work(together)


@lru_cache(maxsize=256)
def _with_own_limits(kernel: Kernel, nest: Nest, tile: RegisterTile) -> Kernel:
    """Return the kernel with each of its limiting loops up to a limit of its own, also where others have the same bound
    or points do different numbers of turns."""
    scalars = {s.name for s in nest.scalars}
    every = (s for body in tile.bodies for s in statements_in(body) if isinstance(s, For))
    uneven = {loop.iterator for loop in every if not names_read(loop.bound) <= scalars}
    limits = dict(kernel.limits[len(tile.coordinates) :])
    own = {loop.iterator: Name(name) for loop, name in zip(limiting_loops(nest, tile), limits, strict=False)}

    def counted(statement: KernelStmt) -> tuple[KernelStmt, ...]:
        if not isinstance(statement, For) or (limit := own.get(statement.iterator)) is None:
            return (statement,)
        bound = statement.bound
        is_same = isinstance(bound, Name) and limits.get(bound.identifier) == limits[limit.identifier]
        is_longest = statement.iterator in uneven
        return (replace(statement, bound=limit) if is_same or is_longest else statement,)

    body = replace_statements(kernel.body, counted)
    return kernel if body is kernel.body else replace(kernel, body=body)


class _Tile(Struct, frozen=True, dict=True):
    kernel: Kernel
    nest: Nest
    tile: RegisterTile
    sizes: Mapping[str, int]
    place: int = 1
    """The place in a row that is looked at, in parts of the row (:data:`PLACES`)."""

    def work(self, together: int) -> TileWork:
        few, more = (3, 5) if self.kernel.does_sweeps else (2, 3)  # sweeps of a launch are an odd number
        inside = self._block(together, few, cut=False)
        steps = self._steps_of_a_turn
        turn = self._turns_inside(together, few, inside)
        each = 1 / (more - few) / steps if self.has_steps else 0
        step = (self._block(together, more, cut=False) - inside) * each - turn if each else Work()
        once = inside - (step + turn) * (few * steps)
        cut_once = cut_step = Work()
        if not self.kernel.has_copies:
            outside = self._block(together, few, cut=True)
            cut_step = (self._block(together, more, cut=True) - outside) * each - turn if each else Work()
            cut_once = outside - (cut_step + turn) * (few * steps)
        if self.kernel.shares_outermost:
            part, kiloturn = step, turn * (1000 / INNER_TURNS ** (self.loops - 1))
        else:
            part, kiloturn = self._part(together, few, inside, once)
        first = Work(waits=1) if self.kernel.has_feeds else Work()  # for the first piece
        return TileWork(
            once + first,
            step,
            part,
            kiloturn,
            cut_once,
            cut_step,
            prod(self._shape()),
            self._registers(),
            int(self.kernel.shared_words.evaluate(self.sizes)),
            self.sizes.get(self.tile.stages, 1) - 1 if self.kernel.has_feeds else 0,
        )

    @property
    def _steps_of_a_turn(self) -> int:
        """The steps that are done for each turn of the outermost loop."""
        if self.kernel.shares_outermost:
            return 1
        return self.loops if self.kernel.beside else INNER_TURNS ** max(0, self.loops - 1)

    def _turns_inside(self, together: int, steps: int, inside: Work) -> Work:
        """Return the work of the turns inside of a step, where threads share the outermost loop; else nothing."""
        if not self.kernel.shares_outermost:
            return Work()
        longer = self._block(together, steps, cut=False, rest=INNER_TURNS)
        return (longer - inside) * (1 / steps)

    def _part(self, together: int, steps: int, whole: Work, once: Work) -> tuple[Work, Work]:
        """Return the work of a step that is not whole, without its turns, and that of a thousand of these."""
        length = self.step_length if self.loops else 1
        if length == 1:
            return Work(), Work()
        if self.kernel.in_rows:
            return self._part_in_rows(together, length, once)
        nested = 1 if self.loops == 1 else steps * INNER_TURNS ** (self.loops - 2)
        times = self.loops if self.kernel.beside else nested
        least, most = (
            (self._block(together, steps, cut=False, rest=turns) - whole) * (1 / times)
            for turns in (1, length - 1)
        )
        turn = (most - least) * (1 / max(1, length - 2))
        return least - turn, turn * 1000

    def _part_in_rows(self, together: int, length: int, once: Work) -> tuple[Work, Work]:
        """Return the same for a row of windows that are one piece, which have some rows more than the least one."""
        narrow, wide = LEAST_WINDOW, length - 1
        rows = (narrow + wide) // 2
        around = INNER_TURNS ** max(0, self.loops - 2)
        least, most = (
            (self._block(together, 1, cut=False, rest=turns, rows=rows) - once) * (1 / (rows * around))
            for turns in (narrow, wide)
        )
        turn = (most - least) * (1 / (wide - narrow))
        return least - turn * narrow, turn * 1000

    @property
    def has_steps(self) -> bool:
        return self.kernel.does_sweeps or self.loops > 0

    @property
    def loops(self) -> int:
        """The number of bounds of serial loops of the points, behind those of coordinates."""
        return len(self.kernel.limits) - len(self.tile.batch) - len(self.tile.coordinates)

    def _block(self, together: int, steps: int, *, cut: bool, rest: int = 0, rows: int = 0) -> Work:
        """Return the work of a block, the mean of those at all places that are looked at."""
        total, kernel = Work(), _with_own_limits(self.kernel, self.nest, self.tile)
        for at in self._at_places:
            values = at._values(steps, rest, rows, cut=cut)
            number = at._number_of(values, cut=cut)
            total = total + block_work(kernel, values, self._shape(), (number,), together)
        return total * (1 / len(self._at_places))

    def _values(self, steps: int, rest: int, rows: int, *, cut: bool) -> dict[str, Any]:
        """Return values of constants and parameters.

        There are three tiles along each coordinate, the last one whole or cut, and others before them where the serial
        loop becomes longer or a condition asks for rows.  It has so many whole ``steps`` and ``rest`` turns besides;
        with ``rows``, these turns alone in so many turns of the loop around it.
        """
        values: dict[str, Any] = dict(self.sizes)
        for p in self.kernel.parameters:
            match p.source:
                case Source.SWEEPS:
                    values[p.name] = steps
                case Source.STRIDE:
                    values[p.name] = self._stride(p)
                case Source.STAIRCASE:
                    values[p.name] = self._of_launch(p.of, cut=cut)
                case Source.SCALAR if p.of in self._of_predicate or p.of in self._small:
                    values[p.name] = 1
                case Source.SCALAR if p.of in self._far_ends:
                    values[p.name] = BEYOND
                case _ if not p.pointer and p.type.is_integer:
                    values[p.name] = ALIGNED
                case _:
                    pass
        names = [name for name, _ in self.kernel.limits]
        for c, name in zip(self.tile.coordinates, names, strict=False):
            step = size_of(c.step, self.sizes)
            lead = 0 if c.lead is None else size_of(c.lead, self.sizes)
            before = self._before(c) * step
            values[name] = before + (2 * step + max(1, step * 3 // 4) if cut else 3 * step + 2 * lead)
        if self.loops:
            loops = names[len(self.tile.coordinates) :][: self.loops]
            turns = [steps, *[INNER_TURNS] * (self.loops - 1)]
            turns[-1] = turns[-1] * self.step_length + rest
            if self.kernel.shares_outermost:
                turns = [steps * self.step_length, *[INNER_TURNS] * (self.loops - 2), INNER_TURNS + rest]
            if self.kernel.beside:
                turns = [steps * self.step_length + rest] * self.loops
            if rows:
                turns = [INNER_TURNS] * (self.loops - 2) + [rows, rest]
            values |= dict(zip(loops, turns, strict=True))
            if self.kernel.shares_outermost:  # threads read the scalars that bound the loops inside
                bounds = dict(self.kernel.limits)
                found = ((bounds[name], n) for name, n in zip(loops, turns, strict=True))
                values |= {bound.identifier: n for bound, n in found if isinstance(bound, Name)}
        return values | dict.fromkeys(names[len(names) - len(self.tile.batch) :], 1)

    @property
    def step_length(self) -> int:
        return size_of(self.kernel.step, self.sizes)

    def _stride(self, parameter: KernelParameter) -> int:
        """Return the elements between neighbours along a dimension: as declared, or a number larger than all inside."""
        try:
            return stride(self.nest, parameter, {})
        except KeyError:
            inside = len(self.nest.array(parameter.of).dims or ()) - 2 - parameter.dimension
            return ALIGNED << EXTENT_BITS * max(0, inside)

    @cached_property
    def _of_predicate(self) -> frozenset[str]:
        """The scalars that the predicate reads: they are 1, so that it holds where coordinates meet it."""
        return frozenset() if self.tile.predicate is None else names_read(self.tile.predicate)

    @cached_property
    def _far_ends(self) -> frozenset[str]:
        return far_ends(self.tile)

    @cached_property
    def _small(self) -> frozenset[str]:
        return small_scalars(self.nest, self.tile)

    @cached_property
    def _steps(self) -> dict[str, int]:
        """For each coordinate whether it meets the predicate more easily where it is larger, 1, or smaller, -1."""
        context = TileContext.of(self.nest, self.tile, loops_of(self.nest, self.tile))
        return {name: step for edge in edges(context) for name, step in edge.steps.items()}

    def _wanted(self, c: Coordinate, *, cut: bool) -> int:
        """Return which of the tiles along a coordinate is looked at: one that meets the predicate."""
        usual = 2 if cut else 1
        return {1: 2, -1: 0}.get(self._steps.get(c.name, 0), usual) + self._before(c)

    def _before(self, c: Coordinate) -> int:
        """Return the tiles before the three that are looked at: points behind them do all steps of the serial loop, or
        are in a row in the middle."""
        return LONG if c.name in self._longer else self._middle(c)

    def _middle(self, c: Coordinate) -> int:
        """Return the tiles before a place in a row in the middle, where conditions say what is done there."""
        step = size_of(c.step, self.sizes)
        rows = [length for length in self._rows.get(c.name, ()) if length <= step * FARTHEST]
        end = self._scalar_value(c.limit)
        if rows and end is not None:
            row, middle = max(rows), max(1, end // 2)
            reached = min(middle, step * FARTHEST)  # nearer in the row, too, where the middle is too far away
            return (reached // row * row + row * self.place // PLACES * reached // middle) // step
        if c not in self._compared:
            return 0
        length = FAR * min(size_of(other.step, self.sizes) for other in self._compared)
        return length * (self.place if c is self._compared[-1] else PLACES // 2) // PLACES // step

    @cached_property
    def _at_places(self) -> tuple[_Tile, ...]:
        """The tile at the places in a row that are looked at: where conditions ask for them, one before its middle and
        one behind it, of which a triangle has one."""
        return (self, replace(self, place=PLACES - 1)) if self._rows or self._compared else (self,)

    @cached_property
    def _conditions(self) -> tuple[Expr, ...]:
        """The conditions of the points, and what stands in these."""
        every = (s for body in self.tile.bodies for s in statements_in(body))
        found = (e for s in every for whole in own_expressions(s) for e in _conditions(s, whole))
        return tuple(e for condition in found for e in subexpressions(condition))

    @cached_property
    def _compared(self) -> tuple[Coordinate, ...]:
        """The coordinates that conditions compare with each other."""
        found: set[str] = set()
        for e in self._conditions:
            match e:
                case Binary(operator="<" | "<=" | ">" | ">="):
                    here = names_read(e) & {c.name for c in self.tile.coordinates}
                    found |= here if len(here) > 1 else set()
                case _:
                    pass
        return tuple(c for c in self.tile.coordinates if c.name in found)

    @cached_property
    def _rows(self) -> dict[str, tuple[int, ...]]:
        """For each coordinate the lengths of rows by which conditions divide it."""
        found: dict[str, tuple[int, ...]] = {}
        for e in self._conditions:
            match e:
                case Binary(operator="/" | "%", left=Name(identifier=name), right=length):
                    value = self._scalar_value(length)
                    if value is not None and any(c.name == name for c in self.tile.coordinates):
                        found[name] = (*found.get(name, ()), value)
                case _:
                    pass
        return found

    def _scalar_value(self, expression: Expr) -> int | None:
        """Return what an expression over scalars is; None where it reads others."""
        values = {s.name: ALIGNED for s in self.nest.scalars if s.type.is_integer}
        try:
            return wide_value(self.nest, expression, values | dict(self.sizes))
        except KeyError:
            return None

    @cached_property
    def _longer(self) -> frozenset[str]:
        """The coordinates with which the serial loop of a point becomes longer."""
        if self.tile.steps is None:
            return frozenset()
        ring = Ring()
        behind = ring.read(self.tile.steps.behind)
        return frozenset(c.name for c in self.tile.coordinates if slope(ring, behind, c.name) == 1)

    def _of_launch(self, of: str, *, cut: bool) -> int:
        """Return a number of a launch of three rows and columns, in which the wanted tile has its place as it is."""
        row = self.tile.coordinates[0]
        wanted = self._wanted(row, cut=cut)
        return 2 * (2 - wanted if self._steps.get(row.name) == 1 else wanted) if of == "mirror" else 3

    def _number_of(self, values: Mapping[str, Any], *, cut: bool) -> int:
        """Return the number of the block in the middle of the grid, or with ``cut`` of the last one.

        The tile of the one in the middle is the second along each coordinate.
        """
        origins = [
            size_of(c.origin(IntLiteral(self._wanted(c, cut=cut))), self.sizes) for c in self.tile.coordinates
        ]
        places = tuple(takewhile(lambda s: isinstance(s, Comment | Declare), self.kernel.body))
        # Every block is a thread here: all of them are looked at together.
        count: int = prod(4 + self._before(c) for c in self.tile.coordinates) + 8
        walk = Walk(self.kernel, values, (count,), (np.arange(count, dtype=np.int64),))
        walk.statements(places, 0)
        is_it: Mask = np.ones(count, np.bool_)
        for name, origin in zip(self.kernel.origins, origins, strict=True):
            is_it &= walk.values[name] == origin
        if not is_it.any():
            raise AssertionError(f"no block of {self.kernel.name} is in the middle")
        return int(np.argmax(is_it))

    def _shape(self) -> tuple[int, ...]:
        return tuple(size_of(extent, self.sizes) for extent in self.kernel.block)

    def _registers(self) -> int:
        """Return the registers of a thread: those of the register counter's model, within the launch bounds."""
        wanted = int(tile_registers(self.nest, self.tile).value.evaluate(self.sizes))
        warps = -(-prod(self._shape()) // WARP_THREADS)
        blocks = self.sizes[self.tile.blocks]
        bound = REGISTERS // (blocks * warps) // REGISTER_UNIT * REGISTER_UNIT // WARP_THREADS
        return max(1, min(wanted, bound, MOST_REGISTERS))


def _conditions(statement: Stmt, expression: Expr) -> Iterator[Expr]:
    """Yield the conditions in an expression of a statement, or the whole where that is one."""
    if isinstance(statement, If):
        yield expression
    yield from (e.condition for e in subexpressions(expression) if isinstance(e, Conditional))
