"""The trip counts of loops.

In: loops, and forms in which the phis of headers are symbols.  Out: :class:`Trips` of the loops whose exit compares a
counter with what does not change::

    affine.trips[0].constant      # 15: the back edge is taken 15 times, the header visited 16 times
    affine.trips[0].first, affine.trips[0].bound, affine.trips[0].step     # forms, and 1: while first + k < bound
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd

from comprehensive.ptx.analysis.dominators import Tree
from comprehensive.ptx.analysis.facts import limits
from comprehensive.ptx.analysis.forms import Form, add, form, scaled
from comprehensive.ptx.analysis.loops import Loop, Loops
from comprehensive.ptx.analysis.predicates import SWAPPED, Comparison
from comprehensive.ptx.analysis.symbols import Symbols


@dataclass(frozen=True)
class Induction:
    """The phi is ``first + step * k`` when the header is visited for the k-th time since the loop was entered."""

    loop: int
    first: Form
    step: Form


@dataclass(frozen=True)
class Trips:
    """The loop stays while ``first + step * k`` is in ``relation`` to ``bound``, tested in ``block`` each time.

    ``constant`` is how often the back edge is taken by this test, if that is known; ``is_only`` says that there is no
    other way out, so that it is not only the most but the number itself. ``signed`` is how numbers are compared.
    """

    loop: int
    block: int
    relation: str
    signed: bool
    first: Form
    bound: Form
    step: int
    constant: int | None
    is_only: bool

    @property
    def is_finite(self) -> bool:
        """Whether the loop surely ends, also where numbers wrap."""
        if self.constant is not None:
            return True
        if self.relation == "ne":
            return self.step % 2 == 1
        # One by one a counter comes to every number, and so to the bound.
        return abs(self.step) == 1 and self.relation in ("lt", "gt")


def trips_of(
    loops: Loops,
    tree: Tree,
    symbols: Symbols,
    inductions: Mapping[int, Induction],
    staying: Callable[[Loop, int], Comparison | None],
) -> dict[int, Trips]:
    """Return how often loops run, by number of the loop, each from the test that gives the least constant.

    ``inductions`` are by symbol of the phi; ``staying`` gives what is compared, at the end of a block, for
    staying in a loop. A loop of which nothing is known is left out.
    """
    found: dict[int, Trips] = {}
    for loop in loops.loops:
        blocks = sorted({block for block, _ in loop.exits})
        is_only = len(blocks) == 1 and not loop.leaves
        for block in blocks:
            if not all(tree.dominates(block, latch) for latch in loop.latches):
                continue
            compared = staying(loop, block)
            trips = None if compared is None else _trips(loop, block, compared, symbols, inductions, is_only)
            if trips is None:
                continue
            known = found.get(loop.number)
            if known is None or _most(trips) < _most(known):
                found[loop.number] = trips
    return found


def _most(trips: Trips) -> float:
    return float("inf") if trips.constant is None else trips.constant


def _trips(
    loop: Loop,
    block: int,
    compared: Comparison,
    symbols: Symbols,
    inductions: Mapping[int, Induction],
    is_only: bool,
) -> Trips | None:
    one, other, relation = compared.left, compared.right, compared.relation
    if _counter(loop, one, inductions) is None:
        one, other, relation = other, one, SWAPPED[relation]
    counter = _counter(loop, one, inductions)
    if counter is None or loop.number in symbols.loops(other):
        return None
    found = inductions[counter]
    factor = one.coefficient(counter)
    rest = form(one.bits, {s: c for s, c in one.terms if s != counter}, one.constant)
    if found.first.bits != one.bits or loop.number in symbols.loops(rest) or found.step.terms:
        return None
    step = scaled(found.step, factor).constant
    if step == 0:
        return None
    first = add(rest, scaled(found.first, factor))
    constant = None
    if first.is_constant and other.is_constant:
        constant = iterations(relation, compared.signed, one.bits, first.constant, other.constant, step)
    return Trips(loop.number, block, relation, compared.signed, first, other, step, constant, is_only)


def _counter(loop: Loop, one: Form, inductions: Mapping[int, Induction]) -> int | None:
    found = [s for s, _ in one.terms if s in inductions and inductions[s].loop == loop.number]
    return found[0] if len(found) == 1 else None


def iterations(relation: str, signed: bool, bits: int, first: int, bound: int, step: int) -> int | None:
    """The least k >= 0 for which ``first + step * k``, modulo 2^bits, is not in the relation to ``bound``; None where
    it wraps before, or never."""
    if not signed:
        first, bound = first % (1 << bits), bound % (1 << bits)
    least, most = limits(bits, signed)
    if relation == "eq":
        return 1 if first == bound else 0
    if relation == "ne":
        common = gcd(step, 1 << bits)
        if (bound - first) % common:
            return None
        rest = (1 << bits) // common
        return (bound - first) // common * pow(step // common, -1, rest) % rest if rest > 1 else 0
    if relation in ("gt", "ge"):
        first, bound, step, most = -first, -bound, -step, -least
    if relation in ("le", "ge"):
        bound += 1
    if first >= bound:
        return 0
    if step < 0:
        return None
    count = -((first - bound) // step)
    return count if first + step * count <= most else None
