"""The program parameters that the launcher takes if the caller gives none: the header's choice, in Python.

In: a function, a machine, values of its arguments.  Out: :class:`Defaults`, the parameters and everything that was
tried, as the generated ``<function>_defaults`` tries it::

    defaults(function, load_device("h200").machine(), {"n": 1024}).parameters     # {"B0": 8, "B1": 64}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from msgspec import Struct

from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import holds_preconditions, scalar_values
from comprehensive.loops.ir import Nest
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.metafork.ast import Expr
from comprehensive.model.choice import leaf_candidate, tile_candidates
from comprehensive.model.values import wide_value
from comprehensive.plan.default_search import LARGEST_EXPONENT, coarse_exponents, known_early, neighbours
from comprehensive.plan.interface import interface
from comprehensive.plan.left_out import leaves_out, shares
from comprehensive.plan.plan import FunctionPlan, RegionPlan

ALIGNED = 4
"""Elements that tiles access together, as far as the choice of parameters goes: those of aligned data."""


EXPONENTS = LARGEST_EXPONENT + 1


class Tried(Struct, frozen=True):
    """Parameters that were tried.

    ``cycles`` are those of all regions with the tiles or the leaves that are faster, ``leaf_cycles`` those
    with the ``leaves`` alone.
    """

    parameters: Mapping[str, int]
    left_out: int
    cycles: int
    leaf_cycles: int
    leaves: tuple[int, ...]

    @property
    def order(self) -> tuple[int, int, int]:
        """The key by which parameters are ordered: less is better."""
        return self.left_out, self.cycles, self.leaf_cycles


class Defaults(Struct, frozen=True):
    """The choice of parameters that a caller leaves open.

    ``tried`` is in the order of the search, without those that cannot be launched or leave out more than
    others.
    """

    parameters: Mapping[str, int]
    chosen: Tried | None
    tried: tuple[Tried, ...]


def left_out(nest: Nest, values: Mapping[str, int]) -> int:
    """Points of a region that program parameters leave out."""
    if not leaves_out(nest):
        return 0
    done = whole = 1
    for share in shares(nest):
        every = _count(nest, share.whole, values)
        whole = min(SATURATED, whole * every)
        done = min(
            SATURATED, done * (every if share.is_whole else min(every, _count(nest, share.done, values)))
        )
    return max(0, whole - done)


def _count(nest: Nest, expr: Expr, values: Mapping[str, int]) -> int:
    try:
        return max(0, wide_value(nest, expr, values))
    except UndefinedBehaviour:
        return SATURATED


def defaults(plan: FunctionPlan, machine: Mapping[str, int], arguments: Mapping[str, int]) -> Defaults:
    """Return the parameters that the launcher takes by itself, and what it tried.

    ``arguments`` are all integers of the function that are no program parameters.
    """
    return _Search(plan, machine, arguments).defaults()


def left_to_launcher(
    function: FunctionPlan, machine: Mapping[str, int], values: Mapping[str, int | Fraction]
) -> Defaults | None:
    """Return what the launcher chooses by itself.

    None where a program parameter is given, or not everything that the choice depends on, as it does not on arguments
    that no region reads.
    """
    host = interface(function)
    if not host.program or any(a.name in values for a in host.program):
        return None
    nests = [nest for r in function.regions for nest in (r.nest, *(tiling.nest for tiling in r.tilings))]
    read = {scalar.name for nest in nests for scalar in nest.scalars}
    given = [a.name for a in host.arguments if not a.pointer and a.type.is_integer]
    if any(name not in values for name in given if name in read):
        return None
    return defaults(function, machine, {name: int(values.get(name, 1)) for name in given})


class _Search:
    def __init__(self, plan: FunctionPlan, machine: Mapping[str, int], arguments: Mapping[str, int]) -> None:
        host = interface(plan)
        self.machine, self.arguments = machine, arguments
        self.names = [a.name for a in host.program]
        found = ((region, known_early(region, host)) for region in plan.regions)
        self.regions = [(region, known.tiles) for region, known in found if known.scalars is not None]
        self.losing = [region for region, _ in self.regions if leaves_out(region.nest)]
        self.tiles: dict[str, int] = {}

    def defaults(self) -> Defaults:
        ones = dict.fromkeys(self.names, 1)
        first = self._expected(ones, self._left_out(ones))
        values = [[self._value(name, e) for e in range(EXPONENTS)] for name in self.names]
        best, at, tried = first, (0,) * len(self.names), [] if first is None else [first]
        for is_near in (False, True):
            for exponents in self._exponents(at, is_near=is_near):
                if not all(0 <= e < EXPONENTS and of[e] for e, of in zip(exponents, values, strict=True)):
                    continue
                point = {name: of[e] for name, of, e in zip(self.names, values, exponents, strict=True)}
                left = self._left_out(point)
                found = None if best is not None and left > best.left_out else self._expected(point, left)
                if found is None:
                    continue
                tried.append(found)
                if best is None or found.order < best.order:
                    best, at = found, exponents
        least = SATURATED if best is None else best.left_out
        kept = {tuple(t.parameters.values()): t for t in tried if t.left_out <= least}
        return Defaults(ones if best is None else best.parameters, best, tuple(kept.values()))

    def _exponents(self, at: tuple[int, ...], *, is_near: bool) -> Iterator[tuple[int, ...]]:
        """All over, or around the best that was found there; the first parameter changes fastest."""
        count = len(self.names)
        if is_near and not neighbours(count):
            return
        one = (-1, 0, 1) if is_near else coarse_exponents(count)
        for moves in product(one, repeat=count) if count else ():
            found = tuple(reversed(moves))
            yield tuple(a + e for a, e in zip(at, found, strict=True)) if is_near else found

    def _value(self, name: str, exponent: int) -> int:
        """Return a value in the place of a power of two; 0 where every value there leaves points out."""
        ones = dict.fromkeys(self.names, 1)
        begin, best = 1 << exponent, 0
        for value in range(begin, min(2 * begin, (1 << LARGEST_EXPONENT) + 1)):
            if best and not _fills_better(value, best):
                continue
            if self._left_out({**ones, name: value}) != 0:
                continue
            best = value
            if value == begin:
                break
        return best

    def _left_out(self, point: Mapping[str, int]) -> int:
        total = 0
        for region in self.losing:
            total = min(SATURATED, total + left_out(region.nest, self._scalars(region, point)))
        return total

    def _expected(self, point: Mapping[str, int], left: int) -> Tried | None:
        """Return the point with its expected cycles; None where a region cannot be launched."""
        total, of_leaves, leaves = 0, 0, list[int]()
        others = {
            s.name: 1.0 for region, _ in self.regions for s in region.nest.scalars if not s.type.is_integer
        }
        for region, knows_tile in self.regions:
            values = self._scalars(region, point)
            found = leaf_candidate(region, self.machine, values)
            if found is None or not holds_preconditions(region.nest, {**others, **values}):
                return None
            cycles = SATURATED if found.cost is None else found.cost.cycles
            of_leaves = min(SATURATED, of_leaves + cycles)
            if knows_tile:
                cycles = min(cycles, self._tile(region, values))
            total = min(SATURATED, total + cycles)
            leaves.append(found.number)
        return Tried(dict(point), left, total, of_leaves, tuple(leaves))

    def _tile(self, region: RegionPlan, values: Mapping[str, int]) -> int:
        """Return the cycles of the region's best register tile at the first parameters that are looked at."""
        if region.name not in self.tiles:
            known = {**dict.fromkeys((s.name for t in region.tilings for s in t.nest.scalars), 0), **values}
            found = tile_candidates(region, self.machine, known, together=ALIGNED, sweeps_left=1)
            prices = [c.cost.cycles for c in found if c.cost is not None and c.sweeps == 1]
            self.tiles[region.name] = min(prices, default=SATURATED)
        return self.tiles[region.name]

    def _scalars(self, region: RegionPlan, point: Mapping[str, int]) -> dict[str, int]:
        """The integers of the region whose values are known before the host code runs."""
        nest = region.nest
        given = {**self.arguments, **point}
        others = {s.name: 1.0 for s in nest.scalars if not s.type.is_integer}
        unknown = {
            s.name: int(s.pointer is not None)
            for s in nest.scalars
            if s.value is None and s.name not in given
        }
        known = scalar_values(nest, {**unknown, **others, **given})
        return {s.name: int(known[s.name]) for s in nest.scalars if s.type.is_integer}


def _fills_better(value: int, other: int) -> bool:
    return value * -(-other // WARP_THREADS) > other * -(-value // WARP_THREADS)
