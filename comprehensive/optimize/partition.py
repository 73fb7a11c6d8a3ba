"""A line or a plane of parameters divided among the cases of a tree: a tree, symbols and values in, cells out.

    found = partition(tree, ("B", "s"), {"Z_B": 58112, ...}, {"B": (1, 1024)}, str)
    found.cases[found.divided.choice(Fraction(32), Fraction(4))].index

A range that is not given is 0 to 1 for a share; any other one starts at 1 and ends at the smallest power of two that
leaves some room beyond the last value at which the choice changes, the other symbol being at the start of its range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Literal

from msgspec import Struct

from comprehensive.algebra import Atom, System, is_integer_symbol
from comprehensive.algebra.boundaries import specialize
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.regions import Box, Plane, divide_plane
from comprehensive.algebra.roots import approximate
from comprehensive.algebra.thresholds import Line, divide_line, roots_of
from comprehensive.optimize.protocols import Fragment
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.records import replace

Ranges = Mapping[str, tuple[int, int]]


class PartitionCase(Struct, frozen=True):
    """A leaf or a dead end of the tree: `system` is its simplified one, with the assumptions that matter.

    `code` says in a line what runs there, or what there is too much of.  A case of kind "assert" is where an assert of
    the program in line `index` refuses a call; it comes before the others.
    """

    kind: Literal["leaf", "dead end", "assert"]
    index: int
    system: System
    code: str


class Partition(Struct, frozen=True):
    """Choices in `divided` are positions in `cases`; None is where an assumption is violated.

    `values` are those that the cases depend on; `order` and `limits` are those of the tree, for printing.
    """

    cases: tuple[PartitionCase, ...]
    values: Mapping[str, Scalar]
    divided: Line | Plane
    order: tuple[str, ...]
    limits: tuple[str, ...]


def partition(
    tree: Tree[Fragment],
    symbols: Sequence[str],
    values: Mapping[str, Scalar],
    ranges: Ranges,
    describe: Callable[[Leaf[Fragment]], str],
    refusals: Sequence[PartitionCase] = (),
) -> Partition:
    """The cases over the range of one symbol, or of two; ValueError names all symbols that lack a value.

    `describe` says in a line what code a leaf is.  `refusals` are where asserts refuse a call.
    """
    spoken = {*symbols_of(tree), *(name for case in refusals for name in case.system.symbols)}
    put_in = {name: values[name] for name in sorted(spoken) if name in values and name not in symbols}
    assumptions = _assumptions(tree, {*symbols, *put_in})
    cases = (
        *(replace(case, system=System(assumptions, case.system.atoms)) for case in refusals),
        *_cases(tree, assumptions, describe),
    )
    systems = [case.system for case in cases]
    ends = {
        name: ranges[name] if name in ranges else default_range(systems, name, symbols, put_in, ranges)
        for name in symbols
    }
    divided: Line | Plane
    match [*symbols]:
        case [symbol]:
            low, high = map(Fraction, ends[symbol])
            divided = divide_line(systems, symbol, low, high, put_in)
        case [x, y]:
            box = Box(*map(Fraction, (*ends[x], *ends[y])))
            divided = divide_plane(systems, (x, y), box, put_in)
        case _:
            raise ValueError(f"one or two symbols can vary, not {len(symbols)}")
    return Partition(cases, put_in, divided, tree.order, tree.limits)


def symbols_of(tree: Tree[Fragment]) -> tuple[str, ...]:
    """The symbols that decide between the cases, sorted."""
    ends = (*tree.leaves, *tree.dead_ends)
    return tuple(sorted({name for end in ends for atom in end.simplified.atoms for name in atom.symbols}))


def _assumptions(tree: Tree[Fragment], known: set[str]) -> tuple[Atom, ...]:
    """Return the assumptions that matter: one on a symbol that no case depends on decides nothing."""
    return tuple(atom for atom in tree.assumptions if known.issuperset(atom.symbols))


def _cases(
    tree: Tree[Fragment], assumptions: tuple[Atom, ...], describe: Callable[[Leaf[Fragment]], str]
) -> tuple[PartitionCase, ...]:
    leaves = tuple(
        PartitionCase("leaf", leaf.index, System(assumptions, leaf.simplified.atoms), describe(leaf))
        for leaf in tree.leaves
    )
    ends = tuple(
        PartitionCase(
            "dead end", end.index, System(assumptions, end.simplified.atoms), f"too much of {end.counter}"
        )
        for end in tree.dead_ends
    )
    return (*leaves, *ends)


def default_range(
    systems: Sequence[System],
    symbol: str,
    symbols: Sequence[str],
    values: Mapping[str, Scalar],
    ranges: Ranges,
) -> tuple[int, int]:
    """Return the range of a symbol that is shown by default.

    It goes from 1 to a power of two, 16 or more, that is at least 5/4 of the last value where the choice
    changes; for a share from 0 to 1.

    From 0 to 1 for a share.
    """
    if not is_integer_symbol(symbol):
        return 0, 1
    others = {name: ranges[name][0] if name in ranges else 1 for name in symbols if name != symbol}
    point = {**values, **others}
    end = max(
        (ceil(approximate(root)) + 1 for root in roots_of(specialize(systems, (symbol,), point))), default=0
    )
    line = divide_line(systems, symbol, Fraction(1), Fraction(max(end, 2)), point)
    last = max((approximate(threshold.value) for threshold in line.thresholds), default=Fraction(0))
    high = 16
    while high < last * Fraction(5, 4):
        high *= 2
    return 1, high
